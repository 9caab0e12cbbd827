//! Every kind of problem, and that the table names no type that it does not have.

use serde_json::json;

use super::table::{Fields, Scalar, Shape};
use super::*;

fn deployment(container: &Value) -> Value {
    json!({"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "web"}, "spec": {
        "selector": {"matchLabels": {"app": "web"}},
        "template": {"metadata": {"labels": {"app": "web"}}, "spec": {"containers": [container]}}}})
}

fn sentences(kind: &str, object: &Value, scope: Scope) -> Vec<String> {
    check(kind, object, scope).iter().map(|problem| problem.sentence(false)).collect()
}

fn container(field: &str, value: Value) -> Value {
    let mut container = json!({"name": "app", "image": "acme/app:1"});
    container[field] = value;
    container
}

#[test]
fn scalars_are_decoded_as_the_server_decodes_them() {
    let whole = "is not a whole number of 32 bits";
    let cases: &[(&str, Value, &str)] = &[
        ("image", json!(5), ".image is a number, not a string; put it in quotes"),
        (
            "image",
            json!(true),
            ".image is a boolean, not a string; put it in quotes, since YAML reads y, n, yes, no, on and off as booleans",
        ),
        ("image", json!(null), ".image is required and not set"),
        ("image", json!(""), ".image is required and not set"),
        ("image", json!({}), ".image is an object, not a string"),
        ("tty", json!("true"), ".tty is a boolean in quotes, not a boolean; leave out the quotes"),
        ("command", json!("sh"), ".command is a string, not an array"),
        ("command", json!(["sh", 1]), ".command[1] is a number, not a string; put it in quotes"),
        ("env", json!([{"name": "A", "value": 1}]), ".env[0].value is a number, not a string; put it in quotes"),
        ("env", json!([{"value": "1"}]), ".env[0].name is required and not set"),
        ("env", json!({"A": "1"}), ".env is an object, not an array"),
        (
            "ports",
            json!([{"containerPort": "80"}]),
            ".ports[0].containerPort is a number in quotes, not a whole number of 32 bits; leave out the quotes",
        ),
        ("ports", json!([80]), ".ports[0] is a number, not an object"),
        (
            "resources",
            json!({"limits": {"cpu": true}}),
            ".resources.limits.cpu is a boolean, not a quantity such as 500m or 1Gi",
        ),
        (
            "resources",
            json!({"limits": {"acme.io/x": "1 Gi"}}),
            ".resources.limits[acme.io/x] is not a quantity such as 500m or 1Gi",
        ),
        ("resources", json!([]), ".resources is an array, not an object"),
        (
            "livenessProbe",
            json!({"httpGet": {"port": 1.5}}),
            &format!(".livenessProbe.httpGet.port {whole} or a string"),
        ),
        (
            "livenessProbe",
            json!({"periodSeconds": 99_999_999_999_i64}),
            &format!(".livenessProbe.periodSeconds {whole}"),
        ),
        ("livenessProbe", json!({"httpGet": {}}), ".livenessProbe.httpGet.port is required and not set"),
        ("imagePulPolicy", json!("Always"), ""),
    ];
    for (field, value, expected) in cases {
        let found = sentences("Deployment", &deployment(&container(field, value.clone())), Scope::Whole);
        let expected = if expected.is_empty() {
            "unknown field spec.template.spec.containers[0].imagePulPolicy; did you mean imagePullPolicy?".to_owned()
        } else {
            format!("spec.template.spec.containers[0]{expected}")
        };
        assert_eq!(found, [expected], "{field}: {value}");
    }
    for (field, value) in [
        ("command", json!([null, "a"])),
        ("command", json!(null)),
        ("resources", json!({"limits": {"cpu": 1.5, "memory": null, "x": "1e3"}})),
        ("livenessProbe", json!({"httpGet": {"port": "http"}})),
    ] {
        let found = sentences("Deployment", &deployment(&container(field, value.clone())), Scope::Whole);
        assert!(found.is_empty(), "{field}: {value}: {found:?}");
    }
}

