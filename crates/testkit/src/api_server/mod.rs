//! A stateful API server on loopback: HTTP with or without TLS, a thread per connection, a simulated kubelet inside. What becomes of the
//! objects is the model's ([`crate::api_model`]).
//!
//! It behaves as Kubernetes 1.36 where `kubectl inplace` reads or writes: objects with resourceVersions, selectors,
//! watches with their history, PUT and the four kinds of patch, dry runs, preconditions, validation of pod updates, field
//! owners, and the status that a kubelet shows around an image change; on demand, the controllers of the stock workloads.
//! A whole cluster (the sandbox) has a scheduler, a garbage collector, Tables, endpoint slices, events, and logs too. There
//! are no quotas, no conversion, and no schemas.

mod base64;
mod cluster;
mod controllers;
mod defaults;
mod discovery;
mod faults;
mod http;
mod kubelet;
mod logs;
mod managed_fields;
mod patch;
mod protobuf;
mod resource;
mod resources;
mod selector;
mod serve;
mod shape;
mod state;
mod status;
mod store;
mod strategic;
mod table;
mod validate;
mod verbs;
mod watch;

use std::collections::BTreeMap;
use std::io;
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use serde_json::Value;

use http::{Body, Request};
use resource::{Resource, Target};
use verbs::Call;

pub use defaults::fill as fill_defaults;
pub use faults::{Effect, USER, When};
pub use http::Answer;
pub use kubelet::{Times, hex64, image_id, normalised};
pub use state::{Logged, State};

use crate::clock;

/// What the threads of a server share.
struct Shared {
    state: Mutex<State>,
    changed: Condvar,
    connections: Mutex<BTreeMap<u64, TcpStream>>,
}

impl Shared {
    /// Locks the state; a panic elsewhere does not make it unusable.
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits for a change, at most for `most`.
    fn wait<'a>(&self, state: MutexGuard<'a, State>, most: Duration) -> MutexGuard<'a, State> {
        self.changed.wait_timeout(state, most).unwrap_or_else(PoisonError::into_inner).0
    }
}

/// A running server; it stops when dropped.
pub struct ApiServer {
    shared: Arc<Shared>,
    address: SocketAddr,
}

impl ApiServer {
    /// Starts an empty server (one namespace `default`) on a free port of loopback.
    pub fn start() -> Self {
        Self::bind(0).expect("loopback has a free port")
    }

