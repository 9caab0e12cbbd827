//! Durations as people type them and as kubectl prints them.
//!
//! Promise: [`parse`] reads what Go's `time.ParseDuration` reads, and a bare number as seconds, as kubectl does for
//! `--request-timeout` (`ParseTimeout` of `client-go/tools/clientcmd`). [`human`] rounds.
//!
//! Not in here: negative durations. Nothing in this program takes one.

use std::time::Duration;

const SECOND: u64 = 1_000_000_000;
const MINUTE: u64 = 60 * SECOND;
const HOUR: u64 = 60 * MINUTE;

/// The longest duration that Go has: 2^63 - 1 nanoseconds, about 292 years.
const LONGEST: u64 = i64::MAX.unsigned_abs();

/// Reads `1m30s`, `500ms`, `1h2m3.5s`, `0`, or a whole number of seconds such as `30`.
pub fn parse(given: &str) -> Result<Duration, String> {
    if given.is_empty() {
        return Err("duration is empty: give one such as 30s, 5m or 1h30m".to_owned());
    }
    nanoseconds(given).map(Duration::from_nanos).map_err(|what| format!("duration {given:?} {what}"))
}

fn nanoseconds(given: &str) -> Result<u64, String> {
    if given.starts_with('-') {
        return Err("is negative".to_owned());
    }
    let mut rest = given.strip_prefix('+').unwrap_or(given);
    let total = if !rest.is_empty() && rest.bytes().all(|b| b.is_ascii_digit()) {
        rest.parse::<u64>().ok().and_then(|seconds| seconds.checked_mul(SECOND))
    } else {
        let mut total;
        (total, rest) = term(rest)?;
        while !rest.is_empty() {
            let part;
            (part, rest) = term(rest)?;
            total = total.zip(part).and_then(|(total, part)| total.checked_add(part));
        }
        total
    };
    total.filter(|total| *total <= LONGEST).ok_or_else(|| "is longer than 292 years".to_owned())
}

/// Reads one number with its unit from the head of `text`. Returns nanoseconds, `None` if they do not fit, and what follows.
fn term(text: &str) -> Result<(Option<u64>, &str), String> {
    let (whole, rest) = leading(text, |c| c.is_ascii_digit());
    let (fraction, rest) = match rest.strip_prefix('.') {
        Some(rest) => leading(rest, |c| c.is_ascii_digit()),
        None => ("", rest),
    };
    if whole.is_empty() && fraction.is_empty() {
        return Err("is not a number of seconds, nor numbers with units such as 30s, 5m or 1h30m".to_owned());
    }
    let (unit, rest) = leading(rest, |c| c != '.' && !c.is_ascii_digit());
    let scale = match unit {
        "" => return Err("has a number without a unit (ns, us, ms, s, m or h)".to_owned()),
        "ns" => 1,
        // U+00B5, the micro sign, and U+03BC, the Greek letter.
        "us" | "µs" | "μs" => 1_000,
        "ms" => 1_000_000,
        "s" => SECOND,
        "m" => MINUTE,
        "h" => HOUR,
        unit => return Err(format!("has an unknown unit {unit:?}: it must be ns, us, ms, s, m or h")),
    };
    let whole = if whole.is_empty() { Some(0) } else { whole.parse::<u64>().ok() };
    let part = whole.and_then(|whole| whole.checked_mul(scale)?.checked_add(fraction_of(fraction, scale)));
    Ok((part, rest))
}

fn leading(text: &str, accept: impl Fn(char) -> bool) -> (&str, &str) {
    text.split_at(text.find(|c| !accept(c)).unwrap_or(text.len()))
}

/// Returns a decimal fraction of `scale` nanoseconds, what is less than one cut off.
///
/// Go computes this in floating point and may be one nanosecond off where the fraction has more digits than fit.
fn fraction_of(digits: &str, scale: u64) -> u64 {
    let mut part = 0_u128;
    let mut power = 1_u128;
    // Eighteen digits are finer than a nanosecond of an hour.
    for digit in digits.chars().take(18).filter_map(|c| c.to_digit(10)) {
        part = part * 10 + u128::from(digit);
        power *= 10;
    }
    u64::try_from(part * u128::from(scale) / power).unwrap_or(u64::MAX)
}

/// Reads a time of the API (RFC 3339), whose parts of a second do not count, as seconds since 1970.
pub fn second(time: &str) -> Option<i64> {
    time.parse::<jiff::Timestamp>().ok().map(jiff::Timestamp::as_second)
}

/// Returns how many seconds lie between two times of the API; less than none where they are the other way round.
pub fn seconds_between(from: &str, to: &str) -> Option<i64> {
    second(to)?.checked_sub(second(from)?)
}

/// Returns how long ago a time of the API (RFC 3339) was; `None` where one cannot be read, or lies ahead.
pub fn ago(since: &str, now: &str) -> Option<Duration> {
    u64::try_from(seconds_between(since, now)?).ok().map(Duration::from_secs)
}

