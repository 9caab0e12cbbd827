//! GET, LIST, POST, PATCH and DELETE on the store, as the generic registry carries them out.

use std::sync::Arc;

use serde::{Serialize, Serializer};
use serde_json::{Value, json};

use super::http::{Answer, Body, Request};
use super::managed_fields::{self, Writer};
use super::patch;
use super::resource::Target;
use super::selector::Selector;
use super::store::Key;
use super::{State, defaults, status, validate};
use crate::api_model::{self, Precondition, Refused, copy_field, set_metadata};
use crate::clock;

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
            ("POST", _) => "create",
            ("PATCH", _) => "patch",
            ("DELETE", true) => "deletecollection",
            ("DELETE", false) => "delete",
            _ => "update",
        }
    }

    /// Reads both selectors of the query.
    pub(crate) fn selector(&self) -> Result<Selector, Answer> {
        let parameter = |name| self.request.parameter(name).unwrap_or_default();
        Selector::parse(parameter("labelSelector"), parameter("fieldSelector")).map_err(|why| status::bad_request(&why))
    }

    fn key(&self) -> Key {
        Key::new(self.target.resource, &self.target.namespace, &self.target.name)
    }

    /// Returns the object of the path.
    fn live(&self, state: &State) -> Result<Arc<Value>, Answer> {
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
    match (call.verb, call.target.subresource.as_str()) {
        ("get", "log") => log(state, call),
        ("get", _) => Ok(Answer::json(200, call.live(state)?)),
        ("list", _) => list(state, call),
        ("create", "eviction") => evict(state, call),
        ("create", _) => create(state, call),
        ("patch", _) => patch_object(state, call),
        ("delete", _) => delete(state, call),
        ("deletecollection", _) => delete_collection(state, call),
        _ => {
            let message = "the server does not allow this method on the requested resource";
            Err(status::failure(405, "MethodNotAllowed", message, json!({})))
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
    let object = patch::parse(&call.request.body)?;
    create_object(state, call, object)
}

fn create_object(state: &mut State, call: &Call<'_>, mut object: Value) -> Result<Answer, Answer> {
    let resource = call.target.resource;
    let name = object.pointer("/metadata/name").and_then(Value::as_str).map(ToOwned::to_owned);
    let prefix = object.pointer("/metadata/generateName").and_then(Value::as_str).map(ToOwned::to_owned);
    let name = match (name, prefix) {
        (Some(name), _) => name,
        (None, Some(prefix)) => format!("{prefix}{:05x}", state.store.next_serial()),
        (None, None) => {
            let message = "Required value: name or generateName is required".to_owned();
            let cause = api_model::Cause { reason: "FieldValueRequired", field: "metadata.name".to_owned(), message };
            return Err(status::refused(resource, "", &Refused::Invalid(vec![cause])));
        }
    };
    let key = Key::new(resource, &call.target.namespace, &name);
    if state.store.get(&key).is_some() {
        return Err(status::refused(resource, &name, &Refused::AlreadyExists));
    }
    api_model::as_new(&mut object);
    object["kind"] = resource.kind.into();
    object["apiVersion"] = resource.api_version().into();
    set_metadata(&mut object, "name", name.into());
    if resource.namespaced {
        set_metadata(&mut object, "namespace", call.target.namespace.as_str().into());
    }
    defaults::fill(&mut object);
    if resource.subresources.contains(&"status") {
        object["status"] =
            if resource.kind == "Pod" { json!({"phase": "Pending", "qosClass": "BestEffort"}) } else { json!({}) };
    }
    state.complete(resource, &mut object, &call.writer());
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
    let mut next = patch::apply(content_type, &live, &call.request.body, &writer, force)?;
    api_model::keep(resource.kind, writer.part(), &live, &mut next);
    defaults::fill(&mut next);
    if call.target.subresource == "resize" {
        validate::resize(resource, (&live, &next), state.allocatable_milli_cpu, state.minor())?;
    } else {
        validate::update(resource, &live, &next)?;
    }
    finish_update(&live, &mut next, &writer, is_apply, &resource.api_version());
    if call.request.is_dry_run() {
        copy_field(&live, &mut next, &["metadata"], "resourceVersion");
        return Ok(Answer::json(200, next));
    }
    Ok(Answer::json(200, state.commit(&key, next)))
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
    let options: Value = serde_json::from_slice(&call.request.body).unwrap_or_default();
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
    let asked = asked.or_else(|| call.request.parameter("gracePeriodSeconds").and_then(|text| text.parse().ok()));
    let grace =
        asked.or_else(|| live.pointer("/spec/terminationGracePeriodSeconds").and_then(Value::as_u64)).unwrap_or(30);
    let dry_run = call.request.is_dry_run() || options["dryRun"].as_array().is_some_and(|all| !all.is_empty());
    let on_node = live.pointer("/spec/nodeName").and_then(Value::as_str).is_some_and(|node| !node.is_empty());
    if resource.kind == "Pod" {
        let grace = if on_node { grace } else { 0 };
        let next = api_model::begin_deletion(&live, grace, &clock::now_text());
        if dry_run {
            return Ok(Answer::json(200, next));
        }
        let next = state.commit(&key, next);
        if grace == 0 {
            state.remove(&key);
        }
        return Ok(Answer::json(200, next));
    }
    if !dry_run {
        state.remove(&key);
    }
    let mut details = status::details(resource, resource.plural, &call.target.name);
    details["uid"] = uid.into();
    let body = json!({"kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Success", "details": details});
    Ok(Answer::json(200, body))
}

/// Deletes what is selected, at once.
fn delete_collection(state: &mut State, call: &Call<'_>) -> Result<Answer, Answer> {
    let answer = list(state, call)?;
    if !call.request.is_dry_run() {
        for (key, _) in state.listed(&call.target, &call.selector()?) {
            state.remove(&key);
        }
    }
    Ok(answer)
}

/// The eviction subresource: a budget that allows no disruption answers 429.
fn evict(state: &mut State, call: &Call<'_>) -> Result<Answer, Answer> {
    let pod = call.live(state)?;
    let body: Value = serde_json::from_slice(&call.request.body).unwrap_or_default();
    if let Some(budget) = state.exhausted_budget(&pod) {
        let message = "Cannot evict pod as it would violate the pod's disruption budget.";
        let cause = json!({"reason": "DisruptionBudget", "message": format!("The disruption budget {budget} needs more healthy pods")});
        return Err(status::failure(429, "TooManyRequests", message, json!({"causes": [cause]})));
    }
    let dry_run = call.request.is_dry_run() || body.pointer("/deleteOptions/dryRun").is_some();
    if !dry_run {
        state.remove(&call.key());
    }
    let body = json!({"kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Success", "code": 201});
    Ok(Answer::json(201, body))
}

/// The log of a container: what the test has set, else one line.
fn log(state: &State, call: &Call<'_>) -> Result<Answer, Answer> {
    let pod = call.live(state)?;
    let first = || pod.pointer("/spec/containers/0/name").and_then(Value::as_str).unwrap_or_default();
    let container = call.request.parameter("container").unwrap_or_else(first);
    let text = state.logs.get(&(call.target.name.clone(), container.to_owned()));
    Ok(Answer::text(200, text.map_or("", String::as_str)))
}
