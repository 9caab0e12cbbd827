//! What a plan asks of a namespace once, whatever the number of its workloads: budgets, Services, autoscalers;
//! what the caller may do there; and what a drain needs: who else selects on the pods' labels, and which pods the
//! EndpointSlices list.

use std::collections::{BTreeMap, BTreeSet};

use futures::stream::{self, StreamExt, TryStreamExt};
use serde_json::{Value, json};

use super::error::{ClusterError, Result};
use super::objects::{
    ACCESS_REVIEWS, AUTOSCALERS, BUDGETS, ENDPOINT_SLICES, NETWORK_POLICIES, Resource, SERVICES, SUBJECT_REVIEWS,
    VERTICAL_AUTOSCALERS,
};
use super::{AT_ONCE, Cluster};
use engine::k8s::mask;
use engine::k8s::permissions::{AccessAnswer, AccessVerb, Permission};
use engine::kinds::{PODS, WorkloadKind};
use engine::plan::{Snapshot, Surroundings, drains_by_gate};
use engine::rollout::drain::selects;
use engine::state::record::UpdateRecord;

#[derive(Debug, Clone, Default)]
pub struct NamespaceFacts {
    pub surroundings: Surroundings,
    /// What could not be read, and what follows from it.
    pub not_read: Vec<String>,
}

impl Cluster {
    /// Asks what bears on workloads in a namespace, everything side by side.
    ///
    /// Nothing here fails a plan: the answer names what could not be read. A kind that the server does not have is none.
    pub async fn namespace_facts(&self, namespace: &str) -> NamespaceFacts {
        let (budgets, services, autoscalers) = futures::join!(
            self.list_if_there(BUDGETS, namespace),
            self.list_if_there(SERVICES, namespace),
            self.list_if_there(AUTOSCALERS, namespace),
        );
        let mut not_read = Vec::new();
        let mut or_note = |read: Result<Vec<Value>>, what: &str, so: &str| {
            read.unwrap_or_else(|error| {
                not_read.push(format!("the {what} could not be read ({error}), so {so}"));
                Vec::new()
            })
        };
        let surroundings = Surroundings {
            budgets: or_note(budgets, "PodDisruptionBudgets", "it is not known whether one allows no pod to be down"),
            services: or_note(services, "Services", "no pod is taken out of them before it restarts (--drain)"),
            autoscalers: or_note(
                autoscalers,
                "HorizontalPodAutoscalers",
                "it is not known whether one scales meanwhile",
            ),
            ..Surroundings::default()
        };
        NamespaceFacts { surroundings, not_read }
    }

    /// Asks the server whether the caller may watch the namespace's pods, which a permitted list does not show.
    ///
    /// # Errors
    /// [`ClusterError::Forbidden`] when the answer is no. A server that does not answer is no error.
    pub async fn check_watch(&self, namespace: &str) -> Result<()> {
        let verb = AccessVerb::Watch.word();
        match self.refused(verb, ("", "pods"), namespace, None).await {
            Ok(None) | Err(_) => Ok(()),
            Ok(Some(_)) => {
                let request = Resource::from(PODS).describe(AccessVerb::Watch, Some(namespace), None);
                let message =
                    format!("pods is forbidden: you cannot watch resource \"pods\" in the namespace \"{namespace}\"");
                Err(ClusterError::Forbidden { request: Box::new(request), message })
            }
        }
    }

    pub async fn budgets(&self, namespace: &str) -> Result<Vec<Value>> {
        self.list_if_there(BUDGETS, namespace).await
    }

    /// Reads the VerticalPodAutoscalers of a namespace; none where they are not there, or may not be read.
    pub async fn vertical_autoscalers(&self, namespace: &str) -> Vec<Value> {
        self.list(VERTICAL_AUTOSCALERS, Some(namespace), &[]).await.unwrap_or_default()
    }

    /// Returns who the server takes the caller for; `None` where it does not say (servers before 1.28).
    pub async fn who_am_i(&self) -> Option<String> {
        let review = json!({"apiVersion": "authentication.k8s.io/v1", "kind": "SelfSubjectReview"});
        let answer = self.create(SUBJECT_REVIEWS, None, &review, &[]).await.ok()?;
        answer.pointer("/status/userInfo/username").and_then(Value::as_str).map(str::to_owned)
    }

    async fn list_if_there(&self, resource: Resource, namespace: &str) -> Result<Vec<Value>> {
        match self.list(resource, Some(namespace), &[]).await {
            Err(ClusterError::UnknownResource { .. } | ClusterError::NotFound { .. }) => Ok(Vec::new()),
            answer => answer,
        }
    }

