//! From a template's nodes and a document to its results, as client-go's `util/jsonpath/jsonpath.go` goes.

use std::borrow::Cow;
use std::cmp::Ordering;

use serde_json::Value;

use super::{Array, Filter, Node, go};

/// What a node leads to: a part of the document, or what the template itself says.
type Found<'v> = Vec<Cow<'v, Value>>;

/// Deeper ranges are a mistake, and would take for ever: each that has no end goes twice through what follows.
const DEEPEST: usize = 16;

/// Returns the results of each node of a template.
pub(super) fn results<'v>(
    nodes: &[Node],
    document: &'v Value,
    allow_missing_keys: bool,
) -> Result<Vec<Found<'v>>, String> {
    let mut walk = Walk { nodes, allow_missing_keys, begun: 0, within: 0, ended: 0, last_end: None };
    walk.results(0, Cow::Borrowed(document))
}

struct Walk<'t> {
    nodes: &'t [Node],
    allow_missing_keys: bool,
    /// Ranges that have begun and are not gone through yet.
    begun: usize,
    within: usize,
    ended: usize,
    /// The position of the last `end`.
    last_end: Option<usize>,
}

impl Walk<'_> {
    /// Returns the results of the nodes from one on, up to the end of the range that they are in.
    fn results<'v>(&mut self, from: usize, document: Cow<'v, Value>) -> Result<Vec<Found<'v>>, String> {
        let nodes = self.nodes;
        let current = vec![document];
        let mut results = Vec::new();
        let mut at = from;
        while let Some(node) = nodes.get(at) {
            let found = self.node(current.clone(), node)?;
            if self.ended > 0 && self.ended <= self.within {
                self.ended -= 1;
                self.last_end = Some(at);
                break;
            }
            if self.begun == 0 {
                results.push(found);
                at += 1;
                continue;
            }
            self.begun -= 1;
            self.within += 1;
            if self.within > DEEPEST {
                return Err(format!("ranges are nested more than {DEEPEST} deep"));
            }
            if found.is_empty() {
                // Gone through for its end alone.
                self.results(at + 1, Cow::Owned(Value::Null))?;
            }
            for value in found {
                results.extend(self.results(at + 1, value)?);
            }
            self.within -= 1;
            at = self.last_end.filter(|end| *end > at).unwrap_or(at) + 1;
        }
        Ok(results)
    }

    fn list<'v>(&mut self, values: Found<'v>, nodes: &[Node]) -> Result<Found<'v>, String> {
        nodes.iter().try_fold(values, |values, node| self.node(values, node))
    }

    fn node<'v>(&mut self, values: Found<'v>, node: &Node) -> Result<Found<'v>, String> {
        match node {
            Node::List(nodes) => self.list(values, nodes),
            Node::Text(text) => Ok(vec![Cow::Owned(Value::String(text.clone()))]),
            Node::Value(value) => Ok(values.iter().map(|_| Cow::Owned(value.clone())).collect()),
            Node::Identifier(word) => self.identifier(values, word),
            Node::Field(name) => self.field(&values, name),
            Node::Wildcard => Ok(values.iter().flat_map(children).collect()),
            Node::Recursive => {
                let mut found = Vec::new();
                values.into_iter().for_each(|value| descend(value, &mut found));
                Ok(found)
            }
            Node::Array(array) => sliced(&values, *array),
            Node::Union(lists) => {
                let found = lists.iter().map(|nodes| self.list(values.clone(), nodes));
                Ok(found.collect::<Result<Vec<_>, _>>()?.concat())
            }
            Node::Filter(filter) => self.filter(values, filter),
        }
    }

    fn identifier<'v>(&mut self, values: Found<'v>, word: &str) -> Result<Found<'v>, String> {
        match word {
            "range" => {
                self.begun += 1;
                Ok(values)
            }
            "end" if self.within > 0 => {
                self.ended += 1;
                Ok(Vec::new())
            }
            "end" => Err("not in range, nothing to end".to_owned()),
            other => Err(format!("unrecognized identifier {other}")),
        }
    }

    fn field<'v>(&self, values: &[Cow<'v, Value>], name: &str) -> Result<Found<'v>, String> {
        let found: Found<'v> = values.iter().filter_map(|value| part(value, |value| value.get(name))).collect();
        let is_missing = found.is_empty() && !values.is_empty() && !self.allow_missing_keys;
        if is_missing { Err(format!("{name} is not found")) } else { Ok(found) }
    }

    fn filter<'v>(&mut self, values: Found<'v>, filter: &Filter) -> Result<Found<'v>, String> {
        let mut found = Vec::new();
        for value in values {
            if !value.is_array() {
                return Err(format!("{} is not array or slice and cannot be filtered", go::shown(&value)));
            }
            for item in children(&value) {
                if self.passes(filter, &item)? {
                    found.push(item);
                }
            }
        }
        Ok(found)
    }

    fn passes(&mut self, filter: &Filter, item: &Value) -> Result<bool, String> {
        let left = self.list(vec![Cow::Borrowed(item)], &filter.left);
        let Some((sign, right)) = &filter.compared else { return Ok(left.is_ok_and(|found| !found.is_empty())) };
        let Some(left) = one(left?)? else { return Ok(false) };
        let Some(right) = one(self.list(vec![Cow::Borrowed(item)], right)?)? else { return Ok(false) };
        compared(&left, sign, &right)
    }
}

