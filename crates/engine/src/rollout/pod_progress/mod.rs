//! Where one pod stands, decided from the pod, its goal, and the little that this run remembers.

mod container;
mod resizing;

pub(super) use container::{SeenContainers, has_ended_once};

use std::time::Duration;

use crate::change::FieldProgress;
use crate::k8s::names::ContainerName;
use crate::k8s::pod::{ContainerStatus, Pod};
use crate::report::progress::{NOT_SCHEDULED, UpdatePhase};
use crate::report::proof::{BEING_DELETED, DELETED, LEFT};
use crate::rollout::drain::is_ready_but_for_our_gate;
use crate::rollout::patch::PodPart;
use crate::state::evidence;

use self::container::{ContainerProgress, note_containers};
use super::Now;
use super::abandoned;
use super::goal::{ContainerGoal, Goal, PodGoal};
use super::observed::{Judged, PodContext, TurnContext};
use super::pod_run::{MAX_SENDS, PodRun, ReadyKey, Sent, failure_of_pod};
use super::pods::Pods;
use super::steps;
use crate::state::policy::{CANARY_HOLD_SECONDS, OnDeferred, RESTARTED_HOLD_SECONDS};
use crate::value::duration::second;

/// Judges one pod, and notes in `run` what is seen for the first time.
pub(super) fn pod_progress(context: TurnContext<'_>, pods: &Pods, subject: PodContext<'_>, run: &mut PodRun) -> Judged {
    let (observed, key) = (context.observed, &subject.goal.key);
    let Some(pod) = subject.pod else {
        let seen = observed.is_deleted(key) || context.is_live();
        // A pod that is watched by its name cannot leave by a label.
        let bare = if context.goal.workload.kind.has_template() { LEFT } else { DELETED };
        let why = || observed.why_deleted(key).unwrap_or(bare).to_owned();
        return if seen { UpdatePhase::Gone { why: why() }.into() } else { UpdatePhase::Waiting.into() };
    };
    PodJudge { context, pods, goal: subject.goal, pod }.judge(run)
}

/// Returns the phase of a pod with everything else done, where the kubelet has deferred its resize, or reports why it
/// cannot carry it out now (reason `Error`), and the rollout does not wait for it. A container that restarts for its
/// resize is waited for: nobody would keep the budget when the kubelet comes to it.
pub(super) fn left_to_the_kubelet(context: TurnContext<'_>, goal: &PodGoal, pod: &Pod) -> Option<UpdatePhase> {
    let is_left = context.goal.policy().on_deferred == OnDeferred::Leave
        && !context.goal.is_followed()
        && !goal.containers.values().any(|container| container.by_resize);
    let FieldProgress::Waiting { why, deferred } = goal.fields.of_part(PodPart::Resize, pod) else { return None };
    (is_left && (deferred || why.is_some())).then(|| UpdatePhase::Left { why, node: pod.spec.node_name.clone() })
}

#[derive(Clone, Copy)]
struct PodJudge<'a> {
    context: TurnContext<'a>,
    pods: &'a Pods,
    goal: &'a PodGoal,
    pod: &'a Pod,
}

