//! The state of a workload and its pods, from one read: what runs, what is asked for, what is in progress, failed or
//! drifted, and who holds it.
//!
//! Promise: it says that a container runs what is asked for only where that is proven (`evidence`); what one read
//! cannot show is called unverified, never done. Out of scope: what changes over time, such as whether ready holds;
//! that is `follow`.

mod container;
mod made;
mod next_command;
mod owner;
mod sidecar_set;
#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use crate::change::{self, FieldChanges, FieldProgress, Row, same};
use crate::k8s::names::{ContainerName, PodKey, RolloutId, Uid, WorkloadRef};
use crate::k8s::pod::{ContainerList, Pod};
use crate::kinds::{self, WorkloadKind};
use crate::plan::{
    AdmittedPod, CurrentRevision, RolloutState, Snapshot, is_held_back, lease_state, lock_of, rollout_state,
};
use crate::rollout::drain;
use crate::state::durable::history::{self, HistoryEntry};
use crate::state::durable::lease::LeaseState;
use crate::state::durable::lock::Lock;
use crate::state::outcome::EndResult;
use crate::state::record::{UPDATE_ANNOTATION, UpdateRecord};
use crate::value::words;

pub use crate::state::again::RunningAgain;
pub use container::{Comparison, Condition, ContainerReport};
pub use made::{Rewritten, note_kept, pod_to_create, recorded_as_made, template_patch};
pub use next_command::{NextAction, NextCommand, only_fails};
pub use owner::{Drift, OwnerState, waits_for_budgets};

#[derive(Debug, Clone, PartialEq)]
pub struct WorkloadStatus {
    pub workload: WorkloadRef,
    pub uid: Uid,
    pub desired: u32,
    /// The lock of the rollout that holds it; the error is the text of one that cannot be read.
    pub lock: Result<Option<Box<Lock>>, String>,
    /// Whether the run of that rollout is active; `None` where none holds it.
    pub life: Option<LeaseState>,
    /// The state of that rollout, also where its lock is gone or cannot be read.
    pub state: RolloutState,
    /// What leads on from it, the one that helps most first.
    pub next: Vec<NextCommand>,
    /// What its own controller is at, and what is in its way; empty when there is nothing to say.
    pub owner: Vec<OwnerState>,
    /// The containers that the template asks for; empty for a pod, which is its own template.
    pub template: Vec<TemplateContainer>,
    /// Its pods, in the order in which the owner's controller would take them.
    pub pods: Vec<PodStatus>,
    /// What of the template the server has changed in pods.
    pub rewritten: Vec<Rewritten>,
    /// What could not be read, and what follows from it.
    pub not_read: Vec<String>,
    /// The containers whose image differs from the template in what the server may have made of it: it could not be asked.
    pub may_be_rewritten: BTreeSet<ContainerName>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TemplateContainer {
    pub container: ContainerName,
    pub list: ContainerList,
    pub image: String,
}

#[derive(Debug, Clone, PartialEq)]
pub struct PodStatus {
    pub key: PodKey,
    /// Its node; empty while it has none.
    pub node: String,
    pub state: PodState,
    pub ready: bool,
    /// Since when the condition `Ready` has its present status (RFC 3339).
    pub ready_since: Option<String>,
    /// Why it has no node, in the scheduler's words.
    pub unscheduled: Option<String>,
    /// The revision that it was created from, where that is not the owner's current one.
    pub older_revision: Option<String>,
    /// The in-place update that it notes, if what it asks for now is still that update's.
    pub update: Option<RolloutId>,
    /// What it is drained by, such as `label serving`: an active run has removed it, or one that is gone has left it
    /// removed.
    pub out_of_services: Option<String>,
    /// What the kubelet says of a resize that is not done.
    pub resizing: Option<FieldProgress>,
    /// What differs from the template in cpu and memory.
    pub resources: Vec<Row>,
    /// Labels of the template that it lacks, though nothing notes that they are off or still to come: a Service may not find it.
    pub missing_labels: BTreeMap<String, String>,
    /// Its record of an in-place update cannot be read: written by another version, or edited.
    pub unreadable_record: bool,
    /// Its containers: the plain ones, then init containers and sidecars.
    pub containers: Vec<ContainerReport>,
}

words! {
    /// The one word for a pod: the first of these that is so.
    PodState {
        Terminating = "terminating",
        /// It has ended for good.
        Finished = "finished",
        /// A container has failed: nothing but another patch, or what the reason names, heals it.
        Failed = "failed",
        /// A container does not run yet what the pod asks for.
        Updating = "updating",
        NotReady = "notReady",
        /// It is ready, but a container of it has ended since it was changed, and has only just been started again.
        Restarted = "justRestarted",
        /// The kubelet has not given it yet the cpu or memory that it asks for.
        Resizing = "resizing",
        /// The same, and its node has no room for that now.
        Deferred = "deferred",
        /// The rollout that holds the workload has not reached it yet.
        Pending = "pending",
        /// It was created from an older template, or the owner's controller is about to replace it.
        Older = "older",
        /// It asks for another image than the template, or for other cpu or memory.
        Drifted = "drifted",
        /// It is ready, but one read cannot show whether a container is of the image that is asked for.
        Unverified = "unverified",
        Ready = "ready",
    }
}

impl PodState {
    pub fn words(self) -> &'static str {
        match self {
            Self::Deferred => "resize deferred",
            Self::NotReady => "not ready",
            Self::Restarted => "just restarted",
            Self::Older => "of an older revision",
            Self::Terminating | Self::Finished | Self::Failed | Self::Updating | Self::Resizing => self.word(),
            Self::Pending | Self::Drifted | Self::Unverified | Self::Ready => self.word(),
        }
    }

