use serde_json::json;

use super::*;
use crate::change::MetadataChange;
use crate::state::record::UPDATE_ANNOTATION;

use super::super::{Drain, LabelUsers, drain};

const GATE: &str = "example.com/serving";

/// A pod with gates: each with its condition's status and reason, and who has written it.
fn pod(gates: &[(&str, &str, &str, &[&str])]) -> Pod {
    let named = gates.iter().map(|(gate, ..)| json!({"conditionType": gate}));
    let conditions = gates.iter().filter(|(_, status, ..)| !status.is_empty());
    let conditions =
        conditions.map(|(gate, status, reason, _)| json!({"type": gate, "status": status, "reason": reason}));
    let fields = gates.iter().flat_map(|(gate, _, _, writers)| {
        writers.iter().map(move |writer| {
            let key = format!("k:{}", json!({"type": gate}));
            json!({"manager": writer, "subresource": "status",
                "fieldsV1": {"f:status": {"f:conditions": {key: {"f:status": {}}}}}})
        })
    });
    let mut conditions: Vec<Value> = conditions.collect();
    conditions.push(json!({"type": "ContainersReady", "status": "True"}));
    conditions.push(json!({"type": "Ready", "status": "False"}));
    Pod::from_object(&json!({
        "metadata": {"name": "web-0", "uid": "u", "labels": {"app": "web"}, "managedFields": fields.collect::<Vec<_>>()},
        "spec": {"containers": [{"name": "app"}], "readinessGates": named.collect::<Vec<_>>()},
        "status": {"conditions": conditions}}))
    .unwrap()
}

fn drained_by(pod: &Pod, publishes: bool, status_denied: Option<&str>) -> Result<String, String> {
    let spec = json!({"selector": {"app": "web"}, "publishNotReadyAddresses": publishes});
    let services = [json!({"metadata": {"name": "web"}, "spec": spec})];
    let (owner, changes) = ([json!({"matchLabels": {"app": "web"}})], MetadataChange::default());
    let surroundings = LabelUsers { owner: &owner, budgets: &[], others: &[], changes: &changes, status_denied };
    match drain(pod, &services, &surroundings) {
        Drain::Drainable(goal) => Ok(goal.by.to_string()),
        Drain::NotDrainable { why, .. } => Err(why.to_string()),
        Drain::NoService => Err("no Service".into()),
    }
}

const LABEL: &str = "label app is in the owner's selector, which would replace the pod";

#[test]
fn a_gate_that_people_alone_have_set_serves_where_no_label_does() {
    for (gates, publishes, denied, expected) in [
        (&[(GATE, "True", "", &["kubectl-patch"][..])][..], false, None, Ok("readiness gate example.com/serving")),
        (
            &[(GATE, "True", "", &["kubectl", "kubectl-edit", "kubectl-inplace", "inplace-cli"])],
            false,
            None,
            Ok("readiness gate example.com/serving"),
        ),
        // The first by name that serves.
        (
            &[
                (GATE, "True", "", &["kubectl"]),
                ("example.com/a", "True", "", &["kubectl"]),
                ("a.example.com/by-a-controller", "True", "", &["balancer"]),
            ],
            false,
            None,
            Ok("readiness gate example.com/a"),
        ),
        (&[], false, None, Err("")),
        (&[(GATE, "", "", &["kubectl"])], false, None, Err("; readiness gate example.com/serving is not True now")),
        (
            &[(GATE, "False", "", &["kubectl"])],
            false,
            None,
            Err("; readiness gate example.com/serving is not True now"),
        ),
        (&[(GATE, "True", "", &[])], false, None, Err("; it is not known who sets readiness gate example.com/serving")),
        (
            &[(GATE, "True", "", &["kubectl-patch", "balancer"])],
            false,
            None,
            Err("; readiness gate example.com/serving is set by balancer, which may set it again at any time"),
        ),
        (
            &[(GATE, "True", "", &["kubectlish"])],
            false,
            None,
            Err("; readiness gate example.com/serving is set by kubectlish, which may set it again at any time"),
        ),
        (
            &[("target-health.elbv2.k8s.aws/k8s-web", "True", "", &["kubectl"])],
            false,
            None,
            Err("; readiness gate target-health.elbv2.k8s.aws/k8s-web belongs to a controller"),
        ),
        (
            &[("cloud.google.com/load-balancer-neg-ready", "True", "", &["kubectl"])],
            false,
            None,
            Err("; readiness gate cloud.google.com/load-balancer-neg-ready belongs to a controller"),
        ),
        (
            &[("InPlaceUpdateReady", "True", "", &["kubectl"])],
            false,
            None,
            Err("; readiness gate InPlaceUpdateReady belongs to a controller"),
        ),
        (
            &[(GATE, "True", "", &["kubectl"])],
            true,
            None,
            Err(
                "; readiness gate example.com/serving changes nothing for service/web, which lists pods that are not ready (publishNotReadyAddresses)",
            ),
        ),
        (
            &[(GATE, "True", "", &["kubectl"])],
            false,
            Some("no rule"),
            Err("; readiness gate example.com/serving may not be set: you cannot patch pods/status (no rule)"),
        ),
    ] {
        let found = drained_by(&pod(gates), publishes, denied);
        let expected = expected.map(str::to_owned).map_err(|why| format!("{LABEL}{why}"));
        assert_eq!(found, expected, "{gates:?}");
    }
}

