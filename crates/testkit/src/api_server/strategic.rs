//! The strategic merge patch, in the simple version that pod templates need (`strategicpatch/patch.go`).
//!
//! Independent of the crate's own implementation on purpose: the two may not share a mistake. Knows the merge keys of
//! the lists in a pod's spec, `$patch: delete|replace`, `$deleteFromPrimitiveList` and `$retainKeys`; list orders
//! (`$setElementOrder/...`) are ignored.

use serde_json::{Map, Value};

const MERGE_KEYS: &[(&str, &str)] = &[
    ("containers", "name"),
    ("initContainers", "name"),
    ("ephemeralContainers", "name"),
    ("volumes", "name"),
    ("imagePullSecrets", "name"),
    ("env", "name"),
    ("volumeMounts", "mountPath"),
    ("volumeDevices", "devicePath"),
    ("ports", "containerPort"),
    ("hostAliases", "ip"),
    ("topologySpreadConstraints", "topologyKey"),
    ("conditions", "type"),
    ("ownerReferences", "uid"),
];

/// Returns `live` with the patch merged in; the error is the message of the server's 500.
pub(crate) fn merge(live: &Value, patch: &Value) -> Result<Value, String> {
    let (Some(live_map), Some(patch_map)) = (live.as_object(), patch.as_object()) else { return Ok(patch.clone()) };
    if patch_map.get("$patch").is_some_and(|directive| directive == "replace") {
        let kept = patch_map.iter().filter(|(key, _)| *key != "$patch");
        return Ok(Value::Object(kept.map(|(key, value)| (key.clone(), value.clone())).collect()));
    }
    let mut merged = live_map.clone();
    if let Some(retained) = patch_map.get("$retainKeys").and_then(Value::as_array) {
        merged.retain(|key, _| retained.iter().any(|kept| kept == key.as_str()));
    }
    for (key, value) in patch_map {
        if let Some(list) = key.strip_prefix("$deleteFromPrimitiveList/") {
            let gone = value.as_array().cloned().unwrap_or_default();
            if let Some(items) = merged.get_mut(list).and_then(Value::as_array_mut) {
                items.retain(|item| !gone.contains(item));
            }
        } else if !key.starts_with('$') {
            merge_field(&mut merged, key, value)?;
        }
    }
    Ok(Value::Object(merged))
}

fn merge_field(merged: &mut Map<String, Value>, key: &str, value: &Value) -> Result<(), String> {
    let merge_key = MERGE_KEYS.iter().find(|(list, _)| *list == key).map(|(_, merge_key)| *merge_key);
    let before = merged.get(key).cloned();
    let after = match (value, before, merge_key) {
        (Value::Null, _, _) => {
            merged.shift_remove(key);
            return Ok(());
        }
        (Value::Array(patch), before, Some(merge_key)) => {
            let before = before.as_ref().and_then(Value::as_array).cloned().unwrap_or_default();
            Value::Array(merge_list(before, patch, merge_key)?)
        }
        (Value::Array(patch), Some(Value::Array(mut items)), None) if key == "finalizers" => {
            items.extend(patch.iter().filter(|item| !items.contains(item)).cloned().collect::<Vec<_>>());
            Value::Array(items)
        }
        (Value::Object(_), Some(before @ Value::Object(_)), _) => merge(&before, value)?,
        (Value::Object(_), _, _) => merge(&Value::Object(Map::new()), value)?,
        (other, _, _) => other.clone(),
    };
    merged.insert(key.to_owned(), after);
    Ok(())
}

fn merge_list(before: Vec<Value>, patch: &[Value], merge_key: &str) -> Result<Vec<Value>, String> {
    let is_directive = |item: &Value, word: &str| item.get("$patch").is_some_and(|directive| directive == word);
    if patch.iter().any(|item| is_directive(item, "replace")) {
        return Ok(patch.iter().filter(|item| item.get("$patch").is_none()).cloned().collect());
    }
    let mut merged = before;
    let mut added = Vec::new();
    for item in patch {
        let Some(key) = item.get(merge_key) else {
            let fields: Vec<String> = item
                .as_object()
                .into_iter()
                .flatten()
                .map(|(k, v)| format!("{k}:{}", v.as_str().unwrap_or("...")))
                .collect();
            return Err(format!("map: map[{}] does not contain declared merge key: {merge_key}", fields.join(" ")));
        };
        let found = merged.iter().position(|one| one.get(merge_key) == Some(key));
        match found {
            Some(index) if is_directive(item, "delete") => {
                merged.remove(index);
            }
            Some(index) => {
                if let Some(slot) = merged.get_mut(index) {
                    *slot = merge(slot, item)?;
                }
            }
            None if is_directive(item, "delete") => {}
            None => added.push(merge(&Value::Object(Map::new()), item)?),
        }
    }
    // Without an order list, upstream puts new elements first.
    added.extend(merged);
    Ok(added)
}
