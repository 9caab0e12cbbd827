//! Pre-pull within a turn: before anything is changed, pods of our own make each node pull what it lacks.
//!
//! Decided from the pods alone: a missing pod is created, one that has pulled is judged, and in the end, however the
//! run ends, none is left. Pods that another run of the same workload has left are deleted first.

use std::collections::BTreeMap;
use std::time::Duration;

use serde_json::Value;

use crate::k8s::failure;
use crate::k8s::metadata;
use crate::k8s::names::WorkloadRef;
use crate::kinds::PODS;
use crate::report::Notice;
use crate::rollout::pre_pull::{
    PROCESS_ANNOTATION, PrePull, Pull, PullState, is_pull_pod, judge, pull_pod, pull_pod_name,
};
use crate::state::durable::{ObjectKey, ObjectKind, ObjectWrite};
use crate::state::outcome::EndResult;
use crate::value::image::repo_digest;
use crate::value::json_path::text;

use crate::rollout::action::STOP_WITHIN;
use crate::rollout::goal::Goal;
use crate::rollout::observed::TurnContext;
use crate::rollout::reads::Read;
use crate::rollout::{Action, Answer, Now};

use super::{Effect, Effects, RequestSource};

/// Names the workload that an object was created for.
pub(super) const WORKLOAD_LABEL: &str = "kubectl-inplace.io/workload";

const AT_ONCE: usize = 20;

/// How often one pull pod is created, at most.
const MAX_MAKES: u8 = 3;

/// How long a failed pull that may heal is waited for: the kubelet's own back-off begins at ten seconds and shows
/// nothing new.
const HEALS_WITHIN: Duration = Duration::from_secs(8);

/// How long a refused create may be due to pods of ours that are gone: the quota controller counts again a moment later.
const COUNTED_WITHIN: Duration = Duration::from_secs(5);

/// The pause before a refused pod is created again.
const PAUSE: Duration = Duration::from_secs(1);

/// How long pull pods are still deleted once the time for pulls is over.
const LAST_CALL: Duration = Duration::from_secs(30);

const POD: ObjectKind = ObjectKind::Workload(PODS);

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum PullRequest {
    Read,
    /// The pod of the pull at this position.
    Make(usize),
    Delete,
}

#[derive(Debug, Clone, Default)]
pub(crate) struct Pulls {
    read: Read,
    /// Writes whose answers are outstanding.
    under_way: usize,
    began: Option<Now>,
    runs: Vec<PullRun>,
    /// What the namespace has room for, once it has refused more.
    room: Option<Room>,
    /// When pull pods of this run were last seen.
    seen: Option<Now>,
    /// When the last one was created.
    made: Now,
    reads_failed: u32,
    /// The nodes by digest, by image. An image for which a runtime reports no registry digest is left out.
    pulled: BTreeMap<String, BTreeMap<String, Vec<String>>>,
    /// Why it is over though not everything was pulled.
    failed: Option<(EndResult, Option<String>)>,
    notices: Vec<Notice>,
    /// Nothing of ours is left.
    over: bool,
}

#[derive(Debug, Clone, Default)]
struct PullRun {
    name: String,
    makes: u8,
    /// The server's words about a pod that may not be created.
    refused: Option<String>,
    /// Since when an image reports a failure that may heal.
    failing: BTreeMap<String, Now>,
    is_reported: bool,
    is_settled: bool,
}

impl PullRun {
    fn pod<'p>(&self, pods: &[&'p Value]) -> Option<&'p Value> {
        pods.iter().copied().find(|pod| text(pod, "/metadata/name") == self.name)
    }

    /// A pull that has failed for this long, and still only reports that it may heal, has failed.
    fn timed_out(&mut self, image: &str, state: PullState, now: Now) -> PullState {
        match state {
            PullState::Pulling { said: Some((reason, message)) } if failure::is_pull(&reason) => {
                let is_over = *self.failing.entry(image.to_owned()).or_insert(now) + HEALS_WITHIN <= now;
                if is_over {
                    PullState::Failed { reason, message }
                } else {
                    PullState::Pulling { said: Some((reason, message)) }
                }
            }
            PullState::Pulling { .. } | PullState::Pulled { .. } | PullState::Failed { .. } => {
                self.failing.remove(image);
                state
            }
        }
    }
}

/// What a quota, or whatever else refuses a pod beside others of ours, leaves room for.
#[derive(Debug, Clone)]
struct Room {
    /// How many pull pods may exist at the same time.
    pods: usize,
    why: String,
    /// When the next one is created.
    again: Now,
}

