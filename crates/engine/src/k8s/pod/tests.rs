//! What is read of a pod, and what is said of it.

use serde_json::json;

use super::*;

#[test]
fn a_node_that_is_not_ready_is_distinguished_from_a_pod_that_is_not() {
    let pod = |ready: &str, containers: &str, gate: Option<&str>| {
        let conditions = [("Ready", Some(ready)), ("ContainersReady", Some(containers)), ("gate", gate)];
        let conditions =
            conditions.iter().filter_map(|(kind, status)| Some(json!({"type": kind, "status": status.as_ref()?})));
        let gates = if gate.is_some() { json!([{"conditionType": "gate"}]) } else { json!([]) };
        Pod::from_object(&json!({"metadata": {"name": "p"}, "spec": {"nodeName": "node-3", "readinessGates": gates},
            "status": {"conditions": conditions.collect::<Vec<_>>()}}))
        .unwrap()
    };
    for (ready, containers, gate, expected) in [
        ("False", "True", None, Some("node-3")),
        ("Unknown", "True", None, Some("node-3")),
        ("False", "True", Some("True"), Some("node-3")),
        ("False", "True", Some("False"), None),
        ("False", "False", None, None),
        ("True", "True", None, None),
    ] {
        assert_eq!(pod(ready, containers, gate).unready_node(), expected, "{ready} {containers} {gate:?}");
    }
}

#[test]
fn words_of_others_come_without_credentials() {
    let message = "token=hunter2\n-----BEGIN PRIVATE KEY-----\nhunter2\n-----END PRIVATE KEY-----";
    let state =
        json!({"terminated": {"exitCode": 1, "message": message}, "waiting": {"reason": "X", "message": message}});
    let pod = json!({"metadata": {"name": "p"}, "status": {"conditions": [{"type": "Ready", "message": message}],
        "containerStatuses": [{"name": "a", "state": state, "lastState": state}]}});
    let read = serde_json::to_string(&Pod::from_object(&pod).unwrap()).unwrap();
    assert!(!read.contains("hunter2") && read.contains("token=***"), "{read}");
}

#[test]
fn null_is_nothing() {
    let pod = Pod::from_object(
        &json!({"metadata": {"name": "p", "labels": null, "ownerReferences": null, "managedFields": null},
        "spec": {"containers": [], "initContainers": null}, "status": {"conditions": null, "containerStatuses": [{"name": "a", "state": null, "lastState": {}}]}}),
    );
    assert!(pod.is_ok_and(|pod| pod.spec.init_containers.is_empty() && pod.status.container_statuses.len() == 1));
}
