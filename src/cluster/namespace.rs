//! What a plan asks of a namespace once, whatever the number of its workloads: permissions, budgets, autoscalers.

use serde_json::{Value, json};

use super::Cluster;
use super::access::Question;
use super::error::{ClusterError, RequestDescription, Verb};
use super::objects::{AUTOSCALERS, BUDGETS, Resource, SERVICES, SUBJECT_REVIEWS};
use crate::engine::plan::{Denied, Surroundings};

/// What an update of pods needs.
const POD_VERBS: [&str; 4] = ["get", "list", "watch", "patch"];

/// What a namespace says about every workload in it.
#[derive(Debug, Clone, Default)]
pub struct NamespaceFacts {
    /// Budgets, autoscalers, missing permissions.
    pub surroundings: Surroundings,
    /// What could not be read, and what follows from it.
    pub not_read: Vec<String>,
}

impl Cluster {
    /// Asks what bears on workloads in a namespace, everything side by side. `pod` narrows the permissions to one pod by
    /// name, as a Role with `resourceNames` does.
    ///
    /// Nothing here fails a plan: what could not be read is named in the answer. A kind that the server does not have is
    /// none.
    pub async fn namespace_facts(&self, namespace: &str, pod: Option<&str>) -> NamespaceFacts {
        let reviews = POD_VERBS.map(|verb| self.may(verb, namespace, pod));
        let (reviews, budgets, services, autoscalers) = futures::join!(
            futures::future::join_all(reviews),
            self.list_if_there(BUDGETS, namespace),
            self.list_if_there(SERVICES, namespace),
            self.list_if_there(AUTOSCALERS, namespace),
        );
        let mut facts = NamespaceFacts::default();
        let mut unreviewed = None;
        for review in reviews {
            match review {
                Ok(denied) => facts.surroundings.denied.extend(denied),
                Err(error) => unreviewed = Some(error),
            }
        }
        if let Some(error) = unreviewed {
            facts.not_read.push(format!(
                "the server does not say what you may do ({error}), so a missing permission shows only when it is needed"
            ));
        }
        match budgets {
            Ok(budgets) => facts.surroundings.budgets = budgets,
            Err(error) => facts.not_read.push(format!(
                "the PodDisruptionBudgets could not be read ({error}), so it is not known whether one allows no pod to be down"
            )),
        }
        match services {
            Ok(services) => facts.surroundings.services = services,
            Err(error) => facts.not_read.push(format!(
                "the Services could not be read ({error}), so no pod is taken out of them before it restarts (--drain)"
            )),
        }
        match autoscalers {
            Ok(autoscalers) => facts.surroundings.autoscalers = autoscalers,
            Err(error) => facts.not_read.push(format!(
                "the HorizontalPodAutoscalers could not be read ({error}), so it is not known whether one scales meanwhile"
            )),
        }
        facts
    }

    /// Asks the server whether the caller may watch the namespace's pods, which a list and its rights do not tell.
    ///
    /// # Errors
    /// [`ClusterError::Forbidden`] when the answer is no. A server that does not tell is no error.
    pub async fn check_watch(&self, namespace: &str) -> Result<(), ClusterError> {
        match self.may(Verb::Watch.as_str(), namespace, None).await {
            Ok(None) | Err(_) => Ok(()),
            Ok(Some(_)) => {
                let request = RequestDescription::new(Verb::Watch, "pods").in_namespace(namespace);
                let message =
                    format!("pods is forbidden: you cannot watch resource \"pods\" in the namespace \"{namespace}\"");
                Err(ClusterError::Forbidden { request: Box::new(request), message })
            }
        }
    }

    /// Reads the PodDisruptionBudgets of a namespace.
    ///
    /// # Errors
    /// What the server or the way to it says.
    pub async fn budgets(&self, namespace: &str) -> Result<Vec<Value>, ClusterError> {
        self.list_if_there(BUDGETS, namespace).await
    }

    /// Returns who the server takes the caller for; `None` where it does not say (servers before 1.28).
    pub async fn who_am_i(&self) -> Option<String> {
        let review = json!({"apiVersion": "authentication.k8s.io/v1", "kind": "SelfSubjectReview"});
        let answer = self.review(SUBJECT_REVIEWS, &review).await.ok()?;
        answer.pointer("/status/userInfo/username").and_then(Value::as_str).map(str::to_owned)
    }

    pub(super) async fn list_if_there(&self, resource: Resource, namespace: &str) -> Result<Vec<Value>, ClusterError> {
        match self.list(resource, Some(namespace), &[]).await {
            Err(ClusterError::UnknownResource { .. } | ClusterError::NotFound { .. }) => Ok(Vec::new()),
            answer => answer,
        }
    }

    /// Asks whether the caller may do something to pods; `None` is yes.
    async fn may(&self, verb: &str, namespace: &str, pod: Option<&str>) -> Result<Option<Denied>, ClusterError> {
        let question = Question { verb, group: "", plural: "pods", namespace, name: pod };
        let denied = |message| Denied { verb: verb.into(), resource: "pods".into(), message };
        Ok(self.refused(question).await?.map(denied))
    }
}
