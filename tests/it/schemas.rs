//! The JSON Schemas: kept outputs are checked against them, and they contain nothing that no output has.
#![expect(clippy::disallowed_methods, reason = "reads files of the tree")]

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use kubectl_inplace::commands::{explained, reference};
use serde_json::{Deserializer, Value, json};

use crate::support::run::Binary;
use crate::support::schemas;

fn files(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).expect("the folder can be read").flatten().map(|entry| entry.path());
    entries.flat_map(|path| if path.is_dir() { files(&path) } else { vec![path] }).collect()
}

/// What plans and rollouts are known to print: the snapshots of the renderers, and the plan of every situation.
fn kept() -> Vec<Value> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests");
    let mut texts = Vec::new();
    for file in
        files(&root.join("snapshots/render")).into_iter().filter(|file| file.to_string_lossy().contains("-json"))
    {
        texts.push(fs::read_to_string(file).expect("a snapshot can be read"));
    }
    texts.push(fs::read_to_string(root.join("snapshots/failure-report-json.txt")).expect("a snapshot can be read"));
    for file in files(&root.join("situations")).into_iter().filter(|file| file.ends_with("plan.json")) {
        texts.push(fs::read_to_string(file).expect("a plan can be read"));
    }
    let parts =
        texts.iter().flat_map(|text| text.split("\n--- ").map(|part| part.find('{').map_or("", |at| &part[at..])));
    parts.flat_map(|part| Deserializer::from_str(part).into_iter::<Value>().map_while(Result::ok)).collect()
}

#[test]
fn what_is_kept_has_its_schema() {
    let kept = kept();
    assert!(kept.len() > 400, "{} values", kept.len());
    let faults: BTreeSet<String> = kept.iter().flat_map(schemas::faults).collect();
    assert!(faults.is_empty(), "{}", faults.into_iter().take(40).collect::<Vec<_>>().join("\n"));
}

/// The names of the properties below a schema, each as `definition.property`.
fn named(schema: &Value, place: &str, all: &mut BTreeSet<String>) {
    for (name, _) in schema["properties"].as_object().into_iter().flatten() {
        all.insert(format!("{place}.{name}"));
    }
    for (name, definition) in schema["$defs"].as_object().into_iter().flatten() {
        named(definition, name, all);
    }
}

fn keys(value: &Value, all: &mut BTreeSet<String>) {
    match value {
        Value::Object(fields) => fields.iter().for_each(|(key, value)| {
            all.insert(key.clone());
            keys(value, all);
        }),
        Value::Array(items) => items.iter().for_each(|item| keys(item, all)),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

/// Fields that only runs write, which are held against their schema as they end.
const OF_RUNS: [&str; 15] = [
    "hooks",
    "beforePod",
    "afterPod",
    "containerOrder",
    "hook",
    "ended",
    "nextContainers",
    "until",
    "runningSince",
    "going",
    "newPods",
    "notReady",
    "rolledBack",
    "handedOver",
    "byRequest",
];

#[test]
fn no_schema_names_a_field_that_nothing_writes() {
    let mut written = BTreeSet::new();
    kept().iter().for_each(|value| keys(value, &mut written));
    written.extend(OF_RUNS.map(str::to_owned));
    for name in ["plan", "rollout"] {
        let mut fields = BTreeSet::new();
        named(&schemas::schema(name), name, &mut fields);
        let unused = fields.iter().filter(|field| !written.contains(field.rsplit('.').next().unwrap_or_default()));
        assert_eq!(unused.collect::<Vec<_>>(), Vec::<&String>::new(), "{name}.json");
    }
}

#[test]
fn a_field_that_no_schema_has_is_found() {
    let line = json!({"type": "stopping", "version": "v1alpha1", "elapsedSeconds": 1.0});
    assert_eq!(schemas::faults(&line), Vec::<String>::new());
    for wrong in [
        json!({"type": "stopping", "version": "v1alpha1", "elapsedSeconds": 1.0, "more": 1}),
        json!({"type": "stopping", "version": "v1alpha1", "elapsedSeconds": "1"}),
        json!({"type": "nothing", "version": "v1alpha1", "elapsedSeconds": 1.0}),
        json!({"apiVersion": "kubectl-inplace.io/v1alpha1", "kind": "Plan"}),
    ] {
        assert!(!schemas::faults(&wrong).is_empty(), "{wrong}");
    }
}

#[test]
fn each_schema_says_what_it_is_and_describes_every_field() {
    for name in schemas::names() {
        let schema = schemas::schema(&name);
        assert!(schema["title"].is_string() && schema["description"].is_string(), "{name}");
        let definitions = schema["$defs"].as_object().into_iter().flat_map(|defs| defs.values());
        for object in definitions.chain([&schema]) {
            for (field, schema) in object["properties"].as_object().into_iter().flatten() {
                assert!(schema["description"].as_str().is_some_and(|text| !text.is_empty()), "{name}: {field}");
            }
        }
    }
}

/// The words that a schema lists for states.
fn states(schema: &Value, all: &mut BTreeSet<String>) {
    for (name, property) in schema["properties"].as_object().into_iter().flatten() {
        if ["state", "condition", "comparison", "phase", "course", "verdict", "result"].contains(&name.as_str()) {
            all.extend(property["enum"].as_array().into_iter().flatten().filter_map(Value::as_str).map(str::to_owned));
        }
    }
    for definition in schema["$defs"].as_object().into_iter().flatten().map(|(_, definition)| definition) {
        states(definition, all);
    }
}

/// Every word that a schema lists, wherever: enums and constants.
fn words(schema: &Value, all: &mut BTreeSet<String>) {
    let listed = schema["enum"].as_array().into_iter().flatten().chain(schema.get("const"));
    all.extend(listed.filter_map(Value::as_str).map(str::to_owned));
    let of_object = schema.as_object().into_iter().flat_map(|fields| fields.values());
    let of_list = schema.as_array().into_iter().flatten();
    of_object.chain(of_list).for_each(|part| words(part, all));
}

#[test]
fn every_word_that_is_printed_is_explained() {
    let (mut states_of_all, mut all) = (BTreeSet::new(), BTreeSet::new());
    for name in schemas::names() {
        states(&schemas::schema(&name), &mut states_of_all);
        words(&schemas::schema(&name), &mut all);
    }
    assert!(["updating", "pending", "older", "notReady"].iter().all(|word| states_of_all.contains(*word)));
    assert!(["noEffectNow", "hookBegins", "v1alpha1"].iter().all(|word| all.contains(*word)), "{all:?}");
    let unknown: Vec<&String> = all.iter().filter(|word| explained(word, 100).is_none()).collect();
    assert!(unknown.is_empty(), "explain does not know {unknown:?}");
    let states = reference::words(reference::STATES);
    let gone: Vec<&str> = states.iter().map(|known| known.word).filter(|word| !states_of_all.contains(*word)).collect();
    assert!(gone.is_empty(), "nothing prints {gone:?}");
    for word in ["pending", "noEffectNow", "stabilizing", "ContainersNotReady"] {
        Binary::alone(["explain", word]).run().ends_with(0).prints(&format!("{word}: "));
    }
}