/// Says when something began: `3m ago`, as kubectl shows ages, else `at` its time.
pub fn began(since: &str, now: Option<&str>) -> String {
    let ago = now.and_then(|now| ago(since, now));
    ago.map_or_else(|| format!("at {since}"), |ago| format!("{} ago", human(ago)))
}

/// Writes a duration with two or three figures: from ten seconds on as kubectl prints ages (`HumanDuration` of
/// `apimachinery/pkg/util/duration`: `45s`, `2m5s`, `3h`, `5d12h`), below that with a tenth (`0.8s`, `2.5s`, `3s`), and below
/// a tenth in milliseconds. Always rounded down; what is below a millisecond is `0s`.
pub fn human(duration: Duration) -> String {
    let pair = |n: u64, unit: &str, rest: u64, rest_unit: &str| match rest {
        0 => format!("{n}{unit}"),
        rest => format!("{n}{unit}{rest}{rest_unit}"),
    };
    let seconds = duration.as_secs();
    let (minutes, hours, days) = (seconds / 60, seconds / 3600, seconds / 86_400);
    if seconds < 10 {
        return below_ten_seconds(seconds, duration.subsec_millis());
    }
    if seconds < 120 {
        format!("{seconds}s")
    } else if minutes < 10 {
        pair(minutes, "m", seconds % 60, "s")
    } else if minutes < 180 {
        format!("{minutes}m")
    } else if hours < 8 {
        pair(hours, "h", minutes % 60, "m")
    } else if hours < 48 {
        format!("{hours}h")
    } else if days < 8 {
        pair(days, "d", hours % 24, "h")
    } else if days < 2 * 365 {
        format!("{days}d")
    } else if days < 8 * 365 {
        pair(days / 365, "y", days % 365, "d")
    } else {
        format!("{}y", days / 365)
    }
}

fn below_ten_seconds(seconds: u64, milliseconds: u32) -> String {
    match (seconds, milliseconds / 100) {
        (0, 0) if milliseconds > 0 => format!("{milliseconds}ms"),
        (seconds, part) => format!("{}s", tenths(seconds, part)),
    }
}

