//! Quantities as the API writes them (`apimachinery/pkg/api/resource`), in thousandths.

use serde_json::Value;

/// Returns a quantity in thousandths; `None` where it is none.
pub(crate) fn parse(text: &str) -> Option<i128> {
    let end = text.find(|c: char| !c.is_ascii_digit() && !matches!(c, '.' | '+' | '-')).unwrap_or(text.len());
    let (number, suffix) = text.split_at(end);
    let (numerator, denominator): (i128, i128) = match suffix {
        "n" => (1, 1_000_000),
        "u" => (1, 1_000),
        "m" => (1, 1),
        "" => (1_000, 1),
        _ => (scale(suffix)?.checked_mul(1_000)?, 1),
    };
    let (whole, fraction) = number.split_once('.').unwrap_or((number, ""));
    let places = i128::from(10_u8).checked_pow(u32::try_from(fraction.len()).ok()?)?;
    let digits: i128 = format!("{whole}{fraction}").parse().ok()?;
    let product = digits.checked_mul(numerator)?;
    let divisor = denominator.checked_mul(places)?;
    let rounded = product / divisor + i128::from(product > 0 && product % divisor != 0);
    // As upstream's, so that sums stay numbers.
    Some(rounded.min(i128::from(i64::MAX) * 1_000))
}

fn scale(suffix: &str) -> Option<i128> {
    if let Some(exponent) = suffix.strip_prefix(['e', 'E']).filter(|exponent| !exponent.is_empty()) {
        return i128::from(10_u8).checked_pow(exponent.parse().ok()?);
    }
    let place = |letters: &str, letter: &str| letters.find(letter).and_then(|place| u32::try_from(place + 1).ok());
    match suffix.strip_suffix('i') {
        Some(letter) => Some(i128::from(1024_u16).pow(place("KMGTPE", letter)?)),
        None => Some(i128::from(1000_u16).pow(place("kMGTPE", suffix)?)),
    }
}

/// Returns the quantity of a field; 0 where there is none.
pub(crate) fn of(value: &Value) -> i128 {
    let number = || value.as_i64().map_or(0, |number| i128::from(number) * 1000);
    value.as_str().map_or_else(number, |text| parse(text).unwrap_or(0))
}

#[cfg(test)]
mod tests {
    use super::parse;

    #[test]
    fn quantities_are_read() {
        let table = [
            ("1", Some(1_000)),
            ("100m", Some(100)),
            ("0.5", Some(500)),
            ("1.5Gi", Some(1_610_612_736_000)),
            ("2k", Some(2_000_000)),
            ("1e3", Some(1_000_000)),
            ("1n", Some(1)),
            ("0", Some(0)),
            ("64Mi", Some(67_108_864_000)),
            ("x", None),
            ("1Xi", None),
            ("", None),
            ("1.0.0", None),
            ("1e38", None),
            ("99999999E", Some(i128::from(i64::MAX) * 1_000)),
        ];
        for (text, wanted) in table {
            assert_eq!(parse(text), wanted, "{text}");
        }
    }
}
