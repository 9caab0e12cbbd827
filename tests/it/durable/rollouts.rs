//! The plain course of each kind: forward, back, and again.

use std::time::Duration;

use serde_json::{Value, json};

use super::{HISTORY, KINDS, Scene, side_by_side, uids};
use crate::support::api_server::{Effect, When};
use crate::support::clock;
use crate::support::run::Output;
use crate::support::scene::{images, typed};

/// The steps on the owner, from the lines on stderr.
fn steps(output: &Output) -> Vec<String> {
    let lines = output.stderr.lines().filter(|line| line.starts_with('['));
    let reported = lines.filter_map(|line| line.split_once("/w  ").map(|(_, reported)| reported.to_owned()));
    reported.collect()
}

#[test]
fn every_kind_ends_with_template_history_and_pods_saying_the_same() {
    side_by_side(KINDS.to_vec(), |kind| {
        let scene = Scene::new(kind);
        let output =
            scene.apply("acme/side:v2").ends_with(0).prints("Updated 3 pods in place").prints("new pods get the same");
        assert_eq!(steps(&output), kind.steps, "{}", kind.typed);
        scene.is_settled("acme/side:v2", kind.typed);
        let history = scene.history();
        let entry = &history[0];
        assert_eq!((history.len(), &entry["outcome"], &entry["who"]), (1, &json!("complete"), &json!("jane")));
        assert_eq!(
            (&entry["change"]["images"]["side"]["from"], &entry["change"]["images"]["side"]["to"]),
            (&json!("acme/side:v1"), &json!("acme/side:v2"))
        );
        scene.apply("acme/side:v2").ends_with(0).prints("No changes.");
        assert_eq!(scene.owner_writes().len(), kind.writes.len(), "the second run writes nothing");
    });
}

#[test]
fn undo_goes_back_and_forward_again_and_again() {
    side_by_side(KINDS.to_vec(), |kind| {
        let scene = Scene::new(kind);
        for round in 0..3 {
            scene.apply("acme/side:v2").ends_with(0);
            scene.is_settled("acme/side:v2", &format!("{} forward, round {round}", kind.typed));
            scene.run("undo", "").ends_with(0);
            scene.is_settled("acme/side:v1", &format!("{} back, round {round}", kind.typed));
        }
        assert_eq!(scene.history().len(), 6, "{}", kind.typed);
    });
}

#[test]
fn a_failure_is_taken_back_where_that_is_asked_for_and_still_is_a_failure() {
    side_by_side(KINDS.to_vec(), |kind| {
        let scene = Scene::new(kind);
        let output = scene.run("apply", "side=acme/side:missing --on-failure=undo --pre-pull=never").ends_with(4);
        output.says("(--on-failure=undo)").prints("Failed").prints("Rolled back:");
        scene.is_settled("acme/side:v1", kind.typed);
        let outcomes: Vec<_> = scene.history().iter().map(|entry| entry["outcome"].clone()).collect();
        assert_eq!(outcomes, ["aborted"], "{}", kind.typed);
        // The last line is of the way back, and has the exit code of the failure.
        let output =
            scene.run("apply", "side=acme/side:missing --on-failure=undo --pre-pull=never -o json").ends_with(4);
        let last: Value =
            output.stdout.lines().last().and_then(|line| serde_json::from_str(line).ok()).unwrap_or_default();
        assert_eq!((&last["result"], &last["exitCode"]), (&json!("aborted"), &json!(4)), "{}", kind.typed);
    });
}

