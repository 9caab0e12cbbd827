//! The user's own commands around each pod, simulated: they take their time, and some fail.

use std::collections::{BTreeMap, BTreeSet};

use crate::k8s::names::PodKey;
use crate::state::hook::{HookEnd, HookPhase, HookResult, HookRun, Hooks};
use crate::state::outcome::EndResult;
use crate::state::record::UpdateRecord;

use super::super::{ActionId, Answer, Now};
use super::adversary::Scenario;
use super::invariants::Invariant;
use super::shown::{has_left, is_begun};
use super::{Due, Simulation, WANTED};

/// The commands that run and have run.
#[derive(Debug, Clone, Default)]
pub(super) struct Hooked {
    /// Those that run, in this run.
    running: BTreeMap<ActionId, (PodKey, HookPhase)>,
    /// Those that ended well, in any run.
    pub(super) passed: BTreeSet<(PodKey, HookPhase)>,
    /// Of those: the last time that they ran, and in this run; and when they ended.
    pub(super) passed_last: BTreeMap<(PodKey, HookPhase), Now>,
}

/// The commands of a scenario.
pub(super) fn wanted(scenario: &Scenario) -> Hooks {
    let command = |is_there: bool| is_there.then(|| "true".to_owned());
    scenario.hooks.map_or_else(Hooks::default, |hooks| Hooks {
        before_pod: command(hooks.before),
        after_pod: command(hooks.after),
    })
}

impl Simulation {
    /// A command begins. Before: the pod is unchanged; after: it is done.
    pub(super) fn run_hook(&mut self, id: ActionId, hook: &HookRun) {
        let Some(hooks) = self.scenario.hooks else {
            return self.invariants.broken(Invariant::Hook, self.now, "a command runs that nobody asked for");
        };
        let index = hook.pod.name.rsplit('-').next().and_then(|index| index.parse::<usize>().ok()).unwrap_or(0);
        let fails = hooks.fails == Some((index, hook.phase));
        let how = HookResult::Exited { exit_code: if fails { 3 } else { 0 } };
        let at = self.now + self.random.millis(1, hooks.slowest_millis);
        if self.invariants.stopped_at.is_some() {
            self.invariants.broken(Invariant::Interrupt, self.now, format!("a command begins for {}", hook.pod));
        }
        if self.hooks.running.values().any(|(pod, _)| *pod == hook.pod) {
            self.invariants.broken(Invariant::Hook, self.now, format!("two commands run for {}", hook.pod));
        }
        let asks = self.observed.pod(&hook.pod).is_some_and(|pod| {
            let goal = self.judged.pods.iter().find(|goal| goal.key == hook.pod);
            goal.is_some_and(|goal| {
                goal.containers.keys().all(|name| pod.spec_of(name).is_some_and(|container| container.image == WANTED))
            })
        });
        if asks != (hook.phase == HookPhase::After) {
            let what =
                format!("the command {:?} {} runs, and the pod asks for its images: {asks}", hook.phase, hook.pod);
            self.invariants.broken(Invariant::Hook, self.now, what);
        }
        self.hooks.passed_last.remove(&(hook.pod.clone(), hook.phase));
        self.hooks.running.insert(id, (hook.pod.clone(), hook.phase));
        self.at(at, Due::Hook { id, run: self.run, end: HookEnd { how, message: String::new() } });
    }

    /// It has ended; if its run was killed, so was the command.
    pub(super) fn hook_ended(&mut self, id: ActionId, run: u32, end: HookEnd) {
        if run != self.run {
            return;
        }
        if let Some(hook) = self.hooks.running.remove(&id)
            && end.failure(hook.1).is_none()
        {
            self.hooks.passed_last.insert(hook.clone(), self.now);
            self.hooks.passed.insert(hook);
        }
        self.answer(id, Answer::Hook(end), run);
    }

    /// The run that they belonged to was killed.
    pub(super) fn kill_hooks(&mut self) {
        self.hooks.running.clear();
        self.hooks.passed_last.clear();
    }

    /// A complete rollout has run every command, and every pod's record says so.
    pub(super) fn judge_owed(&mut self) {
        let Some(hooks) = self.scenario.hooks.filter(|_| self.end == Some(EndResult::Complete)) else { return };
        let steady = !self.scenario.bad_answers && self.scenario.throttled.is_none() && self.scenario.refused.is_none();
        for goal in &self.judged.pods {
            let Some(pod) = self.api.pod(&goal.key).filter(|pod| !has_left(&self.goal, Some(pod))) else { continue };
            let of = |phase| (goal.key.clone(), phase);
            let is_ours = self.invariants.images.contains(&goal.key) && is_begun(&self.goal, pod);
            // Whoever has updated the pod meanwhile: after a `--before-pod` command comes an `--after-pod` command.
            let is_commanded = self.hooks.passed_last.contains_key(&of(HookPhase::Before));
            let lacks = (is_ours || is_commanded) && hooks.after && !self.hooks.passed.contains(&of(HookPhase::After));
            if lacks || is_ours && steady && UpdateRecord::owes_after_pod(pod, self.goal.id()) {
                let what = format!("{} has not had its command after it", goal.key);
                self.invariants.broken(Invariant::Hook, self.now, what);
            }
        }
    }
}
