//! What must hold once everything is at rest.

use serde_json::{Value, json};

use crate::change::{Direction, same};
use crate::k8s::metadata::MetadataMap;
use crate::k8s::names::RolloutId;
use crate::kinds::{Revisions, WorkloadKind};
use crate::state::durable::deployment::{history_hash, template_of};
use crate::state::durable::history;
use crate::state::durable::lease::renewal_of;
use crate::state::durable::lock::Lock;
use crate::state::durable::rollout::{HistoryStep, RevisionRef};
use crate::state::outcome::EndResult;

use super::api_server::{ApiServer, Kind, Object};
use super::cluster::{BEFORE, OWNER, earlier, kind_of, strategy, template_with, wanted_template};
use super::fields::{
    REVISION_HASH, annotation, at, controller, is_terminating, label, lacking_tolerations, name, replicas, revision,
    same_template, template, text, uid,
};
use super::invariants::Invariants;
use super::run::{End, ID};
use super::scenario::Deed;
use testkit::controllers::revisions;

impl Invariants {
    pub(super) fn settled(&mut self, api: &ApiServer, nodes: i64) {
        if !self.violations.is_empty() {
            return;
        }
        let Some(owner) = api.live(kind_of(self.scenario.kind), OWNER) else {
            if !self.foreign.contains(&Deed::Delete) {
                self.broken("the owner is gone".into());
            }
            return;
        };
        self.nothing_of_the_lock_is_left(api, &owner);
        self.history_is_in_order(api, &owner);
        if self.foreign.is_empty() {
            self.alone(api, &owner, nodes);
        } else {
            self.contested(api, &owner);
        }
    }

    fn nothing_of_the_lock_is_left(&mut self, api: &ApiServer, owner: &Value) {
        // A lock that nobody can read stays.
        if matches!(Lock::of(owner), Ok(Some(_))) {
            self.broken("the owner is locked".into());
        }
        let takes_lock = |deed: &Deed| matches!(deed, Deed::Put(_) | Deed::RemoveLock | Deed::EditLock);
        if self.foreign.iter().any(takes_lock) {
            return;
        }
        if renewal_of(owner).is_some() {
            self.broken("a sign of life is left on the owner".into());
        }
        for set in api.list(Kind::ReplicaSet) {
            // A controller that lags behind may copy it once the last run was killed, and the next client found none.
            if Lock::text_of(&set).is_some() && !self.killed_last {
                self.broken(format!("a copy of the lock is left on {}", name(&set)));
            }
        }
    }

    /// `undo` takes back the last rollout, whatever the clocks of the clients said.
    fn history_is_in_order(&mut self, api: &ApiServer, owner: &Value) {
        let owned = api.list(Kind::ReplicaSet);
        let history = history::union(owner, owned.iter().map(|set| &**set));
        let found: Vec<RolloutId> = history.into_iter().map(|entry| entry.rollout.id).collect();
        let earlier = earlier(&self.scenario).into_iter().map(|entry| entry.rollout.id);
        let mut ids: Vec<RolloutId> = earlier.chain([ID.into()]).collect();
        let alone = self.foreign.is_empty();
        ids.retain(|id| found.contains(id) || alone && id.as_str() != ID);
        self.check(found == ids, || format!("the history says {found:?}, and it was {ids:?}"));
    }

    fn check(&mut self, holds: bool, what: impl FnOnce() -> String) {
        if !holds {
            self.broken(what());
        }
    }

    /// Nobody else wrote: either everything is new or everything is old.
    fn alone(&mut self, api: &ApiServer, owner: &Value, nodes: i64) {
        let entries: Vec<_> = history::of(owner).into_iter().filter(|entry| entry.rollout.id.as_str() == ID).collect();
        let outcome = entries.first().map(|entry| entry.outcome);
        let forward = match outcome {
            Some(EndResult::Complete) => true,
            // Killed before anything was stored: nothing has happened.
            Some(EndResult::Aborted) | None => false,
            Some(EndResult::Superseded) if self.may_be_nothing() => {
                // Without the pause it would replace the pods of another template, so that is refused.
                let is_held = self.has_pods_of_another(api, owner);
                return self.check(is_held || at(owner, &["spec", "paused"]).is_null(), || "it is paused".into());
            }
            other => return self.broken(format!("the history says {other:?}")),
        };
        self.check(entries.len() <= 1, || "the history has it twice".into());
        let completed = self.ends.last().is_some_and(|(end, way)| *end == End::Closed && *way == Direction::Forward);
        self.check(forward || !completed || self.first_was_killed(), || {
            "it ended well and is not in the history".into()
        });
        let wanted = if forward { wanted_template(&self.scenario) } else { template_with(BEFORE) };
        self.check(same(template(owner), &wanted), || format!("the template is {}", template(owner)));
        self.check(at(owner, &["spec", "paused"]).is_null(), || "it is paused".into());
        if self.scenario.annotated {
            self.check(annotation(owner, "team") == Some("blue"), || "the owner's annotations are gone".into());
        }
        match self.scenario.kind.revisions() {
            Revisions::ReplicaSets => self.deployment(api, owner, &wanted, forward),
            Revisions::ControllerRevisions(_) => self.with_revisions(api, owner, forward),
            Revisions::None => {}
        }
        let pods = self.pods(api, &wanted, forward);
        let count = if self.scenario.kind == WorkloadKind::DaemonSet { nodes } else { replicas(owner) };
        self.check(i64::try_from(pods).ok() == Some(count), || format!("{pods} pods, not {count}"));
    }

