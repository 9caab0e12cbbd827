//! Where one pod stands, decided from the pod, its goal, and the little that this run remembers.

mod resizing;

use std::time::Duration;

use crate::engine::change::FieldProgress;
use crate::engine::k8s::failure::{self, Failure, STALE_REASON_SECONDS, Urgency};
use crate::engine::k8s::names::{ContainerName, RolloutId};
use crate::engine::k8s::pod::{Container, ContainerStatus, Pod, Terminated};
use crate::engine::report::progress::{NOT_SCHEDULED, PodPhase};
use crate::engine::report::proof::{BEING_DELETED, DELETED, LEFT};
use crate::engine::rollout::drain::is_ready_but_for_our_gate;
use crate::engine::rollout::patch::PodPart;
use crate::engine::state::evidence::{self, Baseline, Proof};
use crate::engine::state::record::UpdateRecord;
use crate::engine::state::starts;

use super::Now;
use super::entry::{Entry, MAX_SENDS, ReadyKey, Request, Sent};
use super::fault::Fault;
use super::given_up;
use super::goal::{ContainerGoal, Goal, Mode, PodGoal};
use super::let_be::{self, LetBe};
use super::look::{Look, Visit};
use super::pods::Pods;
use super::steps;
use crate::engine::state::policy::{CANARY_HOLD_SECONDS, OnDeferred, RESTARTED_HOLD_SECONDS};
use crate::engine::value::duration::second;

/// The phase, and when it may change without any observation.
pub(super) struct Judged {
    pub(super) phase: PodPhase,
    pub(super) wake: Option<Now>,
}

impl From<PodPhase> for Judged {
    fn from(phase: PodPhase) -> Self {
        Self { phase, wake: None }
    }
}

/// What one container says.
enum Progress {
    /// The pod does not ask for the wanted image yet.
    NotAsked,
    Moved(String),
    Restarting(Option<String>),
    /// Held by the kubelet's back-off until about then, without having crashed.
    BackOff {
        waiting: String,
        until: String,
    },
    /// Not proven, unless the kubelet lets it be until then.
    Unverified {
        why: String,
        until: Option<Now>,
    },
    Failing(Failure),
    /// Failing, if it is still so at that time.
    MayFail(Now),
    Runs,
}

impl Progress {
    fn failure(&self) -> Option<&Failure> {
        if let Self::Failing(failure) = self { Some(failure) } else { None }
    }
}

/// Judges one pod. `entry` is what is kept of it: when things were first seen, by our clock.
pub(super) fn pod_phase(look: Look<'_>, pods: &Pods, visit: Visit<'_>, entry: &mut Entry) -> Judged {
    let (world, key) = (look.world, &visit.goal.key);
    let Some(pod) = visit.pod else {
        let seen = world.is_deleted(key) || look.is_live();
        // A pod that is watched by its name cannot leave by a label.
        let bare = if look.goal.workload.kind.has_template() { LEFT } else { DELETED };
        let why = || world.why_deleted(key).unwrap_or(bare).to_owned();
        return if seen { PodPhase::Gone { why: why() }.into() } else { PodPhase::Waiting.into() };
    };
    PodJudge { look, pods, goal: visit.goal, pod }.judge(entry)
}

/// Returns what a pod with everything else done is in, where the kubelet has put its resize off, or says why it cannot carry
/// it out now (reason `Error`), and is not waited for. A container that restarts for its resize is: nobody would keep the budget when the kubelet comes to it.
pub(super) fn left_to_the_kubelet(look: Look<'_>, goal: &PodGoal, pod: &Pod) -> Option<PodPhase> {
    let is_left = look.goal.policy.on_deferred == OnDeferred::Leave
        && look.goal.mode != Mode::Follow
        && !goal.containers.values().any(|container| container.by_resize);
    match goal.fields.of_part(PodPart::Resize, pod) {
        FieldProgress::Waiting { why, deferred } if is_left && (deferred || why.is_some()) => {
            Some(PodPhase::Left { why, node: pod.spec.node_name.clone() })
        }
        FieldProgress::Waiting { .. }
        | FieldProgress::NotAsked
        | FieldProgress::Failed { .. }
        | FieldProgress::Done => None,
    }
}

