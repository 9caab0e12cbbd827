//! Deployment: the template changes under a pause, the current ReplicaSet takes it and keeps its name and pods, and the
//! outgoing template stays in the history in another ReplicaSet (kube-controller-manager `pkg/controller/deployment`).

use serde_json::{Value, json};

use super::{CHANGED_MEANWHILE, Cleanup, Fence, OwnerPhase, OwnerStep, Step, integer, is, text};
use crate::change::{Direction, same};
use crate::k8s::metadata;
use crate::kinds::is_paused;
use crate::kinds::{DEPLOYMENT_REVISION, POD_TEMPLATE_HASH, REPLICA_SETS, Revisions};
use crate::state::durable::deployment::{history_hash, is_anothers, is_empty, revision_of, template_of, was_released};
use crate::state::durable::history::HISTORY_POINTER;
use crate::state::durable::lock::{CHANGE_CAUSE, HistoryStep, ROLLOUT_ANNOTATION, RolloutLock};
use crate::state::durable::objects::{Guarded, ObjectKey, ObjectKind, ObjectWrite, version_of};
use crate::state::outcome::EndResult;

const REPLICA_SET: ObjectKind = ObjectKind::Workload(REPLICA_SETS);

/// Annotations of a ReplicaSet that say how it is scaled, or that are the rollout's own.
const NOT_HISTORY: [&str; 3] =
    [ROLLOUT_ANNOTATION, "deployment.kubernetes.io/desired-replicas", "deployment.kubernetes.io/max-replicas"];

/// The template with the label of the ReplicaSet that it is for.
fn with_hash(template: &Value, hash: &str) -> Value {
    let mut template = template.clone();
    if let Some(labels) = template.pointer_mut("/metadata/labels").and_then(Value::as_object_mut) {
        labels.insert(POD_TEMPLATE_HASH.into(), hash.into());
    }
    template
}

fn hash_of(set: &Value) -> &str {
    Revisions::ReplicaSets.hash_of(set)
}

pub(super) fn held(step: &Step<'_>, lock: &RolloutLock) -> OwnerPhase {
    let current = lock.outgoing.as_ref().and_then(|out| step.owned.iter().find(|set| is(set, &out.uid)));
    let Some(current) = current else { return without_replica_set(step, lock) };
    let current = rescaled(step, current).unwrap_or(current);
    let paused = is_paused(step.object) && !lock.released;
    if !same(step.template(), step.goal.target()) {
        let why = if is_paused(step.object) { CHANGED_MEANWHILE } else { REPLACES };
        return changed_by_another(step, lock, current, why);
    }
    if !step.is_observed() {
        return OwnerPhase::WaitFor(Fence::Observed);
    }
    let has_target = same(&template_of(current), step.goal.target());
    if !paused && !has_target {
        let why = match (lock.released, lock.direction) {
            (true, _) => REPLACES,
            (false, Direction::Forward) => UNPAUSED,
            (false, Direction::Back) => SET_BACK_OR_UNPAUSED,
        };
        return changed_by_another(step, lock, current, why);
    }
    if !paused {
        return pods(step, current);
    }
    if let Some(phase) = other_is_taken_over(step, lock).or_else(|| keep_or_drop_history(step, lock, current)) {
        return phase;
    }
    if !has_target {
        return set_template(step, current, step.goal.target());
    }
    if !is_adopted(step, lock, current) {
        return OwnerPhase::WaitFor(Fence::ReplicaSetAdopted);
    }
    if !starts_nothing(step) {
        return close_superseded(step, OTHERS_HAVE_PODS);
    }
    let released = RolloutLock { released: true, ..lock.clone() };
    let patch = step.patch().test("/spec/template").set("/spec/paused", None);
    let patch = patch.annotate(&[(ROLLOUT_ANNOTATION, Some(released.to_text()))]);
    OwnerPhase::Write(OwnerStep::Unpause, patch.write())
}

