//! YAML that is no manifest: kubeconfigs, kubectl's preferences, what credential plugins answer.

use serde::de::{DeserializeOwned, Error as _};
use serde::{Deserialize, Deserializer};
use serde_json::{Map, Value};
use serde_saphyr::options::DuplicateKeyPolicy;
use serde_saphyr::{Error, Options};

/// Reads the first document, as kubectl does; null where there is none.
///
/// As plain values, that types are read from: one type that is read from YAML itself is as large as this reader.
pub(super) fn read(text: &str) -> Result<Value, Error> {
    let options: Options = serde_saphyr::options! { duplicate_keys: DuplicateKeyPolicy::LastWins, with_snippet: false };
    serde_saphyr::from_str_with_options(&first_document(text.strip_prefix('\u{feff}').unwrap_or(text)), options)
}

/// Without the documents before it that are empty, whose lines stay; and without those after it.
fn first_document(text: &str) -> String {
    let (mut has_begun, mut document) = (false, String::new());
    for line in text.split_inclusive('\n') {
        if has_begun && line.starts_with("---") {
            break;
        }
        let is_empty = line.starts_with(['#', '%']) || matches!(line.trim(), "" | "---");
        has_begun |= !is_empty;
        document.push_str(if is_empty && !has_begun { "\n" } else { line });
    }
    document
}

/// Reads a mapping or nothing: from plain values, serde would take a list for the fields of a struct as well.
pub(super) fn mapping<'de, D: Deserializer<'de>, T: DeserializeOwned>(deserializer: D) -> Result<Option<T>, D::Error> {
    let fields = Option::<Map<String, Value>>::deserialize(deserializer)?;
    fields.map(|fields| serde_json::from_value(fields.into()).map_err(D::Error::custom)).transpose()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn the_first_document_is_taken_and_the_last_of_two_keys() {
        for (text, expected) in [
            ("", Value::Null),
            ("# a comment\n", Value::Null),
            ("a: 1\na: 2\n---\nb: [\n", json!({"a": 2})),
            ("# a comment\n---\na: x\n--- # the next\nb: 2", json!({"a": "x"})),
            ("---\n---\na: 3\n", json!({"a": 3})),
            ("%YAML 1.2\n---\n{\"a\": null}\n", json!({"a": null})),
        ] {
            assert_eq!(read(text).unwrap(), expected, "{text}");
        }
    }
}
