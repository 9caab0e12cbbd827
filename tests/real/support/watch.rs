//! What happens to pods, with the time at which this process heard of it: the tests' own watch, beside the program's.

use std::io::BufReader;
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::spawn;
use std::time::{Duration, Instant};

use serde_json::{Deserializer, Value};

use super::poll_every;

/// One state of one pod.
#[derive(Debug, Clone)]
pub(crate) struct Seen {
    /// When this process had read it.
    pub(crate) at: Instant,
    /// The whole object.
    pub(crate) pod: Value,
}

/// A watch that runs until it is dropped.
pub(crate) struct Watch {
    child: Child,
    seen: Arc<Mutex<Vec<Seen>>>,
}

impl Watch {
    /// Starts a kubectl that prints each state as JSON, and waits until it has printed the existing pods.
    pub(super) fn start(mut kubectl: Command, count: usize) -> Self {
        let mut child = kubectl
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap_or_else(|error| panic!("{kubectl:?}: {error}"));
        let stdout = child.stdout.take().expect("the output is captured");
        let seen = Arc::new(Mutex::new(Vec::new()));
        let heard = Arc::clone(&seen);
        spawn(move || {
            for pod in Deserializer::from_reader(BufReader::new(stdout)).into_iter::<Value>() {
                let Ok(pod) = pod else { break };
                heard.lock().unwrap_or_else(PoisonError::into_inner).push(Seen { at: Instant::now(), pod });
            }
        });
        let watch = Self { child, seen };
        poll_every(Duration::from_millis(20), || (watch.seen().len() >= count).then_some(()))
            .unwrap_or_else(|| panic!("{kubectl:?} prints nothing"));
        watch
    }

    /// Returns everything so far, in order.
    pub(crate) fn seen(&self) -> Vec<Seen> {
        self.seen.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Waits for a pod's state that is as wanted, and returns the first such one; it may have come already.
    pub(crate) fn wait(&self, wanted: impl Fn(&Value) -> bool) -> Seen {
        poll_every(Duration::from_millis(5), || self.seen().into_iter().find(|seen| wanted(&seen.pod)))
            .unwrap_or_else(|| panic!("no pod came to be as wanted: {:#?}", self.seen().last()))
    }
}

impl Drop for Watch {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