/// On the way back from a rollout whose pause somebody has lifted too early: the controller has replaced pods, and
/// going back would let it replace them once more. The same where the lock came with a copy of another Deployment: its
/// pods are in a ReplicaSet that the rollout does not know.
pub(super) fn released_too_early(step: &Step<'_>, found: &RolloutLock) -> Option<OwnerPhase> {
    let current = found.outgoing.as_ref().and_then(|out| step.owned.iter().find(|set| is(set, &out.uid)));
    let Some(current) = current else {
        let is_anothers = is_anothers(step.owned, found, step.goal.target());
        return is_anothers.then(|| without_replica_set(step, found));
    };
    was_released(step.object, found, current, &step.goal.after)
        .then(|| changed_by_another(step, found, current, UNPAUSED))
}

/// Nothing keeps the controller from acting on it.
const REPLACES: &str = "its template was changed by another client, and its controller replaces its pods";

/// The pause holds back more than our own change.
const OTHERS_HAVE_PODS: &str =
    "another ReplicaSet of its has pods, which its controller would replace as soon as it is not paused any more";

/// Before the ReplicaSet has the new template the controller creates another one, and pods of it.
const UNPAUSED: &str =
    "it was resumed by another client before its pods were updated, so that its controller replaces them";

/// On the way back: it is unknown which of the two it was.
const SET_BACK_OR_UNPAUSED: &str =
    "another client has set its template back, or resumed it, so that its controller replaces its pods";

/// Scaled to zero under the pause, the ReplicaSet counts as history, and the controller removes those above
/// `revisionHistoryLimit`. No pod can be lost then, so a pause over our own template is lifted.
fn without_replica_set(step: &Step<'_>, lock: &RolloutLock) -> OwnerPhase {
    let mut patch = step.closing(EndResult::Superseded).test("/spec/template");
    if is_paused(step.object) && !lock.released && same(step.template(), step.goal.target()) {
        patch = patch.set("/spec/paused", None);
    }
    superseded_by("its ReplicaSet is gone", Cleanup::Write(OwnerStep::Close, Box::new(patch.write())))
}

/// On the way back: after scaling to zero and up again under our pause, the controller may have created the pods in
/// another ReplicaSet that holds the old template. Then that is the current one.
fn rescaled<'s>(step: &Step<'s>, current: &Value) -> Option<&'s Value> {
    let other = |set: &&Value| !is_empty(set) && same(&template_of(set), step.goal.target());
    let is_back = step.goal.lock.direction == Direction::Back;
    (is_back && is_empty(current)).then(|| step.owned.iter().find(other))?
}

/// Whether the controller takes the present ReplicaSet for the current one.
///
/// It copies the Deployment's annotations to the ReplicaSet whose template it finds to match (`getNewReplicaSet`), by
/// an update of the resourceVersion that its cache holds. Our patch of the template removes the lock's copy, so one that
/// is there again shows that the controller has seen both objects as they are.
fn is_adopted(step: &Step<'_>, lock: &RolloutLock, current: &Value) -> bool {
    let copied = matches!(RolloutLock::of(current), Ok(Some(copy)) if copy.is_same_run(lock));
    copied && revision_of(step.object) == revision_of(current)
}

fn set_template(step: &Step<'_>, set: &Value, template: &Value) -> OwnerPhase {
    let found = template_of(set);
    // On the way back from a rollout that took another one's place it may still have that one's template.
    let is_known = || step.goal.lock.left_by_the_others(template).iter().any(|(_, left)| same(&found, left));
    let is_back = step.goal.lock.direction == Direction::Back;
    if !(same(&found, step.goal.source()) || is_back && is_known()) {
        return close_superseded(step, "the template of its ReplicaSet was changed by another client");
    }
    let patch = replica_set_template(set, template).annotate(&[(CHANGE_CAUSE, step.goal.lock.cause())]);
    OwnerPhase::Write(OwnerStep::SetReplicaSetTemplate, patch.write())
}

