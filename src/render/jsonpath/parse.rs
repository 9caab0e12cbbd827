//! From a template's text to its nodes, as client-go's `util/jsonpath/parser.go` goes through it, so that what reads oddly
//! there (`[]` is the first item, text after `{.}` is text) reads the same here.

use serde_json::{Number, Value};

use super::go;
use super::{Array, Filter, Node};

/// Reads a whole template: text, and a list of nodes for each pair of braces.
pub(super) fn template(text: &str) -> Result<Vec<Node>, String> {
    let mut nodes = Vec::new();
    let mut parser = Parser { input: text, at: 0, start: 0 };
    loop {
        let Some(length) = parser.rest().find('{') else {
            let last = parser.rest();
            if !last.is_empty() {
                nodes.push(Node::Text(last.to_owned()));
            }
            return Ok(nodes);
        };
        parser.at += length;
        if length > 0 {
            nodes.push(Node::Text(parser.consume().to_owned()));
        }
        parser.at += 1;
        parser.consume();
        nodes.push(Node::List(parser.action()?));
    }
}

/// Reads what a key, an item of a union or a side of a filter holds.
fn part(text: &str) -> Result<Vec<Node>, String> {
    match template(&format!("{{{text}}}"))?.into_iter().next() {
        Some(Node::List(nodes)) => Ok(nodes),
        _ => Ok(Vec::new()),
    }
}

struct Parser<'t> {
    input: &'t str,
    at: usize,
    /// Where what is being read begins.
    start: usize,
}

