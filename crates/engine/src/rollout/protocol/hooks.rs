//! The user's own commands around each pod, within a turn: they are started as actions, and their results taken in.
//!
//! `--before-pod`: once the pod's turn has come, and before anything of it is changed; it is not run again for a pod
//! that this rollout has begun with. `--after-pod`: once the pod is done, and back in its Services. The pod's record
//! says that it is owed from its first patch until it has ended well, so a run that goes on makes up for it; one that
//! was killed in between runs it again.

use std::collections::BTreeMap;

use crate::k8s::failure::Failure;
use crate::k8s::names::PodKey;
use crate::k8s::pod::Pod;
use crate::report::Notice;
use crate::report::progress::{Stage, UpdatePhase};
use crate::rollout::patch::after_pod_patch;
use crate::state::hook::{HookEnd, HookPhase, HookResult, HookRun};
use crate::state::record::UpdateRecord;

use crate::rollout::observed::{Judged, PodContext, TurnContext};
use crate::rollout::pod_run::{MAX_SENDS, PodIndex, PodRun, Sent};
use crate::rollout::pods::Pods;
use crate::rollout::{Action, Answer, steps};

use super::{Effect, Effects, RequestSource};

/// The state of one hook of one pod, in this run.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
enum State {
    #[default]
    NotRun,
    Runs,
    Passed,
    Failed(Failure),
}

#[derive(Debug, Clone, Default)]
struct PodHooks {
    before: State,
    after: State,
    /// Patches that note that no hook is owed any more.
    notes: u8,
}

#[derive(Debug, Clone, Default)]
pub(crate) struct HookRuns {
    pods: BTreeMap<usize, PodHooks>,
    ended: Vec<(PodKey, HookPhase, HookEnd)>,
}

impl HookRuns {
    fn of(&self, position: usize) -> PodHooks {
        self.pods.get(&position).cloned().unwrap_or_default()
    }

    pub(crate) fn answer(&mut self, pods: &Pods, asked: (usize, HookPhase), answer: &Answer) {
        let (position, phase) = asked;
        let end = if let Answer::Hook(end) = answer {
            end.clone()
        } else {
            // Nobody has seen it end well.
            let message = answer.message().unwrap_or_default().to_owned();
            HookEnd { how: HookResult::NotStarted, message }
        };
        *self.state(position, phase) = end.failure(phase).map_or(State::Passed, State::Failed);
        if let Some(run) = pods.run(position) {
            self.ended.push((run.goal.key.clone(), phase, end));
        }
    }

    fn state(&mut self, position: usize, phase: HookPhase) -> &mut State {
        let of_pod = self.pods.entry(position).or_default();
        match phase {
            HookPhase::Before => &mut of_pod.before,
            HookPhase::After => &mut of_pod.after,
        }
    }

    /// The run was asked to stop, and has ended the command: its bad end is no failure of the command.
    pub(crate) fn interrupted(&mut self, position: usize, phase: HookPhase) {
        let state = self.state(position, phase);
        if matches!(state, State::Failed(_)) {
            *state = State::NotRun;
        }
    }

    /// The server refuses the note that no hook is owed any more.
    pub(crate) fn refused(&mut self, position: usize) {
        self.pods.entry(position).or_default().notes = MAX_SENDS;
    }

    /// The pod's turn comes again.
    pub(crate) fn again(&mut self, position: usize) {
        *self.state(position, HookPhase::Before) = State::NotRun;
    }

    pub(crate) fn say(&mut self) -> Effects {
        let ended = std::mem::take(&mut self.ended).into_iter();
        Effects(ended.map(|(pod, hook, end)| Effect::Say(Notice::HookEnded { pod, hook, end })).collect())
    }