fn replica_set_template<'a>(set: &'a Value, template: &Value) -> Guarded<'a> {
    let patch = Guarded::of(REPLICA_SET, set).set("/spec/template", Some(with_hash(template, hash_of(set))));
    // A late request finds a copy of the lock that followed, or of the history in which its rollout has ended.
    let patch = patch.test(HISTORY_POINTER);
    patch.annotate(&[(ROLLOUT_ANNOTATION, None)])
}

/// Keeps the outgoing template in the history, or removes it again on the way back.
fn keep_or_drop_history(step: &Step<'_>, lock: &RolloutLock, current: &Value) -> Option<OwnerPhase> {
    match step.goal.lock.direction {
        Direction::Forward => keep_history(step, lock, current),
        Direction::Back => drop_history(step, lock).map(|(step, write)| OwnerPhase::Write(step, write)),
    }
}

fn keep_history(step: &Step<'_>, lock: &RolloutLock, current: &Value) -> Option<OwnerPhase> {
    let revision = lock.outgoing.as_ref().map_or(0, |outgoing| outgoing.revision);
    let write = match &lock.history {
        HistoryStep::Keep => return None,
        HistoryStep::Create { name } => match kept(step, name) {
            Kept::No => create(step, current, name, revision),
            Kept::Yes => return None,
            Kept::Changed => return Some(close_superseded(step, KEPT_CHANGED)),
        },
        HistoryStep::Swap { uid, .. } => {
            let Some(other) = step.owned.iter().find(|set| is(set, uid)) else {
                // It was deleted meanwhile: another one is created.
                let name = format!("{}-{}", text(step.object, "/metadata/name"), history_hash(step.goal.id()));
                return match kept(step, &name) {
                    Kept::No => Some(OwnerPhase::Write(OwnerStep::KeepHistory, create(step, current, &name, revision))),
                    Kept::Yes => None,
                    Kept::Changed => Some(close_superseded(step, KEPT_CHANGED)),
                };
            };
            if same(&template_of(other), &step.goal.before) {
                return None;
            }
            if !is_empty(other) || !same(&template_of(other), &step.goal.after) {
                return Some(close_superseded(step, "an older ReplicaSet of its was changed by another client"));
            }
            swap(other, &step.goal.before, &kept_annotations(current, revision))
        }
    };
    Some(OwnerPhase::Write(OwnerStep::KeepHistory, write))
}

/// Whether the ReplicaSet for the outgoing template exists with that content: a create that arrives twice is
/// done once.
enum Kept {
    Yes,
    No,
    Changed,
}

const KEPT_CHANGED: &str = "the ReplicaSet that keeps its outgoing template was changed by another client";

fn kept(step: &Step<'_>, name: &str) -> Kept {
    match step.owned.iter().find(|set| named(set, name)) {
        None => Kept::No,
        Some(set) if same(&template_of(set), &step.goal.before) => Kept::Yes,
        Some(_) => Kept::Changed,
    }
}

/// On the way back: an older ReplicaSet that was to take the outgoing template and has not yet could still get it from
/// a late request of the run before, and, being the older one, then all the pods. A copy of the lock changes the
/// ReplicaSet, so that the resourceVersion that the request tests is outdated; the copy is removed with the others.
fn other_is_taken_over(step: &Step<'_>, lock: &RolloutLock) -> Option<OwnerPhase> {
    let HistoryStep::Swap { uid, .. } = &lock.history else { return None };
    let is_due = step.goal.take_over.is_some() && lock.direction == Direction::Back;
    let other = step.owned.iter().find(|set| is_due && is(set, uid) && same(&template_of(set), &step.goal.after))?;
    if matches!(RolloutLock::of(other), Ok(Some(copy)) if copy.is_same_run(lock)) {
        return None;
    }
    let write = Guarded::of(REPLICA_SET, other).annotate(&[(ROLLOUT_ANNOTATION, Some(lock.to_text()))]).write();
    Some(OwnerPhase::Write(OwnerStep::TakeLock, write))
}

