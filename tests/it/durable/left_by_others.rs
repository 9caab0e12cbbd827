//! What cannot be finished as it was begun: the end names a command that leads out.

use json_patch::Patch;
use serde_json::{Value, json};

use super::faults::kill_at;
use super::without_lock::lose_lock;
use super::{KINDS, LOCK, Output, Scene, Write, images, side_by_side, uids};
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

/// Its controller is held back: the image goes back in place, and what the other client has set stays.
#[test]
fn an_image_goes_back_in_place_under_a_template_that_pods_cannot_be_brought_to() {
    let kinds = KINDS.into_iter().filter(|kind| ["statefulsets", "daemonsets"].contains(&kind.plural));
    side_by_side(kinds.collect(), |kind| {
        let scene = Scene::new(kind).fails_slowly();
        let pods = uids(&scene.server);
        scene.run("apply", "side=acme/side:missing --pre-pull=never").ends_with(4);
        // What it takes the place of was no good either.
        scene.run("apply", "side=acme/side:crash --pre-pull=never").ends_with(4);
        set_variable(&scene);
        let way = format!(
            "Roll back the image in place, keeping what else was set in the template: kubectl inplace apply {}/w \
             side=acme/side:v1",
            scene.singular()
        );
        scene.run("abort", "").ends_with(6).says(&way);
        super::ways_out::status(&scene).prints(&way);
        scene.run("abort", "--take-over").ends_with(1).says(&way);
        scene.run("resume", "--take-over").ends_with(1).says(&way);
        scene.apply("acme/side:v1").ends_with(0);
        assert_eq!(uids(&scene.server), pods, "{}", kind.typed);
        assert!(images(&scene.server, "side").iter().all(|image| image == "acme/side:v1"), "{}", kind.typed);
        let containers = &scene.owner()["spec"]["template"]["spec"]["containers"];
        assert_eq!((&containers[0]["env"][0]["name"], &containers[1]["image"]), (&json!("X"), &json!("acme/side:v1")));
    });
}