    /// Asks about each permission, in a namespace or in all of them (`None`), and of one object alone where it is named;
    /// the answers come in the order of the permissions.
    pub async fn access(
        &self,
        permissions: Vec<Permission>,
        namespace: Option<&str>,
        name: Option<&str>,
    ) -> Result<Vec<AccessAnswer>> {
        let answers = permissions.into_iter().map(|permission| async move {
            let resource = permission.resource;
            let namespace = if resource.cluster_wide { "" } else { namespace.unwrap_or_default() };
            let kind = (resource.group, resource.plural);
            let refused = self.refused(permission.verb.word(), kind, namespace, name).await?;
            Ok(AccessAnswer { permission, allowed: refused.is_none(), message: refused.unwrap_or_default() })
        });
        stream::iter(answers).buffered(AT_ONCE).try_collect().await
    }

    /// Asks whether the caller may; `None` is yes, else the server's words about the refusal, which may be empty.
    ///
    /// In no namespace it is asked about all of them, and with a name about one object alone, as a Role with `resourceNames`
    /// allows it.
    async fn refused(
        &self,
        verb: &str,
        (group, plural): (&str, &str),
        namespace: &str,
        name: Option<&str>,
    ) -> Result<Option<String>> {
        let (resource, subresource) = match plural.split_once('/') {
            Some((resource, subresource)) => (resource, Some(subresource)),
            None => (plural, None),
        };
        let mut attributes = json!({"verb": verb, "group": group, "resource": resource, "namespace": namespace});
        if let Value::Object(attributes) = &mut attributes {
            attributes.extend(name.map(|name| ("name".to_owned(), name.into())));
            attributes.extend(subresource.map(|subresource| ("subresource".to_owned(), subresource.into())));
        }
        let review = json!({
            "apiVersion": "authorization.k8s.io/v1",
            "kind": "SelfSubjectAccessReview",
            "spec": { "resourceAttributes": attributes },
        });
        let answer = self.create(ACCESS_REVIEWS, None, &review, &[]).await?;
        if answer.pointer("/status/allowed").and_then(Value::as_bool) == Some(true) {
            return Ok(None);
        }
        let text = |key: &str| answer.pointer(&format!("/status/{key}")).and_then(Value::as_str).unwrap_or_default();
        let message = [text("reason"), text("evaluationError")].into_iter().find(|text| !text.is_empty());
        Ok(Some(mask::text(message.unwrap_or_default())))
    }

    pub async fn endpoint_slices(&self, namespace: &str, services: &[String]) -> Result<Vec<Value>> {
        let selector = format!("kubernetes.io/service-name in ({})", services.join(","));
        self.list(ENDPOINT_SLICES, Some(namespace), &[("labelSelector", &selector)]).await
    }

    /// Reads who else selects pods in the namespaces of workloads whose pods a Service selects: each namespace once.
    ///
    /// Nothing here fails a plan: what could not be read is named in the workload, whose pods are then not drained.
    pub async fn selecting(&self, lives: impl Iterator<Item = &mut Snapshot>) {
        let lives: Vec<&mut Snapshot> = lives.filter(|live| has_service(live)).collect();
        let namespaces: BTreeSet<String> = lives.iter().map(|live| live.workload.reference.namespace.clone()).collect();
        let reads = namespaces.into_iter().map(|namespace| async move {
            let read = self.selecting_in(&namespace).await;
            (namespace, read)
        });
        let read: BTreeMap<String, Result<Vec<Value>>> = futures::future::join_all(reads).await.into_iter().collect();
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

    /// Asks whether the caller may write the status of pods, where a readiness gate would drain them; no answer is no.
    async fn ask_for_gates(&self, live: &mut Snapshot) {
        if !drains_by_gate(live) {
            return;
        }
        let workload = &live.workload.reference;
        let name = (!workload.kind.has_template()).then_some(workload.name.as_str());
        live.surroundings.pod_status_denied = self
            .refused("patch", ("", "pods/status"), &workload.namespace, name)
            .await
            .unwrap_or_else(|why| Some(why.to_string()));
    }

    async fn selecting_in(&self, namespace: &str) -> Result<Vec<Value>> {
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
    async fn named(&self, resource: Resource, kind: &str, namespace: &str) -> Result<Vec<Value>> {
        let mut objects = self.list_if_there(resource, namespace).await?;
        for object in objects.iter_mut().filter_map(Value::as_object_mut) {
            object.insert("kind".into(), kind.into());
        }
        Ok(objects)
    }
}

/// A pod that was taken out has its Services as well.
fn has_service(live: &Snapshot) -> bool {
    live.pods.iter().any(|pod| {
        UpdateRecord::drained(pod).is_some() || live.surroundings.services.iter().any(|service| selects(service, pod))
    })
}

/// The workload itself and its ReplicaSets are the owner, not others.
fn others(live: &Snapshot, objects: &[Value]) -> Vec<Value> {
    let uid = |object: &Value| object.pointer("/metadata/uid").and_then(Value::as_str).map(str::to_owned);
    let mut own: BTreeSet<String> = live.surroundings.owned.iter().filter_map(uid).collect();
    own.insert(live.workload.uid.as_str().to_owned());
    objects.iter().filter(|object| uid(object).is_none_or(|uid| !own.contains(&uid))).cloned().collect()
}