    /// Returns whether the state is the pod's own, which none of its containers shows.
    pub fn is_of_the_pod(self) -> bool {
        matches!(self, Self::Terminating | Self::Finished | Self::NotReady | Self::Resizing | Self::Deferred)
    }

    /// Returns whether somebody on call wants to know of it. What is only not proven is no trouble: the pod is ready.
    fn is_notable(self) -> bool {
        !matches!(self, Self::Terminating | Self::Finished | Self::Unverified | Self::Ready)
    }
}

impl PodStatus {
    fn is_notable(&self) -> bool {
        self.state.is_notable() || self.unreadable_record || self.lacks_traffic()
    }

    fn lacks_traffic(&self) -> bool {
        self.out_of_services.is_some() || !self.missing_labels.is_empty()
    }

    /// Nothing but the image of these containers differs from what is expected of it.
    fn differs_alone_in(&self, containers: &BTreeSet<ContainerName>) -> bool {
        let drifted = made::drifted([self]);
        let is_alone = self.resources.is_empty() && !self.unreadable_record && !self.lacks_traffic();
        let is_its_image = !drifted.is_empty() && drifted.iter().all(|(name, _)| containers.contains(*name));
        self.state == PodState::Drifted && is_alone && is_its_image
    }
}

impl WorkloadStatus {
    pub fn count(&self, state: PodState) -> usize {
        self.pods.iter().filter(|pod| pod.state == state).count()
    }

    /// Returns the number of pods that exist and are not terminating.
    pub fn present(&self) -> usize {
        self.pods.iter().filter(|pod| !matches!(pod.state, PodState::Terminating | PodState::Finished)).count()
    }

    /// Returns whether pods differ from the template, and nothing of what is known says why.
    pub fn has_drifted(&self) -> bool {
        let is_drifted = |report: &ContainerReport| report.comparison == Comparison::Drifted;
        self.pods.iter().any(|pod| pod.state == PodState::Drifted || pod.containers.iter().any(is_drifted))
    }

    /// Returns whether there is something to report: it is held, its controller is working or stuck, pods are missing,
    /// or a pod is not as the template asks, ready and settled. A pinned digest is no problem: the image is the
    /// template's.
    pub fn is_notable(&self) -> bool {
        let pods_missing = self.not_read.is_empty() && self.present() < usize::try_from(self.desired).unwrap_or(0);
        self.lock != Ok(None)
            || self.state != RolloutState::None
            || !self.owner.is_empty()
            || pods_missing
            || self.pods.iter().any(|pod| pod.is_notable() && !pod.differs_alone_in(&self.may_be_rewritten))
    }
}

