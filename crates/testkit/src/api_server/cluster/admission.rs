//! What the API server adds to what is created, beyond defaults: a Service's address, a pod's service account and
//! tolerations, a namespace's label.

use serde_json::{Value, json};

use super::super::http::Answer;
use super::super::resource::Resource;
use super::super::store::Key;
use super::super::{State, base64, status};
use crate::api_model::{Refused, at, put, text};
use crate::builders::letters;
use crate::controllers::fields::{is_terminating, name};

/// Refuses what is created in a namespace that is not there, or on its way out.
pub(crate) fn admits_namespace(state: &State, resource: &Resource, key: &Key) -> Result<(), Answer> {
    if !state.whole || !resource.namespaced {
        return Ok(());
    }
    let namespaces = Resource::of_plural("namespaces").expect("it is served");
    let Some(namespace) = state.store.get(&Key::new(namespaces, "", &key.namespace)) else {
        return Err(status::refused(namespaces, &key.namespace, &Refused::NotFound));
    };
    if !is_terminating(namespace) {
        return Ok(());
    }
    let message = format!(
        "{} \"{}\" is forbidden: unable to create new content in namespace {} because it is being terminated",
        resource.qualified(),
        key.name,
        key.namespace
    );
    Err(status::failure(403, "Forbidden", &message, status::details(resource, resource.plural, &key.name)))
}

/// Completes a new object.
pub(crate) fn admit(state: &mut State, resource: &Resource, object: &mut Value) {
    match resource.kind {
        "Namespace" => {
            let name = name(object).to_owned();
            put(object, &["metadata", "labels", "kubernetes.io/metadata.name"], json!(name));
            put(object, &["spec", "finalizers"], json!(["kubernetes"]));
            put(object, &["status", "phase"], json!("Active"));
        }
        "Service" => service(state, object),
        "Secret" => secret(object),
        "Pod" => pod(object),
        _ => {}
    }
}

fn default(object: &mut Value, path: &[&str], value: Value) {
    if at(object, path).is_null() {
        put(object, path, value);
    }
}

fn service(state: &mut State, object: &mut Value) {
    default(object, &["spec", "type"], json!("ClusterIP"));
    default(object, &["spec", "sessionAffinity"], json!("None"));
    default(object, &["spec", "internalTrafficPolicy"], json!("Cluster"));
    default(object, &["spec", "ipFamilies"], json!(["IPv4"]));
    default(object, &["spec", "ipFamilyPolicy"], json!("SingleStack"));
    put(object, &["status"], json!({"loadBalancer": {}}));
    if text(object, &["spec", "type"]) != "ExternalName" {
        let number = state.store.next_serial();
        default(object, &["spec", "clusterIP"], json!(format!("10.96.{}.{}", number / 250 % 250, number % 250 + 2)));
        let address = at(object, &["spec", "clusterIP"]).clone();
        put(object, &["spec", "clusterIPs"], json!([address]));
    }
    for port in object.pointer_mut("/spec/ports").and_then(Value::as_array_mut).into_iter().flatten() {
        let number = port["port"].clone();
        default(port, &["protocol"], json!("TCP"));
        default(port, &["targetPort"], number);
    }
}

/// What is given as text is kept as base64.
fn secret(object: &mut Value) {
    default(object, &["type"], json!("Opaque"));
    let Some(Value::Object(texts)) = object.as_object_mut().and_then(|secret| secret.shift_remove("stringData")) else {
        return;
    };
    for (key, text) in texts {
        put(object, &["data", &key], json!(base64::encode(text.as_str().unwrap_or_default().as_bytes())));
    }
}

/// The plugins `ServiceAccount`, `DefaultTolerationSeconds` and `Priority`.
fn pod(object: &mut Value) {
    for (field, value) in [
        ("serviceAccountName", json!("default")),
        ("serviceAccount", json!("default")),
        ("enableServiceLinks", json!(true)),
        ("priority", json!(0)),
        ("preemptionPolicy", json!("PreemptLowerPriority")),
        ("tolerations", json!([])),
        ("volumes", json!([])),
    ] {
        default(object, &["spec", field], value);
    }
    if let Some(tolerations) = object.pointer_mut("/spec/tolerations").and_then(Value::as_array_mut) {
        for key in ["node.kubernetes.io/not-ready", "node.kubernetes.io/unreachable"] {
            if !tolerations.iter().any(|one| one["key"] == key || one["key"].is_null() && one["operator"] == "Exists") {
                tolerations
                    .push(json!({"key": key, "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": 300}));
            }
        }
    }
    if at(object, &["spec", "automountServiceAccountToken"]) == &json!(false) {
        return;
    }
    let volume = format!("kube-api-access-{}", letters(name(object), 5));
    let mount = json!({"name": volume, "readOnly": true, "mountPath": "/var/run/secrets/kubernetes.io/serviceaccount"});
    if let Some(volumes) = object.pointer_mut("/spec/volumes").and_then(Value::as_array_mut) {
        volumes.push(json!({"name": volume, "projected": {"defaultMode": 420, "sources": [
            {"serviceAccountToken": {"expirationSeconds": 3607, "path": "token"}},
            {"configMap": {"name": "kube-root-ca.crt", "items": [{"key": "ca.crt", "path": "ca.crt"}]}},
            {"downwardAPI": {"items": [{"path": "namespace",
                "fieldRef": {"apiVersion": "v1", "fieldPath": "metadata.namespace"}}]}}]}}));
    }
    for list in ["containers", "initContainers"] {
        for container in object["spec"].get_mut(list).and_then(Value::as_array_mut).into_iter().flatten() {
            default(container, &["volumeMounts"], json!([]));
            if let Some(mounts) = container["volumeMounts"].as_array_mut() {
                mounts.push(mount.clone());
            }
        }
    }
}
