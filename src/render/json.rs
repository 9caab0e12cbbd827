//! The plan as one versioned JSON document.
//!
//! Promise: fields are added, never renamed or removed, within one `apiVersion`, whatever the engine calls them. The other
//! fields of a reason or warning (`container`, `image`, ...) are the engine's: every code's fields are in the snapshots.
//!
//! As YAML ([`super::diff::yaml`]) kubectl's YAML reader makes exactly this document of it: what looks like a boolean, a number or
//! nothing is quoted, and so is what could mislead an eye or a terminal, as escapes.

use std::io;
use std::time::Duration;

use serde::Serialize;
use serde_json::{Map, Value, json};

use super::{Out, columns, escape, offline};
use engine::change::TemplateImage;
use engine::change::reason::{Reason, Warning};
use engine::k8s::names::{ContainerName, WorkloadRef};
use engine::plan::{
    ContainerPlan, DurablePlan, ImageChange, PLAN_API_VERSION, Plan, PodPlan, PodVerdict, WorkloadPlan,
};
use engine::report::hand_over::HandOver;
use engine::rollout::Policy;
use engine::state::durable::lock::Lock;
use engine::state::record::Drained;

pub(super) fn write(document: &Value, out: Out<'_>) -> io::Result<()> {
    writeln!(out, "{}", escape::json(&format!("{document:#}")))
}

/// Leaves the fields of these names out where they say nothing.
pub(super) fn without_empty(mut object: Value, names: &[&str]) -> Value {
    let says_nothing = |value: &Value| match value {
        Value::Null | Value::Bool(false) => true,
        Value::Array(items) => items.is_empty(),
        Value::Object(fields) => fields.is_empty(),
        Value::Bool(true) | Value::Number(_) | Value::String(_) => false,
    };
    if let Value::Object(fields) = &mut object {
        fields.retain(|name, value| !names.contains(&name.as_str()) || !says_nothing(value));
    }
    object
}

pub(super) fn each<'a, T: 'a>(of: impl IntoIterator<Item = &'a T>, value: impl Fn(&'a T) -> Value) -> Value {
    of.into_iter().map(value).collect()
}

pub(super) fn plan(plan: &Plan, is_refused: bool, out: Out<'_>) -> io::Result<()> {
    let mut document = document(plan);
    if is_refused {
        document["result"] = plan.refusal().word().into();
    }
    write(&document, out)
}

pub(super) fn document(plan: &Plan) -> Value {
    let document = json!({
        "apiVersion": PLAN_API_VERSION,
        "kind": "Plan",
        "result": plan.result().word(),
        "applyable": plan.is_applyable(),
        "summary": summary(&plan.workloads),
        "workloads": each(&plan.workloads, workload),
        "skippedObjects": each(&plan.skipped, offline::skipped_object),
    });
    without_empty(document, &["skippedObjects"])
}

fn summary(plans: &[WorkloadPlan]) -> Value {
    let count = |verdict| plans.iter().map(|plan| plan.count(verdict)).sum::<usize>();
    json!({
        "pods": plans.iter().map(|plan| plan.pods.len()).sum::<usize>(),
        "update": count(PodVerdict::Update),
        "inProgress": count(PodVerdict::InProgress),
        "upToDate": count(PodVerdict::AlreadyThere),
        "blocked": count(PodVerdict::Blocked),
        "skipped": count(PodVerdict::Skipped),
    })
}

fn workload(plan: &WorkloadPlan) -> Value {
    let workload = json!({
        "workload": plan.workload,
        // Two manifests have none.
        "uid": Some(plan.uid.as_str()).filter(|uid| !uid.is_empty()),
        "verdict": plan.verdict,
        "replicas": plan.replicas,
        "podsOnly": plan.pods_only,
        "restartsTheSame": plan.restarts_the_same,
        "byRequest": plan.is_by_request(),
        "durable": plan.durable.as_ref().map(|owner| durable(plan, owner)),
        "checkedByServer": plan.checked_by_server,
        "estimateSeconds": plan.estimate().map_or(Value::Null, seconds),
        "policy": policy(&plan.policy),
        "hooks": plan.hooks,
        "summary": summary(std::slice::from_ref(plan)),
        "reasons": reasons(&plan.reasons, &plan.workload),
        "warnings": each(&plan.warnings, |one| warning(one, &plan.workload)),
        "handOver": plan.hand_over.as_ref().map(hand_over),
        "missingPermissions": reasons(&plan.missing_permissions, &plan.workload),
        "containers": each(&plan.containers, container),
        "fields": columns::fields(&plan.fields),
        "pods": each(&plan.pods, |one| pod(one, plan)),
    });
    without_empty(
        workload,
        &["uid", "restartsTheSame", "byRequest", "durable", "hooks", "handOver", "missingPermissions", "fields"],
    )
}

