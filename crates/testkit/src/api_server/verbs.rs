//! GET, LIST, POST, PUT, PATCH and DELETE on the store, as the generic registry carries them out.

use std::sync::Arc;

use serde::{Serialize, Serializer};
use serde_json::{Map, Value, json};

use super::http::{Answer, Body, Request};
use super::managed_fields::{self, Writer};
use super::resource::{Resource, Target};
use super::selector::Selector;
use super::store::Key;
use super::table::{Form, table};
use super::{State, cluster, defaults, logs, patch, shape, status, validate};
use crate::api_model::{self, Cause, Precondition, Refused, copy_field};
use crate::clock;
use crate::controllers::fields::{is_terminating, number};

/// A request whose path names a kind.
pub(crate) struct Call<'a> {
    pub verb: &'static str,
    pub target: Target,
    pub request: &'a Request,
}

impl Call<'_> {
    /// Returns the verb as RBAC names it.
    pub(crate) fn verb_of(request: &Request, target: &Target) -> &'static str {
        let watch = request.parameter("watch").is_some_and(|value| value == "true" || value == "1");
        match (request.method.as_str(), target.name.is_empty()) {
            ("GET", _) if watch => "watch",
            ("GET", true) => "list",
            ("GET", false) => "get",
            ("POST", is_collection) if is_collection || !target.subresource.is_empty() => "create",
            ("PATCH", _) => "patch",
            ("DELETE", true) => "deletecollection",
            ("DELETE", false) => "delete",
            ("PUT", false) => "update",
            _ => "none",
        }
    }

    /// Reads both selectors of the query.
    pub(crate) fn selector(&self) -> Result<Selector, Answer> {
        let parameter = |name| self.request.parameter(name).unwrap_or_default();
        Selector::parse(parameter("labelSelector"), parameter("fieldSelector")).map_err(|why| status::bad_request(&why))
    }

    pub(crate) fn key(&self) -> Key {
        Key::new(self.target.resource, &self.target.namespace, &self.target.name)
    }

    /// Returns the object of the path.
    pub(crate) fn live(&self, state: &State) -> Result<Arc<Value>, Answer> {
        let missing = || status::refused(self.target.resource, &self.target.name, &Refused::NotFound);
        state.store.get(&self.key()).cloned().ok_or_else(missing)
    }

    /// Returns the field manager: the parameter, else the first word of the user agent, as the server derives it.
    fn writer(&self) -> Writer {
        let agent = self.request.header("user-agent").unwrap_or("unknown");
        let derived = agent.split('/').next().unwrap_or(agent);
        let manager = self.request.parameter("fieldManager").unwrap_or(derived);
        let subresource = self.target.subresource.clone();
        Writer { manager: manager.to_owned(), subresource }
    }
}

/// Carries out a request; both arms are answers.
pub(crate) fn execute(state: &mut State, call: &Call<'_>) -> Result<Answer, Answer> {
    let (resource, subresource) = (call.target.resource, call.target.subresource.as_str());
    if !subresource.is_empty() && !resource.subresources.contains(&subresource) {
        let message = "the server could not find the requested resource";
        return Err(status::failure(404, "NotFound", message, json!({})));
    }
    let verbs = if subresource.is_empty() { resource.verbs(state.whole) } else { resource.verbs_of(subresource) };
    if !verbs.contains(&call.verb) {
        let message = "the server does not allow this method on the requested resource";
        return Err(status::failure(405, "MethodNotAllowed", message, json!({})));
    }
    match (call.verb, subresource) {
        ("get", "log") => logs::answer(state, call),
        (_, "scale") => scale(state, call),
        ("list", _) => list(state, call),
        ("create", "eviction") => evict(state, call),
        ("create", _) => create(state, call),
        ("patch", _) => patch_object(state, call),
        ("update", _) => replace(state, call),
        ("delete", _) => delete(state, call),
        ("deletecollection", _) => delete_collection(state, call),
        (_, _) => {
            let object = call.live(state)?;
            Ok(match Form::of(call.request) {
                Form::Objects => Answer::json(200, object),
                Form::Table(include) => {
                    let metadata = json!({"resourceVersion": object["metadata"]["resourceVersion"]});
                    Answer::json(200, table(resource, [&*object], &metadata, include, true))
                }
            })
        }
    }
}

