//! Pre-pull within a turn: before anything is touched, pods of our own make each node pull what it lacks.
//!
//! Decided from the pods alone: one that is missing is made, one that has pulled is judged, and in the end, however it
//! ends, none is left. Pods that another run of the same workload has left go first.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use serde_json::Value;

use crate::engine::durable::{ObjectKey, ObjectKind, ObjectWrite};
use crate::engine::failure;
use crate::engine::kinds::PODS;
use crate::engine::names::WorkloadRef;
use crate::engine::outcome::EndResult;
use crate::engine::pre_pull::{
    ImageState, PROCESS_ANNOTATION, PrePull, Pull, PullState, PulledImage, Requests, is_pull_pod, judge, moving_tags,
    pull_pod, pull_pod_name,
};
use crate::engine::report::Notice;

use super::fault::Fault;
use super::goal::{Goal, Mode};
use super::ledger::{BACK_OFF, Ledger};
use super::verdict::STOP_WITHIN;
use super::world::World;
use super::{Action, ActionId, Answer, Now, Turn};
use crate::engine::policy::DEFAULT_TIMEOUT_SECONDS;

/// Names the workload that a pull pod was made for.
const PULL_WORKLOAD_LABEL: &str = "kubectl-inplace.io/workload";

/// Nodes that pull at once.
const AT_ONCE: usize = 20;

/// Makes of one pull pod, at most.
const MAX_MAKES: u8 = 3;

const SOON: Duration = Duration::from_millis(200);
const LATER: Duration = Duration::from_secs(1);
/// How long a pull that failed, and may heal, is waited for: the kubelet's own back-off begins at ten seconds and tells
/// nothing new.
const HEALS_WITHIN: Duration = Duration::from_secs(8);

/// How long the pods are taken away once the time for pulls is over.
const LAST_CALL: Duration = Duration::from_secs(30);

const POD: ObjectKind = ObjectKind::Workload(PODS);

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Asked {
    Read,
    /// The pod of the pull at this position, with or without requests.
    Make(usize, Requests),
    Delete,
}

/// What is kept of the pulls.
#[derive(Debug, Clone, Default)]
pub(super) struct PullLedger {
    asked: BTreeMap<ActionId, Asked>,
    read_at: Option<Now>,
    began_read: Now,
    stale: bool,
    not_before: Now,
    pause: Duration,
    began: Option<Now>,
    makes: BTreeMap<usize, u8>,
    /// A LimitRange may refuse what asks for next to nothing.
    says_no_requests: bool,
    /// The server's words about pods that may not be made, by position.
    refused: BTreeMap<usize, String>,
    reads_failed: u32,
    /// Since when a pull says that it failed, by position.
    failing: BTreeMap<usize, Now>,
    /// Pulls whose begin was told, by position.
    told: BTreeSet<usize>,
    /// Nodes that are done with, by position.
    settled: BTreeSet<usize>,
    pulled: Vec<PulledImage>,
    /// Why it is over though not everything was pulled.
    failed: Option<(EndResult, Option<String>)>,
    notices: Vec<Notice>,
    /// Nothing of ours is left.
    over: bool,
}

impl PullLedger {
    pub(super) fn is_its(&self, id: ActionId) -> bool {
        self.asked.contains_key(&id)
    }

    pub(super) fn is_over(&self) -> bool {
        self.over && self.failed.is_none()
    }

    /// The run ends for a reason of its own: what is there goes, and nothing more is made.
    pub(super) fn leave(&mut self, result: EndResult, why: Option<String>) {
        self.failed.get_or_insert((result, why));
    }

    pub(super) fn answer(&mut self, id: ActionId, answer: Answer, now: Now) {
        let Some(asked) = self.asked.remove(&id) else { return };
        match (asked, answer) {
            (Asked::Read, Answer::Read) => {
                self.read_at = Some(self.began_read);
                self.stale = false;
            }
            (Asked::Read, _) => {
                self.reads_failed = self.reads_failed.saturating_add(1);
                self.not_before = now + BACK_OFF;
            }
            (Asked::Make(position, Requests::Tiny), Answer::Refused { .. }) => {
                // A LimitRange may refuse what asks for next to nothing: once more without.
                self.stale = true;
                self.says_no_requests = true;
                self.was_not_made(position);
            }
            (Asked::Make(position, Requests::None), Answer::Refused { message, .. }) => {
                self.stale = true;
                self.refused.insert(position, message);
            }
            (Asked::Delete, Answer::Refused { message, .. }) => {
                // Whoever may not delete them leaves them to their deadline.
                self.notices.push(Notice::PullLeftOut { node: String::new(), why: message });
                self.over = true;
            }
            (Asked::Make(position, _), Answer::NotDone { after, .. }) => {
                self.was_not_made(position);
                self.put_off(after, now);
            }
            (Asked::Delete, Answer::NotDone { after, .. }) => self.put_off(after, now),
            // Where it was made after all, it is found; only a pod that was made and went away counts.
            (Asked::Make(position, _), Answer::Unknown { .. }) => {
                self.stale = true;
                self.was_not_made(position);
            }
            // What became of it is read.
            (Asked::Make(..) | Asked::Delete, _) => self.stale = true,
        }
    }

