//! The first line of a live view: how far the rollout is, and about how long the rest takes.

use std::time::Duration;

use super::super::style::{Style, elided};
use super::super::words;
use engine::report::progress::Progress;

const BAR_COLUMNS: [usize; 2] = [20, 10];
const LEAST_NAME: usize = 12;
const GAP: &str = "  ";
const SPINNER: [&str; 10] = ["⠋", "⠙", "⠹", "⠸", "⠼", "⠴", "⠦", "⠧", "⠇", "⠏"];
const ASCII_SPINNER: [&str; 4] = ["|", "/", "-", "\\"];

pub(super) struct Head<'a> {
    pub(super) name: &'a str,
    pub(super) progress: &'a Progress,
    pub(super) elapsed: Duration,
    /// About how long the rest takes, where that is known.
    pub(super) left: Option<Duration>,
    pub(super) stopping: bool,
    pub(super) frame: usize,
    /// One of several views: they are distinguished by their names and bars.
    pub(super) of_several: bool,
}

impl Head<'_> {
    /// Returns the lines for `columns` columns. Where one line has no room for all, first the bar gets shorter and
    /// goes, then the name, which for a single view is above it. Several views are distinguished by it, and no view
    /// goes without its time: they get separate lines then.
    pub(super) fn lines(&self, columns: usize, style: &Style) -> Vec<String> {
        let spinner = if style.unicode { &SPINNER[..] } else { &ASCII_SPINNER[..] };
        let spinner = spinner.get(self.frame % spinner.len()).copied().unwrap_or("|");
        let (counts, time) = (self.counts(), self.time());
        let with_bar = |bar: &str, name: &str| {
            let parts = [format!("{spinner}{bar} {counts}"), time.clone(), name.to_owned()];
            parts.into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join(GAP)
        };
        let shortened = |bar: &str| {
            let room = columns.saturating_sub(with_bar(bar, "").chars().count() + GAP.len());
            let is_seen = room >= LEAST_NAME || self.name.chars().count() <= room;
            is_seen.then(|| with_bar(bar, &elided(self.name, room, style)))
        };
        let [long, short] = BAR_COLUMNS.map(|columns| self.bar(columns, style));
        let bars = [long.as_str(), short.as_str()];
        let whole = bars.map(|bar| Some(with_bar(bar, self.name)));
        let with_short_bar = self.of_several.then(|| shortened(&short)).flatten();
        let others = [
            with_short_bar,
            Some(with_bar("", self.name)),
            shortened(""),
            (!self.of_several).then(|| with_bar("", "")),
        ];
        let mut one = whole.into_iter().chain(others).flatten();
        if let Some(line) = one.find(|line| line.chars().count() <= columns) {
            return vec![line];
        }
        let name = self.of_several.then(|| elided(self.name, columns.saturating_sub(2), style));
        let below = [name, Some(counts), Some(time)].into_iter().flatten().enumerate();
        below.map(|(index, line)| format!("{} {line}", if index == 0 { spinner } else { " " })).collect()
    }

    fn counts(&self) -> String {
        let progress = self.progress;
        let others = [(progress.waiting, "waiting"), (progress.failed, "failed")];
        let others = others.iter().filter(|(number, _)| *number > 0).map(|(number, word)| format!(", {number} {word}"));
        format!("{} of {} done{}", progress.done, words::count(progress.pods, "pod"), others.collect::<String>())
    }

    fn time(&self) -> String {
        let elapsed = words::whole_seconds(self.elapsed.as_secs());
        match (self.stopping, self.left) {
            (true, _) => format!("{elapsed}, stopping"),
            (false, Some(left)) => format!("{elapsed}, about {} left", about(left)),
            (false, None) => elapsed,
        }
    }

    fn bar(&self, columns: usize, style: &Style) -> String {
        let Progress { done, pods, .. } = self.progress;
        let full = (done * columns).checked_div(*pods).unwrap_or(columns).min(columns);
        let (filled, empty) = if style.unicode { ("█", "░") } else { ("#", ".") };
        let bar = format!("{}{}", filled.repeat(full), empty.repeat(columns - full));
        if style.unicode { format!(" {bar}") } else { format!(" [{bar}]") }
    }
}

