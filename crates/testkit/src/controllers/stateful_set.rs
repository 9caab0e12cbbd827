//! The StatefulSet controller (kube-controller-manager `pkg/controller/statefulset`): revisions by template, pods by
//! ordinal, one change of a pod a sync (OrderedReady). A pod's revision is its label and nothing else.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::fields::{
    REVISION_HASH, at, generation, is_terminating, label, name, number, pod, portion, put, replicas, same_template,
    text,
};
use super::{Api, Kind, Object, claim, revisions};
use crate::api_model::Refused;

struct Sync<'a, A> {
    api: &'a mut A,
    set: Object,
    pods: BTreeMap<i64, Object>,
    current: Object,
    update: Object,
}

/// One sync of a StatefulSet.
pub fn sync(api: &mut impl Api, namespace: &str, key: &str) -> Result<(), Refused> {
    let Some(set) = api.cached(Kind::StatefulSet, namespace, key) else { return Ok(()) };
    let mut known = api.owned(Kind::ControllerRevision, &set);
    known.sort_by_key(|revision| (revisions::revision_number(revision), name(revision).to_owned()));
    let pods: BTreeMap<i64, Object> = claim(api, "StatefulSet", &set)
        .into_iter()
        .filter_map(|pod| Some((name(&pod).rsplit('-').next()?.parse().ok()?, pod)))
        .collect();
    let update = update_revision(api, &set, &known)?;
    let named = text(&set, &["status", "currentRevision"]);
    let current = known.iter().find(|revision| name(revision) == named).unwrap_or(&update).clone();
    let mut sync = Sync { api, set, pods, current, update };
    let changed = if is_terminating(&sync.set) { Ok(()) } else { sync.change_pods() };
    sync.report();
    sync.truncate(&known);
    changed
}

/// `getStatefulSetRevisions`.
fn update_revision(api: &mut impl Api, set: &Object, known: &[Object]) -> Result<Object, Refused> {
    let next = known.last().map_or(0, |last| revisions::revision_number(last)) + 1;
    let equal = known.iter().rev().find(|revision| revisions::holds(revision, set));
    match (equal, known.last()) {
        (Some(equal), Some(last)) if same_template(revisions::held(equal), revisions::held(last)) => Ok(last.clone()),
        (Some(equal), _) => revisions::renumber(api, equal, next),
        (None, _) => {
            let made = revisions::of(set, "StatefulSet", next, number(set, &["status", "collisionCount"]));
            revisions::make(api, set, made)
        }
    }
}

