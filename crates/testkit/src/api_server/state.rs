//! Everything a server knows, under one lock.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value, json};

use super::controllers::Controllers;
use super::faults::Faults;
use super::http::Request;
use super::kubelet::Kubelet;
use super::managed_fields::{self, Writer};
use super::resource::{Resource, Target};
use super::selector::Selector;
use super::store::{Key, Store};
use super::{cluster, defaults, resources, verbs};
use crate::api_model::{self, set_metadata};
use crate::clock;

/// A request as tests read it; `{}` is one line: method, path, kind of patch.
#[derive(Debug, Clone)]
pub struct Logged {
    pub method: String,
    pub path: String,
    pub query: Vec<(String, String)>,
    pub content_type: String,
    pub user_agent: String,
    pub body: String,
    pub dry_run: bool,
}

impl Logged {
    /// Notes a request.
    pub fn new(request: &Request) -> Self {
        let header = |name| request.header(name).unwrap_or_default().to_owned();
        Self {
            method: request.method.clone(),
            path: request.path.clone(),
            query: request.query.clone(),
            content_type: header("content-type"),
            user_agent: header("user-agent"),
            body: String::from_utf8_lossy(&request.body).into_owned(),
            dry_run: request.is_dry_run(),
        }
    }

    /// Returns the first value of a query parameter.
    pub fn parameter(&self, name: &str) -> Option<&str> {
        self.query.iter().find(|(key, _)| key == name).map(|(_, value)| value.as_str())
    }

    /// Returns the body as JSON; null if it is none.
    pub fn json(&self) -> Value {
        serde_json::from_str(&self.body).unwrap_or_default()
    }

    /// Tells whether it would change an object.
    pub fn is_write(&self) -> bool {
        let review = ["selfsubjectaccessreviews", "selfsubjectrulesreviews", "selfsubjectreviews"];
        self.method != "GET" && !self.dry_run && !review.iter().any(|review| self.path.ends_with(review))
    }
}

impl fmt::Display for Logged {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.method, self.path)?;
        let kind = self.content_type.trim_start_matches("application/");
        if self.method == "PATCH" {
            write!(f, " {}", kind.trim_end_matches("+json").trim_end_matches("+yaml"))?;
        }
        if self.dry_run { write!(f, " (dry run)") } else { Ok(()) }
    }
}

/// A whole cluster runs for hours: watches are served from at least so many writes.
const KEPT_WRITES: usize = 5000;

/// An admission policy: images whose name begins with one text get another text in its place.
#[derive(Clone)]
pub struct Mirror {
    pub from: String,
    pub to: String,
    /// When it acts: "CREATE", "UPDATE".
    pub operations: &'static [&'static str],
}

/// Objects, faults, the kubelet, and what was asked.
pub struct State {
    pub store: Store,
    pub faults: Faults,
    pub kubelet: Kubelet,
    pub controllers: Controllers,
    pub requests: Vec<Logged>,
    /// Logs by pod and container.
    pub logs: BTreeMap<(String, String), String>,
    /// What `/version` says.
    pub version: String,
    /// A watch that asks for bookmarks gets one after this long a silence.
    pub bookmark_every: Duration,
    pub stopped: bool,
    /// How far its clock, as in its `Date` headers, is ahead of the clients'.
    pub seconds_ahead: i64,
    /// What a node has for pods, where its admission plugin knows it.
    pub allocatable_milli_cpu: Option<u64>,
    /// What a container may ask for now; more is put off.
    pub free_milli_cpu: Option<u64>,
    /// An admission policy that gives images of pods another name.
    pub mirror: Option<Mirror>,
    /// Access reviews are answered.
    pub tells_permissions: bool,
    /// OpenKruise's resources are there. Nothing works on them.
    pub has_kruise: bool,
    /// Whom it takes every client for.
    pub(crate) user: &'static str,
    /// A whole cluster: scheduler, garbage collector, events, endpoint slices, budgets, logs.
    pub(crate) whole: bool,
}

impl Default for State {
    /// Of an empty server.
    fn default() -> Self {
        let mut state = Self {
            // No real cluster's first object is number 1.
            store: Store::counted(1000),
            faults: Faults::default(),
            kubelet: Kubelet::new(),
            controllers: Controllers::default(),
            requests: Vec::new(),
            logs: BTreeMap::new(),
            version: "v1.36.3".to_owned(),
            bookmark_every: Duration::from_millis(500),
            stopped: false,
            seconds_ahead: 0,
            tells_permissions: true,
            has_kruise: false,
            user: super::faults::USER,
            whole: false,
            mirror: None,
            allocatable_milli_cpu: None,
            free_milli_cpu: None,
        };
        state.insert(json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "default"}}));
        state
    }
}

