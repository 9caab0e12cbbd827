//! How the template of an owner compares with a rollout that a run goes on with, and what restores it.

use serde_json::{Value, json};

use super::adopt::{self, current, leads_from_all, with_pods};
use super::live::LiveWorkload;
use super::sides::sides;
use crate::change::{Direction, same};
use crate::k8s::mask::{self, Secrets};
use crate::kinds::{HoldsBy, Revisions};
use crate::state::durable::lock::RolloutLock;
use crate::state::durable::{OwnerGoal, deployment, revisions, template_of_revision};

/// A longer patch, in bytes, is no line to copy.
const LONGEST_PATCH: usize = 600;

/// Fields besides whose values may be secrets that nothing marks as such.
const MAY_BE_SECRET: [&str; 3] = ["httpGet", "volumeAttributes", "options"];

fn may_be_secret(field: &str) -> bool {
    Secrets::of_field(field).is_some() || MAY_BE_SECRET.contains(&field)
}

/// How the template compares with what a run makes of a rollout.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TemplateStand {
    /// It is the one wanted.
    Wanted,
    /// The run sets it.
    ToBeSet,
    /// Somebody has set it to the rollout's other side since: no run sets it again.
    TurnedRound,
    /// Somebody has set another one, or the controller is replacing pods for this one: no run goes on with it.
    Foreign,
}

impl TemplateStand {
    /// Returns whether a run that finds it so ends the rollout, and updates no pod.
    pub fn ends_the_rollout(self) -> bool {
        matches!(self, Self::TurnedRound | Self::Foreign)
    }
}

/// Compares the template with a run that goes on with a rollout.
pub fn template_stand(live: &LiveWorkload, owner: &OwnerGoal) -> TemplateStand {
    let found = RolloutLock::of(&live.workload.object).ok().flatten().filter(|_| !owner.adopts);
    stand(live, found.as_ref(), &owner.lock)
}

/// Compares the template with a run that goes in a direction with the rollout whose lock was found. Lock and
/// template are written together: only a run that changes direction, or that found no lock, sets the template.
pub(super) fn stand(live: &LiveWorkload, found: Option<&RolloutLock>, goal: &RolloutLock) -> TemplateStand {
    if found.is_some_and(|found| was_released(live, found) || adopt::is_anothers(live, found)) {
        return TemplateStand::Foreign;
    }
    let (before, after) = sides(live, goal);
    let (target, source) = match goal.direction {
        Direction::Forward => (after, before),
        Direction::Back => (before, after),
    };
    let template = live.workload.template();
    let turns = found.is_none_or(|found| found.direction != goal.direction);
    match () {
        () if same(template, &target) => TemplateStand::Wanted,
        () if !same(template, &source) => TemplateStand::Foreign,
        () if turns => TemplateStand::ToBeSet,
        () => TemplateStand::TurnedRound,
    }
}

/// Whether somebody has lifted a Deployment's pause before its ReplicaSet had the new template.
pub(super) fn was_released(live: &LiveWorkload, lock: &RolloutLock) -> bool {
    let is_it = |object: &&Value| {
        let uid = object.pointer("/metadata/uid").and_then(Value::as_str);
        lock.outgoing.as_ref().is_some_and(|outgoing| uid == Some(outgoing.uid.as_str()))
    };
    let is_paused = live.workload.reference.kind.holds_by() == HoldsBy::Paused;
    let outgoing = live.surroundings.owned.iter().find(is_it).filter(|_| is_paused);
    outgoing.is_some_and(|set| deployment::was_released(&live.workload.object, lock, set, &sides(live, lock).1))
}

/// Returns the latest template that pods were created from, where that is not the owner's and keeps them all: every
/// other pod can be changed to it in place.
pub fn kept_template(live: &LiveWorkload) -> Option<Value> {
    let kind = live.workload.reference.kind;
    let latest = match kind.revisions() {
        Revisions::ReplicaSets | Revisions::None => current(live)?,
        // Pods that a rollout has not reached are changed in place to what it has brought to the others.
        Revisions::ControllerRevisions(_) => with_pods(live).max_by_key(|revision| revisions::number_of(revision))?,
    };
    let template = template_of_revision(kind, latest);
    (!same(&template, live.workload.template()) && leads_from_all(live, &template)).then_some(template)
}

