//! Whether a container is the one that was asked for. Evidence, not belief.
//!
//! What proves nothing: an image string in the status (the runtime may show another tag of the same digest), imageID
//! (equal for equal digests), Ready (true for the old container while the new image is being pulled),
//! observedGeneration (published before the restart). What proves it: another containerID than the one that the patch
//! itself tested, created by a kubelet that knew the new spec.

use crate::k8s::failure;
use crate::k8s::names::{ContainerName, RolloutId};
use crate::k8s::pod::{Container, ContainerList, ContainerStatus, ImageSet, Pod, Terminated};
use crate::state::manager::is_same_writer;
use crate::state::policy::RESTARTED_HOLD_SECONDS;
use crate::state::record::{ContainerRecord, UpdateRecord};
use crate::value::duration::seconds_between;
use crate::value::image::{self, ImageReference, repo_digest};

/// What a container's present state is compared with.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Baseline {
    /// The patch's own record.
    Recorded(ContainerRecord),
    /// Somebody else set the image: who and when, as managedFields show.
    Set(ImageSet),
    /// The image is the one that the pod was created with: every container that ever ran is the right one.
    Created,
    /// When the image was set is not known: nothing goes back to the pod's creation, and no entry is of the image.
    Unknown,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Proof {
    /// It was created after the image was set, by a kubelet that knew it.
    New,
    Old,
    Unverified(String),
}

impl Baseline {
    pub fn of(pod: &Pod, name: &ContainerName) -> Self {
        let record = UpdateRecord::of(pod);
        match record.as_ref().and_then(|record| record.baseline(pod, name)) {
            Some(record) => Self::Recorded(record.clone()),
            None if is_as_created(pod, name) => Self::Created,
            None => pod.image_set.get(name).cloned().map_or(Self::Unknown, |set| {
                let time = UpdateRecord::set_at(pod, name).unwrap_or(set.time);
                Self::Set(ImageSet { time, ..set })
            }),
        }
    }

    /// Returns whether a container of this id and start came after the change; `None` when that is unknown.
    ///
    /// API times are whole seconds in UTC, so equal strings are the same second and text order is time order.
    pub fn is_newer(&self, container_id: Option<&str>, started_at: Option<&str>) -> Option<bool> {
        match self {
            Self::Recorded(record) => container_id.map(|id| record.container_id.as_deref() != Some(id)),
            Self::Set(set) => match started_at?.cmp(set.time.as_str()) {
                std::cmp::Ordering::Less => Some(false),
                std::cmp::Ordering::Equal => None,
                std::cmp::Ordering::Greater => Some(true),
            },
            Self::Created => Some(true),
            Self::Unknown => None,
        }
    }

    /// Returns what is recorded from before the change: the image, why it waited, and whether its digest is the present
    /// one.
    pub fn before(&self, status: &ContainerStatus) -> (Option<&str>, Option<&str>, bool) {
        match self {
            Self::Recorded(record) => {
                let same = !record.image_id.is_empty() && record.image_id == status.image_id;
                (Some(record.from.as_str()), record.waiting.as_deref(), same)
            }
            Self::Set(_) | Self::Created | Self::Unknown => (None, None, false),
        }
    }

    /// Returns the waiting reason of the container when it was changed, unless it was just starting.
    pub fn failed_before(&self) -> Option<&str> {
        match self {
            Self::Recorded(record) => record.waiting.as_deref().filter(|reason| failure::is_failure(reason)),
            Self::Set(_) | Self::Created | Self::Unknown => None,
        }
    }

    /// Returns whether a container that has ended came after the change; `None` when that is unknown. A container that
    /// was in flight at the patch came after it as well, and was stopped by it.
    pub fn ended_after(&self, ended: &Terminated) -> Option<bool> {
        let was_in_flight = match self {
            Self::Recorded(record) => record.in_flight.is_some(),
            Self::Set(_) | Self::Created | Self::Unknown => false,
        };
        match self.is_newer(ended.container_id.as_deref(), ended.started_at.as_deref()) {
            Some(true) if was_in_flight && ended.was_stopped() => Some(false),
            // In exactly the second of the change: a stopped container was stopped by it.
            None if ended.was_stopped() => Some(false),
            is_newer => is_newer,
        }
    }

