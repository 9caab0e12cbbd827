//! Kubernetes quantities (`500m`, `1Gi`, `1e3`): compared by value, and written in their canonical form.
//!
//! The rules are those of `k8s.io/apimachinery/pkg/api/resource/quantity.go`. Values have no bounds but upstream's: binary
//! ones are capped at 2^63-1, and what is finer than a billionth (`n`) is rounded up, away from zero. Sums are made of
//! thousandths.
//!
//! Three deviations: upstream reads some texts without a digit (`m`) as zero, and loses the suffix of decimal values from
//! 1000E on. Here the former are refused, and the latter are written with an exponent. And an exponent of more than three
//! digits is refused: upstream computes the power, for hours with `1e2147483647`, and such a manifest holds up the server.

use serde_json::Value;
use std::cmp::Ordering;
use std::fmt;
use std::str::FromStr;

/// The smallest power of ten that a quantity can represent.
const NANO: i64 = -9;
const MILLI: i64 = -3;
/// Upstream parses up to this many digits by a fast path, which alone keeps the text as it was written.
const FAST_DIGITS: usize = 18;
const MAX_EXPONENT: u32 = 999;
const LARGEST_BINARY: &str = "9223372036854775807";

const BINARY: [(&str, u32); 6] = [("Ki", 1), ("Mi", 2), ("Gi", 3), ("Ti", 4), ("Pi", 5), ("Ei", 6)];
const DECIMAL: [(&str, i64); 10] =
    [("n", -9), ("u", -6), ("m", -3), ("", 0), ("k", 3), ("M", 6), ("G", 9), ("T", 12), ("P", 15), ("E", 18)];

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Format {
    DecimalSi,
    DecimalExponent,
    BinarySi,
}

/// A quantity by value: equal and ordered by its value, however it is written. `Display` writes the form in which
/// the API server stores it (Go's `Quantity.String()`).
#[derive(Clone, Debug)]
pub struct Quantity {
    negative: bool,
    /// The value is `0.DIGITS * 10^point`: no zeros at either end; empty for zero.
    digits: String,
    point: i64,
    format: Format,
    /// The text as written, where upstream takes it for canonical.
    written: Option<String>,
}

impl Quantity {
    /// Reads a quantity from a field's JSON value, a string or a number.
    pub fn of(value: &Value) -> Result<Self, String> {
        match value {
            // The text between the quotes, where a tab is written `\t`.
            Value::String(text) => text.trim_matches(|c: char| c.is_whitespace() && !c.is_control()).parse(),
            Value::Number(number) => number.to_string().parse(),
            Value::Null | Value::Bool(_) | Value::Array(_) | Value::Object(_) => {
                Err(not_a_quantity(&value.to_string()))
            }
        }
    }

    pub fn is_negative(&self) -> bool {
        self.negative && !self.digits.is_empty()
    }

    /// Rounds up to thousandths, as the server does with `limits` and `requests` (`SetDefaults_ResourceList`).
    #[must_use]
    pub fn rounded_up_to_thousandths(self) -> Self {
        let exponent = self.point - length(&self.digits);
        if exponent >= MILLI {
            return self;
        }
        Self::rounded(self.negative, &self.digits, exponent, MILLI, self.format)
    }

    /// Returns the value in thousandths, rounded up; `None` where that is above 2^127.
    pub fn thousandths(&self) -> Option<i128> {
        let rounded = self.clone().rounded_up_to_thousandths();
        let zeros = usize::try_from(rounded.point - length(&rounded.digits) - MILLI).unwrap_or_default();
        let digits = if rounded.digits.is_empty() { "0" } else { &rounded.digits };
        let value: i128 = (zeros <= 40).then(|| format!("{digits}{}", "0".repeat(zeros)).parse().ok()).flatten()?;
        Some(if rounded.negative { -value } else { value })
    }

    /// Reads a text in thousandths, as [`Self::thousandths`]; `None` where it is no quantity either.
    pub fn amount(text: Option<&String>) -> Option<i128> {
        text?.parse::<Self>().ok()?.thousandths()
    }

    /// Makes a quantity of thousandths, written as memory usually is where `binary`.
    #[must_use]
    pub fn of_thousandths(value: i128, binary: bool) -> Self {
        let format = if binary { Format::BinarySi } else { Format::DecimalSi };
        Self::new(value < 0, &value.unsigned_abs().to_string(), MILLI, format)
    }

