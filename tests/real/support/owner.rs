//! An owner with tiny pods, as the tests of durable rollouts need it, and what must hold once a rollout is over.

use std::time::{Duration, Instant};

use serde_json::{Map, Value};

use super::samples;
use super::{Api, Namespace, poll, poll_every};

const LOCK: &str = "kubectl-inplace.io/rollout";

/// How long the controllers may take to say the same as the pods.
const SETTLES_WITHIN: Duration = Duration::from_secs(30);

/// What a durable rollout treats differently.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    Deployment,
    /// With the pod management policy Parallel.
    StatefulSet,
    /// With the pod management policy OrderedReady.
    Ordered,
    DaemonSet,
    /// Without a Deployment.
    ReplicaSet,
    /// OpenKruise's, as the next two.
    CloneSet,
    AdvancedStatefulSet,
    AdvancedDaemonSet,
}

impl Kind {
    /// Returns what the command line calls it.
    pub(crate) fn word(self) -> &'static str {
        match self {
            Self::Deployment => "deployment",
            Self::StatefulSet | Self::Ordered => "statefulset",
            Self::DaemonSet => "daemonset",
            Self::ReplicaSet => "replicaset",
            Self::CloneSet => "clone",
            Self::AdvancedStatefulSet => "asts",
            Self::AdvancedDaemonSet => "ads",
        }
    }

    /// Returns its `apiVersion` and what the API server calls a list of it.
    pub(crate) fn resource(self) -> (&'static str, &'static str) {
        match self {
            Self::Deployment => ("apps/v1", "deployments"),
            Self::StatefulSet | Self::Ordered => ("apps/v1", "statefulsets"),
            Self::DaemonSet => ("apps/v1", "daemonsets"),
            Self::ReplicaSet => ("apps/v1", "replicasets"),
            Self::CloneSet => ("apps.kruise.io/v1alpha1", "clonesets"),
            Self::AdvancedStatefulSet => ("apps.kruise.io/v1beta1", "statefulsets"),
            Self::AdvancedDaemonSet => ("apps.kruise.io/v1alpha1", "daemonsets"),
        }
    }

    /// Whether it has a pod a node, and no number of replicas.
    fn is_daemon_set(self) -> bool {
        matches!(self, Self::DaemonSet | Self::AdvancedDaemonSet)
    }

    fn manifest(self, name: &str, replicas: usize, containers: usize, fields: &str) -> String {
        let (kind, more) = match self {
            Self::Deployment => ("Deployment", String::new()),
            Self::StatefulSet | Self::AdvancedStatefulSet => {
                ("StatefulSet", format!("  serviceName: {name}\n  podManagementPolicy: Parallel\n"))
            }
            Self::Ordered => ("StatefulSet", format!("  serviceName: {name}\n")),
            Self::DaemonSet | Self::AdvancedDaemonSet => ("DaemonSet", String::new()),
            Self::ReplicaSet => ("ReplicaSet", String::new()),
            Self::CloneSet => ("CloneSet", String::new()),
        };
        let replicas = if self.is_daemon_set() { String::new() } else { format!("  replicas: {replicas}\n") };
        let manifest = samples::many(kind, name, &format!("{replicas}{more}{fields}"), containers);
        manifest.replacen("apps/v1", self.resource().0, 1)
    }
}

