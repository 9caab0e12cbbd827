//! What is kept of one pod: its phase, the request in progress, tries, and ready since when (our clock).

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use crate::k8s::failure::Failure;
use crate::k8s::names::ContainerName;
use crate::k8s::pod::{ContainerList, ContainerStatus, Pod};
use crate::report::progress::{PodProgress, Stage};
use crate::state::again::InLoop;
use crate::state::evidence::Baseline;

use super::left_running::Since;
use super::{Answer, Now};

/// Sends per pod, at most: each after a fresh read, so more than a few mean that another writer is active.
pub(super) const MAX_SENDS: u8 = 5;

/// The wait after a request that could not be read or was throttled, unless the server says how long.
pub(super) const BACK_OFF: Duration = Duration::from_secs(1);

/// The state of the pod's last request.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) enum Request {
    #[default]
    Idle,
    /// The patch was sent; no answer yet.
    Sent,
    /// The patch was accepted; the pod has not been seen with it.
    Accepted,
    /// The patch was refused, or its answer was lost: the pod must be read before anything else.
    Unclear,
    /// The pod is being read.
    Reading,
    /// To be read again at that time.
    ReadAt(Now),
    /// Nothing was done; it may be sent again at that time.
    BackOff { until: Now },
}

/// What the last patch was for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub(super) enum Sent {
    #[default]
    Images,
    /// The record that is written before a resize.
    Note,
    /// cpu and memory.
    Resize,
    /// A label off, or the note that a readiness gate is about to go off.
    Drain,
    /// The gate off.
    GateOff,
    /// The gate on again.
    GateOn,
    /// The label on again, or the note gone.
    Restore,
    /// The record without the hook that was owed.
    HookNote,
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
        let id =
            |name: &&ContainerName| pod.container_status(name).and_then(|(_, _, status)| status.container_id.clone());
        let ready = pod.is_ready();
        let condition = if ready { pod.ready_condition() } else { pod.condition("ContainersReady") };
        Self {
            containers: containers.iter().map(id).collect(),
            last_transition: condition.filter(|_| whole).and_then(|condition| condition.last_transition_time.clone()),
            ready: ready && whole,
        }
    }
}

/// How far this run has gone with a pod: counted for `--canary` and `--pause-after`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub(super) enum Taken {
    #[default]
    No,
    /// Its hook before it has run, and nothing else; a pod that then waits for its turn again is not taken any more.
    Hook,
    /// Something of it was changed.
    Yes,
}

/// What the last visit to a pod has shown besides its phase.
#[derive(Debug, Clone, Default)]
pub(super) struct Seen {
    /// It is the owner's, it exists and is not terminating.
    pub(super) is_present: bool,
    /// It exists and is not ready.
    pub(super) is_unready: bool,
    /// A container that the rollout does not change keeps it so.
    pub(super) is_stuck: bool,
    /// It has left a durable rollout by itself.
    pub(super) has_left: bool,
    /// Its label or gate was removed and has to be restored.
    pub(super) is_drained: bool,
    /// It was abandoned, and asks for all that it had before the rollout that is taken back.
    pub(super) is_taken_back: bool,
    /// It has failed before anything of it was changed, and is ready: it does not count as down.
    pub(super) is_whole: bool,
    /// How long it may take.
    pub(super) timeout: Duration,
    /// Its deadline has passed.
    pub(super) is_late: bool,
}

/// What a pod may be. For each there is a set, so that a turn costs what changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Is {
    Waiting,
    /// Of those that wait: throttled by the server.
    PutOff,
    /// Of those that wait: down already, and the rollout may fix it.
    Broken,
    /// Out of its Services, or leaving them, and not patched.
    Draining,
    /// On its way back in.
    RejoiningService,
    /// Its label or gate was removed and has to be restored.
    Drained,
    /// In progress, and a patch is to be sent next.
    Next,
    /// With a hook in progress or before it.
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
    Lost,
    /// Left a durable rollout: deleted or evicted. Its replacement pod has the wanted template by itself.
    Replaced,
    /// Its deadline has passed.
    Late,
    /// It has failed on the way back with what it had before, too: nothing more can be done for it.
    TakenBack,
}