    /// Returns how often a container was started again since the recorded update, which is a restart itself unless no
    /// container existed; `None` where that is not counted.
    pub fn restarts_since(&self, status: &ContainerStatus) -> Option<u64> {
        match self {
            Self::Recorded(record) if record.in_flight.is_none() => {
                let before = record.restarts? + i64::from(record.container_id.is_some());
                Some(u64::try_from(status.restart_count - before).unwrap_or(0))
            }
            Self::Recorded(_) | Self::Set(_) | Self::Created | Self::Unknown => None,
        }
    }

    /// Returns whether a running container never had to stop: the wanted image is the one that it was created from,
    /// and the one that was asked for in between had not reached it. Only for a status that carries the pod's present
    /// generation: the kubelet has then compared the container with the spec and left it running.
    fn was_left(&self, status: &ContainerStatus, wanted: &str) -> bool {
        match self {
            Self::Recorded(record) => {
                let is_wanted = record.in_flight.as_ref().is_some_and(|image| image == wanted);
                is_wanted && record.container_id.is_some() && status.container_id == record.container_id
            }
            Self::Set(_) | Self::Created | Self::Unknown => false,
        }
    }

    /// Weighs what is known of a running container.
    ///
    /// `kubelet_knew` says that an earlier status already carried the new generation while another container was still
    /// there; `definition_changed` is the time of the kubelet's event of that name, not older than the change.
    ///
    /// Assumes that a container that started in exactly the second of the event started after it: a restart within a
    /// second is the rule, a crash in that second the exception.
    ///
    /// For somebody else's image neither a later start nor the event is enough: a sync that was in progress when it was
    /// set goes on with the old spec, so what starts next may be the image that was asked for until then. Two names of
    /// the same digest are not distinguished: where the runtime shows the wanted name, the digest is the present one.
    pub fn proof(
        &self,
        status: &ContainerStatus,
        wanted: &str,
        kubelet_knew: bool,
        definition_changed: Option<&str>,
    ) -> Proof {
        let started_at = status.started_at();
        let event = |since: &str| {
            definition_changed.is_some_and(|at| at >= since && started_at.is_some_and(|started| started >= at))
        };
        match self {
            Self::Recorded(record) => {
                if status.container_id.is_none() || status.container_id == record.container_id {
                    return Proof::Old;
                }
                // The event may be that of the image that was in flight.
                let reported = record.in_flight.is_none() && event("");
                if kubelet_knew || reported || shows_other_image(record, status, wanted) {
                    Proof::New
                } else {
                    Proof::Unverified("the container is another one than before, but nothing shows that the kubelet knew the new image when it made it".into())
                }
            }
            Self::Set(_) | Self::Unknown if kubelet_knew => Proof::New,
            // The first container of a pod never came after a change, whatever second it started in.
            Self::Set(set) => match self.is_newer(status.container_id.as_deref(), started_at) {
                Some(true) if shows(status, wanted) => Proof::New,
                None if shows(status, wanted) && event(&set.time) && status.restart_count > 0 => Proof::New,
                Some(false) if !shows(status, wanted) => Proof::Old,
                is_newer => Proof::Unverified(doubt(set, status, is_newer)),
            },
            Self::Created => Proof::New,
            Self::Unknown if shows(status, wanted) => Proof::New,
            Self::Unknown => Proof::Unverified(format!(
                "nothing in managedFields says when the image was set, and the runtime shows {}",
                status.image
            )),
        }
    }
}