    /// Makes a quantity of `digits * 10^exponent`, rounded up to a billionth.
    fn new(negative: bool, digits: &str, exponent: i64, format: Format) -> Self {
        Self::rounded(negative, digits, exponent, NANO, format)
    }

    /// Makes a quantity of `digits * 10^exponent`, rounded up to a multiple of `10^unit`.
    fn rounded(negative: bool, digits: &str, exponent: i64, unit: i64, format: Format) -> Self {
        let significant = digits.trim_start_matches('0');
        let point = exponent + length(significant);
        let mut digits = significant.trim_end_matches('0').to_owned();
        let mut rounded = Self { negative, digits: String::new(), point, format, written: None };
        if digits.is_empty() {
            return Self { negative: false, point: 0, ..rounded };
        }
        let kept = usize::try_from(point - unit).unwrap_or_default();
        if kept < digits.len() {
            digits.truncate(kept);
            digits = plus_one(&digits);
            rounded.point = point.max(unit) + length(&digits) - i64::try_from(kept).unwrap_or_default();
            digits.truncate(digits.trim_end_matches('0').len());
        }
        rounded.digits = digits;
        rounded
    }

    /// The absolute value as a whole number; `None` if it is none or above 2^127.
    fn whole(&self) -> Option<u128> {
        let zeros = usize::try_from(self.point - length(&self.digits)).ok().filter(|zeros| *zeros <= 40)?;
        format!("0{}{}", self.digits, "0".repeat(zeros)).parse().ok()
    }

    fn magnitude(&self, other: &Self) -> Ordering {
        let zero = |quantity: &Self| quantity.digits.is_empty();
        (!zero(self), self.point, &self.digits).cmp(&(!zero(other), other.point, &other.digits))
    }
}

impl FromStr for Quantity {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let error = || not_a_quantity(text);
        let unsigned = text.strip_prefix(['-', '+']).unwrap_or(text);
        let negative = text.starts_with('-');
        let (whole, rest) = split_digits(unsigned);
        let (fraction, suffix) = rest.strip_prefix('.').map_or(("", rest), split_digits);
        if whole.is_empty() && fraction.is_empty() {
            return Err(error());
        }
        let whole = Some(whole.trim_start_matches('0')).filter(|whole| !whole.is_empty()).unwrap_or("0");
        let digits = format!("{whole}{fraction}");
        if let Some((_, power)) = BINARY.iter().find(|(name, _)| *name == suffix) {
            return Ok(binary(text, negative, &digits, fraction, *power));
        }
        let (exponent, format) = match DECIMAL.iter().find(|(name, _)| *name == suffix) {
            Some((_, exponent)) => (*exponent, Format::DecimalSi),
            None => {
                let exponent = suffix.strip_prefix(['e', 'E']).and_then(|exponent| exponent.parse::<i32>().ok());
                let exponent = exponent.filter(|exponent| exponent.unsigned_abs() <= MAX_EXPONENT);
                (i64::from(exponent.ok_or_else(error)?), Format::DecimalExponent)
            }
        };
        let exponent = exponent - length(fraction);
        let mut quantity = Self::new(negative, &digits, exponent, format);
        let fast = digits.len() <= FAST_DIGITS && exponent >= NANO;
        if fast && exponent % 3 == 0 && !digits.ends_with("000") && !digits.starts_with('0') {
            quantity.written = Some(text.to_owned());
        }
        Ok(quantity)
    }
}

/// A quantity of `digits`, the last ones after the point, times `1024^power`.
fn binary(text: &str, negative: bool, digits: &str, fraction: &str, power: u32) -> Quantity {
    let mut product = digits.to_owned();
    for _ in 0..power {
        product = times_1024(&product);
    }
    let mut quantity = Quantity::new(negative, &product, -length(fraction), Format::BinarySi);
    let largest = Quantity::new(negative, LARGEST_BINARY, 0, Format::BinarySi);
    let below_one = !quantity.digits.is_empty() && quantity.point <= 0;
    let fast = digits.len() + usize::try_from(power * 3).unwrap_or(FAST_DIGITS) <= 14 && fraction.is_empty();
    let eighth = digits.parse::<u64>().is_ok_and(|value| value % 8 == 0);
    if quantity.magnitude(&largest) == Ordering::Greater {
        quantity = largest;
    } else if fast && !eighth {
        quantity.written = Some(text.to_owned());
    } else if below_one {
        quantity.format = Format::DecimalSi;
    }
    quantity
}

