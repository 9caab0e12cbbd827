//! What a rollout has left without a lock: it is proven all the same, and goes back to what works.

use serde_json::Value;

use super::faults::kill_at;
use super::{KINDS, LOCK, Scene, Write, images, side_by_side};
use crate::support::clock;

const THIRD_POD: Write = Write { verb: "patch", plural: "pods", nth: 2 };

/// Every copy of the lock is gone, and its own place holds something else, or nothing.
pub(super) fn lose_lock(scene: &Scene, place: Option<&str>) {
    let annotate = |plural: &str, text: Option<&str>| {
        for object in scene.server.objects(plural) {
            scene.server.edit(plural, object["metadata"]["name"].as_str().unwrap_or_default(), |object| {
                let annotations = object["metadata"]["annotations"].as_object_mut();
                let Some(annotations) = annotations else { return };
                match text {
                    Some(text) => drop(annotations.insert(LOCK.into(), text.into())),
                    None => drop(annotations.remove(LOCK)),
                }
            });
        }
    };
    // The owner first: its controller copies what it finds there into a revision that it makes.
    annotate(scene.kind.plural, place);
    let copies = ["replicasets", "controllerrevisions"].into_iter().filter(|plural| *plural != scene.kind.plural);
    copies.for_each(|plural| annotate(plural, None));
}

/// Template and pods have the image; that it runs is not known by that.
#[test]
fn an_image_that_every_pod_asks_for_is_proven_before_it_is_complete() {
    side_by_side(KINDS.to_vec(), |kind| {
        let scene = match kind.plural {
            "daemonsets" => Scene::new(kind),
            _ => Scene::with(kind, |workload| workload.replicas(1)),
        };
        // It does not crash before the run is killed.
        scene.server.pause_kubelet(true);
        let running = scene.typed("apply", "side=acme/side:crash").spawn();
        let has_it = || images(&scene.server, "side").iter().any(|image| image == "acme/side:crash");
        clock::eventually("a pod with it", || has_it().then_some(()));
        running.signal("KILL");
        assert_eq!(running.wait().code, None, "killed");
        scene.server.pause_kubelet(false);
        lose_lock(&scene, Some("edited"));
        let output = scene.run("resume", "--take-over").ends_with(4);
        output.prints("CrashLoopBackOff").omits("Complete");
        scene.run("abort", "").ends_with(0).prints("Rolled back");
        assert!(
            images(&scene.server, "side").iter().all(|image| image == "acme/side:v1"),
            "{}: {:?}",
            kind.typed,
            images(&scene.server, "side")
        );
    });
}

/// The template was set by somebody who does not know of the rollout; its controller replaces nothing.
#[test]
fn another_template_of_a_replica_set_ends_what_is_taken_back() {
    let kinds = KINDS.into_iter().filter(|kind| kind.plural == "replicasets");
    side_by_side(kinds.collect(), |kind| {
        let scene = Scene::new(kind);
        kill_at(&scene, THIRD_POD, scene.typed("apply", "side=acme/side:v2"));
        scene.server.edit(kind.plural, "w", |owner| {
            owner["spec"]["template"]["spec"]["containers"][1]["image"] = "acme/side:v3".into();
        });
        let before = images(&scene.server, "side");
        let output = scene.run("abort", "").ends_with(6);
        output.says("another client changed its template").omits("Rolled back").omits("already set");
        super::ways_out::release(&scene);
        assert_eq!(images(&scene.server, "side"), before);
        assert_eq!(scene.lock(), Value::Null);
    });
}

/// Only its pods show it.
#[test]
fn a_lock_that_was_removed_from_a_replica_set_is_not_nothing() {
    let kinds = KINDS.into_iter().filter(|kind| kind.plural == "replicasets");
    side_by_side(kinds.collect(), |kind| {
        let scene = Scene::new(kind);
        kill_at(&scene, THIRD_POD, scene.typed("apply", "side=acme/side:v2"));
        scene.server.edit(kind.plural, "w", |owner| {
            owner["metadata"]["annotations"].as_object_mut().and_then(|annotations| annotations.remove(LOCK));
        });
        let before = images(&scene.server, "side");
        let output = scene.run("resume", "").ends_with(6).says("its lock was removed");
        output.says(&format!("kubectl inplace resume {}/w --take-over", scene.singular()));
        assert_eq!(images(&scene.server, "side"), before);
        scene.run("resume", "--take-over").ends_with(0);
        assert!(images(&scene.server, "side").iter().all(|found| found == "acme/side:v2"), "{}", kind.typed);
    });
}

/// Pods that were updated alone indicate no rollout: their image is no earlier state, and no other pod gets it.
#[test]
fn a_pod_that_was_updated_alone_is_nothing_to_go_back_to() {
    side_by_side(KINDS.to_vec(), |kind| {
        for by_hand in [false, true] {
            for changed in [1, 2, 3] {
                let scene = Scene::new(kind);
                let pods = scene.server.objects("pods");
                let names: Vec<&str> =
                    pods.iter().take(changed).filter_map(|pod| pod["metadata"]["name"].as_str()).collect();
                if by_hand {
                    for name in &names {
                        scene.server.edit("pods", name, |pod| {
                            pod["spec"]["containers"][1]["image"] = "acme/side:v2".into();
                        });
                    }
                } else {
                    let flags = format!("side=acme/side:v2 --pods-only --pods {}", names.join(","));
                    scene.run("apply", &flags).ends_with(0);
                }
                let (before, template) = (images(&scene.server, "side"), scene.owner()["spec"]["template"].clone());
                let output = scene.run("abort", "--take-over");
                let what = format!("{} {by_hand} {changed}: {}", kind.typed, output.block());
                assert!(matches!(output.code, Some(0 | 1)), "{what}");
                assert!(!output.stdout.contains("Rolled back"), "{what}");
                assert_eq!(images(&scene.server, "side"), before, "{what}");
                assert_eq!(scene.owner()["spec"]["template"], template, "{what}");
                scene.run("resume", "--take-over").ends_with(0);
                assert_eq!(scene.owner()["spec"]["template"], template, "{what}");
            }
        }
    });
}
