//! Deployment: the template changes under a pause, the current ReplicaSet takes it and keeps its name and pods, and the
//! outgoing template stays in the history in another ReplicaSet (kube-controller-manager `pkg/controller/deployment`).

use serde_json::{Value, json};

use super::history::{self, HISTORY_POINTER};
use super::lock::{CHANGE_CAUSE, Lock, ROLLOUT_ANNOTATION};
use super::objects::{Guarded, ObjectKind, ObjectWrite, StepName};
use super::owner::{Owner, has_own_lock, is_observed, is_template_set};
use super::rollout::{HistoryStep, RevisionRef};
use super::step::{
    CLOSE, OBSERVED, PODS_LISTED, REMOVE_REMAINS, TAKE_LOCK, TAKE_PODS, Table, each, update_pods, wait, write,
};
use super::{CHANGED_MEANWHILE, integer, is, text};
use crate::change::{Direction, same};
use crate::k8s::metadata;
use crate::k8s::names::RolloutId;
use crate::kinds::is_paused;
use crate::kinds::{self, DEPLOYMENT_REVISION, POD_TEMPLATE_HASH, REPLICA_SETS, Revisions};
use crate::state::outcome::EndResult;
use crate::value::fnv1a;

const REPLICA_SET: ObjectKind = ObjectKind::Workload(REPLICA_SETS);

pub(super) const DEPLOYMENT: Table<'static> = Table {
    steps: &[
        write(StepName::SetTemplate, is_template_set, pause_with_template),
        TAKE_LOCK,
        TAKE_PODS,
        OBSERVED,
        each(StepName::TakeLock, lock_of_older_set),
        write(StepName::KeepHistory, is_outgoing_kept, keep_outgoing),
        each(
            StepName::DropHistory,
            |owner| if owner.is_back() && is_held_back(owner) { drop_kept(owner) } else { None },
        ),
        write(StepName::SetReplicaSetTemplate, has_set_target, set_target_of_set),
        wait(ADOPTED, |owner| !is_held_back(owner) || is_adopted(owner)),
        write(StepName::Unpause, |owner| !is_held_back(owner), unpause),
        update_pods(|_| None),
        wait(PODS_LISTED, are_pods_listed),
        CLOSE,
        REMOVE_REMAINS,
        wait("the controller to copy the history to the ReplicaSet", is_history_copied),
        each(StepName::RemoveCopy, remove_copy),
        each(StepName::DropHistory, drop_leftover),
    ],
    conflict,
    cleanup: &[
        each(StepName::SetReplicaSetTemplate, give_template_back),
        each(StepName::DropHistory, |owner| if never_ran(owner) { drop_kept(owner) } else { None }),
        wait(ADOPTED, |owner| !is_put_back(owner) || is_observed(owner) && is_adopted(owner)),
        write(StepName::Close, |_| false, close_superseded),
    ],
};

const ADOPTED: &str = "the controller to take the ReplicaSet for the current one";

/// Annotations of a ReplicaSet that say how it is scaled, or that are the rollout's own.
const NOT_HISTORY: [&str; 3] =
    [ROLLOUT_ANNOTATION, "deployment.kubernetes.io/desired-replicas", "deployment.kubernetes.io/max-replicas"];

/// Returns a value of the label `pod-template-hash` that no controller computes, the same for the same rollout.
pub fn history_hash(id: &RolloutId) -> String {
    // The letters are those that the controllers use (apimachinery `rand.SafeEncodeString`).
    let hash = fnv1a(id.as_str());
    let letters = b"bcdfghjklmnpqrstvwxz2456789";
    let letter = |at: u32| letters.iter().cycle().nth(usize::try_from((hash >> (at * 6)) & 63).unwrap_or(0));
    (0..10).filter_map(letter).map(|letter| char::from(*letter)).collect()
}

/// Returns a ReplicaSet's template without the label that its Deployment's controller adds.
pub fn template_of(set: &Value) -> Value {
    let mut template = set.pointer("/spec/template").cloned().unwrap_or(Value::Null);
    if let Some(labels) = template.pointer_mut("/metadata/labels").and_then(Value::as_object_mut) {
        labels.shift_remove(POD_TEMPLATE_HASH);
    }
    template
}

/// Returns the number of a revision as a Deployment or its ReplicaSet carries it.
pub fn revision_of(object: &Value) -> i64 {
    kinds::deployment_revision(object).unwrap_or(0)
}

