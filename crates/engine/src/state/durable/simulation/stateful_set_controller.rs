//! The StatefulSet controller (kube-controller-manager `pkg/controller/statefulset`): revisions by template, pods by
//! ordinal, one change of a pod a sync (OrderedReady). A pod's revision is its label and nothing else.

use std::collections::BTreeMap;

use serde_json::json;

use testkit::api_model::Refused;

use super::api_server::{Actor, ApiServer, Caches, Kind, Object};
use super::fields::{
    REVISION_HASH, at, generation, is_terminating, label, name, number, pod, put, replicas, same_template, text, uid,
};
use super::revisions;

const SELF: Actor = Actor::StatefulSetController;

struct Sync<'a> {
    api: &'a mut ApiServer,
    set: Object,
    pods: BTreeMap<i64, Object>,
    current: Object,
    update: Object,
}

pub(super) fn sync(api: &mut ApiServer, caches: &Caches, key: &str) -> Result<(), Refused> {
    let Some(set) = caches.get(api, Kind::StatefulSet, key) else { return Ok(()) };
    let mut known = caches.of(api, Kind::ControllerRevision, uid(&set));
    known.sort_by_key(|revision| (revisions::revision_number(revision), name(revision).to_owned()));
    let pods: BTreeMap<i64, Object> = caches
        .of(api, Kind::Pod, uid(&set))
        .into_iter()
        .filter_map(|pod| Some((name(&pod).rsplit('-').next()?.parse().ok()?, pod)))
        .collect();
    let update = update_revision(api, &set, &known)?;
    let named = text(&set, &["status", "currentRevision"]);
    let current = known.iter().find(|revision| name(revision) == named).unwrap_or(&update).clone();
    let mut sync = Sync { api, set, pods, current, update };
    let changed = sync.change_pods();
    sync.report();
    sync.truncate(&known);
    changed
}

/// `getStatefulSetRevisions`.
fn update_revision(api: &mut ApiServer, set: &Object, known: &[Object]) -> Result<Object, Refused> {
    let next = known.last().map_or(0, |last| revisions::revision_number(last)) + 1;
    let equal = known.iter().rev().find(|revision| revisions::holds(revision, set));
    match (equal, known.last()) {
        (Some(equal), Some(last)) if same_template(revisions::held(equal), revisions::held(last)) => Ok(last.clone()),
        (Some(equal), _) => revisions::renumber(api, SELF, equal, next),
        (None, _) => {
            let made = revisions::of(set, "StatefulSet", next, number(set, &["status", "collisionCount"]));
            revisions::make(api, SELF, set, made)
        }
    }
}

impl Sync<'_> {
    fn start(&self) -> i64 {
        number(&self.set, &["spec", "ordinals", "start"])
    }

    /// `None` under OnDelete.
    fn partition(&self) -> Option<i64> {
        let strategy = at(&self.set, &["spec", "updateStrategy"]);
        (text(strategy, &["type"]) != "OnDelete").then(|| number(strategy, &["rollingUpdate", "partition"]))
    }

    fn change_pods(&mut self) -> Result<(), Refused> {
        let (start, end) = (self.start(), self.start() + replicas(&self.set));
        for ordinal in start..end {
            let Some(pod) = self.pods.get(&ordinal) else { return self.create(ordinal) };
            if is_terminating(pod) {
                return Ok(());
            }
        }
        if let Some((_, pod)) = self.pods.iter().rev().find(|(ordinal, _)| !(start..end).contains(*ordinal)) {
            return self.delete(&pod.clone());
        }
        let Some(partition) = self.partition() else { return Ok(()) };
        // The partition counts from the first ordinal.
        for ordinal in (start + partition..end).rev() {
            let Some(pod) = self.pods.get(&ordinal).cloned() else { continue };
            if label(&pod, REVISION_HASH) != name(&self.update) && !is_terminating(&pod) {
                return self.delete(&pod);
            }
            if is_terminating(&pod) {
                return Ok(());
            }
        }
        Ok(())
    }

    fn delete(&mut self, pod: &Object) -> Result<(), Refused> {
        match self.api.delete(SELF, Kind::Pod, name(pod), Some(uid(pod))) {
            Err(Refused::NotFound) => Ok(()),
            deleted => deleted,
        }
    }

    /// `newVersionedStatefulSetPod`.
    fn create(&mut self, ordinal: i64) -> Result<(), Refused> {
        let keeps_current = self.partition().is_some_and(|partition| ordinal < self.start() + partition);
        let revision = if keeps_current { &self.current } else { &self.update };
        let mut template = revisions::held(revision).clone();
        if let Some(template) = template.as_object_mut() {
            template.shift_remove("$patch");
        }
        let mut made = pod(&format!("{}-{ordinal}", name(&self.set)), &template, "StatefulSet", &self.set);
        put(&mut made, &["metadata", "labels", REVISION_HASH], json!(name(revision)));
        self.api.create(SELF, Kind::Pod, made).map(|_| ())
    }

    fn report(&mut self) {
        let counted = self.pods.values().filter(|pod| !is_terminating(pod));
        let with = |revision: &Object| {
            let labelled = counted.clone().filter(|pod| label(pod, REVISION_HASH) == name(revision));
            i64::try_from(labelled.count()).expect("few")
        };
        let (ready, updated) = (i64::try_from(counted.clone().count()).expect("few"), with(&self.update));
        let wanted = replicas(&self.set);
        // `completeRollingUpdate`.
        let complete = self.partition().is_some() && updated == wanted && ready == wanted;
        let current = if complete { &self.update } else { &self.current };
        let mut status = at(&self.set, &["status"]).clone();
        for (field, value) in [
            ("observedGeneration", json!(generation(&self.set))),
            ("replicas", json!(self.pods.len())),
            ("readyReplicas", json!(ready)),
            ("updatedReplicas", json!(updated)),
            ("currentReplicas", json!(if complete { updated } else { with(&self.current) })),
            ("currentRevision", json!(name(current))),
            ("updateRevision", json!(name(&self.update))),
        ] {
            put(&mut status, &[field], value);
        }
        if status != *at(&self.set, &["status"]) {
            self.api.force_status(SELF, Kind::StatefulSet, &self.set, status);
        }
    }

    fn truncate(&mut self, known: &[Object]) {
        let is_live = |revision: &&Object| {
            let key = name(revision);
            [name(&self.current), name(&self.update)].contains(&key)
                || self.pods.values().any(|pod| label(pod, REVISION_HASH) == key)
        };
        let unused: Vec<&Object> = known.iter().filter(|revision| !is_live(revision)).collect();
        let limit = usize::try_from(number(&self.set, &["spec", "revisionHistoryLimit"])).expect("a limit");
        for revision in unused.iter().take(unused.len().saturating_sub(limit)) {
            self.api.delete(SELF, Kind::ControllerRevision, name(revision), None).ok();
        }
    }
}
