use serde_json::json;

use super::*;

#[test]
fn filling_twice_changes_nothing() {
    let pod = json!({"spec": {"containers": [{"name": "a", "image": "i", "resources": {"limits": {"cpu": "0.1"}}}]}});
    let templated = json!({"spec": {"template": pod}, "template": pod});
    for (of, object) in [
        (Schema::POD, &pod),
        (Schema::named("PodTemplate"), &templated),
        (Schema::named("Deployment"), &templated),
        (Schema::named("StatefulSet"), &templated),
        (Schema::named("DaemonSet"), &templated),
        (Schema::named("ReplicaSet"), &templated),
    ] {
        let filled = of.fill(object);
        assert_ne!(filled, *object, "{of:?}");
        assert_eq!(of.fill(&filled), filled, "{of:?}");
    }
}

#[test]
fn pull_policy_goes_by_the_tag() {
    let cases = [
        ("nginx", "Always"),
        ("nginx:latest", "Always"),
        ("nginx:1.27", "IfNotPresent"),
        ("localhost:5000/nginx", "Always"),
        ("nginx@sha256:0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef", "IfNotPresent"),
        ("nginx:latest@sha256:0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef", "Always"),
        ("", "IfNotPresent"),
        ("No Reference", "IfNotPresent"),
    ];
    for (image, policy) in cases {
        let template = Schema::POD_TEMPLATE.fill(&json!({"spec": {"containers": [{"image": image}]}}));
        assert_eq!(template["spec"]["containers"][0]["imagePullPolicy"], policy, "{image}");
    }
    let kept =
        Schema::POD_TEMPLATE.fill(&json!({"spec": {"containers": [{"image": "a:1", "imagePullPolicy": "Always"}]}}));
    assert_eq!(kept["spec"]["containers"][0]["imagePullPolicy"], "Always");
}

#[test]
fn some_defaults_are_for_pods_alone() {
    let spec = json!({"hostNetwork": true, "containers": [
        {"name": "a", "ports": [{"containerPort": 80}], "resources": {"limits": {"cpu": "2000m"}, "requests": {"memory": "1Gi"}}},
    ]});
    let pod = Schema::POD.fill(&json!({"spec": spec}))["spec"].clone();
    assert_eq!(pod["enableServiceLinks"], true);
    assert_eq!(pod["containers"][0]["ports"][0]["hostPort"], 80);
    assert_eq!(pod["containers"][0]["resources"]["requests"], json!({"memory": "1Gi", "cpu": "2"}));
    let template = Schema::POD_TEMPLATE.fill(&json!({"spec": spec}))["spec"].clone();
    assert_eq!(template.get("enableServiceLinks"), None);
    assert_eq!(template["containers"][0]["ports"][0].get("hostPort"), None);
    assert_eq!(template["containers"][0]["resources"]["requests"], json!({"memory": "1Gi"}));
}

#[test]
fn zeros_of_pointers_stay_and_others_go() {
    let object = json!({"metadata": {"labels": {}}, "spec": {
        "replicas": 0, "minReadySeconds": 0, "paused": false,
        "template": {"spec": {"terminationGracePeriodSeconds": 0, "hostNetwork": false, "tolerations": [], "securityContext": {},
            "containers": [], "shareProcessNamespace": false}},
    }});
    let filled = Schema::named("Deployment").fill(&object);
    assert_eq!(filled["metadata"], json!({}));
    assert_eq!(filled["spec"]["replicas"], 0);
    assert_eq!(filled["spec"].get("paused"), None);
    let spec = &filled["spec"]["template"]["spec"];
    assert_eq!(spec["terminationGracePeriodSeconds"], 0);
    assert_eq!(spec["shareProcessNamespace"], false);
    assert_eq!(spec["containers"], json!([]));
    assert_eq!((spec.get("hostNetwork"), spec.get("tolerations")), (None, None));
}

#[test]
fn wrong_types_are_left_alone() {
    for wrong in [
        json!(null),
        json!("x"),
        json!([1, null]),
        json!({"spec": 1}),
        json!({"spec": {"template": [2], "strategy": "x"}}),
    ] {
        for of in [Schema::POD, Schema::named("Deployment")] {
            assert_eq!(of.fill(&of.fill(&wrong)), of.fill(&wrong), "{wrong}");
        }
    }
    let odd = json!({"spec": {"containers": [{"ports": 1, "resources": {"limits": 5, "requests": {"cpu": "?"}}, "env": ["x"]}, 3]}});
    let filled = Schema::POD.fill(&odd);
    assert_eq!(filled["spec"]["containers"][0]["resources"], json!({"limits": 5, "requests": {"cpu": "?"}}));
    assert_eq!(filled["spec"]["containers"][1], 3);
}

