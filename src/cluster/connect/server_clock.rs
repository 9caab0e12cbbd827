//! The server's time, by the `Date` header of its newest answer (RFC 9110 6.6.1): whole seconds.

use std::sync::{Arc, Mutex, PoisonError};

use http::HeaderMap;
use jiff::Timestamp;
use jiff::fmt::rfc2822::DateTimeParser;

#[derive(Clone, Default)]
pub(super) struct ServerClock(Arc<Mutex<Option<Timestamp>>>);

impl ServerClock {
    /// Reads the date header of an answer; without a valid one, the last time stays.
    pub(super) fn read(&self, headers: &HeaderMap) {
        if let Some(date) = headers.get(http::header::DATE).and_then(|date| parse(date.to_str().ok()?)) {
            *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Some(date);
        }
    }

    pub(super) fn now(&self) -> Option<Timestamp> {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn parse(date: &str) -> Option<Timestamp> {
    DateTimeParser::new().parse_timestamp(date).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_newest_date_counts() {
        let clock = ServerClock::default();
        assert_eq!(clock.now(), None);
        let dates = [
            ("Sun, 22 Nov 2026 07:02:10 GMT", "2026-11-22T07:02:10Z"),
            ("yesterday", "2026-11-22T07:02:10Z"),
            ("Sun, 22 Nov 2026 07:02:09 GMT", "2026-11-22T07:02:09Z"),
        ];
        for (date, expected) in dates {
            clock.read(&HeaderMap::from_iter([(http::header::DATE, date.parse().unwrap())]));
            clock.read(&HeaderMap::new());
            assert_eq!(clock.now().map(|now| now.to_string()).as_deref(), Some(expected), "{date}");
        }
    }
}
