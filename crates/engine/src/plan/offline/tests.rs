use proptest::prelude::*;
use serde_json::json;

use super::*;
use crate::k8s::metadata::LAST_APPLIED;

fn deployment(spec: impl Into<Value>) -> Value {
    let spec = spec.into();
    json!({"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "web"}, "spec": {
        "selector": {"matchLabels": {"app": "web"}},
        "template": {"metadata": {"labels": {"app": "web"}}, "spec": spec}}})
}

fn spec() -> Value {
    json!({
        "initContainers": [{"name": "setup", "image": "setup:1"}, {"name": "mesh", "image": "mesh:1", "restartPolicy": "Always"}],
        "containers": [
            {"name": "app", "image": "app:1", "env": [{"name": "A", "value": "1"}], "ports": [{"containerPort": 80}],
             "resources": {"limits": {"cpu": "500m", "memory": "1Gi"}}, "readinessProbe": {"tcpSocket": {"port": 80}}},
            {"name": "side", "image": "acme/side:1", "volumeMounts": [{"name": "v", "mountPath": "/v"}]}],
        "volumes": [{"name": "v", "emptyDir": {}}]})
}

fn stateful_set() -> Value {
    json!({"apiVersion": "apps/v1", "kind": "StatefulSet", "metadata": {"name": "db"}, "spec": {
        "serviceName": "db", "selector": {"matchLabels": {"app": "db"}},
        "template": {"metadata": {"labels": {"app": "db"}}, "spec": {"containers": [{"name": "app", "image": "app:1"}]}},
        "volumeClaimTemplates": [{"metadata": {"name": "data"}, "spec": {"accessModes": ["ReadWriteOnce"],
            "resources": {"requests": {"storage": "1Gi"}}}}]}})
}

fn plan(old: &Value, new: &Value) -> WorkloadPlan {
    let plan = compare(std::slice::from_ref(old), std::slice::from_ref(new), None, &Options::default()).unwrap();
    assert_eq!(plan.workloads.len(), 1, "{plan:?}");
    plan.workloads.into_iter().next().unwrap()
}

/// Sets a value by JSON pointer; null takes the field out, `-` appends.
fn with(object: &Value, changes: &[(&str, Value)]) -> Value {
    let mut object = object.clone();
    for (pointer, value) in changes {
        let (parent, key) = pointer.rsplit_once('/').unwrap();
        match object.pointer_mut(parent).unwrap_or_else(|| panic!("no {parent}")) {
            Value::Array(list) if key == "-" => list.push(value.clone()),
            Value::Array(list) if value.is_null() => drop(list.remove(key.parse().unwrap())),
            Value::Object(fields) if value.is_null() => drop(fields.shift_remove(key)),
            parent => parent[key] = value.clone(),
        }
    }
    object
}

fn said(plan: &WorkloadPlan) -> Vec<String> {
    plan.reasons.iter().map(|reason| format!("{} {}", reason.code(), reason.path().unwrap_or_default())).collect()
}

fn codes(plan: &WorkloadPlan) -> Vec<&'static str> {
    plan.warnings.iter().map(Warning::code).collect()
}

const SPEC: &str = "/spec/template/spec";