fn drop_history(step: &Step<'_>, lock: &RolloutLock) -> Option<(OwnerStep, ObjectWrite)> {
    let made = format!("{}-{}", text(step.object, "/metadata/name"), history_hash(step.goal.id()));
    let made = step.owned.iter().find(|set| named(set, &made)).filter(|set| is_empty(set));
    if let Some(made) = made {
        let object = ObjectKey::of(REPLICA_SET, made);
        return Some((OwnerStep::DropHistory, ObjectWrite::Delete { object, version: version_of(made) }));
    }
    let HistoryStep::Swap { uid, revision, .. } = &lock.history else { return None };
    let other = step.owned.iter().find(|set| is(set, uid)).filter(|set| is_empty(set))?;
    // Where the controller has created another one for the template meanwhile, a second one would be the older and
    // adopt its pods.
    let is_recreated = step.owned.iter().any(|set| {
        let is_of_run = is(set, uid) || lock.outgoing.as_ref().is_some_and(|outgoing| is(set, &outgoing.uid));
        !is_of_run && same(&template_of(set), &step.goal.after)
    });
    let is_swapped = same(&template_of(other), &step.goal.before) && !is_recreated;
    let revision = vec![(DEPLOYMENT_REVISION.to_owned(), revision.to_string())];
    is_swapped.then(|| (OwnerStep::DropHistory, swap(other, &step.goal.after, &revision)))
}

fn swap(set: &Value, template: &Value, annotations: &[(String, String)]) -> ObjectWrite {
    let values: Vec<(&str, Option<String>)> =
        annotations.iter().map(|(key, value)| (key.as_str(), Some(value.clone()))).collect();
    // The change-cause of another template would be a false one.
    let cause = annotations.iter().find(|(key, _)| key == CHANGE_CAUSE);
    let values = values.into_iter().chain(cause.is_none().then_some((CHANGE_CAUSE, None))).collect::<Vec<_>>();
    let patch = replica_set_template(set, template).test("/spec/replicas").test("/status/replicas");
    // Nobody else writes to it meanwhile, and no value in it would show a change.
    let patch = patch.test("/metadata/resourceVersion");
    patch.annotate(&values).write()
}

/// The annotations that `kubectl rollout undo` puts on the Deployment when it goes back to a ReplicaSet (kubectl
/// `polymorphichelpers/rollback.go`): without them the user's would be removed.
fn kept_annotations(current: &Value, revision: i64) -> Vec<(String, String)> {
    let annotations = current.pointer("/metadata/annotations").and_then(Value::as_object);
    let kept = annotations.into_iter().flatten().filter(|(key, _)| !NOT_HISTORY.contains(&key.as_str()));
    let kept = kept.filter(|(key, _)| *key != DEPLOYMENT_REVISION);
    let kept = kept.filter_map(|(key, value)| Some((key.clone(), value.as_str()?.to_owned())));
    kept.chain([(DEPLOYMENT_REVISION.to_owned(), revision.to_string())]).collect()
}

fn create(step: &Step<'_>, current: &Value, name: &str, revision: i64) -> ObjectWrite {
    let hash = history_hash(step.goal.id());
    let hashed = |pointer: &str| {
        let mut labels = current.pointer(pointer).cloned().unwrap_or_else(|| json!({}));
        if let Some(labels) = labels.as_object_mut() {
            labels.insert(POD_TEMPLATE_HASH.into(), hash.as_str().into());
        }
        labels
    };
    let mut selector = current.pointer("/spec/selector").cloned().unwrap_or_else(|| json!({}));
    if let Some(selector) = selector.as_object_mut() {
        selector.insert("matchLabels".into(), hashed("/spec/selector/matchLabels"));
    }
    let annotations: serde_json::Map<String, Value> =
        kept_annotations(current, revision).into_iter().map(|(key, value)| (key, value.into())).collect();
    let object = json!({
        "apiVersion": REPLICA_SETS.spec().api_version(), "kind": REPLICA_SETS.spec().kind,
        "metadata": {
            "name": name,
            "namespace": current.pointer("/metadata/namespace"),
            "labels": hashed("/metadata/labels"),
            "annotations": annotations,
            "ownerReferences": current.pointer("/metadata/ownerReferences"),
        },
        "spec": {
            "replicas": 0,
            "minReadySeconds": integer(current, "/spec/minReadySeconds"),
            "selector": selector,
            "template": with_hash(&step.goal.before, &hash),
        },
    });
    let namespace = text(step.object, "/metadata/namespace").to_owned();
    ObjectWrite::Create { kind: REPLICA_SET, namespace, object }
}

