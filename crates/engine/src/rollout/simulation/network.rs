//! What is between the rollout and the cluster: requests, answers, the watch, and what other people do.

use std::time::Duration;

use crate::k8s::names::PodKey;
use crate::k8s::pod::Pod;
use crate::report::Notice;
use crate::report::progress::UpdatePhase;
use crate::rollout::patch::PodPatch;

use super::super::pod_run::Sent;
use super::super::{Action, ActionId, Answer, Observation, Watch, turn};
use super::adversary::{Deed, Fortune};
use super::api_server::reported;
use super::drained::sent_of;
use super::invariants::Invariant;
use super::nature::Stage;
use super::resized::is_resize;
use super::{BEFORE, Due, FOREIGN, Simulation, WANTED, pod_key};

impl Simulation {
    /// Sends an action on its way.
    pub(super) fn carry_out(&mut self, id: ActionId, action: Action) {
        let run = self.run;
        let at = self.now + self.random.millis(1, self.scenario.slowest_answer);
        match action {
            Action::Patch(patch) => self.send(id, patch),
            Action::Write { write, .. } => self.write(id, write),
            Action::ReadRequests { .. } => unreachable!("nothing restarts by request"),
            Action::ReadPullPods { .. } => self.at(at, Due::ReadPulls { id, run }),
            Action::ReadBudgets { .. } => self.at(at, Due::ReadBudgets { id, run }),
            // While a server takes longer, the owner's state is unknown.
            Action::ReadOwner(_) => {
                let at = self.now + self.random.millis(1, self.scenario.slowest_answer.min(200));
                self.at(at, Due::ReadOwner { id, run });
            }
            Action::Hook(hook) => self.run_hook(id, &hook),
            Action::ReadSlices { .. } => self.at(at, Due::ReadSlices { id, run }),
            Action::Read(key) => self.at(at, Due::Read { id, key, run }),
            Action::ReadEvents(key) => self.at(at, Due::ReadEvents { id, key, run }),
        }
    }

    fn send(&mut self, id: ActionId, patch: PodPatch) {
        let (run, slow) = (self.run, self.scenario.slowest_answer);
        let sends = self.sends.entry(patch.key.clone()).or_default();
        *sends = sends.saturating_add(1);
        let index = patch.key.name.rsplit('-').next().and_then(|index| index.parse().ok()).unwrap_or(0);
        let fortune = self.scenario.fortune(index, *sends, &mut self.random);
        let (arrives, answered) =
            (self.now + self.random.millis(1, 800), self.now + self.random.millis(900, 900 + slow));
        let unknown = || Answer::Unknown { message: "timed out".into() };
        let patch = Box::new(patch);
        match fortune {
            Fortune::Arrives => self.at(arrives, Due::Execute { id, patch, run, answer: None, moves: false }),
            Fortune::Moves => self.at(arrives, Due::Execute { id, patch, run, answer: None, moves: true }),
            Fortune::NotDone(answer) | Fortune::Refused(answer) => self.at(answered, Due::Answer { id, answer, run }),
            Fortune::Lost { executed: None } => self.at(answered, Due::Answer { id, answer: unknown(), run }),
            Fortune::Lost { executed: Some(after) } if after == Duration::ZERO => {
                self.at(arrives, Due::Execute { id, patch, run, answer: Some(unknown()), moves: false });
            }
            Fortune::Lost { executed: Some(after) } => {
                self.at(answered, Due::Answer { id, answer: unknown(), run });
                self.at(answered + after, Due::Execute { id, patch, run, answer: Some(unknown()), moves: false });
            }
        }
    }

    /// Something that was due happens.
    pub(super) fn happen(&mut self, due: Due) {
        match due {
            Due::Kubelet(key, stage) => {
                let Some(kubelet) = self.kubelets.get_mut(&key) else { return };
                let later = kubelet.step(stage, &mut self.api, self.now);
                self.later(&key, later);
            }
            Due::Deliver => self.deliver(),
            Due::WatchIsBack => self.relist(),
            Due::Observe(observation) => self.observe(observation),
            Due::Execute { id, patch, run, answer, moves } => self.execute(id, &patch, run, answer, moves),
            Due::Read { id, key, run } => self.read(id, &key, run),
            Due::ReadEvents { id, key, run } => {
                if let Some(kubelet) = self.kubelets.get(&key).filter(|_| !self.scenario.events_run_out) {
                    let events = kubelet.events.clone();
                    self.observe(Observation::Events(key, events));
                }
                self.answer(id, Answer::Read, run);
            }
            Due::ReadSlices { id, run } => self.read_slices(id, run),
            Due::Slice(key) => self.sync_slice(&key),
            Due::Hook { id, run, end } => self.hook_ended(id, run, end),
            Due::Answer { id, answer, run } => self.answer(id, answer, run),
            Due::Write { id, write, run, is_lost } => self.wrote(id, &write, run, is_lost),
            Due::ReadPulls { id, run } => self.read_pulls(id, run),
            Due::ReadBudgets { id, run } => self.read_budgets(id, run),
            Due::ReadOwner { id, run } => self.read_owner(id, run),
            Due::Refill => self.refill(),
            Due::Leaves(key) => self.is_taken_away(&key),
            Due::Deed(deed) => self.deed(deed),
        }
        self.expect_slices();
        self.expect_delivery();
    }

