//! The run whose rollout is followed: as long as it is alive and holds the owner, it may still change pods that are
//! all done.

use crate::rollout::observed::TurnContext;
use crate::rollout::pods::Pods;
use crate::rollout::reads::Read;
use crate::rollout::{Action, Answer, Now};
use crate::state::durable::lease::LeaseState;
use crate::state::durable::lease::ProcessState;
use crate::state::durable::lock::Lock;

use super::{Effects, RequestSource};

/// The number of reads in a row that may fail: a run that cannot be read is not waited for for ever.
const MOST_FAILURES: u8 = 3;

#[derive(Debug, Clone, Default)]
pub(crate) struct Followed {
    read: Read,
    waits: bool,
    failures: u8,
}

impl Followed {
    pub(crate) fn answer(&mut self, answer: &Answer, now: Now) {
        let is_read = self.read.answered(answer, now);
        self.failures = if is_read { 0 } else { self.failures.saturating_add(1) };
    }

    /// Reads the owner once every pod is done, and again while it is held.
    pub(crate) fn advance(&mut self, context: TurnContext<'_>, pods: &Pods) -> Effects {
        let waits = held_by(context).is_some() && pods.all_done() && context.stopped_since.is_none();
        if waits && !self.waits {
            self.read.invalidate(context.now);
            self.read.hurry();
        }
        self.waits = waits;
        if !waits || !self.is_held(context) || !self.read.poll(context.now) {
            return Effects::default();
        }
        (RequestSource::Followed, Action::ReadOwner(context.goal.workload.clone())).into()
    }

    /// Returns whether the run that is followed may be active.
    pub(crate) fn is_held(&self, context: TurnContext<'_>) -> bool {
        let Some(followed) = held_by(context).filter(|_| self.failures < MOST_FAILURES) else {
            return false;
        };
        let Some(view) = context.observed.owner.as_ref().filter(|_| !self.read.is_stale()) else { return true };
        let Some(object) = &view.object else { return false };
        let lock = Lock::of(object).ok().flatten().filter(|lock| lock.rollout.id == followed.rollout.id);
        let lease = |lock: Lock| LeaseState::of(&lock, object, view.now.as_deref(), ProcessState::NotKnown);
        lock.is_some_and(|lock| matches!(lease(lock), LeaseState::Alive(_)))
    }

    /// Why the command does not end though every pod is done.
    pub(crate) fn why(&self) -> Option<String> {
        self.waits.then(|| "every pod is done, and the run that holds the workload has not ended".to_owned())
    }

    pub(crate) fn next_visit(&self) -> Option<Now> {
        (self.waits && self.read.asked().is_none()).then(|| self.read.due())
    }
}

