//! The count: from what a watch saw of the pods, and what the test knows of the owner, and from nothing of the program.
//!
//! A pod counts as taken from the moment its spec asks for another image until another container is Ready in it. Within a
//! watch the order of the states is the server's, so that pods taken are counted exactly. What others did to pods (the
//! mishaps) counts once it is so old that the program must have known.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::support::{Seen, container_status, image, is_ready, name};

/// Within this the program may not have heard of what others did: the machine is busy.
pub(super) const NEWS: Duration = Duration::from_millis(2_000);

/// What a PodDisruptionBudget demands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Budget {
    MinAvailable(usize),
    MinAvailablePercent(usize),
    MaxUnavailable(usize),
}

impl Budget {
    /// Returns it as a line of its spec.
    pub(super) fn yaml(self) -> String {
        match self {
            Self::MinAvailable(pods) => format!("minAvailable: {pods}"),
            Self::MinAvailablePercent(percent) => format!("minAvailable: {percent}%"),
            Self::MaxUnavailable(pods) => format!("maxUnavailable: {pods}"),
        }
    }

    /// Returns how many of `replicas` pods it wants healthy (`pkg/controller/disruption`, both round up).
    pub(super) fn wants(self, replicas: usize) -> usize {
        match self {
            Self::MinAvailable(pods) => pods,
            Self::MinAvailablePercent(percent) => (replicas * percent).div_ceil(100),
            Self::MaxUnavailable(pods) => replicas.saturating_sub(pods),
        }
    }
}

/// What may be.
#[derive(Debug, Clone)]
pub(super) struct Limits {
    pub(super) max_unavailable: usize,
    pub(super) budget: Option<Budget>,
    /// How many pods the owner wanted, and since when.
    pub(super) replicas: Vec<(Instant, usize)>,
}

impl Limits {
    /// The fewest that the owner may have been thought to want.
    fn replicas_at(&self, at: Instant) -> usize {
        let until = self.replicas.iter().skip(1).map(|(since, _)| Some(*since + NEWS)).chain([None]);
        let valid = self.replicas.iter().zip(until).filter(|((since, _), until)| {
            // What it was before a change counts while the change is news.
            *since <= at && until.is_none_or(|until| until > at)
        });
        valid.map(|((_, replicas), _)| *replicas).min().unwrap_or_default()
    }
}

/// What the watch saw in all.
#[derive(Debug, Default)]
pub(super) struct Count {
    /// Pods taken, each time.
    pub(super) taken: usize,
    /// The most that were taken at a time.
    pub(super) most: usize,
    /// What was not to be.
    pub(super) breaches: Vec<String>,
    /// What the watch saw, a line a state.
    pub(super) story: Vec<String>,
}

/// The last state of one pod.
struct Pod {
    name: String,
    image: String,
    container: Value,
    ready: bool,
    ready_since: Instant,
    terminating_since: Option<Instant>,
    /// The image and the container from before it was taken.
    taken: Option<(String, Value)>,
}

impl Pod {
    fn is_there(&self, at: Instant) -> bool {
        self.terminating_since.is_none_or(|since| since + NEWS > at)
    }

    /// It is not ready, by no doing of ours, for long enough that the program knows.
    fn is_known_to_be_down(&self, at: Instant) -> bool {
        !self.ready && self.ready_since + NEWS <= at
    }

    fn news(&mut self, seen: &Seen) {
        let ready = is_ready(&seen.pod);
        if ready != self.ready {
            (self.ready, self.ready_since) = (ready, seen.at);
        }
        if !seen.pod["metadata"]["deletionTimestamp"].is_null() {
            self.terminating_since.get_or_insert(seen.at);
        }
        self.container = container_id(&seen.pod);
        // Back to what it was before its container was stopped: nothing will stop it.
        let is_back = |(image, container): &(String, Value)| *container != self.container || *image == self.image;
        if ready && self.taken.as_ref().is_some_and(is_back) {
            self.taken = None;
        }
    }
}

fn container_id(pod: &Value) -> Value {
    let has_status = pod["status"]["containerStatuses"].as_array().is_some_and(|statuses| !statuses.is_empty());
    if has_status { container_status(pod, "app")["containerID"].clone() } else { Value::Null }
}

/// Counts.
pub(super) fn count(seen: &[Seen], limits: &Limits) -> Count {
    let mut count = Count::default();
    let mut pods: BTreeMap<String, Pod> = BTreeMap::new();
    for state in seen {
        let uid = state.pod["metadata"]["uid"].as_str().unwrap_or_default().to_owned();
        let asks = image(&state.pod, "app").to_owned();
        if pods.get(&uid).is_some_and(|pod| pod.image != asks) {
            take(&uid, &mut pods, &mut count, state.at, limits);
        }
        let pod = pods.entry(uid).or_insert_with(|| Pod {
            name: name(&state.pod).to_owned(),
            image: asks.clone(),
            container: Value::Null,
            ready: false,
            ready_since: state.at,
            terminating_since: None,
            taken: None,
        });
        pod.image = asks;
        pod.news(state);
        let since = seen.first().map(|first| state.at - first.at).unwrap_or_default();
        count.story.push(format!(
            "{:6.2} {} asks {}, ready {}, taken {}, deleted {}",
            since.as_secs_f64(),
            pod.name,
            pod.image,
            pod.ready,
            pod.taken.is_some(),
            pod.terminating_since.is_some()
        ));
    }
    count
}

/// A pod is taken, in the state that it had before.
fn take(uid: &str, pods: &mut BTreeMap<String, Pod>, count: &mut Count, at: Instant, limits: &Limits) {
    let Some(pod) = pods.get_mut(uid) else { return };
    let again = pod.taken.is_some();
    let mark = (pod.image.clone(), pod.container.clone());
    pod.taken.get_or_insert(mark);
    let (name, was_ready) = (pod.name.clone(), pod.ready && pod.ready_since + NEWS <= at);
    count.taken += 1;
    if again {
        return;
    }
    let others: Vec<&Pod> =
        pods.iter().filter(|(other, _)| *other != uid).map(|(_, pod)| pod).filter(|pod| pod.is_there(at)).collect();
    let in_progress = others.iter().filter(|pod| pod.taken.is_some() && pod.terminating_since.is_none()).count();
    count.most = count.most.max(in_progress + 1);
    let down = others.iter().filter(|pod| pod.taken.is_none() && pod.is_known_to_be_down(at)).count();
    let missing = limits.replicas_at(at).saturating_sub(others.len() + 1);
    if !was_ready {
        // It was down already.
        return;
    }
    if in_progress + 1 + down + missing > limits.max_unavailable {
        count.breaches.push(format!(
            "{name} is taken: {in_progress} others were, {down} were not ready, {missing} were missing, and maxUnavailable is {}",
            limits.max_unavailable
        ));
    }
    let Some(budget) = limits.budget else { return };
    let healthy = others.iter().filter(|pod| pod.taken.is_none() && !pod.is_known_to_be_down(at)).count();
    let wanted = budget.wants(limits.replicas_at(at));
    if healthy < wanted {
        count.breaches.push(format!("{name} is taken: {healthy} others are healthy, and {budget:?} wants {wanted}"));
    }
}
