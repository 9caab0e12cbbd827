//! Go's `json.Marshal` of the API's structs, driven by the tables of [`super::fields`].
//!
//! Promise: field order, `omitempty`, sorted maps and escaping of strings as Go does them. Not a general JSON writer.

use std::fmt::Write as _;

use serde_json::Value;

use super::fields::{Field, Presence, Shape};
use crate::value::kubelet_version::KubeletVersion;

/// Writes JSON as one kubelet's build of Go does.
#[derive(Debug, Clone, Copy)]
pub(super) struct GoJson {
    /// The kubelet's minor version: which fields it knows.
    minor: u32,
    /// Go 1.22 began to write backspace and form feed as `\b` and `\f`.
    short_escapes: bool,
}

impl GoJson {
    /// Returns the writer of a kubelet before 1.31.
    pub(super) fn of_kubelet(kubelet: KubeletVersion) -> Self {
        // Assumption: 1.30 is the first minor built with Go 1.22. Late patch releases of 1.27 to 1.29 moved to it too;
        // only a backspace or form feed inside a string would show it.
        Self { minor: kubelet.minor(), short_escapes: kubelet.at_least(1, 30) }
    }

    /// Returns the writer that knows every field.
    pub(super) fn newest() -> Self {
        Self { minor: u32::MAX, short_escapes: true }
    }

    /// Returns a struct as JSON; an absent one is its zero value.
    pub(super) fn object(self, fields: &[Field], value: Option<&Value>) -> String {
        let mut out = String::new();
        self.write_object(&mut out, fields, value);
        out
    }

    fn write_object(self, out: &mut String, fields: &[Field], value: Option<&Value>) {
        let mut separator = '{';
        for field in fields.iter().filter(|field| field.since <= self.minor) {
            let given = value.and_then(|value| value.get(field.name)).filter(|given| field.shape.fits(given));
            let null = match (field.presence, given) {
                (Presence::Always, _) | (Presence::Given | Presence::Nullable, Some(_)) => false,
                (Presence::NonZero, Some(given)) if !is_zero(given) => false,
                (Presence::Nullable, None) => true,
                (Presence::NonZero, _) | (Presence::Given, None) => continue,
            };
            out.push(separator);
            separator = ',';
            self.write_string(out, field.name);
            out.push(':');
            if null {
                out.push_str("null");
            } else {
                self.write(out, &field.shape, given);
            }
        }
        if separator == '{' {
            out.push('{');
        }
        out.push('}');
    }

    fn write(self, out: &mut String, shape: &Shape, value: Option<&Value>) {
        match shape {
            Shape::Text => self.write_string(out, value.and_then(Value::as_str).unwrap_or_default()),
            Shape::Boolean => {
                out.push_str(if value.and_then(Value::as_bool).unwrap_or_default() { "true" } else { "false" });
            }
            Shape::Integer => write_integer(out, value),
            Shape::IntOrString => match value.and_then(Value::as_str) {
                Some(text) => self.write_string(out, text),
                None => write_integer(out, value),
            },
            Shape::Quantity => self.write_string(out, value.and_then(Value::as_str).unwrap_or("0")),
            Shape::Object(fields) => self.write_object(out, fields, value),
            Shape::List(element) => {
                let mut separator = '[';
                for value in value.and_then(Value::as_array).into_iter().flatten() {
                    out.push(separator);
                    separator = ',';
                    self.write(out, element, Some(value).filter(|value| element.fits(value)));
                }
                out.push_str(if separator == '[' { "[]" } else { "]" });
            }
            Shape::Quantities => self.write_quantities(out, value),
        }
    }

    /// Writes a `ResourceList`: Go sorts the keys of a map by their bytes.
    fn write_quantities(self, out: &mut String, value: Option<&Value>) {
        let mut quantities: Vec<_> = value.and_then(Value::as_object).into_iter().flatten().collect();
        quantities.sort_unstable_by_key(|(name, _)| *name);
        let mut separator = '{';
        for (name, quantity) in quantities {
            out.push(separator);
            separator = ',';
            self.write_string(out, name);
            out.push(':');
            self.write(out, &Shape::Quantity, Some(quantity));
        }
        out.push_str(if separator == '{' { "{}" } else { "}" });
    }

    /// Writes a string as `encoding/json` does with its default HTML escaping.
    fn write_string(self, out: &mut String, text: &str) {
        out.push('"');
        for c in text.chars() {
            match c {
                '"' => out.push_str("\\\""),
                '\\' => out.push_str("\\\\"),
                '\n' => out.push_str("\\n"),
                '\r' => out.push_str("\\r"),
                '\t' => out.push_str("\\t"),
                '\u{8}' if self.short_escapes => out.push_str("\\b"),
                '\u{c}' if self.short_escapes => out.push_str("\\f"),
                '\0'..='\u{1f}' | '<' | '>' | '&' | '\u{2028}' | '\u{2029}' => {
                    // Writing to a String cannot fail.
                    let _ = write!(out, "\\u{:04x}", u32::from(c));
                }
                c => out.push(c),
            }
        }
        out.push('"');
    }
}

fn write_integer(out: &mut String, value: Option<&Value>) {
    let _ = write!(out, "{}", value.and_then(Value::as_i64).unwrap_or_default());
}

/// Says whether Go's `omitempty` leaves the value out, if it is no pointer. Structs are never empty to Go.
fn is_zero(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::Bool(given) => !given,
        Value::Number(number) => number.as_i64() == Some(0),
        Value::String(text) => text.is_empty(),
        Value::Array(list) => list.is_empty(),
        Value::Object(map) => map.is_empty(),
    }
}
