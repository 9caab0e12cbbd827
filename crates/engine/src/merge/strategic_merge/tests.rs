use super::*;
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;
use serde_json::json;

fn merged(original: Option<&Value>, modified: &Value, current: &Value, schema: Schema) -> Value {
    let patch = three_way(original, modified, current, schema).unwrap();
    apply(current, &patch, schema).unwrap()
}

/// The content of `spec` in a pod.
fn pod(spec: &Value) -> Value {
    json!({ "spec": spec })
}

#[test]
fn three_way_then_apply() {
    let cases = [
        (
            "a field of others stays, a field no longer applied goes",
            Some(json!({"nodeSelector": {"a": "1"}, "hostname": "h"})),
            json!({"nodeSelector": {"b": "2"}}),
            json!({"nodeSelector": {"a": "1", "x": "9"}, "hostname": "h", "dnsPolicy": "ClusterFirst"}),
            json!({"nodeSelector": {"x": "9", "b": "2"}, "dnsPolicy": "ClusterFirst"}),
        ),
        (
            "without the last applied manifest nothing is deleted",
            None,
            json!({"nodeSelector": {"b": "2"}}),
            json!({"nodeSelector": {"a": "1"}, "hostname": "h"}),
            json!({"nodeSelector": {"a": "1", "b": "2"}, "hostname": "h"}),
        ),
        (
            "null deletes, and leaves nothing where there was nothing",
            None,
            json!({"hostname": null, "subdomain": null, "dnsConfig": {"options": null, "searches": ["a"]}}),
            json!({"hostname": "h"}),
            json!({"dnsConfig": {"searches": ["a"]}}),
        ),
        (
            "nulls of a new list element are not stored",
            None,
            json!({"containers": [{"name": "a", "image": "i"}, {"name": "b", "image": "j", "command": null}]}),
            json!({"containers": [{"name": "a", "image": "i"}]}),
            json!({"containers": [{"name": "a", "image": "i"}, {"name": "b", "image": "j"}]}),
        ),
        (
            "containers merge by name in the manifest's order, injected ones keep their place",
            Some(json!({"containers": [{"name": "app", "image": "a:1"}, {"name": "gone", "image": "g"}]})),
            json!({"containers": [{"name": "side", "image": "s:2"}, {"name": "app", "image": "a:2"}]}),
            json!({"containers": [{"name": "app", "image": "a:1", "imagePullPolicy": "Always"}, {"name": "gone", "image": "g"},
                {"name": "mesh", "image": "m"}, {"name": "side", "image": "s:1"}]}),
            json!({"containers": [{"name": "mesh", "image": "m"}, {"name": "side", "image": "s:2"},
                {"name": "app", "image": "a:2", "imagePullPolicy": "Always"}]}),
        ),
        (
            "env merges by name, args are replaced",
            Some(
                json!({"containers": [{"name": "a", "env": [{"name": "X", "value": "1"}, {"name": "Y", "value": "1"}], "args": ["-a", "-b"]}]}),
            ),
            json!({"containers": [{"name": "a", "env": [{"name": "Y", "value": "2"}], "args": ["-b"]}]}),
            json!({"containers": [{"name": "a", "env": [{"name": "X", "value": "1"}, {"name": "Y", "value": "1"}, {"name": "Z", "value": "1"}], "args": ["-a", "-b"]}]}),
            json!({"containers": [{"name": "a", "env": [{"name": "Y", "value": "2"}, {"name": "Z", "value": "1"}], "args": ["-b"]}]}),
        ),
        (
            "a volume of another type drops the old type, though nobody applied it",
            None,
            json!({"volumes": [{"name": "v", "configMap": {"name": "c"}}]}),
            json!({"volumes": [{"name": "v", "emptyDir": {}}]}),
            json!({"volumes": [{"name": "v", "configMap": {"name": "c"}}]}),
        ),
        (
            "tolerations and unknown lists are replaced, unknown maps merge",
            None,
            json!({"tolerations": [{"key": "b"}], "novel": {"list": [{"name": "b"}], "map": {"b": 1}}}),
            json!({"tolerations": [{"key": "a"}], "novel": {"list": [{"name": "a"}], "map": {"a": 1}}}),
            json!({"tolerations": [{"key": "b"}], "novel": {"list": [{"name": "b"}], "map": {"a": 1, "b": 1}}}),
        ),
        (
            "another JSON type replaces",
            None,
            json!({"dnsConfig": ["x"], "tolerations": {"a": null, "b": 1}}),
            json!({"dnsConfig": {"searches": []}, "tolerations": []}),
            json!({"dnsConfig": ["x"], "tolerations": {"b": 1}}),
        ),
    ];
    for (rule, original, modified, current, expected) in cases {
        let result = merged(original.as_ref().map(pod).as_ref(), &pod(&modified), &pod(&current), Schema::POD);
        assert_eq!(result, pod(&expected), "{rule}");
    }
}

