//! Objects to fill a server with, in their state after a complete rollout on a real cluster.

use serde_json::{Value, json};

use super::clock;

/// The letters of Kubernetes' generated names (`apimachinery/pkg/util/rand`).
const LETTERS: &[u8] = b"bcdfghjklmnpqrstvwxz2456789";

/// Returns `length` letters that depend on a text, as Kubernetes makes hashes and suffixes from them.
pub fn letters(text: &str, length: usize) -> String {
    let mut state = text
        .bytes()
        .fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3));
    (0..length)
        .filter_map(|_| {
            state = (state ^ (state >> 31)).wrapping_mul(0x9e37_79b9_7f4a_7c15);
            LETTERS.get((state >> 40) as usize % LETTERS.len())
        })
        .map(|letter| char::from(*letter))
        .collect()
}

/// Returns a uid that depends on what it is for.
pub fn uid(of: &str) -> String {
    let digits: String = letters(of, 16).bytes().map(|byte| format!("{byte:02x}")).collect();
    let part = |from: usize, to: usize| digits.get(from..to).unwrap_or_default().to_owned();
    format!("{}-{}-4{}-8{}-{}", part(0, 8), part(8, 12), part(13, 16), part(17, 20), part(20, 32))
}

/// What owns the pods.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Deployment,
    ReplicaSet,
    StatefulSet,
    DaemonSet,
    Pod,
}

/// A workload with its revision objects and its pods.
#[derive(Debug, Clone)]
pub struct Workload {
    kind: Kind,
    name: String,
    namespace: String,
    replicas: usize,
    nodes: Vec<String>,
    template: Value,
    spec: Value,
    annotations: Value,
}

impl Workload {
    fn new(kind: Kind, name: &str) -> Self {
        let replicas = if kind == Kind::Pod { 1 } else { 3 };
        let pod = json!({"containers": [], "restartPolicy": "Always", "terminationGracePeriodSeconds": 30,
            "dnsPolicy": "ClusterFirst", "securityContext": {}, "schedulerName": "default-scheduler"});
        Self {
            kind,
            name: name.to_owned(),
            namespace: "default".to_owned(),
            replicas,
            nodes: vec!["node-a".to_owned()],
            template: json!({"metadata": {"labels": {"app": name}}, "spec": pod}),
            spec: json!({}),
            annotations: json!({}),
        }
    }

    /// A Deployment, its current ReplicaSet at revision 1, and three pods.
    pub fn deployment(name: &str) -> Self {
        Self::new(Kind::Deployment, name)
    }

    /// A ReplicaSet of nobody, and three pods.
    pub fn replica_set(name: &str) -> Self {
        Self::new(Kind::ReplicaSet, name)
    }

    /// A StatefulSet, its ControllerRevision, and three pods.
    pub fn stateful_set(name: &str) -> Self {
        Self::new(Kind::StatefulSet, name)
    }

    /// A DaemonSet, its ControllerRevision, and a pod for each node.
    pub fn daemon_set(name: &str) -> Self {
        Self::new(Kind::DaemonSet, name)
    }

    /// A pod of nobody.
    pub fn pod(name: &str) -> Self {
        Self::new(Kind::Pod, name)
    }

    /// Sets the namespace.
    pub fn namespace(mut self, namespace: &str) -> Self {
        namespace.clone_into(&mut self.namespace);
        self
    }

    /// Sets the number of pods.
    pub fn replicas(mut self, replicas: usize) -> Self {
        self.replicas = replicas;
        self
    }

    /// Sets the nodes, which the pods take in turn. A DaemonSet has one pod on each.
    pub fn nodes(mut self, nodes: &[&str]) -> Self {
        self.nodes = nodes.iter().map(|&node| node.to_owned()).collect();
        self
    }

    /// Adds a container.
    pub fn container(self, name: &str, image: &str) -> Self {
        self.add("containers", name, image, json!({}))
    }

    /// Adds a plain init container.
    pub fn init_container(self, name: &str, image: &str) -> Self {
        self.add("initContainers", name, image, json!({}))
    }

    /// Adds a sidecar: an init container that is always restarted.
    pub fn sidecar(self, name: &str, image: &str) -> Self {
        self.add("initContainers", name, image, json!({"restartPolicy": "Always"}))
    }