/// The pod that is judged, and what it is judged by.
#[derive(Clone, Copy)]
struct PodJudge<'a> {
    look: Look<'a>,
    pods: &'a Pods,
    goal: &'a PodGoal,
    pod: &'a Pod,
}

impl<'a> PodJudge<'a> {
    fn judge(self, entry: &mut Entry) -> Judged {
        let Self { look, goal, pod, .. } = self;
        if let Some(why) = gone(look.goal, pod) {
            return PodPhase::Gone { why }.into();
        }
        // What was told and ends the rollout stays so while the end is on its way: a crashed container is started again, and
        // another writer may change his mind.
        if let Some(ends @ (PodPhase::Failing(_) | PodPhase::Moved { .. })) = &entry.phase
            && look.ending_since.is_some()
        {
            return ends.clone().into();
        }
        if let Some(path) = goal.fields.conflict_in(pod).filter(|_| !look.has(Fault::IgnoresOtherSize)) {
            return PodPhase::Overtaken { why: format!("its {path} was changed by another client") }.into();
        }
        let_be::note(&mut entry.since, pod, look.now);
        let containers = goal.containers.iter();
        let mut progress: Vec<(ContainerName, Progress)> =
            containers.map(|(name, wanted)| (name.clone(), self.container(name, wanted, entry))).collect();
        // Another writer is at work, whatever the server said to us.
        if let Some(failure) = entry.refused.as_ref().filter(|_| moved(&progress).is_none()) {
            return PodPhase::Failing(failure.clone()).into();
        }
        if goal.fields.of_part(PodPart::Pod, pod) == FieldProgress::NotAsked {
            progress.push((ContainerName::default(), Progress::NotAsked));
        }
        if look.goal.mode == Mode::Durable && pod.is_finished() {
            let why = pod.disruption().unwrap_or_else(|| format!("it is {} for good", pod.status.phase));
            return PodPhase::Gone { why }.into();
        }
        let is_left = left_to_the_kubelet(look, goal, pod).is_some();
        if !is_left && let Some(judged) = self.resize(entry, &progress) {
            return judged;
        }
        let steps = steps::of(look.goal, goal);
        entry.is_between = false;
        if let Some(next) = steps::next(&steps, goal, pod) {
            if next != entry.step {
                (entry.step, entry.sends) = (next, 0);
            }
            if next > 0 || steps::is_begun_by_resize(look.goal, goal, pod) {
                return self.between(entry, &steps, next, progress);
            }
        }
        if let Some(judged) = decided(pod, &progress, entry, look.has(Fault::RetriesForever)) {
            return judged;
        }
        self.settle(entry, &self.restarting(goal.containers.keys()), true)
    }

