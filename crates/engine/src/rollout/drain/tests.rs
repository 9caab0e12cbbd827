use serde_json::{Value, json};

use super::*;
use crate::change::ValueChange;

fn pod() -> Pod {
    let labels = json!({"app": "web", "serving": "yes", "tier": "front", "pod-template-hash": "h"});
    let env = json!([{"name": "TIER", "valueFrom": {"fieldRef": {"fieldPath": "metadata.labels['tier']"}}}]);
    Pod::from_object(&json!({"metadata": {"name": "web-0", "uid": "u", "labels": labels},
        "spec": {"containers": [{"name": "app", "env": env}]}}))
    .unwrap()
}

fn service(name: &str, selector: &Value) -> Value {
    json!({"metadata": {"name": name}, "spec": {"selector": selector}})
}

/// An object with a `matchLabels` selector.
fn selecting(kind: &str, name: &str, labels: &Value) -> Value {
    json!({"kind": kind, "metadata": {"name": name}, "spec": {"selector": {"matchLabels": labels}}})
}

struct Scene {
    owner: Vec<Value>,
    budgets: Vec<Value>,
    others: Vec<Value>,
    changes: MetadataChange,
}

impl Scene {
    fn new() -> Self {
        Self {
            owner: vec![json!({"matchLabels": {"app": "web"}})],
            budgets: Vec::new(),
            others: Vec::new(),
            changes: MetadataChange::default(),
        }
    }

    fn drain(&self, services: &[Value]) -> Drain {
        let Self { owner, budgets, others, changes } = self;
        drain(&pod(), services, &LabelUsers { owner, budgets, others, changes, status_denied: None })
    }

    fn why(&self, services: &[Value]) -> String {
        match self.drain(services) {
            Drain::NotDrainable { why, .. } => why.to_string(),
            other => panic!("drainable: {other:?}"),
        }
    }
}

fn serving(services: &[&str]) -> Drain {
    Drain::Drainable(DrainGoal {
        by: Drained::Label(DrainedLabel { key: "serving".into(), value: "yes".into() }),
        services: services.iter().map(|name| (*name).to_owned()).collect(),
    })
}

#[test]
fn a_label_that_all_services_and_nobody_else_select() {
    let scene = Scene::new();
    let both = json!({"app": "web", "serving": "yes"});
    for (services, expected) in [
        (vec![service("web", &both)], serving(&["web"])),
        (vec![service("web", &json!({"serving": "yes"}))], serving(&["web"])),
        (vec![service("a", &both), service("b", &json!({"serving": "yes", "tier": "front"}))], serving(&["a", "b"])),
        // Others do not select the pod.
        (vec![service("web", &both), service("api", &json!({"app": "api"}))], serving(&["web"])),
        (vec![service("api", &json!({"app": "api"}))], Drain::NoService),
        (vec![service("by-hand", &Value::Null), service("empty", &json!({}))], Drain::NoService),
        (
            vec![json!({"metadata": {"name": "x"}, "spec": {"type": "ExternalName", "selector": both}})],
            Drain::NoService,
        ),
        (vec![], Drain::NoService),
    ] {
        assert_eq!(scene.drain(&services), expected, "{services:?}");
    }
}

