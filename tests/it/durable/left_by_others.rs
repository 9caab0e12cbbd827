//! What cannot be finished as it was begun: the end names a command that leads out.

use serde_json::{Value, json};

use super::faults::kill_at;
use super::without_lock::lose_lock;
use super::{KINDS, Scene, Write, images, side_by_side, uids};
use crate::support::api_server::{Effect, When};
use crate::support::builders;
use crate::support::clock::eventually;
use crate::support::scene::typed;

/// Nothing of it can be brought into the pods in place.
fn set_variable(scene: &Scene) {
    scene.server.edit(scene.kind.plural, "w", |owner| {
        owner["spec"]["template"]["spec"]["containers"][0]["env"] = json!([{"name": "X", "value": "1"}]);
    });
}

/// Its image fails, and its template has more than can be brought to the pods: the image from before goes into the
/// template while its controller is held, and then the controller does the rest.
#[test]
fn a_failing_image_is_set_back_before_the_controller_is_let_go() {
    let kinds = KINDS.into_iter().filter(|kind| ["statefulsets", "daemonsets"].contains(&kind.plural));
    side_by_side(kinds.collect(), |kind| {
        let scene = Scene::new(kind).fails_slowly();
        scene.run("apply", "side=acme/side:missing --pre-pull=never").ends_with(4);
        set_variable(&scene);
        let set = format!("kubectl set image {}/w side=acme/side:v1 -n default", scene.singular());
        let release = format!("kubectl inplace abort {}/w --release", scene.singular());
        // Between two pulls the kubelet shows the back-off of the container before.
        eventually("a refusal with both commands", || {
            let refused =
                scene.run("abort", "").ends_with(6).says("another client changed its template").says(&release);
            refused.stderr.contains(&set).then_some(())
        });
        eventually("a status with both commands", || {
            let status = super::ways_out::status(&scene);
            (status.stdout.contains(&set) && status.stdout.contains(&release)).then_some(())
        });
        scene.run("resume", "--take-over").ends_with(6).says("in more than can be changed in place");
        scene.server.edit(kind.plural, "w", |owner| {
            owner["spec"]["template"]["spec"]["containers"][1]["image"] = "acme/side:v1".into();
        });
        assert_eq!(uids(&scene.server), scene.uids, "{}: no pod is replaced yet", kind.typed);
        typed(&scene.server, &format!("abort {} --release --dry-run=server", kind.typed)).run().ends_with(0);
        assert_ne!(scene.lock(), Value::Null, "{}: a dry run changes nothing", kind.typed);
        typed(&scene.server, &format!("abort {} --release", kind.typed)).run().ends_with(1).says("say --yes");
        super::ways_out::release(&scene).says("Follow: kubectl");
        assert_eq!(scene.lock(), Value::Null, "{}", kind.typed);
        assert_eq!(scene.owner()["spec"]["updateStrategy"], scene.spec["updateStrategy"], "{}", kind.typed);
        super::ways_out::status(&scene).omits("--release").omits("rollout in progress");
    });
}

/// The lock is gone, and the template's image fails: neither is it brought to more pods, nor is its controller let go.
#[test]
fn where_the_templates_image_fails_another_one_is_set_first() {
    side_by_side(KINDS.to_vec(), |kind| {
        let scene = Scene::new(kind).fails_slowly();
        scene.run("apply", "side=acme/side:missing --pre-pull=never").ends_with(4);
        lose_lock(&scene, Some("edited"));
        let is_held = scene.owner()["spec"]["updateStrategy"]["type"] == "OnDelete" || kind.plural == "replicasets";
        let set = format!("kubectl set image {}/w side=acme/side:v1", scene.singular());
        let resume = format!("kubectl inplace resume {}/w --take-over", scene.singular());
        // Between two pulls the kubelet shows the back-off of the container before.
        eventually("a status with the commands", || {
            let status = super::ways_out::status(&scene).prints(&resume);
            (status.stdout.contains(&set) == is_held && status.stdout.contains("--release") != is_held).then_some(())
        });
        if !is_held {
            return;
        }
        scene.server.edit(kind.plural, "w", |owner| {
            owner["spec"]["template"]["spec"]["containers"][1]["image"] = "acme/side:v1".into();
        });
        scene.run("resume", "--take-over").ends_with(0);
        assert_eq!(uids(&scene.server), scene.uids, "{}", kind.typed);
        assert!(images(&scene.server, "side").iter().all(|image| image == "acme/side:v1"), "{}", kind.typed);
    });
}

