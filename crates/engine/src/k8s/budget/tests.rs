use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::*;

fn labels(pairs: &[(&str, &str)]) -> BTreeMap<String, String> {
    pairs.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned())).collect()
}

/// A budget of `app: web` whose status allows as much as anybody could want.
fn budget(name: &str, rule: &Value, status: &Value) -> Value {
    let mut spec = rule.clone();
    spec["selector"] = json!({"matchLabels": {"app": "web"}});
    let mut full = json!({"observedGeneration": 1, "disruptionsAllowed": 99, "currentHealthy": 0, "expectedPods": 0});
    for (key, value) in status.as_object().into_iter().flatten() {
        full[key.as_str()] = value.clone();
    }
    json!({"metadata": {"name": name, "generation": 1}, "spec": spec, "status": full})
}

/// Pods of `app: web`, one a letter: `r`eady, `n`ot ready, `t`erminating; in progress: `h` (ready), `d` (not ready).
fn pods<'a>(letters: &str, labels: &'a BTreeMap<String, String>) -> Vec<CountedPod<'a>> {
    let pod = |letter: char| CountedPod {
        labels,
        ready: matches!(letter, 'r' | 'h' | 't'),
        terminating: letter == 't',
        in_progress: matches!(letter, 'h' | 'd'),
    };
    letters.chars().map(pod).collect()
}

fn allowed_of(budget: &Value, replicas: usize, letters: &str) -> (usize, String) {
    let web = labels(&[("app", "web")]);
    let limits = limits(std::slice::from_ref(budget), replicas, &pods(letters, &web));
    let [limit] = limits.as_slice() else { panic!("one budget, one limit: {limits:?}") };
    (limit.allowed, limit.to_string())
}

#[test]
fn the_rule_is_counted_as_the_disruption_controller_does() {
    for (rule, replicas, letters, expected) in [
        (json!({"minAvailable": 2}), 3, "rrr", 1),
        (json!({"minAvailable": 2}), 3, "rrh", 0),
        (json!({"minAvailable": 2}), 3, "rrd", 0),
        (json!({"minAvailable": 2}), 3, "rrn", 0),
        (json!({"minAvailable": 2}), 3, "rrt", 0),
        (json!({"minAvailable": 2}), 3, "rr", 0),
        (json!({"minAvailable": 5}), 3, "rrr", 0),
        (json!({"minAvailable": 0}), 3, "rrr", 3),
        (json!({"minAvailable": "50%"}), 3, "rrr", 1),
        (json!({"minAvailable": "50%"}), 4, "rrrr", 2),
        // Percentages are of what the owner wants, not of the present pods.
        (json!({"minAvailable": "50%"}), 8, "rrrr", 0),
        (json!({"minAvailable": "100%"}), 3, "rrr", 0),
        (json!({"maxUnavailable": 1}), 3, "rrr", 1),
        (json!({"maxUnavailable": 1}), 3, "rrn", 0),
        (json!({"maxUnavailable": 1}), 3, "rrh", 0),
        (json!({"maxUnavailable": 2}), 3, "rrh", 1),
        (json!({"maxUnavailable": 1}), 3, "rr", 0),
        (json!({"maxUnavailable": 0}), 3, "rrr", 0),
        (json!({"maxUnavailable": 5}), 3, "rrr", 3),
        // Rounded up: a quarter of three may be down is one.
        (json!({"maxUnavailable": "25%"}), 3, "rrr", 1),
        (json!({"maxUnavailable": "25%"}), 5, "rrrrr", 2),
        (json!({"maxUnavailable": 1, "minAvailable": null}), 1, "r", 1),
    ] {
        let budget = budget("web", &rule, &Value::Null);
        assert_eq!(allowed_of(&budget, replicas, letters).0, expected, "{rule} {replicas} {letters}");
    }
}

