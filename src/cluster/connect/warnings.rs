//! The headers `Warning` (RFC 7234 5.5, code 299), reported once per text as by client-go's `rest/warnings.go`, and `Date`.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, PoisonError};

use http::HeaderMap;
use jiff::Timestamp;
use jiff::fmt::rfc2822::DateTimeParser;
use tokio::sync::mpsc::UnboundedSender;

use super::ServerNotice;
use engine::k8s::mask;

/// Remembers which warnings were reported, and reports the others.
#[derive(Clone)]
pub(in crate::cluster) struct Warnings {
    reported: Arc<Mutex<BTreeSet<String>>>,
    notices: Option<UnboundedSender<ServerNotice>>,
}

impl Warnings {
    pub(super) fn new(notices: Option<UnboundedSender<ServerNotice>>) -> Self {
        Self { reported: Arc::default(), notices }
    }

    /// Tells a notice; nobody listening is no error.
    pub(super) fn tell(&self, notice: ServerNotice) {
        if let Some(notices) = &self.notices {
            // A closed receiver means that the program is ending.
            let _ = notices.send(notice);
        }
    }

    /// Reports a warning unless the same text was reported before.
    pub(super) fn tell_once(&self, text: String) {
        let new = self.reported.lock().unwrap_or_else(PoisonError::into_inner).insert(text.clone());
        if new {
            self.tell(ServerNotice::Warning(text));
        }
    }

    pub(super) fn read(&self, headers: &HeaderMap) {
        for value in headers.get_all(http::header::WARNING) {
            for text in parse(&String::from_utf8_lossy(value.as_bytes())) {
                self.tell_once(mask::text(&text));
            }
        }
    }

    pub(in crate::cluster) fn texts(&self) -> Vec<String> {
        self.reported.lock().unwrap_or_else(PoisonError::into_inner).iter().cloned().collect()
    }
}

/// Reads the texts of one header: `299 agent "text" ["date"]`, several separated by commas. Other codes are left out;
/// the rest of a malformed header is ignored.
fn parse(header: &str) -> Vec<String> {
    let mut texts = Vec::new();
    let mut rest = header.trim_start();
    while let Some((code, after_code)) = rest.split_once(' ') {
        let Some((_agent, quoted)) = after_code.trim_start().split_once(' ') else { break };
        let Some((text, after_text)) = quoted_string(quoted.trim_start()) else { break };
        if code == "299" && !text.is_empty() {
            texts.push(text);
        }
        let after_text = after_text.trim_start();
        let after_date = quoted_string(after_text).map_or(after_text, |(_, after)| after.trim_start());
        let Some(next) = after_date.strip_prefix(',') else { break };
        rest = next.trim_start();
    }
    texts
}

/// Reads a quoted string with its escapes, and gives what follows it.
fn quoted_string(input: &str) -> Option<(String, &str)> {
    let inner = input.strip_prefix('"')?;
    let mut text = String::new();
    let mut characters = inner.char_indices();
    while let Some((at, character)) = characters.next() {
        match character {
            '"' => return Some((text, inner.get(at + 1..)?)),
            '\\' => text.push(characters.next()?.1),
            other => text.push(other),
        }
    }
    None
}

/// The server's time, by the `Date` header of its newest answer (RFC 9110 6.6.1): whole seconds.
#[derive(Clone, Default)]
pub(in crate::cluster) struct ServerClock(Arc<Mutex<Option<Timestamp>>>);

impl ServerClock {
    /// Reads the date header of an answer; without a valid one, the last time stays.
    pub(super) fn read(&self, headers: &HeaderMap) {
        let date = headers.get(http::header::DATE).and_then(|date| date.to_str().ok());
        if let Some(date) = date.and_then(|date| DateTimeParser::new().parse_timestamp(date).ok()) {
            *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Some(date);
        }
    }

    pub(in crate::cluster) fn now(&self) -> Option<Timestamp> {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_of_a_header() {
        let cases: &[(&str, &[&str])] = &[
            (r#"299 - "spec.x is deprecated""#, &["spec.x is deprecated"]),
            (r#"299 - "say \"yes\" or C:\\temp""#, &[r#"say "yes" or C:\temp"#]),
            (r#"299 - "one", 299 - "two, three""#, &["one", "two, three"]),
            (
                r#"299 kube-apiserver "with agent" "Sat, 21 Nov 2026 10:00:00 GMT",299 - "next""#,
                &["with agent", "next"],
            ),
            (r#"199 - "another code""#, &[]),
            (r#"299 - """#, &[]),
            (r#"299 - "never ends"#, &[]),
            (r#"299 - "ends in escape\"#, &[]),
            ("299", &[]),
            ("", &[]),
            (r#"299 - "schön""#, &["schön"]),
        ];
        for (header, expected) in cases {
            assert_eq!(parse(header), *expected, "{header}");
        }
    }

    #[test]
    fn the_same_text_is_reported_once() {
        let (sender, mut receiver) = tokio::sync::mpsc::unbounded_channel();
        let warnings = Warnings::new(Some(sender));
        for _ in 0..100 {
            warnings.tell_once("old".to_owned());
        }
        warnings.tell_once("other".to_owned());
        assert_eq!(receiver.try_recv(), Ok(ServerNotice::Warning("old".to_owned())));
        assert_eq!(receiver.try_recv(), Ok(ServerNotice::Warning("other".to_owned())));
        assert!(receiver.try_recv().is_err());
        assert_eq!(warnings.texts(), ["old", "other"]);
    }
}

#[cfg(test)]
mod server_clock_tests {
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
