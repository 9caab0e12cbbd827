//! Whether an owner is held back, by whom, and its update strategy before that.

use serde_json::{Value, json};

use crate::k8s::metadata::LAST_APPLIED;
use crate::k8s::names::RolloutId;
use crate::kinds::{self, partition_of};
use crate::plan::live::Snapshot;
use crate::state::durable::history::{self, HistoryEntry};
use crate::state::durable::lock::Lock;
use crate::state::manager::is_ours;
use crate::state::outcome::EndResult;
use crate::state::record::UpdateRecord;

/// Returns whether the owner is held back by what this program sets meanwhile, or by the same setting of a user.
pub fn is_held_back(live: &Snapshot) -> bool {
    live.workload.reference.kind.holds_by().is_held(&live.workload.object, || saved_strategy(live))
        || has_raised_partition(live)
}

/// The update strategy without the partition that a rollout left raised.
pub(super) fn strategy_before_raise(live: &Snapshot) -> Option<Value> {
    let before = || locked_strategy(live).or_else(|| left_strategy(live));
    let before = if has_raised_partition(live) { before() } else { None };
    before.or_else(|| live.workload.object.pointer("/spec/updateStrategy").cloned())
}

/// Whether the partition of a StatefulSet is above the one from before a rollout, and not by another client. A run sets it
/// above every pod that there is then, also under a field manager that nothing tells of.
fn has_raised_partition(live: &Snapshot) -> bool {
    let object = &live.workload.object;
    let partition = object.pointer("/spec/updateStrategy").map_or(0, partition_of);
    if partition == 0 || !live.workload.reference.kind.has_partition() || kinds::is_on_delete(object) {
        return false;
    }
    let is_above = |before: Value| partition > partition_of(&before);
    let may_be_a_runs = || partition >= i64::from(live.workload.desired_replicas()) || !is_held_by_another(live);
    locked_strategy(live).filter(|_| may_be_a_runs()).or_else(|| left_strategy(live)).is_some_and(is_above)
}

/// Whether a run of this program is known to have set what holds the owner back: managedFields say who wrote it. Another
/// field manager may be a run's, too, that was given its name.
fn is_held_by_a_run(live: &Snapshot) -> bool {
    holders(live).any(|manager| is_a_runs_name(live, manager))
}

/// The update strategy that is restored in the end.
pub(super) fn strategy(live: &Snapshot) -> Option<Value> {
    let holds_by = live.workload.reference.kind.holds_by();
    let field = holds_by.field().filter(|_| holds_by.restores_the_field())?;
    let saved = if is_held_back(live) { saved_strategy(live) } else { None };
    saved.or_else(|| live.workload.object.pointer(field).cloned())
}

/// The update strategy from before an unfinished rollout, as its lock or a copy of it has it.
fn locked_strategy(live: &Snapshot) -> Option<Value> {
    let lock = Lock::of(&live.workload.object).ok().flatten();
    lock.or_else(|| newest_copy(live, |_, _| true))?.rollout.strategy
}

/// Returns the update strategy from before the rollout that was last superseded, where that has left its own in place.
/// A client that has set one since has taken the field over.
pub(super) fn left_strategy(live: &Snapshot) -> Option<Value> {
    known(live).pop()?.rollout.strategy.filter(|_| !is_held_by_another(live))
}

pub(super) fn last_superseded(live: &Snapshot) -> Option<HistoryEntry> {
    known(live).pop().filter(|entry| entry.outcome == EndResult::Superseded)
}

/// Returns whether an owner is held back by a rollout: the last one, which was superseded, or one that has lost its lock and
/// whose write the server noted. Of an update strategy, the superseded one has noted what was there before.
pub(super) fn is_left_held(live: &Snapshot) -> bool {
    let restores = live.workload.reference.kind.holds_by().restores_the_field();
    let is_left = || if restores { left_strategy(live).is_some() } else { last_superseded(live).is_some() };
    is_held_back(live) && !is_held_by_another(live) && (is_held_by_a_run(live) || is_left())
}

pub(super) fn is_held_by_another(live: &Snapshot) -> bool {
    holders(live).any(|manager| !is_a_runs_name(live, manager))
}

/// Returns the update strategy from before a rollout: the one that it has noted, or that of the last `kubectl apply`
/// with the server's defaults.
pub(super) fn saved_strategy(live: &Snapshot) -> Option<Value> {
    locked_strategy(live).or_else(|| left_strategy(live)).or_else(|| applied_strategy(live))
}

fn applied_strategy(live: &Snapshot) -> Option<Value> {
    let annotations = live.workload.object.pointer("/metadata/annotations")?;
    let applied: Value = serde_json::from_str(annotations.get(LAST_APPLIED)?.as_str()?).ok()?;
    let strategy = applied.pointer("/spec/updateStrategy").cloned().unwrap_or_else(|| json!({}));
    let filled = live.workload.reference.kind.defaults().fill(&json!({"spec": {"updateStrategy": strategy}}));
    filled.pointer("/spec/updateStrategy").filter(|strategy| strategy.is_object()).cloned()
}

fn holders(live: &Snapshot) -> impl Iterator<Item = &str> {
    live.workload.reference.kind.holds_by().set_by(&live.workload.object)
}