#[test]
fn another_name_of_ours_is_known_by_the_record() {
    let mut pod = pod(&[(GATE, "True", "", &["release-bot"])]);
    assert!(drained_by(&pod, false, None).is_err());
    let record = json!({"id": "one", "manager": "release-bot", "containers": {}}).to_string();
    pod.annotations.insert(UPDATE_ANNOTATION.into(), record);
    assert!(drained_by(&pod, false, None).is_ok());
}

#[test]
fn a_pod_whose_gate_we_turned_off_is_ready_but_for_it() {
    let record = json!({"id": "", "manager": "m", "containers": {}, "drained": {"gate": GATE}}).to_string();
    for (gates, is_recorded, containers, expected) in [
        (&[(GATE, "False", GATE_REASON, &[][..])][..], true, "True", true),
        (&[(GATE, "False", GATE_REASON, &[]), ("example.com/other", "True", "", &[])], true, "True", true),
        // Each of these is down by itself.
        (&[(GATE, "False", GATE_REASON, &[])], true, "False", false),
        (&[(GATE, "False", GATE_REASON, &[]), ("example.com/other", "False", "", &[])], true, "True", false),
        (&[(GATE, "False", GATE_REASON, &[]), ("example.com/other", "", "", &[])], true, "True", false),
        (&[(GATE, "False", "Maintenance", &[])], true, "True", false),
        (&[(GATE, "False", GATE_REASON, &[])], false, "True", false),
        (&[(GATE, "True", "", &[])], true, "True", false),
    ] {
        let mut pod = pod(gates);
        if is_recorded {
            pod.annotations.insert(UPDATE_ANNOTATION.into(), record.clone());
        }
        for condition in pod.status.conditions.iter_mut().filter(|one| one.kind == "ContainersReady") {
            condition.status = containers.into();
        }
        assert_eq!(is_ready_but_for_our_gate(&pod), expected, "{gates:?} {is_recorded} {containers}");
    }
}

/// The kubelet reports a pod as ready a moment after the gate is on again.
#[test]
fn a_gate_that_was_just_turned_on_again_is_why_a_pod_is_not_ready() {
    let record = json!({"id": "", "manager": "m", "containers": {}, "drained": {"gate": GATE}}).to_string();
    for (status, reason, is_recorded, expected) in [
        ("True", "", true, true),
        ("False", GATE_REASON, true, true),
        ("True", "", false, false),
        ("False", "Maintenance", true, false),
    ] {
        let mut pod = pod(&[(GATE, status, reason, &[])]);
        if is_recorded {
            pod.annotations.insert(UPDATE_ANNOTATION.into(), record.clone());
        }
        assert_eq!(is_down_by_our_gate(&pod), expected, "{status} {reason} {is_recorded}");
    }
}

#[test]
fn what_is_restored_in_a_pod_is_what_was_recorded() {
    let gate = DrainedGate { gate: GATE.into(), reason: Some("Checked".into()), message: None };
    let off = pod(&[(GATE, "False", GATE_REASON, &[])]);
    let whole = Drained::Gate(gate.clone()).restored_in(&off);
    assert_eq!(DrainedGate::of(&whole, GATE), Some(gate.clone()));
    let theirs = pod(&[(GATE, "False", "Maintenance", &[])]);
    assert_eq!(Drained::Gate(gate).restored_in(&theirs), theirs);
}