/// No more than is known: from two minutes on nobody counts seconds.
fn about(left: Duration) -> String {
    let seconds = (left.as_millis() + 500) / 1000;
    let seconds = u64::try_from(seconds).unwrap_or(u64::MAX).max(1);
    words::whole_seconds(if seconds < 120 { seconds } else { seconds.saturating_add(30) / 60 * 60 })
}

/// About how long the rest takes: as long as those took that were seen to end; before that, as the plan expects.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Pace {
    /// When the first pod was begun, and how many were done by then.
    began: Option<(Duration, usize)>,
    /// When the first one was done that was alone: it may have been held for longer than the others.
    alone: Option<Duration>,
    /// How many were done when one was last, and when.
    last: Option<(usize, Duration)>,
    most: usize,
}

impl Pace {
    pub(super) fn see(&mut self, progress: &Progress, elapsed: Duration) {
        if self.began.is_none() && progress.in_progress > 0 {
            self.began = Some((elapsed, progress.done));
        }
        let Some((_, before)) = self.began else { return };
        let ended = progress.done.saturating_sub(before);
        if ended > self.last.map_or(0, |(ended, _)| ended) {
            if self.last.is_none() && ended == 1 && self.most <= 1 {
                self.alone = Some(elapsed);
            }
            self.last = Some((ended, elapsed));
        }
        self.most = self.most.max(progress.in_progress);
    }