fn list(state: &State, call: &Call<'_>) -> Result<Answer, Answer> {
    let selector = call.selector()?;
    let resource = call.target.resource;
    let limit: usize = call.request.parameter("limit").and_then(|limit| limit.parse().ok()).unwrap_or(0);
    let mut revision = state.store.version();
    let mut rows = state.listed(&call.target, &selector);
    if let Some(token) = call.request.parameter("continue").filter(|token| !token.is_empty()) {
        // REVISION:NAMESPACE:NAME of the last object that was sent; the real token is opaque.
        let words: Vec<&str> = token.splitn(3, ':').collect();
        let [from, namespace, name] = words.as_slice() else {
            return Err(status::bad_request("invalid continue token: continue key is not valid"));
        };
        revision = from.parse().map_err(|_| status::bad_request("invalid continue token"))?;
        if revision < state.store.compacted() {
            let message = "The provided continue parameter is too old to display a consistent list result. You can \
                start a new list without the continue parameter.";
            return Err(status::expired(message));
        }
        rows.retain(|(key, _)| (key.namespace.as_str(), key.name.as_str()) > (*namespace, *name));
    }
    let mut metadata = json!({"resourceVersion": revision.to_string()});
    if limit > 0 && rows.len() > limit {
        metadata["remainingItemCount"] = (rows.len() - limit).into();
        rows.truncate(limit);
        if let Some((key, _)) = rows.last() {
            metadata["continue"] = format!("{revision}:{}:{}", key.namespace, key.name).into();
        }
    }
    if let Form::Table(include) = Form::of(call.request) {
        let objects = rows.iter().map(|(_, object)| &**object);
        return Ok(Answer::json(200, table(resource, objects, &metadata, include, true)));
    }
    let (kind, api_version) = (format!("{}List", resource.kind), resource.api_version());
    let items = rows.iter().map(|(_, object)| Item(object)).collect();
    let list = List { kind, api_version, metadata, items };
    let text = serde_json::to_string(&list).expect("it is JSON");
    Ok(Answer { code: 200, headers: Vec::new(), body: Body::List(text + "\n") })
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct List<'a> {
    kind: String,
    api_version: String,
    metadata: Value,
    items: Vec<Item<'a>>,
}

/// An object as a list has it: without its kind.
struct Item<'a>(&'a Value);

impl Serialize for Item<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let fields = self.0.as_object().into_iter().flatten();
        serializer.collect_map(fields.filter(|(key, _)| !matches!(key.as_str(), "kind" | "apiVersion")))
    }
}

fn create(state: &mut State, call: &Call<'_>) -> Result<Answer, Answer> {
    let object = patch::body(call.request)?;
    create_object(state, call, object)
}

fn create_object(state: &mut State, call: &Call<'_>, mut object: Value) -> Result<Answer, Answer> {
    let resource = call.target.resource;
    shape::check(call.verb, resource, &object)?;
    let name = object.pointer("/metadata/name").and_then(Value::as_str).map(ToOwned::to_owned);
    let prefix = object.pointer("/metadata/generateName").and_then(Value::as_str).map(ToOwned::to_owned);
    let name = match (name, prefix) {
        (Some(name), _) => name,
        (None, Some(prefix)) => format!("{prefix}{:05x}", state.store.next_serial()),
        (None, None) => {
            let message = "Required value: name or generateName is required".to_owned();
            let cause = Cause { reason: "FieldValueRequired", field: "metadata.name".to_owned(), message };
            return Err(status::refused(resource, "", &Refused::Invalid(vec![cause])));
        }
    };
    let key = Key::new(resource, &call.target.namespace, &name);
    cluster::admits_namespace(state, resource, &key)?;
    if state.store.get(&key).is_some() {
        return Err(status::refused(resource, &name, &Refused::AlreadyExists));
    }
    validate::create(resource, &key, &object)?;
    object = state.as_created(resource, &key, object, &call.writer());
    if call.request.is_dry_run() {
        return Ok(Answer::json(201, object));
    }
    Ok(Answer::json(201, state.commit(&key, object)))
}

fn patch_object(state: &mut State, call: &Call<'_>) -> Result<Answer, Answer> {
    let resource = call.target.resource;
    let (key, writer) = (call.key(), call.writer());
    let content_type = call.request.header("content-type").unwrap_or_default();
    let is_apply = content_type.starts_with("application/apply-patch");
    if is_apply && call.request.parameter("fieldManager").is_none_or(str::is_empty) {
        let message =
            "PatchOptions.meta.k8s.io \"\" is invalid: fieldManager: Required value: is required for apply patch";
        return Err(status::failure(422, "Invalid", message, json!({"group": "meta.k8s.io", "kind": "PatchOptions"})));
    }
    let Some(live) = state.store.get(&key).cloned() else {
        if !is_apply {
            return Err(status::refused(resource, &call.target.name, &Refused::NotFound));
        }
        let empty = json!({"apiVersion": resource.api_version(), "kind": resource.kind, "metadata": {"name": call.target.name}});
        let object = patch::apply(content_type, &empty, &call.request.body, &writer, true)?;
        return create_object(state, call, object);
    };
    let force = call.request.parameter("force").is_some_and(|value| value == "true");
    let next = patch::apply(content_type, &live, &call.request.body, &writer, force)?;
    write(state, call, &live, next, is_apply)
}

