//! A kind that nobody has made up yet is one table: a Fleet, whose controller replaces pods that differ from its template
//! unless `spec.suspend` is set, and counts them in `status.updated`.

use serde_json::{Value, json};
use testkit::api_model;

use super::lock::{Lock, ROLLOUT_POINTER};
use super::owner::{OwnLock, Stored, has_own_lock, is_template_set};
use super::step::{CLOSE, Next, OBSERVED, REMOVE_REMAINS, TAKE_LOCK, TAKE_PODS, Table, update_pods, wait, write};
use super::tests::{KIND, OwnRun, goal, template};
use super::{CHANGED_MEANWHILE, ObjectWrite, OwnerView, PodsState, StepName, step};
use crate::state::outcome::EndResult;
use crate::state::record::FencingToken;

const SUSPEND: &str = "/spec/suspend";
const COUNTED: &str = "the controller to count every pod as updated";
const PODS: usize = 3;

const FLEET: Table<'static> = Table {
    steps: &[
        write(StepName::SetTemplate, is_template_set, |owner| {
            owner.set_template().set(SUSPEND, Some(true.into())).write()
        }),
        TAKE_LOCK,
        TAKE_PODS,
        OBSERVED,
        update_pods(|_| None),
        wait(COUNTED, |owner| usize::try_from(owner.integer("/status/updated")) == Ok(owner.pods.present)),
        write(
            StepName::RestoreStrategy,
            |owner| owner.object.pointer(SUSPEND).is_none(),
            |owner| owner.patch().test("/spec/template").set(SUSPEND, None).write(),
        ),
        CLOSE,
        REMOVE_REMAINS,
    ],
    conflict: |owner| {
        let is_ours = [owner.source(), owner.target()].contains(&owner.template());
        (has_own_lock(owner) && !is_ours).then_some(CHANGED_MEANWHILE)
    },
    cleanup: &[write(StepName::Close, |_| false, |owner| owner.closing(EndResult::Superseded, None).write())],
};

/// A Fleet and its pods: the image that each of them asks for.
struct Cluster {
    fleet: Value,
    pods: [Value; PODS],
    replaced: usize,
}

impl Cluster {
    fn new() -> Self {
        let fleet = json!({"metadata": {"uid": "u", "name": "web", "generation": 1, "annotations": {"team": "shop"}},
            "spec": {"template": template("1")}, "status": {"observedGeneration": 1}});
        Self { fleet, pods: [(); PODS].map(|()| template("1")), replaced: 0 }
    }

    fn control(&mut self) {
        let wanted = self.fleet["spec"]["template"].clone();
        if self.fleet.pointer(SUSPEND).is_none() {
            for pod in self.pods.iter_mut().filter(|pod| **pod != wanted) {
                *pod = wanted.clone();
                self.replaced += 1;
            }
        }
        let updated = self.pods.iter().filter(|pod| **pod == wanted).count();
        let generation = self.fleet["metadata"]["generation"].clone();
        self.fleet["status"] = json!({"observedGeneration": generation, "updated": updated});
    }

    fn store(&mut self, write: ObjectWrite) {
        let ObjectWrite::Patch { operations, .. } = write else { panic!("not a patch") };
        api_model::carry_out(&mut self.fleet, &operations).expect("nobody else writes");
        let generation = self.fleet["metadata"]["generation"].as_i64().unwrap_or(0);
        self.fleet["metadata"]["generation"] = (generation + 1).into();
    }

    /// Goes on with a run until it has ended, or has sent so many writes. Returns the writes, and the conflict that ended it.
    fn run(&mut self, goal: &OwnRun, writes: usize) -> (Vec<StepName>, Option<String>) {
        let (mut sent, mut first_conflict) = (Vec::new(), None);
        let (mut own_lock, mut taken_over) = (OwnLock::Unwritten, false);
        for _turn in 0..50 {
            let view = OwnerView { object: Some(self.fleet.clone()), ..OwnerView::default() };
            let done = self.pods.iter().all(|pod| pod == goal.target());
            let pods = PodsState { done, present: PODS, taken_over, ..PodsState::default() };
            let owner = goal.owner(KIND, &view, &pods);
            own_lock = own_lock.seen(&owner);
            let decision = step::next(&owner.knowing(own_lock), &FLEET);
            first_conflict = first_conflict.or(decision.conflict);
            match decision.next {
                Next::Write(_, _) if sent.len() == writes => return (sent, first_conflict),
                Next::Write(name, write) => {
                    self.store(write);
                    own_lock = own_lock.answered(name, Stored::Yes, 0);
                    sent.push(name);
                }
                Next::Wait(_) => self.control(),
                Next::TakePods => taken_over = true,
                // One pod a turn, and the controller acts in between.
                Next::UpdatePods { .. } => {
                    let left = self.pods.iter_mut().find(|pod| **pod != *goal.target()).expect("not done");
                    left.clone_from(goal.target());
                    self.control();
                }
                Next::Nothing => return (sent, first_conflict),
            }
        }
        panic!("no end after {sent:?}: {}", self.fleet);
    }

    fn assert_has(&self, tag: &str, context: &str) {
        assert_eq!(self.fleet["spec"], json!({"template": template(tag)}), "{context}");
        assert_eq!((&self.pods, self.replaced), (&[(); PODS].map(|()| template(tag)), 0), "{context}");
        assert_eq!(self.fleet.pointer(ROLLOUT_POINTER), None, "{context}");
    }
}

/// Another run that goes on from what a killed one has left.
fn next_run(cluster: &Cluster, direction: &str) -> OwnRun {
    let mut goal = goal(direction);
    goal.lock.run = "r2".into();
    goal.change.replaces = Lock::text_of(&cluster.fleet).map(str::to_owned);
    goal.change.take_over = Some(FencingToken { rollout: "one".into(), run: "r2".into() });
    goal
}

#[test]
fn its_rollout_replaces_no_pod_and_is_finished_or_taken_back_from_every_write() {
    let mut cluster = Cluster::new();
    let ended = cluster.run(&goal("forward"), usize::MAX);
    assert_eq!(ended, (vec![StepName::SetTemplate, StepName::RestoreStrategy, StepName::Close], None));
    cluster.assert_has("2", "nobody came between");
    for (direction, tag) in [("forward", "2"), ("back", "1")] {
        for writes in 1..3 {
            let mut cluster = Cluster::new();
            let context = format!("{:?}, killed, then {direction}", cluster.run(&goal("forward"), writes));
            let (_, conflict) = cluster.run(&next_run(&cluster, direction), usize::MAX);
            assert_eq!(conflict, None, "{context}");
            cluster.assert_has(tag, &context);
        }
    }
}

#[test]
fn a_foreign_template_ends_its_rollout_before_another_write_than_the_closing_one() {
    let mut cluster = Cluster::new();
    cluster.run(&goal("forward"), 1);
    cluster.fleet["spec"]["template"] = template("foreign");
    let (sent, conflict) = cluster.run(&next_run(&cluster, "forward"), usize::MAX);
    assert_eq!((sent.last(), conflict.as_deref()), (Some(&StepName::Close), Some(CHANGED_MEANWHILE)));
    assert!(!sent.contains(&StepName::RestoreStrategy) && cluster.replaced == 0, "{sent:?}");
}
