//! What the API server fills in where an object says nothing (`pkg/apis/core/v1/defaults.go`, `pkg/apis/apps/v1`).
//!
//! Only what a comparison of templates can stumble over. No service account volume, and no tolerations, are injected.

use serde_json::{Map, Value, json};

use crate::api_model::{TEMPLATE_GENERATION, at, default_strategy, put};

/// Fills in the defaults of a pod or of a workload.
pub fn fill(object: &mut Value) {
    let kind = object["kind"].as_str().unwrap_or_default().to_owned();
    let Some(spec) = object.get_mut("spec").and_then(Value::as_object_mut) else { return };
    let surge = json!({"type": "RollingUpdate", "rollingUpdate": {"maxUnavailable": "25%", "maxSurge": "25%"}});
    match kind.as_str() {
        "Pod" => pod_spec(spec),
        "Deployment" => {
            default(spec, "replicas", json!(1));
            default(spec, "strategy", json!({}));
            if let Some(Value::Object(strategy)) = spec.get_mut("strategy") {
                default(strategy, "type", surge["type"].clone());
                if strategy.get("type").is_some_and(|kind| kind == "RollingUpdate") {
                    default(strategy, "rollingUpdate", surge["rollingUpdate"].clone());
                }
            }
            default(spec, "revisionHistoryLimit", json!(10));
            default(spec, "progressDeadlineSeconds", json!(600));
        }
        "ReplicaSet" => default(spec, "replicas", json!(1)),
        "StatefulSet" => {
            default(spec, "replicas", json!(1));
            default(spec, "podManagementPolicy", json!("OrderedReady"));
            default(spec, "updateStrategy", json!({"type": "RollingUpdate"}));
            default(spec, "revisionHistoryLimit", json!(10));
        }
        "DaemonSet" => {
            default(spec, "updateStrategy", json!({"type": "RollingUpdate"}));
            default(spec, "revisionHistoryLimit", json!(10));
        }
        _ => {}
    }
    if let Some(Value::Object(template)) = spec.get_mut("template").and_then(|template| template.get_mut("spec")) {
        pod_spec(template);
    }
    default_strategy(&kind, object);
    // `PrepareForCreate` begins to count, and what counts keeps it afterwards.
    let annotation = ["metadata", "annotations", TEMPLATE_GENERATION];
    if kind == "DaemonSet" && at(object, &annotation).is_null() {
        put(object, &annotation, json!("1"));
    }
}

fn default(map: &mut Map<String, Value>, field: &str, value: Value) {
    if map.get(field).is_none_or(Value::is_null) {
        map.insert(field.to_owned(), value);
    }
}

fn pod_spec(spec: &mut Map<String, Value>) {
    default(spec, "restartPolicy", json!("Always"));
    default(spec, "terminationGracePeriodSeconds", json!(30));
    default(spec, "dnsPolicy", json!("ClusterFirst"));
    default(spec, "securityContext", json!({}));
    default(spec, "schedulerName", json!("default-scheduler"));
    for list in ["containers", "initContainers"] {
        for container in spec.get_mut(list).and_then(Value::as_array_mut).into_iter().flatten() {
            if let Some(container) = container.as_object_mut() {
                fill_container(container);
            }
        }
    }
}

fn fill_container(container: &mut Map<String, Value>) {
    let image = container.get("image").and_then(Value::as_str).unwrap_or_default();
    let last = image.rsplit('/').next().unwrap_or_default();
    let latest = !image.contains('@') && last.split_once(':').is_none_or(|(_, tag)| tag == "latest");
    default(container, "imagePullPolicy", json!(if latest { "Always" } else { "IfNotPresent" }));
    default(container, "resources", json!({}));
    default(container, "terminationMessagePath", json!("/dev/termination-log"));
    default(container, "terminationMessagePolicy", json!("File"));
    for port in container.get_mut("ports").and_then(Value::as_array_mut).into_iter().flatten() {
        if let Some(port) = port.as_object_mut() {
            default(port, "protocol", json!("TCP"));
        }
    }
    for probe in ["livenessProbe", "readinessProbe", "startupProbe"] {
        if let Some(probe) = container.get_mut(probe).and_then(Value::as_object_mut) {
            for (field, value) in
                [("timeoutSeconds", 1), ("periodSeconds", 10), ("successThreshold", 1), ("failureThreshold", 3)]
            {
                default(probe, field, json!(value));
            }
        }
    }
}
