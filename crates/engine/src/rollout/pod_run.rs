//! What this run knows of one pod, and may lose: its phase, its request in progress, its times (our clock), what was seen
//! of its containers, and how far its steps are.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;

use crate::k8s::failure::Failure;
use crate::k8s::names::ContainerName;
use crate::k8s::pod::{ContainerStatus, Pod};
use crate::report::progress::{Stage, UpdatePhase};
use crate::state::again::CrashLoop;
use crate::state::evidence::Baseline;

use super::goal::PodGoal;
use super::pod_progress::SeenContainers;
use super::{Answer, Now};

/// Sends per pod, at most: each after a fresh read, so more than a few mean that another writer is active.
pub(super) const MAX_SENDS: u8 = 5;

/// The wait after a request that could not be read or was throttled, unless the server says how long.
pub(super) const BACK_OFF: Duration = Duration::from_secs(1);

#[derive(Debug, Clone)]
pub(super) struct PodRun {
    pub(super) goal: Arc<PodGoal>,
    /// `None` before it was judged for the first time.
    pub(super) phase: Option<UpdatePhase>,
    pub(super) request: Request,
    pub(super) clocks: Clocks,
    pub(super) evidence: Evidence,
    pub(super) steps: Steps,
    pub(super) shown: PodFlags,
}

#[derive(Debug, Clone, Default)]
pub(super) struct Request {
    pub(super) state: RequestState,
    /// The purpose of the last request, and its step.
    pub(super) sent: Sent,
    pub(super) sent_step: usize,
    /// The number of patches sent for this step.
    pub(super) sends: u8,
    /// A patch that changes the pod was sent, and may have been stored.
    pub(super) patched: bool,
    /// The server has stored one of them.
    pub(super) is_changed: bool,
    /// A request got no response, so it can still arrive.
    pub(super) is_late: bool,
    /// The last request met a conflict: it was certainly not done.
    pub(super) had_conflict: bool,
    /// Why the last request is retried, until that is reported.
    pub(super) retrying: Option<String>,
    /// The server rejected the last request for good.
    pub(super) refused: Option<Failure>,
}

#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) enum RequestState {
    #[default]
    Idle,
    /// The patch was sent; no answer yet.
    Sent,
    /// The patch was accepted; the pod has not been seen with it.
    Accepted,
    /// The patch was refused, or its answer was lost: the pod must be read before anything else.
    Unclear,
    Reading,
    /// To be read again at that time.
    ReadAt(Now),
    /// Nothing was done; it may be sent again at that time.
    BackOff {
        until: Now,
    },
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub(super) enum Sent {
    #[default]
    Images,
    /// The record that is written before a resize.
    Note,
    Resize,
    /// A label off, or the note that a readiness gate is about to go off.
    Drain,
    GateOff,
    GateOn,
    /// The label on again, or the note gone.
    Restore,
    /// The record without the hook that was owed.
    HookNote,
}

/// The pod's times, by our clock.
#[derive(Debug, Clone, Default)]
pub(super) struct Clocks {
    /// Since when it is in its phase.
    pub(super) entered: Now,
    /// Since when it is in progress; its deadline counts from here.
    pub(super) started: Option<Now>,
    pub(super) timeout: Duration,
    /// Since when it keeps its place and waits for others: that time does not count against its deadline.
    pub(super) held_since: Option<Now>,
    pub(super) ready_since: Option<(ReadyKey, Now)>,
    pub(super) failing_since: BTreeMap<ContainerName, (String, Now)>,
    /// Since when the kubelet reports that it does not resize the pod.
    pub(super) resize_failing_since: Option<Now>,
    /// When the kubelet's events are read again.
    pub(super) events_at: Option<Now>,
    pub(super) wake: Option<Now>,
}

/// What makes two ready states the same one: the same containers, and no transition in between.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct ReadyKey {
    containers: Vec<Option<String>>,
    last_transition: Option<String>,
    /// The pod is ready, or it would be but for its gate: a change from one to the other is a transition.
    ready: bool,
}

impl ReadyKey {
    /// Of the whole pod, or of these containers alone: then the pod's own transitions do not count.
    pub(super) fn of(pod: &Pod, containers: &[&ContainerName], whole: bool) -> Self {
        let id = |name: &&ContainerName| pod.status_of(name).and_then(|status| status.container_id.clone());
        let ready = pod.is_ready();
        let condition = if ready { pod.ready_condition() } else { pod.condition("ContainersReady") };
        Self {
            containers: containers.iter().map(id).collect(),
            last_transition: condition.filter(|_| whole).and_then(|condition| condition.last_transition_time.clone()),
            ready: ready && whole,
        }
    }
}

