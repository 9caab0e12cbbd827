//! The person's own commands around each pod, within a turn: asked for as actions, and their ends taken in.
//!
//! Before: once the pod's turn has come, and before anything of it is touched; it is not asked for again for a pod that
//! this rollout has begun with. After: once the pod is done, and back in its Services. That it is owed stands in the
//! pod's record from its first patch until it has ended well, so a run that goes on makes up for it; one that was killed
//! in between runs it again.

use std::collections::BTreeMap;

use crate::engine::failure::Failure;
use crate::engine::hook::{HookEnd, HookPhase, HookResult, HookRun};
use crate::engine::names::PodKey;
use crate::engine::patch::after_pod_patch;
use crate::engine::pod::Pod;
use crate::engine::progress::{PodPhase, Stage};
use crate::engine::record::UpdateRecord;
use crate::engine::report::Notice;

use super::fault::Fault;
use super::goal::{Goal, Mode, PodGoal};
use super::ledger::{Entry, Ledger, MAX_SENDS, Request, Sent};
use super::pod_phase::Judged;
use super::world::World;
use super::{Action, ActionId, Answer, Now, Turn, drain, steps, verdict};

/// What became of one hook of one pod, in this run.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
enum State {
    #[default]
    NotRun,
    Runs,
    Passed,
    Failed(Failure),
}

/// What is kept of one pod.
#[derive(Debug, Clone, Default)]
pub(super) struct HookEntry {
    before: State,
    after: State,
    /// Patches that note that nothing is owed any more.
    pub(super) notes: u8,
}

impl HookEntry {
    /// Returns whether a hook was begun before the pod.
    pub(super) fn is_begun(&self) -> bool {
        self.before != State::NotRun
    }

    /// The pod's turn comes once more.
    pub(super) fn again(&mut self) {
        self.before = State::NotRun;
    }
}

/// What is kept of all of them.
#[derive(Debug, Clone, Default)]
pub(super) struct HookLedger {
    asked: BTreeMap<ActionId, (usize, HookPhase)>,
    /// To be told.
    ended: Vec<(PodKey, HookPhase, HookEnd)>,
}

/// Takes in the answer to a hook; `None` when the action was none. Returns whose it is.
pub(super) fn answer(ledger: &mut Ledger, id: ActionId, answer: &Answer) -> Option<usize> {
    let (position, phase) = ledger.hooks.asked.remove(&id)?;
    let end = match answer {
        Answer::Hook(end) => end.clone(),
        // Whatever else comes, nobody has seen it end well.
        Answer::Accepted | Answer::Read => HookEnd { how: HookResult::NotStarted, message: String::new() },
        Answer::Moved { message }
        | Answer::NotDone { message, .. }
        | Answer::Refused { message, .. }
        | Answer::Unknown { message }
        | Answer::NotRead { message } => HookEnd { how: HookResult::NotStarted, message: message.clone() },
    };
    let state = end.failure(phase).map_or(State::Passed, State::Failed);
    if let Some(entry) = ledger.entries.get_mut(position) {
        match phase {
            HookPhase::Before => entry.hooks.before = state,
            HookPhase::After => entry.hooks.after = state,
        }
    }
    if let Some(pod) = ledger.pods.get(position) {
        ledger.hooks.ended.push((pod.key.clone(), phase, end));
    }
    Some(position)
}

/// Tells which have ended.
pub(super) fn say(ledger: &mut Ledger, turn: &mut Turn) {
    let ended = std::mem::take(&mut ledger.hooks.ended).into_iter();
    turn.notices.extend(ended.map(|(pod, hook, end)| Notice::HookEnded { pod, hook, end }));
}

/// Says where a pod stands, with its hooks.
pub(super) fn phase(goal: &Goal, pod_goal: &PodGoal, world: &World, entry: &Entry, judged: Judged) -> Judged {
    let Some(pod) = world.pod(&pod_goal.key).filter(|_| goal.mode != Mode::Follow) else { return judged };
    let hooks = &entry.hooks;
    if matches!(judged.phase.stage(), Stage::Failed | Stage::Lost) {
        return judged;
    }
    match (&judged.phase, &hooks.before, &hooks.after) {
        (_, State::Failed(failure), _) | (_, _, State::Failed(failure)) => PodPhase::Failing(failure.clone()).into(),
        (_, State::Runs, _) => PodPhase::Hook { hook: HookPhase::Before }.into(),
        (PodPhase::Waiting, State::Passed, _) => {
            let first = steps::of(goal, pod_goal).into_iter().next().unwrap_or_default();
            PodPhase::Next { containers: first.into_iter().cloned().collect() }.into()
        }
        (PodPhase::Done, _, _) if is_after(goal, pod, entry) => PodPhase::Hook { hook: HookPhase::After }.into(),
        (_, _, _) => judged,
    }
}