    /// Adds a container with fields of its own, say a readiness probe.
    pub fn container_with(self, name: &str, image: &str, fields: Value) -> Self {
        self.add("containers", name, image, fields)
    }

    fn add(mut self, list: &str, name: &str, image: &str, fields: Value) -> Self {
        let mut container = json!({"name": name, "image": image, "resources": {},
            "terminationMessagePath": "/dev/termination-log", "terminationMessagePolicy": "File",
            "imagePullPolicy": "IfNotPresent"});
        if let (Some(map), Value::Object(fields)) = (container.as_object_mut(), fields) {
            map.extend(fields);
        }
        match self.template["spec"][list].as_array_mut() {
            Some(all) => all.push(container),
            None => self.template["spec"][list] = json!([container]),
        }
        self
    }

    /// Changes the pod template in any other way.
    pub fn template(mut self, edit: impl FnOnce(&mut Value)) -> Self {
        edit(&mut self.template);
        self
    }

    /// Merges fields into the owner's spec: strategy, `minReadySeconds`, `paused`.
    pub fn spec(mut self, fields: &Value) -> Self {
        overlay(&mut self.spec, fields);
        self
    }

    /// Sets an annotation of the owner.
    pub fn annotation(mut self, key: &str, value: &str) -> Self {
        self.annotations[key] = value.into();
        self
    }

    /// Returns the owner, its revisions and its pods, in this order.
    pub fn objects(&self) -> Vec<Value> {
        let mut complete = self.clone();
        let mut pod = json!({"kind": "Pod", "spec": complete.template["spec"]});
        crate::api_server::fill_defaults(&mut pod);
        complete.template["spec"] = pod["spec"].take();
        complete.all_objects()
    }

    fn all_objects(&self) -> Vec<Value> {
        let mut objects = match self.kind {
            Kind::Pod => return vec![self.one_pod(&self.name, 0, None)],
            Kind::Deployment => vec![self.owner(), self.replica_set_object(true)],
            Kind::ReplicaSet => vec![self.replica_set_object(false)],
            Kind::StatefulSet | Kind::DaemonSet => vec![self.owner(), self.controller_revision()],
        };
        let (kind, owner) = match self.kind {
            Kind::Deployment => ("ReplicaSet", self.replica_set_name()),
            Kind::ReplicaSet => ("ReplicaSet", self.name.clone()),
            Kind::StatefulSet => ("StatefulSet", self.name.clone()),
            Kind::DaemonSet => ("DaemonSet", self.name.clone()),
            Kind::Pod => return objects,
        };
        let owner = reference(kind, &owner, &self.uid_of(kind, &owner));
        let names = self.pod_names();
        objects.extend(names.iter().enumerate().map(|(index, name)| self.one_pod(name, index, Some(&owner))));
        objects
    }

    /// Returns the names of the pods, as Kubernetes makes them.
    pub fn pod_names(&self) -> Vec<String> {
        let suffix = |index: usize| letters(&format!("{}/{}/{index}", self.namespace, self.name), 5);
        (0..self.count())
            .map(|index| match self.kind {
                Kind::Deployment => format!("{}-{}", self.replica_set_name(), suffix(index)),
                Kind::ReplicaSet | Kind::DaemonSet => format!("{}-{}", self.name, suffix(index)),
                Kind::StatefulSet => format!("{}-{index}", self.name),
                Kind::Pod => self.name.clone(),
            })
            .collect()
    }

    /// Returns the hash of the template: `pod-template-hash`, `controller-revision-hash`.
    pub fn hash(&self) -> String {
        let lists = ["initContainers", "containers"].map(|list| self.template["spec"][list].as_array());
        let containers = lists.into_iter().flatten().flatten();
        let images: String = containers.map(|one| format!(" {}={}", one["name"], one["image"])).collect();
        letters(&format!("{}{images}", self.name), 10)
    }

    fn replica_set_name(&self) -> String {
        format!("{}-{}", self.name, self.hash())
    }

    fn count(&self) -> usize {
        if self.kind == Kind::DaemonSet { self.nodes.len() } else { self.replicas }
    }

