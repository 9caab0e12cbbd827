//! Tables of cases.

mod bounds;
mod files;
mod fuzz;
mod scalars;
mod types;

use serde_json::Value;

use super::{Origin, parse};

/// A custom resource with the given lines below `spec`.
fn object(spec: &str) -> String {
    format!("apiVersion: example.com/v1\nkind: Foo\nmetadata:\n  name: a\nspec:\n{spec}")
}

/// The `spec` of the only object of a text.
fn spec(text: &str) -> Option<Value> {
    let manifests = parse("a.yaml", text.as_bytes()).ok()?;
    manifests.first()?.object.get("spec").cloned()
}

/// What a text gives: the names of its objects with their places, or the error.
fn outcome(text: &str) -> String {
    match parse("a.yaml", text.as_bytes()) {
        Ok(manifests) => {
            let shown = manifests.iter().map(|manifest| {
                let name = manifest.object.pointer("/metadata/name").and_then(Value::as_str).unwrap_or("?");
                format!("{name}@{}", manifest.source)
            });
            shown.collect::<Vec<_>>().join(" ")
        }
        Err(error) => error.to_string(),
    }
}

const A: &str = "apiVersion: v1\nkind: Pod\nmetadata: {name: a}\n";
const B: &str = "apiVersion: v1\nkind: Pod\nmetadata: {name: b}\n";
const JSON_A: &str = r#"{"apiVersion":"v1","kind":"Pod","metadata":{"name":"a"}}"#;
const JSON_B: &str = r#"{"apiVersion":"v1","kind":"Pod","metadata":{"name":"b"}}"#;

#[test]
fn documents_are_split_where_kubectl_splits_them() {
    let cases = [
        (String::new(), ""),
        ("# nothing\n---\n\n---\n# here\n".to_owned(), ""),
        ("null\n---\n~\n---\n...\n".to_owned(), ""),
        (A.to_owned(), "a@a.yaml:1"),
        (format!("---\n{A}"), "a@a.yaml:2"),
        (format!("\n# first\n---\n# second\n\n{A}"), "a@a.yaml:6"),
        (format!("{A}---\n{B}"), "a@a.yaml:1 b@a.yaml:5"),
        (format!("{A}--- # comment\n{B}---\n"), "a@a.yaml:1 b@a.yaml:5"),
        (format!("{A}...\n---\n{B}"), "a@a.yaml:1 b@a.yaml:6"),
        (format!("{A}---\n\u{feff}{B}"), "a@a.yaml:1 b@a.yaml:5"),
        (format!("{A}---\n{JSON_B}"), "a@a.yaml:1 b@a.yaml:5"),
        (format!("{A}---\n{B}").replace('\n', "\r\n"), "a@a.yaml:1 b@a.yaml:5"),
        (A.replace('\n', "\r"), "a@a.yaml:1"),
        (format!("{JSON_A}{JSON_B}"), "a@a.yaml:1 b@a.yaml:1"),
        (format!("\n{JSON_A}\nnull\n\n{JSON_B}\n"), "a@a.yaml:2 b@a.yaml:5"),
        (format!("# not JSON\n{JSON_A}"), "a@a.yaml:2"),
        ("---\n{apiVersion: v1, kind: Pod, metadata: {name: a,},}".to_owned(), "a@a.yaml:2"),
        (format!("{A}x: |\n  a\n---\n{B}"), "a@a.yaml:1 b@a.yaml:7"),
        (format!("{A}{}spec: {{}}\n", "# comment\n".repeat(100)), "a@a.yaml:1"),
    ];
    for (text, expected) in cases {
        assert_eq!(outcome(&text), expected, "{text}");
    }
}