/// It has no room from the first pod on: the command that does without it is named, whichever way the rollout goes.
#[test]
fn a_budget_that_comes_meanwhile_is_passed_by_the_command_that_is_named() {
    side_by_side(KINDS.to_vec(), |kind| {
        let scene = Scene::new(kind);
        scene.run("apply", "side=acme/side:v2 --canary 1").ends_with(0);
        let mut budget = builders::budget("w", 0);
        budget["spec"]["minAvailable"] = 2.into();
        scene.server.insert([budget]);
        let way = |verb: &str| {
            format!(
                "Resume without asking the budget: kubectl inplace {verb} {}/w --disruption-budget ignore",
                scene.singular()
            )
        };
        scene.run("resume", "--timeout 2s").ends_with(5).prints(&way("resume"));
        scene.run("abort", "--timeout 2s").ends_with(5).prints(&way("abort"));
        scene.run("resume", "--disruption-budget ignore").ends_with(0);
        scene.is_settled("acme/side:v2", kind.typed);
        let again = format!(
            "kubectl inplace apply {} side=acme/side:v3 --min-ready-seconds 0 --disruption-budget ignore",
            kind.typed
        );
        scene.run("apply", "side=acme/side:v3 --timeout 2s").ends_with(5).prints(&again);
    });
}

/// What a rollout began without is reported to the user who resumes it, and read once that is wanted.
#[test]
fn budgets_that_a_rollout_began_without_are_asked_once_that_is_said() {
    side_by_side(KINDS.to_vec(), |kind| {
        for verb in ["resume", "abort"] {
            let scene = Scene::new(kind);
            scene.run("apply", "side=acme/side:v2 --canary 1 --disruption-budget ignore").ends_with(0);
            let mut budget = builders::budget("w", 0);
            budget["spec"]["minAvailable"] = 2.into();
            scene.server.insert([budget]);
            let before = images(&scene.server, "side");
            scene.run(verb, "--disruption-budget respect --timeout 2s").ends_with(5).omits("began with");
            assert_eq!(images(&scene.server, "side"), before, "{verb} {}", kind.typed);
            let reported = "began with --disruption-budget ignore, so no PodDisruptionBudget is asked";
            let scene = Scene::new(kind);
            scene.run("apply", "side=acme/side:v2 --canary 1 --disruption-budget ignore").ends_with(0);
            scene.run(verb, "--dry-run").ends_with(0).says(reported);
            scene.run(verb, "").ends_with(0).says(reported);
        }
    });
}

/// Who goes on may see less than who began: what is dropped therefore is said before anything is asked or done.
#[test]
fn safeguards_that_cannot_be_read_are_named_before_a_rollout_goes_on() {
    for verb in ["resume", "abort"] {
        let scene = Scene::new(KINDS[0]);
        scene.run("apply", "side=acme/side:v2 --canary 1").ends_with(0);
        for plural in ["services", "poddisruptionbudgets"] {
            scene.server.fault(When::verb("list").of(plural), Effect::Forbid);
        }
        for flags in ["--dry-run", ""] {
            let output = scene.run(verb, flags).ends_with(0);
            output
                .says("the Services could not be read")
                .says("so no pod is taken out of them before it restarts")
                .says("the PodDisruptionBudgets could not be read");
        }
    }
}

