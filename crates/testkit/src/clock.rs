//! The real clock, for the fake server and the tests: the one file that asks for the time and waits.
#![expect(
    clippy::disallowed_methods,
    reason = "the fake server lives in real time; the engine's clock fence is not for it"
)]

use std::time::{Duration, Instant};

/// Returns the current instant of the monotonic clock.
pub fn now() -> Instant {
    Instant::now()
}

/// Returns the current time as the API writes it: RFC 3339, whole seconds, `Z`.
pub fn now_text() -> String {
    text_in(0)
}

/// Returns the current time with its nanoseconds, as a kubelet writes it before a line of a log.
pub fn now_in_full() -> String {
    jiff::Timestamp::now().strftime("%Y-%m-%dT%H:%M:%S.%9fZ").to_string()
}

/// Returns the time an hour ago, likewise: when the builders' objects were made.
pub fn earlier_text() -> String {
    text_in(-60 * 60)
}

/// Returns the time 59 minutes ago, likewise: when the builders' containers were started.
pub fn started_text() -> String {
    text_in(-59 * 60)
}

/// Returns the time `seconds` seconds from now as the API writes it.
pub fn text_in(seconds: i64) -> String {
    (jiff::Timestamp::now() + jiff::SignedDuration::from_secs(seconds)).strftime("%Y-%m-%dT%H:%M:%SZ").to_string()
}

/// Returns the time `seconds` seconds from now as HTTP writes it in its `Date` header.
pub fn http_date(seconds: i64) -> String {
    let time = jiff::Timestamp::now() + jiff::SignedDuration::from_secs(seconds);
    time.strftime("%a, %d %b %Y %H:%M:%S GMT").to_string()
}

/// Returns the seconds since a time as the API writes it; 0 if it is none.
pub fn seconds_since(time: &str) -> i64 {
    time.parse::<jiff::Timestamp>().map_or(0, |time| (jiff::Timestamp::now() - time).get_seconds())
}

/// Waits.
pub fn sleep(duration: Duration) {
    std::thread::sleep(duration);
}

/// Waits until `met` answers with a value; panics after half a minute, naming what it waited for.
#[track_caller]
pub fn eventually<T>(what: &str, mut met: impl FnMut() -> Option<T>) -> T {
    let deadline = now() + Duration::from_secs(30);
    loop {
        if let Some(value) = met() {
            return value;
        }
        assert!(now() < deadline, "waited half a minute for {what}");
        sleep(Duration::from_millis(2));
    }
}