impl Is {
    pub(super) const ALL: [Self; 19] = [
        Self::Waiting,
        Self::PutOff,
        Self::Broken,
        Self::Draining,
        Self::RejoiningService,
        Self::Drained,
        Self::Next,
        Self::Hooked,
        Self::Unverified,
        Self::InProgress,
        Self::Unanswered,
        Self::Done,
        Self::Deferred,
        Self::Left,
        Self::Failed,
        Self::Lost,
        Self::Replaced,
        Self::Late,
        Self::TakenBack,
    ];
}

/// What is kept of one pod of the goal.
#[derive(Debug, Clone, Default)]
pub(super) struct Entry {
    pub(super) phase: Option<PodProgress>,
    /// Since when it is in this phase.
    pub(super) entered: Now,
    pub(super) request: Request,
    pub(super) sent: Sent,
    /// Patches of the images of this step.
    pub(super) sends: u8,
    /// The step that is next, and the one that was sent last.
    pub(super) step: usize,
    pub(super) sent_step: usize,
    /// On the way back: the number of its steps that are no longer waited for, since something of them fails.
    pub(super) passed: usize,
    /// It had the cpu and memory that are wanted, and nothing else was asked for since.
    pub(super) is_resized: bool,
    /// Since when the kubelet reports that it does not resize the pod.
    pub(super) resize_failing_since: Option<Now>,
    /// Some of its containers were changed by this rollout, and others wait: it is down by what was done already.
    pub(super) is_between: bool,
    /// A request of this pod was sent whose outcome no answer gives: it may still arrive.
    pub(super) is_late: bool,
    /// The server refused for good.
    pub(super) refused: Option<Failure>,
    /// Abandoned, where the others go on: it stays failed unless it is proven after all.
    pub(super) abandoned: Option<Failure>,
    /// Since when the pod is in progress; its deadline counts from here.
    pub(super) started: Option<Now>,
    /// Since when it keeps its place and waits for others: that time does not count against its deadline.
    pub(super) held_since: Option<Now>,
    pub(super) taken: Taken,
    pub(super) seen: Seen,
    pub(super) ready_since: Option<(ReadyKey, Now)>,
    /// By container: the image, and the container in the first status that carried the spec's generation.
    pub(super) kubelet_knew: BTreeMap<ContainerName, (String, Option<String>)>,
    /// Which containers there are, and since when.
    pub(super) since: Option<Since>,
    /// By container: for which image and against which baseline it was proven; a later container is new as well.
    pub(super) proven: BTreeMap<ContainerName, (String, Baseline)>,
    /// By container that is proven by its restart alone: what that rests on, until it is reported.
    pub(super) by_restart: BTreeMap<ContainerName, Option<String>>,
    pub(super) failing_since: BTreeMap<ContainerName, (String, Now)>,
    /// By container: the first one that was seen to crash where nothing shows whether it is a new one.
    pub(super) first_crash: BTreeMap<ContainerName, Option<String>>,
    /// Why the last request has to be read or sent again, until it is reported.
    pub(super) retrying: Option<String>,
    /// The last request met a conflict: it was certainly not done.
    pub(super) had_conflict: bool,
    /// A patch that changes the pod was sent, and may have been stored.
    pub(super) patched: bool,
    /// One was stored.
    pub(super) is_changed: bool,
    /// It was done, even if it has left since.
    pub(super) was_done: bool,
    /// The containers that no change is planned for, when the pod was patched: their ids, and whether they crashed already.
    pub(super) others: BTreeMap<ContainerName, (Option<String>, InLoop)>,
    /// Containers that were seen with the wanted image: a later image was set by somebody else.
    pub(super) asked: BTreeSet<ContainerName>,
    /// When the kubelet's events are read again.
    pub(super) events_at: Option<Now>,
    pub(super) wake: Option<Now>,
}

