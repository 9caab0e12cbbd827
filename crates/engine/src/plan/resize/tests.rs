#![expect(clippy::needless_pass_by_value, reason = "literals read best as they are")]

use serde_json::{Value, json};

use super::*;
use crate::change;

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
        let reported = not_lowered(&resized(&pods, &to("100m", "64Mi", limit)));
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
        let found = others(message, &before, &fields);
        assert_eq!(found.iter().map(ContainerName::as_str).collect::<Vec<_>>(), expected, "{message}");
    }
}
