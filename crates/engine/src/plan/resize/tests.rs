#![expect(clippy::needless_pass_by_value, reason = "literals read best as they are")]

use serde_json::json;

use super::*;
use crate::change;
use crate::kinds::WorkloadKind;

fn container(name: &str, requests: Value, limits: Value) -> Value {
    json!({"name": name, "image": "a:1", "resources": {"requests": requests, "limits": limits}})
}

fn object(name: &str, node: &str, containers: &[Value]) -> Value {
    let status = |container: &Value| {
        let (name, resources) = (&container["name"], &container["resources"]);
        json!({"name": name, "state": {"running": {}}, "resources": resources,
            "allocatedResources": resources["requests"]})
    };
    json!({"metadata": {"name": name, "namespace": "shop", "uid": name},
        "spec": {"nodeName": node, "containers": containers},
        "status": {"phase": "Running", "containerStatuses": containers.iter().map(status).collect::<Vec<_>>()}})
}

fn pod(name: &str, node: &str, containers: &[Value]) -> Pod {
    Pod::from_object(&object(name, node, containers)).unwrap()
}

/// A pod of one container.
fn small(name: &str, node: &str, cpu: &str, memory: &str) -> Pod {
    pod(name, node, &[container("app", json!({"cpu": cpu, "memory": memory}), json!({"memory": "1Gi"}))])
}

fn app(cpu: &str, memory: &str, limit: &str) -> Value {
    json!({"spec": {"containers": [container("app", json!({"cpu": cpu, "memory": memory}), json!({"memory": limit}))]}})
}

/// The change of `app` from 100m and 64Mi to this.
fn to(cpu: &str, memory: &str, limit: &str) -> FieldChanges {
    change::diff(&app("100m", "64Mi", "1Gi"), &app(cpu, memory, limit)).change.fields
}

fn resized<'a>(pods: &'a [Pod], fields: &FieldChanges) -> Vec<Resized<'a>> {
    pods.iter().map(|pod| Resized::new(pod, fields, Vec::new())).collect()
}

fn node(cpu: &str, memory: &str, pods: &[Pod]) -> NodeRoom {
    NodeRoom::new(&json!({"status": {"allocatable": {"cpu": cpu, "memory": memory}}}), pods)
}

fn workload(template: Value) -> Workload {
    let object = json!({"metadata": {"name": "web", "namespace": "shop", "uid": "u"}, "spec": {"template": template}});
    Workload::from_object(WorkloadKind::Deployment, object).unwrap()
}

fn sentences(warnings: &[Warning]) -> Vec<String> {
    warnings.iter().map(Warning::sentence).collect()
}

#[test]
fn a_pod_counts_as_the_scheduler_counts_it() {
    let cpu = |requests: &str| container("x", json!({"cpu": requests}), json!({}));
    let with = |init: Value, whole: Value| {
        let mut object = object("p", "n", &[cpu("100m"), cpu("50m")]);
        object["spec"]["initContainers"] = init;
        object["spec"]["resources"] = whole;
        object["spec"]["overhead"] = json!({"cpu": "7m"});
        object["status"] = json!({});
        Pod::from_object(&object).unwrap()
    };
    let sidecar = |requests: &str| {
        let mut sidecar = cpu(requests);
        sidecar["restartPolicy"] = json!("Always");
        sidecar
    };
    for (init, whole, expected) in [
        (json!([]), json!(null), 157),
        (json!([cpu("120m")]), json!(null), 157),
        (json!([cpu("400m"), cpu("300m")]), json!(null), 407),
        (json!([sidecar("30m")]), json!(null), 187),
        // Beside the sidecars that were started before it, and only those.
        (json!([sidecar("30m"), cpu("400m"), sidecar("60m")]), json!(null), 437),
        (json!([cpu("400m"), sidecar("30m")]), json!(null), 407),
        (json!([]), json!({"requests": {"cpu": "1"}}), 1_007),
        (json!([]), json!({"requests": {"memory": "1Gi"}}), 157),
    ] {
        let pod = with(init.clone(), whole);
        assert_eq!(requests::asked(&pod, ResourceField::RequestsCpu), expected, "{init}");
    }
    let unlimited = with(json!([]), json!(null));
    assert_eq!(requests::asked(&unlimited, ResourceField::LimitsCpu), 0, "overhead limits nothing");
}