impl<A: Api> Sync<'_, A> {
    fn start(&self) -> i64 {
        number(&self.set, &["spec", "ordinals", "start"])
    }

    /// `None` under OnDelete, and of a CloneSet that is paused.
    fn partition(&self) -> Option<i64> {
        let strategy = at(&self.set, &["spec", "updateStrategy"]);
        let is_held = text(strategy, &["type"]) == "OnDelete" || at(strategy, &["paused"]) == true;
        (!is_held).then(|| number(strategy, &["rollingUpdate", "partition"]))
    }

    /// `OrderedReady`: one after the other.
    fn is_monotonic(&self) -> bool {
        text(&self.set, &["spec", "podManagementPolicy"]) != "Parallel"
    }

    fn is_available(&self, pod: &Value) -> bool {
        !is_terminating(pod) && self.api.is_available(pod, number(&self.set, &["spec", "minReadySeconds"]))
    }

    fn change_pods(&mut self) -> Result<(), Refused> {
        let (start, end) = (self.start(), self.start() + replicas(&self.set));
        let is_monotonic = self.is_monotonic();
        for ordinal in start..end {
            match self.pods.get(&ordinal) {
                None => {
                    self.create(ordinal)?;
                    if is_monotonic {
                        return Ok(());
                    }
                }
                Some(pod) if is_monotonic && !self.is_available(pod) => return Ok(()),
                Some(_) => {}
            }
        }
        let condemned = self.pods.iter().rev().filter(|(ordinal, _)| !(start..end).contains(*ordinal));
        let condemned: Vec<Object> = condemned.map(|(_, pod)| pod.clone()).collect();
        for pod in condemned {
            if !is_terminating(&pod) {
                self.delete(&pod)?;
            }
            if is_monotonic {
                return Ok(());
            }
        }
        self.roll(start, end)
    }

    /// `updateStatefulSetAfterInvariantEstablished`.
    fn roll(&mut self, start: i64, end: i64) -> Result<(), Refused> {
        let Some(partition) = self.partition() else { return Ok(()) };
        let given = at(&self.set, &["spec", "updateStrategy", "rollingUpdate", "maxUnavailable"]);
        let most = portion(given, replicas(&self.set), true).max(1);
        let unavailable = (start..end).filter(|one| self.pods.get(one).is_none_or(|pod| !self.is_available(pod)));
        let mut budget = most - i64::try_from(unavailable.count()).expect("few");
        // The partition counts from the first ordinal.
        for ordinal in (start + partition..end).rev() {
            let Some(pod) = self.pods.get(&ordinal).cloned() else { continue };
            if budget > 0 && label(&pod, REVISION_HASH) != name(&self.update) && !is_terminating(&pod) {
                self.delete(&pod)?;
                budget -= 1;
            }
        }
        Ok(())
    }

    fn delete(&mut self, pod: &Object) -> Result<(), Refused> {
        match self.api.delete(Kind::Pod, pod, true) {
            Err(Refused::NotFound) => Ok(()),
            Ok(()) => {
                self.says("Delete", "delete", name(pod));
                Ok(())
            }
            refused => refused,
        }
    }

    fn says(&mut self, what: &str, verb: &str, pod: &str) {
        let message = format!("{verb} Pod {pod} in StatefulSet {} successful", name(&self.set));
        self.api.event(&self.set, Kind::StatefulSet, &format!("Successful{what}"), &message);
    }

    /// `newVersionedStatefulSetPod`.
    fn create(&mut self, ordinal: i64) -> Result<(), Refused> {
        let keeps_current = self.partition().is_some_and(|partition| ordinal < self.start() + partition);
        let revision = if keeps_current { &self.current } else { &self.update };
        let mut template = revisions::held(revision).clone();
        if let Some(template) = template.as_object_mut() {
            template.shift_remove("$patch");
        }
        let key = format!("{}-{ordinal}", name(&self.set));
        let mut made = pod(&key, &template, "StatefulSet", &self.set);
        put(&mut made, &["metadata", "labels", REVISION_HASH], json!(name(revision)));
        put(&mut made, &["metadata", "labels", "statefulset.kubernetes.io/pod-name"], json!(key));
        put(&mut made, &["metadata", "labels", "apps.kubernetes.io/pod-index"], json!(ordinal.to_string()));
        put(&mut made, &["spec", "hostname"], json!(key));
        self.api.create(Kind::Pod, made)?;
        self.says("Create", "create", &key);
        Ok(())
    }

    fn report(&mut self) {
        let counted = self.pods.values().filter(|pod| !is_terminating(pod));
        let number_of = |pods: usize| i64::try_from(pods).expect("few");
        let with = |revision: &Object| {
            let labelled = counted.clone().filter(|pod| label(pod, REVISION_HASH) == name(revision));
            number_of(labelled.count())
        };
        let ready = number_of(counted.clone().filter(|pod| self.api.is_ready(pod)).count());
        let available = number_of(counted.clone().filter(|pod| self.is_available(pod)).count());
        let (updated, wanted) = (with(&self.update), replicas(&self.set));
        // `completeRollingUpdate`.
        let complete = self.partition().is_some() && updated == wanted && ready == wanted;
        let current = if complete { &self.update } else { &self.current };
        let mut status = at(&self.set, &["status"]).clone();
        for (field, value) in [
            ("observedGeneration", json!(generation(&self.set))),
            ("replicas", json!(self.pods.len())),
            ("readyReplicas", json!(ready)),
            ("availableReplicas", json!(available)),
            ("collisionCount", json!(number(&self.set, &["status", "collisionCount"]))),
            ("updatedReplicas", json!(updated)),
            ("currentReplicas", json!(if complete { updated } else { with(&self.current) })),
            ("currentRevision", json!(name(current))),
            ("updateRevision", json!(name(&self.update))),
        ] {
            put(&mut status, &[field], value);
        }
        if status != *at(&self.set, &["status"]) {
            self.api.set_status(Kind::StatefulSet, &self.set, status);
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
            self.api.delete(Kind::ControllerRevision, revision, false).ok();
        }
    }
}