/// Returns a part of a value, which is the document's if the whole is.
fn part<'v>(whole: &Cow<'v, Value>, part: impl for<'p> Fn(&'p Value) -> Option<&'p Value>) -> Option<Cow<'v, Value>> {
    match whole {
        Cow::Borrowed(value) => part(value).map(Cow::Borrowed),
        Cow::Owned(value) => part(value).cloned().map(Cow::Owned),
    }
}

/// Returns what is in a value; to Go a text is a list of bytes.
fn children<'v>(value: &Cow<'v, Value>) -> Found<'v> {
    fn parts(value: &Value) -> Vec<&Value> {
        match value {
            Value::Array(items) => items.iter().collect(),
            Value::Object(fields) => fields.values().collect(),
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => Vec::new(),
        }
    }
    match value {
        _ if value.is_string() => {
            let bytes = value.as_str().unwrap_or_default().bytes();
            bytes.map(|byte| Cow::Owned(Value::from(byte))).collect()
        }
        Cow::Borrowed(value) => parts(value).into_iter().map(Cow::Borrowed).collect(),
        Cow::Owned(value) => parts(value).into_iter().cloned().map(Cow::Owned).collect(),
    }
}

fn descend<'v>(value: Cow<'v, Value>, found: &mut Found<'v>) {
    let children = children(&value);
    if !children.is_empty() {
        found.push(value);
        children.into_iter().for_each(|child| descend(child, found));
    }
}

/// Returns parts of lists; what is outside of one is an error.
fn sliced<'v>(values: &[Cow<'v, Value>], array: Array) -> Result<Found<'v>, String> {
    let mut found = Vec::new();
    for value in values.iter().filter(|value| !value.is_null()) {
        let items = value.as_array().ok_or_else(|| format!("{} is not array or slice", go::kind(value)))?;
        let length = i64::try_from(items.len()).unwrap_or(i64::MAX);
        let mut from = array.from.unwrap_or(0);
        let mut to = array.to.unwrap_or(length);
        if from < 0 {
            from = from.saturating_add(length);
        }
        if to < 0 || (to == 0 && array.is_one) {
            to = to.saturating_add(length);
        }
        if from == to {
            return Ok(found);
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
        let step = array.step.unwrap_or(1);
        let step = usize::try_from(step).ok().filter(|step| *step > 0).ok_or("step must be > 0")?;
        let range = usize::try_from(from).unwrap_or(0)..usize::try_from(to).unwrap_or(0);
        found.extend(range.step_by(step).filter_map(|at| part(value, |value| value.get(at))));
    }
    Ok(found)
}

fn one(found: Found<'_>) -> Result<Option<Cow<'_, Value>>, String> {
    match found.len() {
        0 | 1 => Ok(found.into_iter().next()),
        _ => Err("can only compare one element at a time".to_owned()),
    }
}

/// Compares two values; Go takes a whole number and a fraction for different types.
fn compared(left: &Value, sign: &str, right: &Value) -> Result<bool, String> {
    let passes: fn(Ordering) -> bool = match sign {
        "==" => Ordering::is_eq,
        "!=" => Ordering::is_ne,
        "<" => Ordering::is_lt,
        "<=" => Ordering::is_le,
        ">" => Ordering::is_gt,
        ">=" => Ordering::is_ge,
        other => return Err(format!("unrecognized filter operator {other}")),
    };
    let is_basic = |value: &Value| !value.is_null() && !value.is_array() && !value.is_object();
    let of_another_type = || "invalid type for comparison".to_owned();
    if !is_basic(left) || !is_basic(right) {
        return Err(of_another_type());
    }
    let order = match (left, right) {
        (Value::String(left), Value::String(right)) => left.cmp(right),
        (Value::Bool(left), Value::Bool(right)) if matches!(sign, "==" | "!=") => left.cmp(right),
        (Value::Bool(_), Value::Bool(_)) => return Err(of_another_type()),
        (Value::Number(left), Value::Number(right)) => match (left.as_i64(), right.as_i64()) {
            (Some(left), Some(right)) => left.cmp(&right),
            (None, None) => left.as_f64().partial_cmp(&right.as_f64()).unwrap_or(Ordering::Equal),
            _ => return Err("incompatible types for comparison".to_owned()),
        },
        _ => return Err("incompatible types for comparison".to_owned()),
    };
    Ok(passes(order))
}
