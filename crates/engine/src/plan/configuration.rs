//! ConfigMaps and Secrets in the manifests beside a workload: which of them its pods read, and whether they change.

use std::collections::BTreeSet;

use serde_json::{Value, json};

/// Returns the ConfigMaps and Secrets that the pods of a template read, by kind and name.
pub fn configuration(template: &Value) -> BTreeSet<(&'static str, String)> {
    let mut found = BTreeSet::new();
    add_configuration(template.get("spec").unwrap_or(&Value::Null), &mut found);
    found
}

/// The fields of a pod's spec that name one: volumes, and the environment.
const NAMES_ONE: [(&str, &str, &str); 7] = [
    ("configMap", "name", "ConfigMap"),
    ("configMapRef", "name", "ConfigMap"),
    ("configMapKeyRef", "name", "ConfigMap"),
    ("secret", "secretName", "Secret"),
    ("secret", "name", "Secret"),
    ("secretRef", "name", "Secret"),
    ("secretKeyRef", "name", "Secret"),
];

fn add_configuration(value: &Value, found: &mut BTreeSet<(&'static str, String)>) {
    match value {
        Value::Object(fields) => {
            for (field, key, kind) in NAMES_ONE {
                let name = fields.get(field).and_then(|source| source.get(key)?.as_str());
                found.extend(name.map(|name| (kind, name.to_owned())));
            }
            fields.values().for_each(|value| add_configuration(value, found));
        }
        Value::Array(items) => items.iter().for_each(|item| add_configuration(item, found)),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

/// Returns whether a ConfigMap or Secret has what a manifest says. A manifest without data leaves that to somebody else.
pub fn has_configuration(live: &Value, manifest: &Value) -> bool {
    let map = |object: &Value, field: &str| object.get(field).and_then(Value::as_object).cloned().unwrap_or_default();
    let all = |object: &Value| {
        let mut data = map(object, "data");
        // Base64 may be wrapped.
        for text in data.values_mut().filter(|_| manifest["kind"] == "Secret") {
            *text = text.as_str().unwrap_or_default().split_whitespace().collect::<String>().into();
        }
        data.extend(map(object, "binaryData"));
        let texts = map(object, "stringData").into_iter();
        data.extend(texts.map(|(key, text)| (key, json!(base64(text.as_str().unwrap_or_default().as_bytes())))));
        data
    };
    let wanted = all(manifest);
    wanted.is_empty() || wanted == all(live)
}

fn base64(bytes: &[u8]) -> String {
    const ALPHABET: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut text = String::new();
    for part in bytes.chunks(3) {
        let bits = part.iter().enumerate().fold(0_u32, |bits, (at, byte)| bits | u32::from(*byte) << (16 - 8 * at));
        for place in 0..4_usize {
            let at = usize::try_from(bits >> (18 - 6 * place) & 63).unwrap_or(0);
            let letter = ALPHABET.get(at).filter(|_| place <= part.len()).copied().unwrap_or(b'=');
            text.push(char::from(letter));
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_pods_read_is_found_wherever_it_is_named() {
        let template = json!({"spec": {
            "volumes": [{"name": "a", "configMap": {"name": "volume"}}, {"name": "b", "secret": {"secretName": "volume"}},
                {"name": "c", "projected": {"sources": [{"configMap": {"name": "part"}}, {"secret": {"name": "part"}}]}}],
            "initContainers": [{"name": "i", "envFrom": [{"configMapRef": {"name": "all"}}, {"secretRef": {"name": "all"}}]}],
            "containers": [{"name": "c", "env": [{"name": "K", "valueFrom": {"configMapKeyRef": {"name": "key", "key": "k"}}},
                {"name": "S", "valueFrom": {"secretKeyRef": {"name": "key", "key": "k"}}}]}],
            "imagePullSecrets": [{"name": "registry"}]}});
        let expected = ["ConfigMap", "Secret"]
            .into_iter()
            .flat_map(|kind| ["all", "key", "part", "volume"].into_iter().map(move |name| (kind, name.to_owned())));
        assert_eq!(configuration(&template), expected.collect());
    }

    #[test]
    fn a_secret_in_plain_text_is_compared_with_what_is_stored() {
        let live = json!({"data": {"a": "aHVudGVyMg==", "b": "eA=="}});
        for (manifest, same) in [
            (json!({"stringData": {"a": "hunter2", "b": "x"}}), true),
            (json!({"data": {"b": "eA=="}, "stringData": {"a": "hunter2"}}), true),
            (json!({"stringData": {"a": "hunter3", "b": "x"}}), false),
            (json!({"data": {"a": "aHVudGVyMg=="}}), false),
            (json!({"data": {"a": "aHVudGVyMg==", "b": "eA==", "c": ""}}), false),
            (json!({"kind": "Secret", "data": {"a": "aHVud\nGVyMg==\n", "b": "eA=="}}), true),
            (json!({"kind": "ConfigMap", "data": {"a": "aHVud\nGVyMg==\n", "b": "eA=="}}), false),
            // Another controller fills it in.
            (json!({}), true),
        ] {
            assert_eq!(has_configuration(&live, &manifest), same, "{manifest}");
        }
        let texts = ["", "f", "fo", "foo", "foob", "fooba", "foobar", "\u{ff}\u{fe}"];
        let encoded = ["", "Zg==", "Zm8=", "Zm9v", "Zm9vYg==", "Zm9vYmE=", "Zm9vYmFy", "w7/Dvg=="];
        assert_eq!(texts.map(|text| base64(text.as_bytes())), encoded);
    }
}