    fn uid_of(&self, kind: &str, name: &str) -> String {
        uid(&format!("{kind}/{}/{name}", self.namespace))
    }

    fn metadata(&self, kind: &str, name: &str) -> Value {
        json!({"name": name, "namespace": self.namespace, "uid": self.uid_of(kind, name), "generation": 1,
            "creationTimestamp": clock::earlier_text(), "labels": self.template["metadata"]["labels"]})
    }

    fn owner(&self) -> Value {
        let (kind, count) = (format!("{:?}", self.kind), self.count());
        let mut metadata = self.metadata(&kind, &self.name);
        let mut annotations = self.annotations.clone();
        let mut spec = json!({"selector": {"matchLabels": {"app": self.name}}, "template": self.template,
            "revisionHistoryLimit": 10});
        let status = match self.kind {
            Kind::StatefulSet => {
                json_patch::merge(
                    &mut spec,
                    &json!({"replicas": count, "serviceName": self.name,
                    "podManagementPolicy": "OrderedReady",
                    "updateStrategy": {"type": "RollingUpdate", "rollingUpdate": {"partition": 0}}}),
                );
                let revision = format!("{}-{}", self.name, self.hash());
                json!({"observedGeneration": 1, "replicas": count, "readyReplicas": count, "availableReplicas": count,
                    "currentReplicas": count, "updatedReplicas": count, "currentRevision": revision,
                    "updateRevision": revision, "collisionCount": 0})
            }
            Kind::DaemonSet => {
                annotations["deprecated.daemonset.template.generation"] = "1".into();
                json_patch::merge(
                    &mut spec,
                    &json!({"updateStrategy": {"type": "RollingUpdate",
                    "rollingUpdate": {"maxUnavailable": 1, "maxSurge": 0}}}),
                );
                json!({"observedGeneration": 1, "currentNumberScheduled": count, "desiredNumberScheduled": count,
                    "numberAvailable": count, "numberReady": count, "updatedNumberScheduled": count,
                    "numberMisscheduled": 0})
            }
            Kind::Deployment | Kind::ReplicaSet | Kind::Pod => {
                annotations["deployment.kubernetes.io/revision"] = "1".into();
                json_patch::merge(
                    &mut spec,
                    &json!({"replicas": count, "progressDeadlineSeconds": 600,
                    "strategy": {"type": "RollingUpdate", "rollingUpdate": {"maxUnavailable": "25%", "maxSurge": "25%"}}}),
                );
                let progressed = format!("ReplicaSet \"{}\" has successfully progressed.", self.replica_set_name());
                json!({"observedGeneration": 1, "replicas": count, "updatedReplicas": count, "readyReplicas": count,
                    "availableReplicas": count, "conditions": [
                        {"type": "Available", "status": "True", "reason": "MinimumReplicasAvailable",
                            "message": "Deployment has minimum availability."},
                        {"type": "Progressing", "status": "True", "reason": "NewReplicaSetAvailable",
                            "message": progressed}]})
            }
        };
        json_patch::merge(&mut spec, &self.spec);
        metadata["annotations"] = annotations;
        json!({"apiVersion": "apps/v1", "kind": kind, "metadata": metadata, "spec": spec, "status": status})
    }

    fn replica_set_object(&self, owned: bool) -> Value {
        let name = if owned { self.replica_set_name() } else { self.name.clone() };
        let mut metadata = self.metadata("ReplicaSet", &name);
        let mut selector = json!({"app": self.name});
        let mut template = self.template.clone();
        let mut annotations = self.annotations.clone();
        if owned {
            metadata["labels"]["pod-template-hash"] = self.hash().into();
            selector["pod-template-hash"] = self.hash().into();
            template["metadata"]["labels"]["pod-template-hash"] = self.hash().into();
            metadata["ownerReferences"] =
                json!([reference("Deployment", &self.name, &self.uid_of("Deployment", &self.name))]);
            annotations["deployment.kubernetes.io/revision"] = "1".into();
            annotations["deployment.kubernetes.io/desired-replicas"] = self.replicas.to_string().into();
            annotations["deployment.kubernetes.io/max-replicas"] = (self.replicas + 1).to_string().into();
        }
        metadata["annotations"] = annotations;
        let count = self.replicas;
        json!({"apiVersion": "apps/v1", "kind": "ReplicaSet", "metadata": metadata,
            "spec": {"replicas": count, "selector": {"matchLabels": selector}, "template": template},
            "status": {"observedGeneration": 1, "replicas": count, "fullyLabeledReplicas": count,
                "readyReplicas": count, "availableReplicas": count}})
    }