impl Entry {
    /// Returns the stage; `None` before the pod was judged for the first time.
    pub(super) fn stage(&self) -> Option<Stage> {
        self.phase.as_ref().map(PodProgress::stage)
    }

    /// Returns whether an answer is outstanding.
    pub(super) fn is_unanswered(&self) -> bool {
        match self.request {
            Request::Sent | Request::Reading | Request::Unclear | Request::ReadAt(_) => true,
            Request::Idle | Request::Accepted | Request::BackOff { .. } => false,
        }
    }

    /// Returns whether the pod counts as down even if it is ready: from our patch until it is done.
    pub(super) fn is_in_progress(&self) -> bool {
        // A throttled pod keeps its place: a server that throttles is not asked for the next pod instead.
        let is_begun = matches!(self.stage(), Some(Stage::InProgress | Stage::Failed));
        !self.seen.is_whole && (self.request != Request::Idle || is_begun)
    }

    /// Returns whether the pod is in that state: the sets of [`super::pods::Pods`] rest on it.
    pub(super) fn is(&self, what: Is) -> bool {
        let (phase, stage) = (self.phase.as_ref(), self.stage());
        let is_replaced = matches!(phase, Some(PodProgress::Gone { .. })) && self.seen.has_left;
        let waits = stage == Some(Stage::Waiting);
        match what {
            Is::Waiting => waits,
            Is::PutOff => waits && matches!(self.request, Request::BackOff { .. }),
            Is::Broken => waits && self.seen.is_unready && !self.seen.is_stuck,
            Is::Draining => matches!(phase, Some(PodProgress::Draining { .. })),
            Is::RejoiningService => matches!(phase, Some(PodProgress::RejoiningService { .. })),
            Is::Drained => self.seen.is_drained,
            Is::Next => matches!(phase, Some(PodProgress::Next { .. })),
            Is::Hooked => matches!(phase, Some(PodProgress::Hook { .. })),
            Is::Unverified => matches!(phase, Some(PodProgress::Unverified { .. })),
            Is::InProgress => self.is_in_progress(),
            Is::Unanswered => self.is_unanswered(),
            Is::Done => stage == Some(Stage::Done),
            Is::Deferred => {
                let deferred = matches!(phase, Some(PodProgress::Resizing { deferred_by: Some(_), .. }));
                deferred || stage == Some(Stage::Left)
            }
            Is::Left => stage == Some(Stage::Left),
            Is::Failed => stage == Some(Stage::Failed),
            Is::Lost => stage == Some(Stage::Lost) && !is_replaced,
            Is::Replaced => is_replaced,
            Is::Late => self.seen.is_late,
            Is::TakenBack => stage == Some(Stage::Failed) && self.seen.is_taken_back,
        }
    }

    /// Enters a phase: its clock starts, stops or ends with it. Returns whether that is worth reporting.
    pub(super) fn enter(&mut self, phase: PodProgress, now: Now) -> bool {
        let stage = phase.stage();
        self.was_done = phase == PodProgress::Done || self.was_done && matches!(phase, PodProgress::Gone { .. });
        if self.patched || !matches!(stage, Stage::Waiting | Stage::Done | Stage::Left) {
            self.started.get_or_insert(now);
        }
        if !matches!(phase, PodProgress::Waiting | PodProgress::Next { .. } | PodProgress::Draining { .. }) {
            self.release(now);
        }
        // A pod that is resized and waits for its image has no deadline of its own, and one that stops being ready later gets
        // another.
        let is_only_resized = self.request == Request::Idle && matches!(self.sent, Sent::Note | Sent::Resize);
        let waits = phase == PodProgress::Waiting && is_only_resized;
        if waits || matches!(stage, Stage::Done | Stage::Left) {
            self.started = None;
        }
        let is_new = self.phase.as_ref().is_none_or(|before| phase.is_news_after(before));
        let is_reported = is_new && (self.phase.is_some() || stage != Stage::Waiting);
        if is_new {
            self.entered = now;
        }
        self.phase = Some(phase);
        is_reported
    }

