//! The Deployment controller (kube-controller-manager `pkg/controller/deployment`): one sync from caches that may be old.
//!
//! Every write is a PUT of what a cache holds, so a stale cache ends in a conflict and another sync; only creates and
//! deletes are not guarded by it.

use serde_json::{Value, json};

use super::fields::{
    DESIRED, HASH, LAST_APPLIED, MAXIMUM, REVISION, annotation, at, condition, controlled_by, generation, hash, name,
    namespace, number, portion, put, replicas, revision, same_template, selects, set_condition, template, text, uid,
};
use super::{Api, Kind, Object};
use crate::api_model::{Part, Refused};

const REVISION_HISTORY: &str = "deployment.kubernetes.io/revision-history";
const NOT_COPIED: [&str; 5] = [LAST_APPLIED, REVISION, REVISION_HISTORY, DESIRED, MAXIMUM];

struct Sync<'a, A> {
    api: &'a mut A,
    deployment: Value,
    /// The oldest first.
    sets: Vec<Object>,
}

/// The new ReplicaSet and the old ones.
type Sets = (Option<Object>, Vec<Object>);

/// One sync of a Deployment.
pub fn sync(api: &mut impl Api, namespace: &str, key: &str) -> Result<(), Refused> {
    let Some(deployment) = api.cached(Kind::Deployment, namespace, key) else { return Ok(()) };
    let mut sets = api.owned(Kind::ReplicaSet, &deployment);
    sets.retain(|set| selects(at(&deployment, &["spec", "selector"]), set));
    sets.sort_by_key(|set| (text(set, &["metadata", "creationTimestamp"]).to_owned(), name(set).to_owned()));
    let mut sync = Sync { api, deployment: (*deployment).clone(), sets };
    if !at(&deployment, &["metadata", "deletionTimestamp"]).is_null() {
        let (new, old) = sync.sets_with_revision(false)?;
        return sync.report(new.as_ref(), &old);
    }
    let paused = at(&deployment, &["spec", "paused"]) == &Value::Bool(true);
    sync.say_paused(paused)?;
    if paused || sync.is_scaling()? {
        return sync.scale_or_pause(paused);
    }
    match text(&deployment, &["spec", "strategy", "type"]) {
        "Recreate" => sync.recreate(),
        _ => sync.roll(),
    }
}

fn is_active(set: &Object) -> bool {
    replicas(set) > 0
}

fn total(sets: &[&Object]) -> i64 {
    sets.iter().map(|set| replicas(set)).sum()
}