    fn controller_revision(&self) -> Value {
        let (kind, name) = (format!("{:?}", self.kind), format!("{}-{}", self.name, self.hash()));
        let mut metadata = self.metadata("ControllerRevision", &name);
        metadata["labels"]["controller.kubernetes.io/hash"] = self.hash().into();
        if self.kind == Kind::DaemonSet {
            metadata["labels"]["controller-revision-hash"] = self.hash().into();
        }
        metadata["ownerReferences"] = json!([reference(&kind, &self.name, &self.uid_of(&kind, &self.name))]);
        let mut template = self.template.clone();
        template["$patch"] = "replace".into();
        json!({"apiVersion": "apps/v1", "kind": "ControllerRevision", "metadata": metadata, "revision": 1,
            "data": {"spec": {"template": template}}})
    }

    fn one_pod(&self, name: &str, index: usize, owner: Option<&Value>) -> Value {
        let mut metadata = self.metadata("Pod", name);
        match self.kind {
            Kind::Deployment => metadata["labels"]["pod-template-hash"] = self.hash().into(),
            Kind::StatefulSet => {
                metadata["labels"]["controller-revision-hash"] = format!("{}-{}", self.name, self.hash()).into();
                metadata["labels"]["statefulset.kubernetes.io/pod-name"] = name.into();
                metadata["labels"]["apps.kubernetes.io/pod-index"] = index.to_string().into();
            }
            Kind::DaemonSet => {
                metadata["labels"]["controller-revision-hash"] = self.hash().into();
                metadata["labels"]["pod-template-generation"] = "1".into();
            }
            Kind::ReplicaSet | Kind::Pod => {}
        }
        if let Some(annotations) = self.template.pointer("/metadata/annotations") {
            metadata["annotations"] = annotations.clone();
        }
        if let Some(owner) = owner {
            metadata["ownerReferences"] = json!([owner]);
        }
        let mut spec = self.template["spec"].clone();
        spec["nodeName"] = self.nodes.get(index % self.nodes.len().max(1)).cloned().unwrap_or_default().into();
        let status = running(&spec, name, index);
        json!({"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": spec, "status": status})
    }
}

fn reference(kind: &str, name: &str, uid: &str) -> Value {
    json!({"apiVersion": "apps/v1", "kind": kind, "name": name, "uid": uid, "controller": true,
        "blockOwnerDeletion": true})
}

/// The status of a pod whose containers all run and are ready.
fn running(spec: &Value, pod: &str, index: usize) -> Value {
    let now = clock::started_text();
    let status = |container: &Value, init: bool| {
        let (name, image) =
            (container["name"].as_str().unwrap_or_default(), container["image"].as_str().unwrap_or_default());
        let id = format!("containerd://{}", crate::api_server::hex64(&format!("{pod}/{name}")));
        let done = init && container["restartPolicy"] != "Always";
        let state = if done {
            json!({"terminated": {"exitCode": 0, "reason": "Completed", "startedAt": now, "finishedAt": now, "containerID": id}})
        } else {
            json!({"running": {"startedAt": now}})
        };
        let mut status = json!({"name": name, "image": crate::api_server::normalised(image),
            "imageID": crate::api_server::image_id(image), "containerID": id, "lastState": {}, "ready": true,
            "restartCount": 0, "started": !done, "state": state, "resources": container["resources"]});
        let requests = &container["resources"]["requests"];
        if requests.is_object() {
            status["allocatedResources"] = requests.clone();
        }
        status
    };
    let all = |list: &str, init: bool| -> Vec<Value> {
        spec[list].as_array().into_iter().flatten().map(|container| status(container, init)).collect()
    };
    let conditions: Vec<Value> = ["PodReadyToStartContainers", "Initialized", "Ready", "ContainersReady", "PodScheduled"]
        .iter()
        .map(|kind| {
            json!({"type": kind, "observedGeneration": 1, "status": "True", "lastProbeTime": null, "lastTransitionTime": now})
        })
        .collect();
    let mut status = json!({"observedGeneration": 1, "phase": "Running", "conditions": conditions,
        "hostIP": "192.0.2.1", "podIP": format!("10.0.0.{}", index + 2), "startTime": now, "qosClass": "BestEffort",
        "containerStatuses": all("containers", false)});
    if !spec["resources"].is_null() {
        status["resources"] = spec["resources"].clone();
        status["allocatedResources"] = spec["resources"]["requests"].clone();
    }
    if spec["initContainers"].is_array() {
        status["initContainerStatuses"] = all("initContainers", true).into();
    }
    status
}