/// Returns the JSON patch that gives an owner a template, as long as its spec is unchanged since it was read; `None`
/// where that is no line to copy: too long, or with what may be a secret.
pub fn patch_back(owner: &Value, template: &Value) -> Option<Value> {
    let generation = owner.pointer("/metadata/generation")?;
    let in_owner = |template: &Value| json!({"spec": {"template": template}});
    let back = json_patch::diff(&in_owner(owner.pointer("/spec/template")?), &in_owner(template)).0;
    let operations: Vec<Value> = back.iter().map(|operation| json!(operation)).collect();
    let is_shown = |operation: &Value| {
        let path = operation["path"].as_str().unwrap_or_default();
        let name = path.rsplit('/').next().unwrap_or_default();
        let is_secret = || path.split('/').any(may_be_secret) || has_secret(name, &operation["value"]);
        operation["op"] == "remove" || !is_secret()
    };
    if operations.is_empty() || !operations.iter().all(is_shown) {
        return None;
    }
    let guard = json!({"op": "test", "path": "/metadata/generation", "value": generation});
    let patch = Value::from_iter([guard].into_iter().chain(operations));
    let text = patch.to_string();
    (text.len() <= LONGEST_PATCH && mask::text(&text) == text).then_some(patch)
}

/// Whether a value may be or contain a secret, by the name of its field.
fn has_secret(name: &str, value: &Value) -> bool {
    let is_masked = |text: &str| {
        let line = format!("{name}: {text}");
        mask::text(&line) != line
    };
    match value {
        Value::Object(fields) => fields.iter().any(|(name, value)| may_be_secret(name) || has_secret(name, value)),
        Value::Array(values) => values.iter().any(|value| has_secret(name, value)),
        Value::String(text) => is_masked(text),
        Value::Null | Value::Bool(_) | Value::Number(_) => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_patch_that_sets_a_template_back_shows_no_secret_and_is_a_line() {
        let env = json!([{"name": "KEY", "value": "hunter2"}]);
        let template = |annotation: Option<&str>, env: Option<&Value>| {
            let mut template = json!({"metadata": {}, "spec": {"containers": [{"name": "app"}]}});
            if let Some(annotation) = annotation {
                template["metadata"]["annotations"] = json!({"note": annotation});
            }
            if let Some(env) = env {
                template["spec"]["containers"][0]["env"] = env.clone();
            }
            template
        };
        let back = |now: &Value, from: &Value| {
            let owner = json!({"metadata": {"generation": 7}, "spec": {"template": now}});
            let patch = patch_back(&owner, from)?;
            let mut set_back = owner.clone();
            let operations: json_patch::Patch = serde_json::from_value(patch.clone()).expect("a JSON patch");
            json_patch::patch(&mut set_back, &operations).expect("it applies");
            assert_eq!(set_back["spec"]["template"], *from);
            let mut scaled = owner;
            scaled["metadata"]["generation"] = 8.into();
            assert!(json_patch::patch(&mut scaled, &operations).is_err(), "somebody has changed the spec since");
            Some(patch.to_string())
        };
        let plain = template(None, None);
        let removed = back(&template(Some("x"), Some(&env)), &plain).expect("it only removes");
        assert!(!removed.contains("hunter2"), "{removed}");
        assert!(back(&plain, &template(Some("x"), None)).is_some_and(|patch| patch.contains("\"note\":\"x\"")));
        assert_eq!(back(&plain, &template(None, Some(&env))), None);
        let two = json!({"metadata": {}, "spec": {"containers": [{"name": "app"}, {"name": "b", "env": env}]}});
        assert_eq!(back(&plain, &two), None);
        let init = json!({"metadata": {}, "spec": {"containers": [{"name": "app"}], "initContainers": [{"env": env}]}});
        assert_eq!(back(&plain, &init), None);
        assert_eq!(back(&plain, &template(Some(&"x".repeat(LONGEST_PATCH)), None)), None);
        assert_eq!(back(&plain, &template(Some("password=hunter2"), None)), None);
        for (pointer, value) in [
            ("/metadata/annotations", json!({"token": "s3cr3t"})),
            ("/metadata/annotations", json!({"vault.io/password": "hunter2"})),
            (
                "/spec/containers/0/lifecycle",
                json!({"preStop": {"httpGet": {"httpHeaders": [{"name": "X", "value": "s"}]}}}),
            ),
            ("/spec/volumes", json!([{"csi": {"volumeAttributes": {"key": "s"}}}])),
        ] {
            let (parent, field) = pointer.rsplit_once('/').expect("a pointer");
            let mut from = plain.clone();
            from.pointer_mut(parent).expect("it is there")[field] = value.clone();
            assert_eq!(back(&plain, &from), None, "{value}");
            let mut now = from.clone();
            for leaf in ["token", "vault.io/password"].into_iter().filter(|leaf| value.get(leaf).is_some()) {
                now[parent.trim_start_matches('/')][field][leaf] = "another".into();
                assert_eq!(back(&now, &from), None, "{value}");
            }
        }
        assert_eq!(back(&plain, &plain), None);
    }
}
