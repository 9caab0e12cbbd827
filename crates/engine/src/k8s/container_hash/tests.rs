//! The hashes that Kubernetes' own tests demand, and those read off a running cluster.

use serde_json::json;

use super::*;

fn hash(minor: u32, container: &Value) -> u32 {
    let hash = container_hash(KubeletVersion::new(1, minor), container).unwrap();
    u32::from_str_radix(&hash, 16).unwrap()
}

/// `sampleContainer` of `pkg/kubelet/kuberuntime/container_hash_test.go`.
fn sample_container() -> Value {
    json!({
        "name": "test_container", "image": "foo/image:v1", "command": ["/bin/testcmd"], "args": ["/bin/sh", "-c", "echo abc"],
        "ports": [{"containerPort": 8001}],
        "env": [
            {"name": "ENV_FOO", "value": "bar"},
            {"name": "ENV_BAR", "valueFrom": {"secretKeyRef": {"name": "foo", "key": "bar", "optional": true}}},
        ],
        "resources": {"limits": {"foo": "1G"}, "requests": {"foo": "500M"}},
    })
}

/// The container of `TestHashContainer` in `pkg/kubelet/container/helpers_test.go`.
fn hash_container_case() -> Value {
    json!({
        "name": "test_container", "image": "foo/image:v1", "args": ["/bin/sh", "-c", "echo abc"],
        "ports": [{"containerPort": 8001}],
    })
}

#[test]
fn the_version_decides_what_is_hashed() {
    let more = json!({"name": "nginx", "image": "nginx:1.25", "tty": true});
    let of = |version: &str| container_hash(version.parse().unwrap(), &more);
    assert_eq!(of("v1.15.12"), None);
    assert!(of("v1.16.0").is_some() && of("v1.30.14").is_some() && of("v1.30.14") != of("v1.31.0"));
    assert_eq!((of("v1.31.0").as_deref(), of("v1.31.0")), (Some("5d0e8bc9"), of("v2.0.0")));
}

#[test]
fn upstream_hashes_of_name_and_image() {
    for (container, expected) in [
        (sample_container(), 0x8e45_cbd0),
        (hash_container_case(), 0x8e45_cbd0),
        (json!({"name": "foo", "image": "bar"}), 0x11a6_d6d6),
        (json!({"image": "bar", "name": "foo", "resources": {"limits": {"cpu": "100m"}}}), 0x11a6_d6d6),
        (
            json!({"name": "foo", "image": "bar", "resources": {"requests": {"memory": "100M"}},
            "resizePolicy": [{"resourceName": "cpu", "restartPolicy": "RestartContainer"}]}),
            0x11a6_d6d6,
        ),
        (
            json!({"name": "foo", "image": "bar",
            "resizePolicy": [{"resourceName": "memory", "restartPolicy": "RestartContainer"}]}),
            0x11a6_d6d6,
        ),
        (json!({"name": "nginx", "image": "nginx:1.25"}), 0x5d0e_8bc9),
        (json!({"name": "nginx", "image": "nginx:1.26"}), 0x284f_a8da),
        (json!({"name": "app", "image": "a&b<c>"}), 0x5a41_d2c5),
    ] {
        assert_eq!(hash(36, &container), expected, "{container}");
    }
}

/// Read from `io.kubernetes.container.hash` of containers that a kubelet 1.36.3 had started.
#[test]
fn hashes_of_a_running_kubelet() {
    for (name, image, expected) in [
        ("app", "registry.test/app:v1", "cacdff2f"),
        ("side", "registry.test/side:v1", "7f53a3a1"),
        ("side", "registry.test/side:v2", "bffef4db"),
    ] {
        let container = json!({"name": name, "image": image, "imagePullPolicy": "Always"});
        assert_eq!(container_hash(KubeletVersion::new(1, 36), &container).as_deref(), Some(expected), "{image}");
    }
}

#[test]
fn upstream_hashes_of_the_whole_container() {
    for minor in 16..=30 {
        assert_eq!(hash(minor, &sample_container()), 0x0311_670a, "1.{minor}");
        assert_eq!(hash(minor, &hash_container_case()), 0x3c42_280f, "1.{minor}");
    }
}

/// `TestHashContainerWithoutResources` of 1.27 to 1.30: the ordinary hash of a container without resources.
#[test]
fn upstream_hashes_without_resources() {
    for (cpu, memory, expected) in
        [("RestartContainer", "NotRequired", 0x5f62_cb4c), ("NotRequired", "RestartContainer", 0xcdab_9e00)]
    {
        let container = json!({"name": "foo", "image": "bar", "resizePolicy": [
            {"resourceName": "cpu", "restartPolicy": cpu}, {"resourceName": "memory", "restartPolicy": memory}]});
        for minor in 27..=30 {
            assert_eq!(hash(minor, &container), expected, "1.{minor} {container}");
        }
        assert_ne!(hash(26, &container), expected, "{container}");
    }
}

#[test]
fn every_type_of_a_field_is_known() {
    let known = ["string", "bool", "int", "IntOrString", "Quantity", "ResourceList"];
    for field in STRUCTS.lines().flat_map(|line| line.split_once(": ").unwrap().1.split(", ")) {
        let words: Vec<&str> = field.split(' ').collect();
        let go_type = words[1].trim_start_matches(['*', '[', ']']);
        assert!(known.contains(&go_type) || fields(go_type).is_some(), "{field}");
        assert!(words[2..].iter().all(|since| since[1..].parse::<u32>().is_ok()), "{field}");
    }
}