    /// Returns it; `None` where nothing is left, or where what was expected has passed.
    pub(super) fn left(&self, progress: &Progress, elapsed: Duration, expected: Option<Duration>) -> Option<Duration> {
        let at_once = self.most.max(1);
        let turns = |pods: usize| u32::try_from(pods.div_ceil(at_once)).unwrap_or(u32::MAX);
        let rest = progress.in_progress.saturating_add(progress.to_come);
        if rest == 0 {
            return None;
        }
        let as_planned = expected.and_then(|expected| expected.checked_sub(elapsed)).filter(|left| !left.is_zero());
        let Some(((began, _), (ended, last))) = self.began.zip(self.last) else { return as_planned };
        let (since, counted) = match self.alone {
            Some(alone) if ended > 1 => (alone, ended - 1),
            Some(_) | None => (began, ended),
        };
        let each = last.saturating_sub(since).checked_div(turns(counted))?;
        let all = each.saturating_mul(turns(rest)).saturating_sub(elapsed.saturating_sub(last));
        // However long those take that are in progress, the others take theirs.
        let measured = all.max(each.saturating_mul(turns(progress.to_come)));
        let left = as_planned.filter(|_| ended == 1).map_or(measured, |planned| planned.min(measured));
        Some(left).filter(|left| !left.is_zero())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ASCII: Style = Style { unicode: false, ..Style::PLAIN };

    fn progress(done: usize, in_progress: usize, waiting: usize) -> Progress {
        let (pods, to_come) = (done + in_progress + waiting, waiting);
        Progress { pods, done, in_progress, waiting, to_come, ..Progress::default() }
    }

    fn seconds(seconds: u64) -> Duration {
        Duration::from_secs(seconds)
    }

    #[test]
    fn the_bar_goes_first_and_several_keep_their_names() {
        let progress = progress(1, 1, 7);
        let head = Head {
            name: "deployment/web-with-a-name-that-is-long",
            progress: &progress,
            elapsed: seconds(12),
            left: Some(seconds(30)),
            stopping: false,
            frame: 0,
            of_several: false,
        };
        for (columns, line) in [
            (
                117,
                "| [##..................] 1 of 9 pods done, 7 waiting  12 s, about 30 s left  deployment/web-with-a-name-that-is-long",
            ),
            (100, "| 1 of 9 pods done, 7 waiting  12 s, about 30 s left  deployment/web-with-a-name-that-is-long"),
            (77, "| 1 of 9 pods done, 7 waiting  12 s, about 30 s left  deployment...at-is-long"),
            (60, "| 1 of 9 pods done, 7 waiting  12 s, about 30 s left"),
            (37, "| 1 of 9 pods done, 7 waiting\n  12 s, about 30 s left"),
        ] {
            assert_eq!(head.lines(columns, &ASCII).join("\n"), line, "{columns}");
        }
        assert!(head.lines(117, &Style::PLAIN)[0].starts_with("⠋ ██░░░░░░░░░░░░░░░░░░ 1 of 9"));
        let of_several = Head { of_several: true, ..head };
        assert_eq!(
            of_several.lines(84, &ASCII),
            ["| [#.........] 1 of 9 pods done, 7 waiting  12 s, about 30 s left  deploym...is-long"]
        );
        let own = ["| deployment/web-...me-that-is-long", "  1 of 9 pods done, 7 waiting", "  12 s, about 30 s left"];
        assert_eq!(of_several.lines(35, &ASCII), own);
        let stopping = Head { stopping: true, ..of_several };
        assert!(stopping.lines(60, &ASCII)[0].contains("  12 s, stopping  "));
    }

    #[test]
    fn what_pods_took_says_how_long_the_rest_takes() {
        let mut pace = Pace::default();
        let left = |pace: &Pace, progress: &Progress, at: u64| pace.left(progress, seconds(at), Some(seconds(40)));
        pace.see(&progress(0, 0, 4), seconds(0));
        assert_eq!(left(&pace, &progress(0, 0, 4), 1), Some(seconds(39)), "as the plan says");
        pace.see(&progress(0, 1, 3), seconds(2));
        assert_eq!(left(&pace, &progress(0, 1, 3), 45), None, "that has passed");
        pace.see(&progress(1, 1, 2), seconds(7));
        assert_eq!(left(&pace, &progress(1, 1, 2), 7), Some(seconds(15)), "5 s each");
        assert_eq!(left(&pace, &progress(1, 1, 2), 9), Some(seconds(13)));
        assert_eq!(left(&pace, &progress(1, 1, 2), 30), Some(seconds(10)), "not longer than the plan says");
        assert_eq!(left(&pace, &progress(1, 1, 2), 60), Some(seconds(10)), "one hangs, two come");
        assert_eq!(left(&pace, &progress(4, 0, 0), 30), None, "done");
        let pausing = Progress { to_come: 0, ..progress(1, 1, 2) };
        assert_eq!(left(&pace, &pausing, 7), Some(seconds(5)), "the others are not taken now");
        pace.see(&progress(2, 1, 1), seconds(9));
        assert_eq!(left(&pace, &progress(2, 1, 1), 9), Some(seconds(4)), "the first one was held for longer");
    }

    #[test]
    fn pods_that_restart_at_once_end_at_once() {
        let mut pace = Pace::default();
        for (at, now) in [(0, progress(0, 3, 3)), (5, progress(1, 3, 2)), (6, progress(3, 3, 0))] {
            pace.see(&now, seconds(at));
        }
        assert_eq!(pace.left(&progress(3, 3, 0), seconds(6), None), Some(seconds(6)));
        let mut pace = Pace::default();
        for (at, now) in [(0, progress(0, 1, 3)), (5, progress(1, 0, 3)), (5, progress(1, 3, 0))] {
            pace.see(&now, seconds(at));
        }
        assert_eq!(pace.left(&progress(1, 3, 0), seconds(6), None), Some(seconds(4)), "three at once after the first");
    }

    #[test]
    fn an_estimate_is_no_stopwatch() {
        for (millis, text) in
            [(10, "1 s"), (90_000, "1 min 30 s"), (119_000, "1 min 59 s"), (150_000, "3 min"), (200_000, "3 min")]
        {
            assert_eq!(about(Duration::from_millis(millis)), text, "{millis}");
        }
    }
}