impl<'t> Parser<'t> {
    fn rest(&self) -> &'t str {
        self.input.get(self.at..).unwrap_or_default()
    }

    fn peek(&self) -> Option<char> {
        self.rest().chars().next()
    }

    fn next(&mut self) -> Option<char> {
        let next = self.peek();
        self.at += next.map_or(0, char::len_utf8);
        next
    }

    /// Returns what was read since the last time.
    fn consume(&mut self) -> &'t str {
        let text = self.input.get(self.start..self.at).unwrap_or_default();
        self.start = self.at;
        text
    }

    /// Reads up to the closing brace.
    fn action(&mut self) -> Result<Vec<Node>, String> {
        let mut nodes = Vec::new();
        loop {
            if self.rest().starts_with("[?(") {
                nodes.push(self.filter()?);
                continue;
            }
            if self.rest().starts_with("..") {
                self.recursive(&mut nodes)?;
                continue;
            }
            match self.peek() {
                None | Some('\r' | '\n') => return Err("unclosed action".to_owned()),
                Some('}') => {
                    self.next();
                    self.consume();
                    return Ok(nodes);
                }
                // The root and the current object are the same: each object of a range is taken for a document of its own.
                Some(' ' | '@' | '$') => {
                    self.next();
                    self.consume();
                }
                Some('[') => self.array(&mut nodes)?,
                Some(quote @ ('"' | '\'')) => nodes.push(self.quoted(quote)?),
                Some('.') => {
                    self.next();
                    nodes.push(self.field());
                }
                Some(sign) if matches!(sign, '+' | '-') || sign.is_numeric() => nodes.push(self.number()?),
                Some(letter) if letter == '_' || letter.is_alphabetic() => nodes.push(self.identifier()),
                Some(other) => {
                    let shown = if other.is_control() { String::new() } else { format!(" '{other}'") };
                    return Err(format!("unrecognized character in action: U+{:04X}{shown}", u32::from(other)));
                }
            }
        }
    }

    fn identifier(&mut self) -> Node {
        while !is_terminator(self.peek()) {
            self.next();
        }
        match self.consume() {
            "true" => Node::Value(Value::Bool(true)),
            "false" => Node::Value(Value::Bool(false)),
            word => Node::Identifier(word.to_owned()),
        }
    }

    fn recursive(&mut self, nodes: &mut Vec<Node>) -> Result<(), String> {
        if nodes.last() == Some(&Node::Recursive) {
            return Err("invalid multiple recursive descent".to_owned());
        }
        self.at += "..".len();
        self.consume();
        nodes.push(Node::Recursive);
        if self.peek().is_some_and(|letter| letter == '_' || letter.is_alphanumeric()) {
            nodes.push(self.field());
        }
        Ok(())
    }

    fn number(&mut self) -> Result<Node, String> {
        self.next();
        while self.peek().is_some_and(|letter| letter == '.' || letter.is_numeric()) {
            self.next();
        }
        let text = self.consume();
        let number = text.parse::<i64>().ok().map(Number::from);
        let number = number.or_else(|| text.parse::<f64>().ok().and_then(Number::from_f64));
        number.map(|number| Node::Value(Value::Number(number))).ok_or_else(|| format!("cannot parse number {text}"))
    }

    /// Reads `[...]`; a quoted key is a path, in which a dot has to be escaped.
    fn array(&mut self, nodes: &mut Vec<Node>) -> Result<(), String> {
        loop {
            match self.next() {
                None | Some('\n') => return Err("unterminated array".to_owned()),
                Some(']') => break,
                Some(_) => {}
            }
        }
        let text = self.consume();
        let text = text.strip_prefix('[').and_then(|text| text.strip_suffix(']')).unwrap_or_default();
        let text = if text == "*" { ":" } else { text };
        if text.contains(',') {
            let items = text.split(',').map(|item| part(&format!("[{}]", item.trim_matches(' '))));
            nodes.push(Node::Union(items.collect::<Result<_, _>>()?));
            return Ok(());
        }
        let key = text.strip_prefix('\'').and_then(|text| text.strip_suffix('\'')).filter(|key| !key.contains('\''));
        match key {
            Some(key) => nodes.extend(part(&format!(".{key}"))?),
            None => nodes.push(Node::Array(slice(text)?)),
        }
        Ok(())
    }

    /// Reads `[?(...)]`. A closing parenthesis within the first quoted text does not count.
    fn filter(&mut self) -> Result<Node, String> {
        self.at += "[?(".len();
        self.consume();
        let (mut quote, mut is_closed) = (None, false);
        loop {
            match self.next() {
                None | Some('\n') => return Err("unterminated filter".to_owned()),
                Some(letter @ ('"' | '\'')) if quote.is_none() => quote = Some(letter),
                Some(letter @ ('"' | '\'')) => is_closed |= quote == Some(letter) && !self.is_escaped(),
                Some(')') if quote.is_some() == is_closed => break,
                Some(_) => {}
            }
        }
        if self.next() != Some(']') {
            return Err("unclosed array expect ]".to_owned());
        }
        let text = self.consume();
        let text = text.strip_suffix(")]").unwrap_or_default();
        let is_sign = |letter: char| matches!(letter, '!' | '<' | '>' | '=');
        let compared = text.find(is_sign).filter(|at| *at > 0).and_then(|at| {
            let (left, rest) = text.split_at(at);
            // Something is compared with; where nothing else follows, it is the last sign.
            let length = rest.find(|letter| !is_sign(letter)).unwrap_or(rest.len() - 1);
            let (sign, right) = rest.split_at(length);
            (length > 0).then_some((left, sign, right))
        });
        Ok(Node::Filter(match compared {
            None => Filter { left: part(text)?, compared: None },
            Some((left, sign, right)) => {
                let left = part(left)?;
                Filter { left, compared: Some((sign.to_owned(), part(right)?)) }
            }
        }))
    }

    /// Whether a backslash is before the letter that was just read.
    fn is_escaped(&self) -> bool {
        let before = self.at.checked_sub(2).and_then(|at| self.input.as_bytes().get(at));
        before == Some(&b'\\')
    }

    fn quoted(&mut self, quote: char) -> Result<Node, String> {
        self.next();
        loop {
            match self.next() {
                None | Some('\n') => return Err("unterminated quoted string".to_owned()),
                Some(letter) if letter == quote && !self.is_escaped() => break,
                Some(_) => {}
            }
        }
        let text = self.consume();
        let inner = text.get(1..text.len().saturating_sub(1)).unwrap_or_default();
        let unquoted = go::unquoted(inner, quote);
        unquoted.map(Node::Text).ok_or_else(|| format!("unquote string {text} error invalid syntax"))
    }

    fn field(&mut self) -> Node {
        self.consume();
        while !is_terminator(self.peek()) {
            if self.next() == Some('\\') {
                self.next();
            }
        }
        match self.consume() {
            "*" => Node::Wildcard,
            name => Node::Field(name.replace('\\', "")),
        }
    }
}

fn is_terminator(letter: Option<char>) -> bool {
    matches!(letter, None | Some(' ' | '\t' | '\r' | '\n' | '.' | ',' | '[' | ']' | '$' | '@' | '{' | '}'))
}

/// Reads `1`, `1:3`, `::2`; nothing at all is the first item.
fn slice(text: &str) -> Result<Array, String> {
    let invalid = || format!("invalid array index {text}");
    let parts: Vec<&str> = text.split(':').collect();
    let digits = |part: &str| part.strip_prefix('-').unwrap_or(part).bytes().all(|byte| byte.is_ascii_digit());
    if parts.len() > 3 || !parts.iter().all(|part| digits(part)) {
        return Err(invalid());
    }
    let number = |at: usize| match parts.get(at) {
        None | Some(&"") => Ok(None),
        Some(part) => part.parse::<i64>().map(Some).map_err(|_| format!("array index {part} is not a number")),
    };
    let (from, to, step) = (number(0)?, number(1)?, number(2)?);
    let is_one = parts.len() == 1;
    let to = if is_one { Some(from.unwrap_or(0).saturating_add(1)) } else { to };
    Ok(Array { from, to, is_one, step })
}