#[test]
fn lists_are_expanded() {
    let cases = [
        (
            format!("apiVersion: v1\nkind: List\nitems: [{JSON_A}, {JSON_B}]\n"),
            "a@a.yaml:1 items[0] b@a.yaml:1 items[1]",
        ),
        (
            format!("apiVersion: v1\nkind: List\nitems: [{{apiVersion: v1, kind: List, items: [{JSON_A}]}}]\n"),
            "a@a.yaml:1 items[0].items[0]",
        ),
        ("apiVersion: v1\nkind: PodList\nitems: [{metadata: {name: a}}]\n".to_owned(), "a@a.yaml:1 items[0]"),
        ("apiVersion: v1\nkind: List\nitems: null\n".to_owned(), ""),
        ("apiVersion: v1\nkind: List\n".to_owned(), ""),
        ("apiVersion: e/v1\nkind: IPAllowList\nmetadata: {name: a}\n".to_owned(), "a@a.yaml:1"),
        ("apiVersion: v1\nkind: List\nitems: {}\n".to_owned(), "a.yaml:1: items is an object, not an array"),
        (
            "apiVersion: v1\nkind: List\nitems: [1]\n".to_owned(),
            "a.yaml:1 items[0]: expected an object, found a number",
        ),
        (
            format!("apiVersion: v1\nkind: List\nitems: [{JSON_A}, {{kind: Pod}}]\n"),
            "a.yaml:1 items[1]: apiVersion not set",
        ),
    ];
    for (text, expected) in cases {
        assert_eq!(outcome(&text), expected, "{text}");
    }
    let items = parse("a", b"apiVersion: e/v1\nkind: FooList\nitems: [{metadata: {name: a}}]\n").expect("a list");
    let object = &items.first().expect("one item").object;
    assert_eq!((object["apiVersion"].as_str(), object["kind"].as_str()), (Some("e/v1"), Some("Foo")));
}

#[test]
fn objects_are_named() {
    let boolean =
        "is a boolean, not a string; put it in quotes, since YAML reads y, n, yes, no, on and off as booleans";
    let cases = [
        ("hello\n", "a.yaml:1: expected an object, found a string".to_owned()),
        ("- a\n", "a.yaml:1: expected an object, found an array".to_owned()),
        ("\nkind: Pod\n", "a.yaml:2: apiVersion not set".to_owned()),
        ("apiVersion: v1\n", "a.yaml:1: kind not set".to_owned()),
        ("apiVersion: 1\nkind: Pod\n", "a.yaml:1: apiVersion is a number, not a string; put it in quotes".to_owned()),
        ("apiVersion: v1\nkind: Pod\n", "a.yaml:1: metadata.name not set".to_owned()),
        ("apiVersion: v1\nkind: Pod\nmetadata: x\n", "a.yaml:1: metadata is a string, not an object".to_owned()),
        ("apiVersion: v1\nkind: Pod\nmetadata: {name: y}\n", format!("a.yaml:1: metadata.name {boolean}")),
        ("apiVersion: v1\nkind: Pod\nmetadata: {name: ''}\n", "a.yaml:1: metadata.name not set".to_owned()),
        (
            "apiVersion: v1\nkind: Pod\nmetadata: {name: a, namespace: on}\n",
            format!("a.yaml:1: metadata.namespace {boolean}"),
        ),
        (
            "apiVersion: v1\nkind: Pod\nmetadata: {generateName: a-}\n",
            "a.yaml:1: metadata.name not set; an object with generateName has no name to find it by in the cluster"
                .to_owned(),
        ),
    ];
    for (text, expected) in cases {
        assert_eq!(outcome(text), expected, "{text}");
    }
}

#[test]
fn an_object_may_be_given_once() {
    assert_eq!(outcome(&format!("{A}---\n{A}")), "Pod a is given twice: a.yaml:1 and a.yaml:5");
    let deployment = |version: &str, namespace: &str| {
        format!("apiVersion: {version}\nkind: D\nmetadata: {{name: a, namespace: {namespace}}}\n---\n")
    };
    let both = |first: String, second: String| outcome(&(first + &second));
    let twice = "D prod/a is given twice: a.yaml:1 and a.yaml:5";
    assert_eq!(both(deployment("apps/v1", "prod"), deployment("apps/v1beta1", "prod")), twice);
    assert!(!both(deployment("apps/v1", "prod"), deployment("apps/v1", "test")).contains("twice"));
    assert!(!both(deployment("apps/v1", "prod"), deployment("e/v1", "prod")).contains("twice"));
}