#[test]
fn what_is_allocated_counts_on_the_node_and_the_most_of_all_in_a_quota() {
    let mut object = object("p", "n", &[container("app", json!({"cpu": "300m"}), json!({}))]);
    object["status"]["containerStatuses"][0]["allocatedResources"] = json!({"cpu": "100m"});
    object["status"]["containerStatuses"][0]["resources"] = json!({"requests": {"cpu": "400m"}});
    let pod = Pod::from_object(&object).unwrap();
    let field = ResourceField::RequestsCpu;
    let counted = (requests::asked(&pod, field), requests::allocated(&pod, field), requests::charged(&pod, field));
    assert_eq!(counted, (300, 100, 400));
}

#[test]
fn pods_that_find_no_room_now_are_reported_and_the_rest_is_left() {
    let ours = [small("a", "n1", "100m", "64Mi"), small("b", "n1", "100m", "64Mi"), small("c", "n2", "100m", "64Mi")];
    let other = small("other", "n1", "500m", "64Mi");
    let mut ended = small("ended", "n1", "900m", "64Mi");
    ended.status.phase = "Succeeded".into();
    let n2 = [ours[2].clone(), small("further", "n2", "50m", "64Mi")];
    let n1 = [ours[0].clone(), ours[1].clone(), other, ended];
    for (cpu, n1_cpu, n2_cpu, expected) in [
        ("200m", "1", "1", vec![]),
        ("250m", "1", "1", vec![]),
        // One of two still fits.
        (
            "300m",
            "1",
            "1",
            vec![
                "the resize of 1 pod would be put off until there is room: node n1 has 100m cpu left, and a pod needs 200m more",
            ],
        ),
        (
            "700m",
            "1",
            "1",
            vec![
                "the resize of 2 pods would be put off until there is room: node n1 has 300m cpu left, and a pod needs 600m more",
            ],
        ),
        (
            "800m",
            "1",
            "800m",
            vec![
                "the resize of 3 pods would be put off until there is room: node n1 has 300m cpu left, and a pod needs 700m more, and another node lacks room as well",
            ],
        ),
        ("50m", "100m", "10m", vec![]),
    ] {
        let nodes = [("n1".into(), node(n1_cpu, "1Gi", &n1)), ("n2".into(), node(n2_cpu, "1Gi", &n2))].into();
        let facts = ResizeFacts { nodes, ..ResizeFacts::default() };
        let reported = deferred(&resized(&ours, &to(cpu, "64Mi", "1Gi")), &facts);
        assert_eq!(sentences(&reported), expected, "{cpu}");
    }
}

#[test]
fn a_node_that_is_not_known_is_said_only_where_pods_grow() {
    let ours = [small("a", "n1", "100m", "64Mi")];
    let facts = ResizeFacts { nodes_not_read: Some("no".into()), ..ResizeFacts::default() };
    for (cpu, memory, is_said) in [("200m", "64Mi", true), ("100m", "65Mi", true), ("50m", "64Mi", false)] {
        let reported = deferred(&resized(&ours, &to(cpu, memory, "1Gi")), &facts);
        assert_eq!(
            reported.len() == 1 && reported[0].sentence().contains("not known whether they have room"),
            is_said,
            "{cpu}"
        );
    }
    let mut pending = small("a", "", "100m", "64Mi");
    pending.status = Default::default();
    let pending = [pending];
    assert!(deferred(&resized(&pending, &to("9", "64Mi", "1Gi")), &facts).is_empty(), "the scheduler looks");
}

#[test]
fn what_a_node_never_has_is_refused() {
    let ours = [small("a", "n1", "100m", "64Mi"), small("b", "n1", "100m", "64Mi")];
    let facts =
        |cpu, memory| ResizeFacts { nodes: [("n1".into(), node(cpu, memory, &ours))].into(), ..Default::default() };
    for (cpu, memory, facts, expected) in [
        ("2", "64Mi", facts("2", "1Gi"), vec![]),
        (
            "2001m",
            "64Mi",
            facts("2", "1Gi"),
            vec!["a pod would ask for 2001m cpu, and node n1 has 2 for all pods together"],
        ),
        (
            "100m",
            "2Gi",
            facts("2", "1Gi"),
            vec!["a pod would ask for 2Gi memory, and node n1 has 1Gi for all pods together"],
        ),
        // A decrease is accepted, whatever the node has become.
        ("50m", "64Mi", facts("10m", "1Gi"), vec![]),
        ("9", "9Gi", ResizeFacts::default(), vec![]),
    ] {
        let reported = refused(&resized(&ours, &to(cpu, memory, "9Gi")), &facts);
        assert_eq!(reported.iter().map(Reason::sentence).collect::<Vec<_>>(), expected, "{cpu} {memory}");
    }
}

