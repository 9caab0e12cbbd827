//! What to send now: reads that are owed, and the next pods, as many as may go down.

use std::time::Duration;

use super::action::Action;
use super::admission::{self, WaitReason};
use super::goal::{Mode, PodGoal};
use super::observed::Watch;
use super::patch::{PodPatch, note_patch, resize_patch, step_patch};
use super::pod_run::{PodIndex, PodRun, RequestState, Sent, Taken};
use super::protocol::drain::Due;
use super::protocol::{Effect, Effects, RequestSource};
use super::state::CurrentTurn;
use super::{judge, pod_progress, steps};
use crate::k8s::names::PodKey;
use crate::k8s::pod::Pod;
use crate::report::Notice;
use crate::report::progress::UpdatePhase;
use crate::value::count::pods_that;

/// How often the kubelet's events are read for a pod that nothing else proves.
const EVENTS_EVERY: Duration = Duration::from_secs(5);

impl CurrentTurn<'_> {
    pub(super) fn act(&mut self) {
        self.read_what_is_unclear();
        if self.state.stop.is_some() {
            return;
        }
        self.read_events();
        let is_live = self.context().is_live();
        let acts = match self.goal.mode() {
            Mode::PodsOnly => true,
            Mode::Durable => self.state.owner.pods_may_go(),
            Mode::Follow => {
                let pods = &self.state.pods;
                let nobody_moves = pods.nothing_moves() && !pods.all(PodIndex::Waiting).is_empty();
                let is_blocked = pods.waits_for_replacements() || self.goal.is_in_turns() && nobody_moves;
                return self.note_blocked(is_blocked);
            }
        };
        if self.state.ending_since.is_some() {
            return;
        }
        self.effects(|state, context| state.hooks.advance(context, &state.pods));
        self.advance_drains(acts && is_live);
        if acts && is_live {
            self.advance_steps();
        }
        if acts {
            let is_held = if is_live { self.take_pods() } else { !self.state.pods.all(PodIndex::Waiting).is_empty() };
            let pods = &self.state.pods;
            let is_held = is_held || pods.held().next().is_some();
            let is_blocked = is_held && pods.nothing_moves() || pods.waits_for_replacements();
            self.note_blocked(is_blocked);
        }
        self.effects(|state, context| state.drains.read_slices(context, &state.pods));
    }

    fn note_blocked(&mut self, is_blocked: bool) {
        self.state.blocked_since = is_blocked.then(|| self.state.blocked_since.unwrap_or(self.now));
    }

    pub(super) fn read_what_is_unclear(&mut self) {
        for position in self.state.pods.list(PodIndex::Unanswered) {
            let Some(run) = self.state.pods.run(position) else { continue };
            let state = &run.request.state;
            if *state == RequestState::Unclear || state.not_before().is_some_and(|at| at <= self.now) {
                let read = Action::Read(run.goal.key.clone());
                self.state.pods.set_request(position, RequestState::Reading);
                self.carry_out((RequestSource::Pod(position), read).into());
            }
        }
    }

    pub(super) fn read_events(&mut self) {
        if self.state.ending_since.is_some() {
            return;
        }
        for position in self.state.pods.list(PodIndex::Unverified) {
            let Some(run) = self.state.pods.run(position) else { continue };
            if run.clocks.events_at.is_none_or(|at| at <= self.now) {
                // Its answer is not the answer to a request about the pod: what it finds comes as an observation.
                let read = Action::ReadEvents(run.goal.key.clone());
                self.state.pods.read_events(position, self.now + EVENTS_EVERY);
                self.carry_out((RequestSource::Nobody, read).into());
            }
        }
    }

    /// Takes the drained pods one step further: those that are out get their images, those that are done are restored.
    fn advance_drains(&mut self, may_take: bool) {
        for position in self.state.pods.list(PodIndex::RejoiningService) {
            self.effects(|state, context| state.drains.restore(context, &state.pods, position));
        }
        let draining = if may_take { self.state.pods.list(PodIndex::Draining) } else { Vec::new() };
        for position in draining {
            match self.state.drains.due(self.context(), &self.state.pods, position) {
                Due::Nothing => {}
                Due::Restore => self.effects(|state, context| state.drains.restore(context, &state.pods, position)),
                Due::GateOff(patch) if self.ask(position).is_ok() => {
                    self.effects(|state, _| state.drains.turn_off(position, patch));
                }
                Due::Images if self.ask(position).is_ok() => {
                    self.send(position);
                }
                Due::GateOff(_) | Due::Images => {}
            }
        }
    }

    /// Sends what the pods in progress are waiting for: the next step of those whose last one is proven, and the first of those
    /// whose hook has ended well.
    fn advance_steps(&mut self) {
        for position in self.state.pods.list(PodIndex::Next) {
            let Some((run, pod)) = self.context().found(&self.state.pods, position) else { continue };
            if !run.request.may_send(self.now) {
                continue;
            }
            match self.ask(position) {
                Ok(()) if self.begin_drain(position) => {}
                Ok(()) => {
                    self.send(position);
                }
                // Another pod has gone down since: this one waits for its turn again, and its hook runs again before
                // it.
                Err(WaitReason::Unavailable { .. }) if pod.is_ready() => {
                    self.state.hooks.again(position);
                    self.turn.notices.extend(self.state.pods.wait_again(position, self.now));
                }
                Err(_) => {}
            }
        }
    }

    /// Takes the next pods, as many as may go down. Returns whether some had to be left.
    ///
    /// A pod that is down already costs nothing and goes first, unless the owner's order is strict.
    fn take_pods(&mut self) -> bool {
        let mut last = None;
        while let Some(position) = self.next_candidate(last) {
            last = Some(position);
            self.state.pods.count_visits(1);
            if self.ask(position).is_err() {
                return true;
            }
            // A pod that cannot be sent to now is left; the next visit decides again.
            let is_begun = self.begin_hook(position) || self.begin_drain(position);
            if !is_begun && self.send(position).is_none() {
                return true;
            }
        }
        !self.state.pods.all(PodIndex::Waiting).is_empty()
    }

    /// The next position that waits and may be sent now: throttled pods, then pods that are down, then the goal's
    /// order.
    fn next_candidate(&self, last: Option<usize>) -> Option<usize> {
        let pods = &self.state.pods;
        let is_due = |position: &&usize| match pods.run(**position).map(|run| &run.request.state) {
            Some(RequestState::BackOff { until }) => *until <= self.now,
            state => state.is_some(),
        };
        let is_new = |position: &&usize| last != Some(**position);
        let (waiting, put_off) = (pods.all(PodIndex::Waiting), pods.all(PodIndex::Throttled));
        if self.goal.is_strictly_ordered() {
            // In a strict order nothing overtakes a throttled pod.
            return waiting.first().filter(is_due).filter(is_new).copied();
        }
        let fresh =
            pods.all(PodIndex::AlreadyUnready).iter().chain(waiting).find(|position| !put_off.contains(position));
        put_off.iter().find(is_due).or(fresh).filter(is_new).copied()
    }

    fn begin_hook(&mut self, position: usize) -> bool {
        let context = self.context();
        let begun = self.state.hooks.begin(context, &self.state.pods, position);
        begun.map(|effects| self.carry_out(effects)).is_some()
    }

    /// Where nothing goes down by a resize, the pod stays in its Services.
    fn begin_drain(&mut self, position: usize) -> bool {
        if self.is_quiet_resize(position) {
            return false;
        }
        let context = self.context();
        let begun = self.state.drains.begin(context, &self.state.pods, position);
        begun.map(|effects| self.carry_out(effects)).is_some()
    }

    fn is_quiet_resize(&self, position: usize) -> bool {
        let found = self.context().found(&self.state.pods, position);
        found.is_some_and(|(run, pod)| steps::resizes_next(&run.goal, pod) && !steps::takes_down(&run.goal, pod))
    }

    /// Sends a resize where one is due, and its note before it; else the images of the next step.
    fn send(&mut self, position: usize) -> Option<()> {
        let context = self.context();
        let goal = self.state.pods.run(position)?.goal.clone();
        let pod = self.observed.pod(&goal.key)?;
        if steps::resizes_next(&goal, pod) {
            if steps::lacks_note(context.goal, &goal, pod) {
                let (_, mut step) = steps::images(context.goal, &goal, pod);
                step.later.splice(..0, step.images.drain(..));
                let patch = note_patch(pod, &step, &goal.fields, context.goal.id(), &context.goal.field_manager)?;
                let takes = |run: &mut PodRun| run.steps.taken = run.steps.taken.max(Taken::Hook);
                self.state.pods.sends(position, Sent::Note, takes);
                return self.patch(position, patch, pod_progress::next_resize(&goal));
            }
            let patch = resize_patch(pod, &goal.fields, &context.goal.field_manager);
            self.state.pods.sends(position, Sent::Resize, |run| run.changes(0, pod));
            let phase = UpdatePhase::Resizing { why: None, deferred_by: None };
            return self.patch(position, patch, phase);
        }
        let (number, step) = steps::images(context.goal, &goal, pod);
        let patch = step_patch(pod, &step, &goal.fields, context.goal.id(), &context.goal.field_manager)?;
        let names = step.images.iter().map(|image| &image.container);
        self.state.pods.sends(position, Sent::Images, |run| run.sends_images(number, names, pod));
        self.patch(position, patch, UpdatePhase::Patched)
    }

    fn patch(&mut self, position: usize, patch: PodPatch, phase: UpdatePhase) -> Option<()> {
        let mut effects = Effects::default();
        effects.0.push(Effect::Phase(position, phase));
        effects.act(RequestSource::Pod(position), Action::Patch(patch));
        self.carry_out(effects);
        Some(())
    }

    /// Asks whether a pod may go down now, and does what the answer needs: reads what is not known, reports what
    /// blocks, and stops the clock of a pod that has its place and waits for others.
    fn ask(&mut self, position: usize) -> Result<(), WaitReason> {
        let context = self.context();
        let admission = admission::may_go_down(context, self.state, position);
        match &admission {
            Ok(()) => {
                let found = context.found(&self.state.pods, position);
                if found.is_some_and(|(run, pod)| run.goal.restarts() && pod.is_ready()) {
                    self.state.budgets.unblock();
                }
            }
            Err(WaitReason::Unavailable { down }) => self.say_that_the_budget_holds(*down),
            Err(WaitReason::Unread { budgets }) => self.read_for_admission(*budgets),
            Err(WaitReason::DisruptionBudget(why)) => {
                self.state.budgets.block(why, self.now);
                self.turn.notices.extend(self.state.budgets.say_what_blocks(&self.state.pods, why));
            }
            Err(WaitReason::NotSeen | WaitReason::Canary | WaitReason::Full | WaitReason::Pause) => {}
        }
        self.state.pods.hold(position, admission.is_err(), self.now);
        admission
    }

    pub(super) fn read_for_admission(&mut self, budgets: bool) {
        if budgets {
            self.effects(|state, context| state.budgets.read(context));
        }
        if !self.state.owner.is_fresh(self.context()) {
            self.effects(|state, context| state.owner.read(context));
        }
    }

    fn say_that_the_budget_holds(&mut self, down: usize) {
        let pods = &self.state.pods;
        // While pods of ours are in progress it is plain why no other pod is taken.
        if !pods.all(PodIndex::InProgress).is_empty() || self.state.reported_at_budget == Some(pods.begun()) {
            return;
        }
        self.state.reported_at_budget = Some(pods.begun());
        let down = u32::try_from(down).unwrap_or(u32::MAX);
        self.turn.notices.push(Notice::BudgetHolds { down, allowed: self.goal.policy().max_unavailable });
    }
}