/// Returns what a running container's proof rests on where no other status and no event proves it: it came after the
/// change, and the old container was stopped from outside after it. `None`: that does not prove it either.
///
/// The kubelet stops containers for a changed definition, a failed liveness probe, pressure on its node, and for the pod's
/// end; a container that crashes ends with a code of its own. Assumes that nothing else stops a container, and that
/// none ends with 0 by itself, in the moment between the patch and the kubelet's observation of it. A container in
/// flight at the patch is stopped as well and may have been another one: then nothing is proven.
pub fn rests_on_restart(pod: &Pod, name: &ContainerName) -> Option<String> {
    let status = pod.status_of(name)?;
    let set = &UpdateRecord::set_at(pod, name)?;
    let started = status.started_at()?;
    let before = status.last_state.terminated.as_ref().filter(|before| before.was_stopped())?;
    let stopped = before.finished_at.as_deref()?;
    if stopped < set.as_str() || started < stopped {
        return None;
    }
    let (count, code) = (status.restart_count, before.exit_code);
    let counted = match Baseline::of(pod, name) {
        Baseline::Recorded(record) => {
            let restarts = record.restarts.filter(|restarts| count > *restarts && record.in_flight.is_none())?;
            let is_other = record.container_id.is_some() && record.container_id != status.container_id;
            is_other.then(|| format!("its restart count rose from {restarts} to {count}"))?
        }
        Baseline::Set(_) if count > 0 && shows_wanted(pod, name) => format!("its restart count is {count}"),
        Baseline::Set(_) | Baseline::Created | Baseline::Unknown => return None,
    };
    Some(format!(
        "it started at {started}, the image was set at {set}, {counted}, and the container before it was stopped at \
         {stopped} (exit code {code}); no event of the kubelet tells more"
    ))
}

/// Whether the kubelet has compared a container with the image that the pod asks for, and left it running or created it
/// again: another container of the pod was created from a spec that had that image already. In one sync the kubelet
/// stops every container whose definition has changed before it starts any (`computePodActions` and `SyncPod` in
/// pkg/kubelet/kuberuntime).
pub fn was_compared(pod: &Pod, name: &ContainerName) -> bool {
    let record = UpdateRecord::of(pod);
    let set = pod.image_set.get(name);
    // The recorded update did not set this image, and neither has its field manager since.
    let older = record.as_ref().filter(|record| {
        !record.containers.contains_key(name) && set.is_some_and(|set| is_same_writer(&set.manager, &record.manager))
    });
    let mut others = pod.long_lived_containers().filter(|other| other.name != *name);
    others.any(|other| {
        let Some(status) = pod.status_of(&other.name) else { return false };
        if Baseline::of(pod, &other.name).proof(status, &other.image, false, None) != Proof::New {
            return false;
        }
        let started_at = status.started_at();
        older.is_some_and(|record| record.container(pod, &other.name).is_some())
            || set.zip(started_at).filter(|_| shows_wanted(pod, name)).is_some_and(|(set, started_at)| {
                // Its own image came later, so the spec that it was created from had this one; a start alone proves
                // nothing, since a long sync creates it from an older spec.
                let is_later = pod.image_set.get(&other.name).is_some_and(|other| other.time > set.time);
                is_later && started_at > set.time.as_str()
            })
    })
}

/// Returns since when a container has been down that exactly this rollout has stopped, where none has run since: from
/// its end, or from the patch where the API no longer shows that. One that runs and is not ready serves nothing.
pub fn down_since(pod: &Pod, name: &ContainerName, id: &RolloutId) -> Option<String> {
    let record = UpdateRecord::of_rollout(pod, id)?;
    let known = record.container(pod, name)?;
    let status = pod.status_of(name)?;
    let ended = last_ended(status)?;
    let is_first = ended.container_id == known.container_id;
    let stays = status.state.running.is_some()
        && status.ready
        && (is_first || Baseline::Recorded(known.clone()).restarts_since(status) == Some(0));
    let seconds =
        ended.started_at.as_deref().zip(ended.finished_at.as_deref()).and_then(|(from, to)| seconds_between(from, to));
    let has_stayed = !is_first && seconds.is_none_or(|seconds| seconds >= i64::from(RESTARTED_HOLD_SECONDS));
    if stays || has_stayed {
        return None;
    }
    let first_stop = || if is_first { ended.finished_at.clone() } else { UpdateRecord::set_at(pod, name) };
    known.down_since.clone().or_else(first_stop)
}

