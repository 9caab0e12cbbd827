//! Which starts of a container its kubelet has noted for its back-off, as far as the pod's own record and status show.
//!
//! At each start of a container of which an earlier one has ended, the kubelet notes pod, container and image text,
//! whether anything has crashed or not (`doBackOff` in `pkg/kubelet/kuberuntime`). In the sync that stops a container
//! for another image it reads the old status: the first container that is replaced this way has no earlier one, and the
//! start after it is not noted, unless that one had ended by itself or its image could not be pulled.
//!
//! The API does not serve these notes, and shows no more than one container that has ended. So each update writes into
//! the pod what was known before it. That may be less than the kubelet knows, never more.

use crate::k8s::failure;
use crate::k8s::names::ContainerName;
use crate::k8s::pod::{ContainerStatus, Pod, Terminated};
use crate::state::evidence::{Baseline, last_ended};
use crate::state::record::{ContainerRecord, NotedStart, UpdateRecord};
use crate::value::duration::second;
use crate::value::image;

/// The kubelet forgets a noted text after this many seconds (`HasExpiredFunc` in pkg/kubelet/kubelet.go).
pub const FORGETS_SECONDS: i64 = 600;

/// After this many starts of one text the back-off grows no more.
const MOST_STARTS: u64 = 6;

/// Returns those of a container that the kubelet still knows, the one of the present container included.
pub fn noted(pod: &Pod, name: &ContainerName) -> Vec<NotedStart> {
    let record = UpdateRecord::of(pod);
    // The text is noted together with cpu and memory (`GetBackoffKey`): with other ones it is another text.
    if record.as_ref().is_some_and(|record| record.resized.contains_key(&name.into())) {
        return Vec::new();
    }
    let known = record.as_ref().and_then(|record| {
        let requested = record.requested.get(name);
        requested.or_else(|| record.containers.get(name)).or_else(|| record.earlier.get(name))
    });
    let requested = record.as_ref().and_then(|record| record.restart_baseline(pod, name));
    let baseline = requested.map_or_else(|| Baseline::of(pod, name), Baseline::Recorded);
    let mut starts = known.map(|known| known.starts.clone()).unwrap_or_default();
    if let Some((_, _, container)) = pod.container(name)
        && let Some(status) = pod.status_of(name)
        && let Some((times, at)) = present(&baseline, status, &container.image)
    {
        let start = || NotedStart { image: container.image.clone(), at: at.to_owned() };
        starts.extend((0..times.min(MOST_STARTS)).map(|_| start()));
    }
    let seconds = |start: &NotedStart| second(&start.at);
    let newest = starts.iter().filter_map(seconds).max();
    starts.retain(|start| newest.zip(seconds(start)).is_some_and(|(newest, at)| newest - at < FORGETS_SECONDS));
    starts
}

/// How often the image that the pod asks for was started and noted since it was set, and when last.
fn present<'s>(baseline: &Baseline, status: &'s ContainerStatus, wanted: &str) -> Option<(u64, &'s str)> {
    let (started, ended) = last_times(status);
    let restarts = u64::try_from(status.restart_count).unwrap_or(0);
    let times = match baseline {
        Baseline::Recorded(record) if record.container_id.is_some() && record.container_id == status.container_id => {
            // No container was created from it; the kubelet tries again, and by then the old one has ended.
            let tries = status.state.waiting.as_ref().is_some_and(|waiting| failure::is_pull(&waiting.reason));
            return tries.then_some(1).zip(ended);
        }
        Baseline::Recorded(record) => {
            baseline.restarts_since(status).unwrap_or(0) + u64::from(is_first_noted(record, restarts))
        }
        // Every container that was started again had ended.
        Baseline::Created => restarts,
        Baseline::Set(_) | Baseline::Unknown => u64::from(restarts > 1 && image::is_same(&status.image, wanted)),
    };
    Some(times).zip(started)
}

/// Whether the first start after an update was noted. The first container of a pod is its number 0.
fn is_first_noted(record: &ContainerRecord, restarts: u64) -> bool {
    // What kruise-daemon stops has ended before the kubelet starts another one.
    let had_ended = record.never_ran || record.waiting.is_some() || record.from == record.to;
    match record.restarts {
        Some(0) => had_ended && record.container_id.is_some(),
        Some(_) => true,
        None => restarts > 1,
    }
}

/// When the container that is shown started, and when the last one ended.
fn last_times(status: &ContainerStatus) -> (Option<&str>, Option<&str>) {
    let running = status.started_at();
    let ended = last_ended(status);
    let is_shown = |ended: &&Terminated| ended.container_id == status.container_id;
    let started = running.or_else(|| ended.filter(is_shown)?.started_at.as_deref());
    (started, ended.and_then(|ended| ended.finished_at.as_deref()))
}
