//! A read of the cluster that is repeated: when its answer is valid, for how long, and when it is read again.

use std::time::Duration;

use super::entry::BACK_OFF;
use super::{Answer, Now};

/// An answer that took longer may have been waiting while this process slept.
const SLOWEST: Duration = Duration::from_secs(5);

/// The interval of reads while something is waited for: at first, and at most.
const SOON: Duration = Duration::from_millis(200);
const LATER: Duration = Duration::from_secs(1);

/// One read: it shows the state at the time of the request, or later.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Reading {
    pub(super) asked: Now,
    pub(super) answered: Now,
}

impl Reading {
    /// How long the server took.
    pub(super) fn took(self) -> Duration {
        self.answered.saturating_sub(self.asked)
    }

    /// Returns whether it may be too old to rely on, whenever its answer arrived.
    pub(super) fn is_overdue(self) -> bool {
        self.took() > SLOWEST
    }

    /// Returns whether it was answered no longer than this ago.
    pub(super) fn is_fresh(self, within: Duration, now: Now) -> bool {
        !self.is_overdue() && self.answered + within >= now
    }
}

/// A read that is repeated; one at a time.
#[derive(Debug, Clone, Default)]
pub(super) struct PolledRead {
    /// Since when an answer is outstanding.
    asked: Option<Now>,
    /// The read that what is known comes from.
    pub(super) last: Option<Reading>,
    /// Something has changed since: what is known is no longer valid.
    pub(super) is_stale: bool,
    /// An answer to a read that was sent before that time is not valid either, whenever it comes.
    true_from: Now,
    pub(super) not_before: Now,
    pub(super) pause: Duration,
    /// Why it could not be read the last time.
    pub(super) trouble: Option<String>,
}

impl PolledRead {
    pub(super) fn asked(&self) -> Option<Now> {
        self.asked
    }

    pub(super) fn may_ask(&self, now: Now) -> bool {
        self.asked.is_none() && self.not_before <= now
    }

    pub(super) fn ask(&mut self, now: Now) {
        self.asked = Some(now);
    }

    /// Something has changed just now, and only a read from now on shows what.
    pub(super) fn must_be_read(&mut self, now: Now) {
        (self.is_stale, self.true_from) = (true, now);
    }

    /// Nothing waits for it any more: it is not read again.
    pub(super) fn forget(&mut self) {
        self.asked = None;
    }

    /// Takes in the answer; returns whether it was read.
    pub(super) fn answered(&mut self, answer: &Answer, now: Now) -> bool {
        let Some(asked) = self.asked.take() else { return false };
        self.trouble = None;
        match answer {
            Answer::Read => {
                self.last = Some(Reading { asked, answered: now });
                self.is_stale = asked < self.true_from;
                return true;
            }
            Answer::Accepted | Answer::Hook(_) => self.put_off(None, now),
            Answer::NotDone { after, message } => {
                self.trouble = Some(message.clone());
                self.put_off(*after, now);
            }
            Answer::Conflict { message }
            | Answer::Refused { message, .. }
            | Answer::Unknown { message }
            | Answer::ReadFailed { message } => {
                self.trouble = Some(message.clone());
                self.put_off(None, now);
            }
        }
        false
    }

    /// Waits as long as the server says, or a moment.
    pub(super) fn put_off(&mut self, after: Option<Duration>, now: Now) {
        self.not_before = now + after.unwrap_or(BACK_OFF);
    }

    /// When it is read again.
    pub(super) fn due(&self) -> Now {
        self.last.map_or(Now::ZERO, |read| read.asked + self.pause.max(SOON)).max(self.not_before)
    }

    /// It is read again soon.
    pub(super) fn hurry(&mut self) {
        self.pause = SOON;
    }

    /// It is read less often, the longer it is waited for.
    pub(super) fn slow_down(&mut self) {
        self.pause = (self.pause.max(SOON) * 2).min(LATER);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A process sleeps, and the answer to its last read is there when it wakes.
    #[test]
    fn an_answer_to_what_was_asked_before_something_changed_does_not_count() {
        let second = Duration::from_secs;
        let mut read = PolledRead::default();
        read.ask(second(1));
        read.must_be_read(second(3));
        assert!(read.answered(&Answer::Read, second(3)) && read.is_stale);
        read.ask(second(3));
        assert!(read.answered(&Answer::Read, second(4)) && !read.is_stale);
    }
}
