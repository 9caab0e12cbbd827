//! Requests to kruise-daemon within a turn (`restart --by-request`): a ContainerRecreateRequest for each pod whose record says
//! that containers of it are asked to restart, until other containers run.
//!
//! Decided from the requests as they are read: one that is missing is created, one that nobody waits for any more is deleted,
//! and in the end, however the run ends, none is left. That a request is `Completed` proves nothing: the daemon says so, too,
//! of a container that has started in the second of the request, and its manager of one that it gave up. So a request that has
//! ended, without another container, is a failure of its pod.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use serde_json::{Value, json};

use crate::k8s::failure::Failure;
use crate::k8s::metadata;
use crate::k8s::names::{ContainerName, WorkloadRef};
use crate::k8s::pod::Pod;
use crate::kinds::PODS;
use crate::report::progress::UpdatePhase;
use crate::rollout::action::STOP_WITHIN;
use crate::rollout::goal::Goal;
use crate::rollout::observed::{Judged, PodContext, TurnContext};
use crate::rollout::pod_run::{PodIndex, failure_of_pod};
use crate::rollout::pods::Pods;
use crate::rollout::pre_pull::{PROCESS_ANNOTATION, managed_by, object_name};
use crate::rollout::reads::Read;
use crate::rollout::{Action, Answer, Now};
use crate::state::durable::{ObjectKey, ObjectKind, ObjectWrite};
use crate::state::record::UpdateRecord;
use crate::value::json_path::text;

use super::pulls::{WORKLOAD_LABEL, workload_label};
use super::{Effect, Effects, RequestSource};

/// A daemon that runs begins with a request at once; with one that comes after another for the pod it may never begin.
const ANSWERS_WITHIN: Duration = Duration::from_secs(10);

/// The kubelet reports the new container before its request is complete; the watch may bring it a moment later.
const SHOWN_WITHIN: Duration = Duration::from_secs(3);

/// How often one request is created, at most: each time after a read that does not show it.
const MAX_MAKES: u8 = 3;

/// A request that nobody deletes goes this many seconds after it has ended.
const TTL_SECONDS: u32 = 300;

/// The reason of a failure, as it is explained.
const NOT_RESTARTED: &str = "NotRestarted";

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum AskedRequest {
    Read,
    /// The request for the pod at this position.
    Make(usize),
    Delete,
}

#[derive(Debug, Clone, Default)]
pub(crate) struct Requests {
    read: Read,
    /// Writes whose answers are outstanding.
    under_way: usize,
    pods: BTreeMap<usize, PodRequest>,
    /// Something is waited for that only a read shows.
    waits: bool,
    /// The caller may not delete them.
    gives_up: bool,
}

/// What this run has done for the step of a pod that is in progress.
#[derive(Debug, Clone, Default)]
struct PodRequest {
    name: String,
    containers: BTreeSet<ContainerName>,
    makes: u8,
    /// When it was known to be stored.
    made: Option<Now>,
    /// Since when it has ended, or is gone, without another container.
    ended: Option<Now>,
    /// The server's words about the last create.
    said: String,
    is_gone: bool,
    failed: Option<Failure>,
}

/// Returns the create of the request that restarts containers of a pod.
///
/// Its name is derived from the rollout, the pod and the containers, so that what is created twice is created once. It goes
/// with its pod, and by itself once it has ended.
pub fn create_request(goal: &Goal, pod: &Pod, containers: &BTreeSet<ContainerName>) -> ObjectWrite {
    let key = &pod.key;
    let seconds = goal.policy().timeout().as_secs() + pod.termination_grace_seconds() + 60;
    let object = json!({
        "apiVersion": "apps.kruise.io/v1alpha1",
        "kind": "ContainerRecreateRequest",
        "metadata": {
            "name": request_name(goal, pod, containers),
            "namespace": key.namespace,
            "labels": managed_by(WORKLOAD_LABEL, &workload_label(&goal.workload)),
            "annotations": {PROCESS_ANNOTATION: goal.lock.process_text().unwrap_or_default()},
            "ownerReferences": [{
                "apiVersion": PODS.spec().api_version(), "kind": PODS.spec().kind, "name": key.name, "uid": key.uid,
            }],
        },
        "spec": {
            "podName": key.name,
            "containers": containers.iter().map(|name| json!({"name": name})).collect::<Vec<_>>(),
            "strategy": {"failurePolicy": "Fail"},
            "activeDeadlineSeconds": seconds,
            "ttlSecondsAfterFinished": TTL_SECONDS,
        },
    });
    ObjectWrite::Create { kind: ObjectKind::RecreateRequest, namespace: key.namespace.clone(), object }
}

