//! What one container of a pod says.

use std::collections::BTreeMap;
use std::time::Duration;

use super::{PodJudge, never_started};
use crate::k8s::failure::{self, Failure, STALE_REASON_SECONDS, Urgency};
use crate::k8s::names::{ContainerName, RolloutId};
use crate::k8s::pod::{Container, ContainerStatus, Pod, Terminated};
use crate::rollout::Now;
use crate::rollout::goal::ContainerGoal;
use crate::rollout::observed::TurnContext;
use crate::rollout::pod_run::PodRun;
use crate::rollout::steps;
use crate::state::evidence::{self, Baseline, Proof};
use crate::state::record::UpdateRecord;
use crate::state::starts;

pub(super) enum ContainerProgress {
    /// The pod does not ask for the wanted image yet.
    NotAsked,
    Conflict(String),
    Restarting(Option<String>),
    /// Held by the kubelet's back-off until about then, without having crashed.
    BackOff {
        waiting: String,
        until: String,
    },
    /// Not proven, unless the kubelet leaves it running until then.
    Unverified {
        why: String,
        until: Option<Now>,
    },
    Failing(Failure),
    /// Failing, if its status is the same at that time.
    MayFail(Now),
    Runs,
}

impl ContainerProgress {
    pub(super) fn failure(&self) -> Option<&Failure> {
        if let Self::Failing(failure) = self { Some(failure) } else { None }
    }
}