impl Pulls {
    pub(crate) fn is_over(&self) -> bool {
        self.over && self.failed.is_none()
    }

    /// The run ends for a reason of its own: the pull pods are deleted, and none is created any more.
    pub(crate) fn leave(&mut self, result: EndResult, why: Option<String>) {
        self.failed.get_or_insert((result, why));
    }

    pub(crate) fn answer(&mut self, asked: PullRequest, answer: Answer, now: Now) {
        if asked == PullRequest::Read {
            if !self.read.answered(&answer, now) {
                self.reads_failed = self.reads_failed.saturating_add(1);
            }
            return;
        }
        self.under_way = self.under_way.saturating_sub(1);
        // The outcome is read.
        self.read.invalidate(now);
        match (asked, answer) {
            (PullRequest::Make(position), Answer::Refused { message, .. }) => {
                if let Some(run) = self.runs.get_mut(position) {
                    run.refused = Some(message);
                }
                self.was_not_made(position);
            }
            (_, Answer::Refused { message, .. }) => {
                // A caller that may not delete them leaves them to their deadline.
                self.notices.push(Notice::PrePullSkipped { node: String::new(), why: message });
                self.over = true;
            }
            (PullRequest::Make(position), Answer::NotDone { after, .. }) => {
                self.was_not_made(position);
                self.read.put_off(after, now);
            }
            (_, Answer::NotDone { after, .. }) => self.read.put_off(after, now),
            // A pod that was created after all is found by the next read; only one that was created and went away
            // counts.
            (PullRequest::Make(position), Answer::Unknown { .. }) => {
                self.was_not_made(position);
                self.read.put_off(None, now);
            }
            (_, _) => {}
        }
    }

    fn was_not_made(&mut self, position: usize) {
        if let Some(run) = self.runs.get_mut(position) {
            run.makes = run.makes.saturating_sub(1);
        }
    }

    fn settled(&mut self, position: usize) {
        if let Some(run) = self.runs.get_mut(position) {
            run.is_settled = true;
        }
    }

    /// A node where nothing can be pulled first: `auto` goes on without, and `always` ends it.
    fn cannot(&mut self, position: usize, pull: &Pull, why: String, mode: PrePull) {
        self.settled(position);
        let node = pull.node.clone();
        match mode {
            PrePull::Always => {
                let why = format!("the images could not be pulled first on {node} (--pre-pull=always): {why}");
                self.failed.get_or_insert((EndResult::Failed, Some(why)));
            }
            PrePull::Auto | PrePull::Never => self.notices.push(Notice::PrePullSkipped { node, why }),
        }
    }
}

pub fn create_pull_pod(goal: &Goal, pull: &Pull) -> ObjectWrite {
    let deadline = u32::try_from(goal.policy().timeout().as_secs()).unwrap_or(300).saturating_add(60);
    let mut pod = pull_pod(goal.id(), &goal.workload, pull, deadline);
    pod["metadata"]["labels"][WORKLOAD_LABEL] = workload_label(&goal.workload).into();
    if let Some(process) = goal.lock.process_text() {
        pod["metadata"]["annotations"][PROCESS_ANNOTATION] = process.into();
    }
    ObjectWrite::Create { kind: POD, namespace: goal.workload.namespace.clone(), object: pod }
}

pub(super) fn workload_label(workload: &WorkloadRef) -> String {
    let name: String = workload.name.chars().take(40).collect();
    format!("{}.{}", workload.kind.spec().singular, name.trim_end_matches(['.', '-', '_']))
}

/// Returns the selector of every pull pod of a workload, whatever run created it.
pub fn pull_pods_of(workload: &WorkloadRef) -> String {
    format!("{},{WORKLOAD_LABEL}={}", crate::rollout::pre_pull::pull_selector(None), workload_label(workload))
}

/// Returns whether a pod is a pull pod of this workload, whatever run created it.
pub fn is_pull_pod_of(workload: &WorkloadRef, pod: &Value) -> bool {
    let label = pod.pointer("/metadata/labels").and_then(|labels| labels.get(WORKLOAD_LABEL));
    is_pull_pod(pod) && label.and_then(Value::as_str) == Some(workload_label(workload).as_str())
}

