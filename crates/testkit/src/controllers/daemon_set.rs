//! The DaemonSet controller (kube-controller-manager `pkg/controller/daemon`): one pod a node, compared by the hash label
//! of the revision that holds the template.

use std::collections::BTreeMap;

use serde_json::json;

use super::fields::{
    REVISION_HASH, annotation, at, generation, is_terminating, label, name, number, pod, portion, put, template, text,
    uid,
};
use super::{Api, Kind, Object, claim, revisions};
use crate::api_model::{Refused, TEMPLATE_GENERATION};

/// The API server raises it with every change of the template.
const GENERATION_LABEL: &str = "pod-template-generation";

/// What it remembers between syncs: the version of the pods that its cache has to show before it acts (expectations).
#[derive(Debug, Default)]
pub struct DaemonSetController {
    expects: BTreeMap<String, u64>,
}

/// A sync in progress.
struct Sync<'a, A> {
    api: &'a mut A,
    set: Object,
    nodes: Vec<String>,
    pods: Vec<Object>,
    /// The hash of the revision of the template.
    hash: String,
    /// Whether something was written that the cache has to show.
    has_acted: bool,
}

impl DaemonSetController {
    /// One sync of a DaemonSet.
    pub fn sync(&mut self, api: &mut impl Api, namespace: &str, key: &str) -> Result<(), Refused> {
        let Some(set) = api.cached(Kind::DaemonSet, namespace, key) else { return Ok(()) };
        let known = api.owned(Kind::ControllerRevision, &set);
        let pods = claim(api, "DaemonSet", &set);
        if is_terminating(&set) {
            return Ok(());
        }
        let (current, old) = current_revision(api, &set, known, &pods)?;
        let has_seen = self.expects.get(uid(&set)).is_none_or(|version| *version <= api.cached_at(Kind::Pod));
        let hash = label(&current, REVISION_HASH).to_owned();
        let nodes = api.nodes(&set);
        let mut sync = Sync { api, set, nodes, pods, hash, has_acted: false };
        if !has_seen {
            sync.report(false);
            return Ok(());
        }
        let managed = sync.manage();
        if managed.is_ok() && !sync.has_acted && text(&sync.set, &["spec", "updateStrategy", "type"]) == "RollingUpdate"
        {
            sync.roll();
        }
        if sync.has_acted {
            self.expects.insert(uid(&sync.set).to_owned(), sync.api.version());
        }
        managed?;
        sync.clean_up(&old);
        sync.report(true);
        Ok(())
    }
}