impl<'a> PodJudge<'a> {
    fn judge(self, run: &mut PodRun) -> Judged {
        let Self { context, goal, pod, .. } = self;
        if let Some(why) = gone(context.goal, pod) {
            return UpdatePhase::Gone { why }.into();
        }
        // What was reported and ends the rollout stays so while the run is ending: a crashed container is started
        // again, and another writer may change its mind.
        if let Some(ends @ (UpdatePhase::Failing(_) | UpdatePhase::Conflict { .. })) = &run.phase
            && context.ending_since.is_some()
        {
            return ends.clone().into();
        }
        if let Some(path) = goal.fields.conflict_in(pod) {
            return UpdatePhase::Overtaken { why: format!("its {path} was changed by another client") }.into();
        }
        if run.evidence.asked.iter().any(|name| !steps::is_asked(context.goal, pod, name)) {
            return UpdatePhase::Overtaken { why: "another client has replaced the note of its restart".into() }.into();
        }
        note_containers(&mut run.evidence.since, pod, context.now);
        let containers = goal.containers.iter();
        let mut progress: Vec<(ContainerName, ContainerProgress)> =
            containers.map(|(name, wanted)| (name.clone(), self.container(name, wanted, run))).collect();
        // Another writer is active, whatever the server answered to this run.
        if let Some(failure) = run.request.refused.as_ref().filter(|_| conflict(&progress).is_none()) {
            return UpdatePhase::Failing(failure.clone()).into();
        }
        if goal.fields.of_part(PodPart::Pod, pod) == FieldProgress::NotAsked {
            progress.push((ContainerName::default(), ContainerProgress::NotAsked));
        }
        if context.goal.owner.is_some() && pod.is_finished() {
            let why = pod.disruption().unwrap_or_else(|| format!("it is {} for good", pod.status.phase));
            return UpdatePhase::Gone { why }.into();
        }
        let is_left = left_to_the_kubelet(context, goal, pod).is_some();
        if !is_left && let Some(judged) = self.resize(run, &progress) {
            return judged;
        }
        let steps = context.goal.steps_of(goal);
        run.steps.is_between = false;
        if let Some(next) = steps::next(context.goal, goal, pod) {
            if next != run.steps.next {
                (run.steps.next, run.request.sends) = (next, 0);
            }
            if next > 0 || steps::is_begun_by_resize(context.goal, goal, pod) {
                return self.between(run, &steps, next, progress);
            }
        }
        let is_under_way = |(_, progress): &(ContainerName, ContainerProgress)| {
            !matches!(progress, ContainerProgress::NotAsked | ContainerProgress::Runs | ContainerProgress::Conflict(_))
        };
        if context.goal.is_in_turns() && progress.iter().any(is_under_way) {
            // Its controller empties a container once the one in its place is ready.
            progress.retain(|(_, progress)| !matches!(progress, ContainerProgress::NotAsked));
        }
        if let Some(judged) = decided(pod, &progress, run) {
            return judged;
        }
        self.settle(run, &self.restarting(goal.containers.keys()), true)
    }