impl State {
    /// From now on everything of a cluster works here, for this user.
    pub fn make_whole(&mut self, user: &'static str) {
        (self.whole, self.user) = (true, user);
        let default = self.find("namespaces", "default");
        default.into_iter().for_each(|(key, _)| self.remove(&key));
    }

    /// What the node of a pod has of cpu, in thousandths, where its admission plugin knows it.
    pub(crate) fn allocatable(&self, pod: &Value) -> Option<i128> {
        if let Some(set) = self.allocatable_milli_cpu {
            return Some(set.into());
        }
        let node = pod["spec"]["nodeName"].as_str().filter(|_| self.whole)?;
        let (_, node) = self.find("nodes", node)?;
        Some(crate::quantity::of(&node["status"]["allocatable"]["cpu"]))
    }

    /// Returns the minor version.
    pub fn minor(&self) -> u32 {
        self.version.split('.').nth(1).and_then(|minor| minor.parse().ok()).unwrap_or(0)
    }

    /// Adds an object unchanged, status included; missing metadata and the defaults are filled in.
    pub fn insert(&mut self, mut object: Value) {
        let text = |field: &str| object[field].as_str().unwrap_or_default().to_owned();
        let resource = Resource::of_kind(&text("apiVersion"), &text("kind")).expect("the fake serves this kind");
        let name = object.pointer("/metadata/name").and_then(Value::as_str).expect("an object has a name").to_owned();
        let namespace = object.pointer("/metadata/namespace").and_then(Value::as_str).unwrap_or("default").to_owned();
        if resource.namespaced {
            set_metadata(&mut object, "namespace", namespace.as_str().into());
        }
        defaults::fill(&mut object);
        self.complete(resource, &mut object, &Writer::new("kubectl-create"));
        self.commit(&Key::new(resource, &namespace, &name), object);
    }

    /// Returns an object as the server stores what is sent to be created.
    pub(crate) fn as_created(&mut self, resource: &Resource, key: &Key, mut object: Value, writer: &Writer) -> Value {
        api_model::as_new(&mut object);
        object["kind"] = resource.kind.into();
        object["apiVersion"] = resource.api_version().into();
        set_metadata(&mut object, "name", key.name.as_str().into());
        if resource.namespaced {
            set_metadata(&mut object, "namespace", key.namespace.as_str().into());
        }
        defaults::fill(&mut object);
        if resource.subresources.contains(&"status") {
            object["status"] = json!({});
        }
        if resource.kind == "Pod" {
            resources::default_requests(&mut object["spec"]);
            object["status"] = json!({"phase": "Pending", "qosClass": resources::qos(&object["spec"])});
        }
        if self.whole {
            cluster::admit(self, resource, &mut object);
        }
        self.mirror(resource, &mut object, "CREATE");
        self.complete(resource, &mut object, writer);
        object
    }

    /// Changes the images of a pod as admission does.
    pub(crate) fn mirror(&self, resource: &Resource, object: &mut Value, operation: &str) {
        let Some(mirror) = self.mirror.as_ref().filter(|mirror| mirror.operations.contains(&operation)) else { return };
        let containers = object.pointer_mut("/spec/containers").filter(|_| resource.kind == "Pod");
        for container in containers.and_then(Value::as_array_mut).into_iter().flatten() {
            if let Some(rest) = container["image"].as_str().and_then(|image| image.strip_prefix(&mirror.from)) {
                container["image"] = format!("{}{rest}", mirror.to).into();
            }
        }
    }

    /// Returns an object as the server stores what a client has made of it; generation and field owners follow.
    pub(crate) fn as_updated(&self, resource: &Resource, live: &Value, mut next: Value, writer: &Writer) -> Value {
        api_model::keep(resource.kind, writer.part(), live, &mut next);
        defaults::fill(&mut next);
        verbs::finish_update(live, &mut next, writer, false, &resource.api_version());
        next
    }

    /// Begins the deletion of a pod, which its kubelet ends; another object is gone at once.
    pub(crate) fn begin_deletion(&mut self, key: &Key, grace: Option<u64>) {
        let Some(live) = self.store.get(key).cloned() else { return };
        if self.whole && cluster::waits(key, &live) {
            self.commit(key, api_model::begin_deletion(&live, 0, &clock::now_text()));
            return;
        }
        let is_placed = live.pointer("/spec/nodeName").and_then(Value::as_str).is_some_and(|node| !node.is_empty());
        if key.plural != "pods" || !is_placed {
            return self.remove(key);
        }
        let grace = grace.or_else(|| live.pointer("/spec/terminationGracePeriodSeconds").and_then(Value::as_u64));
        let grace = grace.unwrap_or(30);
        self.commit(key, api_model::begin_deletion(&live, grace, &clock::now_text()));
        if grace == 0 {
            self.remove(key);
        }
    }