/// Whether a pod that is done has its hook before it, or under way, or is not noted to have had it.
fn is_after(goal: &Goal, pod: &Pod, entry: &Entry) -> bool {
    let owes = UpdateRecord::owes_after_pod(pod, &goal.id);
    goal.hooks.after_pod.is_some()
        && match &entry.hooks.after {
            // Also where somebody else has updated the pod after the one before it.
            State::NotRun => owes || entry.patched || entry.hooks.before == State::Passed,
            State::Runs => true,
            State::Passed => owes && !is_tired(entry),
            State::Failed(_) => false,
        }
}

fn is_tired(entry: &Entry) -> bool {
    entry.hooks.notes >= MAX_SENDS && matches!(entry.request, Request::Idle | Request::BackOff { .. })
}

/// Asks for the hook before a pod whose turn has come; returns whether that is to be done first.
pub(super) fn begin(
    goal: &Goal,
    position: usize,
    world: &World,
    ledger: &mut Ledger,
    now: Now,
    turn: &mut Turn,
) -> bool {
    let (Some(pod_goal), Some(entry)) = (ledger.pods.get(position), ledger.entries.get(position)) else { return false };
    let Some(pod) = world.pod(&pod_goal.key) else { return false };
    let is_wanted = goal.hooks.before_pod.is_some()
        && goal.mode != Mode::Follow
        && entry.hooks.before == State::NotRun
        && !entry.patched
        && !steps::is_begun(goal, pod_goal, pod)
        && !ledger.has(Fault::ForgetsHook);
    if is_wanted {
        ask(goal, position, world, ledger, HookPhase::Before, now, turn);
    }
    is_wanted
}

/// Takes the pods that are done one step further: to their hook, and from it.
pub(super) fn advance(goal: &Goal, world: &World, ledger: &mut Ledger, now: Now, turn: &mut Turn) {
    let hooked: Vec<usize> = ledger.hooked.iter().copied().collect();
    for position in hooked {
        ledger.look();
        let (Some(pod_goal), Some(entry)) = (ledger.pods.get(position), ledger.entries.get_mut(position)) else {
            continue;
        };
        let Some(pod) = world.pod(&pod_goal.key) else { continue };
        match (&entry.phase, &entry.hooks.after) {
            (Some(PodPhase::Hook { hook: HookPhase::After }), State::NotRun) => {
                ask(goal, position, world, ledger, HookPhase::After, now, turn);
            }
            (Some(PodPhase::Hook { hook: HookPhase::After }), State::Passed) if drain::may_send(entry, now) => {
                if let Some(patch) = after_pod_patch(pod, &goal.field_manager) {
                    entry.hooks.notes = entry.hooks.notes.saturating_add(1);
                    drain::push(ledger, position, patch, Sent::HookNote, turn);
                }
            }
            (_, _) => {}
        }
    }
}

fn ask(goal: &Goal, position: usize, world: &World, ledger: &mut Ledger, hook: HookPhase, now: Now, turn: &mut Turn) {
    let Some(pod_goal) = ledger.pods.get(position).cloned() else { return };
    let Some(pod) = world.pod(&pod_goal.key) else { return };
    let run = HookRun {
        phase: hook,
        pod: pod_goal.key.clone(),
        node: pod.spec.node_name.clone(),
        workload: goal.workload.clone(),
        containers: steps::of(goal, &pod_goal).concat().into_iter().cloned().collect(),
    };
    let id = ledger.next_id();
    ledger.hooks.asked.insert(id, (position, hook));
    let Some(entry) = ledger.entries.get_mut(position) else { return };
    match hook {
        HookPhase::Before => entry.hooks.before = State::Runs,
        HookPhase::After => entry.hooks.after = State::Runs,
    }
    entry.started.get_or_insert(now);
    let phase = PodPhase::Hook { hook };
    if entry.phase.as_ref() != Some(&phase) {
        turn.notices.push(Notice::Pod { pod: pod_goal.key.clone(), phase: phase.clone() });
    }
    entry.phase = Some(phase);
    let deadline = verdict::deadline(goal, world, &pod_goal, entry);
    ledger.timers.extend(deadline.map(|at| (at, position)));
    ledger.budget_said = false;
    super::index(goal, world, ledger, position, !pod.is_ready());
    ledger.down.insert(pod_goal.key.clone());
    turn.notices.push(Notice::HookBegins { pod: pod_goal.key.clone(), hook });
    turn.actions.push((id, Action::Hook(run)));
}