impl<A: Api> Sync<'_, A> {
    fn wanted(&self) -> i64 {
        replicas(&self.deployment)
    }

    fn rolling(&self, field: &str, rounds_up: bool) -> i64 {
        portion(at(&self.deployment, &["spec", "strategy", "rollingUpdate", field]), self.wanted(), rounds_up)
    }

    fn surge(&self) -> i64 {
        self.rolling("maxSurge", true)
    }

    /// `ResolveFenceposts`: one of both is at least one.
    fn unavailable(&self) -> i64 {
        let is_rolling = text(&self.deployment, &["spec", "strategy", "type"]) != "Recreate";
        let unavailable = self.rolling("maxUnavailable", false).min(self.wanted());
        if is_rolling && unavailable == 0 && self.surge() == 0 { 1 } else { unavailable }
    }

    fn has_deadline(&self) -> bool {
        !at(&self.deployment, &["spec", "progressDeadlineSeconds"]).is_null()
    }

    fn set_progressing(&mut self, value: &str, reason: &str, message: &str) {
        let now = self.api.now();
        let mut status = at(&self.deployment, &["status"]).clone();
        set_condition(&mut status, "Progressing", value, reason, message, &now);
        put(&mut self.deployment, &["status"], status);
    }

    fn put_status(&mut self) -> Result<(), Refused> {
        self.deployment = (*self.api.update(Kind::Deployment, self.deployment.clone(), Part::Status)?).clone();
        Ok(())
    }

    /// `checkPausedConditions`.
    fn say_paused(&mut self, paused: bool) -> Result<(), Refused> {
        let reason = text(condition(&self.deployment, "Progressing"), &["reason"]).to_owned();
        if !self.has_deadline() || reason == "ProgressDeadlineExceeded" || paused == (reason == "DeploymentPaused") {
            return Ok(());
        }
        if paused {
            self.set_progressing("Unknown", "DeploymentPaused", "Deployment is paused");
        } else {
            self.set_progressing("Unknown", "DeploymentResumed", "Deployment is resumed");
        }
        self.put_status()
    }

    fn is_scaling(&mut self) -> Result<bool, Refused> {
        let (new, old) = self.sets_with_revision(false)?;
        let desired = |set: &Object| annotation(set, DESIRED).and_then(|text| text.parse::<i64>().ok());
        Ok(old.iter().chain(&new).filter(|set| is_active(set)).filter_map(desired).any(|was| was != self.wanted()))
    }

    fn scale_or_pause(&mut self, paused: bool) -> Result<(), Refused> {
        let (mut new, old) = self.sets_with_revision(false)?;
        let active: Vec<&Object> = old.iter().chain(&new).filter(|set| is_active(set)).collect();
        let lone = match active.as_slice() {
            [] => new.clone().or_else(|| old.last().cloned()),
            [lone] => Some((*lone).clone()),
            [_, ..] => None,
        };
        let several = active.len() > 1;
        if several {
            return self.scale_several(new.as_ref(), &old);
        }
        if let Some(lone) = lone {
            let scaled = self.scale(&lone, self.wanted())?;
            new = new.map(|set| if uid(&set) == uid(&scaled) { scaled } else { set });
        }
        if paused {
            self.clean_up(&old)?;
        }
        self.report(new.as_ref(), &old)
    }

    /// In the middle of a rollout: upstream in proportion, here from the largest.
    fn scale_several(&mut self, new: Option<&Object>, old: &[Object]) -> Result<(), Refused> {
        let mut active: Vec<&Object> = old.iter().chain(new).filter(|set| is_active(set)).collect();
        active.sort_by_key(|set| -replicas(set));
        let allowed = if self.wanted() > 0 { self.wanted() + self.surge() } else { 0 };
        let mut change = allowed - total(&active);
        for set in active {
            let mut object = (**set).clone();
            let size = (replicas(set) + change).max(0);
            change -= size - replicas(set);
            put(&mut object, &["spec", "replicas"], json!(size));
            self.annotate_replicas(&mut object);
            self.api.update(Kind::ReplicaSet, object, Part::Main)?;
        }
        self.report(new, old)
    }

    fn roll(&mut self) -> Result<(), Refused> {
        let (new, old) = self.sets_with_revision(true)?;
        let Some(new) = new else { return Ok(()) };
        let size = self.new_size(&new, &old);
        if size != replicas(&new) {
            let new = self.scale(&new, size)?;
            return self.report(Some(&new), &old);
        }
        let (old, scaled) = self.scale_down(&new, old)?;
        if scaled {
            return self.report(Some(&new), &old);
        }
        self.complete(&new, &old)
    }

    /// `reconcileOldReplicaSets`: first the pods that are not available, then as many as may be.
    fn scale_down(&mut self, new: &Object, mut old: Vec<Object>) -> Result<(Vec<Object>, bool), Refused> {
        let available = |set: &Object| number(set, &["status", "availableReplicas"]);
        let least = self.wanted() - self.unavailable();
        let all = total(&old.iter().collect::<Vec<_>>()) + replicas(new);
        let mut most = all - least - (replicas(new) - available(new));
        let mut scaled = false;
        if most <= 0 {
            return Ok((old, false));
        }
        for set in &mut old {
            let down = (replicas(set) - available(set)).min(most);
            if down > 0 {
                *set = self.scale(set, replicas(set) - down)?;
                (most, scaled) = (most - down, true);
            }
        }
        let mut most = old.iter().map(available).sum::<i64>() + available(new) - least;
        for set in &mut old {
            let down = replicas(set).min(most);
            if down > 0 {
                *set = self.scale(set, replicas(set) - down)?;
                (most, scaled) = (most - down, true);
            }
        }
        Ok((old, scaled))
    }

    fn recreate(&mut self) -> Result<(), Refused> {
        let (new, old) = self.sets_with_revision(false)?;
        if let Some(active) = old.iter().find(|set| is_active(set)) {
            self.scale(active, 0)?;
            return self.report(new.as_ref(), &old);
        }
        if old.iter().any(|set| number(set, &["status", "replicas"]) > 0) {
            return self.report(new.as_ref(), &old);
        }
        let (new, old) = self.sets_with_revision(true)?;
        let Some(new) = new else { return Ok(()) };
        let new = self.scale(&new, self.wanted())?;
        self.complete(&new, &old)
    }

    fn complete(&mut self, new: &Object, old: &[Object]) -> Result<(), Refused> {
        let status = |field| number(&self.deployment, &["status", field]);
        let seen = status("observedGeneration") >= generation(&self.deployment);
        if seen && status("updatedReplicas") == self.wanted() && status("replicas") == self.wanted() {
            self.clean_up(old)?;
        }
        self.report(Some(new), old)
    }

    /// `NewRSNewReplicas`.
    fn new_size(&self, new: &Object, old: &[Object]) -> i64 {
        if replicas(new) >= self.wanted() || text(&self.deployment, &["spec", "strategy", "type"]) == "Recreate" {
            return self.wanted();
        }
        let room = self.wanted() + self.surge() - total(&old.iter().chain([new]).collect::<Vec<_>>());
        replicas(new) + room.max(0).min(self.wanted() - replicas(new))
    }

    fn sets_with_revision(&mut self, may_create: bool) -> Result<Sets, Refused> {
        let new = self.sets.iter().find(|set| same_template(template(set), template(&self.deployment))).cloned();
        let is_new = |set: &Object| new.as_ref().is_some_and(|new| uid(new) == uid(set));
        let old: Vec<Object> = self.sets.iter().filter(|set| !is_new(set)).cloned().collect();
        let next = old.iter().map(|set| revision(set)).max().unwrap_or(0) + 1;
        let Some(new) = new else {
            let made = if may_create { self.create(&old, next)? } else { None };
            return Ok((made, old));
        };
        let mut object = (*new).clone();
        self.annotate(&mut object, next);
        put(&mut object, &["spec", "minReadySeconds"], json!(number(&self.deployment, &["spec", "minReadySeconds"])));
        if object != *new {
            let new = self.api.update(Kind::ReplicaSet, object, Part::Main)?;
            let place = self.sets.iter_mut().find(|set| uid(set) == uid(&new)).expect("found above");
            *place = new.clone();
            return Ok((Some(new), old));
        }
        let is_unseen = self.has_deadline() && condition(&self.deployment, "Progressing").is_null();
        if is_unseen {
            let message = format!("Found new replica set \"{}\"", name(&new));
            self.set_progressing("True", "FoundNewReplicaSet", &message);
        }
        self.take_revision(revision(&new), is_unseen)?;
        Ok((Some(new), old))
    }

    fn take_revision(&mut self, number: i64, writes: bool) -> Result<(), Refused> {
        let differs = revision(&self.deployment) != number;
        if differs {
            put(&mut self.deployment, &["metadata", "annotations", REVISION], json!(number.to_string()));
        }
        if differs || writes { self.put_status() } else { Ok(()) }
    }

    /// `SetNewReplicaSetAnnotations`.
    fn annotate(&self, set: &mut Value, next: i64) {
        for (key, value) in at(&self.deployment, &["metadata", "annotations"]).as_object().into_iter().flatten() {
            if !NOT_COPIED.contains(&key.as_str()) {
                put(set, &["metadata", "annotations", key], value.clone());
            }
        }
        let before = revision(set);
        if before < next {
            if before > 0 {
                let known = annotation(set, REVISION_HISTORY).map_or_else(String::new, |known| format!("{known},"));
                put(set, &["metadata", "annotations", REVISION_HISTORY], json!(format!("{known}{before}")));
            }
            put(set, &["metadata", "annotations", REVISION], json!(next.to_string()));
        }
    }

    fn annotate_replicas(&self, set: &mut Value) {
        put(set, &["metadata", "annotations", DESIRED], json!(self.wanted().to_string()));
        put(set, &["metadata", "annotations", MAXIMUM], json!((self.wanted() + self.surge()).to_string()));
    }

    fn create(&mut self, old: &[Object], next: i64) -> Result<Option<Object>, Refused> {
        let collisions = number(&self.deployment, &["status", "collisionCount"]);
        let hash = hash(template(&self.deployment), collisions);
        let mut made = json!({"apiVersion": "apps/v1", "kind": "ReplicaSet", "metadata": {"name": format!("{}-{hash}", name(&self.deployment)),
            "namespace": namespace(&self.deployment),
            "labels": at(template(&self.deployment), &["metadata", "labels"]),
            "ownerReferences": controlled_by("Deployment", &self.deployment)},
            "spec": {"replicas": 0, "minReadySeconds": number(&self.deployment, &["spec", "minReadySeconds"]),
                "selector": at(&self.deployment, &["spec", "selector"]), "template": template(&self.deployment)}});
        for path in [
            &["metadata", "labels", HASH][..],
            &["spec", "selector", "matchLabels", HASH],
            &["spec", "template", "metadata", "labels", HASH],
        ] {
            put(&mut made, path, json!(hash));
        }
        let made_at = std::sync::Arc::new(made.clone());
        put(&mut made, &["spec", "replicas"], json!(self.new_size(&made_at, old)));
        self.annotate(&mut made, next);
        self.annotate_replicas(&mut made);
        let key = name(&made).to_owned();
        let made = match self.api.create(Kind::ReplicaSet, made) {
            Err(Refused::AlreadyExists) => {
                let known = self.sets.iter().find(|set| name(set) == key).cloned();
                let Some(known) = known.filter(|set| same_template(template(set), template(&self.deployment))) else {
                    put(&mut self.deployment, &["status", "collisionCount"], json!(collisions + 1));
                    self.put_status()?;
                    return Err(Refused::AlreadyExists);
                };
                self.take_revision(next, false)?;
                return Ok(Some(known));
            }
            made => made?,
        };
        if replicas(&made) > 0 {
            self.says_scaled("up", &made, 0);
        }
        if self.has_deadline() {
            let message = format!("Created new replica set \"{}\"", name(&made));
            self.set_progressing("True", "NewReplicaSetCreated", &message);
        }
        self.take_revision(next, self.has_deadline())?;
        Ok(Some(made))
    }

    fn says_scaled(&mut self, way: &str, set: &Object, from: i64) {
        let message = format!("Scaled {way} replica set {} from {from} to {}", name(set), replicas(set));
        self.api.event(&self.deployment, Kind::Deployment, "ScalingReplicaSet", &message);
    }

    fn scale(&mut self, set: &Object, to: i64) -> Result<Object, Refused> {
        if replicas(set) == to {
            return Ok(set.clone());
        }
        let mut object = (**set).clone();
        put(&mut object, &["spec", "replicas"], json!(to));
        self.annotate_replicas(&mut object);
        let scaled = self.api.update(Kind::ReplicaSet, object, Part::Main)?;
        self.says_scaled(if replicas(set) < to { "up" } else { "down" }, &scaled, replicas(set));
        Ok(scaled)
    }

    fn clean_up(&mut self, old: &[Object]) -> Result<(), Refused> {
        let limit = number(&self.deployment, &["spec", "revisionHistoryLimit"]);
        let surplus = old.len().saturating_sub(usize::try_from(limit).expect("a limit"));
        let mut sorted: Vec<&Object> = old.iter().collect();
        sorted.sort_by_key(|set| revision(set));
        for set in sorted.into_iter().take(surplus) {
            let unseen = generation(set) > number(set, &["status", "observedGeneration"]);
            if replicas(set) != 0 || number(set, &["status", "replicas"]) != 0 || unseen {
                continue;
            }
            match self.api.delete(Kind::ReplicaSet, set, false) {
                Ok(()) | Err(Refused::NotFound) => {}
                Err(refused) => return Err(refused),
            }
        }
        Ok(())
    }

    /// `calculateStatus` and `syncRolloutStatus`.
    fn report(&mut self, new: Option<&Object>, old: &[Object]) -> Result<(), Refused> {
        let sum = |field: &str| old.iter().chain(new).map(|set| number(set, &["status", field])).sum::<i64>();
        let available = sum("availableReplicas");
        let before = at(&self.deployment, &["status"]).clone();
        let mut status = before.clone();
        for (field, value) in [
            ("observedGeneration", generation(&self.deployment)),
            ("replicas", sum("replicas")),
            ("updatedReplicas", new.map_or(0, |set| number(set, &["status", "replicas"]))),
            ("readyReplicas", sum("readyReplicas")),
            ("availableReplicas", available),
            ("unavailableReplicas", (total(&old.iter().chain(new).collect::<Vec<_>>()) - available).max(0)),
        ] {
            put_unless_zero(&mut status, field, value);
        }
        let now = self.api.now();
        let (value, reason, message) = if available >= self.wanted() - self.unavailable() {
            ("True", "MinimumReplicasAvailable", "Deployment has minimum availability.")
        } else {
            ("False", "MinimumReplicasUnavailable", "Deployment does not have minimum availability.")
        };
        set_condition(&mut status, "Available", value, reason, message, &now);
        self.judge_progress(&before, &mut status, new);
        if status == before {
            return Ok(());
        }
        put(&mut self.deployment, &["status"], status);
        self.put_status()
    }

    fn judge_progress(&self, before: &Value, status: &mut Value, new: Option<&Object>) {
        let known = condition(&self.deployment, "Progressing");
        let count = |of: &Value, field: &str| number(of, &[field]);
        let is_complete = text(known, &["reason"]) == "NewReplicaSetAvailable";
        let paused = at(&self.deployment, &["spec", "paused"]) == &Value::Bool(true);
        let is_over = is_complete && count(status, "replicas") == count(status, "updatedReplicas");
        if !self.has_deadline() || paused || is_over {
            return;
        }
        let of = new.map_or_else(
            || format!("Deployment \"{}\"", name(&self.deployment)),
            |new| format!("ReplicaSet \"{}\"", name(new)),
        );
        let now = self.api.now();
        let old = |of: &Value| count(of, "replicas") - count(of, "updatedReplicas");
        let all = ["updatedReplicas", "replicas", "availableReplicas"];
        let grew = ["updatedReplicas", "readyReplicas", "availableReplicas"];
        if all.iter().all(|field| count(status, field) == self.wanted()) {
            let message = format!("{of} has successfully progressed.");
            set_condition(status, "Progressing", "True", "NewReplicaSetAvailable", &message, &now);
        } else if grew.iter().any(|field| count(status, field) > count(before, field)) || old(status) < old(before) {
            let message = format!("{of} is progressing.");
            // The same reason again: this is what the deadline is counted from.
            set_condition(status, "Progressing", "True", "", &message, &now);
            set_condition(status, "Progressing", "True", "ReplicaSetUpdated", &message, &now);
        } else {
            let deadline = number(&self.deployment, &["spec", "progressDeadlineSeconds"]);
            let is_late = self.api.seconds_since(text(known, &["lastUpdateTime"])) > deadline;
            if !known.is_null() && !is_complete && is_late {
                let message = format!("{of} has timed out progressing.");
                set_condition(status, "Progressing", "False", "ProgressDeadlineExceeded", &message, &now);
            }
        }
    }
}

/// A count of a Deployment's status that is zero is left out.
fn put_unless_zero(status: &mut Value, field: &str, value: i64) {
    put(status, &[field], json!(value));
    if let Some(status) = status.as_object_mut().filter(|_| value == 0 && field != "observedGeneration") {
        status.shift_remove(field);
    }
}
