//! `docs/reference/json.md`, made from the schemas.

use std::fmt::Write as _;

use serde_json::Value;

use super::{GENERATED, cell};
use crate::support::schemas;

/// The documents in the order of the page.
const ORDER: [&str; 8] = ["plan", "rollout", "status", "history", "preview", "hashes", "access", "version"];

const INTRO: &str = "Documents have `apiVersion` and `kind`, lines have `type` and `version`. Within one version fields and values are added, never
renamed or removed: readers must ignore what they do not know. Each document has a [JSON Schema](../schemas/); the tests hold what
the plugin prints against it. `-o yaml` prints the same document as YAML. A field that is *optional* is absent where it does not apply.

Through kubectl on Windows every failure has exit code 1: use `result`.
";

/// Returns the page; `fields_of_codes` is what reasons and warnings have besides.
pub(crate) fn page(fields_of_codes: &str) -> String {
    assert_eq!(schemas::names().len(), ORDER.len(), "every schema has its place on the page");
    let mut page = format!("{GENERATED}# JSON\n\n{INTRO}\n| document | schema |\n|---|---|\n");
    let title = |schema: &Value| text(schema, "title");
    for name in ORDER {
        let title = title(&schemas::schema(name));
        let _ = writeln!(page, "| [{title}](#{}) | [{name}.json](../schemas/{name}.json) |", title.to_lowercase());
    }
    for name in ORDER {
        let schema = schemas::schema(name);
        let _ = write!(page, "\n## {}\n\n{}\n", title(&schema), text(&schema, "description"));
        if schema["properties"].is_object() {
            page.push_str(&table(&schema, name));
        }
        for (definition, object) in schema["$defs"].as_object().into_iter().flatten() {
            let about = object["description"].as_str().map(|text| format!("\n{text}\n")).unwrap_or_default();
            let _ = write!(page, "\n### {name}: {}\n{about}", definition.replace("line-", ""));
            page.push_str(&table(object, name));
        }
        if name == "plan" {
            let _ = write!(
                page,
                "\n### Fields of codes\n\nWhat a reason or a warning has besides. `serverMessage` holds the words of the API server, `list` is `containers` or `initContainers`.\n\n{fields_of_codes}"
            );
        }
    }
    page
}

fn text(schema: &Value, key: &str) -> String {
    schema[key].as_str().unwrap_or_default().to_owned()
}

fn table(object: &Value, document: &str) -> String {
    let mut table = String::from("\n| field | type | what it is |\n|---|---|---|\n");
    let required: Vec<&str> = object["required"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
    for (name, field) in object["properties"].as_object().into_iter().flatten() {
        let optional = if required.contains(&name.as_str()) { "" } else { ", optional" };
        let _ = writeln!(
            table,
            "| `{name}` | {}{optional} | {} |",
            type_of(field, document),
            cell(&text(field, "description"))
        );
    }
    if object["additionalProperties"] == true {
        table.push_str("| ... | | see [fields of codes](#fields-of-codes) |\n");
    }
    table
}

fn type_of(field: &Value, document: &str) -> String {
    if let Some(reference) = field["$ref"].as_str() {
        let name = reference.rsplit('/').next().unwrap_or_default();
        return format!("[{name}](#{}-{})", document.to_lowercase(), name.to_lowercase());
    }
    if let Some(value) = field["const"].as_str() {
        return format!("`{value}`");
    }
    if let Some(values) = field["enum"].as_array() {
        let words = values.iter().map(|value| value.as_str().map_or("null".to_owned(), |word| format!("`{word}`")));
        return words.collect::<Vec<_>>().join(", ");
    }
    if let Some(one) = field["anyOf"].as_array().and_then(|any| any.first()) {
        return format!("{} or null", type_of(one, document));
    }
    let names: Vec<&str> = match &field["type"] {
        Value::String(name) => vec![name],
        Value::Array(names) => names.iter().filter_map(Value::as_str).collect(),
        _ => return "any".to_owned(),
    };
    let name = |name: &&str| {
        if *name == "array" { format!("list of {}", type_of(&field["items"], document)) } else { (*name).to_owned() }
    };
    names.iter().map(name).collect::<Vec<_>>().join(" or ")
}