fn json_of(minor: u32, container: &Value) -> String {
    go_json(KubeletVersion::new(1, minor), "Container", Some(container))
}

#[test]
fn strings_are_escaped_as_go_does() {
    let image = "\u{8}\u{c}\n\r\t\u{1}\u{1f}\u{7f}\"\\/<>&\u{2028}\u{2029}é😀";
    let escaped = r#"\n\r\t\u0001\u001f"#.to_owned() + "\u{7f}" + r#"\"\\/\u003c\u003e\u0026\u2028\u2029é😀"#;
    for (minor, head) in [(29, r"\u0008\u000c"), (30, r"\b\f")] {
        let expected = format!(r#"{{"name":"","image":"{head}{escaped}","resources":{{}}}}"#);
        assert_eq!(json_of(minor, &json!({"image": image})), expected);
    }
}

#[test]
fn absent_zero_and_null_as_go_has_them() {
    for (container, expected) in [
        (json!({}), r#"{"name":"","resources":{}}"#),
        (json!(null), r#"{"name":"","resources":{}}"#),
        (json!("no container"), r#"{"name":"","resources":{}}"#),
        (json!({"name": 1, "args": {}, "resources": [], "tty": "yes"}), r#"{"name":"","resources":{}}"#),
        (
            json!({"name": "a", "args": [], "image": "", "tty": false, "resources": {"limits": {}}, "lifecycle": null}),
            r#"{"name":"a","resources":{}}"#,
        ),
        (json!({"name": "a", "securityContext": {}}), r#"{"name":"a","resources":{},"securityContext":{}}"#),
        (
            json!({"name": "a", "securityContext": {"runAsUser": 0, "privileged": false, "procMount": ""}}),
            r#"{"name":"a","resources":{},"securityContext":{"privileged":false,"runAsUser":0,"procMount":""}}"#,
        ),
        (
            json!({"name": "a", "livenessProbe": {"grpc": {}}}),
            r#"{"name":"a","resources":{},"livenessProbe":{"grpc":{"port":0,"service":null}}}"#,
        ),
        (
            json!({"name": "a", "livenessProbe": {"httpGet": {"port": "web"}}, "readinessProbe": {"tcpSocket": {}}}),
            r#"{"name":"a","resources":{},"livenessProbe":{"httpGet":{"port":"web"}},"readinessProbe":{"tcpSocket":{"port":0}}}"#,
        ),
        (
            json!({"name": "a", "env": [{"name": "b", "valueFrom": {"resourceFieldRef": {"resource": "limits.cpu"}}}]}),
            r#"{"name":"a","env":[{"name":"b","valueFrom":{"resourceFieldRef":{"resource":"limits.cpu","divisor":"0"}}}],"resources":{}}"#,
        ),
        (
            json!({"name": "a", "ports": [null, {"name": "b"}]}),
            r#"{"name":"a","ports":[{"containerPort":0},{"name":"b","containerPort":0}],"resources":{}}"#,
        ),
        (
            json!({"name": "a", "resources": {"requests": {"memory": "1Gi", "cpu": "1", "a.example/gpu": "2"}}}),
            r#"{"name":"a","resources":{"requests":{"a.example/gpu":"2","cpu":"1","memory":"1Gi"}}}"#,
        ),
    ] {
        assert_eq!(json_of(30, &container), expected, "{container}");
    }
}

/// Every field that came after 1.16 is dropped by the kubelets before it.
#[test]
fn fields_begin_with_their_version() {
    for (since, container) in [
        (19, json!({"securityContext": {"seccompProfile": {"type": "RuntimeDefault"}}})),
        (21, json!({"livenessProbe": {"terminationGracePeriodSeconds": 5}})),
        (22, json!({"securityContext": {"windowsOptions": {"hostProcess": true}}})),
        (23, json!({"livenessProbe": {"grpc": {"port": 1, "service": ""}}})),
        (26, json!({"resources": {"claims": [{"name": "gpu", "request": "newer"}]}})),
        (27, json!({"resizePolicy": [{"resourceName": "cpu", "restartPolicy": "NotRequired"}]})),
        (28, json!({"restartPolicy": "Always"})),
        (29, json!({"lifecycle": {"preStop": {"sleep": {"seconds": 5}}}})),
        (30, json!({"volumeMounts": [{"name": "a", "mountPath": "/a", "recursiveReadOnly": "Enabled"}]})),
        (30, json!({"securityContext": {"appArmorProfile": {"type": "RuntimeDefault"}}})),
    ] {
        assert_eq!(json_of(since - 1, &container), json_of(16, &container), "{container}");
        assert_ne!(json_of(since, &container), json_of(16, &container), "{container}");
    }
    let newer = json!({"restartPolicyRules": [{"action": "Restart"}], "lifecycle": {"stopSignal": "SIGUSR1"}});
    assert_eq!(json_of(30, &newer), r#"{"name":"","resources":{},"lifecycle":{}}"#);
}
