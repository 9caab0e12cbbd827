//! Which types of resources a server has, for a word that names no workload.

use http::Request;
use serde_json::Value;

use super::Cluster;
use super::error::{RequestDescription, Result};
use engine::k8s::permissions::AccessVerb;

/// Asks for every group with its resources at once, as servers from 1.26 on answer it.
const AGGREGATED: &str = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList,\
                          application/json;g=apidiscovery.k8s.io;v=v2beta1;as=APIGroupDiscoveryList,application/json";

impl Cluster {
    /// Returns whether the server has a type of resources under a name that kubectl takes: plural, singular, kind or short
    /// name, with or without its group; `None` where that cannot be known.
    pub async fn has_type(&self, word: &str) -> Option<bool> {
        let (core, groups) = futures::join!(self.groups("/api"), self.groups("/apis"));
        let (core, groups) = (core.ok()?, groups.ok()?);
        let is_complete = [&core, &groups].into_iter().all(is_complete);
        let is_there = [&core, &groups].into_iter().any(|groups| has(groups, word));
        if is_there { Some(true) } else { is_complete.then_some(false) }
    }

    async fn groups(&self, path: &str) -> Result<Value> {
        let what = RequestDescription::new(AccessVerb::List, "the types of resources");
        let request = Request::get(path).header(http::header::ACCEPT, AGGREGATED);
        self.request(request, Vec::new(), &what).await
    }
}

/// Whether a list has the resources of every group: older servers list groups alone, and a broken aggregated API is `Stale`.
fn is_complete(groups: &Value) -> bool {
    let is_whole = |group: &Value| {
        versions(group).all(|version| version.get("freshness").and_then(Value::as_str) != Some("Stale"))
    };
    groups.get("kind").and_then(Value::as_str) == Some("APIGroupDiscoveryList") && items(groups, "items").all(is_whole)
}

fn items<'a>(value: &'a Value, name: &str) -> impl Iterator<Item = &'a Value> {
    value.get(name).and_then(Value::as_array).into_iter().flatten()
}

fn versions(group: &Value) -> impl Iterator<Item = &Value> {
    items(group, "versions")
}

fn has(groups: &Value, word: &str) -> bool {
    let word = word.to_lowercase();
    // `deployments.apps`, `deployments.v1.apps`.
    let (name, group) = word.split_once('.').unwrap_or((&word, ""));
    items(groups, "items").any(|found| {
        let of = found.pointer("/metadata/name").and_then(Value::as_str).unwrap_or_default();
        versions(found).any(|version| {
            let number = version.get("version").and_then(Value::as_str).unwrap_or_default();
            let is_its_group = group.is_empty() || group == of || group.strip_prefix(number) == Some(&format!(".{of}"));
            is_its_group && items(version, "resources").any(|resource| is_called(resource, name))
        })
    })
}

fn is_called(resource: &Value, name: &str) -> bool {
    let single = ["/resource", "/singularResource", "/responseKind/kind"];
    let names = single.into_iter().filter_map(|path| resource.pointer(path)).chain(items(resource, "shortNames"));
    names.filter_map(Value::as_str).any(|known| known.to_lowercase() == name)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn groups(freshness: &str) -> Value {
        let rollouts = json!({"resource": "rollouts", "singularResource": "rollout", "shortNames": ["ro"],
            "responseKind": {"group": "argoproj.io", "version": "v1alpha1", "kind": "Rollout"}});
        let version = json!({"version": "v1alpha1", "freshness": freshness, "resources": [rollouts]});
        json!({"kind": "APIGroupDiscoveryList", "items": [{"metadata": {"name": "argoproj.io"}, "versions": [version]}]})
    }

    #[test]
    fn a_type_is_found_under_every_name_that_kubectl_takes() {
        for word in ["rollouts", "rollout", "ro", "Rollout", "rollouts.argoproj.io", "ro.v1alpha1.argoproj.io"] {
            assert!(has(&groups("Current"), word), "{word}");
        }
        for word in ["roll", "rollouts.apps", "rollouts.v1.argoproj.io", "", "argoproj.io"] {
            assert!(!has(&groups("Current"), word), "{word}");
        }
    }

    #[test]
    fn what_is_not_listed_is_not_known_to_be_missing() {
        assert!(is_complete(&groups("Current")));
        assert!(!is_complete(&groups("Stale")));
        assert!(!is_complete(&json!({"kind": "APIGroupList", "groups": []})), "before 1.26");
    }
}