/// PUT.
fn replace(state: &mut State, call: &Call<'_>) -> Result<Answer, Answer> {
    let live = call.live(state)?;
    let mut next = patch::body(call.request)?;
    for field in ["kind", "apiVersion"] {
        copy_field(&live, &mut next, &[], field);
    }
    if api_model::at(&next, &["metadata", "managedFields"]).is_null() {
        copy_field(&live, &mut next, &["metadata"], "managedFields");
    }
    write(state, call, &live, next, false)
}

/// Stores what a client has made of an object, if it may.
fn write(state: &mut State, call: &Call<'_>, live: &Value, mut next: Value, applied: bool) -> Result<Answer, Answer> {
    let (resource, writer) = (call.target.resource, call.writer());
    shape::check(call.verb, resource, &next)?;
    api_model::keep(resource.kind, writer.part(), live, &mut next);
    defaults::fill(&mut next);
    if call.target.subresource == "resize" {
        validate::resize(resource, (live, &next), state.allocatable(live), state.minor())?;
    } else {
        validate::update(resource, live, &next)?;
    }
    if call.target.subresource.is_empty() {
        state.mirror(resource, &mut next, "UPDATE");
    }
    finish_update(live, &mut next, &writer, applied, &resource.api_version());
    if call.request.is_dry_run() {
        copy_field(live, &mut next, &["metadata"], "resourceVersion");
        return Ok(Answer::json(200, next));
    }
    let stored = state.commit(&call.key(), next);
    if is_free_to_go(resource, &stored) {
        state.remove(&call.key());
    }
    Ok(Answer::json(200, stored))
}

/// The last finalizer is gone from an object that is to be deleted.
fn is_free_to_go(resource: &Resource, object: &Value) -> bool {
    let waits = |field: &str| api_model::at(object, &["metadata", field]).as_array().is_some_and(|all| !all.is_empty());
    is_terminating(object) && resource.kind != "Pod" && resource.kind != "Namespace" && !waits("finalizers")
}

/// The scale subresource: the number of pods alone.
fn scale(state: &mut State, call: &Call<'_>) -> Result<Answer, Answer> {
    let live = call.live(state)?;
    let writer = call.writer();
    let of = |object: &Value| {
        let metadata = ["name", "namespace", "uid", "resourceVersion", "creationTimestamp"];
        let metadata: Map<String, Value> =
            metadata.iter().map(|field| ((*field).to_owned(), object["metadata"][field].clone())).collect();
        let selector = api_model::at(object, &["spec", "selector", "matchLabels"]).as_object();
        let terms = selector.into_iter().flatten();
        let terms: Vec<String> =
            terms.map(|(key, value)| format!("{key}={}", value.as_str().unwrap_or_default())).collect();
        json!({"kind": "Scale", "apiVersion": "autoscaling/v1", "metadata": metadata,
            "spec": {"replicas": object["spec"]["replicas"]},
            "status": {"replicas": number(object, &["status", "replicas"]), "selector": terms.join(",")}})
    };
    if call.verb == "get" {
        return Ok(Answer::json(200, of(&live)));
    }
    let asked = if call.verb == "patch" {
        let content_type = call.request.header("content-type").unwrap_or_default();
        patch::apply(content_type, &of(&live), &call.request.body, &writer, true)?
    } else {
        patch::body(call.request)?
    };
    let version = Some(api_model::text(&asked, &["metadata", "resourceVersion"])).filter(|version| !version.is_empty());
    api_model::expect(&live, None, version)
        .map_err(|refused| status::refused(call.target.resource, &call.target.name, &refused))?;
    shape::check(call.verb, call.target.resource, &json!({"spec": asked["spec"]}))?;
    let mut next = (*live).clone();
    next["spec"]["replicas"] = number(&asked, &["spec", "replicas"]).into();
    let answer = write(state, call, &live, next, false)?;
    let Body::Json(stored) = &answer.body else { return Ok(answer) };
    Ok(Answer::json(200, of(stored)))
}

