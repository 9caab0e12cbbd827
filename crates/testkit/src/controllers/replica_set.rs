//! The ReplicaSet controller (kube-controller-manager `pkg/controller/replicaset`): pods by number, from the template
//! as its cache has it. It never reads the pods' images.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::fields::{
    at, generation, is_terminating, labels_match, name, number, pod, put, replicas, template, text, uid,
};
use super::{Api, Kind, Object, claim};
use crate::api_model::Refused;

/// Its expectations: the pods that its cache has to show before it creates or deletes more.
#[derive(Debug, Default)]
pub struct ReplicaSetController {
    expects: BTreeMap<String, u64>,
}

impl ReplicaSetController {
    /// One sync of a ReplicaSet.
    pub fn sync(&mut self, api: &mut impl Api, namespace: &str, key: &str) -> Result<(), Refused> {
        let Some(set) = api.cached(Kind::ReplicaSet, namespace, key) else { return Ok(()) };
        let mut pods = claim(api, "ReplicaSet", &set);
        pods.retain(|pod| is_active(pod));
        let known = i64::try_from(pods.len()).expect("few");
        let has_seen = self.expects.get(uid(&set)).is_none_or(|version| *version <= api.cached_at(Kind::Pod));
        if has_seen && !is_terminating(&set) {
            self.manage(api, &set, &pods, replicas(&set) - known)?;
        }
        let (seconds, labels) =
            (number(&set, &["spec", "minReadySeconds"]), at(template(&set), &["metadata", "labels"]));
        let counts = [
            ("fullyLabeledReplicas", pods.iter().filter(|pod| labels_match(labels, pod)).count()),
            ("readyReplicas", pods.iter().filter(|pod| api.is_ready(pod)).count()),
            ("availableReplicas", pods.iter().filter(|pod| api.is_available(pod, seconds)).count()),
        ];
        let mut status = at(&set, &["status"]).clone();
        put(&mut status, &["replicas"], json!(known));
        for (field, count) in counts {
            put(&mut status, &[field], json!(count));
            if let Some(status) = status.as_object_mut().filter(|_| count == 0) {
                status.shift_remove(field);
            }
        }
        put(&mut status, &["observedGeneration"], json!(generation(&set)));
        if status != *at(&set, &["status"]) {
            api.set_status(Kind::ReplicaSet, &set, status);
        }
        Ok(())
    }

    fn manage(&mut self, api: &mut impl Api, set: &Object, pods: &[Object], missing: i64) -> Result<(), Refused> {
        for _ in 0..missing {
            let key = format!("{}-{}", name(set), api.suffix());
            let made = api.create(Kind::Pod, pod(&key, template(set), "ReplicaSet", set))?;
            api.event(set, Kind::ReplicaSet, "SuccessfulCreate", &format!("Created pod: {}", name(&made)));
        }
        // `ActivePodsWithRanks`, the first few ranks of it.
        let mut sorted: Vec<&Object> = pods.iter().rev().collect();
        sorted.sort_by_key(|pod| {
            let is_pending = text(pod, &["status", "phase"]) == "Pending";
            (!at(pod, &["spec", "nodeName"]).is_null(), !is_pending, api.is_ready(pod))
        });
        let surplus = usize::try_from(-missing).unwrap_or(0);
        for pod in sorted.into_iter().take(surplus) {
            if api.delete(Kind::Pod, pod, true).is_ok() {
                api.event(set, Kind::ReplicaSet, "SuccessfulDelete", &format!("Deleted pod: {}", name(pod)));
            }
        }
        if missing != 0 {
            self.expects.insert(uid(set).to_owned(), api.version());
        }
        Ok(())
    }
}

/// `IsPodActive`: it is not on its way out, and has not ended.
fn is_active(pod: &Value) -> bool {
    !is_terminating(pod) && !["Succeeded", "Failed"].contains(&text(pod, &["status", "phase"]))
}