/// Neither can be resumed or rolled back: what is printed says what it costs.
#[test]
fn what_nothing_can_be_brought_out_of_in_place_is_released() {
    let kinds = KINDS.into_iter().filter(|kind| kind.plural != "replicasets");
    let cases = kinds.flat_map(|kind| [Some("edited"), None].map(|lock| (kind, lock)));
    side_by_side(cases.collect(), |(kind, lock)| {
        let scene = Scene::new(kind);
        let write = Write { verb: "patch", plural: kind.plural, nth: 1 };
        kill_at(&scene, write, scene.typed("apply", "side=acme/side:v2"));
        if lock.is_some() {
            lose_lock(&scene, lock);
        }
        set_variable(&scene);
        let release = format!("kubectl inplace abort {}/w --release", scene.singular());
        super::ways_out::status(&scene).prints(&release).omits("--take-over");
        for verb in ["resume", "abort"] {
            scene.run(verb, "").ends_with(6).says(&release);
            scene.run(verb, "--take-over").ends_with(6).omits("Complete").omits("Rolled back");
        }
        assert_eq!(uids(&scene.server), scene.uids, "{}: nothing was replaced so far", kind.typed);
        super::ways_out::release(&scene);
        let owner = scene.owner();
        assert_eq!((scene.lock(), &owner["spec"]["paused"]), (Value::Null, &Value::Null), "{}", kind.typed);
        super::ways_out::status(&scene).omits("--release");
    });
}

/// An owner that was saved in the middle and is restored once the rollout has ended, under another template.
#[test]
fn a_copy_that_is_restored_after_the_end_under_another_template_takes_nothing_back() {
    let scene = Scene::new(KINDS[0]);
    kill_at(&scene, Write { verb: "patch", plural: "deployments", nth: 1 }, scene.typed("apply", "side=acme/side:v2"));
    let saved = scene.owner();
    scene.run("resume", "").ends_with(0);
    let sets = || -> Vec<Value> {
        let sets = scene.server.objects("replicasets");
        sets.iter().map(|set| json!([set["metadata"]["name"], set["spec"]])).collect()
    };
    let before = sets();
    scene.server.edit("deployments", "w", |owner| {
        owner["spec"] = saved["spec"].clone();
        owner["metadata"]["annotations"] = saved["metadata"]["annotations"].clone();
    });
    set_variable(&scene);
    super::ways_out::status(&scene).prints("the lock of a rollout that has ended came back").omits("--take-over");
    scene.run("resume", "").ends_with(6);
    assert_eq!((sets(), uids(&scene.server)), (before, scene.uids.clone()));
}

/// A pod that the controller has created from another client's template meanwhile does not get the revision of the
/// others, and no template is said to keep them all.
#[test]
fn a_pod_of_another_clients_template_keeps_its_revision() {
    let kinds = KINDS.into_iter().filter(|kind| kind.plural == "statefulsets");
    side_by_side(kinds.collect(), |kind| {
        let scene = Scene::new(kind);
        scene.run("apply", "side=acme/side:v2 --canary 1").ends_with(0);
        let template = scene.owner()["spec"]["template"].clone();
        let set = |name: &str, replicas: u32| {
            scene.server.edit(kind.plural, "w", |owner| {
                owner["spec"]["template"]["spec"]["containers"][0]["env"] = json!([{"name": name, "value": "1"}]);
                owner["spec"]["replicas"] = replicas.into();
            });
        };
        let pod = || scene.server.objects("pods").into_iter().find(|pod| pod["metadata"]["name"] == "w-3");
        set("A", 4);
        eventually("a fourth pod", pod);
        let before = (uids(&scene.server), pod().map(|pod| pod["metadata"]["labels"].clone()));
        set("B", 4);
        scene.run("abort", "").ends_with(6);
        scene.server.edit(kind.plural, "w", |owner| owner["spec"]["template"] = template.clone());
        super::ways_out::status(&scene).prints("a pod was created from another client's template").omits("--take-over");
        for verb in ["resume", "abort"] {
            scene.run(verb, "--take-over").ends_with(6).omits("Complete").omits("Rolled back");
        }
        assert_eq!((uids(&scene.server), pod().map(|pod| pod["metadata"]["labels"].clone())), before);
    });
}

