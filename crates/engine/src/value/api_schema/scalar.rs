//! Which values the API's scalar types are decoded from.

use jiff::civil::DateTime;
use serde_json::Value;

use super::table::Scalar;
use super::{BOOLEAN, Fault, QUOTED_BOOLEAN, QUOTED_NUMBER, STRING, WHOLE, WHOLE_32, type_name};
use crate::value::quantity::Quantity;

const QUANTITY: &str = "a quantity such as 500m or 1Gi";
const TIME: &str = "a time such as 2026-01-31T12:00:00Z";

/// Returns what keeps a value from being decoded as a scalar.
pub(super) fn fault(scalar: Scalar, value: &Value) -> Option<Fault> {
    let expected = match scalar {
        Scalar::String => STRING,
        Scalar::Boolean => BOOLEAN,
        Scalar::Int32 => WHOLE_32,
        Scalar::Int64 => WHOLE,
        Scalar::Quantity => QUANTITY,
        Scalar::IntOrString => "a whole number of 32 bits or a string",
        Scalar::Time => TIME,
        Scalar::Any => return None,
    };
    let malformed = |is_well: bool| (!is_well).then_some(Fault::Malformed { expected });
    let fits_32 = |value: &Value| value.as_i64().is_some_and(|number| i32::try_from(number).is_ok());
    match (scalar, value) {
        (Scalar::String | Scalar::IntOrString, Value::String(_)) | (Scalar::Boolean, Value::Bool(_)) => None,
        (Scalar::Int32 | Scalar::IntOrString, Value::Number(_)) => malformed(fits_32(value)),
        (Scalar::Int64, Value::Number(_)) => malformed(value.is_i64()),
        (Scalar::Quantity, Value::String(_) | Value::Number(_)) => malformed(Quantity::of(value).is_ok()),
        (Scalar::Time, Value::String(text)) => malformed(is_time(text)),
        (_, other) => Some(Fault::Type { found: found(scalar, other), expected }),
    }
}

/// Names what was found. A text that reads as what was expected can only have been in quotes.
fn found(scalar: Scalar, value: &Value) -> &'static str {
    match (scalar, value) {
        (Scalar::Int32 | Scalar::Int64, Value::String(text)) if text.parse::<i64>().is_ok() => QUOTED_NUMBER,
        (Scalar::Boolean, Value::String(text)) if text.parse::<bool>().is_ok() => QUOTED_BOOLEAN,
        (_, value) => type_name(value),
    }
}

/// Whether Go parses it as RFC 3339: with a capital `T` and `Z`, and without a leap second.
fn is_time(text: &str) -> bool {
    let Some((moment, rest)) = text.split_at_checked("2026-01-31T12:00:00".len()) else { return false };
    let is_like = |text: &str, shape: &str| {
        text.len() == shape.len()
            && text
                .bytes()
                .zip(shape.bytes())
                .all(|(byte, of)| if of == b'0' { byte.is_ascii_digit() } else { byte == of })
    };
    let zone =
        match rest.strip_prefix(['.', ',']).map(|rest| (rest, rest.trim_start_matches(|c: char| c.is_ascii_digit()))) {
            Some((fraction, zone)) if zone.len() < fraction.len() => zone,
            Some(_) => return false,
            None => rest,
        };
    let number = |text: &str, from: usize| text.get(from..from + 2).and_then(|text| text.parse::<u8>().ok());
    let is_offset = (is_like(zone, "+00:00") || is_like(zone, "-00:00"))
        && number(zone, 1).is_some_and(|hours| hours <= 24)
        && number(zone, 4).is_some_and(|minutes| minutes <= 60);
    is_like(moment, "0000-00-00T00:00:00")
        && !moment.ends_with(":60")
        && moment.parse::<DateTime>().is_ok()
        && (zone == "Z" || is_offset)
}
