//! OpenKruise's workloads: their controllers update pods in place, by rules of their own, or replace them.
//!
//! What rests on a feature gate of OpenKruise is said to be not known, but for `TemplateNoDefaults`: without that one the
//! webhook fills in the template's defaults.

pub(super) mod advanced_daemon_set;
pub(super) mod advanced_stateful_set;
pub(super) mod clone_set;

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{KindSpec, OF_APPS, Replicas};
use crate::value::int_or_percent::IntOrPercent;
use crate::value::json_path::{element, items, join, text};
use crate::value::selector;

const GROUP: &str = "apps.kruise.io";
/// The readiness gate of pods that OpenKruise changes in place.
pub const IN_PLACE_UPDATE_READY: &str = "InPlaceUpdateReady";
const ROLLING_UPDATE_TYPE: &str = "/spec/updateStrategy/rollingUpdate/rollingUpdateType";

/// SidecarSet (`pkg/controller/sidecarset`): it injects containers into pods when they are created, and its controller gives
/// running pods their new images.
pub(super) const SIDECAR_SET: KindSpec = KindSpec {
    kind: "SidecarSet",
    group: GROUP,
    version: "v1alpha1",
    cluster_wide: true,
    plural: "sidecarsets",
    singular: "sidecarset",
    template: "",
    replicas: Replicas::One,
    is_fixed: |_| false,
    has_kubectl_rollout: false,
    ..OF_APPS
};