#[test]
fn a_whole_object_has_its_required_fields_and_a_partial_one_those_of_its_elements() {
    let side = json!({"spec": {"template": {"spec": {"containers": [{"name": "side"}, {"image": "a"}, null]}}}});
    let elements = "spec.template.spec.containers";
    let partial =
        [format!("{elements}[1].name is required and not set"), format!("{elements}[2].name is required and not set")];
    assert_eq!(sentences("Deployment", &side, Scope::Partial), partial);
    let whole = sentences("Deployment", &side, Scope::Whole);
    assert_eq!(whole.len(), 5, "{whole:?}");
    for (kind, object, expected) in [
        ("Deployment", json!({}), "spec is required and not set"),
        ("Deployment", json!({"spec": {"selector": {}}}), "spec.template is required and not set"),
        ("ReplicaSet", json!({"spec": {"selector": {}}}), "spec.template is required and not set"),
        ("Pod", json!({"spec": {"containers": []}}), "spec.containers is required and not set"),
        ("Pod", json!({"spec": 1}), "spec is a number, not an object"),
        ("Pod", json!([]), "is an array, not an object"),
    ] {
        let found = sentences(kind, &object, Scope::Whole);
        assert_eq!(found.iter().map(|found| found.trim()).collect::<Vec<_>>(), [expected], "{object}");
    }
    assert_eq!(check("ConfigMap", &json!({"data": 1}), Scope::Whole), []);
}

#[test]
fn what_the_server_serves_passes() {
    let mut live = deployment(&container("tty", json!(true)));
    live["metadata"]["creationTimestamp"] = "2026-01-01T00:00:00Z".into();
    live["metadata"]["managedFields"] =
        json!([{"manager": "kubectl", "operation": "Apply", "time": "2026-01-01T00:00:00Z", "fieldsV1": {"f:a": {}}}]);
    live["status"] = json!({"replicas": 1, "conditions": [{"type": "A", "status": "True", "lastUpdateTime": null}]});
    assert_eq!(sentences("Deployment", &live, Scope::Whole), [""; 0]);
    for (time, expected) in [
        ("2026-01-01T00:00:00.123+05:30", true),
        ("2024-02-29T23:59:59,5Z", true),
        ("9999-12-31T23:59:59Z", true),
        ("yesterday", false),
        ("2026-02-29T00:00:00Z", false),
        ("2026-01-01t00:00:00Z", false),
        ("2026-01-01T00:00:00z", false),
        ("2026-01-01 00:00:00Z", false),
        ("2026-01-01T00:00Z", false),
        ("2026-01-01T23:59:60Z", false),
        ("2026-01-01T00:00:00.Z", false),
        ("2026-01-01T00:00:00+25:00", false),
        ("2026-01-01T00:00:00Z[UTC]", false),
        ("2026-01-01T00:00:0é", false),
    ] {
        live["metadata"]["creationTimestamp"] = time.into();
        let found = sentences("Deployment", &live, Scope::Whole);
        let wrong = "metadata.creationTimestamp is not a time such as 2026-01-31T12:00:00Z";
        assert_eq!(found, if expected { vec![] } else { vec![wrong] }, "{time}");
    }
}

#[test]
fn what_the_server_takes_without_a_field_is_not_refused() {
    let probe = json!({"httpGet": {"port": 80, "httpHeaders": [{"name": "a"}]}});
    let mut live = deployment(&container("livenessProbe", probe));
    live["status"] = json!({"conditions": [{}]});
    assert_eq!(sentences("Deployment", &live, Scope::Whole), [""; 0]);
    live["status"] = json!({"conditions": [{"type": 1}]});
    let wrong = ["status.conditions[0].type is a number, not a string; put it in quotes"];
    assert_eq!(sentences("Deployment", &live, Scope::Whole), wrong);
}

#[test]
fn the_words_of_an_input_with_a_secret_are_withheld() {
    let mut object = deployment(&container("tty", json!(true)));
    object["spec"]["hunter2"] = json!(1);
    object["spec"]["template"]["metadata"]["labels"] = json!({"hunter2": 1});
    for problem in check("Deployment", &object, Scope::Whole) {
        assert!(!problem.sentence(true).contains("hunter2") && problem.sentence(false).contains("hunter2"));
    }
}

#[test]
fn problems_are_bounded() {
    let fields: Map<String, Value> = (0..10_000).map(|index| (format!("f{index}"), json!(1))).collect();
    assert_eq!(check("Pod", &json!({"spec": fields}), Scope::Partial).len(), MAX_PROBLEMS);
}

#[test]
fn every_type_of_the_table_is_in_it() {
    let mut any = Vec::new();
    for fields in Fields::all() {
        for field in fields.iter() {
            let mut shape = field.value.shape();
            while let Shape::List(element) | Shape::Map(element) = shape {
                shape = element.shape();
            }
            if matches!(shape, Shape::Scalar(Scalar::Any)) {
                any.push((fields.of, field.name, field.value.text()));
            }
        }
    }
    any.sort_unstable();
    assert_eq!(any, [("CloneSet", "status", "any"), ("ManagedFieldsEntry", "fieldsV1", "any")]);
    assert!(Fields::all().count() > 150);
    for (of, name) in ALSO_REQUIRED.into_iter().chain(MAY_BE_LEFT_OUT) {
        assert!(table::fields_of(of).is_some_and(|fields| fields.get(name).is_some()), "{of}.{name}");
    }
}