fn held_by(context: TurnContext<'_>) -> Option<&Lock> {
    context.goal.follows.as_ref()?.held_by.as_deref()
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::super::Effect;
    use super::*;
    use crate::rollout::goal::{Goal, PodGoal};
    use crate::rollout::{Observation, Observed, RunState, Stop};
    use crate::state::durable::OwnerView;
    use crate::state::durable::lock::ROLLOUT_ANNOTATION;

    const SECOND: Now = Now::from_secs(1);

    fn lock(id: &str, state: &str) -> Value {
        json!({"id": id, "run": "theirs", "who": "joe", "since": "2026-03-01T10:00:00Z", "version": "0.1.0", "state": state,
            "direction": "forward", "change": {"images": {}},
            "lease": {"who": "joe", "host": "laptop", "pid": 7, "since": "2026-03-01T10:00:00Z"},
            "policy": {"maxUnavailable": 1, "ownerMinReadySeconds": 0, "ordered": false}})
    }

    fn goal(followed: Option<&Value>) -> Goal {
        serde_json::from_value(json!({
            "workload": {"kind": "Deployment", "namespace": "prod", "name": "web"}, "clock": "",
            "controllers": [], "replicas": 1, "pods": [], "field_manager": "", "lock": lock("mine", "running"),
            "follows": {"readAt": null, "heldBy": followed},
        }))
        .expect("it is a goal")
    }

    /// The owner that the server returns `seconds` after the run took the lock.
    fn owner(lock: Option<&Value>, seconds: u32) -> Observed {
        let annotations = lock.map(|lock| json!({ROLLOUT_ANNOTATION: lock.to_string()}));
        let object = json!({"metadata": {"name": "web", "annotations": annotations}});
        let now = Some(format!("2026-03-01T10:00:{seconds:02}Z"));
        let mut observed = Observed::default();
        let view = OwnerView { object: Some(object), now, ..OwnerView::default() };
        observed.observe(Observation::Owner(Box::new(view)));
        observed
    }

    fn asks(effects: &Effects) -> bool {
        matches!(effects.0.as_slice(), [Effect::Act(RequestSource::Followed, Action::ReadOwner(_))])
    }

    #[test]
    fn the_end_waits_as_long_as_the_run_that_is_followed_is_alive_and_holds_the_owner() {
        let followed = lock("one", "running");
        let cases = [
            ("it is alive", owner(Some(&followed), 9), true),
            ("it has been silent for too long", owner(Some(&followed), 31), false),
            ("it says that it has stopped", owner(Some(&lock("one", "stopped")), 9), false),
            ("another rollout holds it", owner(Some(&lock("two", "running")), 9), false),
            ("it has let go", owner(None, 9), false),
            ("not read yet", Observed::default(), true),
        ];
        for (what, observed, expected) in cases {
            let (goal, none) = (goal(Some(&followed)), goal(None));
            let context = |goal| RunState::new().context(goal, &observed, SECOND);
            assert_eq!(Followed::default().is_held(context(&goal)), expected, "{what}");
            assert!(!Followed::default().is_held(context(&none)), "{what}: no run is followed");
        }
    }

    /// What a pod still lacks, an image or another field, is waited for first.
    #[test]
    fn the_owner_is_read_once_every_pod_is_done_and_again_while_it_is_held() {
        let (goal, observed) = (goal(Some(&lock("one", "running"))), owner(Some(&lock("one", "running")), 9));
        let context = |now| RunState::new().context(&goal, &observed, now);
        let (mut followed, mut pods) = (Followed::default(), Pods::default());
        let key = crate::k8s::names::PodKey { namespace: "prod".into(), name: "w".into(), uid: "u".into() };
        let fields = crate::change::FieldChanges::default();
        pods.add(PodGoal { key, containers: [].into(), fields, drain: None, kubelet: None }.into(), SECOND);
        assert!(!asks(&followed.advance(context(SECOND), &pods)), "a pod is not done");
        assert_eq!((followed.why(), followed.next_visit()), (None, None));
        let done = Pods::default();
        assert!(asks(&followed.advance(context(SECOND), &done)));
        assert!(!asks(&followed.advance(context(SECOND), &done)), "one at a time");
        assert!(followed.why().is_some_and(|why| why.contains("has not ended")));
        followed.answer(&Answer::Read, SECOND);
        let next = followed.next_visit().expect("it is read again");
        assert!(next > SECOND && !asks(&followed.advance(context(SECOND), &done)));
        assert!(asks(&followed.advance(context(next), &done)));
        let mut stopped = RunState::new();
        stopped.stop(Stop::Interrupt, next);
        let context = stopped.context(&goal, &observed, next);
        assert!(!asks(&Followed::default().advance(context, &done)), "who stops waits for nothing");
    }

    #[test]
    fn an_owner_that_cannot_be_read_keeps_nobody_waiting_for_ever() {
        let (goal, observed) = (goal(Some(&lock("one", "running"))), Observed::default());
        let mut followed = Followed::default();
        let mut now = SECOND;
        for failures in 1..=MOST_FAILURES {
            let context = RunState::new().context(&goal, &observed, now);
            assert!(followed.is_held(context) && asks(&followed.advance(context, &Pods::default())), "{failures}");
            followed.answer(&Answer::ReadFailed { message: "no".into() }, now);
            now += Now::from_secs(60);
        }
        assert!(!followed.is_held(RunState::new().context(&goal, &observed, now)));
    }
}
