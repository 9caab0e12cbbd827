//! The plain course of each kind: forward, back, and again.

use serde_json::json;

use super::{HISTORY, KINDS, Scene};
use crate::support::run::Output;

/// The steps on the owner, as the lines on stderr tell them.
fn steps(output: &Output) -> Vec<String> {
    let lines = output.stderr.lines().filter(|line| line.starts_with('['));
    let told = lines.filter_map(|line| line.split_once("/w  ").map(|(_, told)| told.to_owned()));
    told.collect()
}

#[test]
fn every_kind_ends_with_template_history_and_pods_saying_the_same() {
    for kind in KINDS {
        let scene = Scene::new(kind);
        let output = scene.apply("acme/side:v2").ends_with(0).prints("Updated 3 pods in place").prints("   durable");
        assert_eq!(steps(&output), kind.steps, "{}", kind.typed);
        scene.is_settled("acme/side:v2", kind.typed);
        let history = scene.history();
        let entry = &history[0];
        assert_eq!((history.len(), &entry["outcome"], &entry["who"]), (1, &json!("complete"), &json!("jane")));
        assert_eq!(
            (&entry["containers"]["side"]["from"], &entry["containers"]["side"]["to"]),
            (&json!("acme/side:v1"), &json!("acme/side:v2"))
        );
        scene.apply("acme/side:v2").ends_with(0).prints("No changes.");
        assert_eq!(scene.owner_writes().len(), kind.steps.len(), "the second run writes nothing");
    }
}

#[test]
fn undo_goes_back_and_forward_again_and_again() {
    for kind in KINDS {
        let scene = Scene::new(kind);
        for round in 0..3 {
            scene.apply("acme/side:v2").ends_with(0);
            scene.is_settled("acme/side:v2", &format!("{} forward, round {round}", kind.typed));
            scene.run("undo", "").ends_with(0);
            scene.is_settled("acme/side:v1", &format!("{} back, round {round}", kind.typed));
        }
        assert_eq!(scene.history().len(), 6, "{}", kind.typed);
    }
}

#[test]
fn a_failure_is_taken_back_where_that_is_asked_for_and_still_is_a_failure() {
    for kind in KINDS {
        let scene = Scene::new(kind);
        let output = scene.run("apply", "side=acme/side:missing --on-failure=undo").ends_with(4);
        output.says("(--on-failure=undo)").prints("Failed").prints("Taken back:");
        scene.is_settled("acme/side:v1", kind.typed);
        let outcomes: Vec<_> = scene.history().iter().map(|entry| entry["outcome"].clone()).collect();
        assert_eq!(outcomes, ["aborted"], "{}", kind.typed);
    }
}

#[test]
fn the_reason_is_recorded_and_shown_as_the_cause() {
    let scene = Scene::new(KINDS[0]);
    scene.run("apply", "side=acme/side:v2 --reason CVE-1").ends_with(0);
    let owner = scene.owner();
    assert_eq!(owner["metadata"]["annotations"]["kubernetes.io/change-cause"], "CVE-1");
    assert_eq!(scene.history()[0]["reason"], "CVE-1");
    let sets = scene.server.objects("replicasets");
    let kept = sets.iter().find(|set| set["spec"]["replicas"] == 0).cloned().unwrap_or_default();
    assert_eq!(kept["metadata"]["annotations"]["deployment.kubernetes.io/revision"], "1");
    assert!(sets.iter().any(|set| set["metadata"]["annotations"][HISTORY].is_string()), "the controller copied it");
}