/// Fields that an owner has besides, and where.
#[derive(Clone, Copy)]
pub(crate) enum Fields<'f> {
    /// Lines of its spec.
    Spec(&'f str),
    /// Of its first container.
    Container(&'f str),
    /// Of every container.
    Containers(&'f str),
    /// A line of its pods' spec.
    Pod(&'f str),
}

/// An owner called `web` in a namespace.
pub(crate) struct Owner<'a> {
    namespace: &'a Namespace,
    api: &'a Api,
    kind: Kind,
    /// What was applied.
    pub(crate) manifest: String,
    /// The strategy and pause as the owner began with them.
    began: (Value, Value),
    /// Its pods when it began, by name.
    pub(crate) before: Vec<Value>,
}

impl<'a> Owner<'a> {
    /// Makes it and waits for its pods. `fields` are lines of its spec.
    pub(crate) fn new(
        namespace: &'a Namespace,
        api: &'a Api,
        kind: Kind,
        (replicas, containers): (usize, usize),
        fields: &str,
    ) -> Self {
        Self::with((namespace, api), kind, (replicas, containers), Fields::Spec(fields))
    }

    /// The same with fields somewhere else.
    pub(crate) fn with(
        (namespace, api): (&'a Namespace, &'a Api),
        kind: Kind,
        (replicas, containers): (usize, usize),
        fields: Fields<'_>,
    ) -> Self {
        let of_spec = if let Fields::Spec(fields) = fields { fields } else { "" };
        let manifest = kind.manifest("web", replicas, containers, of_spec);
        let in_container = |fields: &str| format!("/side:v1', {fields}}}");
        let manifest = match fields {
            Fields::Spec(_) => manifest,
            Fields::Container(fields) => manifest.replacen("/side:v1'}", &in_container(fields), 1),
            Fields::Containers(fields) => manifest.replace("/side:v1'}", &in_container(fields)),
            Fields::Pod(fields) => {
                manifest.replacen("      containers:\n", &format!("      {fields}\n      containers:\n"), 1)
            }
        };
        Self::of((namespace, api), kind, replicas, manifest)
    }

    fn of((namespace, api): (&'a Namespace, &'a Api), kind: Kind, replicas: usize, manifest: String) -> Self {
        namespace.apply(&manifest);
        let mut owner = Self { namespace, api, kind, manifest, began: (Value::Null, Value::Null), before: Vec::new() };
        owner.before = owner.wait_ready(if kind.is_daemon_set() { 1 } else { replicas });
        owner.wait_settled();
        let object = owner.object();
        owner.began = (strategy(&object), object["spec"]["paused"].clone());
        owner
    }

    /// Returns its name as the command line has it.
    pub(crate) fn reference(&self) -> String {
        format!("{}/web", self.kind.word())
    }

    fn path(&self) -> String {
        let (version, resource) = self.kind.resource();
        format!("/apis/{version}/namespaces/{}/{resource}/web", self.namespace.name())
    }

    /// Reads it.
    pub(crate) fn object(&self) -> Value {
        self.api.get(&self.path())
    }

    /// Lets Flux reconcile it with a manifest.
    pub(crate) fn reconciled_by_flux(&self, manifest: &str) {
        super::flux::reconcile(self.api, &self.path(), manifest);
    }

    /// Returns what was applied, with the tags that its template has now.
    pub(crate) fn manifest_now(&self) -> String {
        let tags = self.tags();
        let of = |number: usize| tags[&format!("c{number}")].as_str().unwrap_or_default().trim_start_matches("side:");
        let numbers = 1..=tags.len();
        numbers.fold(self.manifest.clone(), |manifest, number| samples::tag_manifest(&manifest, number, of(number)))
    }

    /// Reads its ReplicaSets.
    pub(crate) fn sets(&self) -> Vec<Value> {
        self.list(&format!("/apis/apps/v1/namespaces/{}/replicasets?labelSelector=app%3Dweb", self.namespace.name()))
    }

    /// Reads its pods by name, terminating ones too.
    pub(crate) fn pods(&self) -> Vec<Value> {
        self.list(&format!("/api/v1/namespaces/{}/pods?labelSelector=app%3Dweb", self.namespace.name()))
    }

    /// Waits until it has exactly `count` pods, each Ready and none terminating, and returns them by name.
    pub(crate) fn wait_ready(&self, count: usize) -> Vec<Value> {
        let mut last = Vec::new();
        let ready = poll(|| {
            last = self.pods();
            (last.len() == count && last.iter().all(super::is_ready)).then(|| last.clone())
        });
        ready.unwrap_or_else(|| panic!("never {count} pods, all ready: {last:#?}"))
    }

    fn list(&self, path: &str) -> Vec<Value> {
        let mut items = self.api.get(path)["items"].as_array().cloned().unwrap_or_default();
        items.sort_by(|left, right| left["metadata"]["name"].as_str().cmp(&right["metadata"]["name"].as_str()));
        items
    }

    /// Waits until owner, revisions and pods say the same, and nothing of a rollout is left.
    pub(crate) fn wait_settled(&self) {
        self.wait_settled_or("");
    }

    /// The same; the message of a failure has the context.
    pub(crate) fn wait_settled_or(&self, context: &str) {
        let deadline = Instant::now() + SETTLES_WITHIN;
        let mut last = None;
        let settled = poll_every(Duration::from_millis(200), || {
            last = self.unsettled();
            (last.is_none() || Instant::now() > deadline).then_some(last.is_none())
        });
        assert_eq!(settled, Some(true), "{last:?}; {context}\n{:#}", self.object());
    }

    /// Says what is wrong once no rollout is in progress.
    pub(crate) fn unsettled(&self) -> Option<String> {
        let (object, pods) = (self.object(), self.pods());
        let locked = |object: &Value| !object["metadata"]["annotations"][LOCK].is_null();
        if locked(&object) {
            return Some("the lock is left".into());
        }
        let template = &object["spec"]["template"];
        let is_other = |pod: &&Value| images(&pod["spec"]) != images(&template["spec"]);
        if let Some(pod) = pods.iter().skip(partition(&object)).find(is_other) {
            return Some(format!("pod {} is not as the template", pod["metadata"]["name"]));
        }
        if let Some(pod) = pods.iter().find(|pod| !super::is_ready(pod)) {
            return Some(format!("pod {} is not ready", pod["metadata"]["name"]));
        }
        if let Some(pod) = pods.iter().find(|pod| !super::pods::runs_what_it_asks_for(pod)) {
            return Some(format!("pod {} does not run what it asks for", pod["metadata"]["name"]));
        }
        if object["status"]["observedGeneration"] != object["metadata"]["generation"] {
            return Some("not observed".into());
        }
        let began = (strategy(&object), object["spec"]["paused"].clone());
        if self.began != (Value::Null, Value::Null) && self.began != began {
            return Some(format!("strategy and pause are {began:?}, and were {:?}", self.began));
        }
        match self.kind {
            Kind::Deployment => self.unsettled_sets(&object, pods.len(), locked),
            Kind::StatefulSet | Kind::Ordered | Kind::CloneSet | Kind::AdvancedStatefulSet => {
                let (status, partition) = (&object["status"], partition(&object));
                let revision = &status["updateRevision"];
                let label = |pod: &Value| &pod["metadata"]["labels"]["controller-revision-hash"] == revision;
                let is_old = partition == 0 && status["currentRevision"] != *revision;
                let is_updated = pods.iter().skip(partition).all(label);
                let counted = ["updatedReplicas", "updatedReadyReplicas"].map(|count| &status[count]);
                let miscounted =
                    |count: &&Value| !count.is_null() && count.as_u64() < u64::try_from(pods.len() - partition).ok();
                let is_miscounted = is_of_kruise(&object) && counted.iter().any(miscounted);
                (is_old || !is_updated || is_miscounted).then(|| format!("status {status}"))
            }
            Kind::DaemonSet | Kind::AdvancedDaemonSet => {
                let status = &object["status"];
                (status["updatedNumberScheduled"] != status["desiredNumberScheduled"]).then(|| format!("{status}"))
            }
            Kind::ReplicaSet => None,
        }
    }

    fn unsettled_sets(&self, object: &Value, pods: usize, locked: impl Fn(&Value) -> bool) -> Option<String> {
        let sets = self.sets();
        if let Some(set) = sets.iter().find(|set| locked(set)) {
            return Some(format!("replicaset {} has a copy of the lock", set["metadata"]["name"]));
        }
        let used: Vec<&Value> =
            sets.iter().filter(|set| set["spec"]["replicas"] != 0 || set["status"]["replicas"] != 0).collect();
        let [current] = used.as_slice() else {
            return (pods > 0 || !used.is_empty()).then(|| format!("{} ReplicaSets have pods", used.len()));
        };
        let same = |set: &&Value| template_of(set) == object["spec"]["template"];
        if !same(current) {
            return Some("the ReplicaSet's template is not the Deployment's".into());
        }
        // Two may hold it, where somebody lifted our pause; the controller takes the oldest and stays with it.
        let age = |set: &Value| {
            let text = |key: &str| set["metadata"][key].as_str().unwrap_or_default().to_owned();
            (text("creationTimestamp"), text("name"))
        };
        let oldest = sets.iter().filter(same).min_by_key(|set| age(set));
        if oldest.is_some_and(|oldest| age(oldest) != age(current)) {
            return Some("an older ReplicaSet holds the template too".into());
        }
        let (status, replicas) = (&object["status"], &object["spec"]["replicas"]);
        let counted = ["replicas", "updatedReplicas", "readyReplicas"].map(|field| &status[field]);
        (counted != [replicas; 3] || current["spec"]["replicas"] != *replicas).then(|| format!("status {status}"))
    }

    /// Returns the tags that its template asks for, by container.
    pub(crate) fn tags(&self) -> Map<String, Value> {
        images(&self.object()["spec"]["template"]["spec"])
    }

    /// Returns the tag that its template asks for.
    pub(crate) fn tag(&self, container: &str) -> String {
        self.tags()[container].as_str().unwrap_or_default().to_owned()
    }

    /// Asserts that the pods are the same as at the beginning.
    pub(crate) fn assert_same_pods(&self, context: &str) {
        let uids = |pods: &[Value]| -> Vec<Value> { pods.iter().map(|pod| pod["metadata"]["uid"].clone()).collect() };
        assert_eq!(uids(&self.pods()), uids(&self.before), "{context}: the pods are not the same ones");
    }
}

/// The template of a ReplicaSet without the label that its Deployment's controller adds.
fn template_of(set: &Value) -> Value {
    let mut template = set["spec"]["template"].clone();
    if let Some(labels) = template["metadata"]["labels"].as_object_mut() {
        labels.remove("pod-template-hash");
    }
    template
}

/// How many pods a StatefulSet keeps at their revision; theirs are the lowest numbers.
fn partition(object: &Value) -> usize {
    let partition = object["spec"]["updateStrategy"]["rollingUpdate"]["partition"].as_u64();
    partition.and_then(|partition| usize::try_from(partition).ok()).unwrap_or_default()
}

fn is_of_kruise(object: &Value) -> bool {
    object["apiVersion"].as_str().is_some_and(|version| version.starts_with("apps.kruise.io/"))
}

fn strategy(object: &Value) -> Value {
    [&object["spec"]["updateStrategy"], &object["spec"]["strategy"]].into_iter().cloned().collect()
}

/// The tag of each container in a pod's spec.
fn images(spec: &Value) -> Map<String, Value> {
    let tag = |image: &str| image.rsplit_once('/').map_or(image, |(_, image)| image).to_owned();
    let mut containers: Vec<&Value> = spec["containers"].as_array().into_iter().flatten().collect();
    containers.sort_by_key(|container| container["name"].as_str());
    containers
        .into_iter()
        .map(|container| {
            let text = |key: &str| container[key].as_str().unwrap_or_default();
            (text("name").to_owned(), tag(text("image")).into())
        })
        .collect()
}
