//! Label and field selectors, as the query of a list or a watch gives them.

use serde_json::Value;

/// A parsed pair of selectors; an empty one matches everything.
#[derive(Debug, Clone, Default)]
pub struct Selector {
    labels: Vec<Requirement>,
    fields: Vec<(String, bool, String)>,
}

#[derive(Debug, Clone)]
enum Requirement {
    In(String, Vec<String>),
    NotIn(String, Vec<String>),
    Exists(String),
    Absent(String),
}

impl Selector {
    /// Reads both selectors; the error is the sentence of a 400.
    pub fn parse(labels: &str, fields: &str) -> Result<Self, String> {
        let labels = split(labels).iter().map(|term| requirement(term)).collect::<Result<_, _>>()?;
        let fields = split(fields).iter().map(|term| field(term)).collect::<Result<_, _>>()?;
        Ok(Self { labels, fields })
    }

    /// Tells whether an object is selected.
    pub fn matches(&self, object: &Value) -> bool {
        let label = |key: &str| object.pointer("/metadata/labels").and_then(|labels| labels.get(key)?.as_str());
        let labels = self.labels.iter().all(|requirement| match requirement {
            Requirement::In(key, values) => label(key).is_some_and(|value| values.iter().any(|one| one == value)),
            Requirement::NotIn(key, values) => label(key).is_none_or(|value| values.iter().all(|one| one != value)),
            Requirement::Exists(key) => label(key).is_some(),
            Requirement::Absent(key) => label(key).is_none(),
        });
        labels
            && self.fields.iter().all(|(path, wanted, value)| {
                let found = object.pointer(&format!("/{}", path.replace('.', "/")));
                (found.and_then(Value::as_str).unwrap_or_default() == value) == *wanted
            })
    }
}

/// Splits at commas outside of parentheses.
fn split(text: &str) -> Vec<String> {
    let mut terms = vec![String::new()];
    let mut depth = 0_i32;
    for letter in text.chars() {
        match letter {
            '(' => depth += 1,
            ')' => depth -= 1,
            _ => {}
        }
        if letter == ',' && depth == 0 {
            terms.push(String::new());
        } else if let Some(last) = terms.last_mut() {
            last.push(letter);
        }
    }
    terms.iter().map(|term| term.trim().to_owned()).filter(|term| !term.is_empty()).collect()
}

fn requirement(term: &str) -> Result<Requirement, String> {
    let one = |key: &str, value: &str| (key.trim().to_owned(), vec![value.trim().to_owned()]);
    if let Some((key, value)) = term.split_once("!=") {
        let (key, values) = one(key, value);
        return Ok(Requirement::NotIn(key, values));
    }
    if let Some((key, value)) = term.split_once("==").or_else(|| term.split_once('=')) {
        let (key, values) = one(key, value);
        return Ok(Requirement::In(key, values));
    }
    if let Some((head, set)) = term.strip_suffix(')').and_then(|rest| rest.split_once('(')) {
        let values = set.split(',').map(|value| value.trim().to_owned()).collect();
        return match head.split_whitespace().collect::<Vec<_>>().as_slice() {
            [key, "in"] => Ok(Requirement::In((*key).to_owned(), values)),
            [key, "notin"] => Ok(Requirement::NotIn((*key).to_owned(), values)),
            _ => Err(format!("unable to parse requirement: {term}")),
        };
    }
    if term.contains(char::is_whitespace) {
        return Err(format!("unable to parse requirement: {term}"));
    }
    Ok(match term.strip_prefix('!') {
        Some(key) => Requirement::Absent(key.to_owned()),
        None => Requirement::Exists(term.to_owned()),
    })
}

fn field(term: &str) -> Result<(String, bool, String), String> {
    let (path, wanted, value) = if let Some((path, value)) = term.split_once("!=") {
        (path, false, value)
    } else if let Some((path, value)) = term.split_once("==").or_else(|| term.split_once('=')) {
        (path, true, value)
    } else {
        return Err(format!("invalid selector: '{term}'; can't understand '{term}'"));
    };
    let known = ["metadata.", "spec.", "status.", "involvedObject.", "reason", "type"];
    if !known.iter().any(|prefix| path.starts_with(prefix)) {
        return Err(format!("field label not supported: {path}"));
    }
    Ok((path.to_owned(), wanted, value.to_owned()))
}
