//! The JSON Schemas in `docs/schemas`, and every JSON output held against them: a field that a schema does not have is an error
//! here, though readers have to ignore fields that they do not know.
#![expect(clippy::disallowed_methods, reason = "reads files of the tree")]

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::sync::LazyLock;

use jsonschema::Validator;
use serde_json::{Deserializer, Value, json};

/// Where they lie.
const FOLDER: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/docs/schemas");

/// The name of a definition that a line has.
const LINE: &str = "line-";

/// Returns a schema by the name of its file.
pub(crate) fn schema(name: &str) -> Value {
    let text = fs::read_to_string(Path::new(FOLDER).join(format!("{name}.json"))).expect("a schema can be read");
    serde_json::from_str(&text).expect("a schema is JSON")
}

/// Returns the names of the schemas' files.
pub(crate) fn names() -> Vec<String> {
    let files = fs::read_dir(FOLDER).expect("the schemas are there").flatten();
    let name = |name: String| name.strip_suffix(".json").map(str::to_owned);
    let mut names: Vec<String> =
        files.filter_map(|file| name(file.file_name().to_string_lossy().into_owned())).collect();
    names.sort();
    names
}

/// By the kind of a document, or the type of a line.
static VALIDATORS: LazyLock<BTreeMap<String, Validator>> = LazyLock::new(|| {
    let mut all = BTreeMap::new();
    for name in names() {
        let mut schema = schema(&name);
        close(&mut schema);
        let title = schema["title"].as_str().expect("a title").to_owned();
        let lines = schema["$defs"].as_object().into_iter().flat_map(|defs| defs.keys());
        let lines: Vec<String> = lines.filter(|name| name.starts_with(LINE)).cloned().collect();
        for line in &lines {
            let one = json!({"$ref": format!("#/$defs/{line}"), "$defs": schema["$defs"]});
            all.insert(line.clone(), compiled(&one));
        }
        if lines.is_empty() {
            all.insert(title, compiled(&schema));
        }
    }
    all
});

fn compiled(schema: &Value) -> Validator {
    jsonschema::validator_for(schema).unwrap_or_else(|error| panic!("{error}: {schema}"))
}

/// Allows no property that is not named, except where a schema says otherwise.
fn close(schema: &mut Value) {
    match schema {
        Value::Object(fields) => {
            if fields.contains_key("properties") && fields.get("type") == Some(&json!("object")) {
                fields.entry("additionalProperties").or_insert(json!(false));
            }
            fields.values_mut().for_each(close);
        }
        Value::Array(items) => items.iter_mut().for_each(close),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

/// Returns which schema a value is held against; `None` where it is no document of this program's.
fn kind(value: &Value) -> Option<String> {
    let text = |key: &str| value.get(key).and_then(Value::as_str);
    match (text("apiVersion"), text("type"), text("version")) {
        (Some("kubectl-inplace.io/v1alpha1"), _, _) => text("kind").map(str::to_owned),
        (None, Some(line), Some("v1alpha1")) => Some(format!("{LINE}{line}")),
        _ => value.get("clientVersion").map(|_| "Version".to_owned()),
    }
}

/// Returns what is wrong with a value.
pub(crate) fn faults(value: &Value) -> Vec<String> {
    let Some(kind) = kind(value) else { return Vec::new() };
    match VALIDATORS.get(&kind) {
        None => vec![format!("docs/schemas has none of {kind}: {value}")],
        Some(validator) => {
            validator.iter_errors(value).map(|error| format!("{kind}{}: {error}", error.instance_path())).collect()
        }
    }
}

/// Holds everything that was written against its schema: a document, several, or lines. What was cut off is left out.
#[track_caller]
pub(crate) fn assert_output(text: &str) {
    if !text.starts_with('{') {
        return;
    }
    for value in Deserializer::from_str(text).into_iter::<Value>().map_while(Result::ok) {
        let faults = faults(&value);
        assert!(faults.is_empty(), "{}\nin {value}", faults.join("\n"));
    }
}
