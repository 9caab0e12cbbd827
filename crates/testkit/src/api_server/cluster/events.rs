//! Events, the same ones counted together for as long as a cluster keeps them (`client-go/tools/record`).

use serde_json::{Value, json};

use super::super::State;
use crate::api_model::{at, text};
use crate::clock;
use crate::controllers::fields::{name, namespace, number, uid};

/// How long an event is kept (`--event-ttl` of kube-apiserver).
const KEPT: i64 = 3600;

/// Records an event about an object.
pub(crate) fn event(state: &mut State, of: &Value, component: &str, kind: (&str, &str), message: &str) {
    event_of(state, (of, ""), component, kind, message);
}

/// Records an event about a field of an object: its type and reason, its message.
pub(crate) fn event_of(
    state: &mut State,
    (of, field): (&Value, &str),
    component: &str,
    (kind, reason): (&str, &str),
    message: &str,
) {
    if !state.whole {
        return;
    }
    let now = clock::now_text();
    let all = state.all("events");
    for old in all.iter().filter(|event| clock::seconds_since(text(event, &["lastTimestamp"])) > KEPT) {
        state.remove(&super::garbage::key_of(old).expect("an event is served"));
    }
    let is_same = |event: &Value| {
        let about = at(event, &["involvedObject"]);
        text(about, &["uid"]) == uid(of)
            && text(about, &["fieldPath"]) == field
            && (text(event, &["reason"]), text(event, &["message"])) == (reason, message)
    };
    if let Some(known) = all.iter().find(|event| is_same(event)) {
        let key = super::garbage::key_of(known).expect("an event is served");
        let count = number(known, &["count"]) + 1;
        return state.edit_key(&key, component, |event| {
            event["count"] = count.into();
            event["lastTimestamp"] = now.into();
        });
    }
    let mut involved = json!({"kind": of["kind"], "apiVersion": of["apiVersion"], "name": name(of), "uid": uid(of),
        "resourceVersion": of["metadata"]["resourceVersion"]});
    if !namespace(of).is_empty() {
        involved["namespace"] = namespace(of).into();
    }
    if !field.is_empty() {
        involved["fieldPath"] = field.into();
    }
    let mut source = json!({"component": component});
    let node = text(of, &["spec", "nodeName"]);
    if component == "kubelet" && !node.is_empty() {
        source["host"] = node.into();
    }
    let place = if namespace(of).is_empty() { "default" } else { namespace(of) };
    let serial = state.store.next_serial();
    let instance = source["host"].clone();
    state.insert(json!({"apiVersion": "v1", "kind": "Event",
        "metadata": {"name": format!("{}.{:016x}", name(of), 0x18a0_0000_0000_0000_u64 + serial), "namespace": place},
        "involvedObject": involved, "type": kind, "reason": reason, "message": message, "source": source,
        "reportingComponent": component, "reportingInstance": instance.as_str().unwrap_or_default(),
        "firstTimestamp": now, "lastTimestamp": now, "eventTime": null, "count": 1}));
}