/// Returns the delete of exactly this pull pod. `None` for a pod that only carries the labels of one.
pub fn delete_pull_pod(pod: &Value) -> Option<ObjectWrite> {
    is_pull_pod(pod).then(|| ObjectWrite::Delete { object: ObjectKey::of(POD, pod), version: None })
}

fn read_pull_pods(goal: &Goal) -> Action {
    Action::ReadPullPods { namespace: goal.workload.namespace.clone(), selector: pull_pods_of(&goal.workload) }
}

impl Pulls {
    pub(crate) fn advance(&mut self, context: TurnContext<'_>) -> Effects {
        let mut effects = Effects::default();
        self.step(context, &mut effects);
        effects.0.extend(self.notices.drain(..).map(Effect::Say));
        effects
    }

    fn step(&mut self, context: TurnContext<'_>, effects: &mut Effects) {
        let (goal, now) = (context.goal, context.now);
        if self.over {
            return;
        }
        if !goal.looks_for_pull_pods() {
            self.over = true;
            return;
        }
        let began = *self.began.get_or_insert(now);
        if self.abandons(goal, began, now) {
            self.over = true;
            return;
        }
        if self.is_waiting() || self.read.retry_at > now {
            return;
        }
        let Some(read) = context.observed.pull_pods.as_ref().filter(|_| self.read.is_valid()) else {
            self.read.ask(now);
            return effects.act(RequestSource::Pulls(PullRequest::Read), read_pull_pods(goal));
        };
        // A pod that only carries their labels is somebody else's.
        let pods: Vec<&Value> = read.iter().filter(|pod| is_pull_pod(pod)).collect();
        if self.runs.is_empty() {
            let name = |pull| pull_pod_name(goal.id(), &goal.workload, pull);
            self.runs = goal.pulls.iter().map(|pull| PullRun { name: name(pull), ..PullRun::default() }).collect();
        }
        if !pods.is_empty() {
            self.seen = Some(now);
        }
        self.settle_refused(context, pods.len());
        self.judge_all(context, &pods, effects);
        let late = began + goal.policy().timeout() <= now;
        if late {
            self.give_up_without_room(goal, &pods);
        }
        let all_settled = self.runs.iter().all(|run| run.is_settled);
        if late && self.failed.is_none() && !all_settled {
            self.failed = Some((EndResult::TimedOut, Some(self.what_is_late(goal))));
        }
        let ends = all_settled || self.failed.is_some() || context.stopped_since.is_some();
        self.delete(context, &pods, ends, effects);
        if ends && pods.is_empty() {
            return self.finish(effects);
        }
        if !ends {
            self.make_missing(context, &pods, effects);
        }
        if self.under_way == 0 && self.read.poll(now) {
            effects.act(RequestSource::Pulls(PullRequest::Read), read_pull_pods(goal));
        }
    }

    fn is_waiting(&self) -> bool {
        self.under_way > 0 || self.read.asked().is_some()
    }

    /// Deletes pods that nothing waits for: at the end every one.
    fn delete(&mut self, context: TurnContext<'_>, pods: &[&Value], ends: bool, effects: &mut Effects) {
        let is_wanted = |pod: &Value| self.runs.iter().any(|run| !run.is_settled && run.pod(&[pod]).is_some());
        let is_doomed = |pod: &&Value| !metadata::is_terminating(pod) && (ends || !is_wanted(pod));
        let doomed = pods.iter().copied().filter(is_doomed).filter_map(delete_pull_pod);
        for write in doomed.collect::<Vec<_>>() {
            self.write(context.goal, PullRequest::Delete, write, effects);
        }
    }

    fn write(&mut self, goal: &Goal, asked: PullRequest, write: ObjectWrite, effects: &mut Effects) {
        self.under_way += 1;
        effects.act(RequestSource::Pulls(asked), Action::Write { write, field_manager: goal.field_manager.clone() });
    }

    /// Nodes whose pod the server refuses. Beside pods of ours that are there, or were a moment ago, it may be a quota that
    /// leaves no room for one more: then the others come one after the other.
    fn settle_refused(&mut self, context: TurnContext<'_>, there: usize) {
        let (goal, now) = (context.goal, context.now);
        let may_be_full = self.seen.is_some_and(|seen| seen + COUNTED_WITHIN > self.made);
        for (position, pull) in goal.pulls.iter().enumerate() {
            let Some(why) = self.runs.get_mut(position).and_then(|run| run.refused.take()) else { continue };
            if may_be_full {
                let pods = self.room.as_ref().map_or(AT_ONCE, |room| room.pods).min(there.max(1));
                self.room = Some(Room { pods, why, again: now + PAUSE });
            } else {
                self.cannot(position, pull, why, goal.pre_pull);
            }
        }
    }

