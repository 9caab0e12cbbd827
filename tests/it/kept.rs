//! Codes and JSON words are kept: scripts read them. The list beside this file is written by hand, word by word: a new
//! word is added to it, and none is removed.
#![expect(clippy::disallowed_methods, reason = "reads the schemas")]

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use engine::state::outcome::EndResult;
use kubectl_inplace::commands::reference;
use serde_json::Value;

/// The names of properties, and the values that a word can have.
fn words(schema: &Value, all: &mut BTreeSet<String>) {
    match schema {
        Value::Object(fields) => {
            for (key, value) in fields {
                match (key.as_str(), value) {
                    ("properties", Value::Object(properties)) => all.extend(properties.keys().cloned()),
                    ("const", Value::String(word)) => drop(all.insert(word.clone())),
                    ("enum", Value::Array(words)) => {
                        all.extend(words.iter().filter_map(Value::as_str).map(str::to_owned));
                    }
                    _ => {}
                }
                words(value, all);
            }
        }
        Value::Array(items) => items.iter().for_each(|item| words(item, all)),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

#[test]
fn no_code_and_no_json_word_goes_or_changes() {
    let mut today: BTreeSet<String> = reference::every_code().iter().map(|known| known.code.to_owned()).collect();
    today.extend(reference::every_word().iter().map(|known| known.word.to_owned()));
    today.extend(EndResult::ALL.iter().map(|end| format!("{} {}", end.exit_code(), end.word())));
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/schemas");
    for file in fs::read_dir(folder).expect("the schemas can be listed").flatten() {
        let text = fs::read_to_string(file.path()).expect("a schema can be read");
        words(&serde_json::from_str(&text).expect("a schema is JSON"), &mut today);
    }
    let kept: BTreeSet<String> = include_str!("kept.txt").lines().map(str::to_owned).collect();
    let gone: Vec<&String> = kept.difference(&today).collect();
    assert!(gone.is_empty(), "a script may read these, they must stay: {gone:#?}");
    let new: Vec<&String> = today.difference(&kept).collect();
    assert!(new.is_empty(), "new, and kept from now on; add to tests/it/kept.txt: {new:#?}");
}