#[test]
fn the_status_never_allows_less_than_is_taken() {
    let allows = |allowed: u64| budget("web", &json!({"maxUnavailable": 2}), &json!({"disruptionsAllowed": allowed}));
    for (allowed, letters, expected) in [
        (2, "rrrrr", 2),
        (1, "rrrrr", 1),
        (0, "rrrrr", 0),
        // In hand and shown ready: the status does not know yet that it is down.
        (2, "rrrrh", 1),
        (1, "rrrrh", 0),
        // In hand and shown not ready: the status knows.
        (1, "rrrrd", 1),
        (2, "rrrrd", 1),
        (0, "rrrrd", 0),
    ] {
        assert_eq!(allowed_of(&allows(allowed), 5, letters).0, expected, "{allowed} {letters}");
    }
}

#[test]
fn pods_of_other_owners_count_as_far_as_the_status_vouches_for_them() {
    // Six pods, three of them ours, five must be healthy.
    let status = |healthy: u64, allowed: u64| json!({"expectedPods": 6, "currentHealthy": healthy, "disruptionsAllowed": allowed});
    for (healthy, allowed, letters, expected) in [
        (6, 1, "rrr", 1),
        (6, 1, "rrh", 0),
        (5, 0, "rrd", 0),
        // The status has not seen that our pod is down.
        (6, 1, "rrd", 0),
        (5, 0, "rrr", 0),
        (5, 1, "rrr", 0),
    ] {
        for rule in [json!({"minAvailable": 5}), json!({"maxUnavailable": 1}), json!({"minAvailable": "80%"})] {
            let budget = budget("all", &rule, &status(healthy, allowed));
            assert_eq!(allowed_of(&budget, 3, letters).0, expected, "{rule} {healthy} {allowed} {letters}");
        }
    }
}

#[test]
fn what_blocks_says_why() {
    let unseen = json!({"observedGeneration": 0});
    let failed = json!({"disruptionsAllowed": 0, "conditions": [{"type": "DisruptionAllowed", "status": "False",
        "reason": "SyncFailed", "message": "found no controllers for pod \"web-0\""}]});
    let never_seen = {
        let mut budget = budget("web", &json!({"minAvailable": 1}), &Value::Null);
        budget.as_object_mut().unwrap().remove("status");
        budget
    };
    for (budget, letters, allowed, why) in [
        (
            budget("web", &json!({"minAvailable": 2}), &Value::Null),
            "rrh",
            0,
            "allows no pod to be down now: 2 pods are healthy and 2 must be (minAvailable 2)",
        ),
        (
            budget("web", &json!({"maxUnavailable": "50%"}), &Value::Null),
            "rrr",
            2,
            "allows 2 more pods to be down: 3 pods are healthy and 1 must be (maxUnavailable 50%)",
        ),
        (
            budget("web", &json!({"minAvailable": 0}), &json!({"disruptionsAllowed": 1})),
            "rrr",
            1,
            "allows 1 more pod to be down: its status allows 1 disruptions",
        ),
        (
            budget("web", &json!({"minAvailable": 0}), &json!({"disruptionsAllowed": 1})),
            "rrh",
            0,
            "allows no pod to be down now: its status allows 1 disruptions, and 1 of its pods are in progress",
        ),
        (
            budget("web", &json!({"minAvailable": 1}), &unseen),
            "rrr",
            0,
            "allows no pod to be down now: the disruption controller has not seen it as it is now",
        ),
        (never_seen, "rrr", 0, "allows no pod to be down now: the disruption controller has not seen it as it is now"),
        (
            budget("web", &json!({"maxUnavailable": 1}), &failed),
            "rrr",
            0,
            "allows no pod to be down now: the disruption controller cannot work it out: found no controllers for pod \"web-0\"",
        ),
        (
            budget("web", &json!({}), &Value::Null),
            "rrr",
            0,
            "allows no pod to be down now: it has no minAvailable or maxUnavailable that can be read",
        ),
        (
            budget("web", &json!({"minAvailable": "2"}), &Value::Null),
            "rrr",
            0,
            "allows no pod to be down now: it has no minAvailable or maxUnavailable that can be read",
        ),
    ] {
        assert_eq!(
            allowed_of(&budget, 3, letters),
            (allowed, format!("poddisruptionbudget/web {why}")),
            "{budget} {letters}"
        );
    }
}