#[test]
fn merges_are_in_the_order_of_kubectl() {
    let cases = [
        ("<<: {a: 1}\n  a: 2", r#"{"a":2}"#),
        ("a: 2\n  <<: {a: 1}", r#"{"a":1}"#),
        ("<<: [{a: 1}, {a: 2, b: 3}]\n  c: 3", r#"{"a":1,"b":3,"c":3}"#),
        ("<<: {a: 1}\n  <<: {b: 1}", r#"{"a":1,"b":1}"#),
        ("<<: []", "{}"),
        ("a: &x {b: 1}\n  c: *x", r#"{"a":{"b":1},"c":{"b":1}}"#),
        ("a: &x 1\n  b: &x 2\n  c: *x", r#"{"a":1,"b":2,"c":2}"#),
    ];
    for (yaml, expected) in cases {
        let expected: Value = serde_json::from_str(expected).expect("JSON");
        assert_eq!(spec(&object(&format!("  {yaml}\n"))), Some(expected), "{yaml}");
    }
    let json = r#"{"apiVersion":"e/v1","kind":"Foo","metadata":{"name":"a"},"spec":{"<<":{"a":1.0}}}"#;
    assert_eq!(spec(json), Some(serde_json::json!({"<<": {"a": 1}})), "JSON has no merges");
}

#[test]
fn syntax_errors_have_their_place() {
    let cases = [
        ("a: 1\n  a: 2", "a.yaml:7:3: YAML: the key \"a\" is given twice"),
        ("'1': 1\n  0x1: 2", "a.yaml:7:3: YAML: the key \"1\" is given twice"),
        ("<<: {a: 1}\n  a: 1\n  a: 2", "a.yaml:8:3: YAML: the key \"a\" is given twice"),
        ("a: b: c", "a.yaml:6:7: YAML: mapping values are not allowed in this context"),
        ("a: *b", "a.yaml:6:6: YAML: an alias names no anchor"),
        ("a: &b [*b]", "a.yaml:6:10: YAML: an anchored value contains itself"),
        ("a: .inf", "a.yaml:6:6: YAML: a number is not finite"),
        ("a: [1", "a.yaml:6:6: YAML: unclosed bracket '['"),
    ];
    for (yaml, expected) in cases {
        assert_eq!(outcome(&object(&format!("  {yaml}\n"))), expected, "{yaml}");
    }
    let more = outcome(&format!("{A}---\n{B}...\nx: 1\n"));
    assert!(more.starts_with("a.yaml:9:1: YAML: more text after the end of the document"), "{more}");
    let separator = outcome(&format!("{A}--- {{}}\n"));
    assert!(separator.starts_with("a.yaml:4:4: YAML: text after the document separator"), "{separator}");
    let yaml_after = outcome(&format!("{JSON_A}\n---\n{B}"));
    assert!(yaml_after.starts_with("a.yaml:2:2: JSON: YAML after JSON; begin the input with ---"), "{yaml_after}");
    let json = outcome("{\n  \"a\": 1,\n  \"a\": 2}");
    assert_eq!(json, "a.yaml:3:5: JSON: the key \"a\" is given twice");
    let later = outcome(&format!("{JSON_A}\n{JSON_B}\n{{,}}"));
    assert_eq!(later, "a.yaml:3:2: JSON: key must be a string");
}

#[test]
fn secrets_are_not_shown() {
    let secret = "apiVersion: v1\nkind: Secret\nmetadata: {name: a}\n";
    let list = "apiVersion: v1\nkind: SecretList\n";
    let json = r#"{"kind":"Secret","#;
    for text in [
        format!("{secret}stringData: {{a: hunter2"),
        format!("{secret}stringData:\n  hunter2: a\n  hunter2: b\n"),
        format!("{secret}stringData: \"\\qhunter2\"\n"),
        format!("{secret}stringData:\n  key: |\n---hunter2---\n"),
        format!("{secret}stringData: *hunter2\n"),
        format!("{secret}stringData: !hunter2! a\n"),
        format!("{list}items: [hunter2: hunter2: 1]\n"),
        format!("{A}---\n{secret}---\nhunter2: hunter2: 1\n"),
        format!("{json}\"data\": {{\"hunter2\": 1, \"hunter2\": 2}}}}"),
        format!("{json}\"data\": {{\"a\": hunter2}}}}"),
    ] {
        let error = parse("a.yaml", text.as_bytes()).expect_err(&text);
        assert!(!error.to_string().contains("hunter2"), "{error}");
    }
    let word = outcome("imagePullSecrets: [{name: x}]\nsecretKeyRef: a: b\n");
    assert!(word.contains("mapping values are not allowed"), "a word that only contains the kind is no Secret: {word}");
}

/// A manifest has credentials in other places, too.
#[test]
fn values_are_not_shown() {
    let pod = "spec:\n  containers:\n  - name: app\n";
    let json = r#"{"spec": {"containers": [{"name": "app", "env": [{"name": "A", "value": "#;
    for text in [
        format!("{pod}    env:\n    - {{name: A, value: [hunter2}}\n"),
        format!("{pod}    env:\n    - name: A\n      valu: hunter2: b\n"),
        format!("{pod}    args:\n      - --password=hunter2: b: c\n"),
        format!("{pod}    command: [sh, -c, hunter2\n"),
        format!("{json}hunter2}}]}}]}}}}"),
    ] {
        let error = parse("a.yaml", text.as_bytes()).expect_err(&text);
        assert!(!error.to_string().contains("hunter2"), "{text}\n{error}");
    }
}

#[test]
fn encodings() {
    let utf16 = |mark: [u8; 2], bytes: fn(u16) -> [u8; 2]| {
        let units = format!("{A}---\n{B}").encode_utf16().flat_map(bytes).collect::<Vec<u8>>();
        [mark.as_slice(), &units].concat()
    };
    for bytes in [
        format!("{A}---\n{B}").into_bytes(),
        format!("\u{feff}{A}---\n{B}").into_bytes(),
        format!("\u{feff}{JSON_A}{JSON_B}").into_bytes(),
        utf16([0xff, 0xfe], u16::to_le_bytes),
        utf16([0xfe, 0xff], u16::to_be_bytes),
    ] {
        assert_eq!(parse("a", &bytes).map(|manifests| manifests.len()).map_err(|error| error.to_string()), Ok(2));
    }
    let utf16 = "a: not UTF-16, though it begins with its byte order mark";
    let cases: [(&[u8], &str); 8] = [
        (b"a: \xff\n", "a: not UTF-8 at byte 3"),
        (b"\xef\xbb\xbfa: \xff\n", "a: not UTF-8 at byte 6"),
        (b"a\0b\0", "a:1: YAML: character U+0000 must be escaped in YAML"),
        (b"\xff\xfea\0b", utf16),
        (b"\xff\xfea\0\0\xdcb\0", utf16),
        (b"a: \x07", "a:1: YAML: character U+0007 must be escaped in YAML"),
        ("a: 1\nb: \u{85}".as_bytes(), "a:2: YAML: character U+0085 must be escaped in YAML"),
        ("a: \u{2028}".as_bytes(), "a:1: YAML: character U+2028 must be escaped in YAML"),
    ];
    for (bytes, expected) in cases {
        assert_eq!(parse("a", bytes).map_err(|error| error.to_string()), Err(expected.to_owned()));
    }
}

/// `-`.
fn standard_input() -> Vec<Origin> {
    vec![Origin::Name("-".into())]
}