    /// Stores an object, and lets the kubelet see it.
    pub fn commit(&mut self, key: &Key, object: Value) -> Arc<Value> {
        let stored = self.store.put(key, object, ());
        if self.whole && self.store.history().len() > KEPT_WRITES * 2 {
            self.store.forget(KEPT_WRITES);
        }
        if key.plural == "pods" {
            self.kubelet.pod_written(key, &stored, clock::now(), self.whole);
        }
        stored
    }

    /// Deletes an object by key.
    pub fn remove(&mut self, key: &Key) {
        self.store.remove(key, ());
    }

    /// Returns an object by plural and name, in any namespace.
    pub fn find(&self, resource: &str, name: &str) -> Option<(Key, Arc<Value>)> {
        self.list(resource).into_iter().find(|(key, _)| key.name == name)
    }

    /// Returns all objects of a resource.
    pub fn all(&self, resource: &str) -> Vec<Arc<Value>> {
        self.list(resource).into_iter().map(|(_, object)| object).collect()
    }

    fn list(&self, resource: &str) -> Vec<(Key, Arc<Value>)> {
        let resource = Resource::of_plural(resource).expect("the fake serves this resource");
        let target = Target { resource, namespace: String::new(), name: String::new(), subresource: String::new() };
        self.listed(&target, &Selector::default())
    }

    /// Returns the objects of a collection by namespace and name.
    pub fn listed(&self, target: &Target, selector: &Selector) -> Vec<(Key, Arc<Value>)> {
        let all = self.store.list(.., u64::MAX);
        let chosen = all.filter(|(key, object)| key.within(target) && selector.matches(object));
        chosen.map(|(key, object)| (key.clone(), Arc::clone(object))).collect()
    }

    /// Fills in what the server gives a new object: uid, times, generation, managedFields; existing values stay.
    pub fn complete(&mut self, resource: &Resource, object: &mut Value, writer: &Writer) {
        let serial = self.store.next_serial();
        let uid = format!("{:08x}-0000-4000-8000-{serial:012x}", 0xfa4e_0000_u64 + serial);
        api_model::complete(object, uid, &clock::text_in(self.seconds_ahead));
        if object.pointer("/metadata/managedFields").is_none() {
            managed_fields::record(None, object, writer, &resource.api_version());
            // The creator wrote its fields at that time.
            let created = object.pointer("/metadata/creationTimestamp").cloned().unwrap_or_default();
            let entries = object.pointer_mut("/metadata/managedFields").and_then(Value::as_array_mut);
            entries.into_iter().flatten().for_each(|entry| entry["time"] = created.clone());
        }
    }

    /// Edits an object as a writer of that name; generation and owners follow.
    pub fn edit(&mut self, resource: &str, name: &str, manager: &str, edit: impl FnOnce(&mut Value)) {
        if let Some((key, _)) = self.find(resource, name) {
            self.edit_key(&key, manager, edit);
        }
    }

    /// Edits an object by key, likewise.
    pub fn edit_key(&mut self, key: &Key, manager: &str, edit: impl FnOnce(&mut Value)) {
        let Some(live) = self.store.get(key).cloned() else { return };
        let mut next = (*live).clone();
        edit(&mut next);
        if next == *live {
            return;
        }
        let api_version = live["apiVersion"].as_str().unwrap_or_default().to_owned();
        verbs::finish_update(&live, &mut next, &Writer::new(manager), false, &api_version);
        self.commit(key, next);
    }

    /// Deletes an object by plural and name.
    pub fn delete(&mut self, resource: &str, name: &str) {
        if let Some((key, _)) = self.find(resource, name) {
            self.remove(&key);
        }
    }

    /// Sets what a container's log says.
    pub fn set_log(&mut self, pod: &str, container: &str, text: &str) {
        self.logs.insert((pod.to_owned(), container.to_owned()), text.to_owned());
    }

    /// Returns the name of a disruption budget that selects the pod and allows nothing.
    pub fn exhausted_budget(&self, pod: &Value) -> Option<String> {
        let namespace = pod.pointer("/metadata/namespace")?;
        self.all("poddisruptionbudgets").iter().find_map(|budget| {
            let selects = crate::controllers::fields::selects(budget.pointer("/spec/selector")?, pod);
            let exhausted = budget.pointer("/status/disruptionsAllowed").and_then(Value::as_u64).unwrap_or(0) == 0;
            let same = budget.pointer("/metadata/namespace") == Some(namespace);
            (same && selects && exhausted).then(|| budget["metadata"]["name"].as_str().unwrap_or_default().to_owned())
        })
    }
}
