//! A number of pods, or a percentage of them: `maxUnavailable`, `--canary`.
//!
//! Promise: reads and scales as `intstr` of apimachinery does (`pkg/util/intstr/intstr.go`,
//! `GetScaledValueFromIntOrPercent`), except that nothing is negative. Whether 0 or more than 100% makes sense is for the
//! caller to say: each field of the API has its own rule.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize, Serializer};
use serde_json::Value;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Deserialize)]
#[serde(try_from = "Value")]
pub enum IntOrPercent {
    Int(u32),
    Percent(u32),
}

impl IntOrPercent {
    /// Reads the JSON of an API field: a number, or a text that ends in `%`. A number within a text (`"5"`) is refused, as
    /// controllers refuse it, and so is what does not fit the API's 32 bits.
    pub fn from_value(value: &Value) -> Result<Self, String> {
        let read = match value {
            Value::Number(number) => number.as_u64().and_then(|n| in_range(u32::try_from(n).ok()?)).map(Self::Int),
            Value::String(text) => text.strip_suffix('%').and_then(digits).map(Self::Percent),
            Value::Null | Value::Bool(_) | Value::Array(_) | Value::Object(_) => None,
        };
        read.ok_or_else(|| neither(&value.to_string()))
    }

    /// Returns the number itself, or the percentage of `total`, rounded up or down to a whole number.
    pub fn scaled(self, total: usize, round_up: bool) -> usize {
        match self {
            Self::Int(number) => usize::try_from(number).unwrap_or(usize::MAX),
            Self::Percent(percentage) => {
                // 128 bits hold any such product.
                let hundredfold = u128::from(percentage) * total as u128;
                let scaled = if round_up { hundredfold.div_ceil(100) } else { hundredfold / 100 };
                usize::try_from(scaled).unwrap_or(usize::MAX)
            }
        }
    }
}

impl TryFrom<Value> for IntOrPercent {
    type Error = String;

    fn try_from(value: Value) -> Result<Self, Self::Error> {
        Self::from_value(&value)
    }
}

impl FromStr for IntOrPercent {
    type Err = String;

    /// Reads what the user types: `1`, `25%`.
    fn from_str(given: &str) -> Result<Self, Self::Err> {
        let read = match given.strip_suffix('%') {
            Some(percentage) => digits(percentage).map(Self::Percent),
            None => digits(given).map(Self::Int),
        };
        read.ok_or_else(|| neither(&format!("{given:?}")))
    }
}

impl fmt::Display for IntOrPercent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Int(number) => write!(f, "{number}"),
            Self::Percent(percentage) => write!(f, "{percentage}%"),
        }
    }
}

impl Serialize for IntOrPercent {
    /// Writes the API's JSON: a number, or a text that ends in `%`.
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Int(number) => serializer.serialize_u32(*number),
            Self::Percent(_) => serializer.collect_str(self),
        }
    }
}

fn neither(given: &str) -> String {
    format!("{given} is neither a number such as 1 nor a percentage such as \"25%\"")
}

fn digits(text: &str) -> Option<u32> {
    text.bytes().all(|b| b.is_ascii_digit()).then(|| text.parse().ok())?.and_then(in_range)
}

/// The API's numbers are `int32`.
fn in_range(number: u32) -> Option<u32> {
    i32::try_from(number).is_ok().then_some(number)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::IntOrPercent::{Int, Percent};
    use super::*;

    #[test]
    fn reads_text() {
        for (given, expected) in [
            ("0", Some(Int(0))),
            ("1", Some(Int(1))),
            ("007", Some(Int(7))),
            ("2147483647", Some(Int(2_147_483_647))),
            ("0%", Some(Percent(0))),
            ("25%", Some(Percent(25))),
            ("150%", Some(Percent(150))),
            ("2147483648", None),
            ("2147483648%", None),
            ("", None),
            ("%", None),
            ("-1", None),
            ("+1", None),
            ("-5%", None),
            ("25 %", None),
            (" 25%", None),
            ("25%%", None),
            ("2.5%", None),
            ("a quarter", None),
        ] {
            assert_eq!(given.parse().ok(), expected, "{given:?}");
        }
        let error = "x\u{1b}".parse::<IntOrPercent>().unwrap_err();
        assert_eq!(error, "\"x\\u{1b}\" is neither a number such as 1 nor a percentage such as \"25%\"");
    }

    #[test]
    fn reads_json() {
        for (value, expected) in [
            (json!(3), Some(Int(3))),
            (json!("25%"), Some(Percent(25))),
            (json!("3"), None),
            (json!(-3), None),
            (json!(2.5), None),
            (json!(4_294_967_296_u64), None),
            (json!(2_147_483_648_u64), None),
            (json!("%"), None),
            (json!(null), None),
            (json!(true), None),
            (json!({}), None),
        ] {
            assert_eq!(IntOrPercent::from_value(&value).ok(), expected, "{value}");
        }
    }

    /// `TestGetScaledValueFromIntOrPercent` of apimachinery, and the edges.
    #[test]
    fn scales() {
        for (value, total, up, down) in [
            (Int(123), 0, 123, 123),
            (Percent(90), 100, 90, 90),
            (Percent(95), 60, 57, 57),
            (Percent(95), 62, 59, 58),
            (Percent(95), 0, 0, 0),
            (Percent(25), 3, 1, 0),
            (Percent(25), 4, 1, 1),
            (Percent(1), 1, 1, 0),
            (Percent(0), 10, 0, 0),
            (Percent(150), 3, 5, 4),
            (Percent(2_147_483_647), usize::MAX, usize::MAX, usize::MAX),
        ] {
            assert_eq!(value.scaled(total, true), up, "{value} of {total}, up");
            assert_eq!(value.scaled(total, false), down, "{value} of {total}, down");
        }
    }

    proptest! {
        #[test]
        fn what_is_written_reads_the_same(number in 0..=2_147_483_647_u32, percent: bool) {
            let value = if percent { Percent(number) } else { Int(number) };
            prop_assert_eq!(value.to_string().parse(), Ok(value));
            let json = serde_json::to_string(&value).unwrap();
            prop_assert_eq!(serde_json::from_str::<IntOrPercent>(&json).unwrap(), value);
        }

        #[test]
        fn any_text(text in prop_oneof![any::<String>(), "[0-9%+-]{0,12}"], total: usize) {
            if let Ok(value) = text.parse::<IntOrPercent>() {
                let (down, up) = (value.scaled(total, false), value.scaled(total, true));
                prop_assert!(down <= up && up - down <= 1);
            }
        }
    }
}