/// A pod whose patch the server refused was never changed and is ready: it costs no place, so the others go on with one.
#[test]
fn others_go_on_after_a_pod_that_the_server_refused() {
    side_by_side(KINDS.to_vec(), |kind| {
        for places in [2, 1] {
            let scene = Scene::new(kind);
            let mut names = scene.server.objects("pods").into_iter().map(|pod| pod["metadata"]["name"].clone());
            // StatefulSets begin at the highest ordinal, the others by name.
            let first =
                if kind.plural == "statefulsets" { names.next_back() } else { names.min_by_key(Value::to_string) };
            let first = first.and_then(|name| name.as_str().map(str::to_owned)).unwrap_or_default();
            let deny = Effect::Deny { webhook: "policy".to_owned(), message: "not today".to_owned(), code: 403 };
            scene.server.fault(When::verb("patch").of("pods").named(&first).for_real(), deny);
            let line = format!("side=acme/side:v2 --on-failure=continue --max-unavailable {places}");
            scene.run("apply", &line).ends_with(4).prints("AdmissionRefused");
            let there = images(&scene.server, "side").into_iter().filter(|image| image == "acme/side:v2").count();
            assert_eq!(there, 2, "{}, {places} places", kind.typed);
            scene.server.clear_faults();
            scene.run("resume", "").ends_with(0);
            scene.is_settled("acme/side:v2", kind.typed);
        }
    });
}

/// A controller that is behind is given a moment before the plan says that it is.
#[test]
fn a_plan_waits_a_moment_for_the_controller() {
    side_by_side(KINDS.to_vec(), |kind| {
        let scene = Scene::new(kind);
        scene.apply("acme/side:v2").ends_with(0);
        scene.server.run_controllers(false);
        scene.server.edit(kind.plural, "w", |owner| {
            owner["metadata"]["generation"] = (owner["metadata"]["generation"].as_u64().unwrap_or(0) + 1).into();
        });
        let plan = || typed(&scene.server, &format!("plan {} side=acme/side:v3 --detailed-exitcode", kind.typed));
        let running = plan().spawn();
        clock::sleep(Duration::from_millis(500));
        scene.server.run_controllers(true);
        running.wait().ends_with(2);
        scene.server.run_controllers(false);
        scene.server.edit(kind.plural, "w", |owner| {
            owner["metadata"]["generation"] = (owner["metadata"]["generation"].as_u64().unwrap_or(0) + 1).into();
        });
        plan().run().ends_with(3).prints("OwnerNotObserved");
    });
}

#[test]
fn the_reason_is_recorded_and_shown_as_the_cause() {
    let scene = Scene::new(KINDS[0]);
    scene.run("apply", "side=acme/side:v2 --reason CVE-1&<2>").ends_with(0);
    let owner = scene.owner();
    assert_eq!(owner["metadata"]["annotations"]["kubernetes.io/change-cause"], "CVE-1&<2>");
    assert_eq!(scene.history()[0]["reason"], "CVE-1&<2>");
    let sets = scene.server.objects("replicasets");
    let kept = sets.iter().find(|set| set["spec"]["replicas"] == 0).cloned().unwrap_or_default();
    assert_eq!(kept["metadata"]["annotations"]["deployment.kubernetes.io/revision"], "1");
    assert!(sets.iter().any(|set| set["metadata"]["annotations"][HISTORY].is_string()), "the controller copied it");
}

/// The cause of a revision is that of its own change, whatever was done, and taken back, before and after it.
#[test]
fn a_cause_stays_with_its_revision() {
    side_by_side(KINDS.to_vec(), |kind| {
        let scene = Scene::new(kind);
        let cause = |object: &Value| object["metadata"]["annotations"]["kubernetes.io/change-cause"].clone();
        let causes = || {
            let sets = scene.server.objects("replicasets").into_iter();
            let own =
                sets.filter(|set| set["metadata"]["annotations"]["deployment.kubernetes.io/revision"].is_string());
            let mut causes: Vec<String> = own.map(|set| cause(&set).as_str().unwrap_or("none").to_owned()).collect();
            causes.sort_unstable();
            causes
        };
        scene.run("apply", "side=acme/side:v2 --reason first").ends_with(0);
        assert_eq!(cause(&scene.owner()), "first");
        scene.run("apply", "side=acme/side:v3").ends_with(0);
        assert!(cause(&scene.owner()).is_null(), "{}: a later change has not the cause of an earlier one", kind.typed);
        scene.run("apply", "side=acme/side:v4 --reason fourth").ends_with(0);
        scene.run("apply", "side=acme/side:missing --reason wrong --pre-pull=never --on-failure=undo").ends_with(4);
        assert_eq!(cause(&scene.owner()), "fourth", "{}: what was taken back took its cause along", kind.typed);
        if kind.plural == "deployments" {
            assert_eq!(causes(), ["first", "fourth", "none", "none"]);
        }
    });
}

