//! The JSON Schemas in `docs/schemas`, and every JSON output held against them: a field that a schema does not have is an error
//! here, though readers have to ignore fields that they do not know.
#![expect(clippy::disallowed_methods, reason = "reads files of the tree")]

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::sync::LazyLock;

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

/// The schemas, closed, by the kind of a document or the type of a line.
static SCHEMAS: LazyLock<BTreeMap<String, Value>> = LazyLock::new(|| {
    let mut all = BTreeMap::new();
    for name in names() {
        let mut schema = schema(&name);
        close(&mut schema);
        let title = schema["title"].as_str().expect("a title").to_owned();
        let lines = schema["$defs"].as_object().into_iter().flat_map(|defs| defs.keys());
        let lines: Vec<String> = lines.filter(|name| name.starts_with(LINE)).cloned().collect();
        for line in &lines {
            let one = json!({"$ref": format!("#/$defs/{line}"), "$defs": schema["$defs"]});
            all.insert(line.clone(), one);
        }
        if lines.is_empty() {
            all.insert(title, schema);
        }
    }
    all
});

/// Holds a value against a schema, with the keywords of JSON Schema that the files use; another one is no schema here.
struct Check<'a> {
    root: &'a Value,
    faults: Vec<String>,
}

impl Check<'_> {
    fn faults(root: &Value, schema: &Value, value: &Value, at: &str) -> Vec<String> {
        let mut check = Check { root, faults: Vec::new() };
        for (keyword, rule) in schema.as_object().into_iter().flatten() {
            check.keyword((keyword, rule), schema, value, at);
        }
        check.faults
    }

    fn keyword(&mut self, (keyword, rule): (&str, &Value), schema: &Value, value: &Value, at: &str) {
        let root = self.root;
        let list = |rule: &Value| rule.as_array().cloned().unwrap_or_else(|| vec![rule.clone()]);
        let fits = |schema: &Value| Self::faults(root, schema, value, at).is_empty();
        let is_right = match keyword {
            "$schema" | "$defs" | "title" | "description" => true,
            "$ref" => {
                let path = rule.as_str().and_then(|path| path.strip_prefix('#')).expect("a place in the same file");
                let target = root.pointer(path).unwrap_or_else(|| panic!("nothing is at {path}"));
                self.faults.extend(Self::faults(root, target, value, at));
                true
            }
            "type" => list(rule).iter().any(|name| name.as_str().is_some_and(|name| is_of_type(value, name))),
            "const" => value == rule,
            "enum" => list(rule).contains(value),
            "required" => value
                .as_object()
                .is_none_or(|fields| list(rule).iter().filter_map(Value::as_str).all(|n| fields.contains_key(n))),
            "anyOf" => list(rule).iter().any(fits),
            "oneOf" => list(rule).iter().filter(|schema| fits(schema)).count() == 1,
            "items" => {
                for (place, item) in value.as_array().into_iter().flatten().enumerate() {
                    self.faults.extend(Self::faults(root, rule, item, &format!("{at}/{place}")));
                }
                true
            }
            "properties" | "additionalProperties" => {
                for (name, field) in value.as_object().into_iter().flatten() {
                    let named = schema["properties"].get(name);
                    let rule = if keyword == "properties" { named } else { Some(rule).filter(|_| named.is_none()) };
                    let at = format!("{at}/{name}");
                    match rule {
                        Some(Value::Bool(false)) => self.faults.push(format!("{at}: the schema does not have it")),
                        Some(schema) => self.faults.extend(Self::faults(root, schema, field, &at)),
                        None => {}
                    }
                }
                true
            }
            _ => panic!("a keyword that is not checked here: {keyword}"),
        };
        if !is_right {
            self.faults.push(format!("{at}: {value} does not fit {keyword} {rule}"));
        }
    }
}

fn is_of_type(value: &Value, name: &str) -> bool {
    match name {
        "null" => value.is_null(),
        "boolean" => value.is_boolean(),
        "string" => value.is_string(),
        "number" => value.is_number(),
        "integer" => value.is_i64() || value.is_u64() || value.as_f64().is_some_and(|number| number.fract() == 0.0),
        "array" => value.is_array(),
        "object" => value.is_object(),
        _ => panic!("no type of JSON: {name}"),
    }
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
    match SCHEMAS.get(&kind) {
        None => vec![format!("docs/schemas has none of {kind}: {value}")],
        Some(schema) => Check::faults(schema, schema, value, &kind),
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
