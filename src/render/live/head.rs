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
    fn an_estimate_is_no_stopwatch() {
        for (millis, text) in
            [(10, "1 s"), (90_000, "1 min 30 s"), (119_000, "1 min 59 s"), (150_000, "3 min"), (200_000, "3 min")]
        {
            assert_eq!(about(Duration::from_millis(millis)), text, "{millis}");
        }
    }
}