#[test]
fn what_the_server_would_store_alike_is_no_change() {
    let old = deployment(spec());
    let container = format!("{SPEC}/containers/0");
    let at = |path: &str| format!("{container}/{path}");
    let swapped =
        with(&old, &[(&format!("{SPEC}/containers"), json!([spec()["containers"][1], spec()["containers"][0]]))]);
    let cases: Vec<(&str, Value)> = vec![
        ("the very same", old.clone()),
        (
            "defaults of the template",
            with(
                &old,
                &[
                    (&format!("{SPEC}/restartPolicy"), json!("Always")),
                    (&format!("{SPEC}/dnsPolicy"), json!("ClusterFirst")),
                    (&format!("{SPEC}/terminationGracePeriodSeconds"), json!(30)),
                    (&format!("{SPEC}/securityContext"), json!({})),
                    (&at("imagePullPolicy"), json!("IfNotPresent")),
                    (&at("terminationMessagePath"), json!("/dev/termination-log")),
                    (&at("ports/0/protocol"), json!("TCP")),
                    (&at("readinessProbe/periodSeconds"), json!(10)),
                ],
            ),
        ),
        (
            "defaults of the owner",
            with(
                &old,
                &[
                    ("/spec/replicas", json!(1)),
                    ("/spec/revisionHistoryLimit", json!(10)),
                    ("/spec/strategy", json!({"type": "RollingUpdate", "rollingUpdate": {"maxSurge": "25%"}})),
                ],
            ),
        ),
        (
            "quantities in other words",
            with(&old, &[(&at("resources/limits/cpu"), json!(0.5)), (&at("resources/limits/memory"), json!("1024Mi"))]),
        ),
        (
            "empty as good as absent",
            with(
                &old,
                &[
                    (&at("command"), json!([])),
                    (&at("env/0/valueFrom"), Value::Null),
                    (&format!("{SPEC}/nodeSelector"), json!({})),
                    (&format!("{SPEC}/hostNetwork"), json!(false)),
                    (&format!("{SPEC}/tolerations"), json!([])),
                    ("/metadata/annotations", json!({})),
                    ("/spec/template/metadata/creationTimestamp", Value::Null),
                ],
            ),
        ),
        ("another order of containers", swapped),
        (
            "status and what the server sets",
            with(
                &old,
                &[
                    ("/status", json!({"replicas": 3})),
                    ("/metadata/uid", json!("0e6b")),
                    ("/metadata/resourceVersion", json!("12")),
                    ("/metadata/generation", json!(3)),
                    ("/metadata/creationTimestamp", json!("2026-01-01T00:00:00Z")),
                    ("/metadata/managedFields", json!([{"manager": "kubectl"}])),
                    ("/metadata/annotations", json!({LAST_APPLIED: "{}", "deployment.kubernetes.io/revision": "3"})),
                ],
            ),
        ),
    ];
    for (name, new) in cases {
        for (old, new) in [(&old, &new), (&new, &old)] {
            let plan = plan(old, new);
            assert_eq!(plan.verdict, Verdict::NothingToDo, "{name}: {:?}", plan.reasons);
            assert_eq!((plan.warnings.len(), plan.pods.len()), (0, 0), "{name}: {:?}", plan.warnings);
            assert!(plan.containers.iter().all(|container| container.effect == Effect::Unchanged), "{name}");
        }
    }
}

#[test]
fn images_change_in_place() {
    let old = deployment(spec());
    let at = |path: &str| format!("{SPEC}/{path}/image");
    let cases = [
        ("containers/0", "app:2", "app", Effect::Restart, vec![]),
        ("containers/1", "acme/side:2", "side", Effect::Restart, vec![]),
        ("containers/1", "other/side:latest", "side", Effect::Restart, vec!["RepositoryChanges", "StaleImageStays"]),
        ("initContainers/0", "setup:2", "setup", Effect::NoEffectNow, vec![]),
        ("initContainers/1", "mesh:2", "mesh", Effect::Restart, vec!["ReadFailed"]),
    ];
    for (path, image, name, effect, warnings) in cases {
        let plan = plan(&old, &with(&old, &[(&at(path), json!(image))]));
        assert_eq!((plan.verdict, said(&plan)), (Verdict::InPlace, vec![]), "{path}");
        let changed: Vec<_> = plan.containers.iter().filter(|container| container.to.is_some()).collect();
        assert_eq!(changed.len(), 1, "{path}");
        assert_eq!(
            (changed[0].container.as_str(), changed[0].to.as_deref(), changed[0].effect),
            (name, Some(image), effect)
        );
        assert_eq!(codes(&plan), warnings, "{path}");
        assert!(plan.is_offline() && !plan.checked_by_server && plan.pods.is_empty());
    }
}

