//! The owner's side of a rollout: how its template, its revision history and its pods come to agree, without
//! one pod being recreated.
//!
//! Where a rollout stands is read from the objects alone: [`next`] gets what is wanted and what was read, and returns the
//! first step of the kind's table that is not done.

pub mod deployment;
pub mod history;
pub mod lease;
pub mod lock;
mod objects;
mod owner;
pub mod revisions;
pub mod rollout;
pub mod stateful_set;
mod step;

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::change::Direction;
use crate::k8s::names::Uid;
use crate::k8s::workload::Workload;
use crate::kinds::{HoldsBy, Revisions, WorkloadKind};
use crate::state::field_managers::{field_managers, foreign};
use crate::state::manager::is_ours;
use crate::state::outcome::EndResult;
use crate::state::record::FencingToken;
use crate::value::json_path::{integer, text};
use deployment::DEPLOYMENT;
use history::HistoryEntry;
use lease::RENEWED_LABEL;
use lock::{Lock, ROLLOUT_ANNOTATION, ROLLOUT_POINTER};
use objects::Guarded;
use owner::{has_own_lock, is_template_set};
use stateful_set::{DAEMON_SET, STATEFUL_SET};
use step::{CLOSE, OBSERVED, PODS_LISTED, REMOVE_REMAINS, TAKE_LOCK, TAKE_PODS, Table, update_pods, wait, write};

pub use objects::{ObjectKey, ObjectKind, ObjectWrite, StepName};
pub use owner::{OwnLock, Owner, Stored};
pub use step::{Decision, Next};

/// What a run changes of the owner, beside its lock.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct OwnerChange {
    pub uid: Uid,
    /// The annotation's text that this run's lock replaces: that of the run that it goes on from. `None`: there must be
    /// none.
    pub replaces: Option<String>,
    /// There is no lock that can be read, and this run's is derived from other objects: it goes on from whatever step
    /// the objects show, also under a pause.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub adopts: bool,
    /// That lock's run was taken for gone when this was its last sign of life (empty: it had none): if it gives another,
    /// it is active. `None`: this run goes on whatever that run does.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_renewal: Option<String>,
    /// The template before; for a run that goes on, derived from the revision that the lock names.
    pub before: Value,
    pub after: Value,
    /// Stay owner of the changed fields for server-side apply.
    pub keep_field_ownership: bool,
    /// The pods are taken over first: requests of the run that held the owner before may still arrive.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub take_over: Option<FencingToken>,
    /// The runs that had taken pods of this rollout over before this one was planned: their notes on pods do not mean
    /// that somebody takes the pods from this run.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub earlier: BTreeSet<String>,
    /// It goes on from another run of the same command, which may have changed pods.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub continues: bool,
}

impl OwnerChange {
    /// The template that a run into that direction leads to.
    pub fn target(&self, direction: Direction) -> &Value {
        match direction {
            Direction::Forward => &self.after,
            Direction::Back => &self.before,
        }
    }

    /// Whether the run whose lock this one replaces has given a sign of life since it was taken for gone.
    fn has_come_alive(&self, object: &Value) -> bool {
        self.last_renewal.as_ref().is_some_and(|seen| seen != lease::renewal_of(object).unwrap_or_default())
    }

    /// Says who holds the owner in place of the run whose lock is `ours`.
    pub fn taken_over(&self, ours: &Lock, by: &Lock) -> String {
        let who = by.held_by();
        let host = by.lease.as_ref().map(|lease| format!(" from {}", lease.process.host)).unwrap_or_default();
        if by.rollout.id != ours.rollout.id {
            return format!(
                "rollout \"{}\" of {who}{host} has taken its place; no further changes by this run",
                by.rollout.id
            );
        }
        let replaced = self.replaces.as_ref().and_then(|text| Lock::read(text));
        if replaced.is_some_and(|replaced| replaced.run == by.run) {
            let run = format!("the run of {who}{host} that seemed to be gone has given another sign of life");
            return format!("{run}; no further changes by this run");
        }
        let what = match (by.rollout.direction, ours.rollout.direction) {
            (Direction::Back, Direction::Forward) => ", to abort it",
            (Direction::Forward, Direction::Back) => ", to resume it",
            (Direction::Forward, Direction::Forward) | (Direction::Back, Direction::Back) => "",
        };
        format!("rollout \"{}\" was taken over by {who}{host}{what}; no further changes by this run", by.rollout.id)
    }
}

/// The owner and what belongs to it, as last read; read in this order, so that what belongs to it is never older.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct OwnerView {
    /// The owner; `None` when there is none of its name.
    pub object: Option<Value>,
    pub owned: Vec<Value>,
    /// The server's time of the read (RFC 3339), where the answer had it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub now: Option<String>,
}

/// The state of the pods with regard to what is wanted of them.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct PodsState {
    /// Every pod that was seen runs what is wanted, proven, or is left to its kubelet.
    pub done: bool,
    /// The resize of some of them is left to their kubelets.
    pub left: bool,
    /// Some of them were deleted or evicted before they had it.
    pub replaced: bool,
    /// Pods of the owner that exist and are not terminating, as last seen.
    pub present: usize,
    /// Every present pod notes that this run has taken it over, where it has to.
    pub taken_over: bool,
    /// The number of those with each value of the label `controller-revision-hash`; empty for kinds without revisions.
    pub labels: BTreeMap<String, usize>,
}

