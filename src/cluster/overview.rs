//! Every workload of a namespace, or of all: one list a kind instead of a few requests a workload.

use engine::value::hint::{Hint, kubectl};
use std::collections::{BTreeSet, HashMap};

use futures::StreamExt;
use serde::{Deserialize, Deserializer};
use serde_json::{Value, json};

use super::error::{ClusterError, Result};
use super::objects::CONTROLLER_REVISIONS;
use super::send::{ListedPod, is_orphaned};
use super::snapshot::{denied, holder, read_workload};
use super::{AT_ONCE, Cluster};
use engine::k8s::names::{PodKey, Uid, WorkloadRef};
use engine::k8s::pod::Pod;
use engine::k8s::workload::{Workload, controller_of};
use engine::kinds::{NOTED_AT, PODS, WorkloadKind};
use engine::plan::assemble::{Objects, assemble};
use engine::plan::{Denied, Snapshot, may_be_left};
use engine::rollout::is_pull_pod_of;
use engine::rollout::pre_pull::{PULL_LABEL, is_pull_pod, pull_selector};
use engine::value::selector;

#[derive(Debug, Clone, PartialEq, Default)]
pub struct Overview {
    /// The workloads by namespace, kind and name: no ReplicaSet that is a Deployment's, no pod that is anybody's.
    pub workloads: Vec<Snapshot>,
    /// Pods of this program's that pull images, and what becomes of each.
    pub pulling: Vec<Hint>,
    pub not_read: Vec<String>,
    /// The first kind of workload that the caller may not list: of none found nothing follows then.
    pub forbidden: Option<ClusterError>,
}

impl Cluster {
    /// Reads every workload with its pods, of all namespaces where none is named, without pods of Jobs and nodes.
    ///
    /// # Errors
    /// What the server or the way to it says, unless it is that the caller may not list a kind: that is part of the answer.
    /// Without the pods there is none.
    pub async fn overview(&self, namespace: Option<&str>) -> Result<Overview> {
        let kinds = WorkloadKind::ALL.into_iter().filter(|kind| kind.has_template());
        let lists = kinds.clone().map(|kind| self.list::<Slim>(kind.into(), namespace, &[]));
        let (lists, controller_revisions, pods) = futures::join!(
            futures::future::join_all(lists),
            self.list::<Slim>(CONTROLLER_REVISIONS, namespace, &[]),
            self.list::<ListedPod>(PODS.into(), namespace, &[]),
        );
        let mut reading = Reading { now: self.now(), ..Reading::default() };
        let mut pods: Vec<Pod> = pods?.into_iter().map(|ListedPod(pod)| pod).collect();
        for (kind, objects) in kinds.zip(lists) {
            // A server may lack the kinds of others; nobody may list what is not there.
            let owns = |pod: &Pod| pod.controller().is_some_and(|owner| owner.is(kind));
            let is_there = || kind.is_built_in() || pods.iter().any(owns) || reading.has_owned_by(kind);
            if objects.is_ok() || is_there() {
                reading.of_kind(kind, objects)?;
            }
        }
        reading.controller_revisions(controller_revisions)?;
        let pulling = self.pulling(namespace, &mut pods).await?;
        let mut overview = Overview { pulling, ..reading.finish(pods) };
        self.read_revisions(&mut overview).await;
        Ok(overview)
    }

    /// Of ReplicaSets and ControllerRevisions only the metadata was kept. Where that may show a rollout that the owner
    /// does not, they are read whole, as for one workload.
    async fn read_revisions(&self, overview: &mut Overview) {
        let (doubtful, clear): (Vec<_>, Vec<_>) = overview.workloads.iter_mut().partition(|live| may_be_left(live));
        clear.into_iter().for_each(|live| live.surroundings.owned = Vec::new());
        let reads = futures::stream::iter(doubtful).map(async |live| match self.owned(&live.workload).await {
            Ok(owned) => live.surroundings.owned = owned,
            Err(error) => {
                live.surroundings.owned = Vec::new();
                live.not_read.push(format!(
                    "its revisions could not be read ({error}), so it is not known whether a rollout was left"
                ));
            }
        });
        reads.buffer_unordered(AT_ONCE).collect::<()>().await;
        for live in &mut overview.workloads {
            live.surroundings.holder = holder(live);
        }
    }