    pub(crate) fn phase(
        &self,
        context: TurnContext<'_>,
        subject: PodContext<'_>,
        run: &PodRun,
        judged: Judged,
    ) -> Judged {
        let is_over = matches!(judged.phase.stage(), Stage::Failed | Stage::Lost);
        let Some(pod) = subject.pod.filter(|_| !is_over) else { return judged };
        let hooks = self.of(subject.position);
        match (&judged.phase, &hooks.before, &hooks.after) {
            (_, State::Failed(failure), _) | (_, _, State::Failed(failure)) => {
                UpdatePhase::Failing(failure.clone()).into()
            }
            (_, State::Runs, _) => UpdatePhase::Hook { hook: HookPhase::Before }.into(),
            (UpdatePhase::Waiting, State::Passed, _) => {
                let first = context.goal.steps_of(subject.goal).into_iter().next().unwrap_or_default();
                UpdatePhase::Next { containers: first.into_iter().cloned().collect() }.into()
            }
            (UpdatePhase::Done, _, _) if is_after(context, pod, run, &hooks) => {
                UpdatePhase::Hook { hook: HookPhase::After }.into()
            }
            (_, _, _) => judged,
        }
    }

    /// Starts the hook before a pod whose turn has come; `None` where there is none to be run first.
    pub(crate) fn begin(&mut self, context: TurnContext<'_>, pods: &Pods, position: usize) -> Option<Effects> {
        let (run, pod) = context.found(pods, position)?;
        let is_wanted = context.goal.hooks.before_pod.is_some()
            && self.of(position).before == State::NotRun
            && !run.request.patched
            && !steps::is_begun(context.goal, &run.goal, pod);
        if is_wanted { self.ask(context, pods, position, HookPhase::Before) } else { None }
    }

    /// Takes the pods that are done one step further: to their hook, and from it.
    pub(crate) fn advance(&mut self, context: TurnContext<'_>, pods: &Pods) -> Effects {
        let mut effects = Effects::default();
        for position in pods.list(PodIndex::Hooked) {
            let Some((run, pod)) = context.found(pods, position) else { continue };
            if run.phase != Some(UpdatePhase::Hook { hook: HookPhase::After }) {
                continue;
            }
            match self.of(position).after {
                State::NotRun => {
                    effects.extend(self.ask(context, pods, position, HookPhase::After).unwrap_or_default());
                }
                State::Passed if run.request.may_send(context.now) => {
                    if let Some(patch) = after_pod_patch(pod, &context.goal.field_manager) {
                        let notes = &mut self.pods.entry(position).or_default().notes;
                        *notes = notes.saturating_add(1);
                        effects.0.push(Effect::Sent(position, Sent::HookNote));
                        effects.act(RequestSource::Pod(position), Action::Patch(patch));
                    }
                }
                State::Passed | State::Runs | State::Failed(_) => {}
            }
        }
        effects
    }

    fn ask(&mut self, context: TurnContext<'_>, pods: &Pods, position: usize, hook: HookPhase) -> Option<Effects> {
        let (PodRun { goal, .. }, pod) = context.found(pods, position)?;
        let run = HookRun {
            phase: hook,
            pod: goal.key.clone(),
            node: pod.spec.node_name.clone(),
            workload: context.goal.workload.clone(),
            containers: context.goal.steps_of(goal).concat().into_iter().cloned().collect(),
        };
        *self.state(position, hook) = State::Runs;
        let mut effects = Effects::default();
        effects.0.push(Effect::Phase(position, UpdatePhase::Hook { hook }));
        effects.say(Notice::HookBegins { pod: goal.key.clone(), hook });
        effects.act(RequestSource::Hook(position, hook), Action::Hook(run));
        Some(effects)
    }
}

/// Whether a pod that is done has its hook before it, or in progress, or is not noted to have had it.
fn is_after(context: TurnContext<'_>, pod: &Pod, run: &PodRun, hooks: &PodHooks) -> bool {
    let owes = UpdateRecord::owes_after_pod(pod, context.goal.id());
    context.goal.hooks.after_pod.is_some()
        && match &hooks.after {
            // Also where somebody else has updated the pod after its `--before-pod` command.
            State::NotRun => owes || run.request.patched || hooks.before == State::Passed,
            State::Runs => true,
            State::Passed => owes && !(hooks.notes >= MAX_SENDS && run.request.is_idle()),
            State::Failed(_) => false,
        }
}