pub fn status(live: &Snapshot) -> WorkloadStatus {
    let found = found(live);
    if live.workload.reference.kind.is_sidecar_set() { sidecar_set::compared(live, found) } else { found }
}

fn found(live: &Snapshot) -> WorkloadStatus {
    let workload = &live.workload;
    let found = lock_of(workload);
    let lock = found.as_ref().ok().and_then(Option::as_ref);
    let asked = Asked::of(live, lock);
    let revision = CurrentRevision::of(live);
    let mut theirs: Vec<&Pod> = live.pods.iter().filter(|pod| is_theirs(live, pod)).collect();
    theirs.sort_by(|a, b| workload.order(a, b));
    let pods: Vec<PodStatus> = theirs.iter().map(|pod| pod_status(pod, &asked, &revision)).collect();
    let state = rollout_state(live);
    let waits_for_delete = state == RolloutState::None
        && kinds::is_on_delete(&workload.object)
        && is_held_back(live)
        && pods.iter().any(|pod| pod.older_revision.is_some());
    let is_paused = workload.object.pointer("/spec/updateStrategy").is_some_and(kinds::is_paused_strategy);
    let held = if is_paused { OwnerState::Paused } else { OwnerState::OnDelete };
    let waits = owner::blocking_budget(live, lock, &theirs, &pods);
    let owner = owner::states(workload, (lock, &theirs), waits_for_delete.then_some(held).into_iter().chain(waits));
    let mut next = next_command::next_commands(live, state, &pods);
    if state == RolloutState::None && found == Ok(None) && owner.iter().all(OwnerState::is_at_rest) {
        next.extend(next_command::bring_to_template(live, &pods));
    }
    if workload.reference.kind.has_template() && state != RolloutState::Active {
        next_command::add_replacing(&mut next, &pods);
    }
    WorkloadStatus {
        next,
        workload: workload.reference.clone(),
        uid: workload.uid.clone(),
        desired: workload.desired_replicas(),
        owner,
        template: match workload.reference.kind.has_template() {
            true => template_containers(workload.template()),
            false => Vec::new(),
        },
        rewritten: made::rewritten(live, &theirs, &pods),
        may_be_rewritten: may_be_rewritten(live, &pods),
        pods,
        life: lock.map(|lock| lease_state(live, lock)),
        state,
        not_read: not_read(live),
        lock: found.map(|lock| lock.map(Box::new)),
    }
}

fn not_read(live: &Snapshot) -> Vec<String> {
    let denied = live.surroundings.denied.iter().map(|denied| {
        format!(
            "you may not {} {}, so not all of its pods are known ({})",
            denied.verb, denied.resource, denied.message
        )
    });
    denied.chain(live.not_read.iter().cloned()).chain(live.not_made()).collect()
}

fn may_be_rewritten(live: &Snapshot, pods: &[PodStatus]) -> BTreeSet<ContainerName> {
    let drifted = made::drifted(pods).into_iter();
    let may_be_rewritten = drifted.filter(|(name, template)| !made::may_be_brought(live, name, template));
    may_be_rewritten.map(|(name, _)| name.clone()).collect()
}

/// The rollouts of a workload that ended with every container proven.
fn proven(live: &Snapshot) -> BTreeSet<RolloutId> {
    let entries = history::union(&live.workload.object, &live.surroundings.owned).into_iter();
    let is_proven = |entry: &HistoryEntry| matches!(entry.outcome, EndResult::Complete | EndResult::Aborted);
    entries.filter(is_proven).map(|entry| entry.rollout.id).collect()
}