fn request_name(goal: &Goal, pod: &Pod, containers: &BTreeSet<ContainerName>) -> String {
    let identity =
        [goal.id().as_str(), pod.key.uid.as_str()].into_iter().chain(containers.iter().map(ContainerName::as_str));
    object_name(&format!("inplace-{}", pod.key.name), &identity.collect::<Vec<_>>())
}

/// Returns the selector of the requests for a workload's pods, whatever run created them.
fn requests_of(workload: &WorkloadRef) -> String {
    let label = workload_label(workload);
    let labels = managed_by(WORKLOAD_LABEL, &label);
    labels.iter().map(|(key, value)| format!("{key}={value}")).collect::<Vec<_>>().join(",")
}

fn read(goal: &Goal, effects: &mut Effects) {
    let (namespace, selector) = (goal.workload.namespace.clone(), requests_of(&goal.workload));
    effects.act(RequestSource::Requests(AskedRequest::Read), Action::ReadRequests { namespace, selector });
}

/// The containers of a pod that this rollout has asked to restart, and that are those of before.
fn waited_for<'a>(
    context: TurnContext<'a>,
    pods: &Pods,
    position: usize,
) -> Option<(&'a Pod, BTreeSet<ContainerName>)> {
    let (_, pod) = context.found(pods, position)?;
    let record = UpdateRecord::of_rollout(pod, context.goal.id())?;
    let is_old = |name: &ContainerName, before: Option<&String>| {
        pod.status_of(name).is_some_and(|status| status.container_id.as_ref() == before)
    };
    let old = record.requested.iter().filter(|(name, before)| is_old(name, before.container_id.as_ref()));
    Some((pod, old.map(|(name, _)| name.clone()).collect()))
}

impl Requests {
    pub(crate) fn answer(&mut self, asked: AskedRequest, answer: Answer, now: Now) {
        if asked == AskedRequest::Read {
            self.read.answered(&answer, now);
            return;
        }
        self.under_way = self.under_way.saturating_sub(1);
        // What is there now is read.
        self.read.invalidate(now);
        if let Answer::NotDone { after, .. } = &answer {
            self.read.put_off(*after, now);
        } else if matches!(answer, Answer::Unknown { .. }) {
            self.read.put_off(None, now);
        }
        let AskedRequest::Make(position) = asked else {
            self.gives_up |= matches!(answer, Answer::Refused { .. });
            return;
        };
        let Some(request) = self.pods.get_mut(&position) else { return };
        answer.message().unwrap_or_default().clone_into(&mut request.said);
        match answer {
            Answer::Accepted => request.made = Some(now),
            Answer::NotDone { .. } => request.makes = request.makes.saturating_sub(1),
            Answer::Refused { reason, message } => {
                (request.failed, request.is_gone) = (Some(failure_of_pod(&reason, message)), true);
            }
            Answer::Conflict { .. }
            | Answer::Unknown { .. }
            | Answer::Hook(_)
            | Answer::Read
            | Answer::ReadFailed { .. } => {}
        }
    }

    /// Says of a pod whose request has ended, or is not answered, that it has failed.
    pub(crate) fn phase(&self, subject: PodContext<'_>, judged: Judged) -> Judged {
        let failed = self.pods.get(&subject.position).and_then(|request| request.failed.clone());
        match (&judged.phase, failed) {
            (UpdatePhase::Restarting { .. }, Some(failure)) => UpdatePhase::Failing(failure).into(),
            (_, _) => judged,
        }
    }

