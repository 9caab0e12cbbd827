//! The signals that ask a command to stop: Ctrl-C, Ctrl-\\, SIGTERM, and SIGHUP of a terminal that is closed.

use std::io;

use engine::rollout::Stop;

/// Listens to them: from then on none of them ends the process by itself.
#[cfg(unix)]
#[derive(Debug)]
pub(crate) struct Signals {
    interrupt: tokio::signal::unix::Signal,
    quit: tokio::signal::unix::Signal,
    terminate: tokio::signal::unix::Signal,
    /// Not listened for where it was ignored from the start, as nohup does; and once received, not again: the kernel
    /// and the shell both send one when a terminal is closed, and only the user's second signal means at once.
    hangup: Option<tokio::signal::unix::Signal>,
}

#[cfg(unix)]
impl Signals {
    pub(crate) fn listen() -> io::Result<Self> {
        use tokio::signal::unix::{SignalKind, signal};
        let hangup = if ignores_hangup() { None } else { Some(signal(SignalKind::hangup())?) };
        Ok(Self {
            interrupt: signal(SignalKind::interrupt())?,
            quit: signal(SignalKind::quit())?,
            terminate: signal(SignalKind::terminate())?,
            hangup,
        })
    }

    pub(crate) async fn next(&mut self) -> Stop {
        use std::task::Poll;
        std::future::poll_fn(|context| {
            if self.interrupt.poll_recv(context).is_ready() || self.quit.poll_recv(context).is_ready() {
                return Poll::Ready(Stop::Interrupt);
            }
            if self.terminate.poll_recv(context).is_ready() {
                return Poll::Ready(Stop::Terminate);
            }
            if self.hangup.as_mut().is_some_and(|hangup| hangup.poll_recv(context).is_ready()) {
                // Its handler stays: tokio never gives the default action back.
                self.hangup = None;
                return Poll::Ready(Stop::Terminate);
            }
            Poll::Pending
        })
        .await
    }
}

/// Whether SIGHUP (1) was ignored from the start: read once, before a handler is set; elsewhere it takes unsafe code.
#[cfg(unix)]
#[expect(clippy::disallowed_methods, reason = "the process's own state, as the kernel tells it")]
fn ignores_hangup() -> bool {
    static IGNORED: std::sync::OnceLock<bool> = std::sync::OnceLock::new();
    *IGNORED.get_or_init(|| {
        let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
        let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
        mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()).is_some_and(|mask| mask & 1 == 1)
    })
}

#[cfg(not(unix))]
#[derive(Debug)]
pub(crate) struct Signals {}

#[cfg(not(unix))]
impl Signals {
    #[expect(clippy::unnecessary_wraps, reason = "the same call as on Unix")]
    pub(crate) fn listen() -> io::Result<Self> {
        Ok(Self {})
    }

    pub(crate) async fn next(&mut self) -> Stop {
        // Without a handler there is nothing to hear, for ever.
        if tokio::signal::ctrl_c().await.is_err() {
            std::future::pending::<()>().await;
        }
        Stop::Interrupt
    }
}