#[test]
fn nothing_is_resized_on_windows() {
    let ours = [small("a", "n1", "100m", "64Mi")];
    let change = resized(&ours, &to("50m", "64Mi", "1Gi"));
    for (labels, expected) in [
        (json!({"kubernetes.io/os": "windows"}), vec!["WindowsPod"]),
        (json!({"kubernetes.io/os": "linux"}), vec![]),
        (json!(null), vec![]),
    ] {
        let node = NodeRoom::new(&json!({"metadata": {"labels": labels}}), &[]);
        let facts = ResizeFacts { nodes: [("n1".into(), node)].into(), ..Default::default() };
        assert_eq!(refused(&change, &facts).iter().map(Reason::code).collect::<Vec<_>>(), expected, "{labels}");
    }
}

#[test]
fn a_quota_has_to_have_room_for_all_pods_together() {
    let ours = [small("a", "n1", "100m", "64Mi"), small("b", "n2", "100m", "64Mi")];
    let quota = |name: &str, spec: Value, hard: Value, used: Value| json!({"metadata": {"name": name}, "spec": spec, "status": {"hard": hard, "used": used}});
    let cpu = |hard: &str| quota("q", json!({}), json!({"requests.cpu": hard}), json!({"requests.cpu": "200m"}));
    let of_class = |operator: &str, values: Value| {
        let expression = json!({"scopeName": "PriorityClass", "operator": operator, "values": values});
        let spec = json!({"scopeSelector": {"matchExpressions": [expression]}});
        quota("q", spec, json!({"cpu": "1"}), json!({}))
    };
    let sentence = |needed: &str, what: &str, left: &str| {
        vec![format!("the pods together ask for {needed} more {what}, and resourcequota/q has {left} left")]
    };
    for (change, quota, expected) in [
        (to("200m", "64Mi", "1Gi"), cpu("400m"), vec![]),
        (to("201m", "64Mi", "1Gi"), cpu("400m"), sentence("202m", "requests.cpu", "200m")),
        (to("200m", "64Mi", "1Gi"), cpu("100m"), sentence("200m", "requests.cpu", "0")),
        // Above the quota already, as a later quota may be: what does not grow is not checked.
        (to("100m", "64Mi", "1Gi"), cpu("100m"), vec![]),
        (to("50m", "64Mi", "1Gi"), cpu("100m"), vec![]),
        (
            to("100m", "128Mi", "1Gi"),
            quota("q", json!({}), json!({"memory": "150Mi"}), json!({"memory": "128Mi"})),
            sentence("128Mi", "memory", "22Mi"),
        ),
        (
            to("100m", "64Mi", "2Gi"),
            quota(
                "q",
                json!({"scopes": ["NotTerminating"]}),
                json!({"limits.memory": "3Gi"}),
                json!({"limits.memory": "2Gi"}),
            ),
            sentence("2Gi", "limits.memory", "1Gi"),
        ),
        (to("9", "64Mi", "1Gi"), quota("q", json!({"scopes": ["BestEffort"]}), json!({"cpu": "1"}), json!({})), vec![]),
        (
            to("9", "64Mi", "1Gi"),
            quota("q", json!({"scopeSelector": {"matchExpressions": []}}), json!({"cpu": "1"}), json!({})),
            sentence("17800m", "cpu", "1"),
        ),
        (to("9", "64Mi", "1Gi"), of_class("In", json!(["high"])), vec![]),
        (to("9", "64Mi", "1Gi"), of_class("Exists", json!([])), vec![]),
        (to("9", "64Mi", "1Gi"), of_class("NotIn", json!(["high"])), sentence("17800m", "cpu", "1")),
        (to("9", "64Mi", "1Gi"), of_class("DoesNotExist", json!([])), sentence("17800m", "cpu", "1")),
        (to("9", "64Mi", "1Gi"), of_class("SomeNewOperator", json!([])), vec![]),
        (to("9", "64Mi", "1Gi"), quota("q", json!({}), json!({"pods": "1"}), json!({"pods": "1"})), vec![]),
    ] {
        let reported =
            refused(&resized(&ours, &change), &ResizeFacts { quotas: vec![quota.clone()], ..ResizeFacts::default() });
        assert_eq!(reported.iter().map(Reason::sentence).collect::<Vec<_>>(), expected, "{quota}");
    }
    let error = "forbidden".to_owned();
    assert!(quota::unknown(&resized(&ours, &to("200m", "64Mi", "1Gi")), Some(&error)).is_some());
    assert!(quota::unknown(&resized(&ours, &to("50m", "64Mi", "1Gi")), Some(&error)).is_none());
    assert!(
        quota::unknown(&resized(&ours[..1], &to("200m", "64Mi", "1Gi")), Some(&error)).is_none(),
        "a dry run tells"
    );
}

