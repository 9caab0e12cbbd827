use proptest::prelude::*;
use serde_json::json;

use super::*;
use engine::k8s::names::WorkloadRef;
use engine::kinds::WorkloadKind;

fn sample() -> WorkloadDiff {
    let object = |side: &str, value: &str, replicas: u32| {
        json!({"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "web"}, "spec": {"replicas": replicas,
            "template": {"spec": {"containers": [
                {"name": "app", "image": "app:1", "env": [{"name": "A", "value": "1"}, {"name": "B", "value": value}]},
                {"name": "side", "image": side}]}}}})
    };
    let mark = |path: &str, effect: Effect| Mark { path: path.into(), effect };
    WorkloadDiff {
        workload: WorkloadRef { kind: WorkloadKind::Deployment, namespace: "prod".into(), name: "web".into() },
        before: object("side:1", "yes", 2),
        after: object("side:2", "3", 5),
        marks: vec![
            mark("spec.replicas", Effect::LeftAlone),
            mark("spec.template.spec.containers[app].env[B].value", Effect::NotInPlace("TemplateFieldNotInPlace")),
            mark("spec.template.spec.containers[side].image", Effect::Restarts("side".into())),
            mark("spec.template.spec.hidden", Effect::NotInPlace("TemplateFieldNotInPlace")),
        ],
    }
}

fn text(diffs: &[WorkloadDiff], context: usize, style: &Style) -> String {
    let mut out = Vec::new();
    diff(diffs, context, style, &mut out).unwrap();
    String::from_utf8(out).unwrap()
}

#[test]
fn a_difference_is_shown_and_marked() {
    let expected = "\
--- LIVE/apps.v1.Deployment.prod.web
+++ MERGED/apps.v1.Deployment.prod.web
@@ -6 +6 @@ spec
-  replicas: 2
+  replicas: 5  # not changed: outside the pod template
@@ -16 +16 @@ spec.template.spec.containers[app].env[B]
-          value: 'yes'
+          value: '3'  # not in place (TemplateFieldNotInPlace)
@@ -18 +18 @@ spec.template.spec.containers[side]
-        image: side:1
+        image: side:2  # in place: restarts side
# spec.template.spec.hidden: not in place (TemplateFieldNotInPlace)
";
    assert_eq!(text(&[sample()], 0, &Style::PLAIN).replace('"', "'"), expected);
    assert!(text(&[sample()], 3, &Style::PLAIN).contains("\n         - name: B\n"), "context is shown");
    assert_eq!(text(&[sample()], usize::MAX, &Style::PLAIN), text(&[sample()], 100, &Style::PLAIN));
}

#[test]
fn what_does_not_differ_is_not_shown() {
    let same = WorkloadDiff { before: sample().after, ..sample() };
    assert_eq!(text(&[same], 3, &Style::PLAIN), "");
}

#[test]
fn colour_adds_nothing_but_colour() {
    let colored = text(&[sample()], 3, &Style { color: true, ..Style::PLAIN });
    let mut plain = String::new();
    let mut rest = colored.as_str();
    while let Some((before, after)) = rest.split_once('\u{1b}') {
        plain.push_str(before);
        rest = after.split_once('m').unwrap().1;
    }
    plain.push_str(rest);
    assert_eq!(plain, text(&[sample()], 3, &Style::PLAIN));
}

#[test]
fn text_from_the_cluster_moves_no_cursor() {
    let mut hostile = sample();
    hostile.after["metadata"]["name"] = "a\u{1b}[2J\u{202e}\n--- x\r".into();
    hostile.workload.name = "\u{1b}]0;x".into();
    let shown = text(&[hostile], 3, &Style::PLAIN);
    assert!(!shown.contains(['\u{1b}', '\u{202e}', '\r']), "{shown}");
    assert!(!shown.contains("\n--- x"), "{shown}");
}

#[test]
fn a_container_that_comes_is_marked_once() {
    let mut diff = sample();
    diff.after["spec"]["template"]["spec"]["initContainers"] = json!([{"name": "new", "image": "x"}]);
    let added = |list: &str| Mark {
        path: format!("spec.template.spec.{list}[new]"),
        effect: Effect::NotInPlace("ContainerAdded"),
    };
    diff.marks = vec![added("containers"), added("initContainers")];
    let shown = text(&[diff], 3, &Style::PLAIN);
    assert!(shown.contains("+      - name: new  # not in place (ContainerAdded)\n"), "{shown}");
    assert_eq!(shown.matches("ContainerAdded").count(), 1, "{shown}");
}

