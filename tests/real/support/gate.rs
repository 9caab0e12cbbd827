//! A way to the API server that knows requests: it counts the writes, and can hold one of them, before the server has it
//! or after the server has stored it and before the program hears of it.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::spawn;
use std::time::Duration;

use serde_json::Value;

use super::process::Running;
use super::{Api, poll_every};

/// On which side of a write the program is held.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Moment {
    /// The server has not seen it.
    Before,
    /// The server has stored it, and the program does not know.
    After,
}

/// What becomes of the write that is held.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Fate {
    /// Nothing is held yet.
    Open,
    Held,
    /// It goes on its way.
    Released,
    /// The connection ends without it.
    Lost,
}

struct State {
    /// Every write since the last [`Gate::stop_at`], such as `PATCH /apis/apps/v1/...`.
    writes: Vec<String>,
    stop: Option<(usize, Moment)>,
    fate: Fate,
}

struct Shared {
    state: Mutex<State>,
    changed: Condvar,
}

/// The gate. Its threads end with the test process.
pub(crate) struct Gate {
    /// Requests of the test's own: they pass beside the gate and are not counted.
    pub(crate) api: Api,
    url: String,
    shared: Arc<Shared>,
}

impl Gate {
    /// Opens it; nothing is held.
    pub(crate) fn open() -> Self {
        let api = Api::open();
        let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
        let url = format!("http://{}", listener.local_addr().expect("a bound port"));
        let state = State { writes: Vec::new(), stop: None, fate: Fate::Open };
        let shared = Arc::new(Shared { state: Mutex::new(state), changed: Condvar::new() });
        let (of_listener, server) = (Arc::clone(&shared), api.address().to_owned());
        spawn(move || {
            for client in listener.incoming().flatten() {
                let (shared, server) = (Arc::clone(&of_listener), server.clone());
                // A connection that breaks is the program's to deal with.
                spawn(move || drop(shared.pass(&client, &server)));
            }
        });
        Self { api, url, shared }
    }

    /// Returns the flags that lead the program through it.
    pub(crate) fn flags(&self) -> [&str; 2] {
        ["--server", &self.url]
    }

    /// From now on counts afresh, and holds the write of this number, which begins at 1.
    pub(crate) fn stop_at(&self, number: usize, moment: Moment) {
        *self.shared.lock() = State { writes: Vec::new(), stop: Some((number, moment)), fate: Fate::Open };
    }

    /// Waits until the write is held, and returns which it is; `None` when the program ended without one of that number.
    pub(crate) fn held(&self, running: &mut Running) -> Option<String> {
        let held = poll_every(Duration::from_millis(2), || {
            // Asked first: a write may come just before the end.
            let has_ended = running.has_ended();
            let state = self.shared.lock();
            let held = (state.fate == Fate::Held).then(|| state.writes.last().cloned().unwrap_or_default());
            (held.is_some() || has_ended).then_some(held)
        });
        held.unwrap_or_else(|| panic!("neither a write nor an end: {:?}", self.writes()))
    }

    /// Lets the held write go on its way.
    pub(crate) fn releasing(&self) {
        self.decide(Fate::Released);
    }

    /// Ends the connection of the held write.
    pub(crate) fn lose(&self) {
        self.decide(Fate::Lost);
    }

    fn decide(&self, fate: Fate) {
        self.shared.lock().fate = fate;
        self.shared.changed.notify_all();
    }

    /// Returns the writes so far.
    pub(crate) fn writes(&self) -> Vec<String> {
        self.shared.lock().writes.clone()
    }
}

impl Drop for Gate {
    fn drop(&mut self) {
        self.lose();
    }
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// One request; every connection serves a single one, which is said to both sides.
    fn pass(&self, client: &TcpStream, server: &str) -> std::io::Result<()> {
        let mut reader = BufReader::new(client);
        let (mut head, mut line, mut length) = (String::new(), String::new(), 0);
        while reader.read_line(&mut line)? > 0 && !line.trim_end().is_empty() {
            let name = line.split(':').next().unwrap_or_default().to_ascii_lowercase();
            if name == "content-length" {
                length = line.rsplit(':').next().and_then(|length| length.trim().parse().ok()).unwrap_or(0);
            }
            if name != "connection" {
                head.push_str(&line);
            }
            line.clear();
        }
        let mut body = vec![0; length];
        reader.read_exact(&mut body)?;
        let number = if is_sign_of_life(&body) { None } else { self.count(&head) };
        if !self.wait_where(number, Moment::Before) {
            return client.shutdown(Shutdown::Both);
        }
        let mut upstream = TcpStream::connect(server)?;
        upstream.write_all(format!("{head}Connection: close\r\n\r\n").as_bytes())?;
        upstream.write_all(&body)?;
        let mut client = client;
        if number.is_none() {
            // Watches too: as it comes.
            std::io::copy(&mut upstream, &mut client)?;
            return client.shutdown(Shutdown::Both);
        }
        let mut answer = Vec::new();
        upstream.read_to_end(&mut answer)?;
        if self.wait_where(number, Moment::After) {
            client.write_all(&answer)?;
        }
        client.shutdown(Shutdown::Both)
    }

    /// Returns the number of a write; `None` for everything else.
    fn count(&self, head: &str) -> Option<usize> {
        let mut words = head.split_whitespace();
        let (method, target) = (words.next()?, words.next()?);
        let (path, query) = target.split_once('?').unwrap_or((target, ""));
        let changes = ["PATCH", "POST", "PUT", "DELETE"].contains(&method)
            && !query.contains("dryRun")
            && !path.ends_with("reviews");
        changes.then(|| {
            let mut state = self.lock();
            state.writes.push(format!("{method} {path}"));
            state.writes.len()
        })
    }

    /// Holds the request where it is the one; returns whether it goes on.
    fn wait_where(&self, number: Option<usize>, moment: Moment) -> bool {
        let mut state = self.lock();
        if number.is_none() || state.stop != number.map(|number| (number, moment)) || state.fate != Fate::Open {
            return true;
        }
        state.fate = Fate::Held;
        while state.fate == Fate::Held {
            state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
        state.fate != Fate::Lost
    }
}

/// How many a run gives depends on how long it takes: they are no writes of its steps.
fn is_sign_of_life(body: &[u8]) -> bool {
    let operations: Vec<Value> = serde_json::from_slice(body).unwrap_or_default();
    let mut changes = operations.iter().filter(|operation| operation["op"] != "test").peekable();
    let is_of_it = |change: &Value| {
        let path = change["path"].as_str().unwrap_or_default();
        path.starts_with("/metadata/labels") && change.to_string().contains("/beat\"")
            || path == "/metadata/labels/kubectl-inplace.io~1beat"
    };
    changes.peek().is_some() && changes.all(is_of_it)
}
