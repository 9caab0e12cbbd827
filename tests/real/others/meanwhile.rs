//! Somebody else changes a workload of OpenKruise while it is updated: theirs stays, and nothing of the rollout is left.

use serde_json::{Value, json};

use super::labelled;
use super::states::{SOON, patch};
use crate::support::{Gate, Kind, Moment, Namespace, Output, Owner, poll};

/// Changes the workload while the first pod is about to be patched, and returns how the run ended and what it said.
fn changed_meanwhile(namespace: &Namespace, gate: &Gate, owner: &Owner<'_>, theirs: &Value) -> (Output, String) {
    gate.stop_at(2, Moment::Before);
    let reference = owner.reference();
    let apply = ["apply", &reference, "c1=:v2", "--yes", "--min-ready-seconds", "0", "--pre-pull=never"];
    let mut running = namespace.inplace_spawn(&[apply.as_slice(), &gate.flags()].concat());
    gate.held(&mut running).expect("a pod is patched");
    patch(namespace, owner, theirs);
    gate.releasing();
    let output = running.wait();
    assert!(output.elapsed.as_secs() < SOON, "{output:#?}");
    let said = format!("{}{}", output.stdout, output.stderr);
    (output, said)
}

fn is_free(owner: &Owner<'_>) -> bool {
    let object = owner.object();
    let lock = &object["metadata"]["annotations"]["kubectl-inplace.io/rollout"];
    lock.is_null() && object["status"]["observedGeneration"] == object["metadata"]["generation"]
}

/// Another template waits under the rollout's hold; two commands lead out.
fn another_template(test: &str, kind: Kind, (way_out, flag): (&str, &str)) {
    let (namespace, gate) = (labelled(test), Gate::open());
    let owner = Owner::new(&namespace, &gate.api, kind, (2, 2), "");
    let before = strategy(&owner);
    let theirs = json!({"spec": {"template": {"metadata": {"labels": {"theirs": "yes"}}}}});
    let (output, said) = changed_meanwhile(&namespace, &gate, &owner, &theirs);
    assert_eq!(output.code, 6, "{output:#?}");
    let command = |verb: &str, flag: &str| {
        let lines =
            said.lines().filter_map(|line| line.find(&format!("kubectl inplace {verb} ")).map(|at| &line[at..]));
        let line = lines.into_iter().find(|line| line.contains(flag)).map(str::to_owned);
        line.unwrap_or_else(|| panic!("no {verb} {flag}: {output:#?}"))
    };
    let commands = [command("resume", "--take-over"), command("abort", "--release")];
    let line = commands.iter().find(|line| line.contains(way_out) && line.contains(flag)).expect("it is one of them");
    let typed = namespace.type_line(&format!("{line} --yes"));
    let context = format!("{typed:#?}; {output:#?}");
    assert_eq!(typed.code, 0, "{context}");
    poll(|| is_free(&owner).then_some(())).expect("nothing is left");
    if way_out == "resume" {
        owner.wait_settled_or(&context);
        owner.assert_same_pods(&context);
        let label = |pod: &Value| pod["metadata"]["labels"]["theirs"] == "yes";
        assert!(owner.pods().iter().all(label), "{context}");
    } else {
        assert!(strategy(&owner) == before, "{context}");
    }
}

fn strategy(owner: &Owner<'_>) -> Value {
    owner.object()["spec"]["updateStrategy"].clone()
}

const RESUME: (&str, &str) = ("resume", "--take-over");
const RELEASE: (&str, &str) = ("abort", "--release");

#[test]
#[ignore = "needs OpenKruise: tests/run others"]
fn another_template_meanwhile_of_a_clone_set() {
    another_template("others-template-clone-r", Kind::CloneSet, RESUME);
    another_template("others-template-clone-a", Kind::CloneSet, RELEASE);
}

#[test]
#[ignore = "needs OpenKruise: tests/run others"]
fn another_template_meanwhile_of_an_advanced_stateful_set() {
    another_template("others-template-asts-r", Kind::AdvancedStatefulSet, RESUME);
    another_template("others-template-asts-a", Kind::AdvancedStatefulSet, RELEASE);
}

#[test]
#[ignore = "needs OpenKruise: tests/run others"]
fn another_template_meanwhile_of_an_advanced_daemon_set() {
    another_template("others-template-ads-r", Kind::AdvancedDaemonSet, RESUME);
    another_template("others-template-ads-a", Kind::AdvancedDaemonSet, RELEASE);
}

/// Who lifts the hold lets the controller go, which replaces pods: it is said, and nothing is left.
fn hold_is_lifted(test: &str, kind: Kind, theirs: &Value) {
    let (namespace, gate) = (labelled(test), Gate::open());
    let owner = Owner::new(&namespace, &gate.api, kind, (2, 2), "");
    let (output, said) = changed_meanwhile(&namespace, &gate, &owner, &json!({"spec": {"updateStrategy": theirs}}));
    // Its controller may replace the last pods before it is seen.
    let is_said = said.contains("its update strategy was changed by another client");
    assert!(output.code == 0 && said.contains("left meanwhile") || output.code == 6 && is_said, "{output:#?}");
    assert!(!said.contains("kubectl rollout"), "{output:#?}");
    poll(|| is_free(&owner).then_some(())).expect("nothing is left");
    for (field, value) in theirs.as_object().into_iter().flatten() {
        assert_eq!(strategy(&owner)[field], *value, "{output:#?}");
    }
    owner.wait_settled_or(&format!("{output:#?}"));
    assert_eq!(owner.tag("c1"), "side:v2");
}

#[test]
#[ignore = "needs OpenKruise: tests/run others"]
fn a_hold_that_is_lifted_ends_the_run() {
    let rolling = json!({"type": "RollingUpdate"});
    hold_is_lifted("others-lifted-clone", Kind::CloneSet, &json!({"paused": null}));
    hold_is_lifted("others-lifted-asts", Kind::AdvancedStatefulSet, &rolling);
    hold_is_lifted("others-lifted-ads", Kind::AdvancedDaemonSet, &rolling);
}

#[test]
#[ignore = "needs OpenKruise: tests/run others"]
fn what_else_changes_of_the_strategy_stays_theirs() {
    let (namespace, gate) = (labelled("others-theirs"), Gate::open());
    let owner = Owner::new(&namespace, &gate.api, Kind::CloneSet, (2, 2), "");
    let theirs = json!({"type": "InPlaceIfPossible", "maxUnavailable": 1});
    let (output, _) = changed_meanwhile(&namespace, &gate, &owner, &json!({"spec": {"updateStrategy": theirs}}));
    assert_eq!(output.code, 0, "{output:#?}");
    poll(|| is_free(&owner).then_some(())).expect("nothing is left");
    let found = strategy(&owner);
    let (kind, most, paused) = (&found["type"], &found["maxUnavailable"], found["paused"] == true);
    assert_eq!((kind.as_str(), most.as_u64(), paused), (Some("InPlaceIfPossible"), Some(1), false), "{output:#?}");
    owner.assert_same_pods(&format!("{output:#?}"));
    assert_eq!(owner.tag("c1"), "side:v2");
}
