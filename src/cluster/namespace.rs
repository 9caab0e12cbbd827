//! What a plan asks of a namespace once, whatever the number of its workloads: budgets, Services, autoscalers.

use serde_json::{Value, json};

use super::Cluster;
use super::access::Question;
use super::error::{ClusterError, RequestDescription};
use super::objects::{AUTOSCALERS, BUDGETS, Resource, SERVICES, SUBJECT_REVIEWS, VERTICAL_AUTOSCALERS};
use engine::k8s::permissions::AccessVerb;
use engine::plan::Surroundings;

#[derive(Debug, Clone, Default)]
pub struct NamespaceFacts {
    /// Budgets, Services, autoscalers.
    pub surroundings: Surroundings,
    /// What could not be read, and what follows from it.
    pub not_read: Vec<String>,
}

impl Cluster {
    /// Asks what bears on workloads in a namespace, everything side by side.
    ///
    /// Nothing here fails a plan: what could not be read is named in the answer. A kind that the server does not have is
    /// none.
    pub async fn namespace_facts(&self, namespace: &str) -> NamespaceFacts {
        let (budgets, services, autoscalers) = futures::join!(
            self.list_if_there(BUDGETS, namespace),
            self.list_if_there(SERVICES, namespace),
            self.list_if_there(AUTOSCALERS, namespace),
        );
        let mut facts = NamespaceFacts::default();
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

    /// Asks the server whether the caller may watch the namespace's pods, which a permitted list does not show.
    ///
    /// # Errors
    /// [`ClusterError::Forbidden`] when the answer is no. A server that does not answer is no error.
    pub async fn check_watch(&self, namespace: &str) -> Result<(), ClusterError> {
        let verb = AccessVerb::Watch.word();
        match self.refused(Question { verb, group: "", plural: "pods", namespace, name: None }).await {
            Ok(None) | Err(_) => Ok(()),
            Ok(Some(_)) => {
                let request = RequestDescription::new(AccessVerb::Watch, "pods").in_namespace(namespace);
                let message =
                    format!("pods is forbidden: you cannot watch resource \"pods\" in the namespace \"{namespace}\"");
                Err(ClusterError::Forbidden { request: Box::new(request), message })
            }
        }
    }

    pub async fn budgets(&self, namespace: &str) -> Result<Vec<Value>, ClusterError> {
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

    pub(super) async fn list_if_there(&self, resource: Resource, namespace: &str) -> Result<Vec<Value>, ClusterError> {
        match self.list(resource, Some(namespace), &[]).await {
            Err(ClusterError::UnknownResource { .. } | ClusterError::NotFound { .. }) => Ok(Vec::new()),
            answer => answer,
        }
    }
}
