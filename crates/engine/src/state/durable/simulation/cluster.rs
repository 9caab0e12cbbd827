//! The workload of a scenario as it stands before, settled.

use serde_json::{Value, json};

use crate::kinds::{HoldsBy, WorkloadKind};
use crate::state::durable::history::{self, HISTORY_ANNOTATION, HistoryEntry};
use crate::state::durable::rollout::Rollout;
use crate::state::outcome::EndResult;
use testkit::api_model::TEMPLATE_GENERATION;

use super::api_server::{Actor, ApiServer, Kind, timestamp_off_by};
use super::fields::{DESIRED, HASH, LAST_APPLIED, MAXIMUM, REVISION, controlled_by, hash, name, pod, put, template};
use super::scenario::Scenario;
use testkit::controllers::revisions;

pub(super) const OWNER: &str = "web";
pub(super) const BEFORE: &str = "registry.example/side:v1";
pub(super) const WANTED: &str = "registry.example/side:v2";
pub(super) const FOREIGN: &str = "registry.example/side:v3";
const OLDER: &str = "registry.example/side:v0";

pub(super) fn kind_of(kind: WorkloadKind) -> Kind {
    match kind.holds_by() {
        HoldsBy::Paused => Kind::Deployment,
        // A CloneSet of the type ReCreate replaces pods as a StatefulSet does, and is paused by a field of its own.
        HoldsBy::OnDeleteOrPartition | HoldsBy::StrategyPaused => Kind::StatefulSet,
        HoldsBy::OnDelete => Kind::DaemonSet,
        HoldsBy::Nothing if kind.has_template() => Kind::ReplicaSet,
        HoldsBy::Nothing => Kind::Pod,
    }
}

pub(super) fn template_with(image: &str) -> Value {
    json!({"metadata": {"labels": {"app": "web"}},
        "spec": {"containers": [{"name": "app", "image": "registry.example/app:v1"}, {"name": "side", "image": image}]}})
}

pub(super) fn wanted_template(scenario: &Scenario) -> Value {
    let mut wanted = template_with(WANTED);
    if scenario.metadata {
        put(&mut wanted, &["metadata", "labels", "tier"], json!("b"));
        put(&mut wanted, &["metadata", "annotations", "checksum"], json!("2"));
    }
    if scenario.tolerations {
        put(&mut wanted, &["spec", "tolerations"], json!([{"key": "gpu", "operator": "Exists"}]));
    }
    wanted
}

pub(super) fn strategy(scenario: &Scenario) -> Value {
    match (scenario.kind, scenario.on_delete) {
        (WorkloadKind::CloneSet, paused) => json!({"type": "ReCreate", "paused": paused}),
        (_, true) => json!({"type": "OnDelete"}),
        (WorkloadKind::StatefulSet, false) => {
            json!({"type": "RollingUpdate", "rollingUpdate": {"partition": scenario.partition}})
        }
        (_, false) => json!({"type": "RollingUpdate", "rollingUpdate": {"maxSurge": 0, "maxUnavailable": 1}}),
    }
}

/// The rollouts that have ended before, the oldest first, each at the time of its client's clock.
pub(super) fn earlier(scenario: &Scenario) -> Vec<HistoryEntry> {
    let of = |(index, hours): (usize, &i64)| {
        let (id, since) = (format!("20260228-{index}").as_str().into(), "2026-02-28T10:00:00Z".into());
        let rollout = Rollout { id, who: "jane".into(), since, ..Rollout::default() };
        rollout.entry(EndResult::Complete, &timestamp_off_by(0, *hours), "jane")
    };
    scenario.clocks.earlier.iter().enumerate().map(of).collect()
}