/// What was seen of the pod's containers that its present state alone does not show.
#[derive(Debug, Clone, Default)]
pub(super) struct Evidence {
    /// The image, and the container in the first status that carried the spec's generation.
    pub(super) kubelet_knew: BTreeMap<ContainerName, (String, Option<String>)>,
    pub(super) since: Option<SeenContainers>,
    /// For which image and against which baseline it was proven; a later container is new as well.
    pub(super) proven: BTreeMap<ContainerName, (String, Baseline)>,
    /// What proves a container that is proven by its restart alone, until it is reported.
    pub(super) by_restart: BTreeMap<ContainerName, Option<String>>,
    /// The first container that was seen to crash while it was unclear whether it is the new one.
    pub(super) first_crash: BTreeMap<ContainerName, Option<String>>,
    /// Containers that were seen with the wanted image: a later image was set by somebody else.
    pub(super) asked: BTreeSet<ContainerName>,
    /// The containers without a planned change when the pod was patched: ID, and whether they were in a crash loop.
    pub(super) others: BTreeMap<ContainerName, (Option<String>, CrashLoop)>,
    /// The pod had the wanted CPU and memory, and the rollout has asked for nothing else since.
    pub(super) is_resized: bool,
    /// The pod was done at some time, even if it is gone now.
    pub(super) was_done: bool,
}

#[derive(Debug, Clone, Default)]
pub(super) struct Steps {
    pub(super) taken: Taken,
    pub(super) next: usize,
    /// On the way back: how many steps are no longer waited for, because a container of theirs fails.
    pub(super) passed: usize,
    /// The rollout has changed some of its containers and not yet the others: the pod is unavailable because of the
    /// rollout.
    pub(super) is_between: bool,
    /// Why the pod failed while the rollout goes on with others; removed once the pod is proven after all.
    pub(super) abandoned: Option<Failure>,
}

/// Counted for `--canary` and `--pause-after`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub(super) enum Taken {
    #[default]
    No,
    /// Its hook before it has run, and nothing else; a pod that then waits for its turn again is not taken any more.
    Hook,
    /// Something of it was changed.
    Yes,
}

/// Flags of the pod from its last judgement.
#[derive(Debug, Clone, Default)]
pub(super) struct PodFlags {
    /// The pod belongs to the owner, exists, and is not terminating.
    pub(super) is_present: bool,
    /// It exists and is not ready.
    pub(super) is_unready: bool,
    /// A container that the rollout does not change keeps the pod unready.
    pub(super) is_stuck: bool,
    /// It has left a durable rollout by itself.
    pub(super) has_left: bool,
    /// Its label or gate was removed and has to be restored.
    pub(super) is_drained: bool,
    /// The pod was abandoned, and asks again for everything from before the rollout.
    pub(super) is_reverted_but_failing: bool,
    /// The pod failed before the rollout changed it, and is ready: it counts as available.
    pub(super) is_whole: bool,
    pub(super) is_late: bool,
}

/// A set of the run's pods that is kept, so that a turn costs what changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum PodIndex {
    Waiting,
    Throttled,
    /// Waiting pods that are unready already, and that the rollout can repair.
    AlreadyUnready,
    /// Out of its Services, or leaving them, and not patched.
    Draining,
    RejoiningService,
    /// Its label or gate was removed and has to be restored.
    Drained,
    /// In progress, and a patch is to be sent next.
    Next,
    Hooked,
    Unverified,
    InProgress,
    Unanswered,
    Done,
    /// Its resize waits for room on its node, whether the rollout waits for it or leaves it to the kubelet.
    Deferred,
    /// Its resize is left to the kubelet.
    Left,
    Failed,
    Conflicted,
    /// Left a durable rollout: deleted or evicted.
    Replaced,
    Late,
    /// The pod is rolled back and fails with its old image too.
    FailsAsBefore,
}

impl RequestState {
    /// When the pod may be sent to, or read, again.
    pub(super) fn not_before(&self) -> Option<Now> {
        if let Self::ReadAt(at) | Self::BackOff { until: at } = self { Some(*at) } else { None }
    }
}

impl Request {
    pub(super) fn is_unanswered(&self) -> bool {
        use RequestState::{ReadAt, Reading, Sent, Unclear};
        matches!(self.state, Sent | Reading | Unclear | ReadAt(_))
    }

    pub(super) fn is_idle(&self) -> bool {
        matches!(self.state, RequestState::Idle | RequestState::BackOff { .. })
    }

    pub(super) fn may_send(&self, now: Now) -> bool {
        self.is_idle() && self.state.not_before().is_none_or(|at| at <= now)
    }