    fn later(&mut self, key: &PodKey, later: Vec<(super::Now, Stage)>) {
        for (at, stage) in later {
            self.at(at, Due::Kubelet(key.clone(), stage));
        }
    }

    pub(super) fn notify(&mut self, key: &PodKey) {
        let now = self.now;
        let later = self.kubelets.get_mut(key).map(|kubelet| kubelet.notify(now));
        self.later(key, later.unwrap_or_default());
    }

    fn execute(&mut self, id: ActionId, patch: &PodPatch, run: u32, answer: Option<Answer>, moves: bool) {
        let key = &patch.key;
        let in_flight = self.invariants.outstanding.contains_key(&id);
        if moves && let Some(kubelet) = self.kubelets.get_mut(key) {
            let later = kubelet.step(Stage::CrashOld, &mut self.api, self.now);
            self.later(key, later);
        }
        let before = self.api.pod(key).cloned();
        let patched = self.api.patch(patch, self.now);
        if patched.is_ok() {
            let sent = sent_of(patch);
            let goes_back = matches!(sent, Sent::Restore | Sent::GateOn);
            if !goes_back {
                self.judge_stored(before.as_ref(), key);
            }
            if sent == Sent::Resize {
                self.judge_resize(before.as_ref(), key);
            }
            // Nobody knows of a resize that arrives after the read that looked for it.
            if sent == Sent::Resize && in_flight {
                self.invariants.resized.insert(key.clone());
            }
            if sent == Sent::Images {
                self.judge_traffic(before.as_ref(), key);
                self.invariants.images.insert(key.clone());
            }
            if is_resize(sent) {
                self.invariants.noted.insert(key.clone());
            } else if in_flight && !goes_back {
                self.invariants.executed.insert(key.clone());
            }
            self.notify(key);
            if self.scenario.patched_pods_leave && self.random.one_in(4) {
                let leaves = self.now + self.random.millis(1, 1_000);
                self.at(leaves, Due::Leaves(key.clone()));
            }
        }
        let at = self.now + self.random.millis(0, self.scenario.slowest_answer);
        if !in_flight {
            return;
        }
        let answer = answer.unwrap_or(match patched {
            Ok(()) => Answer::Accepted,
            Err(refused) => Answer::Conflict { message: format!("{refused:?}") },
        });
        // The answer carries the pod.
        if answer == Answer::Accepted
            && self.random.one_in(2)
            && let Some(pod) = self.api.pod(key).cloned()
        {
            self.at(at, Due::Observe(Observation::Applied(Box::new(pod))));
        }
        self.at(at, Due::Answer { id, answer, run });
    }

    /// A stored patch may only have replaced the image that the plan saw, in a pod that stays.
    fn judge_stored(&mut self, before: Option<&Pod>, key: &PodKey) {
        let containers = |pod: &Pod| pod.spec.containers.clone();
        let (Some(before), Some(after)) = (before, self.api.pod(key)) else {
            return self.invariants.broken(Invariant::ForeignPod, self.now, format!("{key} was another pod"));
        };
        let (old, new) = (containers(before), containers(after));
        let right = old.iter().zip(&new).all(|(old, new)| old.image == new.image || old.image == BEFORE);
        if !right || before.terminating {
            let what = format!("{key} was patched at {:?}", old.last().map(|container| &container.image));
            self.invariants.broken(Invariant::OtherWriter, self.now, what);
        }
    }

    fn read(&mut self, id: ActionId, key: &PodKey, run: u32) {
        if self.scenario.bad_answers && self.random.one_in(4) {
            return self.answer(id, Answer::ReadFailed { message: "timed out".into() }, run);
        }
        if run == self.run {
            let found = self.api.pod(key).cloned().map(|pod| Observation::Applied(Box::new(pod)));
            self.observe(found.unwrap_or_else(|| Observation::Deleted(key.clone())));
            self.invariants.unclear.remove(key);
        }
        self.answer(id, Answer::Read, run);
    }

    pub(super) fn answer(&mut self, id: ActionId, answer: Answer, run: u32) {
        if run != self.run {
            return;
        }
        let about = self.invariants.outstanding.remove(&id);
        let is_unclear = matches!(answer, Answer::Unknown { .. } | Answer::Conflict { .. });
        let answered = self.fault.answer(about.as_ref(), answer);
        if let Some(key) = about.filter(|_| is_unclear) {
            self.invariants.unclear.insert(key);
        }
        if let Some(answer) = answered {
            self.state.answer(id, answer, self.now);
        }
    }