    /// Says what becomes of each pod that pulls images for one of these workloads, to a caller that may list them.
    pub async fn pulling_for(&self, workloads: &[&WorkloadRef]) -> Vec<Hint> {
        let namespaces: BTreeSet<&str> = workloads.iter().map(|workload| workload.namespace.as_str()).collect();
        let mut reported = Vec::new();
        for namespace in namespaces {
            let found = self.all_pull_pods(Some(namespace)).await.unwrap_or_default();
            let here = || workloads.iter().filter(|workload| workload.namespace == namespace);
            let is_theirs = |pod: &&Value| here().any(|workload| is_pull_pod_of(workload, pod));
            let now = self.now();
            reported.extend(found.iter().filter(is_theirs).map(|pod| fate_of(pod, now.as_deref())));
        }
        reported
    }

    async fn all_pull_pods(&self, namespace: Option<&str>) -> Result<Vec<Value>> {
        self.list(PODS.into(), namespace, &[("labelSelector", pull_selector(None).as_str())]).await
    }

    /// Takes the pods that pull images for this program out of a list, and says what becomes of each.
    async fn pulling(&self, namespace: Option<&str>, pods: &mut Vec<Pod>) -> Result<Vec<Hint>> {
        if !pods.iter().any(|pod| pod.labels.contains_key(PULL_LABEL)) {
            return Ok(Vec::new());
        }
        let found: Vec<Value> = self.all_pull_pods(namespace).await?.into_iter().filter(is_pull_pod).collect();
        let uid = |pod: &Value| pod.pointer("/metadata/uid").and_then(Value::as_str).map(Uid::from);
        let uids: BTreeSet<Uid> = found.iter().filter_map(uid).collect();
        pods.retain(|pod| !uids.contains(&pod.key.uid));
        let now = self.now();
        Ok(found.iter().map(|pod| fate_of(pod, now.as_deref())).collect())
    }
}

fn fate_of(pod: &Value, now: Option<&str>) -> Hint {
    let text = |pointer: &str| pod.pointer(pointer).and_then(Value::as_str).unwrap_or_default();
    let (namespace, name) = (text("/metadata/namespace"), text("/metadata/name"));
    if is_orphaned(pod, now) {
        let what = "a run that is gone has left a pod that pulls images, which the next run of its workload deletes unless it is given --pre-pull=never; to delete it now: ";
        Hint::from(what).command(kubectl("delete").of(format!("pod/{name}")).in_namespace(namespace))
    } else {
        format!("pod/{name} in namespace {namespace} pulls images for a run that has not begun to update").into()
    }
}

/// An object of a list without managed fields, except which managers hold a controller, and of a revision the metadata alone.
struct Slim(Value);

/// Keeps of the managed fields which managers have set what holds a controller. The items of a list have no kind.
fn keep_holders(fields: &mut Value) {
    if let Some(entries) = fields.as_array_mut() {
        entries.retain_mut(|entry| {
            let is_noted = |path: &&str| entry.get("fieldsV1").is_some_and(|fields| fields.pointer(path).is_some());
            let mut kept = Value::Null;
            for path in NOTED_AT.into_iter().filter(is_noted) {
                let leaf = path.split('/').skip(1).fold(&mut kept, |fields, field| &mut fields[field]);
                *leaf = json!({});
            }
            *entry = json!({"manager": entry.get("manager"), "fieldsV1": kept});
            !kept.is_null()
        });
    }
}

impl<'de> Deserialize<'de> for Slim {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let mut object = Value::deserialize(deserializer)?;
        let is_revision = owning_workload(&object).is_some();
        if let Some(metadata) = object.get_mut("metadata").and_then(Value::as_object_mut) {
            match metadata.get_mut("managedFields").filter(|_| !is_revision) {
                Some(fields) => keep_holders(fields),
                None => drop(metadata.remove("managedFields")),
            }
        }
        if is_revision && let Some(map) = object.as_object_mut() {
            map.retain(|key, _| key == "metadata" || key == "revision");
        }
        Ok(Self(object))
    }
}

/// Returns the uid of the workload that controls an object; a controller of another kind (an operator's) is none.
fn owning_workload(object: &Value) -> Option<Uid> {
    owner_of(object).map(|(_, uid)| uid)
}

fn owner_of(object: &Value) -> Option<(WorkloadKind, Uid)> {
    let owner = controller_of(object)?;
    let text = |key: &str| owner.get(key).and_then(Value::as_str);
    let kind = WorkloadKind::of_owner(text("apiVersion")?, text("kind")?)?;
    Some((kind, Uid::from(text("uid")?)))
}

#[derive(Default)]
struct Reading {
    workloads: Vec<Workload>,
    /// ReplicaSets and ControllerRevisions by what controls them.
    owned: HashMap<Uid, Vec<Value>>,
    replica_sets_denied: Option<Denied>,
    not_read: Vec<String>,
    /// The server's time once everything was read.
    now: Option<String>,
    forbidden: Option<ClusterError>,
}