    /// When the pod's time is up; `None` while it is not in progress, was abandoned, or waits for others.
    pub(super) fn deadline(&self) -> Option<Now> {
        let is_its_own = self.abandoned.is_none() && self.held_since.is_none() && !self.is(Is::Replaced);
        self.started.filter(|_| is_its_own).map(|started| started + self.seen.timeout)
    }

    /// Returns whether a patch of the pod may be sent now.
    pub(super) fn may_send(&self, now: Now) -> bool {
        match self.request {
            Request::Idle => true,
            Request::BackOff { until } => until <= now,
            Request::Accepted | Request::Sent | Request::Unclear | Request::Reading | Request::ReadAt(_) => false,
        }
    }

    /// No request is in progress for the pod.
    pub(super) fn is_idle(&self) -> bool {
        matches!(self.request, Request::Idle | Request::BackOff { .. })
    }

    /// Takes in the answer to the request.
    pub(super) fn answered(&mut self, answer: Answer, now: Now) {
        self.is_late |= matches!(answer, Answer::Unknown { .. });
        if self.request == Request::Sent {
            self.note_what_was_stored(&answer);
        }
        if let Answer::Conflict { message } | Answer::NotDone { message, .. } | Answer::Unknown { message } = &answer {
            self.retrying = Some(message.clone());
        }
        self.request = match (&self.request, answer) {
            (Request::Sent, Answer::Accepted) => Request::Accepted,
            (Request::Sent, Answer::NotDone { after, .. }) => {
                Request::BackOff { until: now + after.unwrap_or(BACK_OFF) }
            }
            // The tries are few, and what keeps a server from answering does not pass in milliseconds.
            (Request::Sent, Answer::Unknown { .. }) if self.sends > 1 => Request::ReadAt(now + BACK_OFF),
            (Request::Sent, Answer::Conflict { .. } | Answer::Unknown { .. }) => Request::Unclear,
            (Request::Sent, Answer::Refused { reason, message }) => {
                // Clearing a record is no failure of the pod.
                if self.sent != Sent::HookNote {
                    self.refused =
                        Some(Failure { container: None, reason, message, exit_code: None, stays_down: false });
                }
                Request::Idle
            }
            (Request::Reading, Answer::Read) => Request::Idle,
            (Request::Reading, _) => Request::ReadAt(now + BACK_OFF),
            // The answer to a read of the events: the observation says it all.
            (request, _) => request.clone(),
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

    /// Ends the wait for others: its own time goes on.
    pub(super) fn release(&mut self, now: Now) {
        let Some(since) = self.held_since.take() else { return };
        self.started = self.started.map(|started| started + now.saturating_sub(since));
    }

    /// Forgets what was known of containers that are about to change. The proof of earlier steps is kept.
    pub(super) fn forget<'n>(&mut self, containers: impl Iterator<Item = &'n ContainerName>, step: usize) {
        self.events_at = None;
        if step == 0 {
            self.ready_since = None;
            self.kubelet_knew.clear();
            self.proven.clear();
            self.by_restart.clear();
            self.first_crash.clear();
        }
        for name in containers {
            self.kubelet_knew.remove(name);
            self.proven.remove(name);
            self.by_restart.remove(name);
            self.first_crash.remove(name);
        }
    }

    /// Notes which other containers run before the pod is first patched.
    pub(super) fn note_others(
        &mut self,
        pod: &Pod,
        planned: &BTreeMap<ContainerName, super::goal::ContainerGoal>,
        step: usize,
    ) {
        if std::mem::replace(&mut self.patched, true) && step > 0 {
            return;
        }
        let statuses = [ContainerList::Containers, ContainerList::InitContainers].map(|list| pod.statuses(list));
        let others = statuses.into_iter().flatten().filter(|status| !planned.contains_key(&status.name));
        let noted = |status: &ContainerStatus| (status.container_id.clone(), InLoop::of(status));
        self.others = others.map(|status| (status.name.clone(), noted(status))).collect();
    }
}