/// Returns the merge patch with which its controller goes on that this field of the update strategy keeps from it.
pub fn lifts_hold(field: &str) -> String {
    let value = match field {
        "paused" => "false",
        "type" => r#""RollingUpdate""#,
        "selector" => "null",
        _ => "0",
    };
    format!(r#"{{"spec":{{"updateStrategy":{{"{field}":{value}}}}}}}"#)
}

/// Compares two states of a workload, both as a server stores them, by the rules of its controller.
pub type Foresee = fn(before: &Value, after: &Value) -> Foreseen;

#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Foreseen {
    /// What it does not do in place. Where there is none, whatever changes of the template changes in place.
    pub obstacles: Vec<Obstacle>,
    /// Which pods it leaves unchanged, or when it goes on, as in "it updates ...".
    pub limits: Vec<String>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Obstacle {
    /// The path: of the template, or of the workload.
    pub path: String,
    pub course: Course,
    /// Why, as in "..., since ...".
    pub because: String,
}

/// What happens where a controller does not change pods in place.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Course {
    ReplacesPods,
    RefusesChange,
    /// It rests on what no manifest shows.
    NotKnown,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Policy {
    ReCreate,
    InPlaceIfPossible,
    InPlaceOnly,
    /// No pod until somebody deletes it.
    OnDelete,
}

/// What a kind has besides, of an object before and after, under the policy after, and whether the template changes.
type More = fn(&Value, &Value, (Option<Policy>, bool)) -> Vec<Obstacle>;

/// What decides how the controller of a kind updates pods, and with which of it this program does not take its place.
struct Rules {
    /// The JSON pointer of the policy.
    policy: &'static str,
    read: fn(&Value) -> Option<Policy>,
    /// The sentence about a policy that is not known.
    words: &'static str,
    /// The sentence about pods that are replaced because of the policy.
    replaces: &'static str,
    /// The JSON pointer of the object that has `paused`, `partition` and `maxSurge`.
    rolling: &'static str,
    /// What stands beside a template that changes, or not.
    more: More,
}

impl Rules {
    /// What the controller does with a change: `updatePod` and `calculateDiffsWithExpectation` in `pkg/controller/cloneset/sync`
    /// and their like, `defaultCalculateInPlaceUpdateSpec` in `pkg/util/inplaceupdate`, and the webhook, which comes first.
    fn foresee(&self, before: &Value, after: &Value) -> Foreseen {
        if before == after {
            return Foreseen::default();
        }
        let changes = TemplateChange::between(before, after);
        let mut obstacles = Vec::new();
        let policy = |course, because| obstacle(dotted(self.policy), course, because);
        let read = (self.read)(after);
        match read {
            None => obstacles.push(policy(Course::RefusesChange, self.words)),
            Some(Policy::OnDelete) => {}
            Some(_) if changes.is_empty() => obstacles.extend(self.carried_on(before, after)),
            Some(Policy::ReCreate) => obstacles.push(policy(Course::ReplacesPods, self.replaces)),
            Some(policy @ (Policy::InPlaceIfPossible | Policy::InPlaceOnly)) => {
                let is_only = policy == Policy::InPlaceOnly;
                obstacles.extend(named(changes.iter().filter_map(|change| change.obstacle(is_only)).collect()));
                obstacles.extend(changes.iter().filter_map(|change| change.read_by(after)));
                obstacles.extend(self.surge(after, is_only));
            }
        }
        obstacles.extend((self.more)(before, after, (read, !changes.is_empty())));
        obstacles.extend(selector(after));
        Foreseen { obstacles, limits: self.limits(before, after) }
    }

    /// Returns the path of what leaves to the controller when or which pods change, and that.
    fn left_to_controller(&self, object: &Value) -> Option<(String, String)> {
        let partition = || {
            let path = format!("{}.partition", dotted(self.rolling));
            Some((path, format!("which pods stay as they are ({})", self.partition(object)?)))
        };
        self.hook(object).or_else(partition)
    }

    fn hook(&self, object: &Value) -> Option<(String, String)> {
        Some((dotted(HOOK), format!("when a pod may change: once somebody has taken {} off it", handlers(object)?)))
    }

    fn field<'v>(&self, object: &'v Value, name: &str) -> Option<&'v Value> {
        object.pointer(self.rolling)?.get(name)
    }

    /// Surplus pods are created from the new template, and as many old ones deleted in the end.
    fn surge(&self, after: &Value, is_only: bool) -> Option<Obstacle> {
        let given = self.field(after, "maxSurge")?;
        if matches!(IntOrPercent::from_value(given), Ok(IntOrPercent::Int(0) | IntOrPercent::Percent(0))) {
            return None;
        }
        let path = format!("{}.maxSurge", dotted(self.rolling));
        Some(if is_only {
            obstacle(path, Course::RefusesChange, "the type InPlaceOnly does not go with it")
        } else {
            obstacle(path, Course::ReplacesPods, "it makes new pods first and then deletes as many old ones")
        })
    }

    /// A template that stays, and pods that an earlier change of it has not reached.
    fn carried_on(&self, before: &Value, after: &Value) -> Option<Obstacle> {
        let differs = |field: &&str| self.field(before, field) != self.field(after, field);
        let field = ["paused", "partition"].into_iter().find(differs)?;
        Some(obstacle(
            format!("{}.{field}", dotted(self.rolling)),
            Course::NotKnown,
            "it may bring an earlier change of the template to pods that do not have it yet, and no manifest shows which",
        ))
    }

    /// Which pods are left unchanged, or updated later.
    fn limits(&self, before: &Value, after: &Value) -> Vec<String> {
        let rolling = dotted(self.rolling);
        let mut limits = Vec::new();
        if self.is_paused(after) {
            limits.push(format!("it updates no pod while {rolling}.paused is true"));
        }
        if let Some(partition) = self.partition(after) {
            limits.push(format!("{rolling}.partition {partition} leaves that many pods unchanged"));
        }
        if after.pointer(HOOK).is_some() {
            limits.push(format!("each pod waits for the hook in {}", dotted(HOOK)));
        }
        if self.leaves_pods(before) {
            limits.push(
                "pods that an earlier change of the template has not reached are compared by their own template, and may be replaced"
                    .to_owned(),
            );
        }
        limits
    }

    fn is_paused(&self, object: &Value) -> bool {
        self.field(object, "paused") == Some(&Value::Bool(true))
    }

    fn leaves_pods(&self, object: &Value) -> bool {
        self.is_paused(object) || self.partition(object).is_some()
    }

    fn partition(&self, object: &Value) -> Option<String> {
        match self.field(object, "partition") {
            Some(Value::Number(number)) if number.as_u64() != Some(0) => Some(number.to_string()),
            Some(Value::String(share)) if share != "0%" => Some(share.clone()),
            Some(_) | None => None,
        }
    }
}

