//! `/version`, `/api`, `/apis` and the lists below them, plain and aggregated, and the access reviews.

use serde_json::{Value, json};

use super::http::{Answer, Request};
use super::resource::{RESOURCES, Resource, Target};
use super::{State, patch};

const AGGREGATED: &str = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList";

/// What is answered and not stored: group, plural, kind.
const REVIEWS: [(&str, &str, &str); 3] = [
    ("authentication.k8s.io", "selfsubjectreviews", "SelfSubjectReview"),
    ("authorization.k8s.io", "selfsubjectaccessreviews", "SelfSubjectAccessReview"),
    ("authorization.k8s.io", "selfsubjectrulesreviews", "SelfSubjectRulesReview"),
];

/// Answers what is no object; `None` if the path is none of these.
pub(crate) fn answer(state: &State, request: &Request) -> Option<Answer> {
    let aggregated = request.header("accept").is_some_and(|accept| accept.contains("as=APIGroupDiscoveryList"));
    let words: Vec<&str> = request.path.split('/').filter(|word| !word.is_empty()).collect();
    let body = match words.as_slice() {
        ["version"] => version(&state.version),
        ["healthz" | "livez" | "readyz"] => return Some(Answer::text(200, "ok")),
        ["openapi", "v3", path @ ..] if state.whole => openapi(path)?,
        ["api" | "apis"] if aggregated => {
            let body = aggregated_groups(words == ["api"], state.whole);
            return Some(Answer::json(200, body).with_header("Content-Type", AGGREGATED));
        }
        ["api"] => json!({"kind": "APIVersions", "versions": ["v1"], "serverAddressByClientCIDRs": []}),
        ["api", "v1"] => resource_list("", "v1", state.whole),
        ["apis"] => json!({"kind": "APIGroupList", "apiVersion": "v1",
            "groups": groups().iter().map(|(group, version)| group_of(group, version)).collect::<Vec<_>>()}),
        ["apis", group] => {
            let (group, version) = groups().into_iter().find(|(one, _)| one == group)?;
            group_of(group, version)
        }
        ["apis", group, version] if groups().contains(&(group, version)) => resource_list(group, version, state.whole),
        ["apis", "authorization.k8s.io", _, "selfsubjectaccessreviews"] => return Some(access_review(state, request)),
        ["apis", "authorization.k8s.io", _, "selfsubjectrulesreviews"] if state.whole => {
            return Some(rules_review(request));
        }
        ["apis", "authentication.k8s.io", version, "selfsubjectreviews"] => {
            let user = json!({"username": state.user, "groups": ["system:authenticated"]});
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

fn resource_list(group: &str, version: &str, whole: bool) -> Value {
    let mut list = Vec::new();
    for resource in RESOURCES.iter().filter(|one| one.group == group) {
        list.push(json!({"name": resource.plural, "singularName": resource.kind.to_lowercase(), "kind": resource.kind,
            "namespaced": resource.namespaced, "verbs": resource.verbs(whole), "shortNames": resource.short_names,
            "categories": resource.categories()}));
        for subresource in resource.subresources {
            let (group, version, kind) = resource.kind_of(subresource);
            let name = format!("{}/{subresource}", resource.plural);
            list.push(json!({"name": name, "singularName": "", "group": group, "version": version, "kind": kind,
                "namespaced": resource.namespaced, "verbs": resource.verbs_of(subresource)}));
        }
    }
    for (_, plural, kind) in REVIEWS.iter().filter(|(of, _, _)| *of == group) {
        list.push(json!({"name": plural, "singularName": kind.to_lowercase(), "kind": kind, "namespaced": false,
            "verbs": ["create"]}));
    }
    let group_version = if group.is_empty() { version.to_owned() } else { format!("{group}/{version}") };
    json!({"kind": "APIResourceList", "apiVersion": "v1", "groupVersion": group_version, "resources": list})
}

fn aggregated_groups(core: bool, whole: bool) -> Value {
    let wanted = if core { vec![("", "v1")] } else { groups() };
    let items: Vec<Value> = wanted
        .iter()
        .map(|(group, version)| {
            let mut resources: Vec<Value> =
                RESOURCES.iter().filter(|one| one.group == *group).map(|one| aggregated_resource(one, whole)).collect();
            for (_, plural, kind) in REVIEWS.iter().filter(|(of, _, _)| of == group) {
                resources.push(json!({"resource": plural, "scope": "Cluster", "singularResource": kind.to_lowercase(),
                    "responseKind": {"group": group, "version": version, "kind": kind}, "verbs": ["create"]}));
            }
            json!({"metadata": {"name": group}, "versions": [{"version": version, "freshness": "Current", "resources": resources}]})
        })
        .collect();
    json!({"kind": "APIGroupDiscoveryList", "apiVersion": "apidiscovery.k8s.io/v2", "metadata": {}, "items": items})
}

fn aggregated_resource(resource: &Resource, whole: bool) -> Value {
    let response = |(group, version, kind)| json!({"group": group, "version": version, "kind": kind});
    let subresources: Vec<Value> = resource
        .subresources
        .iter()
        .map(|name| {
            json!({"subresource": name, "responseKind": response(resource.kind_of(name)),
                "verbs": resource.verbs_of(name)})
        })
        .collect();
    json!({"resource": resource.plural, "responseKind": response(resource.kind_of("")),
        "scope": if resource.namespaced { "Namespaced" } else { "Cluster" },
        "singularResource": resource.kind.to_lowercase(), "verbs": resource.verbs(whole),
        "shortNames": resource.short_names, "categories": resource.categories(), "subresources": subresources})
}

/// OpenAPI v3 as far as kubectl asks for it before it writes: that PATCH takes `fieldValidation`. There are no schemas, so
/// that `kubectl explain` finds none.
fn openapi(path: &[&str]) -> Option<Value> {
    let groups = [("", "v1")].into_iter().chain(groups());
    let path_of = |group: &str, version: &str| {
        if group.is_empty() { format!("api/{version}") } else { format!("apis/{group}/{version}") }
    };
    if path.is_empty() {
        let url = |path: &str| json!({"serverRelativeURL": format!("/openapi/v3/{path}")});
        let paths = groups.map(|(group, version)| path_of(group, version)).map(|path| (path.clone(), url(&path)));
        return Some(json!({"paths": paths.collect::<serde_json::Map<_, _>>()}));
    }
    let (group, version) = groups.into_iter().find(|(group, version)| path_of(group, version) == path.join("/"))?;
    let parameters = ["dryRun", "fieldManager", "fieldValidation"]
        .map(|name| json!({"name": name, "in": "query", "schema": {"type": "string", "uniqueItems": true}}));
    let paths = RESOURCES.iter().filter(|one| one.group == group).map(|resource| {
        let middle = if resource.namespaced { "namespaces/{namespace}/" } else { "" };
        let kind = json!({"group": group, "version": version, "kind": resource.kind});
        let patch = json!({"parameters": parameters, "responses": {"200": {"description": "OK"}},
            "x-kubernetes-action": "patch", "x-kubernetes-group-version-kind": kind});
        (format!("/{}/{middle}{}/{{name}}", path_of(group, version), resource.plural), json!({"patch": patch}))
    });
    Some(
        json!({"openapi": "3.0.0", "info": {"title": "Kubernetes", "version": "v1.36.3"}, "components": {"schemas": {}},
        "paths": paths.collect::<serde_json::Map<_, _>>()}),
    )
}

/// Says yes unless a rule forbids it.
fn access_review(state: &State, request: &Request) -> Answer {
    if !state.tells_permissions {
        return super::status::failure(500, "InternalError", "the authorizer is away", Value::Null);
    }
    let mut review = patch::options(request).unwrap_or_default();
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

/// Everything is allowed.
fn rules_review(request: &Request) -> Answer {
    let mut review = patch::options(request).unwrap_or_default();
    review["status"] = json!({"incomplete": false,
        "resourceRules": [{"verbs": ["*"], "apiGroups": ["*"], "resources": ["*"]}],
        "nonResourceRules": [{"verbs": ["*"], "nonResourceURLs": ["*"]}]});
    Answer::json(201, review)
}
