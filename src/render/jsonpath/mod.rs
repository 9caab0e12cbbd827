//! `-o jsonpath=TEMPLATE`: kubectl's dialect (client-go `util/jsonpath`), over a document of this program's.
//!
//! Text stands for itself. In braces stand a path, a quoted text, or `range PATH` with what is written for each result up to
//! `end`. The results of a path are joined by blanks; what is not there is nothing, as in `kubectl get`. Unlike kubectl the
//! fields of an object come in the document's order.

mod parse;

use serde_json::{Number, Value};

use super::escape;

/// A template that was understood.
#[derive(Debug, Clone, PartialEq)]
pub struct JsonPath {
    text: String,
    parts: Vec<Part>,
    as_json: bool,
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
    #[error("error executing jsonpath {template:?}: {why}")]
    Executing {
        /// As written.
        template: String,
        /// What is wrong.
        why: String,
    },
}

/// A part of a template.
#[derive(Debug, Clone, PartialEq)]
enum Part {
    Text(String),
    Path(Vec<Step>),
    Range(Vec<Step>, Vec<Self>),
}

/// A step of a path.
#[derive(Debug, Clone, PartialEq)]
enum Step {
    /// `.name`
    Field(String),
    /// `.*` and `[*]`
    All,
    /// `..`
    Descend,
    /// `[1]` and `[1:3:2]`
    Slice(Slice),
    /// `['a','b']` and `[0,2]`
    Union(Vec<Self>),
    /// `[?(@.a=="b")]`
    Filter(Filter),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Slice {
    One(i64),
    Part { from: Option<i64>, to: Option<i64>, step: Option<i64> },
}

#[derive(Debug, Clone, PartialEq)]
struct Filter {
    left: Operand,
    /// Without one it asks whether the left one is there.
    compared: Option<(Comparison, Operand)>,
}

#[derive(Debug, Clone, PartialEq)]
enum Operand {
    Path(Vec<Step>),
    Value(Value),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Comparison {
    Equal,
    NotEqual,
    Less,
    AtMost,
    More,
    AtLeast,
}

impl JsonPath {
    /// Reads a template; `as_json` writes the results of each path as a list.
    ///
    /// # Errors
    /// [`JsonPathError::Parsing`].
    pub fn parse(template: &str, as_json: bool) -> Result<Self, JsonPathError> {
        let parts =
            parse::template(template).map_err(|why| JsonPathError::Parsing { template: template.to_owned(), why })?;
        Ok(Self { text: template.to_owned(), parts, as_json })
    }

    /// Writes what it says of a document.
    ///
    /// # Errors
    /// [`JsonPathError::Executing`].
    pub fn of(&self, document: &Value) -> Result<String, JsonPathError> {
        let mut out = String::new();
        self.write(&self.parts, document, &mut out)
            .map_err(|why| JsonPathError::Executing { template: self.text.clone(), why })?;
        Ok(out)
    }

    fn write(&self, parts: &[Part], value: &Value, out: &mut String) -> Result<(), String> {
        for part in parts {
            match part {
                Part::Text(text) => out.push_str(text),
                Part::Range(path, body) => {
                    for found in walk(path, value)? {
                        self.write(body, found, out)?;
                    }
                }
                Part::Path(path) if self.as_json => {
                    let found = walk(path, value)?;
                    let text = serde_json::to_string_pretty(&found).map_err(|error| error.to_string())?;
                    out.push_str(&escape::json(&text));
                    out.push('\n');
                }
                Part::Path(path) => {
                    let texts = walk(path, value)?.into_iter().map(text);
                    out.push_str(&texts.collect::<Vec<_>>().join(" "));
                }
            }
        }
        Ok(())
    }
}

/// Returns a result as text: what a terminal would act on is shown as an escape, but for line breaks and tabs.
fn text(value: &Value) -> String {
    let harmless = |line: &str| line.split('\t').map(|cell| escape::line(cell, true)).collect::<Vec<_>>().join("\t");
    match value {
        Value::String(text) => text.split('\n').map(harmless).collect::<Vec<_>>().join("\n"),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::Array(_) | Value::Object(_) => {
            escape::json(&value.to_string())
        }
    }
}

/// Returns what a path leads to.
fn walk<'v>(path: &[Step], value: &'v Value) -> Result<Vec<&'v Value>, String> {
    path.iter().try_fold(vec![value], |values, step| take(step, values))
}