    /// The time is over, and for some nodes there was no room for a pod.
    fn give_up_without_room(&mut self, goal: &Goal, pods: &[&Value]) {
        let Some(why) = self.room.as_ref().map(|room| room.why.clone()) else { return };
        for (position, pull) in goal.pulls.iter().enumerate() {
            if self.runs.get(position).is_some_and(|run| !run.is_settled && run.pod(pods).is_none()) {
                self.cannot(position, pull, why.clone(), goal.pre_pull);
            }
        }
    }

    /// Returns whether pre-pull is abandoned. Where nothing is pulled the reads only look for pods that another run has
    /// left; else the reads and the deletes have their time.
    fn abandons(&mut self, goal: &Goal, began: Now, now: Now) -> bool {
        let over = began + goal.policy().timeout() + LAST_CALL <= now;
        if goal.pulls.is_empty() {
            return over || self.reads_failed > 0;
        }
        if over && self.failed.is_none() {
            let why = "the pods that pull could not be read or taken away; no container was touched".to_owned();
            self.failed = Some((EndResult::TimedOut, Some(why)));
        }
        over
    }

    fn make_missing(&mut self, context: TurnContext<'_>, pods: &[&Value], effects: &mut Effects) {
        let goal = context.goal;
        if self.room.as_ref().is_some_and(|room| room.again > context.now) {
            return;
        }
        let at_once = self.room.as_ref().map_or(AT_ONCE, |room| room.pods);
        let mut at_work = pods.len();
        for (position, pull) in goal.pulls.iter().enumerate() {
            let Some(run) = self.runs.get_mut(position) else { continue };
            if run.pod(pods).is_some() || run.is_settled || at_work >= at_once {
                continue;
            }
            at_work += 1;
            run.makes = run.makes.saturating_add(1);
            if run.makes > MAX_MAKES {
                let why = "the pod that pulls went away again and again".to_owned();
                self.cannot(position, pull, why, goal.pre_pull);
                continue;
            }
            if !std::mem::replace(&mut run.is_reported, true) {
                let images = pull.images.iter().map(|image| image.image.clone()).collect();
                effects.say(Notice::PullBegins { node: pull.node.clone(), images });
            }
            self.made = context.now;
            self.write(goal, PullRequest::Make(position), create_pull_pod(goal, pull), effects);
        }
    }

    fn judge_all(&mut self, context: TurnContext<'_>, pods: &[&Value], effects: &mut Effects) {
        for (position, pull) in context.goal.pulls.iter().enumerate() {
            let Some(run) = self.runs.get_mut(position).filter(|run| !run.is_settled) else { continue };
            let Some(pod) = run.pod(pods) else { continue };
            match judge(pod) {
                Err(why) => {
                    let why = format!("node {} did not take the pod: {why}", pull.node);
                    self.cannot(position, pull, why, context.goal.pre_pull);
                }
                Ok(images) => {
                    let state = |(image, state): (String, PullState)| {
                        let state = run.timed_out(&image, state, context.now);
                        (image, state)
                    };
                    let images = images.into_iter().map(state).collect();
                    self.settle(pull, images, position, effects);
                }
            }
        }
    }

    fn settle(&mut self, pull: &Pull, images: Vec<(String, PullState)>, position: usize, effects: &mut Effects) {
        let mut pulled = Vec::new();
        for (image, state) in images {
            match state {
                PullState::Pulling { .. } => return,
                PullState::Failed { reason, message } => {
                    let node = &pull.node;
                    let why = format!("node {node} cannot pull {image}: {reason}: {message}; no container was touched");
                    self.failed.get_or_insert((EndResult::Failed, Some(why)));
                    return;
                }
                PullState::Pulled { image_id } => pulled.push((image, image_id.unwrap_or_default())),
            }
        }
        self.settled(position);
        for (image, image_id) in pulled {
            let node = pull.node.clone();
            if let Some(digest) = repo_digest(&image_id) {
                let nodes = self.pulled.entry(image.clone()).or_default().entry(digest.to_owned()).or_default();
                if !nodes.contains(&node) {
                    nodes.push(node.clone());
                }
            }
            effects.say(Notice::Pulled { node, image, image_id });
        }
    }