fn is_a_runs_name(live: &Snapshot, manager: &str) -> bool {
    is_ours(manager) || live.present_pods().filter_map(UpdateRecord::of).any(|record| record.manager == manager)
}

/// Returns the newest of the copies of locks that are meant, of rollouts that are not known to have ended.
pub(super) fn newest_copy(live: &Snapshot, is_meant: impl Fn(&Value, &Lock) -> bool) -> Option<Lock> {
    let (owned, known) = (&live.surroundings.owned, known(live));
    let may_go_on = |lock: &Lock| !is_stale(live, lock) && !is_older_than_all(&known, &lock.rollout.id);
    let copies = owned
        .iter()
        .filter_map(|object| Lock::of(object).ok()?.filter(|lock| may_go_on(lock) && is_meant(object, lock)));
    copies.max_by(|a, b| a.rollout.id.cmp(&b.rollout.id))
}

/// A lock whose rollout is in the history came back with a ReplicaSet's annotations (`kubectl rollout undo`).
pub(super) fn is_stale(live: &Snapshot, lock: &Lock) -> bool {
    known(live).iter().any(|entry| entry.rollout.id == lock.rollout.id)
}

/// Whether it may be older than every rollout that the history keeps.
pub(super) fn is_older_than_all(known: &[HistoryEntry], id: &RolloutId) -> bool {
    known.len() >= history::KEPT && known.iter().all(|entry| *id < entry.rollout.id)
}

/// The rollouts that are known to have ended.
pub(super) fn known(live: &Snapshot) -> Vec<HistoryEntry> {
    history::union(&live.workload.object, &live.surroundings.owned)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;
    use crate::k8s::workload::Workload;
    use crate::kinds::WorkloadKind;
    use crate::state::durable::rollout::Rollout;

    fn live(kind: WorkloadKind, object: Value) -> Snapshot {
        Snapshot {
            workload: Workload::from_object(kind, object).expect("it has a name"),
            controllers: ["u".into()].into(),
            pods: Vec::new(),
            kubelets: BTreeMap::new(),
            not_read: Vec::new(),
            surroundings: crate::plan::Surroundings::default(),
        }
    }

    /// A strategy that a run has restored leaves the run the owner of the parts that nobody has set since.
    #[test]
    fn who_holds_an_owner_back_is_whose_write_the_server_noted() {
        let held = |kind: WorkloadKind, manager: &str, spec: Value, strategy: &str| {
            let entry = json!({"manager": manager, "operation": "Update", "fieldsV1": {"f:spec": spec}});
            let object = json!({"metadata": {"name": "web", "uid": "u", "managedFields": [entry]},
                "spec": {"updateStrategy": {"type": strategy}}});
            is_held_by_a_run(&live(kind, object))
        };
        let (paused, typed) = (json!({"f:paused": {}}), json!({"f:updateStrategy": {"f:type": {}}}));
        let rest = json!({"f:updateStrategy": {"f:rollingUpdate": {"f:partition": {}}}});
        let (deployment, set) = (WorkloadKind::Deployment, WorkloadKind::StatefulSet);
        for ours in ["inplace-cli", "kubectl-inplace"] {
            assert!(held(deployment, ours, paused.clone(), "") && held(set, ours, typed.clone(), "OnDelete"));
        }
        assert!(!held(deployment, "kubectl-rollout", paused, "") && !held(set, "kubectl-edit", typed, "OnDelete"));
        assert!(!held(set, "inplace-cli", rest.clone(), "OnDelete") && !held(deployment, "inplace-cli", json!({}), ""));
        assert!(
            held(set, "inplace-cli", rest.clone(), "RollingUpdate") && !held(set, "kubectl", rest, "RollingUpdate")
        );
    }

    /// A rollout that another client has ended notes the partition from before; whoever has set one since keeps it.
    #[test]
    fn a_partition_that_a_rollout_left_raised_holds_the_owner_until_another_client_sets_one() {
        for (manager, partition, is_held) in
            [("inplace-cli", 3, true), ("inplace-cli", 1, false), ("kubectl-patch", 3, false)]
        {
            let rolling = |partition: i64| json!({"type": "RollingUpdate", "rollingUpdate": {"partition": partition}});
            let rollout = Rollout { id: "one".into(), strategy: Some(rolling(1)), ..Rollout::default() };
            let mut ended = rollout.entry(EndResult::Superseded, "2026-03-01T10:01:00Z", "joe");
            ended.rollout.strategy = Some(rolling(1));
            let path = json!({"f:spec": {"f:updateStrategy": {"f:rollingUpdate": {"f:partition": {}}}}});
            let object = json!({"metadata": {"name": "web", "uid": "u",
                "managedFields": [{"manager": manager, "operation": "Update", "fieldsV1": path}],
                "annotations": {history::HISTORY_ANNOTATION: history::to_text(&[ended])}},
                "spec": {"replicas": 3, "updateStrategy": rolling(partition)}});
            let live = live(WorkloadKind::StatefulSet, object);
            let restored = if is_held { 1 } else { partition };
            assert_eq!((is_held_back(&live), is_left_held(&live)), (is_held, is_held), "{manager} {partition}");
            assert_eq!(strategy(&live), Some(rolling(restored)), "{manager} {partition}");
            assert_eq!(strategy_before_raise(&live), Some(rolling(restored)), "{manager} {partition}");
        }
    }
}
