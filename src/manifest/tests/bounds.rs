//! Hostile inputs end in an answer. The larger ones stay below a second without optimisation.

#![expect(clippy::disallowed_methods, reason = "the corpus is read from disk, and answers are timed")]

use super::standard_input;
use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};

use super::{object, outcome};
use crate::manifest::{MAX_INPUT_BYTES, MAX_KEPT_BYTES, MAX_OBJECT_MEMORY, MAX_OBJECTS, ManifestError, parse, read};
use engine::value::api_schema::Scope;

/// Bounds one answer, without optimisation and on a busy machine.
const TIMEOUT: Duration = Duration::from_secs(if cfg!(debug_assertions) { 60 } else { 2 });

#[test]
fn every_file_of_the_corpus_ends_in_an_answer() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/corpus/manifest");
    let mut files = 0;
    for entry in fs::read_dir(folder).expect("the corpus is there") {
        let path = entry.expect("the corpus can be listed").path();
        let bytes = fs::read(&path).expect("the corpus can be read");
        let begin = Instant::now();
        let name = path.file_name().expect("a file").to_string_lossy().into_owned();
        let answer = parse(&name, &bytes);
        assert!(begin.elapsed() < TIMEOUT, "{name} took {:?}", begin.elapsed());
        // The first word of a file's name says which of the two it is.
        assert_eq!(answer.is_ok(), name.starts_with("good-"), "{name}: {answer:?}");
        files += 1;
    }
    assert!(files >= 20, "{files} files");
}

#[test]
fn growth_is_refused() {
    let wide = |first: &str, next: &dyn Fn(usize) -> String| {
        let lines = (1..40).map(|index| format!("  a{index}: &a{index} {}\n", next(index - 1)));
        object(&format!("  a0: &a0 {first}\n{}", lines.collect::<String>()))
    };
    let nested =
        |open: &str, close: &str, depth| object(&format!("  a: {}1{}\n", open.repeat(depth), close.repeat(depth)));
    let json = |depth: usize| format!("{{\"a\":{}1{}}}", "[".repeat(depth), "]".repeat(depth));
    let anchors: String = (0..100).map(|index| format!("&a{index} [")).collect();
    let kept = format!(
        "apiVersion: v1\nkind: A\nmetadata: {{name: a}}\nx: {anchors}{}{}\n---\n",
        "x,".repeat(200),
        "]".repeat(100)
    );
    let cases = [
        (
            wide("[x, x, x]", &|index| format!("[*a{index}, *a{index}, *a{index}]")),
            "more than 100000 values in anchored",
        ),
        (wide("{a: 1}", &|index| format!("{{a: *a{index}, b: *a{index}}}")), "more than 100000 values in anchored"),
        (
            wide("{a: 1}", &|index| format!("{{<<: [*a{index}, *a{index}, *a{index}]}}")),
            "more than 100000 values in anchored",
        ),
        (
            object(&format!("  a: &a {}\n  b: [{}]\n", "x".repeat(100_000), "*a,".repeat(1000))),
            "more than 2 MiB of text",
        ),
        (
            object(&format!("  a: &a {{{}: 1}}\n  b: [{}]\n", "x".repeat(1000), "*a,".repeat(20_000))),
            "more than 2 MiB of text",
        ),
        (
            object(&format!("  a: &a [x, x]\n  b: [{}]\n", "*a,".repeat(100_000))),
            "aliases repeat more than 100000 values",
        ),
        (nested("[", "]", 1_000), "nested more than 128 deep"),
        (nested("{a: ", "}", 1_000), "nested more than 128 deep"),
        ("- ".repeat(100_000), "nested more than 128 deep"),
        ("? ".repeat(100_000), "nested more than 128 deep"),
        (json(1_000), "nested more than 128 deep"),
        (kept.repeat(100), "more than 100000 values in anchored"),
    ];
    for (text, expected) in cases {
        let begin = Instant::now();
        let answer = outcome(&text);
        assert!(answer.contains(expected), "expected {expected}: {}", answer.chars().take(200).collect::<String>());
        assert!(begin.elapsed() < TIMEOUT, "took {:?}", begin.elapsed());
    }
    assert_eq!(outcome(&nested("[", "]", 125)), "a@a.yaml:1#1");
}

#[test]
fn size_is_bounded() {
    let padded = |length: usize| {
        let mut text = object("  x: 1\n#");
        text.extend(std::iter::repeat_n('x', length - text.len()));
        parse("a", text.as_bytes())
    };
    assert!(padded(MAX_INPUT_BYTES).is_ok());
    assert!(matches!(padded(MAX_INPUT_BYTES + 1), Err(ManifestError::TooLarge { .. })));
    let wide = |characters: usize| {
        let mut bytes = vec![0xff, 0xfe];
        bytes.extend("中".repeat(characters).encode_utf16().flat_map(u16::to_le_bytes));
        parse("a", &bytes)
    };
    assert!(matches!(wide(MAX_INPUT_BYTES / 3 + 1), Err(ManifestError::TooLarge { .. })), "larger as UTF-8");
}