/// Whole seconds stay whole in every format.
fn seconds(seconds: f64) -> Value {
    match Duration::try_from_secs_f64(seconds) {
        Ok(whole) if whole.subsec_nanos() == 0 => whole.as_secs().into(),
        Ok(_) | Err(_) => seconds.into(),
    }
}

fn policy(policy: &Policy) -> Value {
    let policy = json!({
        "maxUnavailable": policy.max_unavailable,
        "minReadySeconds": policy.min_ready_seconds_given,
        "ownerMinReadySeconds": policy.owner_min_ready_seconds,
        "timeoutSeconds": policy.timeout_given,
        "totalTimeoutSeconds": policy.total_timeout,
        "ordered": policy.ordered,
        "containerOrder": policy.container_order,
    });
    without_empty(policy, &["containerOrder"])
}

fn reasons(reasons: &[Reason], workload: &WorkloadRef) -> Value {
    each(reasons, |reason| {
        let (message, hint) = (reason.sentence(), reason.hint_for(workload).to_string());
        let common = json!({"code": reason.code(), "path": reason.path(), "message": message, "hint": hint});
        with_own_fields(common, reason)
    })
}

fn warning(warning: &Warning, workload: &WorkloadRef) -> Value {
    let common = json!({"code": warning.code(), "message": warning.sentence(), "recipe": warning.recipe(workload)});
    with_own_fields(without_empty(common, &["recipe"]), warning)
}

/// What the next apply changes, and that as a sentence.
pub(super) fn hand_over(found: &HandOver) -> Value {
    let mut document = json!(found);
    document["message"] = found.sentence().into();
    document
}

/// Adds what a code carries besides the fields that all have.
fn with_own_fields(mut common: Value, of: &impl Serialize) -> Value {
    if let (Value::Object(common), Ok(Value::Object(own))) = (&mut common, serde_json::to_value(of)) {
        let (message, own): (Map<_, _>, Map<_, _>) = own.into_iter().partition(|(name, _)| name == "message");
        let server_message = message.into_iter().map(|(_, text)| ("serverMessage".to_owned(), text));
        for (name, value) in own.into_iter().chain(server_message) {
            common.entry(name).or_insert(value);
        }
    }
    common
}

fn container(plan: &ContainerPlan) -> Value {
    let ContainerPlan { container, list, from, to, effect, resize_restarts, .. } = plan;
    let container = json!({
        "container": container, "list": list, "from": from, "to": to, "effect": effect, "resizeRestarts": resize_restarts,
    });
    without_empty(container, &["resizeRestarts"])
}

fn pod(plan: &PodPlan, workload: &WorkloadPlan) -> Value {
    let drain = plan.drain.as_ref().map(|drain| match &drain.by {
        Drained::Label(label) => json!({"label": label.key, "services": drain.services}),
        Drained::Gate(gate) => json!({"gate": gate.gate, "services": drain.services}),
    });
    let (label_missing, gate_false) = match &plan.unrestored {
        Some(Drained::Label(label)) => (Some(&label.key), None),
        Some(Drained::Gate(gate)) => (None, Some(&gate.gate)),
        None => (None, None),
    };
    let pod = json!({
        "namespace": plan.pod.namespace,
        "name": plan.pod.name,
        "uid": plan.pod.uid,
        "node": Some(plan.node.as_str()).filter(|node| !node.is_empty()),
        "kubelet": plan.kubelet,
        "verdict": workload.becomes(plan),
        "changes": plan.changes.iter().map(|(name, change)| image_change(name, change)).collect::<Value>(),
        "fields": columns::fields(&plan.fields),
        "drain": drain,
        "drainLabelMissing": label_missing,
        "drainGateFalse": gate_false,
        "reasons": reasons(&plan.reasons, &workload.workload),
    });
    without_empty(pod, &["fields", "drain", "drainLabelMissing", "drainGateFalse"])
}