// Before the first write on the owner the first pod may go down, as far as that can be known.
//
// `resume` and `abort` ask in the same way before they take over what another run has left.
//
// A template that is written while no pod may be taken down changes only what every new pod gets, for as long as that
// lasts. So the first write waits within `--timeout`, and a run that ends meanwhile has changed nothing.
// [`super::admission`] decides for the pod that would go first; a pod that could never prove the change holds the
// write back.

/// Whether the first write may be made.
#[derive(PartialEq)]
enum Gate {
    Open,
    /// The answer to a read is outstanding: the last known reason stays.
    Pending,
    Blocked(String),
}

impl CurrentTurn<'_> {
    /// Returns whether the first write has to wait; asks for what is not known, and reports what is waited for.
    pub(super) fn waits_to_begin(&mut self) -> bool {
        let gate = self.gate();
        if gate == Gate::Open {
            self.state.begin_waits_for = None;
            (self.state.blocked_since, self.state.reported_at_budget) = (None, None);
            self.state.budgets.unblock();
            return false;
        }
        self.state.blocked_since.get_or_insert(self.now);
        if let Gate::Blocked(why) = gate
            && self.state.begin_waits_for.as_ref() != Some(&why)
        {
            self.turn.notices.push(Notice::WaitsToBegin { why: why.clone() });
            self.state.begin_waits_for = Some(why);
        }
        true
    }

    fn gate(&mut self) -> Gate {
        let Some(position) = self.first_to_restart() else { return Gate::Open };
        let is_begun = self.state.owner.is_begun(self.context());
        // Pods that the run before has left in progress, or out of their Services, go on at once.
        let in_progress = [PodIndex::InProgress, PodIndex::Drained, PodIndex::Failed];
        if is_begun && in_progress.into_iter().any(|is| !self.state.pods.all(is).is_empty()) {
            return Gate::Open;
        }
        if let Watch::Lost(why) = self.observed.watch() {
            return Gate::Blocked(format!("the pods could not be watched: {why}"));
        }
        let Some(goal) = self.state.pods.run(position).map(|run| run.goal.clone()) else { return Gate::Open };
        let pod = self.observed.pod(&goal.key);
        let must_show_it = !is_begun && !self.goal.policy().goes_on_after_failure;
        if let Some(why) = pod.filter(|_| must_show_it).and_then(|pod| cannot_show_it(pod, &goal)) {
            return Gate::Blocked(why);
        }
        match admission::may_go_down(self.context(), self.state, position) {
            Ok(()) | Err(WaitReason::Canary | WaitReason::Full | WaitReason::Pause) => Gate::Open,
            Err(WaitReason::Unread { budgets }) => {
                self.read_for_admission(budgets);
                self.unread().map_or(Gate::Pending, Gate::Blocked)
            }
            Err(WaitReason::DisruptionBudget(why)) => {
                self.state.budgets.block(&why, self.now);
                Gate::Blocked(why)
            }
            Err(WaitReason::Unavailable { down }) => Gate::Blocked(self.unavailable(down)),
            Err(WaitReason::NotSeen) => Gate::Blocked("the first pod is not seen".into()),
        }
    }

    /// The pod that goes first of those that restart: a pod that is down already, unless the order is strict.
    fn first_to_restart(&self) -> Option<usize> {
        let pods = &self.state.pods;
        let broken = pods.all(PodIndex::AlreadyUnready).iter().filter(|_| !self.goal.is_strictly_ordered());
        let mut first = broken.chain(pods.all(PodIndex::Waiting)).copied();
        first.find(|position| pods.run(*position).is_some_and(|run| run.goal.restarts()))
    }

    fn unavailable(&self, down: usize) -> String {
        let unready = |key: &&PodKey| self.observed.pod(key).is_some_and(|pod| !pod.is_ready());
        let which = self.state.pods.down().iter().find(unready).map(|key| format!(", such as {key}"));
        let (which, allowed) = (which.unwrap_or_default(), self.goal.policy().max_unavailable);
        format!("{} down or missing{which}, and {allowed} may be", pods_that(down, "is", "are"))
    }

    fn unread(&self) -> Option<String> {
        let budgets = self.state.budgets.trouble();
        budgets.or_else(|| self.state.owner.trouble())
    }
}

/// Such a pod cannot show whether the update works until its node is ready, or another container starts.
fn cannot_show_it(pod: &Pod, goal: &PodGoal) -> Option<String> {
    if pod.is_scheduled() {
        let stuck = || {
            let (container, why) = judge::stuck(pod, goal)?;
            Some(format!(
                "{} goes first, and its container {container}, which does not change, cannot start ({why})",
                pod.key
            ))
        };
        let node = pod.unready_node().map(|node| format!("{} goes first, and its node {node} is not ready", pod.key));
        return node.or_else(stuck);
    }
    let said = pod.unscheduled().filter(|said| !said.is_empty()).map(|said| format!(": {said}"));
    Some(format!("{} goes first, and is not scheduled{}", pod.key, said.unwrap_or_default()))
}