#[test]
fn an_autoscaler_by_percentage_reads_another_one_at_once() {
    let side = || container("side", json!({"cpu": "100m"}), json!({}));
    let both = [container("app", json!({"cpu": "100m", "memory": "64Mi"}), json!({"memory": "1Gi"})), side()];
    let ours = [pod("a", "n", &both)];
    let asks_nothing = [pod("a", "n", &[both[0].clone(), container("side", json!({}), json!({}))])];
    let metric = |name: &str, percent: i64| json!({"type": "Resource", "resource": {"name": name, "target": {"type": "Utilization", "averageUtilization": percent}}});
    let of_container = |container: &str| {
        json!({"type": "ContainerResource", "containerResource": {"name": "cpu", "container": container,
            "target": {"type": "Utilization", "averageUtilization": 70}}})
    };
    let value = json!({"type": "Resource", "resource": {"name": "cpu", "target": {"type": "AverageValue", "averageValue": "1"}}});
    let words = |whose: &str, from: &str, to: &str, then: &str| {
        vec![format!(
            "horizontalpodautoscaler/h aims at 70 % of the cpu that {whose} requests, {from} before and {to} then: 70 % becomes {then}"
        )]
    };
    for (pods, cpu, metric, expected) in [
        (&ours, "300m", metric("cpu", 70), words("a pod", "200m", "400m", "35 %, and it may scale in")),
        (&ours, "50m", metric("cpu", 70), words("a pod", "200m", "150m", "93 %, and it may scale out")),
        (&ours, "300m", of_container("app"), words("container app", "100m", "300m", "23 %, and it may scale in")),
        (&ours, "300m", of_container("side"), vec![]),
        (&ours, "300m", metric("memory", 70), vec![]),
        (&ours, "300m", value, vec![]),
        (&asks_nothing, "300m", metric("cpu", 70), vec![]),
    ] {
        let target = |name: &str| json!({"apiVersion": "apps/v1", "kind": "Deployment", "name": name});
        let autoscaler =
            |target: Value| json!({"metadata": {"name": "h"}, "spec": {"scaleTargetRef": target, "metrics": [metric]}});
        let (fields, workload) = (to(cpu, "64Mi", "1Gi"), workload(json!({})));
        let reported = autoscaler::horizontal(&resized(pods, &fields), &[autoscaler(target("web"))], &workload);
        assert_eq!(sentences(&reported), expected, "{metric}");
        assert!(autoscaler::horizontal(&resized(pods, &fields), &[autoscaler(target("api"))], &workload).is_empty());
    }
}

#[test]
fn a_vertical_autoscaler_that_acts_is_named() {
    let ours = [small("a", "n1", "100m", "64Mi")];
    let target = json!({"apiVersion": "apps/v1", "kind": "Deployment", "name": "web"});
    let of = |mode: Value, policies: Value| {
        json!({"metadata": {"name": "v"}, "spec": {"targetRef": target, "updatePolicy": mode,
            "resourcePolicy": {"containerPolicies": policies}}})
    };
    for (autoscaler, mode) in [
        (of(json!(null), json!(null)), Some("Auto")),
        (of(json!({"updateMode": "InPlaceOrRecreate"}), json!([])), Some("InPlaceOrRecreate")),
        (of(json!({"updateMode": "Initial"}), json!([])), Some("Initial")),
        (of(json!({"updateMode": "Off"}), json!([])), None),
        (of(json!({}), json!([{"containerName": "app", "mode": "Off"}])), None),
        (of(json!({}), json!([{"containerName": "*", "mode": "Off"}])), None),
        (of(json!({}), json!([{"containerName": "*", "mode": "Off"}, {"containerName": "app"}])), Some("Auto")),
        (of(json!({}), json!([{"containerName": "app", "controlledResources": ["memory"]}])), None),
        (of(json!({}), json!([{"containerName": "app", "controlledResources": ["cpu"]}])), Some("Auto")),
    ] {
        let reported = autoscaler::vertical(
            &resized(&ours, &to("200m", "64Mi", "1Gi")),
            std::slice::from_ref(&autoscaler),
            &workload(json!({})),
        );
        let expected: Vec<Warning> = mode
            .map(|mode| Warning::VerticalAutoscalerActs { autoscaler: "v".into(), mode: mode.into() })
            .into_iter()
            .collect();
        assert_eq!(reported, expected, "{autoscaler}");
    }
}

