//! Roughly how long a rollout takes: from what is known of its pods, and not from what they are allowed to take.
//!
//! A grace period and a timeout are bounds, no expectations. How long a container took before it was ready is read from
//! its own pod; how long it takes to stop is known only from its preStop hook, and from a container that had to be
//! killed. Unknown, and left out: how long the user's commands run, how large an image is, and when a pod is scheduled.

use super::wanted::Context;
use super::{PodPlan, PodVerdict, back_off};
use crate::k8s::pod::{Container, ContainerList, Pod, Probe};
use crate::kinds::WorkloadKind;
use crate::rollout::drain::DEFAULT_DRAIN_SECONDS;
use crate::rollout::{CANARY_HOLD_SECONDS, Policy};
use crate::state::record::Drained;
use crate::value::duration::second;

/// From the patch to a container that runs, where the old one stops at once and the image is on the node.
const RESTART_SECONDS: f64 = 0.4;

/// Each further container that restarts with it: they are stopped one after the other.
const FURTHER_SECONDS: f64 = 0.2;

/// A preStop hook that is a command or a request.
const PRE_STOP_SECONDS: f64 = 1.0;

/// From a probe that passes to a pod that is seen as ready.
const PROBE_SECONDS: f64 = 0.2;

/// Until a new pod is ready whose containers are ready at once.
const FIRST_START_SECONDS: f64 = 2.0;

/// Out of the Services before, and back after: until their EndpointSlices show it.
const SLICES_SECONDS: f64 = 0.5;

/// A pod whose labels and annotations alone change.
const METADATA_SECONDS: f64 = 0.1;

/// Creating a pull pod, and deleting it again.
const PULL_SECONDS: f64 = 3.0;

/// The exit code of a container that did not end within its grace period (`SIGKILL`).
const KILLED: i64 = 137;

/// Returns how long the rollout takes, in seconds; pods that no node runs are left out. `owner` says whether the owner's
/// template changes too.
pub(super) fn estimate(context: &Context<'_>, pods: &[(PodPlan, &Pod)], policy: &Policy, owner: bool) -> f64 {
    let changing = |(plan, pod): &&(PodPlan, &Pod)| plan.verdict == PodVerdict::Update && pod.is_scheduled();
    let until_pause = policy.canary.and_then(|canary| usize::try_from(canary).ok()).unwrap_or(usize::MAX);
    let now = context.live.surroundings.now.as_deref();
    let turns = pods.iter().filter(changing).take(until_pause).map(|(plan, pod)| Timing { policy, plan, pod, now });
    let turns: Vec<Timing<'_>> = turns.collect();
    let restarts = pods.iter().any(|(plan, pod)| plan.restarted(pod).next().is_some());
    // The kubelet's back-off runs in all pods at the same time; after a restart by request it begins with each.
    let held_back = turns.iter().filter(|turn| !turn.is_by_request()).map(Timing::held_back).max().unwrap_or(0);
    let owner = if owner { owner_seconds(context.live.workload.reference.kind) } else { 0.0 };
    rounded(owner + seconds(held_back) + in_turn(&turns, policy, restarts))
}

/// The same with images that have to be pulled first.
pub(super) fn with_pulls(seconds: f64, pulls: bool) -> f64 {
    if pulls { rounded(seconds + PULL_SECONDS) } else { seconds }
}

fn rounded(seconds: f64) -> f64 {
    (seconds * 10.0).round() / 10.0
}

/// The steps on the owner: each waits until its controller has observed it.
fn owner_seconds(kind: WorkloadKind) -> f64 {
    // Where a field holds it, it is held, and released again.
    if kind.holds_by().field().is_some() { 0.4 } else { 0.2 }
}

