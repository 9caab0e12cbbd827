//! The lock: the annotation on the owner that holds its rollout, and says which run carries that out.
//!
//! It is kept small: a Deployment's controller copies annotations to ReplicaSets.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::lease::Lease;
use super::rollout::Rollout;
use crate::value::words;

pub use crate::k8s::metadata::ROLLOUT_ANNOTATION;

/// What `kubectl rollout history` shows beside a revision.
pub const CHANGE_CAUSE: &str = "kubernetes.io/change-cause";

/// The same key as JSON pointers have it.
pub const CAUSE_POINTER: &str = "/metadata/annotations/kubernetes.io~1change-cause";

/// The same key as JSON pointers have it.
pub const ROLLOUT_POINTER: &str = "/metadata/annotations/kubectl-inplace.io~1rollout";

words! {
    /// Whether a run is active.
    #[derive(Serialize, Deserialize)]
    #[serde(rename_all = "camelCase")]
    LockState {
        /// A run is active, or was killed.
        Running = "running",
        /// It ended before it was complete.
        Stopped = "stopped",
        /// It stopped at its canary or pause.
        Paused = "paused",
    }
}

impl LockState {
    /// Returns the words for it, where it is known whether its run may be active.
    pub fn words(self, may_be_active: bool) -> &'static str {
        match self {
            Self::Running if !may_be_active => "interrupted",
            Self::Running | Self::Stopped | Self::Paused => self.word(),
        }
    }
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Lock {
    #[serde(flatten)]
    pub rollout: Rollout,
    /// Which run of it holds the lock: another one that goes on with it writes its own.
    pub run: String,
    /// Who holds it now: not always who began it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lease: Option<Lease>,
    pub version: String,
    pub state: LockState,
    /// The pause of a Deployment was lifted again: a pause that is found now is somebody else's.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub released: bool,
    /// Requests of this run, or of one before that it took over from, may still arrive.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub late: bool,
}

impl Lock {
    /// Reads the lock of an owner: `None` when there is none, the text as the error when this program cannot read it, since
    /// another version wrote it or somebody edited it.
    pub fn of(object: &Value) -> Result<Option<Self>, String> {
        match Self::text_of(object) {
            None => Ok(None),
            Some(text) => Self::read(text).map(Some).ok_or_else(|| text.to_owned()),
        }
    }

    pub fn read(text: &str) -> Option<Self> {
        let mut lock: Self = serde_json::from_str(text).ok()?;
        lock.rollout.policy = lock.rollout.policy.bounded();
        Some(lock)
    }

    /// Returns the annotation, exactly as stored.
    pub fn text_of(object: &Value) -> Option<&str> {
        object.pointer(ROLLOUT_POINTER).and_then(Value::as_str)
    }

    pub fn held_by(&self) -> &str {
        self.lease.as_ref().map_or(&self.rollout.who, |lease| &lease.who)
    }

    /// Returns whether requests of its run may still arrive, whatever is done: the run is active, was killed, or ended
    /// before every answer was in.
    pub fn may_be_late(&self) -> bool {
        self.state == LockState::Running || self.late
    }

    /// Returns whether another lock is this one, in whatever state.
    pub fn is_same_run(&self, other: &Self) -> bool {
        self.run == other.run
            && self.rollout.id == other.rollout.id
            && self.rollout.direction == other.rollout.direction
    }

    /// Returns the process that holds it, as the objects that it creates note it.
    pub fn process_text(&self) -> Option<String> {
        serde_json::to_string(&self.lease.as_ref()?.process).ok()
    }

