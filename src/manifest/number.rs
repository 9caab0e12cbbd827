//! Numbers as Kubernetes keeps them: 64-bit signed integers, and floats for all else.

use serde_json::{Number, Value};

/// The first float beyond the signed 64-bit integers, 2^63.
const INTEGER_END: f64 = 9_223_372_036_854_775_808.0;

/// Turns an integral float within the signed 64-bit range into an integer, as encoding it to JSON and back does in
/// Kubernetes (`json.go` of apimachinery): `1e3` is 1000, `08` is 8, `-0.0` is 0. `None` for what JSON cannot hold.
pub(super) fn from_float(float: f64) -> Option<Value> {
    match integral(float) {
        Some(integer) => Some(Value::from(integer)),
        None => Number::from_f64(float).map(Value::Number),
    }
}

/// Keeps what fits into a signed 64-bit integer and turns the rest into a float, as Kubernetes does.
pub(super) fn from_unsigned(integer: u64) -> Value {
    i64::try_from(integer).map_or_else(
        |_| {
            // Rounds to the nearest float, as Go's strconv does when it reads the digits.
            Number::from_f64(integer as f64).map_or(Value::Null, Value::Number)
        },
        Value::from,
    )
}

/// Writes a float as kubectl writes one that is a key: `strconv.FormatFloat(key, 'g', -1, 32)` in sigs.k8s.io/yaml.
pub(super) fn float_key(float: f64) -> String {
    let single = float as f32;
    if single.is_infinite() {
        return if single > 0.0 { ".inf".to_owned() } else { "-.inf".to_owned() };
    }
    let scientific = format!("{single:e}");
    let Some((mantissa, exponent)) = scientific.split_once('e') else {
        return scientific;
    };
    match exponent.parse::<i32>() {
        Ok(exponent) if (-4..6).contains(&exponent) => format!("{single}"),
        Ok(exponent) => format!("{mantissa}e{}{:02}", if exponent < 0 { '-' } else { '+' }, exponent.abs()),
        Err(_) => scientific,
    }
}

fn integral(float: f64) -> Option<i64> {
    let fits = float.fract() == 0.0 && (-INTEGER_END..INTEGER_END).contains(&float);
    fits.then_some(float as i64)
}