impl<A: Api> Sync<'_, A> {
    /// Of two on a node, the one that stays.
    fn by_node(&self) -> BTreeMap<String, Object> {
        let mut by_node: BTreeMap<String, Object> = BTreeMap::new();
        for pod in self.pods.iter().filter(|pod| self.nodes.iter().any(|node| node == node_of(pod))) {
            let place = by_node.entry(node_of(pod).to_owned()).or_insert_with(|| pod.clone());
            if is_terminating(place) {
                *place = pod.clone();
            }
        }
        by_node
    }

    fn manage(&mut self) -> Result<(), Refused> {
        let by_node = self.by_node();
        for node in self.nodes.clone().into_iter().filter(|node| !by_node.contains_key(node)) {
            let key = format!("{}-{}", name(&self.set), self.api.suffix());
            let mut made = pod(&key, template(&self.set), "DaemonSet", &self.set);
            put(&mut made, &["spec", "nodeName"], json!(node));
            put(&mut made, &["metadata", "labels", REVISION_HASH], json!(self.hash));
            let generation = annotation(&self.set, TEMPLATE_GENERATION).unwrap_or_default();
            put(&mut made, &["metadata", "labels", GENERATION_LABEL], json!(generation));
            self.api.create(Kind::Pod, made)?;
            self.has_acted = true;
            self.api.event(&self.set, Kind::DaemonSet, "SuccessfulCreate", &format!("Created pod: {key}"));
        }
        for pod in self.pods.clone() {
            if !self.nodes.iter().any(|node| node == node_of(&pod)) && !is_terminating(&pod) {
                self.delete(&pod);
            }
        }
        Ok(())
    }

    fn delete(&mut self, pod: &Object) {
        if self.api.delete(Kind::Pod, pod, true).is_ok() {
            self.api.event(&self.set, Kind::DaemonSet, "SuccessfulDelete", &format!("Deleted pod: {}", name(pod)));
        }
        self.has_acted = true;
    }

    fn is_available(&self, pod: &Object) -> bool {
        !is_terminating(pod) && self.api.is_available(pod, number(&self.set, &["spec", "minReadySeconds"]))
    }

    /// `rollingUpdate`: old pods that are not available go at once, the others as `maxUnavailable` lets them.
    fn roll(&mut self) {
        let by_node = self.by_node();
        let down = by_node.values().filter(|pod| !self.is_available(pod)).count();
        let missing = self.nodes.len() - by_node.len();
        let given = at(&self.set, &["spec", "updateStrategy", "rollingUpdate", "maxUnavailable"]);
        let most = portion(given, i64::try_from(self.nodes.len()).expect("few"), true);
        let mut budget = usize::try_from(most).unwrap_or(0).saturating_sub(down + missing);
        for pod in by_node.values().filter(|pod| !is_terminating(pod)) {
            if is_updated(&self.set, pod, &self.hash) {
                continue;
            }
            if !self.is_available(pod) {
                self.delete(pod);
            } else if budget > 0 {
                budget -= 1;
                self.delete(pod);
            }
        }
    }

    fn report(&mut self, observed: bool) {
        let by_node = self.by_node();
        let count = |is: &dyn Fn(&Object) -> bool| by_node.values().filter(|pod| is(pod)).count();
        let available = count(&|pod| self.is_available(pod));
        let counts = [
            ("desiredNumberScheduled", self.nodes.len()),
            ("currentNumberScheduled", by_node.len()),
            ("numberMisscheduled", 0),
            ("numberReady", count(&|pod| !is_terminating(pod) && self.api.is_ready(pod))),
            ("updatedNumberScheduled", count(&|pod| is_updated(&self.set, pod, &self.hash))),
            ("numberAvailable", available),
            ("numberUnavailable", self.nodes.len().saturating_sub(available)),
        ];
        let mut status = at(&self.set, &["status"]).clone();
        for (field, count) in counts {
            put(&mut status, &[field], json!(count));
            let is_left_out =
                count == 0 && ["updated", "numberAvailable", "numberUn"].iter().any(|it| field.starts_with(it));
            if let Some(status) = status.as_object_mut().filter(|_| is_left_out) {
                status.shift_remove(field);
            }
        }
        if observed {
            put(&mut status, &["observedGeneration"], json!(generation(&self.set)));
        }
        if status != *at(&self.set, &["status"]) {
            self.api.set_status(Kind::DaemonSet, &self.set, status);
        }
    }

    fn clean_up(&mut self, old: &[Object]) {
        let limit = usize::try_from(number(&self.set, &["spec", "revisionHistoryLimit"])).expect("a limit");
        let mut surplus = old.len().saturating_sub(limit);
        let mut sorted: Vec<&Object> = old.iter().collect();
        sorted.sort_by_key(|revision| revisions::revision_number(revision));
        for revision in sorted {
            let is_live = self.pods.iter().any(|pod| label(pod, REVISION_HASH) == label(revision, REVISION_HASH));
            if surplus > 0 && !is_live {
                self.api.delete(Kind::ControllerRevision, revision, false).ok();
                surplus -= 1;
            }
        }
    }
}

fn node_of(pod: &Object) -> &str {
    text(pod, &["spec", "nodeName"])
}

/// `IsPodUpdated` (pkg/controller/daemon/util/daemonset_util.go).
fn is_updated(set: &Object, pod: &Object, hash: &str) -> bool {
    let same_generation = annotation(set, TEMPLATE_GENERATION).is_some_and(|of| label(pod, GENERATION_LABEL) == of);
    same_generation || label(pod, REVISION_HASH) == hash
}

/// `constructHistory`: the revision of the template, made or renumbered or the last of several, and the other ones.
fn current_revision(
    api: &mut impl Api,
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
        return Ok((revisions::make(api, set, made)?, old));
    };
    // `dedupCurHistories`.
    for surplus in current {
        for pod in pods.iter().filter(|pod| label(pod, REVISION_HASH) == label(&surplus, REVISION_HASH)) {
            let hash = label(&kept, REVISION_HASH).to_owned();
            api.change(Kind::Pod, pod, |pod| put(pod, &["metadata", "labels", REVISION_HASH], json!(hash)));
        }
        api.delete(Kind::ControllerRevision, &surplus, false).ok();
    }
    if revisions::revision_number(&kept) < next {
        return Ok((revisions::renumber(api, &kept, next)?, old));
    }
    Ok((kept, old))
}