#[test]
fn what_was_filled_in_once_stays() {
    // The older manifest's object has `Always`, from the tag `latest`; the newer manifest does not touch it.
    let old = deployment(json!({"containers": [{"name": "app", "image": "app"}]}));
    let new = |policy: Value| {
        let container = json!({"name": "app", "image": "app:2", "imagePullPolicy": policy});
        deployment(json!({"containers": [container]}))
    };
    let unsaid = deployment(json!({"containers": [{"name": "app", "image": "app:2"}]}));
    assert_eq!(plan(&old, &unsaid).verdict, Verdict::InPlace);
    assert_eq!(plan(&old, &new(json!("Always"))).verdict, Verdict::InPlace);
    let blocked = "TemplateFieldNotInPlace spec.containers[app].imagePullPolicy";
    // A null removes the field from the object, as in kubectl apply: it gets the default again.
    for policy in [json!("IfNotPresent"), Value::Null] {
        assert_eq!(said(&plan(&old, &new(policy))), [blocked]);
    }
    // Written out before and taken out now, it gets the default of the present tag.
    let old = deployment(json!({"containers": [{"name": "app", "image": "app:1", "imagePullPolicy": "Always"}]}));
    assert_eq!(said(&plan(&old, &unsaid)), [blocked]);
}

#[test]
fn everything_else_in_the_template_blocks() {
    let old = deployment(spec());
    let container = format!("{SPEC}/containers/0");
    let cases: Vec<(&str, Value, &str)> = vec![
        ("/spec/template/spec/hostNetwork", json!(true), "TemplateFieldNotInPlace spec.hostNetwork"),
        ("/spec/template/spec/volumes", Value::Null, "TemplateFieldNotInPlace spec.volumes"),
        ("/spec/template/spec/unknownField", json!({"a": [1]}), "TemplateFieldNotInPlace spec.unknownField"),
        (
            "/spec/template/metadata/labels/pod-template-hash",
            json!("x"),
            "MetadataKeyReserved metadata.labels.pod-template-hash",
        ),
        ("/spec/template/unknownField", json!(0), "TemplateFieldNotInPlace unknownField"),
        (
            "/spec/template/spec/containers/0/unknownField",
            json!(false),
            "TemplateFieldNotInPlace spec.containers[app].unknownField",
        ),
        (
            "/spec/template/spec/containers/0/env/0/value",
            json!("2"),
            "TemplateFieldNotInPlace spec.containers[app].env[A].value",
        ),
        (
            "/spec/template/spec/containers/0/resources/limits/ephemeral-storage",
            json!("501m"),
            "TemplateFieldNotInPlace spec.containers[app].resources.limits.ephemeral-storage",
        ),
        (
            "/spec/template/spec/containers/0/readinessProbe",
            Value::Null,
            "TemplateFieldNotInPlace spec.containers[app].readinessProbe",
        ),
        (
            "/spec/template/spec/containers/-",
            json!({"name": "new", "image": "n:1"}),
            "ContainerAdded spec.containers[new]",
        ),
        ("/spec/template/spec/containers/1", Value::Null, "ContainerRemoved spec.containers[side]"),
        ("/spec/template/spec/containers/0/image", json!("not an image"), "ImageMalformed spec.containers[app].image"),
        ("/spec/template/spec/containers/0/image", Value::Null, "ImageMalformed spec.containers[app].image"),
        ("/spec/selector/matchLabels/tier", json!("x"), "OwnerFieldImmutable spec.selector.matchLabels.tier"),
    ];
    for (pointer, value, expected) in cases {
        let plan = plan(&old, &with(&old, &[(pointer, value)]));
        assert_eq!((plan.verdict, said(&plan)), (Verdict::NotEligible, vec![expected.to_owned()]), "{pointer}");
    }
    let renamed = plan(&old, &with(&old, &[(&format!("{container}/name"), json!("web"))]));
    assert_eq!(said(&renamed), ["ContainerRenamed spec.containers[app].name"]);
    let both = [(format!("{container}/image"), json!("app:2")), (format!("{SPEC}/hostPID"), json!(true))];
    let both = plan(&old, &with(&old, &both.each_ref().map(|(path, value)| (path.as_str(), value.clone()))));
    assert_eq!(said(&both), ["TemplateFieldNotInPlace spec.hostPID"]);
    assert_eq!(both.containers[0].to.as_deref(), Some("app:2"), "what would be in place is shown all the same");
}