    pub(super) fn answered(&mut self, answer: Answer, now: Now) {
        self.is_late |= matches!(answer, Answer::Unknown { .. });
        if self.state == RequestState::Sent {
            self.note_what_was_stored(&answer);
        }
        if let Answer::Conflict { message } | Answer::NotDone { message, .. } | Answer::Unknown { message } = &answer {
            self.retrying = Some(message.clone());
        }
        self.state = match (&self.state, answer) {
            (RequestState::Sent, Answer::Accepted) => RequestState::Accepted,
            (RequestState::Sent, Answer::NotDone { after, .. }) => {
                RequestState::BackOff { until: now + after.unwrap_or(BACK_OFF) }
            }
            // The tries are few, and what keeps a server from answering does not pass in milliseconds.
            (RequestState::Sent, Answer::Unknown { .. }) if self.sends > 1 => RequestState::ReadAt(now + BACK_OFF),
            (RequestState::Sent, Answer::Conflict { .. } | Answer::Unknown { .. }) => RequestState::Unclear,
            (RequestState::Sent, Answer::Refused { reason, message }) => {
                // Clearing a record is no failure of the pod.
                if self.sent != Sent::HookNote {
                    self.refused = Some(failure_of_pod(&reason, message));
                }
                RequestState::Idle
            }
            (RequestState::Reading, Answer::Read) => RequestState::Idle,
            (RequestState::Reading, _) => RequestState::ReadAt(now + BACK_OFF),
            // The answer to a read of the events: the observation says it all.
            (state, _) => state.clone(),
        };
    }

    /// A patch that the server certainly did not take has changed nothing.
    fn note_what_was_stored(&mut self, answer: &Answer) {
        let changes = matches!(self.sent, Sent::Images | Sent::Resize);
        self.had_conflict = matches!(answer, Answer::Conflict { .. });
        match answer {
            Answer::Accepted => self.is_changed |= changes,
            Answer::Conflict { .. } | Answer::NotDone { .. } | Answer::Refused { .. } => {
                self.patched &= self.is_changed || self.is_late;
            }
            Answer::Unknown { .. } | Answer::Hook(_) | Answer::Read | Answer::ReadFailed { .. } => {}
        }
    }
}

pub(super) fn failure_of_pod(reason: &str, message: String) -> Failure {
    Failure { reason: reason.to_owned(), message, ..Failure::default() }
}

impl Evidence {
    /// Forgets what was known of containers that are about to change. The proof of earlier steps is kept.
    fn forget<'n>(&mut self, containers: impl Iterator<Item = &'n ContainerName>, step: usize) {
        let changing: BTreeSet<&ContainerName> = containers.collect();
        let is_kept = |name: &ContainerName| step > 0 && !changing.contains(name);
        self.kubelet_knew.retain(|name, _| is_kept(name));
        self.proven.retain(|name, _| is_kept(name));
        self.by_restart.retain(|name, _| is_kept(name));
        self.first_crash.retain(|name, _| is_kept(name));
    }
}

impl PodRun {
    pub(super) fn new(goal: Arc<PodGoal>) -> Self {
        Self {
            goal,
            phase: None,
            request: Request::default(),
            clocks: Clocks::default(),
            evidence: Evidence::default(),
            steps: Steps::default(),
            shown: PodFlags::default(),
        }
    }

    /// Returns the stage; `None` before the pod was judged for the first time.
    pub(super) fn stage(&self) -> Option<Stage> {
        self.phase.as_ref().map(UpdatePhase::stage)
    }

    /// Returns whether the pod counts as down even if it is ready: from our patch until it is done.
    pub(super) fn is_in_progress(&self) -> bool {
        // A throttled pod keeps its place: a server that throttles is not asked for the next pod instead.
        let is_begun = matches!(self.stage(), Some(Stage::InProgress | Stage::Failed));
        !self.shown.is_whole && (self.request.state != RequestState::Idle || is_begun)
    }

    /// The sets of [`super::pods::Pods`], and whether the pod belongs to each.
    pub(super) fn indexes(&self) -> [(PodIndex, bool); 19] {
        let (phase, stage) = (self.phase.as_ref(), self.stage());
        let is_deferred = matches!(phase, Some(UpdatePhase::Resizing { deferred_by: Some(_), .. }));
        let [waits, left, failed] = [Stage::Waiting, Stage::Left, Stage::Failed].map(|one| stage == Some(one));
        [
            (PodIndex::Waiting, waits),
            (PodIndex::Throttled, waits && matches!(self.request.state, RequestState::BackOff { .. })),
            (PodIndex::AlreadyUnready, waits && self.shown.is_unready && !self.shown.is_stuck),
            (PodIndex::Draining, matches!(phase, Some(UpdatePhase::Draining { .. }))),
            (PodIndex::RejoiningService, matches!(phase, Some(UpdatePhase::RejoiningService { .. }))),
            (PodIndex::Drained, self.shown.is_drained),
            (PodIndex::Next, matches!(phase, Some(UpdatePhase::Next { .. }))),
            (PodIndex::Hooked, matches!(phase, Some(UpdatePhase::Hook { .. }))),
            (PodIndex::Unverified, matches!(phase, Some(UpdatePhase::Unverified { .. }))),
            (PodIndex::InProgress, self.is_in_progress()),
            (PodIndex::Unanswered, self.request.is_unanswered()),
            (PodIndex::Done, stage == Some(Stage::Done)),
            (PodIndex::Deferred, is_deferred || left),
            (PodIndex::Left, left),
            (PodIndex::Failed, failed),
            (PodIndex::Conflicted, stage == Some(Stage::Lost) && !self.is_replaced()),
            (PodIndex::Replaced, self.is_replaced()),
            (PodIndex::Late, self.shown.is_late),
            (PodIndex::FailsAsBefore, failed && self.shown.is_reverted_but_failing),
        ]
    }