/// Says what the owner needs next: from the objects, and from what the run knows of its own lock.
pub fn next(owner: &Owner<'_>) -> Decision {
    step::next(owner, table(owner.kind))
}

fn table(kind: WorkloadKind) -> &'static Table<'static> {
    match kind.holds_by() {
        HoldsBy::Paused => &DEPLOYMENT,
        HoldsBy::OnDeleteOrPartition | HoldsBy::StrategyPaused => &STATEFUL_SET,
        HoldsBy::OnDelete => &DAEMON_SET,
        HoldsBy::Nothing => &REPLICA_SET,
    }
}

/// The controller of a ReplicaSet of its own never replaces a pod because the template changed.
const REPLICA_SET: Table<'static> = Table {
    steps: &[
        write(StepName::SetTemplate, is_template_set, |owner| owner.set_template().write()),
        TAKE_LOCK,
        TAKE_PODS,
        OBSERVED,
        update_pods(|_| None),
        wait(PODS_LISTED, |owner| usize::try_from(owner.integer("/status/replicas")) == Ok(owner.pods.present)),
        CLOSE,
        REMOVE_REMAINS,
    ],
    conflict: |owner| (has_own_lock(owner) && !owner.has_target()).then_some(CHANGED_MEANWHILE),
    cleanup: &[write(StepName::Close, |_| false, |owner| owner.closing(EndResult::Superseded, None).write())],
};

const CHANGED_MEANWHILE: &str = "its template was changed by another client";

fn is(object: &Value, uid: &Uid) -> bool {
    object.pointer("/metadata/uid").and_then(Value::as_str) == Some(uid.as_str())
}

/// Returns the lock of another run that holds the owner by now; `None` where there is none. The lock that this run
/// replaces does not count.
pub fn another_run(ours: &Lock, change: &OwnerChange, object: &Value) -> Option<Lock> {
    Lock::text_of(object).filter(|text| Some(*text) != change.replaces.as_deref())?;
    Lock::of(object).ok().flatten().filter(|lock| !lock.is_same_run(ours))
}

/// Returns the writes that end the rollouts which hold a workload without another step of theirs: its lock goes, what
/// holds its controller gets the value in `freed`, the history gets `ended`; then the copies of the lock.
pub fn released(
    kind: WorkloadKind,
    (object, owned): (&Value, &[Value]),
    freed: Option<(&'static str, Option<Value>)>,
    ended: Vec<HistoryEntry>,
) -> Vec<ObjectWrite> {
    let patch = Guarded::of(ObjectKind::Workload(kind), object).test("/spec/template").test(ROLLOUT_POINTER);
    let mut entries = history::union(object, owned);
    entries.retain(|known| ended.iter().all(|entry| entry.rollout.id != known.rollout.id));
    entries.extend(ended);
    let history = (!entries.is_empty()).then(|| history::to_text(&entries));
    let patch = patch.annotate(&[(ROLLOUT_ANNOTATION, None), (history::HISTORY_ANNOTATION, history)]);
    let patch = without_ownership(kind, object, patch.without_label(RENEWED_LABEL));
    let patch = match freed {
        Some((field, value)) => patch.set(field, value),
        None => patch,
    };
    let copies = owned.iter().filter(|copy| Lock::text_of(copy).is_some());
    let copies = kind.owns_through().into_iter().flat_map(|through| {
        let remove =
            move |copy| Guarded::of(ObjectKind::Workload(through), copy).annotate(&[(ROLLOUT_ANNOTATION, None)]);
        copies.clone().map(remove)
    });
    std::iter::once(patch).chain(copies).map(Guarded::write).collect()
}

/// Adds that the server's notes of this program's updates go: the next server-side apply of another image would report a
/// conflict with their field manager.
fn without_ownership<'a>(kind: WorkloadKind, object: &'a Value, patch: Guarded<'a>) -> Guarded<'a> {
    let ours = field_managers(object, kind).filter(|known| is_ours(known.name) && !known.is_apply);
    without_entries(patch, ours.map(|known| known.index), &["manager", "operation"])
}

/// Adds that entries of managedFields go, each tested by these of its fields; from the last one on, so that the places of the
/// others do not change.
fn without_entries<'a>(patch: Guarded<'a>, places: impl Iterator<Item = usize>, tested: &[&str]) -> Guarded<'a> {
    places.collect::<Vec<_>>().into_iter().rev().fold(patch, |patch, index| {
        let pointer = format!("/metadata/managedFields/{index}");
        let tested = tested.iter().map(|field| format!("{pointer}/{field}"));
        tested.fold(patch, |patch, field| patch.test(&field)).remove(&pointer)
    })
}

/// Returns the patch that takes field managers off a workload that stand in the way of its server-side apply; the fields keep
/// their values.
pub fn release_fields(workload: &Workload) -> ObjectWrite {
    let (object, kind) = (&workload.object, workload.reference.kind);
    let places = foreign(object, kind).into_iter().map(|known| known.index);
    without_entries(Guarded::of(ObjectKind::Workload(kind), object), places, &["manager", "operation", "time"]).write()
}

pub fn template_of_revision(kind: WorkloadKind, revision: &Value) -> Value {
    match kind.revisions() {
        Revisions::ReplicaSets => deployment::template_of(revision),
        Revisions::ControllerRevisions(_) | Revisions::None => revisions::template_of(revision),
    }
}

#[cfg(test)]
mod made_up_kind_tests;
#[cfg(test)]
mod simulation;
#[cfg(test)]
mod tests;