#[test]
fn a_limit_below_what_is_used_is_reported() {
    let ours = [small("a", "n1", "100m", "64Mi"), small("b", "n1", "100m", "64Mi")];
    let metrics = |a: &str, b: &str| {
        [("a", a), ("b", b)].map(|(name, used)| json!({"metadata": {"name": name}, "containers": [{"name": "app", "usage": {"memory": used}}]}))
    };
    let sentence = |pods: &str, used: &str| {
        vec![format!(
            "container app of {pods} uses {used} of memory, and the limit would be 128Mi: the kubelet does not lower it below what is used"
        )]
    };
    for (limit, metrics, expected) in [
        ("128Mi", metrics("100Mi", "128Mi"), vec![]),
        ("128Mi", metrics("100Mi", "132609Ki"), sentence("1 pod", "129Mi")),
        ("128Mi", metrics("200Mi", "300Mi"), sentence("2 pods", "300Mi")),
        // It was too low before.
        ("2Gi", metrics("3Gi", "3Gi"), vec![]),
    ] {
        assert_eq!(
            sentences(&usage::below_use(&resized(&ours, &to("100m", "64Mi", limit)), &metrics)),
            expected,
            "{limit}"
        );
    }
    assert!(usage::below_use(&resized(&ours, &to("100m", "64Mi", "128Mi")), &[]).is_empty());
}

#[test]
fn what_was_read_at_the_start_is_reported_by_what_the_spec_says() {
    let ours = [small("a", "n1", "100m", "64Mi")];
    let reference = |resource: &str| json!({"name": "M", "valueFrom": {"resourceFieldRef": {"resource": resource}}});
    let secret = json!({"name": "JAVA_OPTS", "value": "-Dpassword=hunter2 -Xmx512m -XX:MaxRAMPercentage=75.0"});
    for (more, limit, signs) in [
        (json!({"command": ["java", "-Xmx512m", "-jar", "a.jar"]}), "2Gi", vec!["-Xmx512m"]),
        (json!({"command": ["sh", "-c", "exec java -Xms1g '-Xmx1g' -jar a.jar"]}), "2Gi", vec!["-Xmx1g"]),
        (json!({"args": ["--max-old-space-size=300"]}), "2Gi", vec!["--max-old-space-size=300"]),
        (json!({"env": [secret]}), "2Gi", vec!["-Xmx512m in JAVA_OPTS", "-XX:MaxRAMPercentage=75.0 in JAVA_OPTS"]),
        (json!({"env": [{"name": "GOMEMLIMIT", "value": "400MiB"}]}), "2Gi", vec!["GOMEMLIMIT"]),
        (json!({"env": [reference("limits.memory")]}), "2Gi", vec!["M (limits.memory)"]),
        // It stays.
        (json!({"env": [reference("limits.cpu"), {"name": "GOMAXPROCS", "value": "2"}]}), "2Gi", vec![]),
        (json!({"command": ["java", "-Xmx512m"]}), "1Gi", vec![]),
        (json!({"image": "openjdk", "command": ["java", "-jar", "a.jar"]}), "2Gi", vec![]),
    ] {
        let mut container = more.clone();
        container["name"] = json!("app");
        let template = json!({"spec": {"containers": [container]}});
        let fields = to("100m", "64Mi", limit);
        let reported: Vec<Warning> = sized_at_start(&resized(&ours, &fields), &template).into_iter().collect();
        let signs: Vec<String> = signs.into_iter().map(str::to_owned).collect();
        let (container, resource) = (ContainerName::from("app"), "memory".to_owned());
        let expected = Warning::RuntimeSizedAtStart { container: container.clone(), resource, signs };
        let is_reported = !matches!(&expected, Warning::RuntimeSizedAtStart { signs, .. } if signs.is_empty());
        assert_eq!(reported, if is_reported { vec![expected] } else { vec![] }, "{more}");
        let restarted: Vec<Resized<'_>> = ours.iter().map(|pod| Resized::new(pod, &fields, vec![&container])).collect();
        assert!(sized_at_start(&restarted, &template).is_empty(), "it reads all of it again");
    }
}

