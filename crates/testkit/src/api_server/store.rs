//! The model's store by the keys of the API.

use serde_json::Value;

use super::resource::{Resource, Target};
use crate::api_model;

/// Where an object lives.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Key {
    pub group: &'static str,
    pub plural: &'static str,
    pub namespace: String,
    pub name: String,
}

impl Key {
    /// Returns the key of an object of a kind.
    pub fn new(resource: &Resource, namespace: &str, name: &str) -> Self {
        let namespace = if resource.namespaced { namespace } else { "" };
        Self { group: resource.group, plural: resource.plural, namespace: namespace.to_owned(), name: name.to_owned() }
    }

    /// Tells whether the key lies in the collection of a target.
    pub fn within(&self, target: &Target) -> bool {
        (self.group, self.plural) == (target.resource.group, target.resource.plural)
            && (target.namespace.is_empty() || target.namespace == self.namespace)
    }
}

/// One write.
pub(crate) type Change = api_model::Change<Key, Value, ()>;

/// Objects and their history.
pub(crate) type Store = api_model::Store<Key, Value, ()>;
