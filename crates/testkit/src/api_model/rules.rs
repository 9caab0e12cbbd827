//! What the generic registry and the strategies of the kinds do around a write (`pkg/registry`,
//! `apiserver/pkg/registry/rest`).

use serde_json::{Value, json};

use super::fields::{at, copy_field, drop_if, put, set_metadata, text};
use super::{Cause, Precondition, Refused};

/// What of an object a write is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Part {
    Main,
    Status,
    Resize,
}

/// A DaemonSet's `templateGeneration`, as `apps/v1` shows it.
pub const TEMPLATE_GENERATION: &str = "deprecated.daemonset.template.generation";

/// What a client never sets (`rest.FillObjectMetaSystemFields`, `rest.BeforeUpdate`).
const OF_THE_SERVER: [&str; 5] =
    ["creationTimestamp", "generation", "selfLink", "deletionTimestamp", "deletionGracePeriodSeconds"];

/// An object that a client creates has nothing of what the server gives it.
pub fn as_new(object: &mut Value) {
    for field in OF_THE_SERVER.iter().chain(&["uid", "resourceVersion"]) {
        drop_if(object, &["metadata", field], |_| true);
    }
}

/// Gives a new object what it lacks of the server's fields.
pub fn complete(object: &mut Value, uid: String, now: &str) {
    for (field, value) in [("uid", Value::from(uid)), ("creationTimestamp", now.into()), ("generation", json!(1))] {
        let is_counted = field != "generation" || object.get("spec").is_some();
        if is_counted && at(object, &["metadata", field]).is_null() {
            set_metadata(object, field, value);
        }
    }
}

/// Refuses a write to another object, or to another version of it, than was meant (`storage.Preconditions`).
pub fn expect(live: &Value, uid: Option<&str>, version: Option<&str>) -> Result<(), Refused> {
    for (field, wanted, what) in
        [("uid", uid, Precondition::Uid), ("resourceVersion", version, Precondition::ResourceVersion)]
    {
        if wanted.is_some_and(|wanted| wanted != text(live, &["metadata", field])) {
            return Err(Refused::Conflict(what));
        }
    }
    Ok(())
}

/// Takes back what an update through a part cannot write (`PrepareForUpdate` of the strategies).
pub fn keep(kind: &str, part: Part, live: &Value, next: &mut Value) {
    for field in OF_THE_SERVER {
        copy_field(live, next, &["metadata"], field);
    }
    if at(next, &["metadata", "uid"]).is_null() {
        copy_field(live, next, &["metadata"], "uid");
    }
    match part {
        Part::Main => copy_field(live, next, &[], "status"),
        Part::Status => {
            copy_field(live, next, &[], "spec");
            if kind == "Deployment" {
                copy_field(live, next, &["metadata"], "labels");
            }
        }
        Part::Resize => *next = resized(live, next),
    }
}

/// `dropNonResizeUpdates`: everything else in the request is dropped without a word.
fn resized(live: &Value, next: &Value) -> Value {
    let mut kept = live.clone();
    for list in ["containers", "initContainers"] {
        let wanted = at(next, &["spec", list]).as_array().into_iter().flatten();
        let containers = kept.get_mut("spec").and_then(|spec| spec.get_mut(list)).and_then(Value::as_array_mut);
        for (container, wanted) in containers.into_iter().flatten().zip(wanted) {
            copy_field(wanted, container, &[], "resources");
        }
    }
    if !at(next, &["spec", "resources"]).is_null() {
        copy_field(next, &mut kept, &["spec"], "resources");
    }
    kept
}

/// Drops what Go's `omitempty` drops, of what a write may leave empty.
pub fn omit_empty(object: &mut Value) {
    let is_empty = |value: &Value| value.is_null() || value.as_object().is_some_and(serde_json::Map::is_empty);
    for path in [
        &["metadata", "annotations"][..],
        &["metadata", "labels"],
        &["spec", "template", "metadata", "annotations"],
        &["spec", "template", "metadata", "labels"],
        &["spec", "updateStrategy", "rollingUpdate"],
    ] {
        drop_if(object, path, is_empty);
    }
    drop_if(object, &["spec", "paused"], |paused| paused.is_null() || *paused == Value::Bool(false));
}