/// What a pod of a workload should ask for.
struct Asked<'a> {
    /// It is a pod of its own: nothing else says what it should ask for.
    own: bool,
    /// By container, as the template says.
    template: BTreeMap<ContainerName, String>,
    whole: &'a Value,
    /// The rollout that holds the workload: what it brings to the pods that it is about.
    lock: Option<&'a Lock>,
    /// The owner's controller has not seen the template, or is replacing pods.
    rolling_out: bool,
    /// The server's time (RFC 3339), where the answer had it.
    now: Option<&'a str>,
    /// The rollouts that ended with every container proven.
    proven: BTreeSet<RolloutId>,
    made: &'a AdmittedPod,
}

struct AskedImage<'a> {
    image: &'a str,
    /// The rollout that holds the workload brings it, and pods get this.
    by_rollout: Option<&'a str>,
}

impl<'a> Asked<'a> {
    fn of(live: &'a Snapshot, lock: Option<&'a Lock>) -> Self {
        let workload = &live.workload;
        let template = template_containers(workload.template()).into_iter().map(|one| (one.container, one.image));
        Self {
            own: !workload.reference.kind.has_template(),
            template: template.collect(),
            whole: workload.template(),
            lock,
            rolling_out: !workload.is_observed() || workload.rolling_out().is_some(),
            now: live.surroundings.server_now.as_deref(),
            proven: proven(live),
            made: &live.surroundings.made,
        }
    }

    fn resources(&self, pod: &Pod) -> Vec<Row> {
        if self.own {
            return Vec::new();
        }
        let mut rows = FieldChanges::drift(self.whole, pod).rows();
        let made = self.made.resources(self.whole);
        rows.retain(|row| !made.contains(row));
        rows
    }

    fn missing_labels(&self, pod: &Pod) -> BTreeMap<String, String> {
        let lacked = if self.own { Vec::new() } else { drain::lacked(self.whole, pod) };
        lacked.into_iter().map(|(key, value)| (key.clone(), value.to_owned())).collect()
    }

    /// Whether the rollout that holds the workload has not asked the pod yet for what it changes besides images.
    fn waits(&self, pod: &Pod) -> bool {
        let chosen = self.lock.filter(|lock| lock.rollout.chooses(&pod.key));
        chosen.is_some_and(|lock| {
            // Lock and template are written together: another template is somebody else's, also the one from before.
            let change = lock.rollout.directed();
            let is_its_template = change.apply(self.whole).is_some_and(|wanted| same(self.whole, &wanted));
            is_its_template && change.fields.progress_in(pod) == FieldProgress::NotAsked
        })
    }

    fn image(&self, pod: &Pod, name: &ContainerName) -> Option<AskedImage<'_>> {
        if self.own {
            return None;
        }
        let chosen = self.lock.filter(|lock| lock.rollout.chooses(&pod.key));
        if let Some((image, in_pods)) = chosen.and_then(|lock| lock.rollout.image(name)) {
            // Lock and template are written together: another template is somebody else's, and what new pods get.
            if self.template.get(name).is_none_or(|template| template == image) {
                return Some(AskedImage { image, by_rollout: Some(in_pods) });
            }
        }
        self.template.get(name).map(|image| AskedImage { image, by_rollout: None })
    }
}

/// Reads the containers of a template; what is none is left out.
pub fn template_containers(template: &Value) -> Vec<TemplateContainer> {
    let mut found = Vec::new();
    for list in ContainerList::ALL {
        let containers = template.pointer(&format!("/spec/{}", list.spec_field())).and_then(Value::as_array);
        for container in containers.into_iter().flatten() {
            let text = |key: &str| container.get(key).and_then(Value::as_str);
            if let (Some(name), Some(image)) = (text("name"), text("image")) {
                found.push(TemplateContainer { container: name.into(), list, image: image.to_owned() });
            }
        }
    }
    found
}

/// Whether a pod that the selector matches belongs to the workload. Where the ReplicaSets may not be read, any ReplicaSet's
/// pod counts as a Deployment's: the selector is all that is left.
fn is_theirs(live: &Snapshot, pod: &Pod) -> bool {
    let kind = live.workload.reference.kind;
    if kind.is_sidecar_set() {
        return true;
    }
    if !kind.has_template() {
        return pod.key.uid == live.workload.uid;
    }
    let is_unread = |through: &WorkloadKind| {
        let plural = through.spec().plural;
        live.surroundings.denied.iter().any(|denied| denied.resource.starts_with(plural))
    };
    let unknown = kind.owns_through().filter(is_unread);
    pod.controller().is_some_and(|owner| {
        live.controllers.contains(&owner.uid) || unknown.is_some_and(|through| owner.kind == through.spec().kind)
    })
}

