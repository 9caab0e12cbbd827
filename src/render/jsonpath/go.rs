//! What Go has of its own: quoted texts, and how a value prints (`%v`).

use serde_json::{Number, Value};

/// Reads the inside of a quoted text (`strconv.UnquoteChar`, letter by letter); `None` is invalid syntax.
pub(super) fn unquoted(text: &str, quote: char) -> Option<String> {
    let mut bytes = Vec::new();
    let mut letters = text.chars();
    while let Some(letter) = letters.next() {
        if letter == quote {
            return None;
        }
        if letter != '\\' {
            bytes.extend_from_slice(letter.encode_utf8(&mut [0; 4]).as_bytes());
            continue;
        }
        let escape = letters.next()?;
        let rest = letters.as_str();
        let code = |digits: &str, radix: u32| u32::from_str_radix(digits, radix).ok().filter(|_| !digits.contains('+'));
        match escape {
            'a' => bytes.push(7),
            'b' => bytes.push(8),
            'f' => bytes.push(12),
            'n' => bytes.push(b'\n'),
            'r' => bytes.push(b'\r'),
            't' => bytes.push(b'\t'),
            'v' => bytes.push(11),
            '\\' => bytes.push(b'\\'),
            'x' => {
                bytes.push(u8::try_from(code(rest.get(..2)?, 16)?).ok()?);
                letters = rest.get(2..)?.chars();
            }
            'u' | 'U' => {
                let length = if escape == 'u' { 4 } else { 8 };
                let letter = char::from_u32(code(rest.get(..length)?, 16)?)?;
                bytes.extend_from_slice(letter.encode_utf8(&mut [0; 4]).as_bytes());
                letters = rest.get(length..)?.chars();
            }
            '0'..='7' => {
                let digits = format!("{escape}{}", rest.get(..2)?);
                bytes.push(u8::try_from(code(&digits, 8)?).ok()?);
                letters = rest.get(2..)?.chars();
            }
            escaped if escaped == quote => bytes.push(u8::try_from(quote).ok()?),
            _ => return None,
        }
    }
    Some(String::from_utf8_lossy(&bytes).into_owned())
}

/// Prints a number as Go does: whole ones without a fraction, very large and very small ones with an exponent.
pub(super) fn number(number: &Number) -> String {
    let Some(value) = number.as_f64().filter(|_| number.as_i64().is_none()) else { return number.to_string() };
    let size = value.abs();
    if size == 0.0 || (1e-4..1e6).contains(&size) {
        return value.to_string();
    }
    let text = format!("{value:e}");
    let (digits, exponent) = text.split_once('e').unwrap_or((&text, "0"));
    let (sign, exponent) = exponent.strip_prefix('-').map_or(('+', exponent), |exponent| ('-', exponent));
    format!("{digits}e{sign}{exponent:0>2}")
}

/// Prints a value as an error of Go's shows it.
pub(super) fn shown(value: &Value) -> String {
    match value {
        Value::Null => "<nil>".to_owned(),
        Value::Bool(value) => value.to_string(),
        Value::Number(value) => number(value),
        Value::String(text) => text.clone(),
        Value::Array(items) => format!("[{}]", items.iter().map(shown).collect::<Vec<_>>().join(" ")),
        Value::Object(fields) => {
            let mut fields: Vec<String> =
                fields.iter().map(|(name, value)| format!("{name}:{}", shown(value))).collect();
            fields.sort();
            format!("map[{}]", fields.join(" "))
        }
    }
}

/// The name of a value's type.
pub(super) fn kind(value: &Value) -> &'static str {
    match value {
        Value::Null => "<nil>",
        Value::Bool(_) => "bool",
        Value::Number(number) if number.as_i64().is_some() => "int64",
        Value::Number(_) => "float64",
        Value::String(_) => "string",
        Value::Array(_) => "[]interface {}",
        Value::Object(_) => "map[string]interface {}",
    }
}

/// Writes JSON as Go's `encoding/json` does, which also escapes what a browser would act on.
pub(super) fn json(text: &str) -> String {
    text.replace('<', "\\u003c").replace('>', "\\u003e").replace('&', "\\u0026")
}