/// A run that found what has lost its lock, and ended before it wrote anything.
#[test]
fn what_could_not_be_taken_on_is_named_again() {
    side_by_side(KINDS.to_vec(), |kind| {
        let scene = Scene::new(kind).fails_slowly();
        scene.run("apply", "side=acme/side:missing --pre-pull=never").ends_with(4);
        lose_lock(&scene, None);
        let abort = format!("kubectl inplace abort {}/w --min-ready-seconds 0", scene.singular());
        scene.run("resume", "--take-over").ends_with(4).prints("This run changed no pods.").says(&abort);
        scene.run("abort", "--take-over").ends_with(0).prints("Rolled back");
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
                "Resume without asking the budget: kubectl inplace {verb} {}/w --min-ready-seconds 0 --disruption-budget ignore",
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

/// What kubectl does with the printed patch, which names no secret.
fn set_back(scene: &Scene, status: &Output, keeps: &str) {
    let printed = status.stdout.lines().find_map(|line| line.trim().strip_prefix(keeps));
    let (patch, _) = printed.and_then(|rest| rest.split_once('\'')).unwrap_or_else(|| panic!("{}", status.block()));
    let patch: Patch = serde_json::from_str(patch).expect("a JSON patch");
    scene.server.edit(scene.kind.plural, "w", |owner| json_patch::patch(owner, &patch).expect("it applies"));
}

/// The controller copies the lock to the ReplicaSet: that leads on no better than the lock that cannot be read any more.
#[test]
fn a_copy_of_the_lock_leads_nowhere_under_a_template_that_pods_cannot_be_brought_to() {
    let kind = KINDS.into_iter().find(|kind| kind.plural == "deployments").expect("one of them");
    let scene = Scene::new(kind);
    let keeps = "Set its template back, which keeps the pods: kubectl patch deployment/w --type=json -p '";
    kill_at(&scene, Write { verb: "patch", plural: kind.plural, nth: 1 }, scene.typed("apply", "side=acme/side:v2"));
    let copy = scene.server.objects(kind.plural)[0]["metadata"]["annotations"][LOCK].clone();
    scene.server.edit(kind.plural, "w", |owner| {
        owner["metadata"]["annotations"][LOCK] = "edited".into();
        owner["spec"]["template"]["spec"]["containers"][0]["env"] = json!([{"name": "X", "value": "1"}]);
    });
    let outgoing =
        serde_json::from_str::<Value>(copy.as_str().unwrap_or_default()).expect("a lock")["outgoing"].clone();
    scene.server.edit("replicasets", outgoing["name"].as_str().unwrap_or_default(), |set| {
        set["metadata"]["annotations"][LOCK] = copy;
    });
    let status = || typed(&scene.server, "status deploy/w").run().ends_with(0);
    status().prints(keeps).omits("--take-over");
    for verb in ["resume", "abort"] {
        scene.run(verb, "--take-over").ends_with(1).says("its lock cannot be read").says(keeps);
    }
    set_back(&scene, &status(), keeps);
    scene.run("resume", "--take-over").ends_with(0);
    assert_eq!(uids(&scene.server), scene.uids);
    assert_eq!(images(&scene.server, "side"), ["acme/side:v2"; 3]);
}

/// Neither can be resumed or rolled back: what is printed says what it costs, and what keeps the pods.
#[test]
fn what_nothing_can_be_brought_out_of_in_place_names_the_way_out() {
    let kinds = KINDS.into_iter().filter(|kind| kind.plural != "replicasets");
    side_by_side(kinds.collect(), |kind| {
        let write = Write { verb: "patch", plural: kind.plural, nth: 1 };
        let status = |scene: &Scene| typed(&scene.server, &format!("status {}", kind.typed)).run().ends_with(0);
        let way = "Let its template roll out, which can replace every pod";
        let scene = Scene::new(kind);
        let keeps = format!(
            "Set its template back, which keeps the pods: kubectl patch {}/w --type=json -p '",
            scene.singular()
        );
        kill_at(&scene, write, scene.typed("apply", "side=acme/side:v2"));
        lose_lock(&scene, Some("edited"));
        set_variable(&scene);
        let patch = format!(
            "{way}: kubectl patch {}/w -p '{{\"metadata\":{{\"annotations\":{{\"{LOCK}\":null}}}}",
            scene.singular()
        );
        status(&scene).prints(&keeps).prints(&patch).omits("--take-over");
        for verb in ["resume", "abort"] {
            scene.run(verb, "--take-over").ends_with(1).says("its lock cannot be read").says(&keeps).says(&patch);
        }
        set_back(&scene, &status(&scene), &keeps);
        status(&scene).prints("Finish in place");
        scene.run("resume", "--take-over").ends_with(0);
        assert_eq!(uids(&scene.server), scene.uids, "{}", kind.typed);
        assert_eq!(images(&scene.server, "side"), ["acme/side:v2"; 3], "{}", kind.typed);
        if kind.plural != "deployments" {
            return;
        }
        let scene = Scene::new(kind);
        kill_at(&scene, write, scene.typed("apply", "side=acme/side:v2"));
        set_variable(&scene);
        scene.run("abort", "").ends_with(6).says(&keeps);
        let held = status(&scene).prints(&keeps);
        let held = held.prints(&format!("{way}: kubectl rollout resume {}/w", scene.singular()));
        set_back(&scene, &held, &keeps);
        let left = "Let its controller act again, which replaces no pod: kubectl rollout resume deployment/w";
        status(&scene).prints(left);
        scene
            .server
            .edit("deployments", "w", |owner| drop(owner["spec"].as_object_mut().map(|spec| spec.remove("paused"))));
        assert_eq!(uids(&scene.server), scene.uids, "{}", kind.typed);
        scene.is_settled("acme/side:v1", kind.typed);
    });
}

/// An owner that was saved in the middle and is restored once the rollout has ended, under another template: the
/// ReplicaSet keeps what its pods have.
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
    super::ways_out::status(&scene).prints("The rollout has ended before. To remove its lock: kubectl inplace resume");
    scene.run("resume", "").ends_with(6);
    assert_eq!((scene.lock(), sets(), uids(&scene.server)), (Value::Null, before, scene.uids.clone()));
    let keeps = "Set its template back, which keeps the pods: kubectl patch deployment/w --type=json -p '";
    set_back(&scene, &super::ways_out::status(&scene).prints(keeps), keeps);
    assert_eq!(scene.owner()["spec"]["template"]["spec"]["containers"][1]["image"], "acme/side:v2");
    super::ways_out::status(&scene).omits("drifted");
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
        scene.run("abort", "").ends_with(6).omits("To keep the pods");
        super::ways_out::status(&scene).omits("To keep the pods");
        scene.server.edit(kind.plural, "w", |owner| owner["spec"]["template"] = template.clone());
        super::ways_out::status(&scene).omits("Bring the template to the pods");
        for verb in ["resume", "abort"] {
            scene.run(verb, "--take-over").ends_with(1).omits("Complete").omits("Rolled back");
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
        scene.run("abort", "").ends_with(6).says("\"partition\":1").omits("--take-over");
        let why = "its partition is above every pod";
        let resumed = scene.run("resume", "--take-over").ends_with(1).says(why).omits("Complete");
        resumed.omits("kubectl inplace resume");
        super::ways_out::status(&scene).omits("--take-over");
        scene.run("abort", "--take-over").ends_with(1).says(why).omits("Rolled back");
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
    for verb in ["resume", "abort"] {
        scene.run(verb, "").ends_with(1).says(way);
        scene.run(verb, "--take-over").ends_with(1).says(way);
    }
    scene.apply("acme/side:v1").ends_with(0);
    assert_eq!((images(&scene.server, "side"), uids(&scene.server)), (vec!["acme/side:v1".to_owned(); 3], scene.uids));
}
