//! `-o jsonpath=TEMPLATE`: kubectl's dialect (client-go `util/jsonpath`), over a document of this program's.
//!
//! Text is literal. In braces is a path, a quoted text, or `range PATH` with what is written for each result up to
//! `end`. The results of a path are joined by blanks; a missing value is empty, as in `kubectl get`. Unlike kubectl the
//! fields of an object come in the document's order.

mod go;
mod parse;
mod walk;

use std::borrow::Cow;

use serde_json::Value;

use super::escape;

/// A template that was understood.
#[derive(Debug, Clone, PartialEq)]
pub struct JsonPath {
    text: String,
    nodes: Vec<Node>,
    options: JsonPathOptions,
}

/// How the results of a template are found and written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct JsonPathOptions {
    /// The results of each path are a list in JSON (`-o jsonpath-as-json`).
    pub as_json: bool,
    /// A field that is not there is nothing, and no error (`--allow-missing-template-keys`).
    pub allow_missing_keys: bool,
}

/// What is wrong with a template, or with a document that it is about: kubectl's words.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum JsonPathError {
    /// It cannot be read.
    #[error("error parsing jsonpath {template}, {why}")]
    Parsing {
        /// As written.
        template: String,
        /// What is wrong.
        why: String,
    },
    /// It does not fit.
    #[error("error executing jsonpath {template:?}: Error executing template: {why}")]
    Executing {
        /// As written.
        template: String,
        /// What is wrong.
        why: String,
    },
}

/// The parts of a template, as in client-go.
#[derive(Debug, Clone, PartialEq)]
enum Node {
    /// Text, outside of braces or quoted.
    Text(String),
    /// The content of braces.
    List(Vec<Self>),
    /// `range`, `end`, or a word that means nothing.
    Identifier(String),
    /// `.name`
    Field(String),
    /// `.*`
    Wildcard,
    /// `..`
    Recursive,
    /// `[1]` and `[1:3:2]`
    Array(Array),
    /// `['a','b']` and `[0,2]`
    Union(Vec<Vec<Self>>),
    /// `[?(@.a=="b")]`
    Filter(Filter),
    /// A bare number or boolean.
    Value(Value),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Array {
    from: Option<i64>,
    to: Option<i64>,
    /// One item was asked for.
    is_one: bool,
    step: Option<i64>,
}

#[derive(Debug, Clone, PartialEq)]
struct Filter {
    left: Vec<Node>,
    /// The sign and the right side; without them it asks whether the left one exists.
    compared: Option<(String, Vec<Node>)>,
}

impl JsonPath {
    /// Reads a template.
    ///
    /// # Errors
    /// [`JsonPathError::Parsing`].
    pub fn parse(template: &str, options: JsonPathOptions) -> Result<Self, JsonPathError> {
        let nodes =
            parse::template(template).map_err(|why| JsonPathError::Parsing { template: template.to_owned(), why })?;
        Ok(Self { text: template.to_owned(), nodes, options })
    }