    pub(crate) fn advance(&mut self, context: TurnContext<'_>, pods: &Pods) -> Effects {
        let mut effects = Effects::default();
        let is_busy = self.under_way > 0 || self.read.asked().is_some() || self.read.retry_at > context.now;
        if !context.goal.by_request || self.gives_up || is_busy {
            return effects;
        }
        let Some(known) = context.observed.requests.as_ref().filter(|_| self.read.is_valid()) else {
            if self.read.ask(context.now) {
                read(context.goal, &mut effects);
            }
            return effects;
        };
        let is_ours = |request: &&Value| {
            let pod = text(request, "/spec/podName");
            pods.iter().any(|run| run.goal.key.name == pod)
        };
        let found: Vec<&Value> = known.iter().filter(is_ours).collect();
        let mut writes = Vec::new();
        let wanted = self.judge_all(context, pods, &found, (&mut writes, &mut effects));
        let is_wanted = |request: &&&Value| wanted.iter().any(|name| name == text(request, "/metadata/name"));
        // First what is to go: the daemon begins with a pod's oldest request.
        for request in found.iter().filter(|request| !is_wanted(request) && !metadata::is_terminating(request)) {
            let object = ObjectKey::of(ObjectKind::RecreateRequest, request);
            writes.insert(0, (AskedRequest::Delete, ObjectWrite::Delete { object, version: None }));
        }
        self.under_way = writes.len();
        for (asked, write) in writes {
            let field_manager = context.goal.field_manager.clone();
            effects.act(RequestSource::Requests(asked), Action::Write { write, field_manager });
        }
        self.waits = !found.is_empty() || !wanted.is_empty();
        if self.waits && self.under_way == 0 && self.read.poll(context.now) {
            read(context.goal, &mut effects);
        }
        effects
    }

    /// Judges the request of each pod that restarts; one that is missing is to be created. Returns the names of those that are
    /// waited for: none once the run ends.
    fn judge_all(
        &mut self,
        context: TurnContext<'_>,
        pods: &Pods,
        found: &[&Value],
        (writes, effects): (&mut Vec<(AskedRequest, ObjectWrite)>, &mut Effects),
    ) -> Vec<String> {
        let mut wanted = Vec::new();
        let ends = context.stopped_since.or(context.ending_since).is_some();
        let request_of = |name: &str| found.iter().copied().find(|request| text(request, "/metadata/name") == name);
        for request in self.pods.values_mut() {
            request.is_gone = request_of(&request.name).is_none() && (request.made.is_some() || request.is_gone);
        }
        for position in pods.list(PodIndex::InProgress).into_iter().filter(|_| !ends) {
            let is_restarting = |phase: &UpdatePhase| matches!(phase, UpdatePhase::Restarting { .. });
            if !pods.run(position).and_then(|run| run.phase.as_ref()).is_some_and(is_restarting) {
                continue;
            }
            let Some((pod, old)) = waited_for(context, pods, position).filter(|(_, old)| !old.is_empty()) else {
                continue;
            };
            let request = self.pods.entry(position).or_default();
            if !old.is_subset(&request.containers) {
                let name = request_name(context.goal, pod, &old);
                *request = PodRequest { name, containers: old, ..PodRequest::default() };
            }
            if request.failed.is_some() {
                continue;
            }
            if request.judge(request_of(&request.name), pod, context.now) {
                request.makes = request.makes.saturating_add(1);
                self.read.hurry();
                let create = create_request(context.goal, pod, &request.containers);
                writes.push((AskedRequest::Make(position), create));
            }
            if request.failed.is_some() {
                effects.0.push(Effect::Wake(position));
            } else {
                wanted.push(request.name.clone());
            }
        }
        wanted
    }

    /// Returns whether the run may end: no request is left, or the time to delete them is over.
    pub(crate) fn can_finish(&self, context: TurnContext<'_>) -> bool {
        let is_late = |since: Now| since + STOP_WITHIN <= context.now;
        let is_over = self.under_way == 0 && self.read.is_valid() && !self.waits;
        let has_begun = self.read.at().is_some() || self.read.asked().is_some();
        !context.goal.by_request
            || !has_begun
            || self.gives_up
            || is_over
            || context.stopped_since.or(context.ending_since).is_some_and(is_late)
    }