fn take<'v>(step: &Step, values: Vec<&'v Value>) -> Result<Vec<&'v Value>, String> {
    let mut found = Vec::new();
    match step {
        Step::Field(name) => found.extend(values.into_iter().filter_map(|value| value.get(name))),
        Step::All => found.extend(values.into_iter().flat_map(children)),
        Step::Descend => values.into_iter().for_each(|value| descend(value, &mut found)),
        Step::Union(steps) => {
            for step in steps {
                found.extend(take(step, values.clone())?);
            }
        }
        Step::Slice(slice) => {
            for value in values.into_iter().filter(|value| !value.is_null()) {
                let items = value.as_array().ok_or_else(|| format!("{} is not array or slice", kind(value)))?;
                found.extend(sliced(items, *slice)?);
            }
        }
        Step::Filter(filter) => {
            for value in values {
                if !value.is_array() && !value.is_object() {
                    return Err(format!("{} is not array or slice and cannot be filtered", kind(value)));
                }
                for child in children(value) {
                    if passes(filter, child)? {
                        found.push(child);
                    }
                }
            }
        }
    }
    Ok(found)
}

fn kind(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "bool",
        Value::Number(_) => "number",
        Value::String(_) => "string",
        Value::Array(_) => "array",
        Value::Object(_) => "map",
    }
}

fn children(value: &Value) -> Vec<&Value> {
    match value {
        Value::Array(items) => items.iter().collect(),
        Value::Object(fields) => fields.values().collect(),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => Vec::new(),
    }
}

fn descend<'v>(value: &'v Value, found: &mut Vec<&'v Value>) {
    let children = children(value);
    if !children.is_empty() {
        found.push(value);
        children.into_iter().for_each(|child| descend(child, found));
    }
}

/// Returns a part of a list; what is outside of it is an error, as in client-go.
fn sliced(items: &[Value], slice: Slice) -> Result<Vec<&Value>, String> {
    let length = i64::try_from(items.len()).unwrap_or(i64::MAX);
    let counted = |index: i64| if index < 0 { index.saturating_add(length) } else { index };
    let (from, to, step) = match slice {
        Slice::One(index) => (counted(index), counted(index).saturating_add(1), 1),
        Slice::Part { from, to, step } => (counted(from.unwrap_or(0)), to.map_or(length, counted), step.unwrap_or(1)),
    };
    if from == to {
        return Ok(Vec::new());
    }
    let outside = |index: i64| format!("array index out of bounds: index {index}, length {length}");
    if from < 0 || from >= length {
        return Err(outside(from));
    }
    if to < 0 || to > length {
        return Err(outside(to - 1));
    }
    if from > to {
        return Err(format!("starting index {from} is greater than ending index {to}"));
    }
    let step = usize::try_from(step).ok().filter(|step| *step > 0).ok_or("step must be > 0")?;
    let range = usize::try_from(from).unwrap_or(0)..usize::try_from(to).unwrap_or(0);
    Ok(items.get(range).unwrap_or_default().iter().step_by(step).collect())
}

fn passes(filter: &Filter, item: &Value) -> Result<bool, String> {
    let Some((comparison, right)) = &filter.compared else {
        return Ok(match &filter.left {
            Operand::Path(path) => !walk(path, item)?.is_empty(),
            Operand::Value(_) => true,
        });
    };
    let (Some(left), Some(right)) = (one(&filter.left, item)?, one(right, item)?) else { return Ok(false) };
    let order = match (left, right) {
        (Value::String(left), Value::String(right)) => left.cmp(right),
        (Value::Bool(left), Value::Bool(right)) => left.cmp(right),
        (Value::Number(left), Value::Number(right)) => {
            let number = |number: &Number| number.as_f64().unwrap_or(f64::NAN);
            number(left).total_cmp(&number(right))
        }
        _ => return Err("incompatible types for comparison".to_owned()),
    };
    Ok(match comparison {
        Comparison::Equal => order.is_eq(),
        Comparison::NotEqual => order.is_ne(),
        Comparison::Less => order.is_lt(),
        Comparison::AtMost => order.is_le(),
        Comparison::More => order.is_gt(),
        Comparison::AtLeast => order.is_ge(),
    })
}