fn pod_status(pod: &Pod, asked: &Asked<'_>, revision: &CurrentRevision<'_>) -> PodStatus {
    // Under a rollout of this program the pods are of the revision before, and none is replaced.
    let older = if asked.lock.is_some() { revision.older(pod) } else { revision.another(pod) };
    let is_older = older.is_some() || asked.rolling_out;
    let reports =
        pod.all_containers().map(|(list, container)| container::report(pod, list, container, asked, is_older));
    let containers: Vec<ContainerReport> = reports.collect();
    let resizing = change::resizing(pod);
    let waits = asked.waits(pod);
    let record = UpdateRecord::of(pod);
    let is_current = |record: &UpdateRecord| record.containers.keys().any(|name| record.container(pod, name).is_some());
    let resources = asked.resources(pod);
    let compared = Compared { is_older: older.is_some(), waits, has_other_resources: !resources.is_empty() };
    PodStatus {
        key: pod.key.clone(),
        node: pod.spec.node_name.clone(),
        state: pod_state(pod, &containers, compared, resizing.as_ref()),
        ready: pod.is_ready(),
        ready_since: pod.ready_condition().and_then(|condition| condition.last_transition_time.clone()),
        unscheduled: pod.unscheduled().map(str::to_owned),
        older_revision: older.map(|older| older.revision),
        update: record.as_ref().filter(|record| is_current(record)).map(|record| record.id.clone()),
        out_of_services: UpdateRecord::drained(pod).filter(|by| !by.is_on(pod)).map(|by| by.to_string()),
        resizing,
        resources,
        missing_labels: if is_older || waits { BTreeMap::new() } else { asked.missing_labels(pod) },
        unreadable_record: record.is_none() && pod.annotations.contains_key(UPDATE_ANNOTATION),
        containers,
    }
}

/// How a pod compares with what its owner, or the rollout that holds it, asks for.
#[derive(Clone, Copy)]
struct Compared {
    is_older: bool,
    /// It asks for other cpu or memory than the template.
    has_other_resources: bool,
    /// The rollout has not asked it for other cpu or memory, labels or annotations yet.
    waits: bool,
}

fn pod_state(
    pod: &Pod,
    containers: &[ContainerReport],
    compared: Compared,
    resizing: Option<&FieldProgress>,
) -> PodState {
    let has = |wanted: fn(&Condition) -> bool| containers.iter().any(|report| wanted(&report.condition));
    let compares = |wanted: Comparison| containers.iter().any(|report| report.comparison == wanted);
    match () {
        () if pod.terminating => PodState::Terminating,
        () if pod.is_finished() => PodState::Finished,
        () if has(|condition| matches!(condition, Condition::Failed(_))) => PodState::Failed,
        () if matches!(resizing, Some(FieldProgress::Failed { .. })) => PodState::Failed,
        () if has(|condition| matches!(condition, Condition::Updating { .. })) => PodState::Updating,
        () if !pod.is_ready() => PodState::NotReady,
        () if has(|condition| matches!(condition, Condition::Restarted { .. })) => PodState::Restarted,
        () if matches!(resizing, Some(FieldProgress::Waiting { deferred: true, .. })) => PodState::Deferred,
        () if resizing.is_some() => PodState::Resizing,
        () if compared.waits || compares(Comparison::Pending) => PodState::Pending,
        () if compared.is_older || compares(Comparison::Older) => PodState::Older,
        () if compared.has_other_resources || compares(Comparison::Drifted) => PodState::Drifted,
        () if has(|condition| matches!(condition, Condition::Unverified { .. })) => PodState::Unverified,
        () => PodState::Ready,
    }
}
