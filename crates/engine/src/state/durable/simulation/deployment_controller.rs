//! The Deployment controller (kube-controller-manager `pkg/controller/deployment`): one sync from caches that may be old.
//!
//! Every write is a PUT of what a cache holds, so a stale cache ends in a conflict and another sync; only creates and
//! deletes are not guarded by it. Conditions and proportional scaling are left out.

use serde_json::{Value, json};

use testkit::api_model::{Part, Refused};

use super::api_server::{Actor, ApiServer, Caches, Kind, Object};
use super::fields::{
    DESIRED, HASH, LAST_APPLIED, MAXIMUM, REVISION, annotation, at, controlled_by, generation, hash, name, number, put,
    replicas, revision, same_template, template, text, uid,
};

const SELF: Actor = Actor::DeploymentController;
const REVISION_HISTORY: &str = "deployment.kubernetes.io/revision-history";
const NOT_COPIED: [&str; 5] = [LAST_APPLIED, REVISION, REVISION_HISTORY, DESIRED, MAXIMUM];

struct Sync<'a> {
    api: &'a mut ApiServer,
    deployment: Value,
    /// The oldest first.
    sets: Vec<Object>,
}

/// The new ReplicaSet and the old ones.
type Sets = (Option<Object>, Vec<Object>);

pub(super) fn sync(api: &mut ApiServer, caches: &Caches, key: &str) -> Result<(), Refused> {
    let Some(deployment) = caches.get(api, Kind::Deployment, key) else { return Ok(()) };
    let mut sets = caches.of(api, Kind::ReplicaSet, uid(&deployment));
    let selector = at(&deployment, &["spec", "selector", "matchLabels"]).as_object().cloned().unwrap_or_default();
    sets.retain(|set| selector.iter().all(|(key, value)| at(set, &["metadata", "labels"]).get(key) == Some(value)));
    sets.sort_by_key(|set| (text(set, &["metadata", "creationTimestamp"]).to_owned(), name(set).to_owned()));
    let mut sync = Sync { api, deployment: (*deployment).clone(), sets };
    let paused = at(&deployment, &["spec", "paused"]) == &Value::Bool(true);
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

impl Sync<'_> {
    fn wanted(&self) -> i64 {
        replicas(&self.deployment)
    }

    fn surge(&self) -> i64 {
        number(&self.deployment, &["spec", "strategy", "rollingUpdate", "maxSurge"])
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
            self.api.update(SELF, Kind::ReplicaSet, object, Part::Main)?;
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
        let active: Vec<&Object> = old.iter().filter(|set| is_active(set)).collect();
        let unavailable = number(&self.deployment, &["spec", "strategy", "rollingUpdate", "maxUnavailable"]);
        let missing = replicas(&new) - number(&new, &["status", "replicas"]);
        let room = total(&active) + replicas(&new) - (self.wanted() - unavailable) - missing;
        if let Some(first) = active.first().filter(|_| room > 0) {
            self.scale(first, (replicas(first) - room).max(0))?;
            return self.report(Some(&new), &old);
        }
        self.complete(&new, &old)
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
            let new = self.api.update(SELF, Kind::ReplicaSet, object, Part::Main)?;
            let place = self.sets.iter_mut().find(|set| uid(set) == uid(&new)).expect("found above");
            *place = new.clone();
            return Ok((Some(new), old));
        }
        self.take_revision(revision(&new))?;
        Ok((Some(new), old))
    }

    fn take_revision(&mut self, number: i64) -> Result<(), Refused> {
        if revision(&self.deployment) != number {
            put(&mut self.deployment, &["metadata", "annotations", REVISION], json!(number.to_string()));
            self.api.update(SELF, Kind::Deployment, self.deployment.clone(), Part::Status)?;
        }
        Ok(())
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
        let mut made = json!({"metadata": {"name": format!("{}-{hash}", name(&self.deployment)),
            "namespace": text(&self.deployment, &["metadata", "namespace"]),
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
        let made = match self.api.create(SELF, Kind::ReplicaSet, made) {
            Err(Refused::AlreadyExists) => {
                let known = self.sets.iter().find(|set| name(set) == key);
                let Some(known) = known.filter(|set| same_template(template(set), template(&self.deployment))) else {
                    put(&mut self.deployment, &["status", "collisionCount"], json!(collisions + 1));
                    self.api.update(SELF, Kind::Deployment, self.deployment.clone(), Part::Status)?;
                    return Err(Refused::AlreadyExists);
                };
                known.clone()
            }
            made => made?,
        };
        self.take_revision(next)?;
        Ok(Some(made))
    }

    fn scale(&mut self, set: &Object, to: i64) -> Result<Object, Refused> {
        if replicas(set) == to {
            return Ok(set.clone());
        }
        let mut object = (**set).clone();
        put(&mut object, &["spec", "replicas"], json!(to));
        self.annotate_replicas(&mut object);
        self.api.update(SELF, Kind::ReplicaSet, object, Part::Main)
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
            match self.api.delete(SELF, Kind::ReplicaSet, name(set), None) {
                Ok(()) | Err(Refused::NotFound) => {}
                Err(refused) => return Err(refused),
            }
        }
        Ok(())
    }

    fn report(&mut self, new: Option<&Object>, old: &[Object]) -> Result<(), Refused> {
        let count = |set: &Object| number(set, &["status", "replicas"]);
        let updated = new.map_or(0, count);
        let mut status = at(&self.deployment, &["status"]).clone();
        for (field, value) in [
            ("observedGeneration", generation(&self.deployment)),
            ("replicas", old.iter().map(count).sum::<i64>() + updated),
            ("updatedReplicas", updated),
        ] {
            put(&mut status, &[field], json!(value));
        }
        if status == *at(&self.deployment, &["status"]) {
            return Ok(());
        }
        let mut object = self.deployment.clone();
        put(&mut object, &["status"], status);
        self.api.update(SELF, Kind::Deployment, object, Part::Status).map(|_| ())
    }
}
