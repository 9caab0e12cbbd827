//! What is read after a rollout: the last log lines of what failed, and events about pulls and about pods that left.
//!
//! Promise: never longer than [`WITHIN`], also when Ctrl-C comes, and never an error: what could not be read is said.
#![expect(clippy::disallowed_methods, reason = "what takes too long is given up")]

use std::future::Future;
use std::time::Duration;

use futures::StreamExt;
use futures::future::{self, Either};
use futures::stream::{self, FuturesUnordered};

use super::error::{ClusterError, Result};
use super::objects::EVENTS;
use super::{AT_ONCE, Cluster};
use engine::k8s::events::Event;
use engine::k8s::names::{ContainerName, PodKey};
use engine::report::failure_report::{
    self, FailedPod, FailureReport, Findings, Instance, MOST_BYTES, MOST_LINES, Moment,
};
use engine::report::proof;
use engine::report::{Outcome, PodEnd};

const WITHIN: Duration = Duration::from_secs(3);

/// The number of pods that left that are read, at most.
const LOOKED_FOR_AT_MOST: usize = 50;

/// What the kubelet answers as if it were the log, where its runtime has none (`GetContainerLogs`).
const NO_LOG: &str = "unable to retrieve container logs for ";

impl Cluster {
    /// Reads what there is to know about the pods that failed, if any; `time_line` is what was seen of a pod.
    pub async fn failure_report(
        &self,
        outcome: &Outcome,
        time_line: impl Fn(&PodKey) -> Vec<Moment>,
    ) -> Option<FailureReport> {
        let (pods, left_out) = failure_report::failing(outcome);
        if pods.is_empty() {
            return None;
        }
        let mut found: Vec<Option<Findings>> = pods.iter().map(|_| None).collect();
        {
            let reading: FuturesUnordered<_> =
                pods.iter().enumerate().map(|(index, end)| async move { (index, self.findings(end).await) }).collect();
            let mut reading = reading.take_until(Box::pin(enough()));
            while let Some((index, findings)) = reading.next().await {
                if let Some(slot) = found.get_mut(index) {
                    *slot = Some(findings);
                }
            }
        }
        let pods = pods.into_iter().zip(found).map(|(end, findings)| {
            let not_read = vec!["nothing was read of it in time".to_owned()];
            let findings = findings.unwrap_or(Findings { not_read, ..Findings::default() });
            FailedPod::of(end, findings, time_line(&end.pod))
        });
        Some(FailureReport { workload: outcome.workload.clone(), pods: pods.collect(), left_out })
    }

    /// Adds to an outcome what is read for it alone: how long images were pulled, who deleted pods, and whether pods that left
    /// are still there. What cannot be read is left out.
    pub async fn complete_proof(&self, outcome: &mut Outcome) {
        let namespace = outcome.workload.namespace.clone();
        let unknown: Vec<PodKey> = proof::of_unknown_whereabouts(outcome).cloned().collect();
        let (pulls, causes) = (proof::wants_pulls(outcome), proof::wants_causes(outcome));
        let pulls = self.events_if(pulls, &namespace, "involvedObject.kind=Pod,reason=Pulled");
        let causes = self.events_if(causes, &namespace, "reason=SuccessfulDelete");
        // One that is slow takes nothing from the others.
        let (pulls, causes, looks) =
            future::join3(in_time(pulls), in_time(causes), in_time(self.whereabouts(unknown))).await;
        proof::add_pulls(outcome, &pulls);
        looks.iter().for_each(|(key, is_there)| proof::add_whereabouts(outcome, key, *is_there));
        proof::add_causes(outcome, &causes);
    }

    /// Reads pods that left: each that could be read, and whether it still exists.
    async fn whereabouts(&self, pods: Vec<PodKey>) -> Vec<(PodKey, bool)> {
        let looks = pods.into_iter().take(LOOKED_FOR_AT_MOST).map(|key| async move {
            let found = self.read_pod(&key).await.ok()?;
            let is_there = found.is_some_and(|pod| pod.key == key && !pod.terminating);
            Some((key, is_there))
        });
        stream::iter(looks).buffer_unordered(AT_ONCE).filter_map(future::ready).collect().await
    }

    async fn events_if(&self, wanted: bool, namespace: &str, selector: &str) -> Vec<Event> {
        if wanted { self.events(namespace, selector).await.unwrap_or_default() } else { Vec::new() }
    }

    async fn events(&self, namespace: &str, selector: &str) -> Result<Vec<Event>> {
        let events: Vec<serde_json::Value> = self.list(EVENTS, Some(namespace), &[("fieldSelector", selector)]).await?;
        Ok(events.iter().map(Event::of).collect())
    }

    async fn findings(&self, end: &PodEnd) -> Findings {
        let key = &end.pod;
        let mut not_read = Vec::new();
        let selector = format!("involvedObject.uid={}", key.uid);
        let events = self.events(&key.namespace, &selector);
        let (pod, events) = future::join(self.read_pod(key), events).await;
        let events = events.unwrap_or_else(|error| {
            not_read.push(format!("its events: {error}"));
            Vec::new()
        });
        let pod = match pod {
            Ok(pod) => pod.filter(|pod| pod.key == *key),
            Err(error) => {
                not_read.push(format!("the pod: {error}"));
                None
            }
        };
        let wanted = pod.as_ref().and_then(|pod| {
            let container = failure_report::container_of(end, pod)?;
            let instance = failure_report::wanted_log(pod, &container)?;
            Some((container, instance))
        });
        let log = match wanted {
            Some((container, instance)) => match self.log(key, &container, instance).await {
                Ok(log) => Some(log),
                Err(error) => {
                    not_read.push(format!("its log: {error}"));
                    None
                }
            },
            None => None,
        };
        Findings { pod, log, events, not_read }
    }

    /// Reads the end of a log: of the instance wanted, else of the present one, as the other may have been cleared away.
    async fn log(
        &self,
        pod: &PodKey,
        container: &ContainerName,
        instance: Instance,
    ) -> Result<(Instance, String), String> {
        let read = async |previous| {
            let text = self.log_of(pod, container.as_str(), previous, (MOST_LINES, MOST_BYTES)).await?;
            Ok(if text.starts_with(NO_LOG) && text.lines().count() == 1 { None } else { Some(text) })
        };
        if instance == Instance::Previous {
            match read(true).await {
                Ok(Some(text)) => return Ok((instance, text)),
                Err(error @ ClusterError::Forbidden { .. }) => return Err(error.to_string()),
                Ok(None) | Err(_) => {}
            }
        }
        match read(false).await {
            Ok(Some(text)) => Ok((Instance::Current, text)),
            Ok(None) => Err("the node keeps none of this container any more".into()),
            Err(error) => Err(error.to_string()),
        }
    }
}

/// Returns nothing where nobody waits any longer.
async fn in_time<T: Default>(read: impl Future<Output = T> + Send) -> T {
    match future::select(Box::pin(read), Box::pin(enough())).await {
        Either::Left((read, _)) => read,
        Either::Right(_) => T::default(),
    }
}

/// Comes when nobody waits any longer: when the time is up, or at Ctrl-C.
fn enough() -> impl Future<Output = ()> + Send {
    let interrupt = async {
        if tokio::signal::ctrl_c().await.is_err() {
            future::pending::<()>().await;
        }
    };
    async move {
        future::select(Box::pin(tokio::time::sleep(WITHIN)), Box::pin(interrupt)).await;
    }
}
