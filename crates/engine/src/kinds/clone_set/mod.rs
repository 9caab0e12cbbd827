//! CloneSet (`openkruise/kruise` `pkg/controller/cloneset`): its own controller updates the pods, by its own rules.
//!
//! What rests on a feature gate of OpenKruise is said to be not known, but for `TemplateNoDefaults`: without that one the
//! webhook fills in the template's defaults.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{CONTROLLER_REVISION_HASH, KindSpec, MaxUnavailable, OF_APPS, RevisionLabel, Revisions, status};
use crate::value::int_or_percent::IntOrPercent;
use crate::value::json_path::{element, join, text};
use crate::value::selector;

/// Compares two states of a workload, both as a server stores them, by the rules of its controller.
pub type Foresee = fn(before: &Value, after: &Value) -> Foreseen;

/// What a controller does with the present pods.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Foreseen {
    /// What it does not do in place. Where there is none, whatever changes of the template changes in place.
    pub obstacles: Vec<Obstacle>,
    /// Which pods it leaves unchanged, or when it goes on, as in "it updates ...".
    pub limits: Vec<String>,
}

/// One thing that a controller does not do in place.
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
    /// The change is refused, by its webhook.
    RefusesChange,
    /// It rests on what no manifest shows.
    NotKnown,
}

/// No rollout of this program's holds it.
pub(super) const SPEC: KindSpec = KindSpec {
    kind: "CloneSet",
    group: "apps.kruise.io",
    version: "v1alpha1",
    plural: "clonesets",
    singular: "cloneset",
    short_names: &["clone"],
    foresee: Some(foresee),
    revisions: Revisions::ControllerRevisions(RevisionLabel::Name),
    max_unavailable: Some(MaxUnavailable {
        path: "spec.updateStrategy.maxUnavailable",
        rounds_up: true,
        value: max_unavailable,
    }),
    rolling_out,
    is_fixed: |field| !CHANGEABLE.contains(&field),
    has_kubectl_rollout: false,
    pod_labels: &[CONTROLLER_REVISION_HASH, "apps.kruise.io/cloneset-instance-id"],
    ..OF_APPS
};

/// `validateCloneSetUpdate` in `pkg/webhook/cloneset/validating/validation.go`.
const CHANGEABLE: [&str; 9] = [
    "lifecycle",
    "minReadySeconds",
    "progressDeadlineSeconds",
    "replicas",
    "revisionHistoryLimit",
    "scaleStrategy",
    "template",
    "updateStrategy",
    "volumeClaimTemplates",
];

const STRATEGY: &str = "spec.updateStrategy";
const RE_CREATE: &str = "ReCreate";

/// `spec.updateStrategy.type`. Every webhook takes the first three (`validateUpdateStrategy`).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Strategy {
    ReCreate,
    InPlaceIfPossible,
    InPlaceOnly,
    /// The controller knows it from 1.9 on (`realControl.Update` in `pkg/controller/cloneset/sync`); the webhook of 1.9.0 refuses it.
    OnDelete,
}

impl Strategy {
    fn of(object: &Value) -> Option<Self> {
        match text(object, "/spec/updateStrategy/type") {
            RE_CREATE => Some(Self::ReCreate),
            "InPlaceIfPossible" => Some(Self::InPlaceIfPossible),
            "InPlaceOnly" => Some(Self::InPlaceOnly),
            "OnDelete" => Some(Self::OnDelete),
            _ => None,
        }
    }
}

fn max_unavailable(object: &Value) -> Option<IntOrPercent> {
    IntOrPercent::from_value(object.pointer("/spec/updateStrategy/maxUnavailable")?).ok()
}

fn rolling_out(object: &Value) -> Option<String> {
    let (updated, wanted) = (status(object, "updatedReplicas"), status(object, "expectedUpdatedReplicas"));
    (updated < wanted).then(|| format!("{updated} of {wanted} replicas are updated"))
}