#[test]
fn an_unchanged_manifest_makes_an_empty_patch() {
    let manifest = pod(&json!({"containers": [{"name": "a", "image": "i", "ports": [{"containerPort": 80}]}]}));
    let live =
        pod(&json!({"containers": [{"name": "a", "image": "i", "ports": [{"containerPort": 80, "protocol": "TCP"}]}]}));
    assert_eq!(three_way(Some(&manifest), &manifest, &live, Schema::POD), Ok(json!({})));
}

#[test]
fn deployment_strategy_keeps_only_its_keys_and_update_strategy_does_not() {
    let modified = json!({"spec": {"strategy": {"type": "Recreate"}, "updateStrategy": {"type": "OnDelete"}}});
    let current = json!({"spec": {
        "strategy": {"type": "RollingUpdate", "rollingUpdate": {"maxSurge": 1}},
        "updateStrategy": {"type": "RollingUpdate", "rollingUpdate": {"partition": 1}},
    }});
    let expected = json!({"spec": {
        "strategy": {"type": "Recreate"},
        "updateStrategy": {"type": "OnDelete", "rollingUpdate": {"partition": 1}},
    }});
    assert_eq!(merged(None, &modified, &current, Schema::named("Deployment")), expected);
}

#[test]
fn finalizers_are_a_set_and_owners_merge_by_uid() {
    let original = json!({"metadata": {"finalizers": ["a", "b"]}});
    let modified = json!({"metadata": {"finalizers": ["c", "b"], "ownerReferences": [{"uid": "2", "name": "n"}]}});
    let current =
        json!({"metadata": {"finalizers": ["a", "b", "live"], "ownerReferences": [{"uid": "1"}, {"uid": "2"}]}});
    let expected = json!({"metadata": {
        "finalizers": ["c", "b", "live"],
        "ownerReferences": [{"uid": "1"}, {"uid": "2", "name": "n"}],
    }});
    assert_eq!(merged(Some(&original), &modified, &current, Schema::named("ReplicaSet")), expected);
}

#[test]
fn two_protocols_on_one_port() {
    let container = |ports: Value| pod(&json!({"containers": [{"name": "dns", "ports": ports}]}));
    let (tcp, udp) = (json!({"containerPort": 53, "protocol": "TCP"}), json!({"containerPort": 53, "protocol": "UDP"}));
    let both = container(json!([tcp, udp]));
    assert_eq!(merged(Some(&both), &both, &both, Schema::POD), both);
    // The bug of kubernetes/kubernetes#39188: both elements of the patch change the one live port, and one is lost.
    let live = container(json!([tcp]));
    assert_eq!(merged(Some(&live), &both, &live, Schema::POD), live);
    // Upstream refuses its own patch here: the elements of 53 are side by side in the patch's list, but not in the
    // order.
    let between = container(json!([udp, {"containerPort": 80}, tcp]));
    assert_eq!(
        merged(None, &between, &container(json!([udp])), Schema::POD),
        container(json!([udp, {"containerPort": 80}])),
    );
}

