//! What a drain needs of the cluster: who else selects on the pods' labels, and which pods the EndpointSlices list.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use super::Cluster;
use super::access::Question;
use super::error::ClusterError;
use super::objects::{ENDPOINT_SLICES, NETWORK_POLICIES, Resource};
use engine::kinds::WorkloadKind;
use engine::plan::{LiveWorkload, drains_by_gate};
use engine::rollout::drain::selects;
use engine::state::record::UpdateRecord;

impl Cluster {
    pub async fn endpoint_slices(&self, namespace: &str, services: &[String]) -> Result<Vec<Value>, ClusterError> {
        let selector = format!("kubernetes.io/service-name in ({})", services.join(","));
        self.list(ENDPOINT_SLICES, Some(namespace), &[("labelSelector", &selector)]).await
    }

    /// Reads who else selects pods in the namespaces of workloads whose pods a Service selects: each namespace once.
    ///
    /// Nothing here fails a plan: what could not be read is named in the workload, whose pods are then not drained.
    pub async fn selecting(&self, lives: impl Iterator<Item = &mut LiveWorkload>) {
        let lives: Vec<&mut LiveWorkload> = lives.filter(|live| has_service(live)).collect();
        let namespaces: BTreeSet<String> = lives.iter().map(|live| live.workload.reference.namespace.clone()).collect();
        let reads = namespaces.into_iter().map(|namespace| async move {
            let read = self.selecting_in(&namespace).await;
            (namespace, read)
        });
        let read: BTreeMap<String, Result<Vec<Value>, ClusterError>> =
            futures::future::join_all(reads).await.into_iter().collect();
        for live in lives {
            match read.get(&live.workload.reference.namespace) {
                Some(Ok(objects)) => {
                    live.surroundings.selecting = Some(others(live, objects));
                    self.ask_for_gates(live).await;
                }
                Some(Err(error)) => live.not_read.push(format!(
                    "it could not be read who else selects the pods ({error}), so none is taken out of its Services before it restarts (--drain)"
                )),
                None => {}
            }
        }
    }

    /// Asks whether the caller may write the status of pods, where a pod would be drained by a readiness gate. A server that
    /// does not say leaves the gates alone.
    async fn ask_for_gates(&self, live: &mut LiveWorkload) {
        if !drains_by_gate(live) {
            return;
        }
        let workload = &live.workload.reference;
        let name = (!workload.kind.has_template()).then_some(workload.name.as_str());
        let question =
            Question { verb: "patch", group: "", plural: "pods/status", namespace: &workload.namespace, name };
        live.surroundings.pod_status_denied =
            self.refused(question).await.unwrap_or_else(|error| Some(error.to_string()));
    }

    async fn selecting_in(&self, namespace: &str) -> Result<Vec<Value>, ClusterError> {
        let workloads = WorkloadKind::selecting().map(|kind| self.named(kind.into(), kind.spec().kind, namespace));
        let (workloads, policies, slices) = futures::join!(
            futures::future::join_all(workloads),
            self.named(NETWORK_POLICIES, "NetworkPolicy", namespace),
            // A caller that may not read these would wait in vain.
            self.list::<Value>(ENDPOINT_SLICES, Some(namespace), &[("labelSelector", "kubernetes.io/service-name=")]),
        );
        slices?;
        let mut objects = policies?;
        for of_kind in workloads {
            objects.extend(of_kind?);
        }
        Ok(objects)
    }

    /// The items of a list have no kind.
    async fn named(&self, resource: Resource, kind: &str, namespace: &str) -> Result<Vec<Value>, ClusterError> {
        let mut objects = self.list_if_there(resource, namespace).await?;
        for object in objects.iter_mut().filter_map(Value::as_object_mut) {
            object.insert("kind".into(), kind.into());
        }
        Ok(objects)
    }
}

/// A pod that was taken out has its Services as well.
fn has_service(live: &LiveWorkload) -> bool {
    live.pods.iter().any(|pod| {
        UpdateRecord::drained(pod).is_some() || live.surroundings.services.iter().any(|service| selects(service, pod))
    })
}

/// The workload itself and its ReplicaSets are the owner, not others.
fn others(live: &LiveWorkload, objects: &[Value]) -> Vec<Value> {
    let uid = |object: &Value| object.pointer("/metadata/uid").and_then(Value::as_str).map(str::to_owned);
    let mut own: BTreeSet<String> = live.surroundings.owned.iter().filter_map(uid).collect();
    own.insert(live.workload.uid.as_str().to_owned());
    objects.iter().filter(|object| uid(object).is_none_or(|uid| !own.contains(&uid))).cloned().collect()
}
