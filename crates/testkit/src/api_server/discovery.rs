//! `/version`, `/api`, `/apis` and the lists below them, plain and aggregated, and the access reviews.

use serde_json::{Value, json};

use super::State;
use super::http::{Answer, Request};
use super::resource::{RESOURCES, Resource, Target};

const AGGREGATED: &str = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList";
const VERBS: &[&str] = &["create", "delete", "deletecollection", "get", "list", "patch", "update", "watch"];

/// Answers what is no object; `None` if the path is none of these.
pub(crate) fn answer(state: &State, request: &Request) -> Option<Answer> {
    let aggregated = request.header("accept").is_some_and(|accept| accept.contains("as=APIGroupDiscoveryList"));
    let words: Vec<&str> = request.path.split('/').filter(|word| !word.is_empty()).collect();
    let body = match words.as_slice() {
        ["version"] => version(&state.version),
        ["healthz" | "livez" | "readyz"] => return Some(Answer::text(200, "ok")),
        ["api" | "apis"] if aggregated => {
            let body = aggregated_groups(words == ["api"]);
            return Some(Answer::json(200, body).with_header("Content-Type", AGGREGATED));
        }
        ["api"] => json!({"kind": "APIVersions", "versions": ["v1"], "serverAddressByClientCIDRs": []}),
        ["api", "v1"] => resource_list("", "v1"),
        ["apis"] => json!({"kind": "APIGroupList", "apiVersion": "v1",
            "groups": groups().iter().map(|(group, version)| group_of(group, version)).collect::<Vec<_>>()}),
        ["apis", group] => {
            let (group, version) = groups().into_iter().find(|(one, _)| one == group)?;
            group_of(group, version)
        }
        ["apis", group, version] if groups().contains(&(group, version)) => resource_list(group, version),
        ["apis", "authorization.k8s.io", _, "selfsubjectaccessreviews"] => return Some(access_review(state, request)),
        ["apis", "authentication.k8s.io", version, "selfsubjectreviews"] => {
            let user = json!({"username": super::faults::USER, "groups": ["system:authenticated"]});
            let api_version = format!("authentication.k8s.io/{version}");
            let body = json!({"kind": "SelfSubjectReview", "apiVersion": api_version, "status": {"userInfo": user}});
            return Some(Answer::json(201, body));
        }
        _ => return None,
    };
    Some(Answer::json(200, body))
}

fn version(git_version: &str) -> Value {
    let mut numbers = git_version.trim_start_matches('v').split('.');
    let (major, minor) = (numbers.next().unwrap_or_default(), numbers.next().unwrap_or_default());
    json!({"major": major, "minor": minor, "gitVersion": git_version, "gitCommit": "", "gitTreeState": "",
        "buildDate": "1970-01-01T00:00:00Z", "goVersion": "go1.26.8", "compiler": "gc", "platform": "linux/amd64"})
}

fn groups() -> Vec<(&'static str, &'static str)> {
    let mut groups: Vec<_> = RESOURCES.iter().map(|one| (one.group, one.version)).collect();
    groups.extend([("authorization.k8s.io", "v1"), ("authentication.k8s.io", "v1")]);
    groups.retain(|(group, _)| !group.is_empty());
    groups.dedup();
    groups
}

fn group_of(group: &str, version: &str) -> Value {
    let version = json!({"groupVersion": format!("{group}/{version}"), "version": version});
    json!({"kind": "APIGroup", "apiVersion": "v1", "name": group, "versions": [version], "preferredVersion": version})
}

fn resource_list(group: &str, version: &str) -> Value {
    let mut list = Vec::new();
    for resource in RESOURCES.iter().filter(|one| one.group == group) {
        list.push(json!({"name": resource.plural, "singularName": resource.kind.to_lowercase(), "kind": resource.kind,
            "namespaced": resource.namespaced, "verbs": VERBS, "shortNames": resource.short_names}));
        for subresource in resource.subresources {
            let name = format!("{}/{subresource}", resource.plural);
            list.push(json!({"name": name, "singularName": "", "kind": resource.kind,
                "namespaced": resource.namespaced, "verbs": ["get", "patch", "update"]}));
        }
    }
    let group_version = if group.is_empty() { version.to_owned() } else { format!("{group}/{version}") };
    json!({"kind": "APIResourceList", "apiVersion": "v1", "groupVersion": group_version, "resources": list})
}

fn aggregated_groups(core: bool) -> Value {
    let wanted = if core { vec![("", "v1")] } else { groups() };
    let items: Vec<Value> = wanted
        .iter()
        .map(|(group, version)| {
            let resources: Vec<Value> =
                RESOURCES.iter().filter(|one| one.group == *group).map(aggregated_resource).collect();
            json!({"metadata": {"name": group}, "versions": [{"version": version, "freshness": "Current", "resources": resources}]})
        })
        .collect();
    json!({"kind": "APIGroupDiscoveryList", "apiVersion": "apidiscovery.k8s.io/v2", "metadata": {}, "items": items})
}

fn aggregated_resource(resource: &Resource) -> Value {
    let kind = json!({"group": resource.group, "version": resource.version, "kind": resource.kind});
    let subresources: Vec<Value> = resource
        .subresources
        .iter()
        .map(|name| json!({"subresource": name, "responseKind": kind, "verbs": ["get", "patch", "update"]}))
        .collect();
    json!({"resource": resource.plural, "responseKind": kind,
        "scope": if resource.namespaced { "Namespaced" } else { "Cluster" },
        "singularResource": resource.kind.to_lowercase(), "verbs": VERBS, "shortNames": resource.short_names,
        "subresources": subresources})
}

/// Says yes unless a rule forbids it.
fn access_review(state: &State, request: &Request) -> Answer {
    if !state.tells_permissions {
        return super::status::failure(500, "InternalError", "the authorizer is away", Value::Null);
    }
    let mut review: Value = serde_json::from_slice(&request.body).unwrap_or_default();
    let asked = review["spec"]["resourceAttributes"].clone();
    let text = |field: &str| asked[field].as_str().unwrap_or_default().to_owned();
    let allowed = Resource::of_plural(&text("resource")).is_none_or(|resource| {
        let target =
            Target { resource, namespace: text("namespace"), name: text("name"), subresource: text("subresource") };
        state.faults.allows(&text("verb"), &target)
    });
    review["status"] = json!({ "allowed": allowed });
    Answer::json(201, review)
}