/// Returns whether a ReplicaSet has no pods and is to have none.
pub fn is_empty(set: &Value) -> bool {
    integer(set, "/spec/replicas") == 0 && integer(set, "/status/replicas") == 0
}

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

/// The pause is the rollout's. One that is found after [`StepName::Unpause`] is somebody else's.
fn is_held_back(owner: &Owner<'_>) -> bool {
    is_paused(owner.object) && !is_released(owner)
}

fn is_released(owner: &Owner<'_>) -> bool {
    owner.lock().is_some_and(|lock| lock.released)
}

/// The ReplicaSet that has the pods; Null where it is gone, which is a conflict.
///
/// On the way back: after scaling to zero and up again under our pause, the controller may have created the pods in
/// another ReplicaSet that holds the old template. Then that is the current one.
fn current<'a>(owner: &Owner<'a>) -> &'a Value {
    let outgoing = owner.lock().and_then(|lock| lock.rollout.outgoing.as_ref());
    let Some(current) = outgoing.and_then(|outgoing| outgoing.find(owner.owned)) else {
        return &Value::Null;
    };
    let has_its_pods = |set: &&Value| !is_empty(set) && same(&template_of(set), owner.target());
    let is_emptied = owner.is_back() && is_empty(current);
    if is_emptied { owner.owned.iter().find(has_its_pods).unwrap_or(current) } else { current }
}

fn has_set_target(owner: &Owner<'_>) -> bool {
    same(&template_of(current(owner)), owner.target())
}

