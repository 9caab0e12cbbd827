//! The ReplicaSet controller (kube-controller-manager `pkg/controller/replicaset`): pods by number, from the template
//! as its cache has it. It never reads the pods' images.

use std::collections::BTreeMap;

use serde_json::json;

use testkit::api_model::Refused;

use super::api_server::{Actor, ApiServer, Caches, Kind, Object};
use super::fields::{at, generation, is_terminating, name, pod, put, replicas, template, uid};

const SELF: Actor = Actor::ReplicaSetController;

/// Its expectations: the pods that its cache has to show before it creates or deletes more.
#[derive(Debug, Default)]
pub(super) struct ReplicaSetController {
    expects: BTreeMap<String, u64>,
    made: u64,
}

impl ReplicaSetController {
    pub(super) fn sync(&mut self, api: &mut ApiServer, caches: &Caches, key: &str) -> Result<(), Refused> {
        let Some(set) = caches.get(api, Kind::ReplicaSet, key) else { return Ok(()) };
        let mut pods = caches.of(api, Kind::Pod, uid(&set));
        pods.retain(|pod| !is_terminating(pod));
        let known = i64::try_from(pods.len()).expect("few");
        if self.expects.get(uid(&set)).is_none_or(|version| *version <= caches.at(Kind::Pod)) {
            self.manage(api, &set, &pods, replicas(&set) - known)?;
        }
        let mut status = at(&set, &["status"]).clone();
        put(&mut status, &["replicas"], json!(known));
        put(&mut status, &["observedGeneration"], json!(generation(&set)));
        if status != *at(&set, &["status"]) {
            api.force_status(SELF, Kind::ReplicaSet, &set, status);
        }
        Ok(())
    }

    fn manage(&mut self, api: &mut ApiServer, set: &Object, pods: &[Object], missing: i64) -> Result<(), Refused> {
        for _ in 0..missing {
            self.made += 1;
            let key = format!("{}-{}", name(set), self.made);
            api.create(SELF, Kind::Pod, pod(&key, template(set), "ReplicaSet", set))?;
        }
        // Which ones is the controller's choice; the last made go first.
        let surplus = usize::try_from(-missing).unwrap_or(0);
        for pod in pods.iter().rev().take(surplus) {
            api.delete(SELF, Kind::Pod, name(pod), Some(uid(pod))).ok();
        }
        if missing != 0 {
            self.expects.insert(uid(set).to_owned(), api.version());
        }
        Ok(())
    }
}
