//! What a rollout has left that no lock tells of: it is proven all the same, and goes back to what works.

use serde_json::Value;

use super::faults::kill_at;
use super::{KINDS, LOCK, Scene, Write, side_by_side};
use crate::support::clock;

const SECOND_POD: Write = Write { verb: "patch", plural: "pods", nth: 2 };

/// Every copy of the lock is gone, and its own place holds something else.
fn without_lock(scene: &Scene) {
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
    ["replicasets", "controllerrevisions"].iter().for_each(|plural| annotate(plural, None));
    annotate(scene.kind.plural, Some("edited"));
}

fn sides(scene: &Scene) -> Vec<Value> {
    let pods = scene.server.objects("pods");
    pods.iter().map(|pod| pod["spec"]["containers"][1]["image"].clone()).collect()
}

/// Template and pods have the image; that it runs is not known by that.
#[test]
fn an_image_that_every_pod_asks_for_is_proven_before_it_is_complete() {
    side_by_side(KINDS.to_vec(), |kind| {
        let scene = match kind.plural {
            "daemonsets" => Scene::new(kind),
            _ => Scene::with(kind, |workload| workload.replicas(1)),
        };
        let running = scene.typed("apply", "side=acme/side:crash").spawn();
        let has_it = || sides(&scene).iter().any(|image| image == "acme/side:crash");
        clock::eventually("a pod with it", || has_it().then_some(()));
        running.signal("KILL");
        assert_eq!(running.wait().code, None, "killed");
        without_lock(&scene);
        let output = scene.run("resume", "--take-over").ends_with(4);
        output.prints("CrashLoopBackOff").omits("Complete");
        scene.run("abort", "").ends_with(0).prints("Rolled back");
        assert!(sides(&scene).iter().all(|image| image == "acme/side:v1"), "{}: {:?}", kind.typed, sides(&scene));
    });
}

/// What one pod was given that fails is nothing to go back to, whatever template somebody has set since.
#[test]
fn back_is_what_most_pods_have() {
    let kinds = KINDS.into_iter().filter(|kind| ["statefulsets", "daemonsets"].contains(&kind.plural));
    side_by_side(kinds.collect(), |kind| {
        let scene = Scene::new(kind);
        scene.apply("acme/side:crash").ends_with(4);
        scene.server.edit(kind.plural, "w", |owner| {
            owner["spec"]["template"]["spec"]["containers"][1]["image"] = "acme/side:v3".into();
        });
        scene.run("abort", "").ends_with(6).says("abort");
        scene.run("abort", "--take-over").ends_with(0).prints("side:v3").prints("side:v1").omits("side:crash");
        assert!(sides(&scene).iter().all(|image| image == "acme/side:v1"), "{}: {:?}", kind.typed, sides(&scene));
        assert_eq!(scene.owner()["spec"]["template"], scene.spec["template"], "{}", kind.typed);
    });
}

/// The template was set by somebody who does not know of the rollout; its controller replaces nothing.
#[test]
fn another_template_of_a_replica_set_ends_what_is_taken_back() {
    let kinds = KINDS.into_iter().filter(|kind| kind.plural == "replicasets");
    side_by_side(kinds.collect(), |kind| {
        let scene = Scene::new(kind);
        kill_at(&scene, SECOND_POD, scene.typed("apply", "side=acme/side:v2"));
        scene.server.edit(kind.plural, "w", |owner| {
            owner["spec"]["template"]["spec"]["containers"][1]["image"] = "acme/side:v3".into();
        });
        let before = sides(&scene);
        let output = scene.run("abort", "").ends_with(6);
        output.prints("its template was changed by another client").omits("Rolled back").omits("already set");
        assert_eq!(sides(&scene), before);
        assert_eq!(scene.lock(), Value::Null);
    });
}

/// Its pods are all that tells of it.
#[test]
fn a_lock_that_was_removed_from_a_replica_set_is_not_nothing() {
    let kinds = KINDS.into_iter().filter(|kind| kind.plural == "replicasets");
    side_by_side(kinds.collect(), |kind| {
        for (verb, image) in [("resume", "acme/side:v2"), ("abort", "acme/side:v1")] {
            let scene = Scene::new(kind);
            kill_at(&scene, SECOND_POD, scene.typed("apply", "side=acme/side:v2"));
            scene.server.edit(kind.plural, "w", |owner| {
                owner["metadata"]["annotations"].as_object_mut().and_then(|annotations| annotations.remove(LOCK));
            });
            let before = sides(&scene);
            let output = scene.run(verb, "").ends_with(1).says("its lock was removed");
            output.says(&format!("kubectl inplace {verb} {}/w ", scene.singular())).says("--take-over");
            assert_eq!(sides(&scene), before);
            scene.run(verb, "--take-over").ends_with(0);
            assert!(sides(&scene).iter().all(|found| found == image), "{verb}: {:?}", sides(&scene));
        }
    });
}