fn one<'v>(operand: &'v Operand, item: &'v Value) -> Result<Option<&'v Value>, String> {
    match operand {
        Operand::Value(value) => Ok(Some(value)),
        Operand::Path(path) => match walk(path, item)?[..] {
            [] => Ok(None),
            [value] => Ok(Some(value)),
            _ => Err("can only compare one element at a time".to_owned()),
        },
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn document() -> Value {
        json!({"kind": "List", "empty": null, "items": [
            {"name": "web-0", "ready": true, "restarts": 3, "labels": {"app.kubernetes.io/name": "web"}},
            {"name": "web-1", "ready": false, "restarts": 0, "labels": {}},
            {"name": "db-0", "ready": true, "restarts": 12, "node": "a b", "labels": {"x": "y"}}]})
    }

    fn of(template: &str) -> Result<String, JsonPathError> {
        JsonPath::parse(template, false)?.of(&document())
    }

    #[test]
    fn templates_write_what_kubectl_writes() {
        for (template, expected) in [
            ("", ""),
            ("plain .kind", "plain .kind"),
            ("{.kind}", "List"),
            ("{ .kind }", "List"),
            ("{$.kind}{\"\\n\"}", "List\n"),
            ("{['kind']}", "List"),
            ("{.items[*].name}", "web-0 web-1 db-0"),
            ("{.items[0].name}", "web-0"),
            ("{.items[-1].name}", "db-0"),
            ("{.items[0:2].name}", "web-0 web-1"),
            ("{.items[::2].name}", "web-0 db-0"),
            ("{.items[1:].name}", "web-1 db-0"),
            ("{.items[0,2].name}", "web-0 db-0"),
            ("{.items[*]['name','restarts']}", "web-0 web-1 db-0 3 0 12"),
            ("{.items[0].labels.app\\.kubernetes\\.io/name}", "web"),
            ("{.items[0].labels['app.kubernetes.io/name']}", "web"),
            ("{..name}", "web-0 web-1 db-0"),
            ("{.items[?(@.name==\"web-1\")].restarts}", "0"),
            ("{.items[?(@.name=='web-1')].restarts}", "0"),
            ("{.items[?(@.name != 'web-1')].name}", "web-0 db-0"),
            ("{.items[?(@.restarts>2)].name}", "web-0 db-0"),
            ("{.items[?(@.restarts<=3)].name}", "web-0 web-1"),
            ("{.items[?(@.restarts >= 12)].name}", "db-0"),
            ("{.items[?(@.ready==true)].name}", "web-0 db-0"),
            ("{.items[?(@.node)].name}", "db-0"),
            ("{.items[?(@.labels['x']==\"y\")].name}", "db-0"),
            ("{range .items[*]}{.name}={.restarts}{'\\t'}{end}!", "web-0=3\tweb-1=0\tdb-0=12\t!"),
            ("{range .items[?(@.ready==true)]}[{.name}]{end}", "[web-0][db-0]"),
            ("{range .items[*]}{range .labels.*}<{@}>{end}{.name} {end}", "<web>web-0 web-1 <y>db-0 "),
            ("{.items[2].labels}", "{\"x\":\"y\"}"),
            ("{.missing.field}{.items[*].node}", "a b"),
            ("{.empty}", "null"),
            ("{.items[1:1].name}", ""),
        ] {
            assert_eq!(of(template).as_deref(), Ok(expected), "{template}");
        }
        let as_json = JsonPath::parse("{.items[*].restarts}", true).and_then(|path| path.of(&document()));
        assert_eq!(as_json.as_deref(), Ok("[\n  3,\n  0,\n  12\n]\n"));
    }

    #[test]
    fn what_is_wrong_is_said_in_kubectls_words() {
        for (template, expected) in [
            ("{.items[", "unterminated array"),
            ("{.kind", "unclosed action"),
            ("{\"text}", "unterminated quoted string"),
            ("{range .items[*]}{.name}", "not in range, no end"),
            ("{end}", "not in range, nothing to end"),
            ("{kind}", "unrecognized identifier kind"),
            ("{.items[?(@.name==)]}", "invalid filter"),
            ("{.items[x]}", "invalid array index x"),
            ("{.items[9]}", "array index out of bounds: index 9, length 3"),
            ("{.items[0:9]}", "array index out of bounds: index 8, length 3"),
            ("{.kind[0]}", "string is not array or slice"),
            ("{.items[?(@.name>3)]}", "incompatible types for comparison"),
        ] {
            let told = of(template).unwrap_err().to_string();
            assert!(told.contains(expected) && told.contains("jsonpath"), "{template}: {told}");
        }
    }

    #[test]
    fn nothing_that_is_typed_is_a_panic() {
        let pieces = [
            "{", "}", ".", "..", "[", "]", "?(", ")", "@", "$", "*", "'", "\"", "\\", "range ", "end", "é", "1", ":",
            ",", "==",
        ];
        for a in pieces {
            for b in pieces {
                for c in pieces {
                    for template in [format!("{{{a}{b}{c}"), format!("{{.items[{a}{b}{c}]}}"), format!("{a}{b}{c}")] {
                        drop(of(&template));
                    }
                }
            }
        }
    }
}