#[test]
fn labels_and_annotations_change_in_place_unless_a_container_reads_them() {
    let old = deployment(spec());
    for (pointer, value) in [
        ("/spec/template/metadata/labels/tier", json!("x")),
        ("/spec/template/metadata/annotations", json!({"a/b": "c"})),
    ] {
        let plan = plan(&old, &with(&old, &[(pointer, value)]));
        assert_eq!((plan.verdict, said(&plan)), (Verdict::InPlace, vec![]), "{pointer}");
        assert_eq!(plan.fields.rows().len(), 1, "{pointer}");
    }
    let reads = json!([{"name": "T", "valueFrom": {"fieldRef": {"fieldPath": "metadata.labels['tier']"}}}]);
    let old = with(&old, &[("/spec/template/spec/containers/1/env", reads)]);
    let label = ("/spec/template/metadata/labels/tier", json!("x"));
    let blocked = plan(&old, &with(&old, std::slice::from_ref(&label)));
    assert_eq!(said(&blocked), ["MetadataReadByContainer metadata.labels.tier"]);
    let image = ("/spec/template/spec/containers/1/image", json!("acme/side:2"));
    assert_eq!(plan(&old, &with(&old, &[label, image])).verdict, Verdict::InPlace);
}

#[test]
fn fields_of_the_owner_block_or_are_left_alone() {
    let old = stateful_set();
    let blocked = [
        (
            "/spec/volumeClaimTemplates/0/spec/resources/requests/storage",
            json!("2Gi"),
            "spec.volumeClaimTemplates[0].spec.resources.requests.storage",
        ),
        (
            "/spec/volumeClaimTemplates/0/spec/storageClassName",
            json!("fast"),
            "spec.volumeClaimTemplates[0].spec.storageClassName",
        ),
        ("/spec/volumeClaimTemplates", Value::Null, "spec.volumeClaimTemplates"),
        ("/spec/serviceName", json!("other"), "spec.serviceName"),
        ("/spec/podManagementPolicy", json!("Parallel"), "spec.podManagementPolicy"),
        ("/spec/selector/matchLabels/app", json!("x"), "spec.selector.matchLabels.app"),
        ("/spec/unknownField", json!(1), "spec.unknownField"),
    ];
    for (pointer, value, path) in blocked {
        let plan = plan(&old, &with(&old, &[(pointer, value)]));
        let is_a_claim = path.starts_with("spec.volumeClaimTemplates[");
        let code = if is_a_claim { "VolumeClaimTemplateChanges" } else { "OwnerFieldImmutable" };
        assert_eq!((plan.verdict, said(&plan)), (Verdict::NotEligible, vec![format!("{code} {path}")]));
        assert_eq!(plan.warnings, []);
    }
    let alike = [
        ("/spec/volumeClaimTemplates/0/spec/resources/requests/storage", json!("1024Mi")),
        ("/spec/volumeClaimTemplates/0/spec/volumeMode", json!("Filesystem")),
        ("/spec/podManagementPolicy", json!("OrderedReady")),
    ];
    for (pointer, value) in alike {
        assert_eq!(plan(&old, &with(&old, &[(pointer, value)])).verdict, Verdict::NothingToDo, "{pointer}");
    }
    let outside = [
        ("/spec/replicas", json!(3), "spec.replicas"),
        ("/spec/updateStrategy", json!({"type": "OnDelete"}), "spec.updateStrategy.type"),
        ("/metadata/labels", json!({"team": "shop"}), "metadata.labels"),
        ("/metadata/finalizers", json!(["a/b"]), "metadata.finalizers"),
        ("/unknownField", json!(1), "unknownField"),
    ];
    for (pointer, value, paths) in outside {
        let plan = plan(&old, &with(&old, &[(pointer, value)]));
        assert_eq!(plan.verdict, Verdict::NothingToDo, "{pointer}");
        let Some(Warning::OutsideTemplate { paths: found }) = plan.warnings.first() else {
            panic!("{pointer}: {plan:?}")
        };
        assert_eq!(found.join(", "), paths);
    }
}