/// Sets the generation and the owners of an update.
pub(crate) fn finish_update(live: &Value, next: &mut Value, writer: &Writer, applied: bool, api_version: &str) {
    api_model::count(api_model::text(live, &["kind"]), writer.part(), live, next);
    if !applied {
        managed_fields::record(Some(live), next, writer, api_version);
    }
}

fn delete(state: &mut State, call: &Call<'_>) -> Result<Answer, Answer> {
    let resource = call.target.resource;
    let key = call.key();
    let live = call.live(state)?;
    let options = patch::options(call.request)?;
    let uid = live.pointer("/metadata/uid").and_then(Value::as_str).unwrap_or_default().to_owned();
    let wanted = |field: &str| options["preconditions"][field].as_str();
    api_model::expect(&live, wanted("uid"), wanted("resourceVersion")).map_err(|refused| {
        let why = if refused == Refused::Conflict(Precondition::Uid) {
            format!(
                "the UID in the precondition ({}) does not match the UID in record ({uid}). The object might have been \
                 deleted and then recreated",
                wanted("uid").unwrap_or_default()
            )
        } else {
            "the ResourceVersion in the precondition does not match the ResourceVersion in record. The object might \
             have been modified"
                .to_owned()
        };
        let (kind, name) = (resource.kind, &call.target.name);
        let message = format!("Operation cannot be fulfilled on {kind} \"{name}\": {why}");
        status::failure(409, "Conflict", &message, status::details(resource, kind, name))
    })?;
    let asked = options["gracePeriodSeconds"].as_u64();
    let grace = asked.or_else(|| call.request.parameter("gracePeriodSeconds").and_then(|text| text.parse().ok()));
    let policy = options["propagationPolicy"].as_str().or_else(|| call.request.parameter("propagationPolicy"));
    let dry_run = call.request.is_dry_run() || options["dryRun"].as_array().is_some_and(|all| !all.is_empty());
    if !dry_run {
        cluster::propagate(state, &key, policy.unwrap_or_default());
        state.begin_deletion(&key, grace);
    }
    if resource.kind == "Pod" {
        let is_placed = live.pointer("/spec/nodeName").and_then(Value::as_str).is_some_and(|node| !node.is_empty());
        let grace = grace.or_else(|| live.pointer("/spec/terminationGracePeriodSeconds").and_then(Value::as_u64));
        let grace = if is_placed { grace.unwrap_or(30) } else { 0 };
        let begun = api_model::begin_deletion(&live, grace, &clock::now_text());
        return Ok(Answer::json(200, state.store.get(&key).cloned().unwrap_or_else(|| begun.into())));
    }
    if let Some(left) = state.store.get(&key).filter(|left| is_terminating(left)) {
        return Ok(Answer::json(200, Arc::clone(left)));
    }
    let mut details = status::details(resource, resource.plural, &call.target.name);
    details["uid"] = uid.into();
    let body = json!({"kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Success", "details": details});
    Ok(Answer::json(200, body))
}

/// Deletes what is selected.
fn delete_collection(state: &mut State, call: &Call<'_>) -> Result<Answer, Answer> {
    let answer = list(state, call)?;
    if !call.request.is_dry_run() {
        for (key, _) in state.listed(&call.target, &call.selector()?) {
            state.begin_deletion(&key, None);
        }
    }
    Ok(answer)
}

/// The eviction subresource: a budget that allows no disruption answers 429.
fn evict(state: &mut State, call: &Call<'_>) -> Result<Answer, Answer> {
    let pod = call.live(state)?;
    let body = patch::options(call.request)?;
    // `canIgnorePDB`: a pod that does not run yet, or any more, is not protected.
    let is_protected = !["Pending", "Succeeded", "Failed"].contains(&api_model::text(&pod, &["status", "phase"]));
    if let Some(budget) = state.exhausted_budget(&pod).filter(|_| is_protected) {
        let message = "Cannot evict pod as it would violate the pod's disruption budget.";
        let cause = json!({"reason": "DisruptionBudget", "message": format!("The disruption budget {budget} needs more healthy pods")});
        return Err(status::failure(429, "TooManyRequests", message, json!({"causes": [cause]})));
    }
    let dry_run = call.request.is_dry_run() || body.pointer("/deleteOptions/dryRun").is_some();
    if !dry_run {
        state.begin_deletion(&call.key(), body.pointer("/deleteOptions/gracePeriodSeconds").and_then(Value::as_u64));
    }
    let body = json!({"kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Success", "code": 201});
    Ok(Answer::json(201, body))
}