    /// Those of the containers that restart when their image changes.
    fn restarting(self, names: impl Iterator<Item = &'a ContainerName>) -> Vec<&'a ContainerName> {
        let is_one = |(name, goal): (&ContainerName, &ContainerGoal)| {
            goal.restarts && !never_started(self.context.goal, (name, goal), self.pod)
        };
        names.filter(|name| self.goal.containers.get_key_value(*name).is_some_and(is_one)).collect()
    }

    /// Some steps of the pod are asked for and others not: those that are must be proven before the next one is sent.
    /// The pod as a whole need not be ready: what makes it unready may be a container whose turn has not come.
    fn between(
        self,
        run: &mut PodRun,
        steps: &[Vec<&'a ContainerName>],
        next: usize,
        progress: Vec<(ContainerName, ContainerProgress)>,
    ) -> Judged {
        let of_them = |from: usize| steps.iter().take(next).skip(from).flatten().copied();
        let earlier: Vec<&'a ContainerName> = of_them(0).collect();
        let (mut asked, others): (Vec<_>, Vec<_>) = progress.into_iter().partition(|(name, _)| earlier.contains(&name));
        if let Some(conflict) = conflict(&others) {
            return conflict.into();
        }
        let is_begun = run.request.patched || steps::is_begun(self.context.goal, self.goal, self.pod);
        run.steps.is_between = is_begun;
        let waits = not_asked_yet(run);
        let is_under_way =
            run.request.sent == Sent::Images && run.request.sent_step == next && waits == UpdatePhase::Patched;
        let judged = |asked: &[(ContainerName, ContainerProgress)], run: &PodRun| decided(self.pod, asked, run);
        // Before anything of a pod goes back it is as before the rollout, and its state keeps nothing from going back.
        let is_as_before = self.context.goal.is_back() && !is_begun;
        let goes_past = |run: &mut PodRun| {
            is_as_before || abandoned::goes_past(self.context, run, next, judged(&asked, run).as_ref())
        };
        if !is_under_way && goes_past(run) {
            asked.clear();
        }
        asked.retain(|(name, _)| of_them(run.steps.passed).any(|one| one == name));
        match judged(&asked, run) {
            Some(judged) if judged.phase.stage().is_end() => return judged,
            Some(_) | None if is_under_way => return UpdatePhase::Patched.into(),
            Some(judged) => return judged,
            None => {}
        }
        if is_begun {
            let settled = self.settle(run, &self.restarting(of_them(run.steps.passed)), false);
            if settled.phase != UpdatePhase::Done {
                return settled;
            }
        }
        // A request in progress for a pod of which nothing was changed comes first.
        if !is_begun || matches!(waits, UpdatePhase::Failing(_)) {
            return waits.into();
        }
        let containers = steps.get(next).into_iter().flatten().map(|name| (*name).clone());
        UpdatePhase::Next { containers: containers.collect() }.into()
    }

    /// The right containers run: are they ready (and the pod, where they are all of it), and has that held?
    fn settle(self, run: &mut PodRun, restarted: &[&ContainerName], whole: bool) -> Judged {
        let Self { context, pod, .. } = self;
        let (goal, now) = (context.goal, context.now);
        if restarted.is_empty() {
            return UpdatePhase::Done.into();
        }
        let is_ready = |name: &ContainerName| pod.status_of(name).is_some_and(|status| status.ready);
        let unready: Vec<ContainerName> =
            restarted.iter().filter(|name| !is_ready(name)).map(|name| (*name).clone()).collect();
        // What kept a pod from being ready before the rollout, and is no part of it, must not hold the way back for
        // ever.
        let is_whole = is_ready_but_for_our_gate(pod);
        let goes_without = !is_whole && goal.is_back() && pod.unready_node().is_none();
        let whole = whole && !goes_without;
        if !unready.is_empty() || whole && !is_whole {
            run.clocks.ready_since = None;
            return UpdatePhase::Starting { containers: unready }.into();
        }
        let key = ReadyKey::of(pod, restarted, whole);
        let since = match &run.clocks.ready_since {
            Some((known, since)) if *known == key => *since,
            Some(_) | None => {
                run.clocks.ready_since = Some((key, now));
                now
            }
        };
        // A container proven by its restart alone is the wrong one only if the kubelet is about to stop it.
        let by_restart = restarted.iter().any(|name| run.evidence.by_restart.contains_key(*name));
        let is_given = goal.policy().min_ready_seconds_given.is_some();
        let least = if goes_without || by_restart && !is_given { RESTARTED_HOLD_SECONDS } else { 0 };
        let hold_seconds = self.hold_seconds(restarted).max(least);
        let to_come = u64::from(hold_seconds).saturating_sub(self.ready_before(restarted));
        let until = since + Duration::from_secs(to_come);
        // While the watch is lost nobody sees whether it has held; a pod that was done stays done.
        if until <= now
            && (context.is_live() || matches!(run.phase, Some(UpdatePhase::Done | UpdatePhase::Left { .. })))
        {
            return UpdatePhase::Done.into();
        }
        let phase = match goes_without {
            true => UpdatePhase::Starting { containers: unready },
            false => UpdatePhase::Stabilizing { hold_seconds },
        };
        Judged { phase, wake: Some(until) }
    }

    /// For how many seconds a pod that is followed had been ready with these containers when it was read, by the
    /// server's clock: that time counts towards the hold.
    fn ready_before(self, restarted: &[&ContainerName]) -> u64 {
        let Some(read_at) = self.context.goal.read_at() else {
            return 0;
        };
        let started = |name: &&ContainerName| second(self.pod.status_of(name)?.started_at()?);
        let turned = self.pod.ready_condition().and_then(|ready| second(ready.last_transition_time.as_deref()?));
        let times: Option<Vec<i64>> = restarted.iter().map(started).chain([turned]).collect();
        let since = times.and_then(|times| times.into_iter().max());
        // Both are truncated to whole seconds.
        let held = second(read_at).zip(since).map_or(0, |(read_at, since)| read_at - since - 1);
        u64::try_from(held).unwrap_or(0)
    }

    /// How long ready must hold.
    ///
    /// One startup period, because kubelets 1.35 to 1.37 show `started` and `ready` of a replaced container before its
    /// startup probe ran (kubernetes#141155).
    fn hold_seconds(self, restarted: &[&ContainerName]) -> u32 {
        let (goal, pod) = (self.context.goal, self.pod);
        let containers = || restarted.iter().filter_map(|name| pod.spec_of(name));
        let startup = containers()
            .filter_map(|container| container.startup_probe.as_ref())
            .map(|probe| probe.period_seconds.unwrap_or(10))
            .max();
        let has_ended = restarted.iter().any(|name| has_ended_once(pod, name, &self.baseline(name)));
        let is_blind = containers().any(|container| container.readiness_probe.is_none());
        let is_blind_canary = is_blind && self.pods.is_canary(&pod.key, goal);
        let least = [
            startup.unwrap_or(0),
            if has_ended { RESTARTED_HOLD_SECONDS } else { 0 },
            if is_blind_canary { CANARY_HOLD_SECONDS } else { 0 },
        ];
        goal.policy().hold_seconds(least.into_iter().max().unwrap_or(0))
    }
}

/// Whether a container goes back that no node has created: nothing of it runs, and nothing that ran has to be restored.
/// A container that waits for an init container waits for ever if that one crashes.
fn never_started(goal: &Goal, (name, container): (&ContainerName, &ContainerGoal), pod: &Pod) -> bool {
    let waits = || {
        let has_not_begun = |name| pod.status_of(name).is_some_and(ContainerStatus::has_not_begun);
        pod.waits_for_init_containers() && evidence::has_seen(pod) && has_not_begun(name)
    };
    (goal.is_back() || container.goes_back) && !goal.is_followed() && (pod.is_unstarted() || waits())
}

/// The resize is to be sent next: these containers restart for it, or change without a restart.
pub(super) fn next_resize(goal: &PodGoal) -> UpdatePhase {
    UpdatePhase::Next { containers: goal.fields.resized().cloned().collect() }
}

/// The pod does not ask for the wanted images: it waits, or a request is in progress, or its tries are used up.
fn not_asked_yet(run: &PodRun) -> UpdatePhase {
    if !run.request.is_idle() {
        return UpdatePhase::Patched;
    }
    if run.request.sends < MAX_SENDS {
        return UpdatePhase::Waiting;
    }
    let message = format!("the server did not take the patch in {MAX_SENDS} tries, each after a fresh read of the pod");
    UpdatePhase::Failing(failure_of_pod("TooManyTries", message))
}

fn conflict(progress: &[(ContainerName, ContainerProgress)]) -> Option<UpdatePhase> {
    progress.iter().find_map(|(container, progress)| {
        let ContainerProgress::Conflict(image) = progress else { return None };
        Some(UpdatePhase::Conflict { container: container.clone(), image: image.clone() })
    })
}

/// Every phase before the right containers run.
fn decided(pod: &Pod, progress: &[(ContainerName, ContainerProgress)], run: &PodRun) -> Option<Judged> {
    let mut wake = None;
    let (mut not_asked, mut restarting, mut why_unverified, mut held) = (false, None, None, None);
    let (mut containers, mut unverified) = (Vec::new(), Vec::new());
    for (name, progress) in progress {
        if matches!(
            progress,
            ContainerProgress::Restarting(_) | ContainerProgress::BackOff { .. } | ContainerProgress::MayFail(_)
        ) {
            containers.push(name.clone());
        }
        match progress {
            ContainerProgress::Conflict(image) => {
                return Some(UpdatePhase::Conflict { container: name.clone(), image: image.clone() }.into());
            }
            ContainerProgress::Failing(failure) => return Some(UpdatePhase::Failing(failure.clone()).into()),
            ContainerProgress::NotAsked => not_asked = true,
            ContainerProgress::Restarting(waiting) => {
                restarting = Some(restarting.flatten().or_else(|| waiting.clone()));
            }
            ContainerProgress::BackOff { waiting, until } => {
                restarting = Some(Some(waiting.clone()));
                held = Some(until.clone());
            }
            ContainerProgress::MayFail(at) => {
                wake = Some(wake.map_or(*at, |wake: Now| wake.min(*at)));
                restarting = Some(restarting.flatten());
            }
            ContainerProgress::Unverified { why, until } => {
                wake = [wake, *until].into_iter().flatten().min();
                unverified.push(name.clone());
                why_unverified = Some(why.clone());
            }
            ContainerProgress::Runs => {}
        }
    }
    if not_asked && pod.is_finished() {
        return Some(UpdatePhase::Gone { why: format!("it is {} for good", pod.status.phase) }.into());
    }
    if not_asked {
        return Some(not_asked_yet(run).into());
    }
    if pod.is_finished() {
        let message = format!("the pod is {} for good: its restartPolicy lets nothing start again", pod.status.phase);
        return Some(UpdatePhase::Failing(failure_of_pod("PodFinished", message)).into());
    }
    if let Some(waiting) = restarting {
        // Nothing of it restarts before a node takes it.
        let waiting = pod.unscheduled().map(|why| format!("{NOT_SCHEDULED}: {why}")).or(waiting);
        return Some(Judged { phase: UpdatePhase::Restarting { containers, waiting, until: held }, wake });
    }
    why_unverified.map(|why| Judged { phase: UpdatePhase::Unverified { containers: unverified, why }, wake })
}

/// Why the pod is not the one of the goal any more.
fn gone(goal: &Goal, pod: &Pod) -> Option<String> {
    if pod.terminating {
        return Some(pod.disruption().unwrap_or_else(|| BEING_DELETED.to_owned()));
    }
    if goal.is_in_turns() || pod.belongs_to(&goal.controllers) {
        return None;
    }
    let by = pod.controller().map(|owner| format!("its controller is {} {} now", owner.kind, owner.name));
    Some(by.unwrap_or_else(|| "its controller released it".into()))
}

#[cfg(test)]
mod tests;