/// Lays fields over others and keeps nulls: they take away what the kind's defaults have.
fn overlay(under: &mut Value, fields: &Value) {
    match (under.as_object_mut(), fields.as_object()) {
        (Some(under), Some(fields)) => {
            for (name, value) in fields {
                overlay(under.entry(name.as_str()).or_insert(Value::Null), value);
            }
        }
        _ => *under = fields.clone(),
    }
}

/// A Ready node with a kubelet of this version.
pub fn node(name: &str, kubelet_version: &str) -> Value {
    let mut node = bare_node(name, kubelet_version);
    let images =
        REPOSITORIES.iter().flat_map(|repository| TAGS.map(|tag| listed_image(&format!("{repository}:{tag}"))));
    node["status"]["images"] = images.collect();
    node
}

/// The images that a node lists from the beginning, so that nothing has to be pulled there first. Tags that cannot be
/// pulled are none of them.
const REPOSITORIES: [&str; 9] =
    ["acme/app", "acme/side", "acme/mesh", "acme/log", "acme/all", "acme/migrate", "acme/init", "acme/db", "acme/q"];
const TAGS: [&str; 16] = [
    "v0",
    "v1",
    "v2",
    "v3",
    "v4",
    "v7",
    "v9",
    "v1-again",
    "1",
    "2",
    "3",
    "1.27.1",
    "1.27.2",
    "crash",
    "never-ready",
    "slow",
];

/// The bytes that every image has.
pub(crate) const IMAGE_SIZE: u64 = 1_000_000;

/// An image as a node's status lists it.
pub fn listed_image(image: &str) -> Value {
    let names = [crate::api_server::image_id(image), crate::api_server::normalised(image)];
    json!({"names": names, "sizeBytes": IMAGE_SIZE})
}

/// A node that is Ready and lists no image.
pub fn bare_node(name: &str, kubelet_version: &str) -> Value {
    json!({"apiVersion": "v1", "kind": "Node",
        "metadata": {"name": name, "uid": uid(name), "labels": {"kubernetes.io/hostname": name}}, "spec": {},
        "status": {"nodeInfo": {"kubeletVersion": kubelet_version, "operatingSystem": "linux", "architecture": "amd64",
                "containerRuntimeVersion": "containerd://2.1.0"},
            "conditions": [{"type": "Ready", "status": "True", "reason": "KubeletReady"}], "images": []}})
}

/// A namespace.
pub fn namespace(name: &str) -> Value {
    json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}, "status": {"phase": "Active"}})
}

/// A Service that selects by labels.
pub fn service(name: &str, selector: &Value) -> Value {
    json!({"apiVersion": "v1", "kind": "Service", "metadata": {"name": name},
        "spec": {"selector": selector, "ports": [{"port": 80, "protocol": "TCP"}]}, "status": {}})
}

/// A PodDisruptionBudget over `app=NAME` that allows `allowed` disruptions now.
pub fn budget(app: &str, allowed: u64) -> Value {
    json!({"apiVersion": "policy/v1", "kind": "PodDisruptionBudget",
        "metadata": {"name": format!("{app}-budget"), "generation": 1},
        "spec": {"minAvailable": 1, "selector": {"matchLabels": {"app": app}}},
        "status": {"observedGeneration": 1, "disruptionsAllowed": allowed, "currentHealthy": 3, "desiredHealthy": 1,
            "expectedPods": 3}})
}
