//! Hostile inputs end in an answer. The larger ones stay below a second without optimisation.

#![expect(clippy::disallowed_methods, reason = "the corpus is read from disk, and answers are timed")]

use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};

use super::{object, outcome};
use crate::manifest::{MAX_INPUT_BYTES, MAX_VALUES, ManifestError, parse};

/// Bounds one answer, without optimisation and on a busy machine.
const PATIENCE: Duration = Duration::from_secs(if cfg!(debug_assertions) { 60 } else { 2 });

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
        assert!(begin.elapsed() < PATIENCE, "{name} took {:?}", begin.elapsed());
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
            "more than 8 MiB of text",
        ),
        (
            object(&format!("  a: &a {{{}: 1}}\n  b: [{}]\n", "x".repeat(1000), "*a,".repeat(20_000))),
            "more than 8 MiB of text",
        ),
        (
            object(&format!("  a: &a [x, x]\n  b: [{}]\n", "*a,".repeat(50_000))),
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
        assert!(begin.elapsed() < PATIENCE, "took {:?}", begin.elapsed());
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
    let values = format!("{{\"a\":[{}1]}}", "1,".repeat(MAX_VALUES));
    assert!(outcome(&values).contains("more than 600000 values"));
}

#[test]
fn one_anchor_may_be_used_often() {
    let aliases = "*a,".repeat(5_000);
    assert_eq!(outcome(&object(&format!("  a: &a {{x: 1}}\n  b: [{aliases}]\n"))), "a@a.yaml:1#1");
}
