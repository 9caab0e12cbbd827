//! Hostile inputs end in an answer. The larger ones stay below a second without optimisation.

#![expect(clippy::disallowed_methods, reason = "the corpus is read from disk, and answers are timed")]

use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};

use super::{object, outcome};
use crate::manifest::{MAX_FILE_BYTES, parse};

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
    let wide = |levels: usize, first: &str, next: &dyn Fn(usize) -> String| {
        let lines = (1..levels).map(|index| format!("  a{index}: &a{index} {}\n", next(index - 1)));
        object(&format!("  a0: &a0 {first}\n{}", lines.collect::<String>()))
    };
    let thrice = |index| format!("[*a{index}, *a{index}, *a{index}]");
    let nested =
        |open: &str, close: &str, depth| object(&format!("  a: {}1{}\n", open.repeat(depth), close.repeat(depth)));
    let json = |depth: usize| format!("{{\"a\":{}1{}}}", "[".repeat(depth), "]".repeat(depth));
    let (large, deep) = ("the document is too large", "nested more than 128 deep");
    let cases = [
        (wide(12, "[x, x, x]", &thrice), large),
        (wide(40, "[x, x, x]", &thrice), large),
        (wide(2_000, "[x, x, x]", &thrice), large),
        (wide(40, "{a: 1}", &|index| format!("{{a: *a{index}, b: *a{index}}}")), large),
        (wide(40, "{a: 1}", &|index| format!("{{<<: [*a{index}, *a{index}, *a{index}]}}")), large),
        (object(&format!("  a: &a {}\n  b: [{}]\n", "x".repeat(100_000), "*a,".repeat(1000))), large),
        (object(&format!("  a: &a {{{}: 1}}\n  b: [{}]\n", "x".repeat(1000), "*a,".repeat(40_000))), large),
        (object(&format!("  a: &a [x, x]\n  b: [{}]\n", "*a,".repeat(100_000))), large),
        (object(&format!("  a: [{}]\n", "1,".repeat(1_000_000))), large),
        (nested("[", "]", 1_000), deep),
        (nested("[", "]", 100_000), deep),
        (nested("{a: ", "}", 1_000), deep),
        ("- ".repeat(100_000), deep),
        ("? ".repeat(100_000), deep),
        (json(1_000), deep),
    ];
    for (text, expected) in cases {
        let begin = Instant::now();
        let answer = outcome(&text);
        let head = |text: &str| text.chars().take(200).collect::<String>();
        assert!(answer.contains(expected), "{}: expected {expected}: {}", head(&text), head(&answer));
        assert!(begin.elapsed() < TIMEOUT, "{}: took {:?}", head(&text), begin.elapsed());
    }
    assert_eq!(outcome(&nested("[", "]", 125)), "a@a.yaml:1");
}

#[test]
fn size_is_bounded() {
    let padded = |length: usize| {
        let mut text = object("  x: 1\n#");
        text.extend(std::iter::repeat_n('x', length - text.len()));
        parse("a", text.as_bytes()).map(|manifests| manifests.len()).map_err(|error| error.to_string())
    };
    assert_eq!(padded(MAX_FILE_BYTES), Ok(1));
    assert_eq!(padded(MAX_FILE_BYTES + 1), Err("\"a\" is larger than 16 MiB".to_owned()));
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
    let deployment = |index| format!("apiVersion: apps/v1\nkind: Deployment\nmetadata: {{name: a{index}}}\n");
    let documents = (0..20).map(crd).chain((0..300).map(deployment));
    let text = format!("---\n{}\n", documents.collect::<Vec<_>>().join("\n---\n"));
    assert_eq!(parse("a", text.as_bytes()).map(|manifests| manifests.len()).ok(), Some(320), "{} bytes", text.len());
}

#[test]
fn one_anchor_may_be_used_often() {
    let aliases = "*a,".repeat(2_000);
    assert_eq!(outcome(&object(&format!("  a: &a {{x: 1}}\n  b: [{aliases}]\n"))), "a@a.yaml:1");
}