/// What the controller does with a change: `updatePod` and `calculateDiffsWithExpectation` in `pkg/controller/cloneset/sync`,
/// `defaultCalculateInPlaceUpdateSpec` in `pkg/util/inplaceupdate`, and the webhook, which comes first.
fn foresee(before: &Value, after: &Value) -> Foreseen {
    if before == after {
        return Foreseen::default();
    }
    let changes = TemplateChange::between(before, after);
    let mut obstacles = Vec::new();
    match Strategy::of(after) {
        None => obstacles.push(obstacle(
            format!("{STRATEGY}.type"),
            Course::RefusesChange,
            "the type must be ReCreate, InPlaceIfPossible, InPlaceOnly or OnDelete",
        )),
        Some(Strategy::OnDelete) if changes.is_empty() && Strategy::of(before) == Some(Strategy::OnDelete) => {}
        Some(Strategy::OnDelete) => obstacles.push(obstacle(
            format!("{STRATEGY}.type"),
            Course::NotKnown,
            "OpenKruise knows the type OnDelete from 1.9 on and then changes no pod until it is deleted, while webhooks up to that of 1.9.0 refuse it",
        )),
        Some(_) if changes.is_empty() => obstacles.extend(carried_on(before, after)),
        Some(Strategy::ReCreate) => obstacles.push(obstacle(
            format!("{STRATEGY}.type"),
            Course::ReplacesPods,
            "the type is ReCreate, as by default; InPlaceIfPossible changes in place what it can",
        )),
        Some(strategy @ (Strategy::InPlaceIfPossible | Strategy::InPlaceOnly)) => {
            obstacles.extend(named(changes.iter().filter_map(|change| change.obstacle(strategy)).collect()));
            obstacles.extend(changes.iter().filter_map(|change| change.read_by(after)));
            obstacles.extend(surge(after, strategy));
            obstacles.extend(claims(before, after, strategy));
        }
    }
    obstacles.extend(selector(after));
    obstacles.extend(deleted(before, after));
    Foreseen { obstacles, limits: limits(before, after) }
}

fn obstacle(path: impl Into<String>, course: Course, because: impl Into<String>) -> Obstacle {
    Obstacle { path: path.into(), course, because: because.into() }
}

