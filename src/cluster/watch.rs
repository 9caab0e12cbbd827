//! One list-watch over the pods of one selector, as observations.
//!
//! Promise: begins with a complete relist; after any error, also 410 Gone, the watch is opened again with back-off and
//! begins with a relist again; never ends by itself.

#![expect(
    clippy::disallowed_methods,
    clippy::disallowed_types,
    reason = "the one place that pauses between two watches, and knows how long one lasted; names kube"
)]

use std::collections::VecDeque;
use std::time::{Duration, Instant};

use futures::stream::{self, BoxStream, StreamExt};
use k8s_openapi::api::core::v1::Pod as ApiPod;
use kube::api::{Api, ApiResource};
use kube::core::Object;
use kube::runtime::watcher::{self, Event, watcher};
use serde_json::Value;

use super::Cluster;
use super::error::{ClusterError, RequestDescription, Result};
use super::objects::Resource;
use engine::k8s::permissions::AccessVerb;
use engine::k8s::pod::{Pod, PodSpec, PodStatus};
use engine::kinds::PODS;
use engine::rollout::Observation;

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PodScope {
    Labels(String),
    Name(String),
}

/// The observations of a watch, without end.
pub type WatchedPods = BoxStream<'static, Result<Observation>>;

type SlimPod = Object<PodSpec, PodStatus>;
type Events = BoxStream<'static, Result<Event<SlimPod>, watcher::Error>>;

/// The longest pause before the watch is opened again.
const LONGEST_PAUSE: Duration = Duration::from_secs(30);

/// A watch that was open for longer than this did open: its end is no reason to wait longer next time.
const LASTED: Duration = Duration::from_secs(1);

struct Watching {
    api: Api<SlimPod>,
    config: watcher::Config,
    what: RequestDescription,
    events: Option<Events>,
    /// Pods of a relist that is not complete yet.
    listed: Vec<Pod>,
    pause: Duration,
    listed_at: Option<Instant>,
    out: VecDeque<Result<Observation>>,
}

impl Cluster {
    /// Watches pods: in every namespace where none is given. An error item says that the watch was lost; a relist follows once it is back.
    pub fn watch(&self, namespace: &str, scope: &PodScope) -> WatchedPods {
        let resource = ApiResource::erase::<ApiPod>(&());
        let config = match scope {
            PodScope::Labels(selector) => watcher::Config::default().labels(selector),
            PodScope::Name(name) => watcher::Config::default().fields(&format!("metadata.name={name}")),
        };
        let watching = Watching {
            api: match namespace {
                "" => Api::all_with(self.client.clone(), &resource),
                namespace => Api::namespaced_with(self.client.clone(), namespace, &resource),
            },
            config,
            what: Resource::from(PODS).describe(AccessVerb::Watch, Some(namespace), None),
            events: None,
            listed: Vec::new(),
            pause: Duration::ZERO,
            listed_at: None,
            out: VecDeque::new(),
        };
        stream::unfold(watching, |mut watching| async move {
            let item = watching.next().await;
            Some((item, watching))
        })
        .boxed()
    }
}

impl Watching {
    async fn next(&mut self) -> Result<Observation> {
        loop {
            if let Some(item) = self.out.pop_front() {
                return item;
            }
            if self.events.is_none() {
                tokio::time::sleep(self.pause).await;
                self.pause = (self.pause * 2).clamp(Duration::from_millis(250), LONGEST_PAUSE);
                self.listed.clear();
            }
            let events = self.events.get_or_insert_with(|| watcher(self.api.clone(), self.config.clone()).boxed());
            match events.next().await {
                Some(Ok(event)) => self.take(event),
                Some(Err(error)) => {
                    self.events = None;
                    if self.listed_at.take().is_some_and(|at| at.elapsed() > LASTED) {
                        self.pause = Duration::ZERO;
                    }
                    return Err(sort(error, &self.what));
                }
                None => self.events = None,
            }
        }
    }

    fn take(&mut self, event: Event<SlimPod>) {
        match event {
            Event::Init => self.listed.clear(),
            Event::InitApply(pod) => match read(pod) {
                Ok(pod) => self.listed.push(pod),
                Err(error) => self.out.push_back(Err(error)),
            },
            Event::InitDone => {
                // No sign yet that the watch itself opens: a list that works must not undo the back-off.
                self.listed_at = Some(Instant::now());
                self.out.push_back(Ok(Observation::Relisted(std::mem::take(&mut self.listed))));
            }
            Event::Apply(pod) => {
                self.pause = Duration::ZERO;
                self.out.push_back(read(pod).map(|pod| Observation::Applied(Box::new(pod))));
            }
            Event::Delete(pod) => {
                self.pause = Duration::ZERO;
                self.out.push_back(read(pod).map(|pod| Observation::Deleted(pod.key)));
            }
        }
    }
}

fn read(pod: SlimPod) -> Result<Pod> {
    let unreadable =
        |error: serde_json::Error| ClusterError::Unreadable { request: "watch pods".into(), why: error.to_string() };
    let metadata: Value = serde_json::to_value(&pod.metadata).map_err(unreadable)?;
    Pod::from_parts(metadata, pod.spec, pod.status.unwrap_or_default()).map_err(unreadable)
}

fn sort(error: watcher::Error, what: &RequestDescription) -> ClusterError {
    match error {
        watcher::Error::InitialListFailed(error)
        | watcher::Error::WatchStartFailed(error)
        | watcher::Error::WatchFailed(error) => ClusterError::from_kube(error, what),
        watcher::Error::WatchError(status) => ClusterError::from_kube(kube::Error::Api(status), what),
        watcher::Error::NoResourceVersion => {
            ClusterError::Unreadable { request: what.to_string(), why: "the list has no resourceVersion".into() }
        }
    }
}