#[test]
fn directives() {
    let current = json!({"spec": {
        "containers": [{"name": "a", "image": "i"}, {"name": "b", "image": "j"}],
        "securityContext": {"runAsUser": 1},
        "nodeSelector": {"x": "1", "y": "2"},
    }, "metadata": {"finalizers": ["p", "q"]}});
    let cases = [
        (
            json!({"spec": {"containers": [{"name": "a", "$patch": "delete"}]}}),
            "/spec/containers",
            json!([{"name": "b", "image": "j"}]),
        ),
        (
            json!({"spec": {"containers": [{"name": "c"}, {"$patch": "replace", "name": "x"}]}}),
            "/spec/containers",
            json!([{"name": "c"}]),
        ),
        (json!({"spec": {"securityContext": {"$patch": "delete"}}}), "/spec/securityContext", json!({})),
        (
            json!({"spec": {"securityContext": {"$patch": "replace", "fsGroup": 2}}}),
            "/spec/securityContext",
            json!({"fsGroup": 2}),
        ),
        (
            json!({"spec": {"nodeSelector": {"$retainKeys": ["y", "z"], "z": "3"}}}),
            "/spec/nodeSelector",
            json!({"y": "2", "z": "3"}),
        ),
        (json!({"metadata": {"$deleteFromPrimitiveList/finalizers": ["p"]}}), "/metadata/finalizers", json!(["q"])),
        (
            json!({"spec": {"$setElementOrder/containers": [{"name": "b"}, {"name": "a"}]}}),
            "/spec/containers",
            json!([{"name": "b", "image": "j"}, {"name": "a", "image": "i"}]),
        ),
        (
            json!({"metadata": {"$setElementOrder/finalizers": ["r", "q"], "finalizers": ["r"]}}),
            "/metadata/finalizers",
            json!(["r", "p", "q"]),
        ),
        (
            json!({"spec": {"initContainers": [{"name": "n", "$retainKeys": ["name"], "env": [{"name": "E", "$patch": "delete"}]}]}}),
            "/spec/initContainers",
            json!([{"name": "n", "env": []}]),
        ),
    ];
    for (patch, pointer, expected) in cases {
        let result = apply(&current, &patch, Schema::POD).unwrap();
        assert_eq!(result.pointer(pointer), Some(&expected), "{patch}");
    }
}

#[test]
fn errors_name_the_place() {
    let live = pod(&json!({"containers": [{"name": "a", "env": [{"name": "E"}]}]}));
    let cases = [
        (
            pod(&json!({"containers": [{"image": "i"}]})),
            "spec.containers[0] has no name, the key that elements of this list are matched by",
        ),
        (pod(&json!({"containers": ["a"]})), "spec.containers[0] is a string, expected a map"),
        (
            pod(&json!({"containers": [{"name": "a", "env": [{"name": "E"}, null]}]})),
            "spec.containers[0].env[1] is null, expected a map",
        ),
        (json!([]), "the object is a list, expected a map"),
    ];
    for (modified, message) in cases {
        let error = three_way(None, &modified, &live, Schema::POD).unwrap_err();
        assert_eq!(error.to_string(), message);
    }
    let patches = [
        (
            json!({"containers": [{"name": "a", "$patch": "merge"}]}),
            "spec.containers[0] has an unsupported $patch directive \"merge\"",
        ),
        (json!({"$patch": 1}), "spec has an unsupported $patch directive 1"),
        (json!({"$retainKeys": ["a"], "b": 1}), "spec sets b, which its $retainKeys does not list"),
        (json!({"$setElementOrder/containers": {}}), "spec.$setElementOrder/containers is a map, expected a list"),
        (
            json!({"$setElementOrder/containers": [{"name": "a"}], "containers": [{"name": "b"}]}),
            "spec.containers does not agree with its $setElementOrder",
        ),
        (
            json!({"$setElementOrder/containers": [{"name": "a"}], "containers": 1}),
            "spec.containers is a number, expected a list",
        ),
        (
            json!({"$deleteFromPrimitiveList/containers": null}),
            "spec.$deleteFromPrimitiveList/containers is null, expected a list",
        ),
    ];
    for (patch, message) in patches {
        assert_eq!(apply(&live, &pod(&patch), Schema::POD).unwrap_err().to_string(), message);
    }
}

