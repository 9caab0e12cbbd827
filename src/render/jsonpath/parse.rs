//! From a template's text to its parts.

use serde_json::Value;

use super::{Comparison, Filter, Operand, Part, Slice, Step};

/// What a brace holds.
enum Action {
    Text(String),
    Path(Vec<Step>),
    Range(Vec<Step>),
    End,
}

pub(super) fn template(text: &str) -> Result<Vec<Part>, String> {
    // What is written within each range that has begun, with the range's path; the outermost has none.
    let mut open: Vec<(Vec<Step>, Vec<Part>)> = Vec::new();
    let mut parts = Vec::new();
    let mut rest = text;
    while let Some(at) = rest.find('{') {
        let (before, inside) = rest.split_at(at);
        if !before.is_empty() {
            parts.push(Part::Text(before.to_owned()));
        }
        let mut reader = Reader { rest: inside.strip_prefix('{').unwrap_or_default() };
        let action = reader.action()?;
        rest = reader.rest;
        match action {
            Action::Text(text) => parts.push(Part::Text(text)),
            Action::Path(path) => parts.push(Part::Path(path)),
            Action::Range(path) => open.push((path, std::mem::take(&mut parts))),
            Action::End => {
                let (path, outer) = open.pop().ok_or("not in range, nothing to end")?;
                let body = std::mem::replace(&mut parts, outer);
                parts.push(Part::Range(path, body));
            }
        }
    }
    if !rest.is_empty() {
        parts.push(Part::Text(rest.to_owned()));
    }
    if open.is_empty() { Ok(parts) } else { Err("not in range, no end".to_owned()) }
}

/// What is left to read.
struct Reader<'t> {
    rest: &'t str,
}

impl<'t> Reader<'t> {
    fn blanks(&mut self) {
        self.rest = self.rest.trim_start();
    }

    fn takes(&mut self, prefix: &str) -> bool {
        let rest = self.rest.strip_prefix(prefix);
        self.rest = rest.unwrap_or(self.rest);
        rest.is_some()
    }