/// The labels and finalizers that a hook waits for to be taken off a pod.
fn handlers(object: &Value) -> Option<String> {
    let hook = object.pointer(HOOK)?;
    let labels = hook.get("labelsHandler").and_then(Value::as_object).into_iter().flatten();
    let finalizers = items(hook, "/finalizersHandler");
    let waits = labels.map(|(label, _)| label.as_str()).chain(finalizers.filter_map(Value::as_str));
    Some(waits.collect::<Vec<_>>().join(", "))
}

/// `PreparingUpdate` in `pkg/util/lifecycle`.
fn pod_waits(object: &Value, labels: &BTreeMap<String, String>) -> Option<String> {
    let is_waiting = labels.get("lifecycle.apps.kruise.io/state").is_some_and(|state| state == "PreparingUpdate");
    let handlers = handlers(object).filter(|_| is_waiting)?;
    Some(format!("somebody has to take {handlers} off it (PreparingUpdate)"))
}

/// A pod waits for somebody to take its labels or finalizers off.
const HOOK: &str = "/spec/lifecycle/inPlaceUpdate";

/// An Advanced DaemonSet as it was when it made pods without the readiness gate; another kind has no such type.
pub fn before_the_gate(mut object: Value) -> Value {
    if let Some(r#type) = object.pointer_mut(ROLLING_UPDATE_TYPE) {
        *r#type = Value::Null;
    }
    object
}

fn dotted(pointer: &str) -> String {
    pointer.trim_start_matches('/').replace('/', ".")
}

fn obstacle(path: impl Into<String>, course: Course, because: impl Into<String>) -> Obstacle {
    Obstacle { path: path.into(), course, because: because.into() }
}

const MAX_NAMED: usize = 100;

/// Of very many the first are named, and the others counted.
fn named(mut obstacles: Vec<Obstacle>) -> Vec<Obstacle> {
    let more = obstacles.len().saturating_sub(MAX_NAMED);
    obstacles.truncate(MAX_NAMED);
    if let Some(last) = obstacles.last_mut().filter(|_| more > 0) {
        last.path.push_str(&format!(" (and {more} more)"));
    }
    obstacles
}

/// Returns a template as the controller's types have it, which is how revisions hold it: without what is not there for them.
pub fn as_read(template: &Value) -> Value {
    const MAPS: [&str; 6] = ["annotations", "labels", "limits", "nodeSelector", "requests", "resources"];
    match template {
        Value::Object(fields) => {
            let read = fields.iter().map(|(key, value)| (key, as_read(value)));
            let is_there = |(key, value): &(&String, Value)| match value {
                Value::Null => false,
                Value::Array(list) => !list.is_empty(),
                Value::Object(fields) => !fields.is_empty() || !MAPS.contains(&key.as_str()),
                Value::Bool(_) | Value::Number(_) | Value::String(_) => true,
            };
            Value::Object(read.filter(is_there).map(|(key, value)| (key.clone(), value)).collect())
        }
        Value::Array(list) => list.iter().map(as_read).collect(),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => template.clone(),
    }
}

pub fn differing(before: &Value, after: &Value, path: &str) -> Vec<String> {
    let mut found = Vec::new();
    TemplateChange::walk(Some(&as_read(before)), Some(&as_read(after)), (&[], path), &mut found);
    found.into_iter().map(|change| change.path).collect()
}

/// One difference between two templates, as `jsonpatch.CreatePatch` finds it: containers by their place, not by name.
struct TemplateChange {
    /// Keys and places, from the template on.
    steps: Vec<String>,
    /// The same as it is shown.
    path: String,
    was_there: bool,
    is_there: bool,
}

impl TemplateChange {
    fn between(before: &Value, after: &Value) -> Vec<Self> {
        let mut found = Vec::new();
        let template = |object: &Value| object.pointer("/spec/template").map(as_read);
        Self::walk(template(before).as_ref(), template(after).as_ref(), (&[], ""), &mut found);
        found
    }

