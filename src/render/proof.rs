//! The times of a rollout and the pods that were replaced, as text for the terminal.

use std::io::{self, Write};

use engine::report::proof::{Proof, Spread};
use engine::value::duration;

use super::style::Style;
use super::words;

/// How many pods that left are named.
const NAMED_PODS: usize = 5;

/// Writes a line for each container of which a time is known, and one for each pod that left.
pub(super) fn write(proof: &Proof, style: &Style, out: &mut dyn Write) -> io::Result<()> {
    for (pod, why) in proof.replaced.iter().take(NAMED_PODS) {
        writeln!(out, "  {}  gone: {}", words::pod(style, pod), style.show(why))?;
    }
    if let left @ 1.. = proof.replaced.len().saturating_sub(NAMED_PODS) {
        writeln!(out, "  and {} gone", words::count(left, "more pod"))?;
    }
    for times in &proof.times {
        let name = style.show(times.container.as_str());
        let part = |what: &str, spread: Option<Spread>| spread.map(|spread| format!("{what} {}", words_of(spread)));
        let unknown = |pods| format!("not known of {}", words::count(pods, "pod"));
        let unknown = Some(times.down_unknown).filter(|pods| *pods > 0).map(unknown);
        let head = if times.down.is_some() || unknown.is_some() { "Downtime" } else { "Times" };
        let down = times.down.map(words_of);
        let ready = part("from start to ready", times.ready.filter(|ready| ready.max > 0.0));
        let parts: Vec<String> = [down, unknown, ready, part("pull", times.pull)].into_iter().flatten().collect();
        if !parts.is_empty() {
            writeln!(out, "{head} per pod ({name}): {}.", parts.join("; "))?;
        }
    }
    Ok(())
}

/// Returns `0-2s, median 1s`.
fn words_of(spread: Spread) -> String {
    // The API has whole seconds.
    if spread.max == 0.0 {
        return "less than 1s".to_owned();
    }
    let times = [spread.min, spread.median, spread.max].map(words::from_seconds);
    let ([min, median, max], unit) = duration::in_one_unit(times);
    if min == max { duration::human(times[2]) } else { format!("{min}-{max}{unit}, median {median}{unit}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_range_has_one_unit() {
        for (min, median, max, expected) in [
            (0.0, 0.0, 0.0, "less than 1s"),
            (0.5, 0.5, 0.5, "0.5s"),
            (0.025, 0.025, 0.1, "25-100ms, median 25ms"),
            (0.4, 0.95, 2.5, "0.4-2.5s, median 0.9s"),
            (0.0, 1.0, 2.0, "0-2s, median 1s"),
            (1.5, 3.0, 12.7, "1-12s, median 3s"),
            (12.1, 12.5, 12.9, "12s"),
            (45.0, 61.0, 185.0, "45-185s, median 61s"),
            (185.0, 185.0, 185.0, "3m5s"),
            (45.0, 600.0, 720.0, "0-12m, median 10m"),
        ] {
            assert_eq!(words_of(Spread { min, median, max, count: 3 }), expected);
        }
    }
}