    /// Whether it has left a durable rollout: its replacement pod has the wanted template by itself.
    pub(super) fn is_replaced(&self) -> bool {
        matches!(self.phase, Some(UpdatePhase::Gone { .. })) && self.shown.has_left
    }

    /// Enters a phase: its clock starts, stops or ends with it. Returns whether that is worth reporting.
    pub(super) fn enter(&mut self, phase: UpdatePhase, now: Now) -> bool {
        let stage = phase.stage();
        let was_done = self.evidence.was_done && matches!(phase, UpdatePhase::Gone { .. });
        self.evidence.was_done = phase == UpdatePhase::Done || was_done;
        if self.request.patched || !matches!(stage, Stage::Waiting | Stage::Done | Stage::Left) {
            self.clocks.started.get_or_insert(now);
        }
        if !matches!(phase, UpdatePhase::Waiting | UpdatePhase::Next { .. } | UpdatePhase::Draining { .. }) {
            self.clocks.release(now);
        }
        // A pod that is resized and waits for its image has no deadline of its own, and one that stops being ready later gets
        // another.
        let is_only_resized =
            self.request.state == RequestState::Idle && matches!(self.request.sent, Sent::Note | Sent::Resize);
        let waits = phase == UpdatePhase::Waiting && is_only_resized;
        if waits || matches!(stage, Stage::Done | Stage::Left) {
            self.clocks.started = None;
        }
        let is_new = self.phase.as_ref().is_none_or(|before| phase.is_news_after(before));
        let is_reported = is_new && (self.phase.is_some() || stage != Stage::Waiting);
        if is_new {
            self.clocks.entered = now;
        }
        self.phase = Some(phase);
        is_reported
    }

    /// When the pod's time is up; `None` while it is not in progress, was abandoned, or waits for others.
    pub(super) fn deadline(&self) -> Option<Now> {
        let clocks = &self.clocks;
        let is_its_own = self.steps.abandoned.is_none() && clocks.held_since.is_none() && !self.is_replaced();
        clocks.started.filter(|_| is_its_own).map(|started| started + clocks.timeout)
    }

    /// The images of a step are sent: what was known of its containers no longer counts.
    pub(super) fn sends_images<'n>(&mut self, step: usize, names: impl Iterator<Item = &'n ContainerName>, pod: &Pod) {
        self.request.sent_step = step;
        self.clocks.events_at = None;
        if step == 0 {
            self.clocks.ready_since = None;
        }
        self.evidence.forget(names, step);
        self.changes(step, pod);
    }

    /// A patch that changes the pod is sent: before the first one it is noted which other containers run.
    pub(super) fn changes(&mut self, step: usize, pod: &Pod) {
        if std::mem::replace(&mut self.request.patched, true) && step > 0 {
            return;
        }
        let is_other = |status: &&ContainerStatus| !self.goal.containers.contains_key(&status.name);
        let noted = |status: &ContainerStatus| (status.container_id.clone(), CrashLoop::of(status));
        let others = pod.all_statuses().filter(is_other);
        self.evidence.others = others.map(|status| (status.name.clone(), noted(status))).collect();
    }
}

impl Clocks {
    /// Ends the wait for others: its own time goes on.
    pub(super) fn release(&mut self, now: Now) {
        let Some(since) = self.held_since.take() else { return };
        self.started = self.started.map(|started| started + now.saturating_sub(since));
    }
}

#[cfg(test)]
impl Default for PodRun {
    fn default() -> Self {
        let key = crate::k8s::names::PodKey { namespace: "d".into(), name: "web-0".into(), uid: "u".into() };
        let fields = crate::change::FieldChanges::default();
        Self::new(Arc::new(PodGoal { key, containers: BTreeMap::new(), fields, drain: None, kubelet: None }))
    }
}