/// The first pod goes alone, unless the user chose not to wait for one; then as many at once as may be down.
fn in_turn(turns: &[Timing<'_>], policy: &Policy, restarts: bool) -> f64 {
    let Some((first, others)) = turns.split_first() else { return 0.0 };
    let at_once =
        if restarts { usize::try_from(policy.max_unavailable.max(1)).unwrap_or(usize::MAX) } else { usize::MAX };
    if !policy.first_goes_alone() || !restarts {
        return side_by_side(turns, at_once, 0.0);
    }
    if policy.min_ready_seconds_given.is_some() {
        return side_by_side(others, at_once, first.seconds());
    }
    let is_blind = |step: &&Vec<&Container>| step.iter().any(|container| container.readiness_probe.is_none());
    // For each of its steps, where its containers change one after the other.
    let blind = u32::try_from(first.steps().iter().filter(is_blind).count()).unwrap_or(u32::MAX);
    let held_longer = CANARY_HOLD_SECONDS.saturating_sub(policy.owner_min_ready_seconds).saturating_mul(blind);
    side_by_side(others, at_once, first.seconds() + f64::from(held_longer))
}

/// When the last of them is done, if they begin at `begin` and `at_once` are in progress at a time.
fn side_by_side(turns: &[Timing<'_>], at_once: usize, begin: f64) -> f64 {
    let mut ends = vec![begin; at_once.min(turns.len())];
    for turn in turns {
        let earliest = ends.iter_mut().min_by(|a, b| a.total_cmp(b));
        if let Some(end) = earliest {
            *end += turn.seconds();
        }
    }
    ends.into_iter().fold(begin, f64::max)
}

struct Timing<'a> {
    policy: &'a Policy,
    plan: &'a PodPlan,
    pod: &'a Pod,
    now: Option<&'a str>,
}

impl Timing<'_> {
    fn is_by_request(&self) -> bool {
        self.plan.changes.values().any(|change| change.by_request)
    }

    fn seconds(&self) -> f64 {
        let steps = self.steps();
        if steps.is_empty() {
            return METADATA_SECONDS;
        }
        let held_back = if self.is_by_request() { seconds(self.held_back()) } else { 0.0 };
        held_back + self.drain(&steps.concat()) + steps.iter().map(|step| self.step(step)).sum::<f64>()
    }

    /// The containers that restart, those that change at the same time together.
    fn steps(&self) -> Vec<Vec<&Container>> {
        let order = &self.policy.container_order;
        let restarted = || self.plan.restarted(self.pod);
        // A container that has another image, too, restarts once more.
        let resized = self.plan.fields.restarting_in(self.pod);
        let again = self.plan.changed(self.pod).map(|(container, _)| container);
        let again: Vec<&Container> = again.filter(|container| resized.contains(&container.name)).collect();
        let listed = order.iter().filter_map(|name| restarted().find(|known| known.name == *name));
        let others: Vec<&Container> = restarted().filter(|container| !order.contains(&container.name)).collect();
        let steps = listed.map(|container| vec![container]).chain([others, again]);
        steps.filter(|step| !step.is_empty()).collect()
    }

    /// Out of its Services and back. By a gate ready has to hold twice: with the gate off, and with it on.
    fn drain(&self, restarted: &[&Container]) -> f64 {
        let Some(drain) = &self.plan.drain else { return 0.0 };
        let again = if matches!(drain.by, Drained::Gate(_)) { self.hold(restarted) } else { 0 };
        f64::from(self.policy.drain_seconds.unwrap_or(DEFAULT_DRAIN_SECONDS)) + f64::from(again) + 2.0 * SLICES_SECONDS
    }

    fn step(&self, step: &[&Container]) -> f64 {
        let further = f64::from(u32::try_from(step.len().saturating_sub(1)).unwrap_or(u32::MAX));
        let stop: f64 = step.iter().map(|container| self.stop(container)).sum();
        let ready = step.iter().map(|container| self.ready(container)).fold(0.0, f64::max);
        stop + RESTART_SECONDS + further * FURTHER_SECONDS + ready + f64::from(self.hold(step))
    }

    /// How long ready must hold for these containers.
    fn hold(&self, containers: &[&Container]) -> u32 {
        let startup = containers.iter().filter_map(|container| container.startup_probe.as_ref());
        let startup = startup.map(|probe| probe.period_seconds.unwrap_or(10)).max().unwrap_or(0);
        let policy = self.policy;
        policy.hold_seconds(startup)
    }

    /// The time that the container takes to stop, beyond what any takes: its hook, or its whole grace period where the
    /// old one had to be killed at an update.
    fn stop(&self, container: &Container) -> f64 {
        let grace = self.pod.termination_grace_seconds();
        let status = self.pod.status_of(&container.name);
        let ended = status.and_then(|status| status.last_state.terminated.as_ref());
        let hook = container.lifecycle.pre_stop.as_ref();
        let hook =
            hook.map_or(0.0, |hook| hook.sleep.as_ref().map_or(PRE_STOP_SECONDS, |sleep| seconds(sleep.seconds)));
        if ended.is_some_and(|ended| ended.exit_code == KILLED && ended.reason != "OOMKilled") {
            return seconds(grace);
        }
        hook.min(seconds(grace))
    }

    /// For how long the kubelet would hold back what gets another image.
    fn held_back(&self) -> u64 {
        let restarted = self.plan.restarted_by_image(self.pod);
        let held =
            restarted.filter_map(|(known, change)| back_off::seconds(self.pod, &known.name, &change.to, self.now));
        held.max().unwrap_or(0)
    }

    /// From its start until it is ready: as long as it took before, and not before its probes begin.
    fn ready(&self, container: &Container) -> f64 {
        let (startup, readiness) = (container.startup_probe.as_ref(), container.readiness_probe.as_ref());
        if startup.is_none() && readiness.is_none() {
            return 0.0;
        }
        let delay = |probe: Option<&Probe>| f64::from(probe.and_then(|probe| probe.initial_delay_seconds).unwrap_or(0));
        // The kubelet probes at a fixed interval of its own, so that a delay ends somewhere within one. A container
        // that has started gets its readiness probe at once.
        let beat = |probe: &Probe| f64::from(probe.period_seconds.unwrap_or(10)) / 2.0;
        let started = startup.map_or(0.0, |probe| delay(startup) + beat(probe));
        let asked = readiness.filter(|_| delay(readiness) > 0.0);
        let asked = asked.map_or(0.0, |probe| delay(readiness) + beat(probe));
        // Both delays run from the start of the container.
        let least = delay(startup).max(delay(readiness));
        match self.ready_before(container).filter(|before| *before > least + self.not_its_own(container)) {
            Some(before) => before + PROBE_SECONDS,
            None => started.max(asked) + PROBE_SECONDS,
        }
    }

    /// The seconds between start and ready that are not the container's own: the API has whole seconds, and the first
    /// containers of a pod start one after the other.
    fn not_its_own(&self, container: &Container) -> f64 {
        let restarts = self.pod.status_of(&container.name).map_or(0, |status| status.restart_count);
        if restarts == 0 { FIRST_START_SECONDS } else { 1.0 }
    }

    /// How long the pod took to be ready after this container last started, in the API's whole seconds; nothing where it
    /// has not turned ready since, or because of another container that has started later.
    fn ready_before(&self, container: &Container) -> Option<f64> {
        let status = self.pod.status_of(&container.name)?;
        let started = second(status.started_at()?)?;
        let ready = self.pod.ready_condition().filter(|_| self.pod.is_ready())?;
        let turned = second(ready.last_transition_time.as_deref()?)?;
        let starts = self.pod.statuses(ContainerList::Containers).iter();
        let mut starts = starts.filter_map(|status| second(status.started_at()?));
        let is_last = starts.all(|other| other <= started.saturating_add(1));
        (turned >= started && is_last).then(|| seconds(u64::try_from(turned - started).unwrap_or(0)))
    }
}

/// Whole seconds, bounded by a day, which is as good as for ever.
fn seconds(whole: u64) -> f64 {
    f64::from(u32::try_from(whole.min(86_400)).unwrap_or(86_400))
}