#[test]
fn schema_knows_the_traps() {
    let list = |schema: Schema, path: &str| {
        let (parents, name) = path.rsplit_once('.').unwrap_or(("", path));
        let parent =
            parents.split('.').filter(|name| !name.is_empty()).fold(schema, |schema, name| schema.field(name).below);
        (parent.field(name).list, parent.field(name).retain_keys)
    };
    let cases = [
        (Schema::POD, "spec.containers.ports", ListMerge::ByKey("containerPort"), false),
        (Schema::POD, "spec.ephemeralContainers.env", ListMerge::ByKey("name"), false),
        (Schema::POD, "spec.initContainers.volumeDevices", ListMerge::ByKey("devicePath"), false),
        (Schema::POD, "spec.containers.envFrom", ListMerge::Atomic, false),
        (Schema::POD, "spec.containers.resizePolicy", ListMerge::Atomic, false),
        (Schema::POD, "spec.volumes", ListMerge::ByKey("name"), true),
        (Schema::POD, "spec.resourceClaims", ListMerge::ByKey("name"), true),
        (Schema::POD, "spec.readinessGates", ListMerge::Atomic, false),
        (Schema::POD_TEMPLATE, "spec.containers.volumeMounts", ListMerge::ByKey("mountPath"), false),
        (
            Schema::named("Deployment"),
            "spec.template.spec.topologySpreadConstraints",
            ListMerge::ByKey("topologyKey"),
            false,
        ),
        (Schema::named("Deployment"), "spec.template.metadata.finalizers", ListMerge::Set, false),
        (Schema::named("Deployment"), "spec.strategy", ListMerge::Atomic, true),
        (Schema::named("StatefulSet"), "spec.volumeClaimTemplates", ListMerge::Atomic, false),
        (Schema::named("StatefulSet"), "spec.updateStrategy", ListMerge::Atomic, false),
        (Schema::named("DaemonSet"), "status.conditions", ListMerge::ByKey("type"), false),
    ];
    for (schema, path, merge, retain_keys) in cases {
        assert_eq!(list(schema, path), (merge, retain_keys), "{path}");
    }
}

/// Any JSON, of the names and directives that the merge reads.
fn any_json() -> impl Strategy<Value = Value> {
    let scalar = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        (0..3).prop_map(Value::from),
        prop_oneof!["a|b", Just("delete".to_owned()), Just("replace".to_owned())].prop_map(Value::from),
    ];
    let names =
        ["metadata", "spec", "containers", "volumes", "ports", "finalizers", "name", "containerPort", "strategy"];
    let directives = [
        PATCH,
        RETAIN_KEYS,
        "$setElementOrder/containers",
        "$setElementOrder/finalizers",
        "$deleteFromPrimitiveList/finalizers",
    ];
    let name = prop_oneof![4 => select(names.to_vec()), 1 => select(directives.to_vec())];
    scalar.prop_recursive(5, 40, 4, move |below| {
        let map = vec((name.clone(), below.clone()), 0..5);
        prop_oneof![
            2 => map.prop_map(|fields| fields.into_iter().map(|(name, value)| (name.to_owned(), value)).collect()),
            1 => vec(below, 0..4).prop_map(Value::Array),
        ]
    })
}

proptest! {
    #[test]
    fn no_input_panics(original in any_json(), modified in any_json(), current in any_json()) {
        for schema in [Schema::POD, Schema::named("Deployment")] {
            if let Ok(patch) = three_way(Some(&original), &modified, &current, schema) {
                drop(apply(&current, &patch, schema));
            }
            drop(apply(&current, &modified, schema));
        }
    }
}

#[test]
fn a_patch_of_a_custom_resource_has_what_changed_and_what_was_taken_away() {
    let original = json!({"spec": {"a": 1, "gone": {"x": 1}, "map": {"old": 1, "kept": 1}, "list": [{"name": "c"}]}});
    let current = json!({"spec": {"a": 1, "gone": {"x": 1}, "map": {"old": 1, "kept": 1, "theirs": 1},
        "list": [{"name": "c", "default": true}], "theirs": 1}, "status": {}});
    let modified = json!({"spec": {"a": 2, "map": {"kept": 1, "new": 1}, "list": [{"name": "c", "image": "d"}]}});
    let patch = three_way(Some(&original), &modified, &current, Schema::PLAIN).unwrap();
    let expected = json!({"spec": {"a": 2, "gone": null, "map": {"old": null, "new": 1},
        "list": [{"name": "c", "image": "d"}]}});
    assert_eq!(patch, expected);
    let applied = json!({"spec": {"a": 2, "map": {"kept": 1, "theirs": 1, "new": 1},
        "list": [{"name": "c", "image": "d"}], "theirs": 1}, "status": {}});
    assert_eq!(apply(&current, &patch, Schema::PLAIN).unwrap(), applied);
    assert_eq!(three_way(Some(&modified), &modified, &applied, Schema::PLAIN).unwrap(), json!({}));
}

#[test]
fn without_a_manifest_from_before_nothing_is_taken_away() {
    let current = json!({"spec": {"a": 1, "b": {"c": 1}}});
    let modified = json!({"spec": {"a": 2, "b": {}}});
    assert_eq!(three_way(None, &modified, &current, Schema::PLAIN).unwrap(), json!({"spec": {"a": 2}}));
}