    /// Those of the containers that restart when their image changes.
    fn restarting(self, names: impl Iterator<Item = &'a ContainerName>) -> Vec<&'a ContainerName> {
        let is_one = |(name, goal): (&ContainerName, &ContainerGoal)| {
            goal.restarts && !never_started(self.look.goal, (name, goal), self.pod)
        };
        names.filter(|name| self.goal.containers.get_key_value(*name).is_some_and(is_one)).collect()
    }

    /// Some steps of the pod are asked for and others not: those that are must be proven before the next one is sent. The
    /// pod as a whole need not be ready: what makes it unready may be a container whose turn has not come.
    fn between(
        self,
        entry: &mut Entry,
        steps: &[Vec<&'a ContainerName>],
        next: usize,
        progress: Vec<(ContainerName, Progress)>,
    ) -> Judged {
        let unbounded = self.look.has(Fault::RetriesForever);
        let of_them = |from: usize| steps.iter().take(next).skip(from).flatten().copied();
        let earlier: Vec<&'a ContainerName> = of_them(0).collect();
        let (mut asked, others): (Vec<_>, Vec<_>) = progress.into_iter().partition(|(name, _)| earlier.contains(&name));
        if let Some(moved) = moved(&others) {
            return moved.into();
        }
        let is_begun = entry.patched || steps::is_begun(self.look.goal, self.goal, self.pod);
        entry.is_between = is_begun;
        let waits = not_asked_yet(entry, unbounded);
        let is_under_way = entry.sent == Sent::Images && entry.sent_step == next && waits == PodPhase::Patched;
        let judged = |asked: &[(ContainerName, Progress)], entry: &Entry| decided(self.pod, asked, entry, unbounded);
        // What a pod has before anything of it goes back is as it was before the rollout, and keeps nothing from going back.
        let is_as_before = self.look.goal.is_back() && !is_begun;
        let goes_past = |entry: &mut Entry| {
            is_as_before || given_up::goes_past(self.look, entry, next, judged(&asked, entry).as_ref())
        };
        if !is_under_way && goes_past(entry) {
            asked.clear();
        }
        asked.retain(|(name, _)| of_them(entry.passed).any(|one| one == name));
        match judged(&asked, entry) {
            Some(judged) if judged.phase.stage().is_end() => return judged,
            Some(_) | None if is_under_way => return PodPhase::Patched.into(),
            Some(judged) => return judged,
            None => {}
        }
        if is_begun {
            let settled = self.settle(entry, &self.restarting(of_them(entry.passed)), false);
            if settled.phase != PodPhase::Done {
                return settled;
            }
        }
        // Whatever is under way for a pod of which nothing was changed is the first thing.
        if !is_begun || matches!(waits, PodPhase::Failing(_)) {
            return waits.into();
        }
        let containers = steps.get(next).into_iter().flatten().map(|name| (*name).clone());
        PodPhase::Next { containers: containers.collect() }.into()
    }

    fn container(self, name: &ContainerName, goal: &ContainerGoal, entry: &mut Entry) -> Progress {
        let Self { look, pod, .. } = self;
        let Some((_, _, container)) = pod.container(name) else { return Progress::Moved("(no such container)".into()) };
        if let Some(to) = &goal.to {
            if container.image != *to {
                let untouched = goal.from.as_ref().is_none_or(|from| *from == container.image);
                let moved = !goal.overrides && was_ours(pod, &look.goal.id, name, to);
                let asked = untouched && !moved && !entry.asked.contains(name);
                return if asked { Progress::NotAsked } else { Progress::Moved(container.image.clone()) };
            }
            entry.asked.insert(name.clone());
        }
        if !goal.restarts || never_started(look.goal, (name, goal), pod) {
            return Progress::Runs;
        }
        let Some((_, _, status)) = pod.container_status(name) else { return Progress::Restarting(None) };
        let is_of_resize = goal.is_only_resized() || self.resize_baseline(name).is_some();
        let baseline = self.baseline(name);
        let proven = entry.proven.get(name).is_some_and(|(image, by)| *image == container.image && *by == baseline);
        // A status from before the kubelet saw the spec says nothing about it, neither good nor bad.
        if pod.status.observed_generation.is_some_and(|seen| Some(seen) < pod.generation) && !proven {
            return Progress::Restarting(None);
        }
        let knew = kubelet_knew(entry, pod, container, status) || proven || evidence::was_compared(pod, name);
        if let Some((reason, _)) = failure::back_off(status).filter(|_| look.has(Fault::TakesBackOffForFailure)) {
            return Progress::Failing(Failure { container: None, reason, message: String::new(), exit_code: Some(0) });
        }
        if let Some(progress) = self.failing(&baseline, container, status, entry) {
            return progress;
        }
        if status.state.running.is_none() {
            if let Some((waiting, until)) = failure::back_off(status).filter(|_| self.holds(name, container, status)) {
                return Progress::BackOff { waiting, until };
            }
            return Progress::Restarting(status.state.waiting.as_ref().map(|waiting| waiting.reason.clone()));
        }
        if evidence::was_left(pod, &baseline, container, status) {
            return Progress::Runs;
        }
        let since = UpdateRecord::set_at(pod, name);
        let is_of_it = |at: &&str| since.as_deref().is_none_or(|since| *at >= since);
        let changed = look.world.events(&pod.key).and_then(|events| events.changed_at(name)).filter(is_of_it);
        match baseline.proof(status, &container.image, knew, changed) {
            _ if look.has(Fault::ReadyIsDone) => Progress::Runs,
            Proof::New => {
                entry.proven.insert(name.clone(), (container.image.clone(), baseline));
                Progress::Runs
            }
            // The kubelet has not begun the resize, and what was to restart has again what it has.
            Proof::Old if goal.is_only_resized() => match self.let_be(name, entry) {
                LetBe::Yes => Progress::Runs,
                LetBe::At(at) => Progress::MayFail(at),
                LetBe::Unknown => Progress::Restarting(None),
            },
            Proof::Old => Progress::Restarting(None),
            // The resize is done, and another container has what it asked for.
            Proof::Unverified(_) if is_of_resize => Progress::Runs,
            Proof::Unverified(why) => {
                let let_be = self.let_be(name, entry);
                match self.by_restart(name, entry) {
                    _ if let_be == LetBe::Yes => {}
                    Some(rests_on) => drop(entry.by_restart.insert(name.clone(), Some(rests_on))),
                    None => return Progress::Unverified { why, until: let_be.until() },
                }
                entry.proven.insert(name.clone(), (container.image.clone(), baseline));
                Progress::Runs
            }
        }
    }

    /// Whether the back-off that is shown is that of the image. Of a container that had ended before the image was set, what was
    /// there before is shown for a moment more.
    fn holds(self, name: &ContainerName, container: &Container, status: &ContainerStatus) -> bool {
        let ended = status.last_state.terminated.as_ref().and_then(|ended| ended.finished_at.as_deref());
        let has_ended_since = UpdateRecord::set_at(self.pod, name).zip(ended).is_some_and(|(set, ended)| *ended > *set);
        has_ended_since || starts::noted(self.pod, name).iter().any(|start| start.image == container.image)
    }

    /// What a restart alone proves, once the kubelet's events were looked at and told nothing: it makes a few of a kind for a
    /// pod and then no more (`client-go/tools/record`, `EventSourceObjectSpamFilter`).
    fn by_restart(self, name: &ContainerName, entry: &Entry) -> Option<String> {
        let has_looked = entry.events_at.is_some_and(|next| next <= self.look.now);
        if has_looked && !self.look.has(Fault::NeedsEvents) { evidence::rests_on_restart(self.pod, name) } else { None }
    }

    /// Whether the container has failed, or will have if nothing changes.
    fn failing(
        self,
        baseline: &Baseline,
        container: &Container,
        status: &ContainerStatus,
        entry: &mut Entry,
    ) -> Option<Progress> {
        let now = self.look.now;
        let (old_image, old_waiting, old_bits) = baseline.before(status);
        let is_new = |ended: &Terminated| baseline.ended_after(ended);
        let restarts = baseline.restarts_since(status);
        let judged = failure::judge(status, is_new, restarts, old_image, &container.image);
        let Some((failure, urgency)) = judged else {
            entry.failing_since.remove(&container.name);
            return None;
        };
        let since = match entry.failing_since.get(&container.name) {
            Some((reason, since)) if *reason == failure.reason => *since,
            Some(_) | None => {
                entry.failing_since.insert(container.name.clone(), (failure.reason.clone(), now));
                now
            }
        };
        if failure.exit_code.is_some() && old_bits {
            // It may be one that the kubelet made before it knew the new image, and showed after it did; the one after it is not.
            let first = entry.first_crash.entry(container.name.clone()).or_insert_with(|| status.container_id.clone());
            if *first == status.container_id {
                return None;
            }
        }
        let of_before = old_waiting == Some(failure.reason.as_str())
            && failure.exit_code.is_none()
            && !failure.message.contains(&container.image);
        let is_stale = of_before && urgency == Urgency::AtOnce;
        let patience = if is_stale { STALE_REASON_SECONDS } else { urgency.patience_seconds() };
        let at = since + Duration::from_secs(patience);
        // Whether it lasted cannot be told while nothing is seen.
        Some(if at <= now && (self.look.is_live() || patience == 0) {
            Progress::Failing(failure)
        } else {
            Progress::MayFail(at)
        })
    }

    /// The right containers run: are they ready, and the pod where it is the whole of it, and has that held?
    fn settle(self, entry: &mut Entry, restarted: &[&ContainerName], whole: bool) -> Judged {
        let Self { look, pod, .. } = self;
        let (goal, now) = (look.goal, look.now);
        if restarted.is_empty() {
            return PodPhase::Done.into();
        }
        let is_ready = |name: &ContainerName| pod.container_status(name).is_some_and(|(_, _, status)| status.ready);
        let unready: Vec<ContainerName> =
            restarted.iter().filter(|name| !is_ready(name)).map(|name| (*name).clone()).collect();
        // What kept a pod from being ready before the rollout, and is none of it, must not hold the way back for ever.
        let is_whole = is_ready_but_for_our_gate(pod);
        let goes_without = !is_whole && goal.is_back() && pod.unready_node().is_none();
        let whole = whole && !goes_without;
        if !unready.is_empty() || whole && !is_whole {
            entry.ready_since = None;
            return PodPhase::Starting { containers: unready }.into();
        }
        let key = ReadyKey::of(pod, restarted, whole);
        let since = match &entry.ready_since {
            Some((known, since)) if *known == key => *since,
            Some(_) | None => {
                entry.ready_since = Some((key, now));
                now
            }
        };
        // What a restart alone proves is the wrong one only where it is about to be stopped.
        let by_restart = restarted.iter().any(|name| entry.by_restart.contains_key(*name));
        let is_given = goal.policy.min_ready_seconds_given.is_some();
        let least = if goes_without || by_restart && !is_given { RESTARTED_HOLD_SECONDS } else { 0 };
        let hold_seconds = if look.has(Fault::NoHold) { 0 } else { self.hold_seconds(restarted).max(least) };
        let to_come = u64::from(hold_seconds).saturating_sub(self.ready_before(restarted));
        let until = since + Duration::from_secs(to_come);
        // Whether it has held cannot be told while nothing is seen; a pod that was done stays done.
        if until <= now && (look.is_live() || matches!(entry.phase, Some(PodPhase::Done | PodPhase::Left { .. }))) {
            return PodPhase::Done.into();
        }
        let wake = (!look.has(Fault::ForgetsHoldTimer)).then_some(until);
        if goes_without {
            return Judged { phase: PodPhase::Starting { containers: unready }, wake };
        }
        Judged { phase: PodPhase::Stabilizing { hold_seconds }, wake }
    }

    /// For how many seconds a pod that is followed had been ready with these containers when it was read, by the server's
    /// clock: what has held need not hold again.
    fn ready_before(self, restarted: &[&ContainerName]) -> u64 {
        let Some(read_at) = self.look.goal.read_at.as_deref().filter(|_| self.look.goal.mode == Mode::Follow) else {
            return 0;
        };
        let started = |name: &&ContainerName| {
            let running = self.pod.container_status(name)?.2.state.running.as_ref()?;
            second(running.started_at.as_deref()?)
        };
        let turned = self.pod.ready_condition().and_then(|ready| second(ready.last_transition_time.as_deref()?));
        let times: Option<Vec<i64>> = restarted.iter().map(started).chain([turned]).collect();
        let since = times.and_then(|times| times.into_iter().max());
        // Both are cut to whole seconds.
        let held = second(read_at).zip(since).map_or(0, |(read_at, since)| read_at - since - 1);
        u64::try_from(held).unwrap_or(0)
    }

    /// How long ready must hold.
    ///
    /// One startup period, because kubelets 1.35 to 1.37 show `started` and `ready` of a replaced container before its
    /// startup probe ran (kubernetes#141155).
    fn hold_seconds(self, restarted: &[&ContainerName]) -> u32 {
        let (goal, pod) = (self.look.goal, self.pod);
        if let Some(given) = goal.policy.min_ready_seconds_given {
            return given;
        }
        let containers = || restarted.iter().filter_map(|name| pod.container(name)).map(|(_, _, container)| container);
        let startup = containers()
            .filter_map(|container| container.startup_probe.as_ref())
            .map(|probe| probe.period_seconds.unwrap_or(10))
            .max();
        let base = goal.policy.owner_min_ready_seconds.max(startup.unwrap_or(0));
        let base = if restarted.iter().any(|name| has_ended_once(pod, name, &self.baseline(name))) {
            base.max(RESTARTED_HOLD_SECONDS)
        } else {
            base
        };
        let blind = containers().any(|container| container.readiness_probe.is_none());
        if blind && self.pods.is_canary(&pod.key, goal) { base.max(CANARY_HOLD_SECONDS) } else { base }
    }
}

/// Whether a container goes back that no node has made: nothing of it runs, and nothing that ran is to come back. What waits
/// for an init container waits for ever where that one crashes.
fn never_started(goal: &Goal, (name, container): (&ContainerName, &ContainerGoal), pod: &Pod) -> bool {
    let waits = || {
        let has_not_begun = |name| pod.container_status(name).is_some_and(|(_, _, status)| status.has_not_begun());
        pod.waits_for_init_containers() && evidence::has_seen(pod) && has_not_begun(name)
    };
    (goal.is_back() || container.goes_back) && goal.mode != Mode::Follow && (pod.is_unstarted() || waits())
}

/// The resize is to be sent next: these containers restart for it, or change without.
pub(super) fn next_resize(goal: &PodGoal) -> PodPhase {
    PodPhase::Next { containers: goal.fields.resized().cloned().collect() }
}

/// The pod does not ask for the wanted images: it waits, or a request is under way, or there were enough of them.
fn not_asked_yet(entry: &Entry, unbounded: bool) -> PodPhase {
    match entry.request {
        Request::Idle | Request::BackOff { .. } if entry.sends >= MAX_SENDS && !unbounded => {
            let message =
                format!("the server did not take the patch in {MAX_SENDS} tries, each after a fresh look at the pod");
            PodPhase::Failing(Failure { container: None, reason: "TooManyTries".into(), message, exit_code: None })
        }
        Request::Idle | Request::BackOff { .. } => PodPhase::Waiting,
        Request::Sent | Request::Accepted | Request::Unclear | Request::Reading | Request::ReadAt(_) => {
            PodPhase::Patched
        }
    }
}

/// What somebody else has set meanwhile.
fn moved(progress: &[(ContainerName, Progress)]) -> Option<PodPhase> {
    progress.iter().find_map(|(container, progress)| match progress {
        Progress::Moved(image) => Some(PodPhase::Moved { container: container.clone(), image: image.clone() }),
        Progress::NotAsked
        | Progress::Restarting(_)
        | Progress::BackOff { .. }
        | Progress::Unverified { .. }
        | Progress::Failing(_)
        | Progress::MayFail(_)
        | Progress::Runs => None,
    })
}

/// Everything short of "the right containers run".
fn decided(pod: &Pod, progress: &[(ContainerName, Progress)], entry: &Entry, unbounded: bool) -> Option<Judged> {
    let mut wake = None;
    let (mut not_asked, mut restarting, mut unverified, mut held) = (false, None, None, None);
    let mut containers = Vec::new();
    for (name, progress) in progress {
        if matches!(progress, Progress::Restarting(_) | Progress::BackOff { .. } | Progress::MayFail(_)) {
            containers.push(name.clone());
        }
        match progress {
            Progress::Moved(image) => {
                return Some(PodPhase::Moved { container: name.clone(), image: image.clone() }.into());
            }
            Progress::Failing(failure) => return Some(PodPhase::Failing(failure.clone()).into()),
            Progress::NotAsked => not_asked = true,
            Progress::Restarting(waiting) => restarting = Some(restarting.flatten().or_else(|| waiting.clone())),
            Progress::BackOff { waiting, until } => {
                restarting = Some(Some(waiting.clone()));
                held = Some(until.clone());
            }
            Progress::MayFail(at) => {
                wake = Some(wake.map_or(*at, |wake: Now| wake.min(*at)));
                restarting = Some(restarting.flatten());
            }
            Progress::Unverified { why, until } => {
                wake = [wake, *until].into_iter().flatten().min();
                unverified = Some(why.clone());
            }
            Progress::Runs => {}
        }
    }
    if not_asked && pod.is_finished() {
        return Some(PodPhase::Gone { why: format!("it is {} for good", pod.status.phase) }.into());
    }
    if not_asked {
        return Some(not_asked_yet(entry, unbounded).into());
    }
    if pod.is_finished() {
        let message = format!("the pod is {} for good: its restartPolicy lets nothing start again", pod.status.phase);
        return Some(
            PodPhase::Failing(Failure { container: None, reason: "PodFinished".into(), message, exit_code: None })
                .into(),
        );
    }
    if let Some(waiting) = restarting {
        // Nothing of it restarts before a node takes it.
        let waiting = pod.unscheduled().map(|why| format!("{NOT_SCHEDULED}: {why}")).or(waiting);
        return Some(Judged { phase: PodPhase::Restarting { containers, waiting, until: held }, wake });
    }
    unverified.map(|why| Judged { phase: PodPhase::Unverified { why }, wake })
}

/// Why the pod is not the one of the goal any more.
fn gone(goal: &Goal, pod: &Pod) -> Option<String> {
    if pod.terminating {
        return Some(pod.disruption().unwrap_or_else(|| BEING_DELETED.to_owned()));
    }
    match pod.controller() {
        Some(owner) if goal.controllers.contains(&owner.uid) => None,
        None if goal.controllers.is_empty() => None,
        Some(owner) => Some(format!("its controller is {} {} now", owner.kind, owner.name)),
        None => Some("its controller released it".into()),
    }
}

/// Whether this rollout's own patch has changed the container already: it set all images but those of later steps, so
/// what stands there now is somebody else's.
///
/// On the way back the record is that of the way there: it says another image.
fn was_ours(pod: &Pod, id: &RolloutId, name: &ContainerName, to: &str) -> bool {
    UpdateRecord::of(pod)
        .filter(|record| record.id == *id && !record.later.contains_key(name))
        .is_some_and(|record| record.containers.get(name).is_none_or(|record| record.to == to))
}

/// Whether the kubelet knew the spec when it made the container that is shown: a status with the spec's generation
/// has shown another one. Notes the first such status.
fn kubelet_knew(entry: &mut Entry, pod: &Pod, container: &Container, status: &ContainerStatus) -> bool {
    if !evidence::has_seen(pod) {
        return false;
    }
    match entry.kubelet_knew.get(&container.name) {
        Some((image, id)) if *image == container.image => *id != status.container_id,
        Some(_) | None => {
            let first = (container.image.clone(), status.container_id.clone());
            entry.kubelet_knew.insert(container.name.clone(), first);
            false
        }
    }
}

/// Whether a container that came after the change has ended already, and this is another one.
pub(super) fn has_ended_once(pod: &Pod, name: &ContainerName, baseline: &Baseline) -> bool {
    let status = pod.container_status(name).map(|(_, _, status)| status);
    let ended = status.and_then(|status| status.last_state.terminated.as_ref());
    ended.is_some_and(|ended| {
        baseline.is_newer(ended.container_id.as_deref(), ended.started_at.as_deref()) == Some(true)
    })
}

#[cfg(test)]
mod tests;