/// Why the rollout cannot go on: asked before every write.
fn conflict(owner: &Owner<'_>) -> Option<&'static str> {
    let set = current(owner);
    if !has_own_lock(owner) {
        return abort_conflict(owner, set);
    }
    if set.is_null() {
        return Some(SET_IS_GONE);
    }
    if !owner.has_target() {
        return Some(if is_paused(owner.object) { CHANGED_MEANWHILE } else { REPLACES });
    }
    if !is_observed(owner) {
        return None;
    }
    if !is_held_back(owner) {
        let why = match owner.ours.rollout.direction {
            _ if is_released(owner) => REPLACES,
            Direction::Forward => UNPAUSED,
            Direction::Back => SET_BACK_OR_UNPAUSED,
        };
        return (!has_set_target(owner)).then_some(why);
    }
    if let Some(why) = history_changed(owner) {
        return Some(why);
    }
    if has_set_target(owner) {
        return (is_adopted(owner) && !starts_nothing(owner)).then_some(OTHERS_HAVE_PODS);
    }
    let found = template_of(set);
    // On the way back from a rollout that took another one's place it may still have that one's template.
    let lefts = owner.ours.rollout.left_by_the_others(owner.target());
    let is_known = owner.is_back() && lefts.iter().any(|(_, left)| same(&found, left));
    (!is_known && !same(&found, owner.source())).then_some(SET_CHANGED)
}

/// On the way back from a rollout whose pause somebody has lifted too early: the controller has replaced pods, and
/// going back would let it replace them once more. The same where the lock came with a copy of another Deployment: its
/// pods are in a ReplicaSet that the rollout does not know.
fn abort_conflict(owner: &Owner<'_>, set: &Value) -> Option<&'static str> {
    let found = owner.lock().filter(|_| owner.changes_direction())?;
    if set.is_null() {
        return belongs_to_another(owner.owned, found, owner.target()).then_some(SET_IS_GONE);
    }
    let is_forward = found.rollout.direction == Direction::Forward;
    (is_forward && was_unpaused_early(owner.object, found, set, &owner.change.after)).then_some(UNPAUSED)
}

/// Somebody has changed the ReplicaSet that keeps the outgoing template, or is to keep it.
fn history_changed(owner: &Owner<'_>) -> Option<&'static str> {
    if is_outgoing_kept(owner) {
        return None;
    }
    match older_set(owner) {
        Some(older) if is_empty(older) && same(&template_of(older), &owner.change.after) => None,
        Some(_) => Some(OLDER_CHANGED),
        None => made_set(owner).map(|_| KEPT_CHANGED),
    }
}

/// Whether the rollout belongs to none of these ReplicaSets, and going back to a template would replace their pods.
pub fn belongs_to_another(owned: &[Value], lock: &Lock, before: &Value) -> bool {
    let is_known = lock.rollout.outgoing.as_ref().is_some_and(|outgoing| outgoing.find(owned).is_some());
    let has_pods = |set: &Value| !is_empty(set) && !same(&template_of(set), before);
    !is_known && owned.iter().any(has_pods)
}

/// Whether somebody has lifted the pause of a rollout, on its way forward, before the ReplicaSet had the new template.
pub fn was_unpaused_early(owner: &Value, lock: &Lock, outgoing: &Value, after: &Value) -> bool {
    !lock.released && !is_paused(owner) && !same(&template_of(outgoing), after)
}

/// The controller acts on the other client's template.
const REPLACES: &str = "its template was changed by another client, and its controller replaces its pods";

/// Without the pause the controller would also replace pods of another ReplicaSet.
const OTHERS_HAVE_PODS: &str =
    "another ReplicaSet of its has pods, which its controller would replace as soon as it is not paused any more";

/// Before the ReplicaSet has the new template the controller creates another one, and pods of it.
const UNPAUSED: &str =
    "it was resumed by another client before its pods were updated, so that its controller replaces them";

/// On the way back it cannot be told which of the two happened.
const SET_BACK_OR_UNPAUSED: &str =
    "another client has set its template back, or resumed it, so that its controller replaces its pods";

const SET_IS_GONE: &str = "its ReplicaSet is gone";

const SET_CHANGED: &str = "the template of its ReplicaSet was changed by another client";

const OLDER_CHANGED: &str = "an older ReplicaSet of its was changed by another client";

const KEPT_CHANGED: &str = "the ReplicaSet that keeps its outgoing template was changed by another client";

/// Whether the controller takes the present ReplicaSet for the current one.
///
/// It copies the Deployment's annotations to the ReplicaSet whose template it finds to match (`getNewReplicaSet`), by
/// an update of the resourceVersion that its cache holds. Our patch of the template removes the lock's copy, so one that
/// is there again shows that the controller has seen both objects as they are.
fn is_adopted(owner: &Owner<'_>) -> bool {
    let set = current(owner);
    let copied = matches!((Lock::of(set), owner.lock()), (Ok(Some(copy)), Some(lock)) if copy.is_same_run(lock));
    copied && revision_of(owner.object) == revision_of(set)
}

/// Every ReplicaSet that has pods, or is to have some, has the template: without the pause the controller replaces none.
fn starts_nothing(owner: &Owner<'_>) -> bool {
    let mut with_pods = owner.owned.iter().filter(|set| !is_empty(set)).peekable();
    let is_new = |set: &Value| is_observed(owner) && same(&template_of(set), owner.template());
    with_pods.peek().is_none() || with_pods.all(is_new)
}

/// The controller has nothing more to do for the pods that were seen.
fn are_pods_listed(owner: &Owner<'_>) -> bool {
    // After scaling to zero and up again under a pause, pods may be in another ReplicaSet.
    let counted: i64 = owner.owned.iter().map(|set| integer(set, "/status/replicas")).sum();
    metadata::is_observed(current(owner)) && usize::try_from(counted) == Ok(owner.pods.present)
}

fn pause_with_template(owner: &Owner<'_>) -> ObjectWrite {
    owner.set_template().set("/spec/paused", Some(Value::Bool(true))).write()
}

fn unpause(owner: &Owner<'_>) -> ObjectWrite {
    let released = owner.lock().map(|lock| Lock { released: true, ..lock.clone() }.to_text());
    let patch = owner.patch().test("/spec/template").set("/spec/paused", None);
    patch.annotate(&[(ROLLOUT_ANNOTATION, released)]).write()
}

fn set_target_of_set(owner: &Owner<'_>) -> ObjectWrite {
    let patch = set_template(current(owner), owner.target());
    patch.annotate(&[(CHANGE_CAUSE, owner.ours.rollout.cause())]).write()
}

fn set_template<'a>(set: &'a Value, template: &Value) -> Guarded<'a> {
    let patch = Guarded::of(REPLICA_SET, set).set("/spec/template", Some(with_hash(template, hash_of(set))));
    // A late request finds a copy of the lock that followed, or of the history in which its rollout has ended.
    let patch = patch.test(HISTORY_POINTER);
    patch.annotate(&[(ROLLOUT_ANNOTATION, None)])
}

/// The older ReplicaSet without pods that has the new template when the rollout begins, and takes the outgoing one.
fn older_set<'a>(owner: &Owner<'a>) -> Option<&'a Value> {
    let HistoryStep::Swap(older) = &owner.lock()?.rollout.history else { return None };
    older.find(owner.owned)
}

/// The ReplicaSet that was created for the outgoing template, by the name that derives from the rollout's id: a create
/// that arrives twice is done once.
fn made_set<'a>(owner: &Owner<'a>) -> Option<&'a Value> {
    let name = made_name(owner);
    owner.owned.iter().find(|set| text(set, "/metadata/name") == name)
}