#[test]
fn a_pod_is_its_own_template() {
    let old = json!({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "p", "labels": {"a": "b"}},
        "spec": {"containers": [{"name": "app", "image": "a:1"}]}});
    let image = ("/spec/containers/0/image", json!("a:2"));
    let cases = [
        (vec![image.clone()], vec![]),
        (vec![("/spec/enableServiceLinks", json!(true))], vec![]),
        (vec![("/metadata/labels/a", json!("c"))], vec![]),
        (vec![("/spec/restartPolicy", json!("Never"))], vec!["TemplateFieldNotInPlace spec.restartPolicy"]),
    ];
    for (changes, expected) in cases {
        assert_eq!(said(&plan(&old, &with(&old, &changes))), expected, "{changes:?}");
    }
    let once = with(&old, &[("/spec/restartPolicy", json!("Never"))]);
    assert_eq!(
        said(&plan(&once, &with(&once, std::slice::from_ref(&image)))),
        ["RestartPolicyNotAlways spec.restartPolicy"]
    );
    let own = |policy: &str| with(&once, &[("/spec/containers/0/restartPolicy", json!(policy))]);
    assert!(said(&plan(&own("Always"), &with(&own("Always"), std::slice::from_ref(&image)))).is_empty());
    let never = said(&plan(&own("Never"), &with(&own("Never"), &[image])));
    assert_eq!(never, ["RestartPolicyNotAlways spec.containers[app].restartPolicy"]);
}

#[test]
fn a_container_of_a_template_goes_by_its_own_restart_policy() {
    let rules = json!([{"action": "Restart", "exitCodes": {"operator": "NotIn", "values": []}}]);
    for (fields, warned) in [
        (vec![], false),
        (vec![("restartPolicy", json!("Always"))], false),
        (vec![("restartPolicy", json!("Never"))], true),
        (vec![("restartPolicy", json!("OnFailure"))], true),
        (vec![("restartPolicy", json!("Never")), ("restartPolicyRules", rules)], false),
    ] {
        let paths: Vec<String> = fields.iter().map(|(field, _)| format!("{SPEC}/containers/0/{field}")).collect();
        let set: Vec<(&str, Value)> =
            paths.iter().map(String::as_str).zip(fields.iter().map(|(_, it)| it.clone())).collect();
        let old = with(&deployment(spec()), &set);
        let new = with(&old, &[(&format!("{SPEC}/containers/0/image"), json!("other:2"))]);
        let found = plan(&old, &new);
        assert_eq!(found.verdict, Verdict::InPlace, "{fields:?}");
        let says = |warning: &Warning| matches!(warning, Warning::FailedStartNotRetried { .. });
        assert_eq!(found.warnings.iter().any(says), warned, "{fields:?}");
    }
}