#[test]
fn a_lower_memory_limit_of_what_has_restarted_is_reported() {
    let with = |restarts: i64, policy: &str| {
        let mut pod = small("a", "n1", "100m", "64Mi");
        pod.status.container_statuses.iter_mut().for_each(|status| status.restart_count = restarts);
        let policies = json!([{"resourceName": "memory", "restartPolicy": policy}]);
        pod.spec.containers[0].resize_policy = serde_json::from_value(policies).unwrap();
        pod
    };
    for (pods, limit, expected) in [
        ([with(0, "NotRequired"), with(1, "NotRequired")], "128Mi", Some(1)),
        ([with(1, "NotRequired"), with(2, "NotRequired")], "128Mi", Some(2)),
        ([with(1, "RestartContainer"), with(0, "NotRequired")], "128Mi", None),
        // It is raised.
        ([with(1, "NotRequired"), with(1, "NotRequired")], "2Gi", None),
    ] {
        let reported = usage::of_restarted(&resized(&pods, &to("100m", "64Mi", limit)));
        let expected = expected.map(|pods| Warning::MemoryLimitNotLowered { container: "app".into(), pods });
        assert_eq!(reported, expected.into_iter().collect::<Vec<_>>(), "{limit}");
    }
}

/// The server says what a container breaks, and not always which.
#[test]
fn a_container_that_the_change_leaves_alone_is_named_where_it_breaks_the_rule() {
    let both = |side: Value| {
        [
            container("app", json!({"cpu": "1m", "memory": "48Mi"}), json!({"memory": "100Mi"})),
            container("side", side, json!({"cpu": "20m", "memory": "64Mi"})),
        ]
    };
    let before = pod("web-0", "n1", &both(json!({"cpu": "10m", "memory": "16Mi"})));
    let template = |side: Value| json!({"spec": {"containers": both(side)}});
    let change = |to| change::diff(&template(json!({"cpu": "10m", "memory": "16Mi"})), &template(to)).change.fields;
    let fields = change(json!({"cpu": "2m", "memory": "16Mi"}));
    for (message, expected) in [
        ("pods \"web-0\" is forbidden: minimum cpu usage per Container is 5m, but request is 1m", &["app"][..]),
        ("pods \"web-0\" is forbidden: minimum cpu usage per Container is 5m, but request is 2m", &[]),
        (
            "pods \"web-0\" is forbidden: [minimum cpu usage per Container is 5m, but request is 1m, minimum cpu usage per Container is 5m, but request is 2m]",
            &["app"],
        ),
        ("minimum cpu usage per Pod is 5m, but request is 1m", &[]),
        ("maximum cpu usage per Container is 50m.  No limit is specified", &["app"]),
        ("[maximum memory usage per Container is 64Mi, but limit is 100Mi]", &["app"]),
        ("memory max limit to request ratio per Container is 2, but provided ratio is 2.083333", &["app"]),
        ("cpu max limit to request ratio per Container is 2, but provided ratio is 10.000000", &[]),
        ("cpu max limit to request ratio per Container is 2, but no limit is specified or limit is 0", &["app"]),
        ("minimum example.com/gpu usage per Container is 1.  No request is specified", &["app"]),
        ("failed quota: compute: must specify limits.cpu for: app; limits.memory for: other,app", &["app"]),
        ("failed quota: compute: must specify limits.cpu for: side", &[]),
        ("exceeded quota: compute, requested: requests.cpu=1m, used: requests.cpu=1, limited: requests.cpu=1", &[]),
        ("", &[]),
    ] {
        let found = rules::others(message, &before, &fields);
        assert_eq!(found.iter().map(ContainerName::as_str).collect::<Vec<_>>(), expected, "{message}");
    }
}