    fn put_off(&mut self, after: Option<Duration>, now: Now) {
        self.stale = true;
        self.not_before = now + after.unwrap_or(BACK_OFF);
    }

    fn was_not_made(&mut self, position: usize) {
        if let Some(makes) = self.makes.get_mut(&position) {
            *makes = makes.saturating_sub(1);
        }
    }

    /// A node where nothing can be pulled first: `auto` goes on without, and `always` ends it.
    fn cannot(&mut self, position: usize, pull: &Pull, why: String, mode: PrePull) {
        self.settled.insert(position);
        let node = pull.node.clone();
        match mode {
            PrePull::Always => {
                let why = format!("the images could not be pulled first on {node} (--pre-pull=always): {why}");
                self.failed.get_or_insert((EndResult::Failed, Some(why)));
            }
            PrePull::Auto | PrePull::Never => self.notices.push(Notice::PullLeftOut { node, why }),
        }
    }
}

fn requests(ledger: &PullLedger) -> Requests {
    if ledger.says_no_requests { Requests::None } else { Requests::Tiny }
}

fn body(goal: &Goal, pull: &Pull, requests: Requests) -> Value {
    let deadline = u32::try_from(patience(goal).as_secs()).unwrap_or(300).saturating_add(60);
    let mut pod = pull_pod(&goal.id, &goal.workload.namespace, pull, deadline, requests);
    if let Some(labels) = pod.pointer_mut("/metadata/labels").and_then(Value::as_object_mut) {
        labels.insert(PULL_WORKLOAD_LABEL.into(), workload_label(&goal.workload).into());
    }
    let process = goal.process.as_ref().and_then(|process| serde_json::to_string(process).ok());
    if let Some((annotations, process)) =
        pod.pointer_mut("/metadata/annotations").and_then(Value::as_object_mut).zip(process)
    {
        annotations.insert(PROCESS_ANNOTATION.into(), process.into());
    }
    pod
}

/// The label's value: kind and name.
fn workload_label(workload: &WorkloadRef) -> String {
    let name: String = workload.name.chars().take(40).collect();
    format!("{}.{}", workload.kind.spec().singular, name.trim_end_matches(['.', '-', '_']))
}

/// Returns the selector of every pull pod of a workload, whatever run made it.
pub fn pull_pods_of(workload: &WorkloadRef) -> String {
    format!("{},{PULL_WORKLOAD_LABEL}={}", crate::engine::pre_pull::pull_selector(None), workload_label(workload))
}

/// Returns the delete of a pull pod: this very one. `None` for a pod that only carries the labels of one.
pub fn delete_pull_pod(pod: &Value) -> Option<ObjectWrite> {
    is_pull_pod(pod).then(|| ObjectWrite::Delete { object: ObjectKey::of(POD, pod), version: None })
}

fn patience(goal: &Goal) -> Duration {
    Duration::from_secs(goal.policy.timeout_given.unwrap_or(DEFAULT_TIMEOUT_SECONDS))
}

fn push(ledger: &mut Ledger, turn: &mut Turn, asked: Asked, action: Action, now: Now) {
    let id = ledger.next_id();
    if asked == Asked::Read {
        ledger.pulls.began_read = now;
    }
    ledger.pulls.asked.insert(id, asked);
    turn.actions.push((id, action));
}

/// Takes the pulls one step further.
pub(super) fn advance(goal: &Goal, world: &World, ledger: &mut Ledger, now: Now, turn: &mut Turn) {
    step(goal, world, ledger, now, turn);
    turn.notices.append(&mut ledger.pulls.notices);
}