#[test]
fn workloads_pair_by_kind_namespace_and_name() {
    let named = |name: &str, namespace: Value| {
        with(&deployment(spec()), &[("/metadata/name", json!(name)), ("/metadata/namespace", namespace)])
    };
    let config_map = json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "c"}});
    let verdicts = |old: &[Value], new: &[Value], namespace: Option<&str>| {
        let plan = compare(old, new, namespace, &Options::default()).unwrap();
        assert_eq!(plan.result(), crate::state::outcome::EndResult::NothingToDo);
        let said =
            |plan: &WorkloadPlan| (plan.workload.namespace.clone(), plan.workload.name.clone(), codes(plan).join(","));
        plan.workloads.iter().map(said).collect::<Vec<_>>()
    };
    let row = |namespace: &str, name: &str, code: &str| (namespace.to_owned(), name.to_owned(), code.to_owned());
    let (plain, prod) = (named("a", Value::Null), named("a", json!("prod")));
    let one = std::slice::from_ref::<Value>;
    assert_eq!(verdicts(one(&plain), one(&plain), None), [row("", "a", "")]);
    assert_eq!(verdicts(one(&plain), &[named("a", json!(""))], None), [row("", "a", "")]);
    assert_eq!(verdicts(one(&plain), one(&prod), Some("prod")), [row("prod", "a", "")]);
    assert_eq!(
        verdicts(one(&plain), one(&prod), None),
        [row("prod", "a", "WorkloadAdded"), row("", "a", "WorkloadRemoved")]
    );
    let old = [named("z", Value::Null), named("gone", Value::Null), config_map.clone()];
    let new = [config_map, named("z", Value::Null), named("b", Value::Null), stateful_set()];
    assert_eq!(
        verdicts(&old, &new, None),
        [
            row("", "z", ""),
            row("", "b", "WorkloadAdded"),
            row("", "db", "WorkloadAdded"),
            row("", "gone", "WorkloadRemoved")
        ]
    );
    assert_eq!(verdicts(&[], &[], None), []);
    let twice = compare(&[plain, prod], &[], Some("prod"), &Options::default());
    assert_eq!(
        twice,
        Err(OfflineError::Twice { workload: "deployment/a".into(), side: "older", namespace: "prod".into() })
    );
}

#[test]
fn manifests_that_cannot_be_merged_are_refused_not_passed_over() {
    let old = deployment(json!({"containers": [{"name": "app", "image": "a:1"}]}));
    let nameless = deployment(json!({"containers": [{"image": "a:2"}]}));
    let found = plan(&old, &nameless);
    assert_eq!(found.verdict, Verdict::NotEligible);
    assert_eq!(found.reasons[0].code(), "ManifestsNotMergeable");
    for wrong in [json!([]), json!({"containers": 1}), json!("x"), Value::Null] {
        assert_eq!(plan(&old, &deployment(wrong.clone())).verdict, Verdict::NotEligible, "{wrong}");
    }
}

fn any_value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i32>().prop_map(Value::from),
        "[a-z:]{0,6}".prop_map(Value::from)
    ];
    let keys = prop_oneof![
        Just("name"),
        Just("image"),
        Just("containers"),
        Just("env"),
        Just("resources"),
        Just("limits"),
        Just("x")
    ];
    leaf.prop_recursive(5, 40, 4, move |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::btree_map(keys.clone().prop_map(str::to_owned), inner, 0..4)
                .prop_map(|fields| Value::Object(fields.into_iter().collect())),
        ]
    })
}

proptest! {
    #[test]
    fn no_manifest_makes_it_panic_and_none_differs_from_itself(a in any_value(), b in any_value()) {
        let (a, b) = (deployment(a), deployment(b));
        plan(&a, &b);
        let same = plan(&a, &a);
        prop_assert!(same.reasons.iter().all(|reason| reason.code() == "ManifestsNotMergeable"), "{:?}", same.reasons);
        prop_assert!(same.containers.iter().all(|container| container.to.is_none()));
    }

    #[test]
    fn a_field_that_nobody_knows_is_never_lost(name in "x[a-zA-Z]{1,8}", value in any_value(), place in 0_usize..5) {
        prop_assume!(!is_nothing(&value));
        let old = deployment(spec());
        let places = ["/spec/template", SPEC, "/spec/template/spec/containers/0", "/spec/template/spec/volumes/0", "/spec/template/metadata"];
        let pointer = format!("{}/{name}", places[place]);
        for (old, new) in [(old.clone(), with(&old, &[(&pointer, value.clone())])), (with(&old, &[(&pointer, value)]), old)] {
            let plan = plan(&old, &new);
            prop_assert_eq!(plan.verdict, Verdict::NotEligible);
            prop_assert!(said(&plan).iter().any(|text| text.contains(&name)), "{:?}", plan.reasons);
        }
    }
}

/// What JSON has and the API does not store.
fn is_nothing(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::Array(list) => list.is_empty(),
        Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Object(_) => false,
    }
}
