//! The endpoint slices of Services (`pkg/controller/endpointslice`), one a Service, and the service account of each namespace.

use std::sync::Arc;

use serde_json::{Value, json};

use super::super::State;
use super::super::resource::Resource;
use super::super::store::Key;
use super::garbage;
use crate::api_model::{at, put, text};
use crate::builders::letters;
use crate::controllers::fields::{condition, is_terminating, labels_match, name, namespace, uid};

const SELF: &str = "endpointslice-controller.k8s.io";

pub(super) fn sync(state: &mut State) {
    for service in state.all("services") {
        if at(&service, &["spec", "selector"]).is_object() && !is_terminating(&service) {
            sync_slice(state, &service);
        }
    }
    let accounts = Resource::of_plural("serviceaccounts").expect("it is served");
    for place in state.all("namespaces").iter().filter(|namespace| !is_terminating(namespace)) {
        if state.store.get(&Key::new(accounts, name(place), "default")).is_none() {
            state.insert(json!({"apiVersion": "v1", "kind": "ServiceAccount",
                "metadata": {"name": "default", "namespace": name(place)}}));
        }
    }
}

fn sync_slice(state: &mut State, service: &Value) {
    let mut pods = state.all("pods");
    pods.retain(|pod| {
        namespace(pod) == namespace(service)
            && labels_match(at(service, &["spec", "selector"]), pod)
            && !text(pod, &["status", "podIP"]).is_empty()
            && !["Succeeded", "Failed"].contains(&text(pod, &["status", "phase"]))
    });
    let endpoints: Vec<Value> = pods.iter().map(endpoint).collect();
    let ports = ports(service, pods.first());
    let of_service = |slice: &&Arc<Value>| {
        let owners = at(slice, &["metadata", "ownerReferences"]).as_array().into_iter().flatten();
        owners.into_iter().any(|owner| text(owner, &["uid"]) == uid(service))
    };
    if let Some(known) = state.all("endpointslices").iter().find(of_service) {
        let key = garbage::key_of(known).expect("a slice is served");
        return state.edit_key(&key, SELF, |slice| {
            slice["endpoints"] = endpoints.into();
            slice["ports"] = ports.into();
        });
    }
    let owner = json!([{"apiVersion": "v1", "kind": "Service", "name": name(service), "uid": uid(service),
        "controller": true, "blockOwnerDeletion": true}]);
    let mut labels = at(service, &["metadata", "labels"]).clone();
    put(&mut labels, &["kubernetes.io/service-name"], json!(name(service)));
    put(&mut labels, &["endpointslice.kubernetes.io/managed-by"], json!(SELF));
    state.insert(json!({"apiVersion": "discovery.k8s.io/v1", "kind": "EndpointSlice", "addressType": "IPv4",
        "metadata": {"name": format!("{}-{}", name(service), letters(uid(service), 5)), "namespace": namespace(service),
            "labels": labels, "ownerReferences": owner},
        "endpoints": endpoints, "ports": ports}));
}

fn endpoint(pod: &Arc<Value>) -> Value {
    let serves = text(condition(pod, "Ready"), &["status"]) == "True";
    json!({"addresses": [pod["status"]["podIP"]], "nodeName": pod["spec"]["nodeName"],
        "conditions": {"ready": serves && !is_terminating(pod), "serving": serves, "terminating": is_terminating(pod)},
        "targetRef": {"kind": "Pod", "name": name(pod), "namespace": namespace(pod), "uid": uid(pod)}})
}

/// The ports of the pods behind the ports of the Service; a named one is looked up in the first pod.
fn ports(service: &Value, pod: Option<&Arc<Value>>) -> Vec<Value> {
    let named = |wanted: &Value| {
        let containers = pod.map(|pod| at(pod, &["spec", "containers"])).and_then(Value::as_array);
        let ports = containers.into_iter().flatten().filter_map(|container| container["ports"].as_array()).flatten();
        ports.into_iter().find(|port| port["name"] == *wanted).map(|port| port["containerPort"].clone())
    };
    let all = at(service, &["spec", "ports"]).as_array().into_iter().flatten();
    all.map(|port| {
        let target = if port["targetPort"].is_null() { &port["port"] } else { &port["targetPort"] };
        let number = if target.is_string() { named(target).unwrap_or_default() } else { target.clone() };
        json!({"name": text(port, &["name"]), "port": number, "protocol": port["protocol"]})
    })
    .collect()
}
