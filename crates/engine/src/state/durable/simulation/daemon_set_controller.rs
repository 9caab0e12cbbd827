//! The DaemonSet controller (kube-controller-manager `pkg/controller/daemon`): one pod a node, compared by the hash label
//! of the revision that holds the template.

use std::collections::BTreeMap;

use serde_json::json;

use testkit::api_model::{Refused, TEMPLATE_GENERATION};

use super::api_server::{Actor, ApiServer, Caches, Kind, Object};
use super::fields::{
    REVISION_HASH, annotation, at, generation, is_terminating, label, name, number, pod, put, template, text, uid,
};
use super::revisions;

const SELF: Actor = Actor::DaemonSetController;
/// The API server raises it with every change of the template.
const GENERATION_LABEL: &str = "pod-template-generation";

/// What it remembers between syncs: the version of the pods that its cache has to show before it acts (expectations).
#[derive(Debug, Default)]
pub(super) struct DaemonSetController {
    expects: u64,
    made: u64,
    /// The nodes that there are.
    pub(super) nodes: i64,
}

impl DaemonSetController {
    pub(super) fn with(nodes: i64) -> Self {
        Self { nodes, ..Self::default() }
    }

    pub(super) fn sync(&mut self, api: &mut ApiServer, caches: &Caches, key: &str) -> Result<(), Refused> {
        let Some(set) = caches.get(api, Kind::DaemonSet, key) else { return Ok(()) };
        let known = caches.of(api, Kind::ControllerRevision, uid(&set));
        let pods = caches.of(api, Kind::Pod, uid(&set));
        let (current, old) = current_revision(api, &set, known, &pods)?;
        let hash = label(&current, REVISION_HASH).to_owned();
        if self.expects > caches.at(Kind::Pod) {
            self.report(api, &set, &pods, &hash, false);
            return Ok(());
        }
        let by_node = self.by_node(&pods);
        self.manage(api, &set, &by_node, &pods, &hash)?;
        if self.expects <= caches.at(Kind::Pod) && text(&set, &["spec", "updateStrategy", "type"]) == "RollingUpdate" {
            self.roll(api, &set, &by_node, &hash);
        }
        clean_up(api, &set, &old, &pods);
        self.report(api, &set, &pods, &hash, true);
        Ok(())
    }

    fn by_node<'p>(&self, pods: &'p [Object]) -> BTreeMap<i64, &'p Object> {
        let node = |pod: &Object| number(pod, &["spec", "nodeNumber"]);
        // Of two, the one that stays.
        let mut by_node: BTreeMap<i64, &Object> = BTreeMap::new();
        for pod in pods.iter().filter(|pod| node(pod) < self.nodes) {
            let place = by_node.entry(node(pod)).or_insert(pod);
            if is_terminating(place) {
                *place = pod;
            }
        }
        by_node
    }

    fn manage(
        &mut self,
        api: &mut ApiServer,
        set: &Object,
        by_node: &BTreeMap<i64, &Object>,
        pods: &[Object],
        hash: &str,
    ) -> Result<(), Refused> {
        for node in (0..self.nodes).filter(|node| !by_node.contains_key(node)) {
            self.made += 1;
            let mut made = pod(&format!("{}-{}", name(set), self.made), template(set), "DaemonSet", set);
            put(&mut made, &["spec", "nodeNumber"], json!(node));
            put(&mut made, &["metadata", "labels", REVISION_HASH], json!(hash));
            let generation = annotation(set, TEMPLATE_GENERATION).unwrap_or_default();
            put(&mut made, &["metadata", "labels", GENERATION_LABEL], json!(generation));
            api.create(SELF, Kind::Pod, made)?;
            self.expects = api.version();
        }
        for pod in pods.iter().filter(|pod| number(pod, &["spec", "nodeNumber"]) >= self.nodes) {
            if !is_terminating(pod) && api.delete(SELF, Kind::Pod, name(pod), Some(uid(pod))).is_ok() {
                self.expects = api.version();
            }
        }
        Ok(())
    }

    fn roll(&mut self, api: &mut ApiServer, set: &Object, by_node: &BTreeMap<i64, &Object>, hash: &str) {
        let down = by_node.values().filter(|pod| is_terminating(pod)).count();
        let missing = usize::try_from(self.nodes).expect("few") - by_node.len();
        let allowed = number(set, &["spec", "updateStrategy", "rollingUpdate", "maxUnavailable"]);
        let budget = usize::try_from(allowed).expect("small").saturating_sub(down + missing);
        let old = by_node.values().filter(|pod| !is_terminating(pod) && !is_updated(set, pod, hash));
        for pod in old.take(budget) {
            api.delete(SELF, Kind::Pod, name(pod), Some(uid(pod))).ok();
            self.expects = api.version();
        }
    }

    fn report(&self, api: &mut ApiServer, set: &Object, pods: &[Object], hash: &str, observed: bool) {
        let by_node = self.by_node(pods);
        let updated = by_node.values().filter(|pod| is_updated(set, pod, hash)).count();
        let mut status = at(set, &["status"]).clone();
        put(&mut status, &["desiredNumberScheduled"], json!(self.nodes));
        put(&mut status, &["currentNumberScheduled"], json!(by_node.len()));
        put(&mut status, &["updatedNumberScheduled"], json!(updated));
        if observed {
            put(&mut status, &["observedGeneration"], json!(generation(set)));
        }
        if status != *at(set, &["status"]) {
            api.force_status(SELF, Kind::DaemonSet, set, status);
        }
    }
}