/// How many paths of a template are named.
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
        let template = |object: &Value| object.pointer("/spec/template").cloned();
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
    fn obstacle(&self, strategy: Strategy) -> Option<Obstacle> {
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
                if is_replaced && strategy == Strategy::InPlaceIfPossible =>
            {
                Some(obstacle(
                    self.path.as_str(),
                    Course::NotKnown,
                    "it changes cpu and memory in place only under the feature gate InPlaceWorkloadVerticalScaling, which is off by default, and replaces the pods otherwise",
                ))
            }
            _ => Some(match strategy {
                // `ValidateCloneSetUpdate` in `pkg/controller/cloneset/core`.
                Strategy::InPlaceOnly => obstacle(
                    self.path.as_str(),
                    Course::RefusesChange,
                    "the type InPlaceOnly lets nothing of the template's spec change but images of containers",
                ),
                Strategy::InPlaceIfPossible | Strategy::ReCreate | Strategy::OnDelete => obstacle(
                    self.path.as_str(),
                    Course::ReplacesPods,
                    "it changes only images of containers, labels and annotations in place",
                ),
            }),
        }
    }

    /// A container that has the label or annotation in its environment (`IsContainerReferenceToMeta`).
    fn read_by(&self, after: &Value) -> Option<Obstacle> {
        let [_, map, key] = self.steps.as_slice() else { return None };
        let field = format!("metadata.{map}['{key}']");
        let reads = |container: &&Value| {
            let env = container.get("env").and_then(Value::as_array).into_iter().flatten();
            env.into_iter().any(|variable| text(variable, "/valueFrom/fieldRef/fieldPath") == field)
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

/// Surplus pods are created from the new template, and as many old ones deleted in the end.
fn surge(after: &Value, strategy: Strategy) -> Option<Obstacle> {
    let given = after.pointer("/spec/updateStrategy/maxSurge")?;
    if matches!(IntOrPercent::from_value(given), Ok(IntOrPercent::Int(0) | IntOrPercent::Percent(0))) {
        return None;
    }
    let path = format!("{STRATEGY}.maxSurge");
    Some(match strategy {
        Strategy::InPlaceOnly => obstacle(path, Course::RefusesChange, "the type InPlaceOnly does not go with it"),
        Strategy::InPlaceIfPossible | Strategy::ReCreate | Strategy::OnDelete => {
            obstacle(path, Course::ReplacesPods, "it makes new pods first and then deletes as many old ones")
        }
    })
}

/// `CanVCTemplateInplaceUpdate` in `pkg/util/volumeclaimtemplate`; without another template they make no new revision.
fn claims(before: &Value, after: &Value, strategy: Strategy) -> Option<Obstacle> {
    let path = "spec.volumeClaimTemplates";
    let claims = |object: &Value| object.pointer("/spec/volumeClaimTemplates").cloned();
    (strategy == Strategy::InPlaceIfPossible && claims(before) != claims(after)).then(|| {
        obstacle(
            path,
            Course::NotKnown,
            "it replaces the pods for another volume claim template only under the feature gate RecreatePodWhenChangeVCTInCloneSetGate, which is off by default",
        )
    })
}

/// A template that stays, and pods that an earlier change of it has not reached.
fn carried_on(before: &Value, after: &Value) -> Option<Obstacle> {
    let differs = |field: &str| {
        let value = |object: &Value| object.pointer(&format!("/spec/updateStrategy/{field}")).cloned();
        value(before) != value(after)
    };
    let field = ["paused", "partition"].into_iter().find(|field| differs(field))?;
    Some(obstacle(
        format!("{STRATEGY}.{field}"),
        Course::NotKnown,
        "it may bring an earlier change of the template to pods that do not have it yet, and no manifest shows which",
    ))
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

/// Pods that are to be deleted by name.
fn deleted(before: &Value, after: &Value) -> Option<Obstacle> {
    let pointer = "/spec/scaleStrategy/podsToDelete";
    let given = after.pointer(pointer)?;
    let is_new = given.as_array().is_some_and(|names| !names.is_empty()) && before.pointer(pointer) != Some(given);
    is_new.then(|| obstacle("spec.scaleStrategy.podsToDelete", Course::ReplacesPods, "it deletes those that are named"))
}

/// Which pods are left unchanged, or updated later.
fn limits(before: &Value, after: &Value) -> Vec<String> {
    let paused = |object: &Value| object.pointer("/spec/updateStrategy/paused") == Some(&Value::Bool(true));
    let partition = |object: &Value| match object.pointer("/spec/updateStrategy/partition") {
        Some(Value::Number(number)) if number.as_u64() != Some(0) => Some(number.to_string()),
        Some(Value::String(share)) if share != "0%" => Some(share.clone()),
        Some(_) | None => None,
    };
    let mut limits = Vec::new();
    if paused(after) {
        limits.push(format!("it updates no pod while {STRATEGY}.paused is true"));
    }
    if let Some(partition) = partition(after) {
        limits.push(format!("{STRATEGY}.partition {partition} leaves that many pods unchanged"));
    }
    if after.pointer("/spec/lifecycle/inPlaceUpdate").is_some() {
        limits.push("each pod waits for the hook in spec.lifecycle.inPlaceUpdate".to_owned());
    }
    if paused(before) || partition(before).is_some() {
        limits.push(
            "pods that an earlier change of the template has not reached are compared by their own template, and may be replaced"
                .to_owned(),
        );
    }
    limits
}

#[cfg(test)]
mod tests;