fn step(goal: &Goal, world: &World, ledger: &mut Ledger, now: Now, turn: &mut Turn) {
    if ledger.pulls.over {
        return;
    }
    if goal.mode == Mode::Follow || !goal.looks_for_pull_pods() {
        ledger.pulls.over = true;
        return;
    }
    let began = *ledger.pulls.began.get_or_insert(now);
    settle_refused(goal, ledger);
    if gives_up(goal, ledger, began, now) {
        ledger.pulls.over = true;
        return;
    }
    if !ledger.pulls.asked.is_empty() || ledger.pulls.not_before > now {
        return;
    }
    let Some(view) = world.pull_pods().filter(|_| !ledger.pulls.stale && ledger.pulls.read_at.is_some()) else {
        return read(goal, ledger, now, turn);
    };
    // What only carries their labels is somebody else's.
    let view: Vec<&Value> = view.iter().filter(|pod| is_pull_pod(pod)).collect();
    let names: Vec<String> = goal.pulls.iter().map(|pull| pull_pod_name(&goal.id, pull)).collect();
    let is_wanted = |pod: &&Value| names.iter().any(|name| name == name_of(pod));
    let leftover: Vec<&Value> = view.iter().copied().filter(|pod| !is_wanted(pod)).collect();
    judge_all(goal, &view, &names, ledger, now, turn);
    let late = began + patience(goal) <= now;
    if late && ledger.pulls.failed.is_none() && ledger.pulls.settled.len() < goal.pulls.len() {
        ledger.pulls.failed = Some((EndResult::TimedOut, Some(what_is_late(goal, ledger))));
    }
    let cut_short = ledger.pulls.failed.is_some() || ledger.stop.is_some();
    let ends = cut_short || ledger.pulls.settled.len() == goal.pulls.len();
    let doomed: Vec<&Value> = if ends { view.clone() } else { leftover };
    let doomed = if ledger.has(Fault::LeavesPulls) { Vec::new() } else { doomed };
    let doomed = doomed.iter().filter(|pod| pod.pointer("/metadata/deletionTimestamp").is_none());
    for write in doomed.filter_map(|pod| delete_pull_pod(pod)) {
        push(ledger, turn, Asked::Delete, write_action(goal, write), now);
    }
    if ends && (view.is_empty() || ledger.has(Fault::LeavesPulls)) {
        return finish(ledger, turn);
    }
    if !ends {
        make_missing(goal, &view, &names, ledger, now, turn);
    }
    if ledger.pulls.asked.is_empty() {
        let due = ledger.pulls.read_at.unwrap_or(now) + ledger.pulls.pause.max(SOON);
        if due <= now {
            ledger.pulls.pause = (ledger.pulls.pause.max(SOON) * 2).min(LATER);
            read(goal, ledger, now, turn);
        }
    }
}

/// Nodes where the server refuses the pod, whatever it asks for.
fn settle_refused(goal: &Goal, ledger: &mut Ledger) {
    for (position, why) in std::mem::take(&mut ledger.pulls.refused) {
        if let Some(pull) = goal.pulls.get(position) {
            ledger.pulls.cannot(position, pull, why, goal.pre_pull);
        }
    }
}

/// Returns whether there is no use in going on. Where nothing is pulled the reads only look for what another run has left;
/// else they, and the deletes, have their time.
fn gives_up(goal: &Goal, ledger: &mut Ledger, began: Now, now: Now) -> bool {
    let over = began + patience(goal) + LAST_CALL <= now;
    if goal.pulls.is_empty() {
        return over || ledger.pulls.reads_failed > 0;
    }
    if over && ledger.pulls.failed.is_none() {
        let why = "the pods that pull could not be read or taken away; no container was touched".to_owned();
        ledger.pulls.failed = Some((EndResult::TimedOut, Some(why)));
    }
    over
}

fn write_action(goal: &Goal, write: ObjectWrite) -> Action {
    Action::Write { write, field_manager: goal.field_manager.clone() }
}

fn read(goal: &Goal, ledger: &mut Ledger, now: Now, turn: &mut Turn) {
    let action =
        Action::ReadPullPods { namespace: goal.workload.namespace.clone(), selector: pull_pods_of(&goal.workload) };
    push(ledger, turn, Asked::Read, action, now);
}

fn make_missing(goal: &Goal, view: &[&Value], names: &[String], ledger: &mut Ledger, now: Now, turn: &mut Turn) {
    let mut at_work = view.len();
    for (position, name) in names.iter().enumerate() {
        let is_there = view.iter().any(|pod| name_of(pod) == name);
        if is_there || ledger.pulls.settled.contains(&position) || at_work >= AT_ONCE {
            continue;
        }
        at_work += 1;
        let makes = ledger.pulls.makes.entry(position).or_default();
        *makes = makes.saturating_add(1);
        let (makes, Some(pull)) = (*makes, goal.pulls.get(position)) else { continue };
        if makes > MAX_MAKES {
            let why = "the pod that pulls went away again and again".to_owned();
            ledger.pulls.cannot(position, pull, why, goal.pre_pull);
            continue;
        }
        if ledger.pulls.told.insert(position) {
            let images = pull.images.iter().map(|image| image.image.clone()).collect();
            turn.notices.push(Notice::PullBegins { node: pull.node.clone(), images });
        }
        let namespace = goal.workload.namespace.clone();
        let object = body(goal, pull, requests(&ledger.pulls));
        let write = ObjectWrite::Create { kind: POD, namespace, object };
        push(ledger, turn, Asked::Make(position, requests(&ledger.pulls)), write_action(goal, write), now);
    }
}