fn owner(scenario: &Scenario) -> Value {
    let mut owner = json!({"apiVersion": "apps/v1", "metadata": {"name": OWNER, "namespace": "prod"},
        "spec": {"replicas": scenario.replicas, "revisionHistoryLimit": scenario.history_limit,
            "selector": {"matchLabels": {"app": "web"}}, "template": template_with(BEFORE)}});
    if scenario.annotated {
        put(&mut owner, &["metadata", "annotations"], json!({"team": "blue", LAST_APPLIED: "{}"}));
    }
    let earlier = earlier(scenario);
    if !earlier.is_empty() {
        put(&mut owner, &["metadata", "annotations", HISTORY_ANNOTATION], json!(history::to_text(&earlier)));
    }
    match scenario.kind.holds_by() {
        HoldsBy::Paused => {
            let strategy = if scenario.recreate {
                json!({"type": "Recreate"})
            } else {
                json!({"type": "RollingUpdate", "rollingUpdate": {"maxSurge": 1, "maxUnavailable": 0}})
            };
            put(&mut owner, &["spec", "strategy"], strategy);
        }
        HoldsBy::OnDeleteOrPartition => {
            put(&mut owner, &["spec", "updateStrategy"], strategy(scenario));
            if scenario.start > 0 {
                put(&mut owner, &["spec", "ordinals", "start"], json!(scenario.start));
            }
        }
        HoldsBy::StrategyPaused => put(&mut owner, &["spec", "updateStrategy"], strategy(scenario)),
        HoldsBy::OnDelete => {
            put(&mut owner, &["spec", "updateStrategy"], strategy(scenario));
            put(&mut owner, &["metadata", "annotations", TEMPLATE_GENERATION], json!("1"));
            owner.get_mut("spec").and_then(Value::as_object_mut).expect("it is there").shift_remove("replicas");
        }
        HoldsBy::Nothing => {}
    }
    owner
}

/// The old templates, the oldest first, and the present one.
fn templates(scenario: &Scenario) -> Vec<Value> {
    let mut templates = Vec::new();
    if scenario.older {
        templates.push(template_with(OLDER));
    }
    if scenario.known {
        templates.push(wanted_template(scenario));
    }
    templates.push(template_with(BEFORE));
    templates
}

pub(super) fn set_up(api: &mut ApiServer, scenario: &Scenario) {
    let owner = api.create(Actor::Setup, kind_of(scenario.kind), owner(scenario)).expect("new");
    let templates = templates(scenario);
    let last = templates.len() - 1;
    for (index, held) in templates.iter().enumerate() {
        let number = i64::try_from(index).expect("few") + 1;
        if scenario.kind == WorkloadKind::Deployment {
            let pods = if index == last { scenario.replicas } else { 0 };
            replica_set(api, scenario, &owner, held, number, pods);
        } else {
            let mut like = (*owner).clone();
            put(&mut like, &["spec", "template"], held.clone());
            let kind = if scenario.kind == WorkloadKind::DaemonSet { "DaemonSet" } else { "StatefulSet" };
            let revision = revisions::of(&like, kind, number, 0);
            api.create(Actor::Setup, Kind::ControllerRevision, revision).expect("new");
        }
    }
}

fn replica_set(api: &mut ApiServer, scenario: &Scenario, owner: &Value, held: &Value, number: i64, pods: i64) {
    let hash = hash(held, 0);
    let mut set = json!({"apiVersion": "apps/v1",
        "metadata": {"name": format!("{OWNER}-{hash}"), "namespace": "prod", "labels": {"app": "web", HASH: hash},
            "annotations": {REVISION: number.to_string(), DESIRED: scenario.replicas.to_string(), MAXIMUM: "9"},
            "creationTimestamp": format!("2026-02-0{number}T10:00:00Z"),
            "ownerReferences": controlled_by("Deployment", owner)},
        "spec": {"replicas": pods, "selector": {"matchLabels": {"app": "web", HASH: hash}}, "template": held},
        "status": {"replicas": pods, "observedGeneration": 1}});
    put(&mut set, &["spec", "template", "metadata", "labels", HASH], json!(hash));
    if scenario.annotated {
        put(&mut set, &["metadata", "annotations", "team"], json!("blue"));
    }
    let set = api.create(Actor::Setup, Kind::ReplicaSet, set).expect("new");
    for index in 0..pods {
        let pod = pod(&format!("{}-start{index}", name(&set)), template(&set), "ReplicaSet", &set);
        api.create(Actor::Setup, Kind::Pod, pod).expect("new");
    }
}
