use super::*;
use serde_json::json;

#[test]
fn filling_twice_changes_nothing() {
    let pod = json!({"spec": {"containers": [{"name": "a", "image": "i", "resources": {"limits": {"cpu": "0.1"}}}]}});
    let templated = json!({"spec": {"template": pod}, "template": pod});
    for (of, object) in [
        (Defaults::POD, &pod),
        (Defaults::POD_TEMPLATE_OBJECT, &templated),
        (Defaults::DEPLOYMENT, &templated),
        (Defaults::STATEFUL_SET, &templated),
        (Defaults::DAEMON_SET, &templated),
        (Defaults::REPLICA_SET, &templated),
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
        let template = Defaults::POD_TEMPLATE.fill(&json!({"spec": {"containers": [{"image": image}]}}));
        assert_eq!(template["spec"]["containers"][0]["imagePullPolicy"], policy, "{image}");
    }
    let kept =
        Defaults::POD_TEMPLATE.fill(&json!({"spec": {"containers": [{"image": "a:1", "imagePullPolicy": "Always"}]}}));
    assert_eq!(kept["spec"]["containers"][0]["imagePullPolicy"], "Always");
}

#[test]
fn some_defaults_are_for_pods_alone() {
    let spec = json!({"hostNetwork": true, "containers": [
        {"name": "a", "ports": [{"containerPort": 80}], "resources": {"limits": {"cpu": "2000m"}, "requests": {"memory": "1Gi"}}},
    ]});
    let pod = Defaults::POD.fill(&json!({"spec": spec}))["spec"].clone();
    assert_eq!(pod["enableServiceLinks"], true);
    assert_eq!(pod["containers"][0]["ports"][0]["hostPort"], 80);
    assert_eq!(pod["containers"][0]["resources"]["requests"], json!({"memory": "1Gi", "cpu": "2"}));
    let template = Defaults::POD_TEMPLATE.fill(&json!({"spec": spec}))["spec"].clone();
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
    let filled = Defaults::DEPLOYMENT.fill(&object);
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
        for of in [Defaults::POD, Defaults::DEPLOYMENT] {
            assert_eq!(of.fill(&of.fill(&wrong)), of.fill(&wrong), "{wrong}");
        }
    }
    let odd = json!({"spec": {"containers": [{"ports": 1, "resources": {"limits": 5, "requests": {"cpu": "?"}}, "env": ["x"]}, 3]}});
    let filled = Defaults::POD.fill(&odd);
    assert_eq!(filled["spec"]["containers"][0]["resources"], json!({"limits": 5, "requests": {"cpu": "?"}}));
    assert_eq!(filled["spec"]["containers"][1], 3);
}