/// A run that goes on with a rollout whose run was killed keeps that run's setting about a pod that fails.
#[test]
fn what_becomes_of_a_failure_is_what_the_rollout_began_with() {
    side_by_side(KINDS.to_vec(), |kind| {
        for (flags, way, taken_back) in [("undo", "", true), ("undo", "--on-failure stop", false), ("stop", "", false)]
        {
            let scene = Scene::new(kind).fails_slowly();
            let begun = format!("side=acme/side:crash --on-failure {flags}");
            kill_at(&scene, Write { verb: "patch", plural: "pods", nth: 0 }, scene.typed("apply", &begun));
            let output = scene.run("resume", way).ends_with(4);
            assert_eq!(output.stderr.contains("undo: taking"), taken_back, "{flags} {way}: {}", output.block());
            let has_it = images(&scene.server, "side").iter().any(|image| image == "acme/side:crash");
            assert_eq!(has_it, !taken_back, "{flags} {way} {}: {}", kind.typed, output.block());
        }
    });
}

/// A dry run refuses what the run would refuse; and a caller that could begin a rollout can go on with it.
#[test]
fn what_a_caller_may_not_do_is_found_by_the_dry_run_too() {
    let scene = Scene::new(KINDS[0]);
    scene.run("apply", "side=acme/side:v2 --canary 1").ends_with(0);
    scene.server.fault(When::verb("delete").of("replicasets"), Effect::Forbid);
    let refused = "you may not delete replicasets.apps";
    for flags in ["--dry-run=client", "--dry-run=server", ""] {
        scene.run("abort", flags).ends_with(3).says(refused);
    }
    scene.run("resume", "--dry-run=server").ends_with(0).omits(refused);
    scene.run("resume", "").ends_with(0);
    scene.is_settled("acme/side:v2", "resumed");
}

/// A label that a paused rollout has brought to one pod alone: the update of that label takes its place, for every pod.
#[test]
fn a_label_takes_the_place_of_itself_in_pods_of_both_revisions() {
    let kinds = KINDS.into_iter().filter(|kind| ["statefulsets", "daemonsets"].contains(&kind.plural));
    side_by_side(kinds.collect(), |kind| {
        let scene = Scene::new(kind);
        let labelled = |value: &str| {
            let mut manifest = scene.manifest(&json!([]));
            manifest["spec"]["template"]["spec"].as_object_mut().map(|spec| spec.remove("tolerations"));
            manifest["spec"]["template"]["metadata"]["labels"]["tier"] = value.into();
            manifest
        };
        let tiers = || -> Vec<Value> {
            scene.server.objects("pods").iter().map(|pod| pod["metadata"]["labels"]["tier"].clone()).collect()
        };
        let begun = scene.apply_manifest(&labelled("a"), "--canary 1");
        begun.ends_with(0).prints("label tier: the template, and so every new pod, has a; 1 pod with a, 2 not yet.");
        scene.apply_manifest(&labelled("b"), "").ends_with(0).prints("Replaces rollout");
        assert_eq!(tiers(), ["b", "b", "b"], "{}", kind.typed);
        scene.run("undo", "").ends_with(0);
        assert_eq!(tiers(), [Value::Null, Value::Null, Value::Null], "{}", kind.typed);
    });
}

/// What another client has set since is not called what the rollout has set: in the template, and in a single pod.
#[test]
fn a_label_that_somebody_has_set_since_is_not_dropped_without_a_word() {
    side_by_side(KINDS.to_vec(), |kind| {
        let scene = Scene::new(kind);
        let mut manifest = scene.manifest(&json!([]));
        manifest["spec"]["template"]["spec"].as_object_mut().map(|spec| spec.remove("tolerations"));
        manifest["spec"]["template"]["metadata"]["labels"]["tier"] = "2".into();
        scene.apply_manifest(&manifest, "").ends_with(0);
        let Some(name) = scene.server.objects("pods")[0]["metadata"]["name"].as_str().map(str::to_owned) else {
            panic!("a pod without a name")
        };
        scene.server.edit("pods", &name, |pod| pod["metadata"]["labels"]["tier"] = "9".into());
        let why = "1 pod has label tier 9, and would lose it; the template says 2. (PodsMetadataDiffers)";
        scene.run("undo", "--dry-run=client").ends_with(0).says(why);
        scene.server.edit(kind.plural, "w", |owner| {
            owner["spec"]["template"]["metadata"]["labels"]["tier"] = "3".into();
        });
        let why = "set label tier to \"2\", and its template says \"3\" now: another client has changed it since";
        scene.run("undo", "--dry-run=client").ends_with(1).says(why);
    });
}

