//! What a request was about, in the words of Kubernetes' authorizers.

use std::fmt;

use engine::k8s::permissions::AccessVerb;
use engine::value::hint::{Spoken, kubectl};

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RequestDescription {
    pub verb: AccessVerb,
    /// The resource: plural, with its group unless it is the core group (`pods`, `deployments.apps`).
    pub resource: String,
    /// The subresource, such as `resize`.
    pub subresource: Option<String>,
    /// The namespace; `None` for cluster-wide requests.
    pub namespace: Option<String>,
    /// The object's name; `None` for lists, watches and generated names.
    pub name: Option<String>,
}

impl RequestDescription {
    /// Describes a request on a resource as a whole; the other fields are empty.
    pub fn new(verb: AccessVerb, resource: &str) -> Self {
        Self { verb, resource: resource.to_owned(), subresource: None, namespace: None, name: None }
    }

    #[must_use]
    pub fn in_namespace(mut self, namespace: &str) -> Self {
        self.namespace = Some(namespace.to_owned());
        self
    }

    #[must_use]
    pub fn named(mut self, name: &str) -> Self {
        self.name = Some(name.to_owned());
        self
    }

    #[must_use]
    pub fn subresource(mut self, subresource: &str) -> Self {
        self.subresource = Some(subresource.to_owned());
        self
    }

    /// Gives the command that asks the server whether the caller may do this.
    pub fn can_i(&self) -> Spoken {
        let name = self.name.as_ref().map(|name| format!("/{name}")).unwrap_or_default();
        let command = kubectl("auth can-i").and(self.verb.word()).of(format!("{}{name}", self.resource));
        let command = match &self.subresource {
            Some(subresource) => command.of(format!("--subresource={subresource}")),
            None => command,
        };
        match &self.namespace {
            Some(namespace) => command.of(format!("--namespace={namespace}")),
            None => command.and("--all-namespaces"),
        }
    }

    /// Gives the resource with its subresource, as roles spell it (`pods/resize`).
    pub(super) fn full_resource(&self) -> String {
        match &self.subresource {
            Some(subresource) => format!("{}/{subresource}", self.resource),
            None => self.resource.clone(),
        }
    }
}

impl fmt::Display for RequestDescription {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.verb.word(), self.full_resource())?;
        if let Some(name) = &self.name {
            write!(f, " \"{name}\"")?;
        }
        if let Some(namespace) = &self.namespace {
            write!(f, " in namespace \"{namespace}\"")?;
        }
        Ok(())
    }
}
