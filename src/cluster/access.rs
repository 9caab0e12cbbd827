//! What the caller may do, by SelfSubjectAccessReview.

use futures::stream::{self, StreamExt, TryStreamExt};
use serde_json::{Value, json};

use super::Cluster;
use super::error::ClusterError;
use super::objects::ACCESS_REVIEWS;
use engine::k8s::mask;
use engine::k8s::permissions::{AccessAnswer, Permission};

/// Questions at once.
const AT_ONCE: usize = 10;

#[derive(Debug, Clone, Copy)]
pub(super) struct Question<'a> {
    pub(super) verb: &'a str,
    pub(super) group: &'a str,
    /// As RBAC names it: `pods`, `pods/status`.
    pub(super) plural: &'a str,
    /// Empty: in all of them, or the resource is in none.
    pub(super) namespace: &'a str,
    /// One object alone, as a Role with `resourceNames` allows it.
    pub(super) name: Option<&'a str>,
}

impl Cluster {
    /// Asks about each permission, in a namespace or in all of them (`None`), and of one object alone where it is named;
    /// the answers come in the order of the permissions.
    pub async fn access(
        &self,
        permissions: Vec<Permission>,
        namespace: Option<&str>,
        name: Option<&str>,
    ) -> Result<Vec<AccessAnswer>, ClusterError> {
        let answers = permissions.into_iter().map(|permission| async move {
            let resource = permission.resource;
            let refused = self
                .refused(Question {
                    verb: permission.verb.word(),
                    group: resource.group,
                    plural: resource.plural,
                    namespace: if resource.cluster_wide { "" } else { namespace.unwrap_or_default() },
                    name,
                })
                .await?;
            Ok(AccessAnswer { permission, allowed: refused.is_none(), message: refused.unwrap_or_default() })
        });
        stream::iter(answers).buffered(AT_ONCE).try_collect().await
    }

    /// Asks whether the caller may; `None` is yes, else the server's words about the refusal, which may be empty.
    pub(super) async fn refused(&self, question: Question<'_>) -> Result<Option<String>, ClusterError> {
        let (resource, subresource) = match question.plural.split_once('/') {
            Some((resource, subresource)) => (resource, Some(subresource)),
            None => (question.plural, None),
        };
        let mut attributes = json!({
            "verb": question.verb,
            "group": question.group,
            "resource": resource,
            "namespace": question.namespace,
        });
        if let Value::Object(attributes) = &mut attributes {
            attributes.extend(question.name.map(|name| ("name".to_owned(), name.into())));
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
}