#[test]
fn a_label_that_is_needed_elsewhere_stays() {
    let on = |labels: Value| vec![service("web", &labels)];
    let serving_label = json!({"serving": "yes"});
    let mut scene = Scene::new();
    for (services, why) in [
        (on(json!({"app": "web"})), "label app is in the owner's selector, which would replace the pod"),
        (on(json!({"pod-template-hash": "h"})), "label pod-template-hash belongs to a controller of Kubernetes"),
        (on(json!({"tier": "front"})), "label tier is read by the environment of container app"),
        (
            on(json!({"tier": "front", "app": "web"})),
            "label app is in the owner's selector, which would replace the pod; \
             label tier is read by the environment of container app",
        ),
        (
            vec![service("a", &json!({"serving": "yes"})), service("b", &json!({"tier": "front"}))],
            "no label is in the selectors of all of them",
        ),
    ] {
        assert_eq!(scene.why(&services), why, "{services:?}");
    }
    scene.budgets = vec![selecting("PodDisruptionBudget", "web", &serving_label)];
    assert_eq!(scene.why(&on(serving_label.clone())), "label serving is in the selector of poddisruptionbudget/web");
    scene.budgets = Vec::new();
    scene.others = vec![selecting("ReplicaSet", "other", &serving_label)];
    assert_eq!(scene.why(&on(serving_label.clone())), "label serving is in the selector of replicaset/other");
    scene.others = vec![
        json!({"kind": "NetworkPolicy", "metadata": {"name": "in"}, "spec": {"podSelector": {"matchLabels": serving_label}}}),
    ];
    assert_eq!(scene.why(&on(serving_label.clone())), "label serving is in the selector of networkpolicy/in");
    scene.others = Vec::new();
    scene.changes.labels.insert("serving".into(), ValueChange { from: Some("yes".into()), to: Some("no".into()) });
    assert_eq!(scene.why(&on(serving_label)), "label serving is changed by the rollout itself");
}

#[test]
fn a_selector_counts_only_where_it_selects_the_pod_with_or_without_the_label() {
    let services = [service("web", &json!({"serving": "yes"}))];
    let expression = |operator: &str| json!({"matchExpressions": [{"key": "serving", "operator": operator}]});
    for (selector, is_needed) in [
        (json!({"matchLabels": {"serving": "no"}}), false),
        (json!({"matchLabels": {"serving": "yes", "app": "api"}}), false),
        (json!({"matchLabels": {"app": "web"}}), false),
        (json!({}), false),
        (Value::Null, false),
        (expression("Exists"), true),
        // It would begin to select the pod.
        (expression("DoesNotExist"), true),
    ] {
        let mut scene = Scene::new();
        scene.budgets = vec![json!({"metadata": {"name": "b"}, "spec": {"selector": selector}})];
        let found = scene.drain(&services);
        assert_eq!(found != serving(&["web"]), is_needed, "{selector}");
    }
}

#[test]
fn the_hint_names_the_services() {
    let hint = |services: &[&str]| {
        let services: Vec<String> = services.iter().map(|name| (*name).to_owned()).collect();
        NotDrainable { labels: Vec::new(), gates: Vec::new() }.hint(&services)
    };
    assert!(hint(&["web"]).ends_with("then add it to the selector of service/web"));
    assert!(hint(&["web", "db"]).ends_with("then add it to the selectors of service/web, service/db"));
}

#[test]
fn a_pod_serves_where_a_slice_lists_it_ready_or_serving() {
    let endpoint = |uid: &str, conditions: Value| json!({"targetRef": {"uid": uid}, "conditions": conditions});
    let slice = |service: &str, endpoints: Value| json!({"metadata": {"labels": {"kubernetes.io/service-name": service}}, "endpoints": endpoints});
    let services = ["a".to_owned(), "b".to_owned()];
    for (conditions, serves) in [
        (json!({"ready": true, "serving": true, "terminating": false}), true),
        (json!({"ready": false, "serving": true, "terminating": true}), true),
        (json!({"ready": false, "serving": false}), false),
        (json!({"ready": false}), false),
        // publishNotReadyAddresses.
        (json!({"ready": true, "serving": false}), true),
        (json!({}), true),
        (Value::Null, true),
    ] {
        let slices =
            [slice("a", json!([endpoint("other", json!({"ready": true})), endpoint("u", conditions.clone())]))];
        let found = serving_in(&slices, &services, &"u".into());
        assert_eq!(found.contains("a"), serves, "{conditions}");
    }
    let ready = || json!([endpoint("u", json!({"ready": true}))]);
    let slices =
        [slice("b", json!(null)), slice("b", ready()), slice("a", ready()), slice("foreign", ready()), json!({})];
    assert_eq!(serving_in(&slices, &services, &"u".into()).into_iter().collect::<Vec<_>>(), ["a", "b"]);
    assert!(serving_in(&slices, &services, &"another".into()).is_empty());
}