type Listed = Result<Vec<Slim>>;

impl Reading {
    /// Of a kind whose objects the controller of another one makes, some are users' own.
    fn of_kind(&mut self, kind: WorkloadKind, objects: Listed) -> Result<()> {
        let maker = kind.made_by();
        match objects {
            Ok(objects) => {
                for Slim(object) in objects {
                    match owning_workload(&object).filter(|_| maker.is_some()) {
                        None => self.workloads.push(read_workload(kind, object)?),
                        Some(uid) => self.owned.entry(uid).or_default().push(object),
                    }
                }
            }
            Err(error) => {
                let plural = kind.spec().plural;
                let by_labels = |maker: WorkloadKind| {
                    format!(", and whose the pods of {} are is known by their labels alone", maker.spec().plural)
                };
                let but = maker.map(by_labels).unwrap_or_default();
                self.not_read.push(format!("the {plural} could not be listed ({error}), so none is shown{but}"));
                let denied = denied(error.clone())?;
                self.replica_sets_denied = maker.map(|_| denied).or(self.replica_sets_denied.take());
                self.forbidden.get_or_insert(error);
            }
        }
        Ok(())
    }

    fn has_owned_by(&self, kind: WorkloadKind) -> bool {
        self.owned.values().flatten().any(|object| owner_of(object).is_some_and(|(known, _)| known == kind))
    }

    fn controller_revisions(&mut self, objects: Listed) -> Result<()> {
        match objects {
            Err(error) => {
                let denied = denied(error)?;
                self.not_read.push(format!(
                    "the controllerrevisions could not be listed ({}), so it is not known whether pods of workloads are of an older one",
                    denied.message
                ));
            }
            Ok(objects) => {
                for Slim(object) in objects {
                    if let Some(uid) = owning_workload(&object) {
                        self.owned.entry(uid).or_default().push(object);
                    }
                }
            }
        }
        Ok(())
    }

    fn finish(mut self, pods: Vec<Pod>) -> Overview {
        let mut by_controller: HashMap<Uid, Vec<Pod>> = HashMap::new();
        let mut alone: Vec<Snapshot> = Vec::new();
        for pod in pods {
            match pod.controller().map(|owner| owner.uid.clone()) {
                Some(uid) => by_controller.entry(uid).or_default().push(pod),
                None => alone.push(of_pod(pod)),
            }
        }
        let workloads = std::mem::take(&mut self.workloads);
        let mut lives: Vec<Snapshot> =
            workloads.into_iter().map(|workload| self.live(workload, &mut by_controller)).collect();
        lives.extend(alone);
        let place = |live: &Snapshot| {
            let WorkloadRef { kind, namespace, name } = &live.workload.reference;
            (namespace.clone(), *kind, name.clone())
        };
        lives.sort_by_cached_key(place);
        Overview { workloads: lives, pulling: Vec::new(), not_read: self.not_read, forbidden: self.forbidden }
    }

    fn live(&mut self, workload: Workload, pods: &mut HashMap<Uid, Vec<Pod>>) -> Snapshot {
        let owned = self.owned.remove(&workload.uid).unwrap_or_default();
        let mut live = assemble(workload, Objects { owned, ..Objects::default() });
        live.surroundings.server_now.clone_from(&self.now);
        let Snapshot { workload, controllers, .. } = &live;
        let mut found: Vec<Pod> = controllers.iter().filter_map(|uid| pods.remove(uid)).flatten().collect();
        if workload.reference.kind.owns_through().is_some()
            && let Some(denied) = &self.replica_sets_denied
        {
            let selected = workload.object.pointer("/spec/selector").unwrap_or(&Value::Null);
            let namespace = &workload.reference.namespace;
            let matching = pods.values().flatten();
            let matching =
                matching.filter(|pod| pod.key.namespace == *namespace && selector::matches(selected, &pod.labels));
            found = matching.cloned().collect();
            live.surroundings.denied.push(denied.clone());
        }
        live.pods = found;
        live
    }
}

/// A pod that nobody controls. Of its object only what names it is kept: the pod itself says the rest.
fn of_pod(pod: Pod) -> Snapshot {
    let PodKey { namespace, name, uid } = &pod.key;
    let object = json!({"metadata": {"namespace": namespace, "name": name, "uid": uid}});
    let reference = WorkloadRef { kind: PODS, namespace: namespace.clone(), name: name.clone() };
    let workload = Workload { reference, uid: uid.clone(), object };
    assemble(workload, Objects { pods: vec![pod], ..Objects::default() })
}