/// `IsPodUpdated` (pkg/controller/daemon/util/daemonset_util.go).
fn is_updated(set: &Object, pod: &Object, hash: &str) -> bool {
    let same_generation = annotation(set, TEMPLATE_GENERATION).is_some_and(|of| label(pod, GENERATION_LABEL) == of);
    same_generation || label(pod, REVISION_HASH) == hash
}

/// `constructHistory`: the revision of the template, made or renumbered or the last of several, and the other ones.
fn current_revision(
    api: &mut ApiServer,
    set: &Object,
    known: Vec<Object>,
    pods: &[Object],
) -> Result<(Object, Vec<Object>), Refused> {
    let (mut current, old): (Vec<Object>, Vec<Object>) =
        known.into_iter().partition(|revision| revisions::holds(revision, set));
    let next = old.iter().map(|revision| revisions::revision_number(revision)).max().unwrap_or(0) + 1;
    current.sort_by_key(|revision| revisions::revision_number(revision));
    let Some(kept) = current.pop() else {
        let made = revisions::of(set, "DaemonSet", next, number(set, &["status", "collisionCount"]));
        return Ok((revisions::make(api, SELF, set, made)?, old));
    };
    // `dedupCurHistories`.
    for surplus in current {
        for pod in pods.iter().filter(|pod| label(pod, REVISION_HASH) == label(&surplus, REVISION_HASH)) {
            let hash = label(&kept, REVISION_HASH).to_owned();
            api.change(SELF, Kind::Pod, name(pod), |pod| put(pod, &["metadata", "labels", REVISION_HASH], json!(hash)));
        }
        api.delete(SELF, Kind::ControllerRevision, name(&surplus), None).ok();
    }
    if revisions::revision_number(&kept) < next {
        return Ok((revisions::renumber(api, SELF, &kept, next)?, old));
    }
    Ok((kept, old))
}

fn clean_up(api: &mut ApiServer, set: &Object, old: &[Object], pods: &[Object]) {
    let limit = usize::try_from(number(set, &["spec", "revisionHistoryLimit"])).expect("a limit");
    let mut surplus = old.len().saturating_sub(limit);
    let mut sorted: Vec<&Object> = old.iter().collect();
    sorted.sort_by_key(|revision| revisions::revision_number(revision));
    for revision in sorted {
        let is_live = pods.iter().any(|pod| label(pod, REVISION_HASH) == label(revision, REVISION_HASH));
        if surplus > 0 && !is_live {
            api.delete(SELF, Kind::ControllerRevision, name(revision), None).ok();
            surplus -= 1;
        }
    }
}