    /// Starts an empty server on a port of loopback; 0 is any that is free.
    ///
    /// # Errors
    ///
    /// The port is taken.
    pub fn bind(port: u16) -> io::Result<Self> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, port))?;
        let address = listener.local_addr()?;
        let shared = Arc::new(Shared {
            state: Mutex::new(State::default()),
            changed: Condvar::new(),
            connections: Mutex::new(BTreeMap::new()),
        });
        let server = Self { shared: Arc::clone(&shared), address };
        let accepting = Arc::clone(&shared);
        std::thread::spawn(move || serve::accept(&accepting, &listener));
        std::thread::spawn(move || serve::run_cluster(&shared));
        Ok(server)
    }

    /// Starts a server that has these objects.
    pub fn with(objects: impl IntoIterator<Item = Value>) -> Self {
        let server = Self::start();
        server.insert(objects);
        server
    }

    /// Returns `http://127.0.0.1:PORT`.
    pub fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// Returns the address it listens on.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Returns a kubeconfig for it, in JSON (which is YAML); the current namespace is `default`.
    pub fn kubeconfig(&self) -> Value {
        serde_json::json!({
            "apiVersion": "v1", "kind": "Config", "current-context": "fake",
            "clusters": [{"name": "fake", "cluster": {"server": self.url()}}],
            "users": [{"name": USER, "user": {}}],
            "contexts": [{"name": "fake", "context": {"cluster": "fake", "user": USER, "namespace": "default"}}],
        })
    }

    /// Works on the state under its lock, and wakes the watches and the kubelet.
    pub fn change<T>(&self, work: impl FnOnce(&mut State) -> T) -> T {
        let result = work(&mut self.shared.lock());
        self.shared.changed.notify_all();
        result
    }

    /// Adds objects unchanged, status included; missing metadata is filled in.
    pub fn insert(&self, objects: impl IntoIterator<Item = Value>) {
        self.change(|state| {
            for object in objects {
                state.insert(object);
            }
        });
    }

    /// Creates an object as a client does.
    ///
    /// # Errors
    ///
    /// The message of the server, where it refuses the object.
    pub fn create(&self, object: &Value) -> Result<(), String> {
        let text = |field: &str| object[field].as_str().unwrap_or_default();
        let (version, kind) = (text("apiVersion"), text("kind"));
        let Some(resource) = Resource::of_kind(version, kind) else {
            return Err(format!("no matches for kind {kind:?} in version {version:?}"));
        };
        let namespace = object.pointer("/metadata/namespace").and_then(Value::as_str).unwrap_or("default");
        let target = Target {
            resource,
            namespace: if resource.namespaced { namespace.to_owned() } else { String::new() },
            name: String::new(),
            subresource: String::new(),
        };
        let request =
            Request { method: "POST".to_owned(), body: object.to_string().into_bytes(), ..Request::default() };
        let call = Call { verb: "create", target, request: &request };
        let answered = self.change(|state| verbs::execute(state, &call));
        answered.map(drop).map_err(|refusal| match &refusal.body {
            Body::Json(status) => status["message"].as_str().unwrap_or_default().to_owned(),
            Body::List(text) | Body::Text(text) => text.clone(),
        })
    }

    /// Returns an object by plural and name, in any namespace.
    pub fn object(&self, resource: &str, name: &str) -> Option<Value> {
        self.shared.lock().find(resource, name).map(|(_, object)| (*object).clone())
    }

    /// Returns all objects of a resource, by namespace and name.
    pub fn objects(&self, resource: &str) -> Vec<Value> {
        self.shared.lock().all(resource).iter().map(|object| (**object).clone()).collect()
    }

    /// Edits an object as another writer would.
    pub fn edit(&self, resource: &str, name: &str, edit: impl FnOnce(&mut Value)) {
        self.change(|state| state.edit(resource, name, "somebody-else", edit));
    }

    /// Deletes an object at once.
    pub fn delete(&self, resource: &str, name: &str) {
        self.change(|state| state.delete(resource, name));
    }

    /// Switches a fault on.
    pub fn fault(&self, when: When, effect: Effect) {
        self.shared.lock().faults.add(when, effect);
    }

    /// Switches all faults off.
    pub fn clear_faults(&self) {
        self.shared.lock().faults.clear();
    }

    /// Forgets the history: a later watch from an older resourceVersion gets 410.
    pub fn compact(&self) {
        self.shared.lock().store.compact();
    }

    /// Closes every open connection, watches too, without a word.
    pub fn drop_connections(&self) {
        let mut connections = self.shared.connections.lock().unwrap_or_else(PoisonError::into_inner);
        for connection in std::mem::take(&mut *connections).into_values() {
            // An error only says that the client was faster.
            drop(connection.shutdown(std::net::Shutdown::Both));
        }
    }

    /// Sets how far its clock is ahead of the clients'.
    pub fn set_clock(&self, seconds_ahead: i64) {
        self.change(|state| state.seconds_ahead = seconds_ahead);
    }

    /// The allocatable cpu for a container in thousandths, and the free part of it: a larger resize is `Deferred`.
    pub fn limit_cpu(&self, allocatable: u64, free: u64) {
        self.change(|state| (state.allocatable_milli_cpu, state.free_milli_cpu) = (Some(allocatable), Some(free)));
    }

    /// Server and kubelets are of this version.
    pub fn set_version(&self, version: &str) {
        self.change(|state| version.clone_into(&mut state.version));
        let tells_generation = self.change(|state| state.minor() >= 34);
        for pod in self.objects("pods").into_iter().filter(|_| !tells_generation) {
            self.edit("pods", pod["metadata"]["name"].as_str().unwrap_or_default(), |pod| {
                pod["status"].as_object_mut().map(|status| status.remove("observedGeneration"));
            });
        }
    }

    /// Admission gives images of pods another name from now on.
    pub fn mirror(&self, from: &str, to: &str, operations: &'static [&'static str]) {
        let mirror = state::Mirror { from: from.to_owned(), to: to.to_owned(), operations };
        self.change(|state| state.mirror = Some(mirror));
    }

    /// Access reviews fail from now on.
    pub fn hide_permissions(&self) {
        self.change(|state| state.tells_permissions = false);
    }

    /// Sets how fast the kubelet works.
    pub fn kubelet(&self, times: Times) {
        self.change(|state| state.kubelet.times = times);
    }

    /// Stops the kubelet (`true`), or lets it go on: a stopped one neither observes nor restarts anything.
    pub fn pause_kubelet(&self, paused: bool) {
        self.change(|state| state.kubelet.paused = paused);
    }

    /// Starts (or stops) the simulated controllers of Deployments, ReplicaSets, StatefulSets and DaemonSets.
    pub fn run_controllers(&self, running: bool) {
        self.change(|state| state.controllers.running = running);
    }

    /// Returns every request so far, in order.
    pub fn requests(&self) -> Vec<Logged> {
        self.shared.lock().requests.clone()
    }

    /// Returns the requests that would change something: no dry runs, no access reviews.
    pub fn writes(&self) -> Vec<Logged> {
        self.requests().into_iter().filter(Logged::is_write).collect()
    }

    /// Waits until an object is as wanted, and returns it; panics after ten seconds.
    #[track_caller]
    pub fn wait_for(&self, resource: &str, name: &str, wanted: impl Fn(&Value) -> bool) -> Value {
        clock::eventually(&format!("{resource}/{name}"), || self.object(resource, name).filter(|object| wanted(object)))
    }
}

impl Drop for ApiServer {
    fn drop(&mut self) {
        self.change(|state| state.stopped = true);
        self.drop_connections();
        // Wakes the thread that accepts; nothing is sent.
        drop(TcpStream::connect(self.address));
    }
}
