//! Whether a container is the one that was asked for. Evidence, not belief.
//!
//! What proves nothing: an image string in the status (the runtime may show another tag of the same digest), imageID
//! (equal for equal digests), Ready (true for the old container while the new image is being pulled),
//! observedGeneration (published before the restart). What proves it: another containerID than the one that the patch
//! itself tested, created by a kubelet that knew the new spec.

use super::image::ImageReference;
use super::names::ContainerName;
use super::pod::{ContainerStatus, ImageSet, Pod};
use super::record::{ContainerRecord, UpdateRecord};

/// What a container's present state is measured against.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Baseline {
    /// The patch's own record.
    Recorded(ContainerRecord),
    /// Somebody else set the image: who and when, as managedFields tell.
    Set(ImageSet),
    /// The image is the one that the pod was created with: every container that ever ran is the right one.
    Created,
    /// Nothing is known.
    Unknown,
}

/// What is known of a container that runs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Proof {
    /// It was created after the image was set, by a kubelet that knew it.
    New,
    /// It is the one from before.
    Old,
    /// It cannot be told, and why not.
    Unproven(String),
}

impl Baseline {
    /// Finds what a container of the pod is to be measured against.
    pub fn of(pod: &Pod, name: &ContainerName) -> Self {
        let record = UpdateRecord::of(pod);
        match record.as_ref().and_then(|record| record.container(pod, name)) {
            Some(record) => Self::Recorded(record.clone()),
            None if is_as_created(pod, name) => Self::Created,
            None => pod.image_set.get(name).cloned().map_or(Self::Unknown, Self::Set),
        }
    }

    /// Returns whether a container of this id and start came after the change; `None` when it cannot be told.
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

    /// Returns whether a running container never had to leave: the image that is wanted is the one that it was made of,
    /// and the one that was asked for between had not reached it. For a status that carries the pod's present generation
    /// alone: the kubelet has then compared the container with the spec and let it be.
    pub fn was_left(&self, status: &ContainerStatus, wanted: &str) -> bool {
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
    /// Assumes that a container that started in the very second of the event started after it: a restart within a
    /// second is the rule, a crash in that second the exception.
    pub fn proof(
        &self,
        status: &ContainerStatus,
        wanted: &str,
        kubelet_knew: bool,
        definition_changed: Option<&str>,
    ) -> Proof {
        let started_at = status.state.running.as_ref().and_then(|running| running.started_at.as_deref());
        let event = |since: &str| {
            definition_changed.is_some_and(|at| at >= since && started_at.is_some_and(|started| started >= at))
        };
        match self {
            Self::Recorded(record) => {
                if status.container_id.is_none() || status.container_id == record.container_id {
                    return Proof::Old;
                }
                // The event may be that of the image that was in flight.
                let told = record.in_flight.is_none() && event("");
                if kubelet_knew || told || shows_other_image(record, status, wanted) {
                    Proof::New
                } else {
                    Proof::Unproven("the container is another one than before, but nothing shows that the kubelet knew the new image when it made it".into())
                }
            }
            Self::Set(set) => match self.is_newer(status.container_id.as_deref(), started_at) {
                Some(true) => Proof::New,
                // The first container of a pod is none that came after a change, whatever second it started in.
                _ if kubelet_knew || event(&set.time) && status.restart_count > 0 => Proof::New,
                Some(false) => Proof::Old,
                None => Proof::Unproven(format!(
                    "the container started in the second in which {} set the image ({})",
                    set.manager, set.time
                )),
            },
            Self::Created => Proof::New,
            Self::Unknown => {
                Proof::Unproven("nothing tells when the image was set: no record and no managedFields".into())
            }
        }
    }
}

/// Whether the status shows an image that the container from before cannot have been made of.
///
/// A container that crashed between the patch and the kubelet's seeing it comes back with the image from before. Where
/// old and new are the same digest, the runtime may show any of its tags, also the wanted one for the old container.
fn shows_other_image(record: &ContainerRecord, status: &ContainerStatus, wanted: &str) -> bool {
    // The way back from an image that could not be pulled: the bits noted are those that are wanted again.
    if record.never_ran && same_image(&status.image, wanted) && !same_image(&record.from, wanted) {
        return true;
    }
    if record.in_flight.is_some() {
        // Other bits than those noted may be those of the image in flight.
        return same_image(&status.image, wanted) && !same_image(&record.from, wanted);
    }
    match (record.image_id.as_str(), status.image_id.as_str()) {
        ("", _) | (_, "") => {
            same_image(&status.image, wanted)
                || (record.container_id.is_none() && !same_image(&status.image, &record.from))
        }
        (before, now) => before != now,
    }
}

/// Whether the image is the one that the pod was created with: its last writer wrote in the second of the creation.
///
/// Assumes that nobody changes an image within the second in which the pod is created, before its containers start.
fn is_as_created(pod: &Pod, name: &ContainerName) -> bool {
    pod.image_set.get(name).is_some_and(|set| !set.time.is_empty() && set.time == pod.created)
}

fn same_image(a: &str, b: &str) -> bool {
    match (ImageReference::parse(a), ImageReference::parse(b)) {
        (Ok(a), Ok(b)) => a.normalised() == b.normalised(),
        (Err(_), _) | (_, Err(_)) => a == b,
    }
}

#[cfg(test)]
mod tests;