    /// Writes what it says of a document.
    ///
    /// # Errors
    /// [`JsonPathError::Executing`].
    pub fn of(&self, document: &Value) -> Result<String, JsonPathError> {
        let found = walk::results(&self.nodes, document, self.options.allow_missing_keys);
        let found = found.map_err(|why| JsonPathError::Executing { template: self.text.clone(), why })?;
        let written = found.iter().map(|results| if self.options.as_json { list(results) } else { texts(results) });
        Ok(written.collect())
    }
}

fn texts(results: &[Cow<'_, Value>]) -> String {
    results.iter().map(|found| text(found, matches!(found, Cow::Owned(_)))).collect::<Vec<_>>().join(" ")
}

/// Returns a result as text. What a terminal would act on is shown as an escape, but for line breaks and tabs, and but for
/// what the template itself says.
fn text(value: &Value, is_of_the_template: bool) -> String {
    let harmless = |line: &str| line.split('\t').map(|cell| escape::line(cell, true)).collect::<Vec<_>>().join("\t");
    match value {
        Value::String(text) if is_of_the_template => text.clone(),
        Value::String(text) => text.split('\n').map(harmless).collect::<Vec<_>>().join("\n"),
        Value::Number(number) => go::number(number),
        Value::Null | Value::Bool(_) | Value::Array(_) | Value::Object(_) => json(&value.to_string()),
    }
}

/// Writes results as a list, with kubectl's indentation.
fn list(results: &[Cow<'_, Value>]) -> String {
    let mut text = Vec::new();
    let formatter = serde_json::ser::PrettyFormatter::with_indent(b"    ");
    let mut writer = serde_json::Serializer::with_formatter(&mut text, formatter);
    // Writing JSON to memory does not fail.
    drop(serde::Serialize::serialize(results, &mut writer));
    format!("{}\n", json(&String::from_utf8_lossy(&text)))
}

fn json(text: &str) -> String {
    escape::json(&go::json(text))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    const OPTIONS: JsonPathOptions = JsonPathOptions { as_json: false, allow_missing_keys: true };

    /// Each line has a template, and what kubectl 1.36.3 makes of it for the document of the first line.
    const VECTORS: &str = include_str!("../../../tests/vectors/jsonpath.jsonl");

    #[test]
    fn templates_write_what_kubectl_writes() {
        let mut lines = VECTORS.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
        let document = lines.next().unwrap()["document"].clone();
        let mut differing = Vec::new();
        for vector in lines {
            let options = JsonPathOptions {
                as_json: vector["asJson"] == true,
                allow_missing_keys: vector["allowMissingKeys"] != false,
            };
            let template = vector["template"].as_str().unwrap();
            let found = JsonPath::parse(template, options).and_then(|path| path.of(&document));
            let found = match &found {
                Ok(text) => json!({"out": text}),
                Err(JsonPathError::Parsing { why, .. } | JsonPathError::Executing { why, .. }) => json!({"error": why}),
            };
            let expected =
                ["out", "error"].into_iter().find_map(|key| vector.get(key).map(|reported| json!({key: reported})));
            if Some(&found) != expected.as_ref() {
                differing.push(format!("{template}: {found}, kubectl {expected:?}"));
            }
        }
        assert_eq!(differing, [""; 0]);
    }

    #[test]
    fn what_a_terminal_would_act_on_is_shown_and_what_the_template_says_is_not_touched() {
        let document = json!({"image": "a\u{1b}[31m\tb\nc", "list": ["\u{1b}"]});
        for (template, expected) in [
            ("{.image}", "a^[[31m\tb\nc"),
            ("{.list}", "[\"\\u001b\"]"),
            ("{\"\\u001b[1m\"}{.image}", "\u{1b}[1ma^[[31m\tb\nc"),
        ] {
            let text = JsonPath::parse(template, OPTIONS).and_then(|path| path.of(&document));
            assert_eq!(text.as_deref(), Ok(expected), "{template}");
        }
    }

    #[test]
    fn what_is_wrong_is_said_with_the_template() {
        let reported = |template: &str| JsonPath::parse(template, OPTIONS).and_then(|path| path.of(&json!({"a": []})));
        let parsing = "error parsing jsonpath {.a[, unterminated array";
        assert_eq!(reported("{.a[").unwrap_err().to_string(), parsing);
        let executing = r#"error executing jsonpath "{.a[1]}": Error executing template: array index out of bounds: index 1, length 0"#;
        assert_eq!(reported("{.a[1]}").unwrap_err().to_string(), executing);
        let deep = "{range}".repeat(40);
        assert!(reported(&deep).unwrap_err().to_string().ends_with("ranges are nested more than 16 deep"));
    }

    #[test]
    fn nothing_that_is_typed_is_a_panic() {
        let document = json!({"items": [{"name": "a", "é": null}]});
        let pieces = [
            "{", "}", ".", "..", "[", "]", "?(", ")", "@", "$", "*", "'", "\"", "\\", "\\u", "range ", "end", "é", "1",
            ":", ",", "==", "-",
        ];
        for a in pieces {
            for b in pieces {
                for c in pieces {
                    for template in [format!("{{{a}{b}{c}"), format!("{{.items[{a}{b}{c}]}}"), format!("{a}{b}{c}")] {
                        drop(JsonPath::parse(&template, OPTIONS).and_then(|path| path.of(&document)));
                    }
                }
            }
        }
    }
}
