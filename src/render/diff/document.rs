//! An object as lines of YAML that know which field they belong to.
//!
//! Promise: read by any YAML reader, the lines are the object again. Keys and values are written by serde-saphyr, so
//! that text which looks like a number or a boolean is quoted; the layout is kubectl's, list elements at the
//! depth of their key.

use std::fmt::Write as _;

use serde::Serialize;
use serde_json::{Value, json};

use crate::render::escape;
use engine::plan::workload_diff::Step;

/// A line without its line break.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Line {
    pub(super) text: String,
    /// From the object's root to the field; all lines of a longer text share it.
    pub(super) path: Vec<Step>,
}

pub(super) fn lines(object: &Value) -> Vec<Line> {
    let mut lines = Vec::new();
    if object.is_null() {
        return lines;
    }
    value(object, 0, &mut Vec::new(), &mut lines);
    lines
}

fn value(value: &Value, indent: usize, path: &mut Vec<Step>, lines: &mut Vec<Line>) {
    match value {
        Value::Object(fields) if !fields.is_empty() => {
            for (key, field) in fields {
                path.push(Step::Key(key.clone()));
                self::field(key, field, indent, path, lines);
                path.pop();
            }
        }
        Value::Array(list) if !list.is_empty() => {
            for (index, element) in list.iter().enumerate() {
                path.push(Step::element(index, element));
                self::element(element, indent, path, lines);
                path.pop();
            }
        }
        Value::Object(_) | Value::Array(_) | Value::String(_) | Value::Number(_) | Value::Bool(_) | Value::Null => {
            written(value, indent, path, lines);
        }
    }
}

fn field(key: &str, field: &Value, indent: usize, path: &mut Vec<Step>, lines: &mut Vec<Line>) {
    let nested = match field {
        Value::Object(fields) if !fields.is_empty() => Some(indent + 2),
        Value::Array(list) if !list.is_empty() => Some(indent),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Array(_) | Value::Object(_) => None,
    };
    match nested {
        Some(deeper) => {
            lines.push(Line { text: format!("{:indent$}{}", "", before_value(key)), path: path.clone() });
            value(field, deeper, path, lines);
        }
        None => match quoted(field) {
            Some(text) => {
                let text = format!("{:indent$}{} {text}", "", before_value(key));
                lines.push(Line { text, path: path.clone() });
            }
            None => written(&json!({ key: field }), indent, path, lines),
        },
    }
}

/// The key as serde-saphyr quotes it, with a value that is removed again.
fn before_value(key: &str) -> String {
    let text = yaml(&json!({ key: 0 }));
    text.trim_end().strip_suffix('0').unwrap_or_default().trim_end().to_owned()
}

/// Quotes text that must not reach a terminal unchanged.
fn quoted(value: &Value) -> Option<String> {
    escape::yaml(value.as_str()?)
}

fn element(element: &Value, indent: usize, path: &mut Vec<Step>, lines: &mut Vec<Line>) {
    let is_nested = match element {
        Value::Object(fields) => !fields.is_empty(),
        Value::Array(list) => !list.is_empty(),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => false,
    };
    if !is_nested {
        return match quoted(element) {
            Some(text) => lines.push(Line { text: format!("{:indent$}- {text}", ""), path: path.clone() }),
            None => written(&json!([element]), indent, path, lines),
        };
    }
    let first = lines.len();
    value(element, indent + 2, path, lines);
    if let Some(line) = lines.get_mut(first) {
        let rest = line.text.get(indent + 2..).unwrap_or_default();
        line.text = format!("{:indent$}- {rest}", "");
    }
}

/// Writes what needs no layout.
fn written(value: &Value, indent: usize, path: &[Step], lines: &mut Vec<Line>) {
    for text in yaml(value).lines() {
        let indent = if text.is_empty() { 0 } else { indent };
        lines.push(Line { text: format!("{:indent$}{text}", ""), path: path.to_vec() });
    }
}

/// Long text stays on its line: a break that the diff made itself would only hide what changed.
fn yaml(value: &impl Serialize) -> String {
    let options = serde_saphyr::ser_options! { folded_wrap_chars: usize::MAX };
    let mut text = String::new();
    if serde_saphyr::to_fmt_writer_with_options(&mut text, value, options).is_err() {
        // Every JSON value is valid YAML; only a key's place in the layout is lost.
        text.clear();
        let _ = write!(text, "{}", serde_json::to_string(value).unwrap_or_default());
    }
    text
}