    /// Writes the annotation's value. The same lock always gives the same text.
    pub fn to_text(&self) -> String {
        serde_json::to_string(self).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::{Value, json};

    use super::*;
    use crate::change::{Change, Direction, TemplateImage};
    use crate::kinds::WorkloadKind;
    use crate::plan::Start;
    use crate::rollout::{Goal, Observation, Observed, RunState, turn};
    use crate::state::durable::rollout::{HistoryStep, RevisionRef};
    use crate::state::durable::{OwnerChange, OwnerView};
    use crate::state::hook::HookPhase;
    use crate::state::outcome::EndResult;
    use crate::state::policy::Policy;

    fn number() -> impl Strategy<Value = Value> {
        prop_oneof![
            // So that a lock with ten of them is still readable in some cases.
            20 => any::<u32>().prop_map(Value::from),
            1 => any::<u64>().prop_map(Value::from),
            1 => any::<i64>().prop_map(Value::from),
            4 => prop::sample::select(vec![0, 1, u64::from(u32::MAX), u64::MAX]).prop_map(Value::from),
            1 => prop::sample::select(vec![i64::MIN, -1, i64::MAX]).prop_map(Value::from),
        ]
    }

    /// A lock in which every number is another one.
    fn text(numbers: &[Value]) -> String {
        let at = |index: usize| numbers.get(index).cloned().unwrap_or_default();
        json!({"id": "20260301-100000-abcd", "run": "r", "who": "jane", "since": "2026-03-01T10:00:00Z", "version": "0",
            "state": "running", "direction": "forward",
            "change": {"images": {"side": {"from": "side:1", "to": "side:2"}}},
            "lease": {"host": "h", "pid": 7, "since": "2026-03-01T10:00:00Z"},
            "strategy": {"type": "RollingUpdate", "rollingUpdate": {"partition": at(0)}},
            "outgoing": {"name": "w-1", "uid": "rs", "revision": at(1)},
            "history": {"do": "swap", "name": "w-0", "uid": "old", "revision": at(2)},
            "policy": {"maxUnavailable": at(3), "minReadySecondsGiven": at(4), "ownerMinReadySeconds": at(5),
                "timeoutGiven": at(6), "totalTimeout": at(7), "drainSeconds": at(8), "canary": at(9), "ordered": false}})
        .to_string()
    }

    fn template(image: &str) -> Value {
        json!({"metadata": {"labels": {"app": "w"}}, "spec": {"containers": [{"name": "side", "image": image}]}})
    }

    fn goal(kind: WorkloadKind, lock: &Lock) -> Goal {
        let owner: OwnerChange = serde_json::from_value(json!({"uid": "w", "replaces": null,
            "before": template("side:1"), "after": template("side:2"), "keepFieldOwnership": false}))
        .unwrap();
        serde_json::from_value(json!({"lock": lock, "workload": {"kind": kind, "namespace": "n", "name": "w"},
            "controllers": ["rs", "w"], "replicas": 2, "pods": [], "field_manager": "m", "owner": owner,
            "clock": "2026-03-01T10:00:00Z"}))
        .unwrap()
    }

    proptest! {
        /// What was planned is what any later run reads, field by field.
        #[test]
        fn a_lock_read_back_is_the_rollout_that_was_planned(
            numbers in prop::collection::vec(any::<u32>(), 4),
            words in prop::collection::vec("[a-z0-9:.\"\\\\/ -]{0,12}", 8),
            flags in prop::collection::vec(any::<bool>(), 6),
        ) {
            let word = |at: usize| words[at].clone();
            let given = |at: usize| flags[at].then(|| words[at].clone());
            let side = |text: Option<String>| text.map(|text| ("side".into(), text)).into_iter().collect();
            let image = TemplateImage { from: word(0), to: word(1), to_in_pods: given(2), ..TemplateImage::default() };
            let kept = RevisionRef { name: word(3), uid: word(4).as_str().into(), revision: numbers[0].into() };
            let earlier = Rollout { id: "earlier".into(), since: word(5), ..Rollout::default() };
            let start = Start { run: word(7), who: word(5), clock: word(6), reason: given(0), ..Start::default() };
            let rollout = Rollout {
                id: "20260301-100000-abcd".into(),
                who: start.who.clone(),
                since: start.clock.clone(),
                reason: start.reason.clone(),
                direction: if flags[3] { Direction::Forward } else { Direction::Back },
                change: Change { images: [("side".into(), image)].into(), ..Change::default() },
                digests: side(given(1)),
                origin: side(given(2)),
                cause: given(3),
                strategy: given(4).map(|kind| json!({"type": kind})),
                outgoing: flags[5].then(|| kept.clone()),
                history: match (flags[1], flags[2]) {
                    (true, true) => HistoryStep::Create,
                    (true, false) => HistoryStep::Swap(kept),
                    (false, true) => HistoryStep::Forget,
                    (false, false) => HistoryStep::ByController,
                },
                reuses: given(5),
                only: given(0).into_iter().collect(),
                hooks: flags[4].then_some(HookPhase::Before).into_iter().collect(),
                policy: Policy {
                    max_unavailable: numbers[2].max(1),
                    canary: flags[1].then_some(numbers[3]),
                    ..Policy::default()
                },
                replaced: flags[2].then(|| earlier.entry(EndResult::Superseded, &words[6], &words[7])).into_iter().collect(),
            };
            let lock = start.lock(rollout.clone());
            prop_assert_eq!(&lock.rollout, &rollout);
            let object = json!({"metadata": {"annotations": {ROLLOUT_ANNOTATION: lock.to_text()}}});
            prop_assert_eq!(Lock::of(&object), Ok(Some(lock)));
        }

        /// Anybody may have edited it: no number makes the program crash, whatever step the owner is at.
        #[test]
        fn no_number_is_too_much(numbers in prop::collection::vec(number(), 10), generation in any::<i64>()) {
            for kind in [WorkloadKind::Deployment, WorkloadKind::StatefulSet, WorkloadKind::DaemonSet] {
                let text = text(&numbers);
                let object = json!({"metadata": {"uid": "w", "name": "w", "namespace": "n", "generation": generation,
                    "annotations": {ROLLOUT_ANNOTATION: text, "deployment.kubernetes.io/revision": generation.to_string()}},
                    "spec": {"template": template("side:2"), "replicas": 2, "ordinals": {"start": generation}}});
                let Ok(Some(lock)) = Lock::of(&object) else { continue };
                let goal = goal(kind, &lock);
                let view = OwnerView { object: Some(object), now: Some("2026-03-01T10:00:20Z".into()), ..OwnerView::default() };
                let mut state = RunState::new();
                let mut observed = Observed::default();
                observed.observe(Observation::Relisted(Vec::new()));
                observed.observe(Observation::Owner(Box::new(view)));
                for seconds in [0, 1, 3600] {
                    let turn = turn(&goal, &observed, &mut state, std::time::Duration::from_secs(seconds));
                    for (id, _) in turn.actions {
                        state.answer(id, crate::rollout::Answer::Read, std::time::Duration::from_secs(seconds));
                    }
                }
            }
        }
    }
}