    /// Whether a ReplicaSet of another template than the owner's has pods.
    fn has_pods_of_another(&self, api: &ApiServer, owner: &Value) -> bool {
        let sets = api.list(Kind::ReplicaSet);
        sets.iter().any(|set| replicas(set) > 0 && !same(&template_of(set), template(owner)))
    }

    fn first_was_killed(&self) -> bool {
        !self.scenario.kills.is_empty()
    }

    fn deployment(&mut self, api: &ApiServer, owner: &Value, wanted: &Value, forward: bool) {
        let sets = api.list(Kind::ReplicaSet);
        let outgoing = self.first.rollout.outgoing.clone().expect("a Deployment has one");
        let Some(current) = sets.iter().find(|set| uid(set) == outgoing.uid.as_str()) else {
            return self.broken("the ReplicaSet is gone".into());
        };
        // After scaling to zero and up again on the way back, the controller may have created the pods in the one that
        // kept the outgoing template: then that one is the current one.
        let has_pods = |set: &&Object| replicas(set) > 0 && same(&template_of(set), wanted);
        let other = sets.iter().find(has_pods).filter(|_| self.may_be_nothing() && !forward && replicas(current) == 0);
        let current = other.unwrap_or(current);
        self.check(same(&template_of(current), wanted), || "the ReplicaSet has another template".into());
        self.check(replicas(current) == replicas(owner), || "the ReplicaSet has another size".into());
        self.check(revision(owner) == revision(current), || "the revisions differ".into());
        let newest = sets.iter().all(|set| uid(set) == uid(current) || revision(set) < revision(current));
        self.check(newest, || "the ReplicaSet is not the newest".into());
        let before = template_with(BEFORE);
        let keeps = |set: &&Object| uid(set) != uid(current) && same(&template_of(set), &before);
        let kept = sets.iter().find(keeps);
        if !forward {
            self.check(kept.is_none(), || "the way back left a ReplicaSet with the old template".into());
            self.swapped_back(&sets, current);
        } else if self.first.rollout.history == HistoryStep::Forget {
            self.check(kept.is_none(), || "a history was kept against the limit".into());
        } else if let Some(kept) = kept {
            self.check(revision(kept) == outgoing.revision, || "the history has another revision".into());
            self.check(replicas(kept) == 0, || "the history has pods".into());
            let theirs = !self.scenario.annotated || annotation(kept, "team") == Some("blue");
            self.check(theirs, || "the history lacks the annotations".into());
        } else {
            self.broken("no ReplicaSet holds the old template".into());
        }
    }

    fn swapped_back(&mut self, sets: &[Object], current: &Object) {
        let made = format!("{OWNER}-{}", history_hash(&ID.into()));
        let is_left = sets.iter().any(|set| name(set) == made && uid(set) != uid(current));
        self.check(!is_left, || "our ReplicaSet is left".into());
        let HistoryStep::Swap(RevisionRef { uid: of, revision: was, .. }) = self.first.rollout.history.clone() else {
            return;
        };
        // With a small limit the pause may have evicted it.
        let Some(other) = sets.iter().find(|set| uid(set) == of.as_str()) else { return };
        let wanted = wanted_template(&self.scenario);
        self.check(same(&template_of(other), &wanted), || {
            "the swapped ReplicaSet did not get its template back".into()
        });
        // Its number may have been raised while it matched; the current one's was then too.
        self.check(revision(other) >= was, || "the swapped ReplicaSet did not get its revision back".into());
    }

    fn with_revisions(&mut self, api: &ApiServer, owner: &Value, forward: bool) {
        let present = at(owner, &["spec", "updateStrategy"]);
        self.check(*present == strategy(&self.scenario), || format!("the strategy is {present}"));
        let is_stateful = matches!(self.scenario.kind, WorkloadKind::StatefulSet | WorkloadKind::CloneSet);
        let status = |field| text(owner, &["status", field]);
        if is_stateful && self.scenario.partition == 0 && !self.scenario.on_delete {
            self.check(status("currentRevision") == status("updateRevision"), || "the revisions differ".into());
        }
        if !forward && !self.scenario.known {
            let wanted = wanted_template(&self.scenario);
            let left = api
                .list(Kind::ControllerRevision)
                .into_iter()
                .find(|known| same_template(revisions::held(known), &wanted));
            self.check(left.is_none(), || "a revision that nothing uses is left".into());
        }
    }