    /// Schedules the delivery of what happened.
    pub(super) fn expect_delivery(&mut self) {
        if self.watch_is_live && !self.delivery_due && self.cursor < self.api.history().len() {
            self.delivery_due = true;
            let at = self.now + self.random.millis(0, self.scenario.slowest_watch);
            self.at(at, Due::Deliver);
        }
    }

    /// A batch of events.
    fn deliver(&mut self) {
        self.delivery_due = false;
        if !self.watch_is_live {
            return;
        }
        if self.random.one_in(8) {
            self.compare_with_a_relist();
        }
        let pending = (self.api.history().len() - self.cursor) as u64;
        let count = usize::try_from(self.random.between(1, pending.max(1))).expect("small");
        let batch = self.api.history().get(self.cursor..).unwrap_or_default();
        let batch: Vec<Observation> = batch.get(..count).unwrap_or(batch).iter().map(reported).collect();
        self.cursor += batch.len();
        batch.into_iter().for_each(|observation| self.observe(observation));
    }

    /// A relist and the sequence of its events come to the same.
    fn compare_with_a_relist(&mut self) {
        let (mut by_events, mut by_list) = (self.observed.clone(), self.observed.clone());
        let events = self.api.history().iter().skip(self.cursor);
        events.for_each(|event| by_events.observe(reported(event)));
        by_list.observe(Observation::Relisted(self.api.list()));
        let mut said =
            [by_events, by_list].map(|observed| turn(&self.goal, &observed, &mut self.state.clone(), self.now));
        // Having seen a pod terminating explains only why it is gone.
        for notice in said.iter_mut().flat_map(|turn| &mut turn.notices) {
            if let Notice::Pod { phase: UpdatePhase::Gone { why }, .. } = notice {
                why.clear();
            }
        }
        let [events, list] = said;
        if events != list {
            let what = format!("events: {events:?}; list: {list:?}");
            self.invariants.broken(Invariant::Relist, self.now, what);
        }
    }

    pub(super) fn relist(&mut self) {
        self.cursor = self.api.history().len();
        self.watch_is_live = true;
        self.observe(Observation::Relisted(self.api.list()));
        debug_assert_eq!(*self.observed.watch(), Watch::Live);
    }

    fn deed(&mut self, deed: Deed) {
        let key = |index| pod_key(index, 0);
        let now = self.now;
        if matches!(deed, Deed::Delete(_) | Deed::Terminate(_) | Deed::Orphan(_) | Deed::Replace(_)) {
            self.leaves(deed);
        }
        match deed {
            Deed::OtherImage(index) => self.set_image(&key(index), FOREIGN),
            Deed::SameImage(index) => self.set_image(&key(index), WANTED),
            Deed::OtherResize(index) => self.resize_otherwise(&key(index)),
            Deed::Revert(index) => self.set_image(&key(index), BEFORE),
            Deed::Delete(index) => self.api.delete(&key(index)),
            Deed::Terminate(index) => {
                self.api.change(&key(index), |pod| pod.terminating = true);
            }
            Deed::Orphan(index) => self.api.change(&key(index), |pod| pod.owners.clear()),
            Deed::Replace(index) if self.scenario.owned => self.api.delete(&key(index)),
            Deed::Replace(index) => {
                self.api.delete(&key(index));
                self.create(&pod_key(index, 1), BEFORE, false);
            }
            Deed::SiblingDown(index, seconds) => {
                let up = now + Duration::from_secs(seconds);
                self.at(up, Due::Kubelet(key(index), Stage::Sibling { ready: true }));
                self.happen(Due::Kubelet(key(index), Stage::Sibling { ready: false }));
            }
            Deed::Relabel(index) => self.api.change(&key(index), |pod| {
                pod.labels.insert("relabelled".into(), now.as_millis().to_string());
            }),
            Deed::Stop(stop) => {
                if self.fault.hears_stops() {
                    self.state.stop(stop, now);
                }
                self.invariants.stopped_at.get_or_insert(now);
            }
            Deed::WatchLost(seconds) if self.watch_is_live => {
                self.watch_is_live = false;
                self.observe(Observation::WatchLost("connection reset".into()));
                self.at(now + Duration::from_secs(seconds), Due::WatchIsBack);
            }
            Deed::Relist if self.watch_is_live => self.relist(),
            Deed::WatchLost(_) | Deed::Relist => {}
            Deed::Repeat => {
                let old = self.api.history().get(..self.cursor).unwrap_or_default();
                let from = old.len().saturating_sub(5);
                let again: Vec<Observation> = old.iter().skip(from).map(reported).collect();
                again.into_iter().for_each(|observation| self.observe(observation));
            }
        }
    }

    fn set_image(&mut self, key: &PodKey, image: &str) {
        let before = self.api.history().len();
        self.api.set_image(key, "side", image, "somebody-else", self.now);
        // A write that changes nothing produces no event.
        if self.api.history().len() > before {
            self.notify(key);
        }
    }
}
