//! A read of the cluster that is repeated: whether what is known is valid and fresh, and when it is read again. What was
//! read is in [`super::Observed`].

use std::time::Duration;

use super::pod_run::BACK_OFF;
use super::{Answer, Now};

/// An answer that took longer may have been waiting while this process slept.
const SLOWEST: Duration = Duration::from_secs(5);

/// The time between two reads while something is waited for: at first, and at most.
const SOON: Duration = Duration::from_millis(200);
const LATER: Duration = Duration::from_secs(1);

/// One kind of read; one at a time.
#[derive(Debug, Clone, Default)]
pub(super) struct Read {
    asked: Option<Now>,
    /// When the last read was asked for, and when its answer came: it shows the state at the first time, or later.
    answered: Option<(Now, Now)>,
    is_stale: bool,
    /// An answer to a read that was asked for before then is not valid either, whenever it comes.
    valid_from: Now,
    pub(super) retry_at: Now,
    interval: Duration,
    pub(super) error: Option<String>,
}

impl Read {
    /// Since when an answer is outstanding.
    pub(super) fn asked(&self) -> Option<Now> {
        self.asked
    }

    /// Asks, unless an answer is outstanding or the server is to be left alone. Returns whether to send the request.
    pub(super) fn ask(&mut self, now: Now) -> bool {
        let may_ask = self.asked.is_none() && self.retry_at <= now;
        if may_ask {
            self.asked = Some(now);
        }
        may_ask
    }

    /// Asks if the next read is due; the interval doubles from 200 ms to 1 s.
    pub(super) fn poll(&mut self, now: Now) -> bool {
        let asks = self.due() <= now && self.ask(now);
        if asks {
            self.interval = (self.interval.max(SOON) * 2).min(LATER);
        }
        asks
    }

    pub(super) fn due(&self) -> Now {
        let at = self.answered.map_or(Now::ZERO, |(asked, _)| asked + self.interval.max(SOON));
        at.max(self.retry_at)
    }

    /// Resets the interval: what is waited for has changed.
    pub(super) fn hurry(&mut self) {
        self.interval = SOON;
    }

    /// Something has changed just now, and only a read from now on shows what.
    pub(super) fn invalidate(&mut self, now: Now) {
        (self.is_stale, self.valid_from) = (true, now);
    }

    pub(super) fn forget(&mut self) {
        self.asked = None;
    }

    /// Takes in the answer; returns whether it was read.
    pub(super) fn answered(&mut self, answer: &Answer, now: Now) -> bool {
        let Some(asked) = self.asked.take() else { return false };
        self.error = answer.message().map(str::to_owned);
        let was_read = *answer == Answer::Read;
        if was_read {
            self.answered = Some((asked, now));
            self.is_stale = asked < self.valid_from;
        } else {
            self.put_off(if let Answer::NotDone { after, .. } = answer { *after } else { None }, now);
        }
        was_read
    }

    /// Delays the next read by what the server asks for, or by one second.
    pub(super) fn put_off(&mut self, after: Option<Duration>, now: Now) {
        self.retry_at = now + after.unwrap_or(BACK_OFF);
    }

    pub(super) fn at(&self) -> Option<Now> {
        self.answered.map(|(_, at)| at)
    }

    pub(super) fn is_stale(&self) -> bool {
        self.is_stale
    }

    /// Whether it was read, and nothing has changed since.
    pub(super) fn is_valid(&self) -> bool {
        self.answered.is_some() && !self.is_stale
    }

    /// Whether it shows the state at that time or later.
    pub(super) fn shows(&self, at: Now) -> bool {
        self.answered.is_some_and(|(asked, _)| asked >= at)
    }

    pub(super) fn took(&self) -> Duration {
        self.answered.map_or(Duration::ZERO, |(asked, at)| at.saturating_sub(asked))
    }

    /// Whether the answer took so long that it may be too old to rely on, whenever it arrived.
    pub(super) fn is_overdue(&self) -> bool {
        self.took() > SLOWEST
    }

    /// Whether it is valid and was answered no longer than this ago.
    pub(super) fn fresh(&self, max_age: Duration, now: Now) -> bool {
        self.is_valid() && !self.is_overdue() && self.at().is_some_and(|at| at + max_age >= now)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A process sleeps, and the answer to its last read is there when it wakes.
    #[test]
    fn an_answer_to_what_was_asked_before_something_changed_does_not_count() {
        let second = Duration::from_secs;
        let mut read = Read::default();
        assert!(read.ask(second(1)) && !read.ask(second(2)), "one at a time");
        read.invalidate(second(3));
        assert!(read.answered(&Answer::Read, second(3)) && !read.is_valid());
        assert!(read.poll(second(3)) && read.answered(&Answer::Read, second(4)) && read.is_valid());
        assert!(read.fresh(second(1), second(5)) && !read.fresh(second(1), second(6)));
    }
}