/// A list's elements go by the same name as in the plan.
#[test]
fn a_mark_covers_its_field_and_what_is_below_and_nothing_else() {
    let container = |value: &str, mounts: Value| json!({"name": "app", "env": [{"name": "B.C/D", "value": value}], "envFrom": [value], "args": [value], "volumeMounts": mounts});
    let object = |value: &str, mounts: Value| json!({"metadata": {"annotations": {"a.b/c": value, "a.b/d": value}}, "spec": {"containers": [container(value, mounts)], "ab": value}});
    let mount =
        |name: &str, path: &str, read_only: bool| json!({"name": name, "mountPath": path, "readOnly": read_only});
    // Once a volume is mounted twice, mounts are told apart by their path.
    let (before, after) = (json!([mount("v", "/x", false)]), json!([mount("v", "/x", true), mount("v", "/y", false)]));
    let marked = |path: &str| {
        let marks = vec![Mark { path: path.into(), effect: Effect::NotInPlace("X") }];
        let (before, after) = (object("1", before.clone()), object("2", after.clone()));
        let shown = text(&[WorkloadDiff { before, after, marks, ..sample() }], 0, &Style::PLAIN);
        let line = shown.lines().find(|line| line.contains("not in place (X)")).unwrap_or_default();
        line.split("  #").next().unwrap_or_default().trim_start_matches(['+', '-', ' ']).to_owned()
    };
    let unseen = |path: &str| format!("# {path}: not in place (X)");
    for (path, expected) in [
        ("spec.containers[app].env[B.C/D].value", "value: \"2\""),
        ("spec.containers[app].env[B.C/D]", "value: \"2\""),
        ("spec.containers[app].env (order)", "value: \"2\""),
        ("spec.containers[app].volumeMounts[/x].readOnly", "readOnly: true"),
        ("spec.containers[app].volumeMounts[/y]", "name: v"),
        ("spec.containers[app].args[0]", "\"2\""),
        ("metadata.annotations[a.b/c]", "a.b/c: \"2\""),
        ("metadata.annotations[a.b/d]", "a.b/d: \"2\""),
        ("metadata.annotations", "a.b/c: \"2\""),
    ] {
        assert_eq!(marked(path).replace('\'', "\""), expected, "{path}");
    }
    for path in [
        "spec.containers[app].env[B].value",
        "spec.containers[ap].env",
        "spec.a",
        "spec.containers[app].env[B.C/D].value.deeper",
    ] {
        assert_eq!(marked(path), unseen(path), "{path}");
    }
}

#[test]
fn the_layout_is_that_of_the_serializer() {
    let options = || serde_saphyr::ser_options! { folded_wrap_chars: usize::MAX };
    for object in [
        json!({}),
        json!({"a": {}, "b": [], "c": null, "d": [[1, 2], [], {}], "e": [{"f": {"g": "h"}}, "text"]}),
        json!({"yes": "no", "1": "0x1f", "": "", "a: b": "c #d", "~": "~", "2024-01-01": "1e3", "-": "- x"}),
        json!({"script": "line 1\n  line 2\n\nline 4", "list": ["a\nb\n", " lead", "trail "], "tab": "\tx"}),
        json!({"long": "word ".repeat(60)}),
    ] {
        assert_eq!(yaml(&object), serde_saphyr::to_string_with_options(&object, options()).unwrap());
    }
}

#[test]
fn thousands_of_marked_fields_are_compared() {
    let object = |value: &str| {
        let env: Vec<Value> =
            (0..5_000).map(|n| json!({"name": format!("N{n}"), "value": format!("{value}{n}")})).collect();
        json!({"spec": {"template": {"spec": {"containers": [{"name": "app", "env": env}]}}}})
    };
    let path = |n: usize| format!("spec.template.spec.containers[app].env[N{n}].value");
    let mark = |n| Mark { path: path(n), effect: Effect::NotInPlace("TemplateFieldNotInPlace") };
    let diff =
        WorkloadDiff { before: object("a"), after: object("b"), marks: (0..5_000).map(mark).collect(), ..sample() };
    // Every other line differs. It takes a second without optimisation; the naive ways take minutes.
    let shown = text(&[diff], 3, &Style::PLAIN);
    assert_eq!(shown.matches("# not in place").count(), 5_000);
}

fn any_json() -> impl Strategy<Value = Value> {
    let text = prop_oneof!["[ -~\n\t]{0,12}", "\\PC{0,6}", Just("yes".to_owned()), Just("0777".to_owned())];
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        text.clone().prop_map(Value::from)
    ];
    leaf.prop_recursive(4, 24, 4, move |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::vec((text.clone(), inner), 0..4)
                .prop_map(|fields| Value::Object(fields.into_iter().collect())),
        ]
    })
}

proptest! {
    #[test]
    fn any_object_is_read_back(object in any_json()) {
        let text = yaml(&object);
        let read: Value = serde_saphyr::from_str(&text).unwrap_or_else(|error| panic!("{error}\n{text}"));
        prop_assert_eq!(read, object, "{}", text);
    }

    #[test]
    fn any_two_objects_are_compared(before in any_json(), after in any_json(), context in 0_usize..5) {
        let diff = WorkloadDiff { before, after, ..sample() };
        let shown = text(std::slice::from_ref(&diff), context, &Style::PLAIN);
        prop_assert_eq!(shown.is_empty(), diff.is_empty());
    }
}
