//! Documents to the objects in them: lists are expanded, and each object has its identity.

use std::collections::HashMap;

use serde_json::{Map, Value};

use engine::plan::outline::Hook;

use super::{Manifest, ManifestError, Source};

/// Stands for the end of a name that the server makes up: only hooks have such a name here.
const GENERATED: &str = "*";

/// Names a value's type with its article, in JSON's terms.
pub(super) fn type_name(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "a boolean",
        Value::Number(_) => "a number",
        Value::String(_) => "a string",
        Value::Array(_) => "an array",
        Value::Object(_) => "an object",
    }
}

/// Says what must be done to a value that a YAML reader may have made of a string.
pub(super) fn quote_hint(found: &Value) -> &'static str {
    match found {
        Value::Bool(_) => "; put it in quotes, since YAML reads y, n, yes, no, on and off as booleans",
        Value::Number(_) => "; put it in quotes",
        Value::Null | Value::String(_) | Value::Array(_) | Value::Object(_) => "",
    }
}

/// Takes the object, or those of the list that it is: a `kind` that ends in `List` with `items`. Items of such a list
/// as `PodList` may leave out their type, which then follows from the list's, as in `unstructured_list.go` of
/// apimachinery. Lists in lists are expanded too, which kubectl refuses.
pub(super) fn expand(value: Value, source: Source, manifests: &mut Vec<Manifest>) -> Result<(), ManifestError> {
    let Value::Object(mut fields) = value else {
        return Err(ManifestError::at(&source, format_args!("expected an object, found {}", type_name(&value))));
    };
    let Some(of_items) = type_of_items(&fields) else {
        manifests.push(manifest(Value::Object(fields), source)?);
        return Ok(());
    };
    let items = match fields.swap_remove("items") {
        Some(Value::Array(items)) => items,
        Some(Value::Null) | None => Vec::new(),
        Some(other) => {
            return Err(ManifestError::at(&source, format_args!("items is {}, not an array", type_name(&other))));
        }
    };
    let separator = if source.item.is_empty() { "" } else { "." };
    for (index, mut item) in items.into_iter().enumerate() {
        if let (Some((api_version, kind)), Value::Object(fields)) = (&of_items, &mut item)
            && !fields.contains_key("kind")
            && !fields.contains_key("apiVersion")
        {
            fields.insert("apiVersion".to_owned(), api_version.clone());
            fields.insert("kind".to_owned(), kind.clone());
        }
        let place = format!("{}{separator}items[{index}]", source.item);
        expand(item, Source { item: place, ..source.clone() }, manifests)?;
    }
    Ok(())
}

/// Returns of a list `apiVersion` and `kind` of items that have none; those of the kind `List` are of anything.
fn type_of_items(fields: &Map<String, Value>) -> Option<Option<(Value, Value)>> {
    let of_item = fields.get("kind")?.as_str()?.strip_suffix("List")?;
    if of_item.is_empty() {
        return Some(None);
    }
    let version = fields.get("apiVersion").filter(|version| version.is_string());
    // A kind of its own may end so too, as `IPAllowList`; then it is an object.
    matches!(fields.get("items")?, Value::Array(_) | Value::Null)
        .then(|| version.map(|version| (version.clone(), Value::from(of_item))))
}

/// Requires `apiVersion`, `kind` and `metadata.name` as strings that are not empty, and `metadata.namespace` as one if
/// it is set. The server may make up the name of a hook.
fn manifest(object: Value, source: Source) -> Result<Manifest, ManifestError> {
    let string = |pointer: &str, hint: &str| {
        let field = pointer.trim_start_matches('/').replace('/', ".");
        match object.pointer(pointer) {
            Some(Value::String(text)) if !text.is_empty() => Ok(text.clone()),
            Some(Value::String(_) | Value::Null) | None => {
                Err(ManifestError::at(&source, format_args!("{field} not set{hint}")))
            }
            Some(found) => {
                let message = format!("{field} is {}, not a string{}", type_name(found), quote_hint(found));
                Err(ManifestError::at(&source, message))
            }
        }
    };
    let api_version = string("/apiVersion", "")?;
    let kind = string("/kind", "")?;
    if let Some(metadata) = object.get("metadata").filter(|metadata| !metadata.is_object() && !metadata.is_null()) {
        return Err(ManifestError::at(&source, format_args!("metadata is {}, not an object", type_name(metadata))));
    }
    let is_given = |pointer: &str| object.pointer(pointer).is_some_and(|value| !value.is_null() && value != "");
    let is_generated = is_given("/metadata/generateName");
    let name = if is_generated && !is_given("/metadata/name") && Hook::of(&object).is_some() {
        string("/metadata/generateName", "")? + GENERATED
    } else {
        let hint = "; an object with generateName has no name to find it by in the cluster";
        string("/metadata/name", if is_generated { hint } else { "" })?
    };
    let namespace = if is_given("/metadata/namespace") { string("/metadata/namespace", "")? } else { String::new() };
    Ok(Manifest { api_version, kind, namespace, name, object, source })
}

/// Refuses one object twice: same group, of any version, kind, namespace as written, and name; of a hook each is another.
pub(super) fn reject_duplicates(manifests: &[Manifest]) -> Result<(), ManifestError> {
    let mut seen: HashMap<[&str; 4], &Source> = HashMap::with_capacity(manifests.len());
    for manifest in manifests.iter().filter(|manifest| Hook::of(&manifest.object).is_none()) {
        let Manifest { api_version, kind, namespace, name, source, .. } = manifest;
        let group = api_version.split_once('/').map_or("", |(group, _)| group);
        if let Some(first) = seen.insert([group, kind, namespace, name], source) {
            let separator = if namespace.is_empty() { "" } else { "/" };
            return Err(ManifestError(format!(
                "{kind} {namespace}{separator}{name} is given twice: {first} and {source}"
            )));
        }
    }
    Ok(())
}