/// Under the user's own OnDelete the label shows which pods are still to be created again: those that lack more than
/// the update brings keep theirs.
#[test]
fn pods_that_wait_to_be_re_created_stay_of_their_revision() {
    let kinds = KINDS.into_iter().filter(|kind| ["statefulsets", "daemonsets"].contains(&kind.plural));
    side_by_side(kinds.collect(), |kind| {
        let scene = Scene::new(kind).fails_slowly();
        scene.server.edit(kind.plural, "w", |owner| owner["spec"]["updateStrategy"] = json!({"type": "OnDelete"}));
        let revisions = || -> Vec<Value> {
            let pods = scene.server.objects("pods");
            pods.iter().map(|pod| pod["metadata"]["labels"]["controller-revision-hash"].clone()).collect()
        };
        let before = revisions();
        set_variable(&scene);
        scene.apply("acme/side:v2").ends_with(0);
        assert!(images(&scene.server, "side").iter().all(|image| image == "acme/side:v2"), "{}", kind.typed);
        assert_eq!((revisions(), uids(&scene.server)), (before.clone(), scene.uids.clone()), "{}", kind.typed);
        scene.run("restart", "-c side").ends_with(0);
        scene.apply("acme/side:missing --pre-pull=never").ends_with(4);
        scene.run("abort", "").ends_with(0).prints("Rolled back");
        scene.run("undo", "").ends_with(0);
        assert_eq!((revisions(), uids(&scene.server)), (before, scene.uids.clone()), "{}", kind.typed);
    });
}

/// A StatefulSet whose pod 0 is to keep the revision from before, killed once pod 2 is asked.
fn killed_under_a_partition(kind: super::Kind) -> Scene {
    let scene = Scene::new(kind);
    scene
        .server
        .edit(kind.plural, "w", |owner| owner["spec"]["updateStrategy"]["rollingUpdate"]["partition"] = 1.into());
    kill_at(&scene, Write::new("patch", "pods", 1), scene.typed("apply", "side=acme/side:v2"));
    scene
}

/// Without its lock nobody knows which pods were to keep the revision from before: it is not called complete over them.
#[test]
fn a_partition_that_a_rollout_has_raised_is_not_the_users() {
    let kinds = KINDS.into_iter().filter(|kind| kind.plural == "statefulsets");
    side_by_side(kinds.collect(), |kind| {
        let scene = killed_under_a_partition(kind);
        scene.server.edit(kind.plural, "w", |owner| {
            owner["spec"]["template"]["spec"]["containers"][0]["image"] = "acme/app:foreign".into();
        });
        lose_lock(&scene, Some("edited"));
        let why = "its partition is above every pod";
        scene.run("resume", "--take-over").ends_with(6).says(why).omits("Complete");
        super::ways_out::status(&scene).omits("--take-over");
    });
}

/// Deleted without its pods and created again, a DaemonSet has the template generation that they carry: its controller
/// replaces none of them, whatever revision they have.
#[test]
fn what_a_daemon_set_that_was_created_again_has_left_goes_to_its_template() {
    let scene = Scene::new(KINDS[2]);
    kill_at(&scene, Write::new("patch", "pods", 1), scene.typed("apply", "side=acme/side:v2"));
    scene.server.run_controllers(false);
    lose_lock(&scene, None);
    scene.server.edit("daemonsets", "w", |owner| owner["spec"] = scene.spec.clone());
    scene.server.edit("daemonsets", "w", |owner| {
        owner["status"]["observedGeneration"] = owner["metadata"]["generation"].clone();
        owner["status"]["updatedNumberScheduled"] = owner["status"]["desiredNumberScheduled"].clone();
    });
    let way = "Bring the pods to the template, in place: kubectl inplace apply daemonset/w side=acme/side:v1";
    super::ways_out::status(&scene).prints(way).omits("--take-over");
    scene.apply("acme/side:v1").ends_with(0);
    assert_eq!((images(&scene.server, "side"), uids(&scene.server)), (vec!["acme/side:v1".to_owned(); 3], scene.uids));
}