    /// Takes what comes before one of these characters.
    fn until(&mut self, is_end: impl Fn(char) -> bool) -> &'t str {
        let at = self.rest.find(is_end).unwrap_or(self.rest.len());
        let (taken, rest) = self.rest.split_at(at);
        self.rest = rest;
        taken
    }

    /// Reads up to the closing brace.
    fn action(&mut self) -> Result<Action, String> {
        self.blanks();
        let action = match self.rest.chars().next() {
            None => return Err("unclosed action".to_owned()),
            Some('"' | '\'') => Action::Text(self.quoted()?),
            Some(c) if c.is_alphabetic() => match self.until(|c| !c.is_alphanumeric() && c != '_') {
                "range" => {
                    self.blanks();
                    Action::Range(self.path()?)
                }
                "end" => Action::End,
                other => return Err(format!("unrecognized identifier {other}")),
            },
            Some(_) => Action::Path(self.path()?),
        };
        self.blanks();
        match (self.takes("}"), self.rest.chars().next()) {
            (true, _) => Ok(action),
            (false, None) => Err("unclosed action".to_owned()),
            (false, Some(other)) => Err(format!("unexpected {other:?} in an action")),
        }
    }

    /// Reads a text in single or double quotes, as Go writes it.
    fn quoted(&mut self) -> Result<String, String> {
        let mut text = String::new();
        let mut letters = self.rest.char_indices();
        let quote = letters.next().map(|(_, quote)| quote);
        while let Some((at, letter)) = letters.next() {
            match letter {
                _ if Some(letter) == quote => {
                    self.rest = self.rest.get(at + letter.len_utf8()..).unwrap_or_default();
                    return Ok(text);
                }
                '\\' => match letters.next() {
                    Some((_, 'n')) => text.push('\n'),
                    Some((_, 't')) => text.push('\t'),
                    Some((_, 'r')) => text.push('\r'),
                    Some((_, other @ ('\\' | '"' | '\''))) => text.push(other),
                    Some((_, other)) => return Err(format!("invalid escape \\{other}")),
                    None => break,
                },
                letter => text.push(letter),
            }
        }
        Err("unterminated quoted string".to_owned())
    }

    /// Reads steps for as long as there are any. The root and the current object are the same: client-go takes each object of
    /// a range for a document of its own.
    fn path(&mut self) -> Result<Vec<Step>, String> {
        let mut steps = Vec::new();
        let begins = self.takes("$") || self.takes("@");
        loop {
            if self.takes("..") {
                steps.push(Step::Descend);
                if !self.rest.starts_with('[') {
                    steps.push(self.field()?);
                }
            } else if self.takes("[") {
                steps.push(self.brackets()?);
            } else if self.takes(".") {
                // `.` alone is the object.
                let is_alone = self.rest.starts_with(['}', '[', ' ', ')']) || self.rest.is_empty();
                if !is_alone {
                    steps.push(self.field()?);
                } else if !begins && self.rest.is_empty() {
                    return Err("unclosed action".to_owned());
                }
            } else {
                return Ok(steps);
            }
        }
    }

    fn field(&mut self) -> Result<Step, String> {
        if self.takes("*") {
            return Ok(Step::All);
        }
        let mut name = String::new();
        let mut letters = self.rest.char_indices();
        let mut end = self.rest.len();
        while let Some((at, letter)) = letters.next() {
            match letter {
                '\\' => name.extend(letters.next().map(|(_, escaped)| escaped)),
                '.' | ',' | '[' | ']' | '$' | '@' | '{' | '}' | '(' | ')' | '=' | '!' | '<' | '>' => {
                    end = at;
                    break;
                }
                letter if letter.is_whitespace() => {
                    end = at;
                    break;
                }
                letter => name.push(letter),
            }
        }
        self.rest = self.rest.get(end..).unwrap_or_default();
        if name.is_empty() { Err("a field without a name".to_owned()) } else { Ok(Step::Field(name)) }
    }

    /// Reads what stands in brackets, and the closing one.
    fn brackets(&mut self) -> Result<Step, String> {
        self.blanks();
        if self.takes("?(") {
            let filter = self.filter()?;
            self.blanks();
            return if self.takes("]") { Ok(Step::Filter(filter)) } else { Err("unterminated array".to_owned()) };
        }
        let mut steps = Vec::new();
        loop {
            self.blanks();
            let step = match self.rest.chars().next() {
                Some('\'' | '"') => Step::Field(self.quoted()?),
                Some(_) => {
                    let text = self.until(|c| matches!(c, ']' | ',' | '}'));
                    if !self.rest.starts_with([']', ',']) {
                        return Err("unterminated array".to_owned());
                    }
                    index(text.trim())?
                }
                None => return Err("unterminated array".to_owned()),
            };
            steps.push(step);
            self.blanks();
            if self.takes("]") {
                break;
            }
            if !self.takes(",") {
                return Err("unterminated array".to_owned());
            }
        }
        Ok(if steps.len() > 1 { Step::Union(steps) } else { steps.remove(0) })
    }

    /// Reads a filter, and the closing parenthesis.
    fn filter(&mut self) -> Result<Filter, String> {
        let left = self.operand()?;
        self.blanks();
        if self.takes(")") {
            return Ok(Filter { left, compared: None });
        }
        let comparisons = [
            ("==", Comparison::Equal),
            ("!=", Comparison::NotEqual),
            ("<=", Comparison::AtMost),
            (">=", Comparison::AtLeast),
            ("<", Comparison::Less),
            (">", Comparison::More),
        ];
        let found = comparisons.into_iter().find(|(sign, _)| self.takes(sign));
        let (_, comparison) = found.ok_or_else(|| "invalid filter: ==, !=, <, <=, > or >= is missing".to_owned())?;
        let right = self.operand()?;
        self.blanks();
        match self.takes(")") {
            true => Ok(Filter { left, compared: Some((comparison, right)) }),
            false => Err("unterminated filter".to_owned()),
        }
    }

    fn operand(&mut self) -> Result<Operand, String> {
        self.blanks();
        match self.rest.chars().next() {
            Some('\'' | '"') => Ok(Operand::Value(Value::String(self.quoted()?))),
            Some('@' | '$' | '.' | '[') => Ok(Operand::Path(self.path()?)),
            Some(_) | None => {
                let word = self.until(|c| c.is_whitespace() || matches!(c, ')' | '=' | '!' | '<' | '>' | ']'));
                let value: Option<Value> = serde_json::from_str(word).ok();
                let value = value.filter(|value| value.is_number() || value.is_boolean());
                value.map(Operand::Value).ok_or_else(|| format!("invalid filter: {word:?} is no number, text or path"))
            }
        }
    }
}

/// Reads `*`, `1`, `1:3`, `::2`.
fn index(text: &str) -> Result<Step, String> {
    if text == "*" {
        return Ok(Step::All);
    }
    let wrong = || format!("invalid array index {text}");
    let number = |part: &str| match part {
        "" => Ok(None),
        part => part.parse().map(Some).map_err(|_| wrong()),
    };
    let parts: Vec<Option<i64>> = text.split(':').map(number).collect::<Result<_, _>>()?;
    Ok(Step::Slice(match parts[..] {
        [Some(index)] => Slice::One(index),
        [from, to] => Slice::Part { from, to, step: None },
        [from, to, step] => Slice::Part { from, to, step },
        _ => return Err(wrong()),
    }))
}