fn deployment(spec: &Value) -> Value {
    json!({"metadata": {"name": "web"}, "spec": spec})
}

/// Fills in both, leaves the defaults out again, and checks the promise.
fn left(of: Schema, before: &Value, after: &Value) -> (Value, Value) {
    let (filled_before, filled_after) = (of.fill(before), of.fill(after));
    let (mut before, mut after) = (filled_before.clone(), filled_after.clone());
    of.leave_out(&mut before, &mut after);
    assert_eq!(filled_before == filled_after, before == after);
    assert_eq!(of.fill(&before), filled_before);
    assert_eq!(of.fill(&after), filled_after);
    (before, after)
}

#[test]
fn what_is_left_is_what_was_written() {
    let written = deployment(&json!({
        "selector": {"matchLabels": {"app": "web"}},
        "template": {"metadata": {"labels": {"app": "web"}}, "spec": {
            "containers": [{"name": "app", "image": "app", "ports": [{"containerPort": 80}],
                "readinessProbe": {"httpGet": {"port": 80}}}],
            "volumes": [{"name": "v", "emptyDir": {}}, {"name": "c", "configMap": {"name": "x"}}],
            "serviceAccountName": "me"}}}));
    assert_eq!(left(Schema::named("Deployment"), &written, &written), (written.clone(), written));
    let pod = json!({"metadata": {"name": "p"}, "spec": {"containers": [{"name": "a", "image": "a:1"}]}});
    assert_eq!(left(Schema::POD, &pod, &pod), (pod.clone(), pod));
}

#[test]
fn a_default_that_was_or_becomes_another_value_is_shown_on_both_sides() {
    let container = |policy: Option<&str>, image: &str| {
        let mut container = json!({"name": "a", "image": image});
        if let Some(policy) = policy {
            container["imagePullPolicy"] = policy.into();
        }
        json!({"spec": {"containers": [container]}})
    };
    let policies = |before: &Value, after: &Value| {
        let (before, after) = left(Schema::POD, before, after);
        [before, after].map(|pod| pod["spec"]["containers"][0]["imagePullPolicy"].clone())
    };
    let (always, present) = (json!("Always"), json!("IfNotPresent"));
    assert_eq!(policies(&container(None, "a:1"), &container(None, "a:2")), [Value::Null, Value::Null]);
    assert_eq!(policies(&container(None, "a:1"), &container(Some("Always"), "a:1")), [present.clone(), always.clone()]);
    // Each is the default of its image, and yet they differ.
    assert_eq!(policies(&container(None, "a"), &container(None, "a:1")), [always, present]);

    let (before, after) =
        left(Schema::named("Deployment"), &deployment(&json!({"replicas": 3})), &deployment(&json!({})));
    assert_eq!((&before["spec"]["replicas"], &after["spec"]["replicas"]), (&json!(3), &json!(1)));
}

#[test]
fn a_strategy_that_goes_takes_its_defaults_along() {
    let rolling = deployment(&json!({"strategy": {"rollingUpdate": {"maxSurge": "25%"}}}));
    let (before, after) =
        left(Schema::named("Deployment"), &rolling, &deployment(&json!({"strategy": {"type": "Recreate"}})));
    assert_eq!(before["spec"]["strategy"], json!({"type": "RollingUpdate"}));
    assert_eq!(after["spec"]["strategy"], json!({"type": "Recreate"}));
}

#[test]
fn an_added_container_comes_without_defaults() {
    let one = json!({"spec": {"containers": [{"name": "a", "image": "a:1"}]}});
    let two = json!({"spec": {"containers": [{"name": "b", "image": "b:1"}, {"name": "a", "image": "a:1"}]}});
    assert_eq!(left(Schema::POD, &one, &two), (one.clone(), two.clone()));
    assert_eq!(left(Schema::POD, &two, &one), (two, one));
}

#[test]
fn a_default_is_read_as_it_is_written() {
    for (written, expected) in [
        ("", json!("")),
        ("''", json!("")),
        ("'0'", json!("0")),
        ("/dev/log", json!("/dev/log")),
        ("25%", json!("25%")),
        ("420", json!(0o644)),
        ("false", json!(false)),
        ("{}", json!({})),
    ] {
        assert_eq!(filled_in(written, &Map::new()), Some(expected), "{written}");
    }
}