/// The strategy that a workload has where it names none (`pkg/apis/apps/v1/defaults.go`).
pub fn default_strategy(kind: &str, object: &mut Value) {
    let strategy = at(object, &["spec", "updateStrategy"]);
    let rolling = match kind {
        "StatefulSet" => json!({"partition": 0}),
        "DaemonSet" => json!({"maxUnavailable": 1, "maxSurge": 0}),
        _ => return,
    };
    if text(strategy, &["type"]) == "RollingUpdate" && at(strategy, &["rollingUpdate"]).is_null() {
        put(object, &["spec", "updateStrategy", "rollingUpdate"], rolling);
    }
}

/// What is wrong with a workload, alone and after what it was (`pkg/apis/apps/validation`).
pub fn validate(kind: &str, live: Option<&Value>, next: &Value) -> Vec<Cause> {
    let mut causes = Vec::new();
    let selector = at(next, &["spec", "selector"]);
    if live.is_some_and(|live| at(live, &["spec", "selector"]) != selector) {
        causes.push(Cause::invalid("spec.selector", format!("Invalid value: {selector}: field is immutable")));
    }
    let strategy = at(next, &["spec", "updateStrategy"]);
    let rolling = at(strategy, &["rollingUpdate"]);
    if kind == "StatefulSet" && text(strategy, &["type"]) == "OnDelete" && !rolling.is_null() {
        let message = format!("Invalid value: {rolling}: only allowed for updateStrategy 'RollingUpdate'");
        causes.push(Cause::invalid("spec.updateStrategy.rollingUpdate", message));
    }
    let labels = at(next, &["spec", "template", "metadata", "labels"]);
    let wanted = at(selector, &["matchLabels"]).as_object();
    if !wanted.into_iter().flatten().all(|(key, value)| labels.get(key) == Some(value)) {
        let message = format!("Invalid value: {labels}: `selector` does not match template `labels`");
        causes.push(Cause::invalid("spec.template.metadata.labels", message));
    }
    causes
}

/// Counts an update in the generation, as the strategies do: the spec counts, and a Deployment's annotations.
pub fn count(kind: &str, part: Part, live: &Value, next: &mut Value) {
    let differ = |path: &[&str]| at(live, path) != at(next, path);
    let counts = differ(&["spec"]) || kind == "Deployment" && differ(&["metadata", "annotations"]);
    let is_counted = part != Part::Status && !at(live, &["spec"]).is_null();
    let was = at(live, &["metadata", "annotations", TEMPLATE_GENERATION]).as_str();
    if let Some(was) = was.filter(|_| kind == "DaemonSet" && part == Part::Main) {
        // The server keeps it, whatever is written.
        let was: u64 = was.parse().unwrap_or(1);
        let now = was + u64::from(differ(&["spec", "template"]));
        put(next, &["metadata", "annotations", TEMPLATE_GENERATION], now.to_string().into());
    }
    if counts && is_counted {
        set_metadata(next, "generation", next_generation(live));
    }
}

fn next_generation(live: &Value) -> Value {
    (at(live, &["metadata", "generation"]).as_u64().unwrap_or(0) + 1).into()
}

/// A pod whose deletion has begun, if it had not (`rest.BeforeDelete`).
pub fn begin_deletion(live: &Value, grace: u64, now: &str) -> Value {
    let mut next = live.clone();
    if at(live, &["metadata", "deletionTimestamp"]).is_null() {
        set_metadata(&mut next, "deletionTimestamp", now.into());
        set_metadata(&mut next, "deletionGracePeriodSeconds", grace.into());
        set_metadata(&mut next, "generation", next_generation(live));
    }
    next
}