pub fn last_ended(status: &ContainerStatus) -> Option<&Terminated> {
    status.state.terminated.as_ref().or(status.last_state.terminated.as_ref())
}

/// Seconds from the stop of a container to the status that shows the next one, where its image is on the node.
const START_SECONDS: u64 = 10;

/// Returns whether the kubelet has compared a container with the present pod spec, and the container never had to stop.
pub fn was_left(pod: &Pod, baseline: &Baseline, container: &Container, status: &ContainerStatus) -> bool {
    has_seen(pod) && status.state.running.is_some() && baseline.was_left(status, &container.image)
}

/// Judges a running container by one read of its pod, without events: `status` uses this.
pub fn one_look(pod: &Pod, baseline: &Baseline, container: &Container, status: &ContainerStatus) -> Proof {
    let name = &container.name;
    if was_left(pod, baseline, container, status) {
        return Proof::New;
    }
    let proof = baseline.proof(status, &container.image, was_compared(pod, name), None);
    let Proof::Unverified(_) = &proof else { return proof };
    if rests_on_restart(pod, name).is_some() { Proof::New } else { proof }
}

/// Returns for how many seconds a running container that nothing else proves must have been seen to count as the one
/// asked for. `None`: no time is enough.
///
/// The kubelet stops a container whose image has changed as soon as it has seen that. But a status shows it for as long as
/// the next one's image is being pulled, so the image must be known to be on the node: the runtime shows it under the name
/// asked for, or the kubelet's last event that says so, `pulled`, came before the container started.
pub fn hold_seconds(pod: &Pod, name: &ContainerName, pulled: Option<&str>) -> Option<u64> {
    let (list, _, status) = pod.container_status(name)?;
    // A sidecar that has not started is not compared (`computeInitContainerActions`).
    if list == ContainerList::InitContainers && status.started != Some(true) {
        return None;
    }
    if has_seen(pod) && shows_wanted(pod, name) {
        let may_be_stopped = |other: &&Container| {
            let status = pod.status_of(&other.name);
            let proof = |status| Baseline::of(pod, &other.name).proof(status, &other.image, false, None);
            status.map(proof) != Some(Proof::New)
        };
        // One after the other.
        let stops = u64::try_from(pod.long_lived_containers().filter(may_be_stopped).count()).unwrap_or(1).max(1);
        return Some(stops.saturating_mul(pod.termination_grace_seconds().max(2)).saturating_add(START_SECONDS));
    }
    let (set, pulled) = UpdateRecord::set_at(pod, name).zip(pulled)?;
    let started = status.started_at()?;
    (set.as_str() <= pulled && pulled <= started).then_some(START_SECONDS)
}

/// Returns whether a running container has stayed for so long, since an image of its pod was last set and since it started,
/// that the kubelet has left it: by one read of the pod, at `now` (RFC 3339).
pub fn has_stayed(pod: &Pod, status: &ContainerStatus, now: &str) -> bool {
    let started_at = status.started_at();
    let set = pod.image_set.values().map(|set| set.time.as_str());
    let seconds = hold_seconds(pod, &status.name, None).and_then(|seconds| i64::try_from(seconds).ok());
    let stayed = set.chain(started_at).max().and_then(|since| seconds_between(since, now));
    started_at.is_some() && seconds.zip(stayed).is_some_and(|(seconds, stayed)| stayed >= seconds)
}