fn image_change(container: &ContainerName, change: &ImageChange) -> Value {
    json!({
        "container": container, "from": change.from, "to": change.to, "effect": change.effect, "imageID": change.image_id,
        "hashFrom": change.hash_from, "hashTo": change.hash_to, "waiting": change.waiting,
    })
}

fn durable(plan: &WorkloadPlan, owner: &DurablePlan) -> Value {
    let history = json!(owner.rollout.history);
    let durable = json!({
        "outgoing": owner.rollout.outgoing.as_ref().map(|outgoing| json!({"name": outgoing.name, "revision": outgoing.revision})),
        "revision": owner.revision,
        "reuses": owner.rollout.reuses,
        "history": {"do": history["do"], "name": history["name"]},
        "steps": owner.steps(plan.workload.kind),
        "change": {
            "images": owner.rollout.change.images.iter().map(template_image).collect::<Value>(),
            "fields": columns::fields(&owner.rollout.change.fields),
        },
        "strategy": owner.rollout.strategy,
        "replaced": owner.takes_over.as_deref().map(replaced),
    });
    without_empty(durable, &["replaced"])
}

/// The rollout whose place it takes before that one has ended.
fn replaced(lock: &Lock) -> Value {
    json!({
        "id": lock.rollout.id, "who": lock.rollout.who, "since": lock.rollout.since, "state": lock.state.word(),
        "images": lock.rollout.change.images.iter().map(template_image).collect::<Value>(),
    })
}

fn template_image((container, image): (&ContainerName, &TemplateImage)) -> Value {
    json!({"container": container, "list": image.list, "from": image.from, "to": image.to})
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::{Value, json};

    use crate::render::diff;

    /// Reads an object as the program reads manifests, which is how kubectl does.
    fn read_back(text: &str) -> Value {
        crate::manifest::parse("plan.yaml", text.as_bytes()).unwrap().remove(0).object
    }

    fn object(text: &str) -> Value {
        json!({"apiVersion": "v1", "kind": "Plan", "metadata": {"name": "plan"}, "text": text, "list": [text, {"deep": text}]})
    }

    #[test]
    fn text_stays_text() {
        let texts = [
            "yes",
            "no",
            "on",
            "Off",
            "y",
            "N",
            "true",
            "null",
            "~",
            "",
            " ",
            "0755",
            "0o755",
            "1_000",
            "0x1F",
            "0b1",
            "1e3",
            "123e4567",
            "5e10",
            "12345678",
            "1:30",
            ".inf",
            ".NaN",
            "-.inf",
            "=",
            "<<",
            "- a",
            "a: b",
            "a #b",
            "#a",
            "!x",
            "&a",
            "*a",
            "%a",
            "@a",
            "`a`",
            "{a}",
            "[a]",
            "|",
            ">",
            "'",
            "\"",
            "2001-01-01",
            "+1",
            "-1",
            "1.",
            ".5",
            "---",
            "...",
            "? a",
            ":",
            "a\nb",
            "a\n\n",
            "\na",
            " a ",
            "a\tb",
            "\u{1b}[2J",
            "\u{202e}x",
            "\u{e0041}",
            "a\r\nb",
            "\u{feff}",
            "\u{85}",
            "\u{2028}",
            "caf\u{e9}",
            "\u{1f600}",
        ];
        for text in texts {
            let written = diff::yaml(&object(text));
            assert_eq!(read_back(&written), object(text), "{text:?}: {written}");
        }
    }

    proptest! {
        #[test]
        fn any_text_stays_itself(text in any::<String>(), short in "[-+0-9a-fxo_.:eEyYnN~ ]{0,8}") {
            for text in [text, short] {
                prop_assert_eq!(read_back(&diff::yaml(&object(&text))), object(&text));
            }
        }
    }
}