    fn walk(before: Option<&Value>, after: Option<&Value>, (steps, path): (&[String], &str), found: &mut Vec<Self>) {
        let below = |step: &str| steps.iter().cloned().chain([step.to_owned()]).collect::<Vec<_>>();
        match (before, after) {
            (Some(Value::Object(old)), Some(Value::Object(new))) => {
                for key in old.keys().chain(new.keys().filter(|key| !old.contains_key(*key))) {
                    Self::walk(old.get(key), new.get(key), (&below(key), &join(path, key)), found);
                }
            }
            (Some(Value::Array(old)), Some(Value::Array(new))) if old.len() == new.len() => {
                for (place, (old, new)) in old.iter().zip(new).enumerate() {
                    let place = place.to_string();
                    let name = old.get("name").and_then(Value::as_str).unwrap_or(&place);
                    Self::walk(Some(old), Some(new), (&below(&place), &element(path, name)), found);
                }
            }
            (before, after) if before == after => {}
            (before, after) => found.push(Self {
                steps: steps.to_vec(),
                path: path.to_owned(),
                was_there: before.is_some(),
                is_there: after.is_some(),
            }),
        }
    }

    /// Why it is not done in place under one of the strategies that change pods in place.
    fn obstacle(&self, is_only: bool) -> Option<Obstacle> {
        let steps: Vec<&str> = self.steps.iter().map(String::as_str).collect();
        let is_replaced = self.was_there && self.is_there;
        match steps.as_slice() {
            ["metadata", "labels" | "annotations", ..] => None,
            ["spec", "containers", _, "image"] if is_replaced => None,
            ["metadata", ..] => Some(obstacle(
                self.path.as_str(),
                Course::NotKnown,
                "of the template's metadata only labels and annotations are known to change in running pods",
            )),
            ["spec", "containers", _, "resources", "limits" | "requests", "cpu" | "memory"]
                if is_replaced && !is_only =>
            {
                Some(obstacle(
                    self.path.as_str(),
                    Course::NotKnown,
                    "it changes cpu and memory in place only under the feature gate InPlaceWorkloadVerticalScaling, which is off by default, and replaces the pods otherwise",
                ))
            }
            // `ValidateCloneSetUpdate` in `pkg/controller/cloneset/core`.
            _ if is_only => Some(obstacle(
                self.path.as_str(),
                Course::RefusesChange,
                "the type InPlaceOnly lets nothing of the template's spec change but images of containers",
            )),
            _ => Some(obstacle(
                self.path.as_str(),
                Course::ReplacesPods,
                "it changes only images of containers, labels and annotations in place",
            )),
        }
    }

    /// A container that has the label or annotation in its environment (`IsContainerReferenceToMeta`).
    fn read_by(&self, after: &Value) -> Option<Obstacle> {
        let [_, map, key] = self.steps.as_slice() else { return None };
        let field = format!("metadata.{map}['{key}']");
        let reads = |container: &&Value| {
            items(container, "/env").any(|variable| text(variable, "/valueFrom/fieldRef/fieldPath") == field)
        };
        let containers = after.pointer("/spec/template/spec/containers").and_then(Value::as_array);
        let reader = containers.into_iter().flatten().filter(|_| self.is_there).find(reads)?;
        Some(obstacle(
            self.path.as_str(),
            Course::NotKnown,
            format!(
                "container {} has it in its environment, and restarts only under the feature gate InPlaceUpdateEnvFromMetadata, which is on by default",
                text(reader, "/name")
            ),
        ))
    }
}

/// `validateCloneSetSpec`.
fn selector(after: &Value) -> Option<Obstacle> {
    let labels = after.pointer("/spec/template/metadata/labels").and_then(Value::as_object).into_iter().flatten();
    let labels: BTreeMap<String, String> =
        labels.filter_map(|(key, value)| Some((key.clone(), value.as_str()?.to_owned()))).collect();
    let matches = selector::matches(after.pointer("/spec/selector").unwrap_or(&Value::Null), &labels);
    (!matches).then(|| {
        obstacle("metadata.labels", Course::RefusesChange, "the selector does not match the template's labels")
    })
}

#[cfg(test)]
mod tests;