fn made_name(owner: &Owner<'_>) -> String {
    format!("{}-{}", text(owner.object, "/metadata/name"), history_hash(&owner.ours.rollout.id))
}

fn is_outgoing_kept(owner: &Owner<'_>) -> bool {
    let is_left_out =
        owner.lock().is_none_or(|lock| matches!(lock.rollout.history, HistoryStep::Forget | HistoryStep::ByController));
    let keeps = |set: &Value| same(&template_of(set), &owner.change.before);
    // An older one may have been deleted meanwhile: another one is created.
    let is_kept = || older_set(owner).or_else(|| made_set(owner)).is_some_and(keeps);
    owner.is_back() || !is_held_back(owner) || is_left_out || is_kept()
}

fn keep_outgoing(owner: &Owner<'_>) -> ObjectWrite {
    let outgoing = owner.lock().and_then(|lock| lock.rollout.outgoing.as_ref());
    let revision = outgoing.map_or(0, |outgoing| outgoing.revision);
    match older_set(owner) {
        Some(older) => swap(older, &owner.change.before, &kept_annotations(current(owner), revision)),
        None => create(owner, current(owner), revision),
    }
}

/// On the way back: an older ReplicaSet that was to take the outgoing template and has not yet could still get it from
/// a late request of the run before, and, being the older one, then all the pods. A copy of the lock changes the
/// ReplicaSet, so that the resourceVersion that the request tests is outdated; the copy is removed with the others.
fn lock_of_older_set(owner: &Owner<'_>) -> Option<ObjectWrite> {
    let lock = owner.lock().filter(|_| is_held_back(owner) && owner.is_back() && owner.change.take_over.is_some())?;
    let older = older_set(owner).filter(|set| same(&template_of(set), &owner.change.after))?;
    if matches!(Lock::of(older), Ok(Some(copy)) if copy.is_same_run(lock)) {
        return None;
    }
    Some(Guarded::of(REPLICA_SET, older).annotate(&[(ROLLOUT_ANNOTATION, Some(lock.to_text()))]).write())
}

/// The outgoing template is in the ReplicaSet that has the pods: it is kept in no other.
fn drop_kept(owner: &Owner<'_>) -> Option<ObjectWrite> {
    if let Some(made) = made_set(owner).filter(|set| is_empty(set)) {
        return Some(ObjectWrite::delete(REPLICA_SET, made));
    }
    let lock = owner.lock()?;
    let HistoryStep::Swap(RevisionRef { revision, .. }) = &lock.rollout.history else { return None };
    let older = older_set(owner).filter(|set| is_empty(set) && same(&template_of(set), &owner.change.before))?;
    // Where the controller has created another one for the template meanwhile, a second one would be the older and
    // adopt its pods.
    let is_recreated = owner.owned.iter().any(|set| {
        let is_outgoing = lock.rollout.outgoing.as_ref().is_some_and(|outgoing| is(set, &outgoing.uid));
        !std::ptr::eq(set, older) && !is_outgoing && same(&template_of(set), &owner.change.after)
    });
    let revision = vec![(DEPLOYMENT_REVISION.to_owned(), revision.to_string())];
    (!is_recreated).then(|| swap(older, &owner.change.after, &revision))
}

fn swap(set: &Value, template: &Value, annotations: &[(String, String)]) -> ObjectWrite {
    let values: Vec<(&str, Option<String>)> =
        annotations.iter().map(|(key, value)| (key.as_str(), Some(value.clone()))).collect();
    // The change-cause of another template would be a false one.
    let cause = annotations.iter().find(|(key, _)| key == CHANGE_CAUSE);
    let values = values.into_iter().chain(cause.is_none().then_some((CHANGE_CAUSE, None))).collect::<Vec<_>>();
    let patch = set_template(set, template).test("/spec/replicas").test("/status/replicas");
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

fn create(owner: &Owner<'_>, current: &Value, revision: i64) -> ObjectWrite {
    let hash = history_hash(&owner.ours.rollout.id);
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
            "name": made_name(owner),
            "namespace": current.pointer("/metadata/namespace"),
            "labels": hashed("/metadata/labels"),
            "annotations": annotations,
            "ownerReferences": current.pointer("/metadata/ownerReferences"),
        },
        "spec": {
            "replicas": 0,
            "minReadySeconds": integer(current, "/spec/minReadySeconds"),
            "selector": selector,
            "template": with_hash(&owner.change.before, &hash),
        },
    });
    let namespace = text(owner.object, "/metadata/namespace").to_owned();
    ObjectWrite::Create { kind: REPLICA_SET, namespace, object }
}