fn tenths(seconds: u64, tenths: u32) -> String {
    if tenths == 0 { seconds.to_string() } else { format!("{seconds}.{tenths}") }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Writes a duration so that `parse` and kubectl read it back as the same: `1h0m0.5s` becomes `1h500ms`, zero `0s`.
    ///
    /// Exact up to `parse`'s 292 years, and still correct text beyond.
    fn exact(duration: Duration) -> String {
        let seconds = duration.as_secs();
        let below = u64::from(duration.subsec_nanos());
        let parts = [
            (seconds / 3600, "h"),
            (seconds / 60 % 60, "m"),
            (seconds % 60, "s"),
            (below / 1_000_000, "ms"),
            (below / 1_000 % 1_000, "us"),
            (below % 1_000, "ns"),
        ];
        let text: String = parts.iter().filter(|(n, _)| *n > 0).map(|(n, unit)| format!("{n}{unit}")).collect();
        if text.is_empty() { "0s".to_owned() } else { text }
    }

    /// `parseDurationTests` of Go's `time_test.go` without the negative ones, and kubectl's bare seconds.
    #[test]
    fn reads_durations() {
        for (given, expected) in [
            ("0", 0),
            ("30", 30 * SECOND),
            ("+30", 30 * SECOND),
            ("007", 7 * SECOND),
            ("5s", 5 * SECOND),
            ("1478s", 1478 * SECOND),
            ("+5s", 5 * SECOND),
            ("+0", 0),
            ("5.0s", 5 * SECOND),
            ("5.6s", 5_600_000_000),
            ("5.s", 5 * SECOND),
            (".5s", 500_000_000),
            ("1.0s", SECOND),
            ("1.00s", SECOND),
            ("1.004s", 1_004_000_000),
            ("1.0040s", 1_004_000_000),
            ("100.00100s", 100_001_000_000),
            ("10ns", 10),
            ("11us", 11_000),
            ("12µs", 12_000),
            ("12μs", 12_000),
            ("13ms", 13_000_000),
            ("500ms", 500_000_000),
            ("14s", 14 * SECOND),
            ("15m", 15 * MINUTE),
            ("16h", 16 * HOUR),
            ("3h30m", 3 * HOUR + 30 * MINUTE),
            ("10.5s4m", 4 * MINUTE + 10_500_000_000),
            ("1h2m3.5s", HOUR + 2 * MINUTE + 3_500_000_000),
            ("1h2m3s4ms5us6ns", HOUR + 2 * MINUTE + 3 * SECOND + 4_005_006),
            ("39h9m14.425s", 39 * HOUR + 9 * MINUTE + 14_425_000_000),
            ("52763797000ns", 52_763_797_000),
            ("9007199254740993ns", 9_007_199_254_740_993),
            ("9223372036854775807ns", LONGEST),
            ("9223372036854775.807us", LONGEST),
            ("9223372036s854ms775us807ns", LONGEST),
            ("0.3333333333333333333h", 1_199_999_999_999),
            ("0.100000000000000000000h", 6 * MINUTE),
            ("0.9223372036854775807h", 3_320_413_933_267),
            ("0.000000000000000000000001s", 0),
        ] {
            assert_eq!(parse(given), Ok(Duration::from_nanos(expected)), "{given}");
        }
    }

    #[test]
    fn refuses_everything_else() {
        let malformed = "is not a number of seconds, nor numbers with units such as 30s, 5m or 1h30m";
        let unit = "has a number without a unit (ns, us, ms, s, m or h)";
        for (given, message) in [
            ("-5s", "is negative"),
            ("-0", "is negative"),
            ("x", malformed),
            (".", malformed),
            (".s", malformed),
            ("+", malformed),
            ("+.s", malformed),
            (" 5s", malformed),
            ("１s", malformed),
            ("1.5", unit),
            ("5s3", unit),
            ("1d", "has an unknown unit \"d\": it must be ns, us, ms, s, m or h"),
            ("1m 30s", "has an unknown unit \"m \": it must be ns, us, ms, s, m or h"),
            ("5S", "has an unknown unit \"S\": it must be ns, us, ms, s, m or h"),
            ("9223372036854775808ns", "is longer than 292 years"),
            ("9223372036854775.808us", "is longer than 292 years"),
            ("99999999999999999999999999s", "is longer than 292 years"),
            ("99999999999999999999999999", "is longer than 292 years"),
            ("9223372037", "is longer than 292 years"),
            ("3000000h", "is longer than 292 years"),
            ("2562047h2562047h", "is longer than 292 years"),
        ] {
            let error = parse(given).expect_err(given);
            assert_eq!(error, format!("duration {given:?} {message}"));
        }
        assert_eq!(parse("").unwrap_err(), "duration is empty: give one such as 30s, 5m or 1h30m");
    }

    #[test]
    fn writes_exactly() {
        for (nanoseconds, expected) in [
            (0, "0s"),
            (1, "1ns"),
            (1_100, "1us100ns"),
            (500_000_000, "500ms"),
            (90 * SECOND, "1m30s"),
            (5 * MINUTE, "5m"),
            (HOUR + 500_000_000, "1h500ms"),
            (100 * HOUR + 3 * SECOND, "100h3s"),
        ] {
            assert_eq!(exact(Duration::from_nanos(nanoseconds)), expected);
        }
    }

    /// The cases from ten seconds on are those of `TestHumanDurationBoundaries` and `TestHumanDuration`.
    #[test]
    fn writes_for_people() {
        let (second, minute, hour, day) = (1, 60, 3600, 86_400);
        let year = 365 * day;
        for (seconds, expected) in [
            (0, "0s"),
            (second, "1s"),
            (70 * second, "70s"),
            (2 * minute - 1, "119s"),
            (2 * minute, "2m"),
            (2 * minute + 1, "2m1s"),
            (125, "2m5s"),
            (10 * minute - 1, "9m59s"),
            (10 * minute, "10m"),
            (10 * minute + 1, "10m"),
            (3 * hour - 1, "179m"),
            (3 * hour, "3h"),
            (3 * hour + minute, "3h1m"),
            (8 * hour - 1, "7h59m"),
            (8 * hour, "8h"),
            (8 * hour + 59 * minute, "8h"),
            (2 * day - 1, "47h"),
            (2 * day, "2d"),
            (2 * day + hour, "2d1h"),
            (8 * day - 1, "7d23h"),
            (8 * day, "8d"),
            (8 * day + 23 * hour, "8d"),
            (2 * year - 1, "729d"),
            (2 * year, "2y"),
            (2 * year + 1, "2y"),
            (2 * year + day, "2y1d"),
            (8 * year - 1, "7y364d"),
            (8 * year, "8y"),
            (8 * year + 364 * day, "8y"),
            (9 * year, "9y"),
        ] {
            assert_eq!(human(Duration::from_secs(seconds)), expected, "{seconds}");
        }
        for (milliseconds, expected) in [
            (1, "1ms"),
            (99, "99ms"),
            (100, "0.1s"),
            (899, "0.8s"),
            (1_000, "1s"),
            (1_050, "1s"),
            (2_500, "2.5s"),
            (9_999, "9.9s"),
            (10_999, "10s"),
        ] {
            assert_eq!(human(Duration::from_millis(milliseconds)), expected, "{milliseconds}");
        }
        assert_eq!(human(Duration::from_micros(999)), "0s");
    }

    proptest! {
        #[test]
        fn what_is_written_exactly_reads_the_same(nanoseconds in 0..=LONGEST) {
            let duration = Duration::from_nanos(nanoseconds);
            prop_assert_eq!(parse(&exact(duration)), Ok(duration));
        }

        #[test]
        fn any_text(text in prop_oneof![any::<String>(), "[0-9.hmsunµ+-]{0,24}"]) {
            if let Ok(duration) = parse(&text) {
                prop_assert_eq!(parse(&exact(duration)), Ok(duration));
                prop_assert!(!human(duration).is_empty());
            }
        }

        #[test]
        fn any_duration(seconds: u64, nanoseconds in 0..SECOND as u32) {
            let duration = Duration::new(seconds, nanoseconds);
            prop_assert!(!human(duration).is_empty());
            let _ = parse(&exact(duration));
        }
    }
}