impl PodJudge<'_> {
    pub(super) fn container(self, name: &ContainerName, goal: &ContainerGoal, run: &mut PodRun) -> ContainerProgress {
        let Self { context, pod, .. } = self;
        let Some(container) = pod.spec_of(name) else {
            return ContainerProgress::Conflict("(no such container)".into());
        };
        if let Some(progress) = self.before_its_image(container, goal, run) {
            return progress;
        }
        if !goal.restarts || never_started(context.goal, (name, goal), pod) {
            return ContainerProgress::Runs;
        }
        let Some(status) = pod.status_of(name) else { return ContainerProgress::Restarting(None) };
        let baseline = self.baseline(name);
        let proven =
            run.evidence.proven.get(name).is_some_and(|(image, by)| *image == container.image && *by == baseline);
        // A status that is older than the spec says nothing about it, neither good nor bad.
        if pod.status.observed_generation.is_some_and(|seen| Some(seen) < pod.generation) && !proven {
            return ContainerProgress::Restarting(None);
        }
        let knew = kubelet_knew(run, pod, container, status) || proven || evidence::was_compared(pod, name);
        if let Some(progress) = self.staying_down(&baseline, name, run) {
            return progress;
        }
        if let Some(progress) = self.failing(&baseline, container, status, run) {
            return progress;
        }
        if status.state.running.is_none() {
            if let Some((waiting, until)) = failure::back_off(status).filter(|_| self.holds(name, container, status)) {
                return ContainerProgress::BackOff { waiting, until };
            }
            return ContainerProgress::Restarting(status.state.waiting.as_ref().map(|waiting| waiting.reason.clone()));
        }
        if evidence::was_left(pod, &baseline, container, status) {
            return ContainerProgress::Runs;
        }
        let since = UpdateRecord::set_at(pod, name);
        let is_of_it = |at: &&str| since.as_deref().is_none_or(|since| *at >= since);
        let changed = context.observed.events(&pod.key).and_then(|events| events.changed_at(name)).filter(is_of_it);
        let proof = baseline.proof(status, &container.image, knew, changed);
        self.by_proof(proof, (container, baseline), goal, run)
    }

    /// While the pod does not ask for the wanted image: it is to be asked for, or another client has set another one.
    fn before_its_image(
        self,
        container: &Container,
        goal: &ContainerGoal,
        run: &mut PodRun,
    ) -> Option<ContainerProgress> {
        let (name, to) = (&container.name, goal.to.as_ref()?);
        let has_it = container.image == *to;
        if has_it && steps::is_asked(self.context.goal, self.pod, name) {
            run.evidence.asked.insert(name.clone());
            return None;
        }
        let untouched = goal.from.as_ref().is_none_or(|from| *from == container.image);
        let conflict = !has_it && !goal.overrides && was_ours(self.pod, self.context.goal.id(), name, to);
        Some(if untouched && !conflict && !run.evidence.asked.contains(name) {
            ContainerProgress::NotAsked
        } else {
            ContainerProgress::Conflict(container.image.clone())
        })
    }

    /// What is proven of a container that runs.
    fn by_proof(
        self,
        proof: Proof,
        (container, baseline): (&Container, Baseline),
        goal: &ContainerGoal,
        run: &mut PodRun,
    ) -> ContainerProgress {
        let name = &container.name;
        match proof {
            Proof::New => {}
            // The kubelet has not begun the resize, and the container that was to restart has again what it has.
            Proof::Old if goal.is_only_resized() => {
                return match self.left_running(name, run) {
                    KeptRunning::Yes => ContainerProgress::Runs,
                    KeptRunning::At(at) => ContainerProgress::MayFail(at),
                    KeptRunning::Unknown => ContainerProgress::Restarting(None),
                };
            }
            Proof::Old => return ContainerProgress::Restarting(None),
            // The resize is done, and a new container has what was asked for.
            Proof::Unverified(_) if goal.is_only_resized() || self.restart_baseline(name).is_some() => {
                return ContainerProgress::Runs;
            }
            Proof::Unverified(why) => {
                let left_running = self.left_running(name, run);
                match self.by_restart(name, run) {
                    _ if left_running == KeptRunning::Yes => {}
                    Some(rests_on) => drop(run.evidence.by_restart.insert(name.clone(), Some(rests_on))),
                    None => return ContainerProgress::Unverified { why, until: left_running.until() },
                }
            }
        }
        run.evidence.proven.insert(name.clone(), (container.image.clone(), baseline));
        ContainerProgress::Runs
    }

    /// Whether the back-off that is shown is that of the wanted image. Where the container had ended before its image
    /// was set, the old back-off is shown for a moment more.
    fn holds(self, name: &ContainerName, container: &Container, status: &ContainerStatus) -> bool {
        let ended = status.last_state.terminated.as_ref().and_then(|ended| ended.finished_at.as_deref());
        let has_ended_since = UpdateRecord::set_at(self.pod, name).zip(ended).is_some_and(|(set, ended)| *ended > *set);
        has_ended_since || starts::noted(self.pod, name).iter().any(|start| start.image == container.image)
    }

    /// What a restart alone proves, once the kubelet's events were read and showed nothing: the kubelet records a few
    /// events of a kind for a pod and then no more (`client-go/tools/record`, `EventSourceObjectSpamFilter`).
    fn by_restart(self, name: &ContainerName, run: &PodRun) -> Option<String> {
        let was_read = run.clocks.events_at.is_some_and(|next| next <= self.context.now);
        if was_read { evidence::rests_on_restart(self.pod, name) } else { None }
    }

    /// Whether the kubelet does not start the container again that is down. Why it has not started one of the wanted image, its
    /// events alone say: they are read first.
    fn staying_down(self, baseline: &Baseline, name: &ContainerName, run: &mut PodRun) -> Option<ContainerProgress> {
        let (pod, now) = (self.pod, self.context.now);
        let down = pod.stays_down(name, self.goal.kubelet)?;
        let is_new = baseline.ended_after(down.ended) == Some(true);
        let since = UpdateRecord::set_at(pod, name);
        let said =
            self.context.observed.events(&pod.key).and_then(|events| events.failed_since(name, since.as_deref()));
        let was_read = run.clocks.events_at.is_some_and(|next| next <= now);
        // One that was down already is not started for another image.
        let was_up = || since.as_deref().zip(down.ended.finished_at.as_deref()).is_none_or(|(set, ended)| ended >= set);
        if !is_new && said.is_none() && !was_read && self.context.is_live() && was_up() {
            let why = format!("{name} has ended, and restartPolicy {} keeps it from being started again", down.policy);
            return Some(ContainerProgress::Unverified { why, until: None });
        }
        let said = said.map(|said| (said.reason.as_str(), said.message.as_str()));
        let (failure, urgency) = failure::of_down(name, &down, is_new, said);
        let since = self.shown_since(&failure, run);
        Some(self.once_it_has_lasted(failure, since, urgency.tolerated_seconds()))
    }

    /// Whether the container has failed, or will have if nothing changes.
    fn failing(
        self,
        baseline: &Baseline,
        container: &Container,
        status: &ContainerStatus,
        run: &mut PodRun,
    ) -> Option<ContainerProgress> {
        let (old_image, old_waiting, old_bits) = baseline.before(status);
        let is_new = |ended: &Terminated| baseline.ended_after(ended);
        let restarts = baseline.restarts_since(status);
        let judged = failure::judge(status, is_new, restarts, old_image, &container.image);
        let Some((failure, urgency)) = judged else {
            run.clocks.failing_since.remove(&container.name);
            return None;
        };
        let since = self.shown_since(&failure, run);
        if failure.exit_code.is_some() && old_bits {
            // The kubelet may have created it before it knew the new image, and reported it after; the next one is of
            // the new image.
            let first =
                run.evidence.first_crash.entry(container.name.clone()).or_insert_with(|| status.container_id.clone());
            if *first == status.container_id {
                return None;
            }
        }
        let of_before = old_waiting == Some(failure.reason.as_str())
            && failure.exit_code.is_none()
            && !failure.message.contains(&container.image);
        let is_stale = of_before && urgency == Urgency::AtOnce;
        let timeout = if is_stale { STALE_REASON_SECONDS } else { urgency.tolerated_seconds() };
        Some(self.once_it_has_lasted(failure, since, timeout))
    }

    fn shown_since(self, failure: &Failure, run: &mut PodRun) -> Now {
        let name = failure.container.clone().unwrap_or_default();
        match run.clocks.failing_since.get(&name) {
            Some((reason, since)) if *reason == failure.reason => *since,
            Some(_) | None => {
                run.clocks.failing_since.insert(name, (failure.reason.clone(), self.context.now));
                self.context.now
            }
        }
    }

    fn once_it_has_lasted(self, failure: Failure, since: Now, seconds: u64) -> ContainerProgress {
        let at = since + Duration::from_secs(seconds);
        // While the watch is lost, nobody sees whether it lasted.
        if at <= self.context.now && (self.context.is_live() || seconds == 0) {
            ContainerProgress::Failing(failure)
        } else {
            ContainerProgress::MayFail(at)
        }
    }
}