    pub(crate) fn left(&self, context: TurnContext<'_>) -> Option<String> {
        let left = self.pods.values().filter(|request| request.makes > 0 && !request.is_gone);
        let names: Vec<&str> = left.map(|request| request.name.as_str()).collect();
        let (names, namespace) = (names.join(" "), &context.goal.workload.namespace);
        (!names.is_empty()).then(|| {
            format!(
                "requests to kruise-daemon may be left, and go by themselves once they have ended: kubectl delete containerrecreaterequests.apps.kruise.io {names} -n {namespace}"
            )
        })
    }

    pub(crate) fn next_visit(&self, context: TurnContext<'_>) -> Option<Now> {
        let is_idle = context.goal.by_request && self.under_way == 0 && self.read.asked().is_none() && !self.gives_up;
        (is_idle && (self.waits || !self.read.is_valid())).then(|| self.read.due())
    }
}

impl PodRequest {
    /// Judges the request as it was read while containers are those of before; returns whether it is to be created.
    fn judge(&mut self, found: Option<&Value>, pod: &Pod, now: Now) -> bool {
        let (name, containers) =
            (&self.name, self.containers.iter().map(ContainerName::as_str).collect::<Vec<_>>().join(", "));
        let Some(found) = found else {
            if self.made.is_none() && self.makes < MAX_MAKES {
                return true;
            }
            let why = if self.made.is_some() { "another client has deleted it" } else { self.said.as_str() };
            let message = format!("{containers} was not restarted by ContainerRecreateRequest {name}: {why}");
            // The daemon may be about to stop it.
            let stops_within = SHOWN_WITHIN + Duration::from_secs(pod.termination_grace_seconds());
            let is_over = self.made.is_none() || *self.ended.get_or_insert(now) + stops_within <= now;
            self.failed = is_over.then(|| failure_of_pod(NOT_RESTARTED, message));
            return false;
        };
        let made = *self.made.get_or_insert(now);
        let phase = text(found, "/status/phase");
        if matches!(phase, "" | "Pending") && made + ANSWERS_WITHIN <= now {
            let (node, seconds) = (&pod.spec.node_name, ANSWERS_WITHIN.as_secs());
            let why = match phase {
                "" => "it does not answer; a restart without --by-request needs no daemon",
                _ => "another request for the pod comes first",
            };
            let message = format!(
                "kruise-daemon on node {node} has not begun with ContainerRecreateRequest {name} for {seconds} s: {why}"
            );
            self.failed = Some(failure_of_pod(NOT_RESTARTED, message));
        } else if phase == "Completed" || !text(found, "/status/completionTime").is_empty() {
            let words = words(found);
            let message = format!(
                "ContainerRecreateRequest {name} is {phase}, and {containers} is the container of before{words}"
            );
            if *self.ended.get_or_insert(now) + SHOWN_WITHIN <= now {
                self.failed = Some(failure_of_pod(NOT_RESTARTED, message));
            }
        }
        false
    }
}

/// The request's own words: its message, and what it says of each container.
fn words(request: &Value) -> String {
    let message = Some(text(request, "/status/message").to_owned()).filter(|message| !message.is_empty());
    let states = request.pointer("/status/containerRecreateStates").and_then(Value::as_array);
    let of_container = |state: &Value| {
        let killed = state.get("isKilled").and_then(Value::as_bool).unwrap_or(false);
        let said = Some(text(state, "/message")).filter(|said| !said.is_empty());
        let said = said.map(|said| format!(", {said}")).unwrap_or_default();
        format!("{} {}, isKilled {killed}{said}", text(state, "/name"), text(state, "/phase"))
    };
    let said: Vec<String> = message.into_iter().chain(states.into_iter().flatten().map(of_container)).collect();
    if said.is_empty() { String::new() } else { format!(": {}", said.join("; ")) }
}

#[cfg(test)]
mod tests;