/// After the pause: the pods, and the end once they are done and none is missing.
fn pods(step: &Step<'_>, current: &Value) -> OwnerPhase {
    if !step.pods.done {
        return OwnerPhase::PodsReleased { revision: None };
    }
    let seen = metadata::is_observed(current);
    // After scaling to zero and up again under a pause, pods may be in another ReplicaSet.
    let counted: i64 = step.owned.iter().map(|set| integer(set, "/status/replicas")).sum();
    let listed = usize::try_from(counted) == Ok(step.pods.present);
    if !(seen && listed) {
        return OwnerPhase::WaitFor(Fence::PodsListed);
    }
    step.close()
}

/// Somebody else set another template, or lifted the pause too early. Theirs stays; our changes are removed.
///
/// The ReplicaSet's template is restored if ours never ran. If the Deployment has the old template, that is all, and
/// the pause is lifted with it; another template stays under our pause, since only the user can say whether it may roll
/// out.
fn changed_by_another(step: &Step<'_>, lock: &RolloutLock, current: &Value, why: &str) -> OwnerPhase {
    let cleanup = |step, write| superseded_by(why, Cleanup::Write(step, Box::new(write)));
    // On the way back, too: the leftovers must not say that the pods were created with it.
    let never_ran = !lock.released;
    let ours_is_held = is_paused(step.object) && !lock.released;
    if never_ran {
        if ours_is_held && same(&template_of(current), &step.goal.after) {
            let patch = replica_set_template(current, &step.goal.before);
            let write = patch.annotate(&[(CHANGE_CAUSE, lock.cause.clone())]).write();
            return cleanup(OwnerStep::SetReplicaSetTemplate, write);
        }
        if same(&template_of(current), &step.goal.before)
            && let Some((step, write)) = drop_history(step, lock)
        {
            return cleanup(step, write);
        }
    }
    let harmless = same(step.template(), &step.goal.before) && same(&template_of(current), &step.goal.before);
    if ours_is_held && harmless && !(step.is_observed() && is_adopted(step, lock, current)) {
        return superseded_by(why, Cleanup::WaitFor(Fence::ReplicaSetAdopted));
    }
    let mut patch = step.closing(EndResult::Superseded).test("/spec/template");
    if ours_is_held && (harmless || starts_nothing(step)) {
        patch = patch.set("/spec/paused", None);
    }
    cleanup(OwnerStep::Close, patch.write())
}

/// Every ReplicaSet that has pods, or is to have some, has the template: without the pause the controller replaces none.
fn starts_nothing(step: &Step<'_>) -> bool {
    let has_pods = |set: &&Value| integer(set, "/spec/replicas") > 0 || integer(set, "/status/replicas") > 0;
    step.is_observed() && step.owned.iter().filter(has_pods).all(|set| same(&template_of(set), step.template()))
}

fn close_superseded(step: &Step<'_>, why: &str) -> OwnerPhase {
    let mut patch = step.closing(EndResult::Superseded);
    let is_ours = RolloutLock::of(step.object).is_ok_and(|lock| lock.is_some_and(|lock| !lock.released));
    if is_paused(step.object) && is_ours && starts_nothing(step) {
        patch = patch.test("/spec/template").set("/spec/paused", None);
    }
    superseded_by(why, Cleanup::Write(OwnerStep::Close, Box::new(patch.write())))
}

fn superseded_by(why: &str, cleanup: Cleanup) -> OwnerPhase {
    OwnerPhase::Superseded { why: why.into(), cleanup }
}

fn named(set: &Value, name: &str) -> bool {
    text(set, "/metadata/name") == name
}
