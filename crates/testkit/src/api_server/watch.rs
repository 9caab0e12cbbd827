//! WATCH: the history from a resourceVersion on, in order, then what happens next; bookmarks; 410.

use std::io;
use std::sync::Arc;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::http::{Body, Connection, Request};
use super::resource::Target;
use super::selector::Selector;
use super::status;
use super::store::Change;
use super::table::{Form, table};
use super::{Shared, State};
use crate::api_model::set_metadata;
use crate::clock;

/// What happened, and to which object.
type Event = (&'static str, Arc<Value>);

/// A watch that was asked for.
pub(crate) struct Watch {
    target: Target,
    selector: Selector,
    from: Option<u64>,
    initial_events: bool,
    bookmarks: bool,
    timeout: Duration,
    expired: bool,
    cut_after: Option<usize>,
    headers: Vec<(String, String)>,
    form: Form,
}

impl Watch {
    /// Reads the query of a watch.
    pub(crate) fn new(request: &Request, target: &Target, selector: Selector, headers: Vec<(String, String)>) -> Self {
        let is_set = |name| request.parameter(name).is_some_and(|value| value == "true" || value == "1");
        let from =
            request.parameter("resourceVersion").and_then(|version| version.parse().ok()).filter(|from| *from > 0);
        Self {
            target: target.clone(),
            selector,
            from,
            initial_events: is_set("sendInitialEvents"),
            bookmarks: is_set("allowWatchBookmarks"),
            timeout: Duration::from_secs(
                request.parameter("timeoutSeconds").and_then(|seconds| seconds.parse().ok()).unwrap_or(1800),
            ),
            expired: false,
            cut_after: None,
            headers,
            form: Form::of(request),
        }
    }

    /// Makes the watch say that its resourceVersion is too old.
    pub(crate) fn expire(&mut self) {
        self.expired = true;
    }

    /// Makes the stream break off after this many events.
    pub(crate) fn cut_after(&mut self, events: usize) {
        self.cut_after = Some(events);
    }

    /// Serves the watch until it times out, is cut, the client goes away, or the server stops.
    pub(crate) fn run(&self, shared: &Shared, connection: &mut Connection) -> io::Result<()> {
        let started = clock::now();
        connection.start_chunks(&self.headers)?;
        let mut sent = 0;
        let Some((mut seen, first)) = self.open(shared) else {
            return self.too_old(shared, self.from.unwrap_or_default(), connection);
        };
        let mut batch = first;
        let mut last_sent = clock::now();
        loop {
            for (kind, object) in &batch {
                if self.cut_after.is_some_and(|most| sent >= most) {
                    return Err(io::ErrorKind::ConnectionAborted.into());
                }
                match self.form {
                    Form::Table(include) if *kind != "BOOKMARK" => {
                        let metadata = json!({"resourceVersion": object["metadata"]["resourceVersion"]});
                        let resource = self.target.resource;
                        connection.send_event(kind, &table(resource, [&**object], &metadata, include, sent == 0))?;
                    }
                    Form::Table(_) | Form::Objects => connection.send_event(kind, object)?,
                }
                sent += 1;
                last_sent = clock::now();
            }
            if self.cut_after.is_some_and(|most| sent >= most) {
                return Err(io::ErrorKind::ConnectionAborted.into());
            }
            if clock::now().duration_since(started) >= self.timeout {
                return connection.end_chunks();
            }
            if seen < shared.lock().store.compacted() {
                return self.too_old(shared, seen, connection);
            }
            batch = match self.next(shared, &mut seen, started, last_sent) {
                Some(batch) => batch,
                None => return connection.end_chunks(),
            };
        }
    }

    fn too_old(&self, shared: &Shared, version: u64, connection: &mut Connection) -> io::Result<()> {
        let compacted = shared.lock().store.compacted();
        if let Body::Json(object) = status::expired(&format!("too old resource version: {version} ({compacted})")).body
        {
            connection.send_event("ERROR", &object)?;
        }
        connection.end_chunks()
    }

    /// Returns the version of the watch and what it sends at once; `None` if its resourceVersion is too old.
    fn open(&self, shared: &Shared) -> Option<(u64, Vec<Event>)> {
        let state = shared.lock();
        if let Some(from) = self.from.filter(|_| !self.initial_events) {
            return (!self.expired && from >= state.store.compacted()).then_some((from, Vec::new()));
        }
        if self.expired {
            return None;
        }
        let listed = state.listed(&self.target, &self.selector);
        let mut events: Vec<Event> = listed.into_iter().map(|(_, object)| ("ADDED", object)).collect();
        if self.initial_events && self.bookmarks {
            events.push(self.bookmark(state.store.version(), true));
        }
        Some((state.store.version(), events))
    }

    /// Waits for the next events; `None` when the server stops. Empty when the watch should check the time.
    fn next(&self, shared: &Shared, seen: &mut u64, started: Instant, last_sent: Instant) -> Option<Vec<Event>> {
        let mut state = shared.lock();
        loop {
            if state.stopped {
                return None;
            }
            let events = self.events_since(&state, *seen);
            let moved = state.store.version() > *seen;
            *seen = state.store.version().max(*seen);
            if !events.is_empty() {
                return Some(events);
            }
            let now = clock::now();
            let bookmark_due = last_sent + state.bookmark_every;
            if self.bookmarks && moved | (now >= bookmark_due) && now >= bookmark_due {
                return Some(vec![self.bookmark(*seen, false)]);
            }
            let end = started + self.timeout;
            if now >= end {
                return Some(Vec::new());
            }
            let until = if self.bookmarks { bookmark_due.min(end) } else { end };
            state = shared.wait(state, until.saturating_duration_since(now).max(Duration::from_millis(1)));
        }
    }

    fn events_since(&self, state: &State, seen: u64) -> Vec<Event> {
        state.store.since(seen).iter().filter_map(|change| self.event(change)).collect()
    }

    /// Returns the event of a change as this watch's selector sees it: leaving the selection is DELETED.
    fn event(&self, change: &Change) -> Option<Event> {
        if !change.key.within(&self.target) || !(self.target.name.is_empty() || self.target.name == change.key.name) {
            return None;
        }
        let was = change.before.as_ref().filter(|object| self.selector.matches(object));
        let is = change.after.as_ref().filter(|object| self.selector.matches(object));
        let (kind, object) = match (was, is) {
            (None, Some(is)) => ("ADDED", Arc::clone(is)),
            (Some(_), Some(is)) => ("MODIFIED", Arc::clone(is)),
            (Some(was), None) => {
                let mut gone = (**was).clone();
                set_metadata(&mut gone, "resourceVersion", change.version.to_string().into());
                ("DELETED", Arc::new(gone))
            }
            (None, None) => return None,
        };
        Some((kind, object))
    }

    fn bookmark(&self, revision: u64, initial: bool) -> Event {
        let mut metadata = json!({"resourceVersion": revision.to_string()});
        if initial {
            metadata["annotations"] = json!({"k8s.io/initial-events-end": "true"});
        }
        let (kind, version) = (self.target.resource.kind, self.target.resource.api_version());
        ("BOOKMARK", Arc::new(json!({"kind": kind, "apiVersion": version, "metadata": metadata})))
    }
}