    /// A runtime that reports the digest of the platform's own manifest instead of the index makes nodes of two
    /// architectures look like a tag that has moved: so this is a warning, never a refusal.
    fn finish(&mut self, effects: &mut Effects) {
        self.over = true;
        effects.0.extend(self.notices.drain(..).map(Effect::Say));
        for (image, digests) in self.pulled.iter().filter(|(_, digests)| digests.len() > 1) {
            let nodes = digests.iter().map(|(digest, nodes)| format!("{digest} on {}", nodes.join(", ")));
            let nodes = nodes.collect::<Vec<_>>().join("; ");
            effects.say(Notice::TagDiffersByNode {
                what: format!("{image} means something else from node to node: {nodes}"),
            });
        }
    }

    fn what_is_late(&self, goal: &Goal) -> String {
        let late = goal.pulls.iter().zip(&self.runs).filter(|(_, run)| !run.is_settled);
        let nodes: Vec<&str> = late.map(|(pull, _)| pull.node.as_str()).collect();
        format!("the images were not pulled in time on {}; no container was touched", nodes.join(", "))
    }

    pub(crate) fn end(&self) -> Option<(EndResult, Option<String>)> {
        self.failed.clone().filter(|_| self.over)
    }

    /// Returns whether the run may end: no pull pod is left, or the time to delete them is over.
    pub(crate) fn can_finish(&self, context: TurnContext<'_>) -> bool {
        let stopped_long_ago = context.stopped_since.is_some_and(|since| since + STOP_WITHIN <= context.now);
        self.over || stopped_long_ago || self.began.is_none()
    }

    pub(crate) fn next_visit(&self, context: TurnContext<'_>) -> Option<Now> {
        if self.over {
            return None;
        }
        let ends = self.began.map(|began| began + context.goal.policy().timeout());
        let abandons = ends.map(|ends| ends + LAST_CALL);
        let due = (!self.is_waiting()).then(|| self.read.due());
        [ends.filter(|ends| *ends > context.now), abandons, due].into_iter().flatten().min()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A registry answers now and then: no image fails because of what another one, or an earlier try, has reported.
    #[test]
    fn each_image_of_a_pod_has_its_own_time_to_heal() {
        let mut run = PullRun::default();
        let passing = || Some(("ErrImagePull".to_owned(), "connection refused".to_owned()));
        for (image, said, second, fails) in [
            ("a:1", passing(), 0, false),
            ("b:1", passing(), 9, false),
            ("a:1", None, 9, false),
            ("a:1", passing(), 10, false),
            ("b:1", passing(), 16, false),
            ("b:1", passing(), 17, true),
            ("a:1", passing(), 18, true),
        ] {
            let state = run.timed_out(image, PullState::Pulling { said }, Now::from_secs(second));
            assert_eq!(matches!(state, PullState::Failed { .. }), fails, "{image} {second}");
        }
    }

    #[test]
    fn digests_that_differ_are_a_moving_tag() {
        let (mut pulls, mut effects) = (Pulls::default(), Effects::default());
        let [one, two] = ["1", "2"].map(|digit| format!("sha256:{}", digit.repeat(64)));
        let of = |digest: &str| format!("docker.io/acme/x@{digest}");
        for (node, image, image_id) in [
            ("node-a", "acme/moved:1", of(&one)),
            ("node-b", "acme/moved:1", of(&two)),
            ("node-c", "acme/moved:1", of(&one)),
            ("node-c", "acme/moved:1", of(&one)),
            ("node-a", "acme/same:1", of(&one)),
            ("node-b", "acme/same:1", of(&one)),
            ("node-a", "acme/untold:1", one.clone()),
            ("node-b", "acme/untold:1", two.clone()),
        ] {
            let (secrets, images, service_account) = (Vec::new(), Vec::new(), String::new());
            let pull = Pull { node: node.into(), secrets, service_account, images, asks: Default::default() };
            let state = PullState::Pulled { image_id: Some(image_id) };
            pulls.settle(&pull, vec![(image.into(), state)], 0, &mut effects);
        }
        effects.0.clear();
        pulls.finish(&mut effects);
        let [Effect::Say(Notice::TagDiffersByNode { what })] = effects.0.as_slice() else { panic!("{effects:?}") };
        let nodes = format!("{one} on node-a, node-c; {two} on node-b");
        assert_eq!(*what, format!("acme/moved:1 means something else from node to node: {nodes}"));
    }
}