#[test]
fn a_strategy_that_is_not_the_default_is_the_same_afterwards() {
    let on_delete = json!({"updateStrategy": {"type": "OnDelete", "rollingUpdate": null}});
    let cases = [
        (KINDS[0], json!({"revisionHistoryLimit": 0})),
        (KINDS[0], json!({"strategy": {"type": "Recreate", "rollingUpdate": null}})),
        (KINDS[1], on_delete.clone()),
        (KINDS[2], on_delete),
    ];
    side_by_side(cases.to_vec(), |(kind, spec)| {
        let scene = Scene::with(kind, |workload| workload.spec(&spec));
        let what = format!("{} {spec}", kind.typed);
        scene.apply("acme/side:v2").completes(&what);
        scene.is_settled("acme/side:v2", &what);
        scene.run("undo", "").completes(&what);
        scene.is_settled("acme/side:v1", &what);
    });
}

#[test]
fn under_a_partition_the_pods_below_it_keep_what_they_have() {
    let partition = json!({"updateStrategy": {"type": "RollingUpdate", "rollingUpdate": {"partition": 1}}});
    let scene = Scene::with(KINDS[1], |workload| workload.spec(&partition));
    scene.apply("acme/side:v2").ends_with(0).prints("skipped").prints("Updated 2 pods in place");
    assert_eq!(images(&scene.server, "side"), ["acme/side:v1", "acme/side:v2", "acme/side:v2"]);
    assert_eq!(scene.owner()["spec"]["updateStrategy"], scene.spec["updateStrategy"]);
    scene.run("undo", "").ends_with(0);
    assert_eq!(images(&scene.server, "side"), ["acme/side:v1"; 3]);
    scene.is_settled("acme/side:v1", "back");
}

/// The template gets the image, and what the pods keep is said: also of a second `apply`, which has nothing to do.
#[test]
fn under_a_partition_above_every_pod_the_template_alone_changes() {
    let partition = json!({"updateStrategy": {"type": "RollingUpdate", "rollingUpdate": {"partition": 3}}});
    let scene = Scene::with(KINDS[1], |workload| workload.spec(&partition));
    let kept = |template: &str| {
        format!(
            "3 pods below the partition (3) keep acme/side:v1 for side; only pods from the partition on get the template's {template}."
        )
    };
    let image = || scene.owner()["spec"]["template"]["spec"]["containers"][1]["image"].clone();
    scene.apply("acme/side:v2").ends_with(0).prints("0 of 3 pods (3 skipped)").says(&kept("acme/side:v2"));
    scene.apply("acme/side:v2").ends_with(0).prints("Every pod is skipped.").says(&kept("acme/side:v2"));
    scene.apply("acme/side:v3").ends_with(0).prints("new pods only").says(&kept("acme/side:v3"));
    assert_eq!((image(), images(&scene.server, "side")), (json!("acme/side:v3"), vec!["acme/side:v1".to_owned(); 3]));
    // To what the template said, not to what pods have that it did not change.
    scene.run("undo", "").ends_with(0);
    assert_eq!((image(), uids(&scene.server)), (json!("acme/side:v2"), scene.uids.clone()));
}

/// Somebody has set the image in the pods: what is left is the template, from which later pods are made.
#[test]
fn a_template_gets_what_its_pods_have_already() {
    side_by_side(KINDS.to_vec(), |kind| {
        let scene = Scene::new(kind);
        scene.run("apply", "side=acme/side:v2 --pods-only").ends_with(0);
        scene.apply("acme/side:v2").ends_with(0).prints("0 of 3 pods (3 up to date)").prints("new pods only");
        scene.is_settled("acme/side:v2", kind.typed);
        scene.apply("acme/side:v2").ends_with(0).prints("Every pod is up to date.");
    });
}
