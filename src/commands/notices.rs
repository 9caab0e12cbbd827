//! Notices of the server, and of a credential plugin: shown on stderr soon after they come.
//!
//! Promise: nothing is lost that came before [`Notices::tell`]; nothing is written between [`Notices::hold`] and the next
//! `tell`, because the live view of a rollout draws there.

use std::collections::BTreeSet;
use std::io::{self, Write};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tokio::sync::mpsc::UnboundedReceiver;

use crate::cluster::connect::ServerNotice;
use crate::render::{self, Meaning, Style};
use engine::value::duration;

/// How soon: the user waits for a page to open or for a busy server.
const EVERY: Duration = Duration::from_millis(50);

pub(super) struct Notices {
    receiver: Mutex<UnboundedReceiver<ServerNotice>>,
    style: Style,
    quiet: bool,
    warned: AtomicBool,
    held: AtomicBool,
}

impl Notices {
    /// Begins to show what comes. `quiet` leaves out what is neither a warning nor needs the user.
    pub(super) fn of(receiver: UnboundedReceiver<ServerNotice>, style: Style, quiet: bool) -> Arc<Self> {
        let (warned, held) = (AtomicBool::new(false), AtomicBool::new(false));
        let notices = Arc::new(Self { receiver: Mutex::new(receiver), style, quiet, warned, held });
        let weak = Arc::downgrade(&notices);
        tokio::spawn(async move {
            let mut tick = tokio::time::interval(EVERY);
            loop {
                tick.tick().await;
                let Some(notices) = weak.upgrade() else { return };
                if !notices.held.load(Ordering::SeqCst) {
                    notices.write();
                }
            }
        });
        notices
    }

    /// Holds notices back until the next [`Notices::tell`].
    pub(super) fn hold(&self) {
        self.held.store(true, Ordering::SeqCst);
    }

    /// Tells what has come so far, and goes on telling.
    pub(super) fn tell(&self) {
        self.write();
        self.held.store(false, Ordering::SeqCst);
    }

    pub(super) fn warned(&self) -> bool {
        self.warned.load(Ordering::SeqCst)
    }

    fn write(&self) {
        let mut receiver = self.receiver.lock().unwrap_or_else(PoisonError::into_inner);
        let mut retried = BTreeSet::new();
        while let Ok(notice) = receiver.try_recv() {
            let (meaning, word, text) = match notice {
                ServerNotice::Warning(text) => {
                    self.warned.store(true, Ordering::SeqCst);
                    (Meaning::Waiting, "Warning:", text)
                }
                ServerNotice::Retrying { .. } | ServerNotice::Silent { .. } if self.quiet => continue,
                ServerNotice::Silent { server, after } => {
                    let text =
                        format!("the server {server} has not answered for {}; still waiting", duration::human(after));
                    (Meaning::Plain, "note:", text)
                }
                // Requests side by side fail for the same reason.
                ServerNotice::Retrying { why, .. } if !retried.insert(why.clone()) => continue,
                ServerNotice::Retrying { after, why } => {
                    (Meaning::Plain, "note:", format!("{why}; trying again in {}", duration::human(after)))
                }
                ServerNotice::CredentialPlugin(text) => (Meaning::Plain, "credential plugin:", text),
            };
            let (word, text) = (self.style.paint(meaning, word), self.style.show(&text));
            let line = render::flowing(&format!("{word} {text}"), 2, &self.style);
            // A closed stderr is nobody's loss.
            drop(writeln!(io::stderr().lock(), "{line}"));
        }
    }
}
