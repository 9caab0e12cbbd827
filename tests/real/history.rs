//! `history`: what is noted on real objects, and what kubectl and the controllers do to the notes.

use serde_json::{Value, json};

use crate::support::{Api, Kind, Namespace, Owner, restarted, samples, side_by_side, tag_manifest};

fn updates(namespace: &Namespace, workload: &str) -> Vec<Value> {
    let output = namespace.inplace(&["history", workload, "-o", "json"]);
    assert_eq!(output.code, 0, "{output:#?}");
    let document: Value = serde_json::from_str(&output.stdout).expect("one document");
    document["workloads"][0]["updates"].as_array().cloned().unwrap_or_default()
}

#[test]
fn notes_are_found_wherever_they_stand() {
    let namespace = Namespace::new("history");
    namespace.apply(&samples::deployment("web", 2));
    namespace.wait_ready("app=web", 2);
    assert!(namespace.inplace(&["history", "deploy/web"]).stdout.contains("No in-place updates recorded."));
    let arguments = ["apply", "deploy/web", "side=:v2", "--pods-only", "--yes", "--min-ready-seconds", "0"];
    assert_eq!(namespace.inplace(&arguments).code, 0);
    let found = updates(&namespace, "deploy/web");
    assert_eq!(found.len(), 1, "{found:#?}");
    assert_eq!((&found[0]["course"], found[0]["pods"].as_array().map(Vec::len)), (&json!("podsOnly"), Some(2)));
    assert!(found[0]["images"][0]["imageID"].as_str().is_some_and(|id| id.contains("sha256:")), "{found:#?}");

    // A Deployment's controller copies its annotations to the ReplicaSet: what is then gone from the Deployment stays there.
    let entry = json!([{"id": "20260301-100000-0000aa", "who": "jane", "since": "2026-03-01T10:00:00Z",
        "direction": "forward", "change": {"images": {"side": {"from": "side:v0", "to": "side:v1"}}},
        "ended": "2026-03-01T10:00:12Z", "outcome": "complete"}]);
    let note = format!("kubectl-inplace.io/history={entry}");
    namespace.kubectl(&["annotate", "deploy/web", &note]);
    let copied = "--for=jsonpath={.metadata.annotations.kubectl-inplace\\.io/history}";
    namespace.kubectl(&["wait", copied, "--timeout=60s", "rs", "-l", "app=web"]);
    namespace.kubectl(&["annotate", "deploy/web", "kubectl-inplace.io/history-"]);
    let found = updates(&namespace, "deploy/web");
    assert_eq!(found.len(), 2, "{found:#?}");
    assert_eq!((&found[0]["result"], &found[0]["seconds"]), (&json!("complete"), &json!(12)));
    assert_eq!(found[1]["course"], "podsOnly", "the newest is the last one");
    namespace.kubectl(&["annotate", "deploy/web", "kubectl-inplace.io/history=edited"]);
    let text = namespace.inplace(&["history", "deploy/web"]).stdout;
    assert!(text.contains("not readable: kubectl-inplace.io/history of deployment/web"), "{text}");
}

/// The manifest was changed as the rollout has changed the template: Flux has nothing to do, and removes nothing of it.
#[test]
fn flux_leaves_the_history_and_undo_goes_by_it() {
    side_by_side(3, [Kind::Deployment, Kind::StatefulSet, Kind::DaemonSet], |kind| {
        let (namespace, api) = (Namespace::new(&format!("history-flux-{}", kind.word())), Api::open());
        let owner = Owner::new(&namespace, &api, kind, (2, 1), "");
        let run = |command: &[&str]| {
            let output = namespace.inplace(&[command, &["--yes", "--min-ready-seconds", "0"]].concat());
            assert_eq!(output.code, 0, "{output:#?}");
            owner.wait_settled_or(&format!("{output:#?}"));
        };
        owner.reconciled_by_flux(&owner.manifest);
        run(&["apply", &owner.reference(), "c1=:v2"]);
        for _ in 0..2 {
            owner.reconciled_by_flux(&tag_manifest(&owner.manifest, 1, "v2"));
        }
        let noted = owner.object()["metadata"]["annotations"]["kubectl-inplace.io/history"].clone();
        assert!(noted.as_str().is_some_and(|noted| noted.contains("complete")), "{:#}", owner.object());
        let found = updates(&namespace, &owner.reference());
        assert_eq!((found.len(), &found[0]["result"]), (1, &json!("complete")), "{found:#?}");
        run(&["undo", &owner.reference()]);
        assert_eq!(
            (owner.tag("c1").as_str(), restarted(&owner.before, &owner.pods()).len()),
            ("side:v1", owner.before.len())
        );
    });
}