    /// Returns how many there are.
    fn pods(&mut self, api: &ApiServer, wanted: &Value, forward: bool) -> usize {
        let mut pods = api.list(Kind::Pod);
        pods.retain(|pod| !is_terminating(pod));
        let owner = api.live(kind_of(self.scenario.kind), OWNER);
        let update = owner.as_ref().map_or("", |owner| text(owner, &["status", "updateRevision"])).to_owned();
        let revisions = api.list(Kind::ControllerRevision);
        let newest = revisions.iter().filter(|known| same_template(revisions::held(known), wanted));
        let hash = newest.max_by_key(|known| revisions::revision_number(known));
        let hash = hash.map_or("", |known| label(known, REVISION_HASH));
        let before = template_with(BEFORE);
        for pod in &pods {
            let ordinal: i64 = name(pod).rsplit('-').next().and_then(|text| text.parse().ok()).unwrap_or(0);
            let is_below = self.scenario.kind == WorkloadKind::StatefulSet
                && ordinal < self.scenario.start + self.scenario.partition
                && self.scenario.partition > 0;
            // With no pod at all the new revision is the current one, as after any rollout.
            if is_below && self.may_be_nothing() {
                continue;
            }
            let should = if is_below { &before } else { wanted };
            let same_images = at(pod, &["spec", "containers"]) == at(should, &["spec", "containers"]);
            self.check(same_images, || format!("{} has other images: {}", name(pod), at(pod, &["spec", "containers"])));
            let lacking = lacking_tolerations(pod, should);
            self.check(lacking.is_empty(), || format!("{} lacks {lacking:?}", name(pod)));
            let maps = MetadataMap::ALL.into_iter();
            let changes = maps
                .flat_map(|map| self.first.rollout.change.fields.metadata.of(map).keys().map(move |key| (map, key)));
            let differs = changes.clone().find(|(map, key)| {
                let of = |object: &Value| at(object, &["metadata", map.field()]).get(key.as_str()).cloned();
                of(pod) != of(should)
            });
            let differs = differs.map(|(_, key)| key.clone());
            self.check(differs.is_none(), || format!("{} has another {differs:?}", name(pod)));
            let revision = match self.scenario.kind {
                WorkloadKind::StatefulSet | WorkloadKind::CloneSet if !is_below => Some(update.as_str()),
                WorkloadKind::DaemonSet => Some(hash),
                _ => None,
            };
            let labelled = revision.is_none_or(|revision| label(pod, REVISION_HASH) == revision);
            self.check(labelled || forward && is_below, || format!("{} has another revision", name(pod)));
        }
        pods.len()
    }

    /// Somebody else wrote: theirs stays, and nothing of ours holds it back except what only the user may lift.
    fn contested(&mut self, api: &ApiServer, owner: &Value) {
        let takes_lock = |deed: &Deed| matches!(deed, Deed::Put(_) | Deed::RemoveLock | Deed::EditLock);
        if self.foreign.iter().any(takes_lock) {
            // Nobody is left who knows which changes were ours.
            return;
        }
        let paused = at(owner, &["spec", "paused"]) == &json!(true);
        let strategy = *at(owner, &["spec", "updateStrategy"]) == strategy(&self.scenario)
            || self.scenario.kind == WorkloadKind::Deployment;
        let rolls = match self.scenario.kind {
            WorkloadKind::Deployment => !paused,
            _ => strategy && !self.scenario.on_delete && self.scenario.partition == 0,
        };
        if !rolls {
            return;
        }
        // A pod that was created while its ReplicaSet had our template stays unchanged when that is restored: no
        // controller replaces it, and a superseded run changes no pod. Its summary reports what the pods run.
        let sets = api.list(Kind::ReplicaSet);
        let is_restored = |pod: &Object| {
            let set = sets.iter().find(|set| uid(set) == controller(pod));
            set.is_some_and(|set| same(&template_of(set), template(owner)))
        };
        let pods = api.list(Kind::Pod).into_iter().filter(|pod| !is_terminating(pod));
        let is_kept = |pod: &Object| self.made_of_ours.contains(uid(pod)) && is_restored(pod);
        let pods: Vec<Object> = pods.filter(|pod| !is_kept(pod)).collect();
        for pod in &pods {
            let same_images = at(pod, &["spec", "containers"]) == at(template(owner), &["spec", "containers"]);
            self.check(same_images, || {
                format!("{} has other images than the template: {}", name(pod), at(pod, &["spec", "containers"]))
            });
        }
    }
}