impl fmt::Display for Quantity {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(written) = &self.written {
            return formatter.write_str(written);
        }
        if self.digits.is_empty() {
            return formatter.write_str("0");
        }
        let sign = if self.negative { "-" } else { "" };
        let whole = self.whole().filter(|whole| self.format == Format::BinarySi && *whole >= 1024);
        if let Some(mut whole) = whole {
            let mut suffix = "";
            for (name, _) in BINARY {
                if whole % 1024 != 0 {
                    break;
                }
                (whole, suffix) = (whole / 1024, name);
            }
            return write!(formatter, "{sign}{whole}{suffix}");
        }
        let exponent = self.point - length(&self.digits);
        let zeros = exponent.rem_euclid(3);
        let (exponent, zeros) = (exponent - zeros, "0".repeat(usize::try_from(zeros).unwrap_or_default()));
        write!(formatter, "{sign}{}{zeros}", self.digits)?;
        match DECIMAL.iter().find(|(_, known)| *known == exponent) {
            Some((suffix, _)) if self.format != Format::DecimalExponent || exponent == 0 => formatter.write_str(suffix),
            Some(_) | None => write!(formatter, "e{exponent}"),
        }
    }
}

impl PartialEq for Quantity {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for Quantity {}

impl PartialOrd for Quantity {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Quantity {
    fn cmp(&self, other: &Self) -> Ordering {
        match (self.negative, other.negative) {
            (false, false) => self.magnitude(other),
            (true, true) => other.magnitude(self),
            (true, false) => Ordering::Less,
            (false, true) => Ordering::Greater,
        }
    }
}

fn not_a_quantity(text: &str) -> String {
    format!("{text:?} is not a quantity")
}

fn split_digits(text: &str) -> (&str, &str) {
    text.split_at(text.find(|character: char| !character.is_ascii_digit()).unwrap_or(text.len()))
}

fn length(digits: &str) -> i64 {
    i64::try_from(digits.len()).unwrap_or(i64::MAX)
}

fn plus_one(digits: &str) -> String {
    let nines = digits.len() - digits.trim_end_matches('9').len();
    let (head, _) = digits.split_at(digits.len() - nines);
    let (head, last) = head.split_at(head.len().saturating_sub(1));
    let last = last.parse::<u8>().unwrap_or_default() + 1;
    format!("{head}{last}{}", "0".repeat(nines))
}

fn times_1024(digits: &str) -> String {
    let mut carry = 0_u32;
    let mut reversed: Vec<char> = Vec::with_capacity(digits.len() + 4);
    for digit in digits.chars().rev() {
        carry += digit.to_digit(10).unwrap_or_default() * 1024;
        reversed.extend(char::from_digit(carry % 10, 10));
        carry /= 10;
    }
    let mut product = carry.to_string();
    product.extend(reversed.into_iter().rev());
    product
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn quantity(text: &str) -> Quantity {
        text.parse().unwrap()
    }

    #[test]
    fn compares_by_value() {
        let equal = [
            ("1000m", "1"),
            ("1Gi", "1073741824"),
            ("1e3", "1k"),
            ("1E", "1000000000000000000"),
            ("1E3", "1000"),
            ("0.5", "500m"),
            (".5", "500m"),
            ("1.", "1"),
            ("0.5Mi", "524288"),
            ("+2", "2"),
            ("-0", "0"),
            ("0Ki", "0"),
            ("1e-9", "1n"),
            ("1e-10", "1n"),
            ("0.1n", "1n"),
            ("1.1n", "2n"),
            ("9.9999999999", "10"),
            ("-0.1n", "-1n"),
            ("1e-100", "1n"),
            ("16Ei", "9223372036854775807"),
            ("1e30", "1000000000000000000000000000000"),
        ];
        for (left, right) in equal {
            assert_eq!(quantity(left), quantity(right), "{left} and {right}");
        }
        let ascending =
            ["-1Ki", "-1", "-1n", "0", "1n", "999m", "1", "1.5", "2", "10", "1k", "1Ki", "1M", "1Mi", "1e20"];
        for pair in ascending.windows(2) {
            assert!(quantity(pair[0]) < quantity(pair[1]), "{pair:?}");
        }
    }

    #[test]
    fn writes_the_canonical_form() {
        let cases = [
            ("0", "0"),
            ("0Gi", "0"),
            ("0.5", "500m"),
            ("0.0005", "500u"),
            ("1000m", "1"),
            ("1500m", "1500m"),
            ("1.5", "1500m"),
            ("1000", "1k"),
            ("1001", "1001"),
            ("1000000", "1M"),
            ("100k", "100k"),
            ("2000000k", "2G"),
            ("1024", "1024"),
            ("1024Ki", "1Mi"),
            ("1024Mi", "1Gi"),
            ("1000Ki", "1000Ki"),
            ("1025Ki", "1025Ki"),
            ("1.5Gi", "1536Mi"),
            ("0.5Ki", "512"),
            ("1.1Ki", "1126400m"),
            ("0.001Ki", "1024m"),
            ("0.0001Ki", "102400u"),
            ("8Ei", "9223372036854775807"),
            ("-1.5Gi", "-1536Mi"),
            ("1e3", "1e3"),
            ("1E6", "1E6"),
            ("1e4", "10e3"),
            ("12e-1", "1200e-3"),
            ("0.1n", "1n"),
            ("99.9999999999", "100"),
            ("+100Mi", "+100Mi"),
            ("1000E", "1e21"),
        ];
        for (text, canonical) in cases {
            assert_eq!(quantity(text).to_string(), canonical, "{text}");
            assert_eq!(quantity(canonical), quantity(text), "{text}");
        }
    }

    #[test]
    fn rounds_up_to_thousandths() {
        let cases = [
            ("0.0001", "1m"),
            ("1.0001", "1001m"),
            ("-0.0001", "-1m"),
            ("9.9999", "10"),
            ("0.0001Ki", "103m"),
            ("1.5", "1500m"),
        ];
        for (text, rounded) in cases {
            assert_eq!(quantity(text).rounded_up_to_thousandths().to_string(), rounded, "{text}");
        }
    }

    #[test]
    fn counts_in_thousandths() {
        let cases = [
            ("1", false, 1_000, "1"),
            ("250m", false, 250, "250m"),
            ("0.0001", false, 1, "1m"),
            ("-1.5", false, -1_500, "-1500m"),
            ("0", true, 0, "0"),
            ("64Mi", true, 67_108_864_000, "64Mi"),
            ("1536Mi", true, 1_610_612_736_000, "1536Mi"),
            ("2G", true, 2_000_000_000_000, "1953125Ki"),
        ];
        for (text, binary, value, written) in cases {
            assert_eq!(quantity(text).thousandths(), Some(value), "{text}");
            assert_eq!(Quantity::of_thousandths(value, binary).to_string(), written, "{text}");
        }
        assert_eq!(quantity("1e60").thousandths(), None);
    }

    #[test]
    fn refuses_what_is_no_quantity() {
        for text in [
            "",
            "-",
            ".",
            "m",
            "Ki",
            "1K",
            "1mi",
            "1i",
            "1.2.3",
            "1 Gi",
            "1e",
            "1e3m",
            "e3",
            "--1",
            "1e99999999999",
            "1e1000",
            "1e-1000",
            "1_0",
        ] {
            assert_eq!(text.parse::<Quantity>(), Err(not_a_quantity(text)));
        }
    }

    proptest::proptest! {
        #[test]
        fn no_text_panics_and_the_canonical_form_is_the_same_value(text in "[-+]?[0-9]{0,24}[.]?[0-9]{0,24}([numkKMGTPE]i?|[eE][-+]?[0-9]{1,11})?") {
            if let Ok(parsed) = text.parse::<Quantity>() {
                proptest::prop_assert_eq!(&quantity(&parsed.to_string()), &parsed);
                proptest::prop_assert!(parsed.clone().rounded_up_to_thousandths().magnitude(&parsed).is_ge());
            }
        }
    }

    #[test]
    fn reads_json_values() {
        for (value, text) in [(json!(1), "1"), (json!(0.5), "500m"), (json!(1000.0), "1k"), (json!(" 2Gi "), "2Gi")] {
            assert_eq!(Quantity::of(&value), Ok(quantity(text)), "{value}");
        }
        assert!(Quantity::of(&json!(null)).is_err());
        assert!(Quantity::of(&json!(["1"])).is_err());
    }
}