pub fn has_seen(pod: &Pod) -> bool {
    pod.generation.is_some() && pod.status.observed_generation >= pod.generation
}

/// Whether a container runs under the name that is asked for, so that its digest is that of the name on its node, or with the
/// digest that is asked for: of an image that is asked for by digest the runtime may show a tag.
fn shows(status: &ContainerStatus, wanted: &str) -> bool {
    let has_digest = || {
        let wanted = ImageReference::parse(wanted).ok();
        let digest = wanted.as_ref().and_then(ImageReference::digest);
        digest.is_some() && digest == repo_digest(&status.image_id)
    };
    status.state.running.is_some() && (image::is_same(&status.image, wanted) || has_digest())
}

fn shows_wanted(pod: &Pod, name: &ContainerName) -> bool {
    let status = pod.status_of(name);
    pod.container(name).zip(status).is_some_and(|((_, _, container), status)| shows(status, &container.image))
}

/// Why a container of somebody else's image is not proven.
fn doubt(set: &ImageSet, status: &ContainerStatus, is_newer: Option<bool>) -> String {
    let ImageSet { manager, time } = set;
    let started = status.started_at().unwrap_or("no known time");
    match is_newer {
        // A writer that sets one image updates the time of all its fields: this one need not be the last.
        Some(false) => format!(
            "it started at {started} and shows the image asked for, and {manager} wrote to the pod once more at {time}"
        ),
        Some(true) => format!(
            "it started at {started}, after {manager} set the image ({time}), but shows {}: another name of the same \
             image, or the image that was asked for before",
            status.image
        ),
        None => format!("the container started in the second in which {manager} set the image ({time})"),
    }
}

/// Whether the status shows an image that the old container cannot have been created from.
///
/// A container that crashed between the patch and the kubelet's observation of it comes back with the old image. Where
/// old and new are the same digest, the runtime may show any of its tags, also the wanted one for the old container.
fn shows_other_image(record: &ContainerRecord, status: &ContainerStatus, wanted: &str) -> bool {
    // The way back from an image that could not be pulled: the recorded digest is the one that is wanted again.
    if record.never_ran && image::is_same(&status.image, wanted) && !image::is_same(&record.from, wanted) {
        return true;
    }
    if record.in_flight.is_some() {
        // A digest other than the recorded one may be that of the image in flight.
        return image::is_same(&status.image, wanted) && !image::is_same(&record.from, wanted);
    }
    match (record.image_id.as_str(), status.image_id.as_str()) {
        ("", _) | (_, "") => {
            image::is_same(&status.image, wanted)
                || (record.container_id.is_none() && !image::is_same(&status.image, &record.from))
        }
        (before, now) => before != now,
    }
}

/// Whether a container's image is the one that its pod was created with, as far as the pod shows what the server notes of
/// writers: no clock of a client bears on it.
///
/// Assumes that nobody changes an image within the second in which the pod is created, before its containers start, and
/// that admission changes no image of a pod whose update leaves the image alone.
fn is_as_created(pod: &Pod, name: &ContainerName) -> bool {
    match pod.image_set.get(name) {
        // In its first generation the spec is as created, and the manager has written something else since. But a pod from
        // before Kubernetes 1.33 begins at 0, and has this generation after its first change: then the runtime shows the
        // image before.
        Some(set) => set.is_of_creation(&pod.created) || pod.generation == Some(1) && shows_wanted(pod, name),
        // What admission sets has no entry. Whoever sets it later has one.
        None => pod.tracked && !is_noted(pod, name),
    }
}

/// Whether this program has noted an update of the container: then an entry has been removed.
fn is_noted(pod: &Pod, name: &ContainerName) -> bool {
    UpdateRecord::of(pod)
        .is_some_and(|record| record.containers.contains_key(name) || record.earlier.contains_key(name))
}

#[cfg(test)]
mod created_tests;
#[cfg(test)]
mod tests;