#[test]
fn of_several_budgets_the_least_counts_and_a_foreign_one_does_not() {
    let (front, back) = (labels(&[("app", "web"), ("tier", "front")]), labels(&[("app", "web"), ("tier", "back")]));
    let mut pods = pods("rr", &front);
    pods.extend(self::pods("r", &back));
    let with_selector = |name: &str, minimum: u64, selector: Value| {
        let mut budget = budget(name, &json!({"minAvailable": minimum}), &Value::Null);
        budget["spec"]["selector"] = selector;
        budget
    };
    let budgets = [
        with_selector("everything", 2, json!({})),
        with_selector("nothing", 2, Value::Null),
        with_selector("front", 2, json!({"matchLabels": {"tier": "front"}})),
        with_selector("foreign", 9, json!({"matchLabels": {"app": "api"}})),
    ];
    let limits = limits(&budgets, 3, &pods);
    assert_eq!(limits.iter().map(|limit| limit.selects(&front)).collect::<Vec<_>>(), [true, true]);
    assert_eq!(limits.iter().map(|limit| limit.selects(&back)).collect::<Vec<_>>(), [true, false]);
    assert_eq!(blocking(&limits, &front).map(|limit| limit.budget.as_str()), Some("front"));
    assert_eq!(blocking(&limits, &back), None);
    assert_eq!(
        limits[1].to_string(),
        "poddisruptionbudget/front allows no pod to be down now: 2 pods are healthy and 2 must be (minAvailable 2); \
         poddisruptionbudget/everything selects the same pods, and only one of them is kept up to date"
    );
    assert_eq!(blocking(&limits[1..], &labels(&[("app", "api")])), None);
}

#[test]
fn only_a_rule_that_can_never_have_room_blocks_for_good() {
    for (rule, status, replicas, letters, expected) in [
        (json!({"minAvailable": 3}), json!({}), 3, "rrr", Some("of 3 pods 3 must be healthy (minAvailable 3)")),
        (json!({"minAvailable": "100%"}), json!({}), 3, "rrr", Some("of 3 pods 3 must be healthy (minAvailable 100%)")),
        (json!({"minAvailable": "67%"}), json!({}), 3, "rrr", Some("of 3 pods 3 must be healthy (minAvailable 67%)")),
        (json!({"maxUnavailable": 0}), json!({}), 1, "r", Some("of 1 pod 1 must be healthy (maxUnavailable 0)")),
        (json!({}), json!({}), 3, "rrr", Some("it has no minAvailable or maxUnavailable that can be read")),
        // One that is not ready, or missing, or another owner's may make room.
        (json!({"minAvailable": 2}), json!({}), 3, "rrn", None),
        (json!({"minAvailable": 2}), json!({}), 3, "rr", None),
        (json!({"minAvailable": 3}), json!({"expectedPods": 4}), 3, "rrr", None),
        (json!({"maxUnavailable": "1%"}), json!({}), 3, "rrr", None),
        // What is not known is no reason to refuse.
        (json!({"minAvailable": 3}), json!({"observedGeneration": 0}), 3, "rrr", None),
        (
            json!({"minAvailable": 3}),
            json!({"conditions": [{"type": "DisruptionAllowed", "reason": "SyncFailed"}]}),
            3,
            "rrr",
            None,
        ),
    ] {
        let web = labels(&[("app", "web")]);
        let found = never(&[budget("web", &rule, &status)], replicas, &pods(letters, &web));
        let why = found.first().map(|limit| limit.why.clone());
        assert_eq!(why.as_deref(), expected, "{rule} {status} {letters}");
    }
    let other = labels(&[("app", "other")]);
    assert_eq!(never(&[budget("web", &json!({"minAvailable": 3}), &json!({}))], 3, &pods("rrr", &other)), []);
}