/// Whether this rollout's own patch has changed the container already: it set all images but those of later steps, so
/// another image there now is somebody else's.
///
/// On the way back the record is that of the way there: it says another image.
fn was_ours(pod: &Pod, id: &RolloutId, name: &ContainerName, to: &str) -> bool {
    UpdateRecord::of(pod)
        .filter(|record| record.id == *id && !record.later.contains_key(name))
        .is_some_and(|record| record.containers.get(name).is_none_or(|record| record.to == to))
}

/// Whether the kubelet knew the spec when it created the container that is shown: a status with the spec's generation
/// has shown another one. Notes the first such status.
fn kubelet_knew(run: &mut PodRun, pod: &Pod, container: &Container, status: &ContainerStatus) -> bool {
    if !evidence::has_seen(pod) {
        return false;
    }
    match run.evidence.kubelet_knew.get(&container.name) {
        Some((image, id)) if *image == container.image => *id != status.container_id,
        Some(_) | None => {
            let first = (container.image.clone(), status.container_id.clone());
            run.evidence.kubelet_knew.insert(container.name.clone(), first);
            false
        }
    }
}

/// Whether a container that came after the change has ended already, and this is another one.
pub(in crate::rollout) fn has_ended_once(pod: &Pod, name: &ContainerName, baseline: &Baseline) -> bool {
    let status = pod.status_of(name);
    let ended = status.and_then(|status| status.last_state.terminated.as_ref());
    ended.is_some_and(|ended| {
        baseline.is_newer(ended.container_id.as_deref(), ended.started_at.as_deref()) == Some(true)
    })
}

// What the kubelet has left running: it stops a container whose image has changed in the sync that finds the change.
// So a container that it goes on showing is the one asked for, even where no time and no event says since when.

/// The IDs of the containers that restart for a new image, since the spec that the pod shows was first seen.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::rollout) struct SeenContainers {
    generation: Option<i64>,
    has_seen: bool,
    first: BTreeMap<ContainerName, Option<String>>,
    /// The ID that each container has now, and since when it was seen.
    present: BTreeMap<ContainerName, (Option<String>, Now)>,
}

/// Whether the kubelet has left a running container alone.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum KeptRunning {
    Yes,
    /// The kubelet has kept the container if it is still there at that time.
    At(Now),
    Unknown,
}

impl KeptRunning {
    pub(super) fn until(self) -> Option<Now> {
        match self {
            Self::At(until) => Some(until),
            Self::Yes | Self::Unknown => None,
        }
    }
}

pub(super) fn note_containers(noted: &mut Option<SeenContainers>, pod: &Pod, now: Now) {
    let (generation, has_seen, ids) = (pod.generation, evidence::has_seen(pod), ids(pod));
    match noted.as_mut().filter(|noted| noted.generation == generation && noted.has_seen == has_seen) {
        Some(noted) => {
            for (name, id) in ids {
                if noted.present.get(&name).is_none_or(|(known, _)| *known != id) {
                    noted.present.insert(name, (id, now));
                }
            }
        }
        None => {
            let present = ids.iter().map(|(name, id)| (name.clone(), (id.clone(), now))).collect();
            *noted = Some(SeenContainers { generation, has_seen, first: ids, present });
        }
    }
}

pub(super) fn left_running(
    context: TurnContext<'_>,
    pod: &Pod,
    name: &ContainerName,
    noted: Option<&SeenContainers>,
) -> KeptRunning {
    let Some((noted, (_, since))) = noted.and_then(|noted| Some((noted, noted.present.get(name)?))) else {
        return KeptRunning::Unknown;
    };
    let pulled = || context.observed.events(&pod.key)?.pulled_at(name, &pod.spec_of(name)?.image);
    let Some(seconds) = evidence::hold_seconds(pod, name, pulled()) else { return KeptRunning::Unknown };
    // In one sync the kubelet stops every container whose image has changed before it starts any.
    let started_any =
        noted.has_seen && noted.present.iter().any(|(name, (id, _))| id.is_some() && noted.first.get(name) != Some(id));
    let until = *since + Duration::from_secs(seconds);
    if context.is_live() && (started_any || until <= context.now) { KeptRunning::Yes } else { KeptRunning::At(until) }
}

fn ids(pod: &Pod) -> BTreeMap<ContainerName, Option<String>> {
    let id = |name: &ContainerName| pod.status_of(name).and_then(|status| status.container_id.clone());
    pod.long_lived_containers().map(|container| (container.name.clone(), id(&container.name))).collect()
}