/// A Deployment in JSON with something in its spec.
fn deployment(name: &str, content: &str) -> String {
    format!(r#"{{"apiVersion":"apps/v1","kind":"Deployment","metadata":{{"name":"{name}"}},"spec":{{"x":{content}}}}}"#)
}

fn refusal(text: &str) -> String {
    let wanted = |_: &str, kind: &str| kind == "Deployment";
    let answer = read(standard_input(), false, &mut text.as_bytes(), wanted, Scope::Partial);
    answer.map_or_else(|error| error.to_string(), |objects| format!("{} objects", objects.len()))
}

#[test]
fn memory_is_bounded() {
    let map = |count: usize| {
        let fields: Vec<String> = (0..count).map(|index| format!("\"{index:05}\":{{}}")).collect();
        format!("{{{}}}", fields.join(","))
    };
    let config_map = |content: &str| deployment("a", content).replace("Deployment", "ConfigMap");
    let items = |count: usize, item: &str| {
        format!(r#"{{"apiVersion":"v1","items":[{}],"kind":"List"}}"#, vec![item; count].join(","))
    };
    let many = |count: usize, content: &str| {
        let objects = (0..count).map(|index| deployment(&format!("a{index}"), content));
        objects.collect::<Vec<_>>().join("\n")
    };
    let long = format!("\"{}\"", "x".repeat(1024 * 1024));
    let kept = "the object takes more than 2 MiB of memory";
    let read = "one object takes more than 12 MiB of memory";
    let cases = [
        ("scalars", deployment("a", &format!("[{}1]", "1,".repeat(50_000))), kept),
        ("scalars of no workload", config_map(&format!("[{}1]", "1,".repeat(50_000))), "1 objects"),
        ("very many scalars", config_map(&format!("[{}1]", "1,".repeat(200_000))), read),
        ("mappings", deployment("a", &format!("[{}{{}}]", "{\"a\":1},".repeat(20_000))), kept),
        ("keys", deployment("a", &map(16_000)), kept),
        ("keys that a large manifest has", deployment("a", &map(9_000)), "1 objects"),
        ("very many keys", config_map(&map(64_000)), read),
        ("text", deployment("a", &format!("\"{}\"", "x".repeat(3 * 1024 * 1024))), kept),
        (
            "escapes",
            deployment("a", &format!("\"{}\"", "\\u0001".repeat(600_000))),
            "the most that the API server takes",
        ),
        ("text in a key", deployment("a", &format!("{{\"{}\":1}}", "x".repeat(3 * 1024 * 1024))), kept),
        ("much text", config_map(&format!("\"{}\"", "x".repeat(MAX_OBJECT_MEMORY))), read),
        ("a long list", deployment("a", &format!("[{}1]", "1,".repeat(2_500))), "too long to be compared"),
        ("many long lists", many(100, &format!("[{}1]", "1,".repeat(300))), "too long to be compared"),
        ("lists that a large repository has", many(1_000, &format!("[{}1]", "1,".repeat(70))), "1000 objects"),
        ("many workloads", many(MAX_KEPT_BYTES / long.len() + 1, &long), "larger than 6 MiB as JSON"),
        ("many objects", many(MAX_OBJECTS + 1, "1"), "more than 5000 objects"),
        ("many items", items(MAX_OBJECTS + 1, "1"), "more than 5000 objects"),
        ("large items without a type", items(12, &format!("{{\"a\":{long}}}")), "larger than 6 MiB as JSON"),
        ("items of nothing", items(3, "1"), "items[0]: expected an object, found a number"),
    ];
    for (name, text, expected) in cases {
        let begin = Instant::now();
        let answer = refusal(&text);
        assert!(answer.contains(expected), "{name}: {}", answer.chars().take(300).collect::<String>());
        assert!(begin.elapsed() < TIMEOUT, "{name} took {:?}", begin.elapsed());
        let sentence = answer.split(" objects").next().unwrap_or_default();
        assert!(answer.ends_with("objects") || sentence.starts_with("standard input:"), "{name}: {answer:.200}");
    }
}

#[test]
fn a_list_may_be_larger_than_one_object() {
    let item = |index: usize| deployment(&format!("a{index}"), "[1,2,3,4,5,6,7,8]");
    let config_map = |index: usize| {
        let text = "x".repeat(20_000);
        format!(r#"{{"apiVersion":"v1","kind":"ConfigMap","metadata":{{"name":"b{index}"}},"data":{{"a":"{text}"}}}}"#)
    };
    let items: Vec<String> = (0..3000).map(item).chain((0..700).map(config_map)).collect();
    let list = format!(r#"{{"apiVersion":"v1","items":[{}],"kind":"List"}}"#, items.join(","));
    assert!(list.len() > MAX_OBJECT_MEMORY, "{}", list.len());
    assert_eq!(refusal(&list), "3700 objects");
    // The values of a merge replace the earlier ones.
    let merged =
        "x: &x {items: [{apiVersion: v1, kind: Pod, metadata: {name: b}}]}\napiVersion: v1\nkind: List\n<<: *x\n";
    assert_eq!(outcome(merged), "b@a.yaml:1#1");
    // `items` of what is no list is a field like any other.
    let parsed = parse("a", object("").replace("spec:", "items: [{b: 1}, x]").as_bytes()).expect("an object");
    assert_eq!(parsed[0].object["items"], serde_json::json!([{"b": 1}, "x"]));
}

#[test]
fn what_a_large_repository_builds_is_read() {
    let crd = |index: usize| {
        let field = |field: usize| {
            format!(
                "            field{field}:\n              description: {}\n              type: string\n",
                "what it is ".repeat(4)
            )
        };
        format!(
            "apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nmetadata:\n  name: c{index}\nspec:\n  schema:\n    properties:\n      spec:\n        properties:\n{}",
            (0..700).map(field).collect::<String>()
        )
    };
    let documents =
        (0..20).map(crd).chain((0..300).map(|index| deployment(&format!("a{index}"), "{\"a\":{\"b\":[1,2]}}")));
    let text = format!("---\n{}\n", documents.collect::<Vec<_>>().join("\n---\n"));
    assert_eq!(refusal(&text), "320 objects", "{} bytes", text.len());
}

#[test]
fn one_anchor_may_be_used_often() {
    let aliases = "*a,".repeat(2_000);
    assert_eq!(outcome(&object(&format!("  a: &a {{x: 1}}\n  b: [{aliases}]\n"))), "a@a.yaml:1#1");
}