fn judge_all(goal: &Goal, view: &[&Value], names: &[String], ledger: &mut Ledger, now: Now, turn: &mut Turn) {
    for (position, (name, pull)) in names.iter().zip(&goal.pulls).enumerate() {
        let Some(pod) = view.iter().find(|pod| name_of(pod) == name) else { continue };
        if ledger.pulls.settled.contains(&position) {
            continue;
        }
        match judge(pod) {
            Err(rejected) => {
                let why = format!("node {} did not take the pod: {} {}", pull.node, rejected.reason, rejected.message);
                ledger.pulls.cannot(position, pull, why, goal.pre_pull);
            }
            Ok(images) => {
                let images =
                    images.into_iter().map(|image| without_patience(image, position, ledger, now)).collect::<Vec<_>>();
                settle(pull, &images, position, ledger, turn);
            }
        }
    }
}

/// A pull that has failed for so long, and still only says that it may heal, has failed.
fn without_patience(mut image: ImageState, position: usize, ledger: &mut Ledger, now: Now) -> ImageState {
    if let PullState::Pulling { said: Some((reason, message)) } = &image.state
        && failure::is_pull(reason)
        && *ledger.pulls.failing.entry(position).or_insert(now) + HEALS_WITHIN <= now
    {
        image.state = PullState::Failed { reason: reason.clone(), message: message.clone() };
    }
    image
}

fn settle(pull: &Pull, images: &[ImageState], position: usize, ledger: &mut Ledger, turn: &mut Turn) {
    let mut pulled = Vec::new();
    for image in images {
        match &image.state {
            PullState::Pulling { .. } => return,
            PullState::Failed { reason, message } => {
                let why = format!(
                    "node {} cannot pull {}: {reason}: {message}; no container was touched",
                    pull.node, image.image
                );
                ledger.pulls.failed.get_or_insert((EndResult::Failed, Some(why)));
                return;
            }
            PullState::Pulled { image_id } => pulled.push((image.image.clone(), image_id.clone())),
        }
    }
    ledger.pulls.settled.insert(position);
    for (image, image_id) in pulled {
        let image_id = image_id.unwrap_or_default();
        turn.notices.push(Notice::Pulled { node: pull.node.clone(), image: image.clone(), image_id: image_id.clone() });
        if !image_id.is_empty() {
            ledger.pulls.pulled.push(PulledImage { node: pull.node.clone(), image, image_id });
        }
    }
}

fn finish(ledger: &mut Ledger, turn: &mut Turn) {
    ledger.pulls.over = true;
    turn.notices.append(&mut ledger.pulls.notices);
    for moving in moving_tags(&ledger.pulls.pulled) {
        let nodes = moving.nodes.iter().map(|(image_id, nodes)| format!("{image_id} on {}", nodes.join(", ")));
        let nodes = nodes.collect::<Vec<_>>().join("; ");
        let what = format!("{} means something else from node to node: {nodes}", moving.image);
        turn.notices.push(Notice::TagMoves { what });
    }
}

fn what_is_late(goal: &Goal, ledger: &Ledger) -> String {
    let late = goal.pulls.iter().enumerate().filter(|(position, _)| !ledger.pulls.settled.contains(position));
    let nodes: Vec<&str> = late.map(|(_, pull)| pull.node.as_str()).collect();
    format!("the images were not pulled in time on {}; no container was touched", nodes.join(", "))
}

/// Says how the pulls decide the end, if they do.
pub(super) fn end(ledger: &Ledger) -> Option<(EndResult, Option<String>)> {
    let (result, why) = ledger.pulls.failed.as_ref().filter(|_| ledger.pulls.over)?;
    Some((*result, why.clone()))
}

/// Returns whether the run may end: nothing of ours is left, or there is no more time to take it away.
pub(super) fn may_leave(ledger: &Ledger, now: Now) -> bool {
    let stopped_long_ago = ledger.stop.is_some_and(|(_, since)| since + STOP_WITHIN <= now);
    ledger.pulls.over || stopped_long_ago || ledger.pulls.began.is_none()
}

/// When the pulls have to be looked at again.
pub(super) fn next_look(goal: &Goal, ledger: &Ledger, now: Now) -> Option<Now> {
    if ledger.pulls.over {
        return None;
    }
    let ends = ledger.pulls.began.map(|began| began + patience(goal));
    let gives_up = ends.map(|ends| ends + LAST_CALL);
    let due = ledger.pulls.asked.is_empty().then(|| {
        let next = ledger.pulls.read_at.map_or(Now::ZERO, |at| at + ledger.pulls.pause.max(SOON));
        next.max(ledger.pulls.not_before)
    });
    [ends.filter(|ends| *ends > now), gives_up, due].into_iter().flatten().min()
}

fn name_of(pod: &Value) -> &str {
    pod.pointer("/metadata/name").and_then(Value::as_str).unwrap_or_default()
}