/// The ReplicaSet has our template, and none of its pods was created with that.
///
/// On the way back, too: the leftovers must not say that the pods were created with it.
fn give_template_back(owner: &Owner<'_>) -> Option<ObjectWrite> {
    let set = current(owner);
    let lock = owner.lock().filter(|_| is_held_back(owner) && !owner.has_target())?;
    let is_ours = same(&template_of(set), &owner.change.after);
    is_ours.then(|| {
        set_template(set, &owner.change.before).annotate(&[(CHANGE_CAUSE, lock.rollout.cause.clone())]).write()
    })
}

/// The ReplicaSet still has the outgoing template, or has it again, and the Deployment has another one, or no pause.
fn never_ran(owner: &Owner<'_>) -> bool {
    let has_ours = is_held_back(owner) && owner.has_target();
    !is_released(owner) && !has_ours && same(&template_of(current(owner)), &owner.change.before)
}

/// Somebody has put the outgoing template back under our pause: the controller has to see it in both objects before it
/// is let go.
fn is_put_back(owner: &Owner<'_>) -> bool {
    is_held_back(owner) && never_ran(owner) && same(owner.template(), &owner.change.before)
}

/// The pause goes where the controller then replaces no pod. Over somebody else's template it stays: only the user can
/// say whether pods are to be replaced.
fn close_superseded(owner: &Owner<'_>) -> ObjectWrite {
    let patch = owner.closing(EndResult::Superseded, None).test("/spec/template");
    let patch = if is_held_back(owner) && starts_nothing(owner) { patch.set("/spec/paused", None) } else { patch };
    patch.write()
}

/// While somebody else's template is paused no ReplicaSet matches it, and no history is ever copied. An annotation
/// raises a Deployment's generation: before the controller has seen it, a copy may still be made where there is none yet.
fn is_history_copied(owner: &Owner<'_>) -> bool {
    let knows = |set: &Value| history::of(set).iter().any(|entry| entry.rollout.id == owner.ours.rollout.id);
    is_observed(owner) || owner.owned.iter().any(knows)
}

fn remove_copy(owner: &Owner<'_>) -> Option<ObjectWrite> {
    let is_ours = |set: &&Value| matches!(Lock::of(set), Ok(Some(lock)) if lock.rollout.id == owner.ours.rollout.id);
    let copy = owner.owned.iter().find(is_ours)?;
    Some(Guarded::of(REPLICA_SET, copy).annotate(&[(ROLLOUT_ANNOTATION, None)]).write())
}

fn drop_leftover(owner: &Owner<'_>) -> Option<ObjectWrite> {
    delete_leftover(owner.object, owner.owned, owner.entry.is_none().then_some(&owner.ours.rollout.id))
}

/// Returns the delete of a ReplicaSet that a rollout created for the outgoing template and that was taken back since: a
/// late create. It is identified by the name derived from the rollout's id, has no pods, and keeps a template that an
/// older one of the same owner has.
///
/// `gone` is a rollout that is recorded nowhere, and whose lock is gone.
pub fn delete_leftover(owner: &Value, owned: &[Value], gone: Option<&RolloutId>) -> Option<ObjectWrite> {
    let ended = history::union(owner, owned).into_iter();
    let reverted = ended.filter(|entry| matches!(entry.outcome, EndResult::Aborted | EndResult::Superseded));
    let hashes: Vec<String> =
        reverted.map(|entry| history_hash(&entry.rollout.id)).chain(gone.map(history_hash)).collect();
    let is_of_reverted = |set: &Value| {
        let (name, hash) = (text(set, "/metadata/name"), hash_of(set));
        hashes.iter().any(|known| known == hash) && name.strip_suffix(hash).is_some_and(|begin| begin.ends_with('-'))
    };
    let is_older_twin = |other: &Value, set: &Value| {
        text(other, "/metadata/uid") != text(set, "/metadata/uid")
            && text(other, "/metadata/creationTimestamp") <= text(set, "/metadata/creationTimestamp")
            && same(&template_of(other), &template_of(set))
    };
    let is_spare = |set: &Value| is_empty(set) && owned.iter().any(|other| is_older_twin(other, set));
    let set = owned.iter().find(|set| is_of_reverted(set) && is_spare(set))?;
    Some(ObjectWrite::delete(REPLICA_SET, set))
}
