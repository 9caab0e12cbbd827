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
    for left in proof.replaced.iter().take(NAMED_PODS) {
        writeln!(out, "  {}  gone: {}", words::pod(style, &left.pod), style.show(&left.message))?;
    }
    if let left @ 1.. = proof.replaced.len().saturating_sub(NAMED_PODS) {
        writeln!(out, "  and {} gone", words::count(left, "more pod"))?;
    }
    for times in proof.times.values() {
        let name = style.show(times.container.as_str());
        let part = |what: &str, spread: Option<Spread>| spread.map(|spread| format!("{what} {}", words_of(spread)));
        let unknown = |pods| format!("not known of {}", words::count(pods, "pod"));
        let unknown = Some(times.down_unknown).filter(|pods| *pods > 0).map(unknown);
        let head = if times.down_seconds.is_some() || unknown.is_some() { "Downtime" } else { "Times" };
        let down = times.down_seconds.map(words_of);
        let ready = part("from start to ready", times.ready_seconds.filter(|ready| ready.max > 0.0));
        let parts: Vec<String> =
            [down, unknown, ready, part("pull", times.pull_seconds)].into_iter().flatten().collect();
        if !parts.is_empty() {
            writeln!(out, "{head} per pod ({name}): {}.", parts.join("; "))?;
        }
    }
    Ok(())
}

/// Returns `0.4s-2.5s`.
fn words_of(spread: Spread) -> String {
    // The API has whole seconds.
    if spread.max == 0.0 {
        return "less than 1s".to_owned();
    }
    let [min, max] = [spread.min, spread.max].map(|seconds| duration::human(words::from_seconds(seconds)));
    if min == max { max } else { format!("{min}-{max}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_range_says_both_ends() {
        for (min, max, expected) in [
            (0.0, 0.0, "less than 1s"),
            (0.5, 0.5, "0.5s"),
            (0.025, 0.1, "25ms-0.1s"),
            (0.4, 2.5, "0.4s-2.5s"),
            (0.0, 2.0, "0s-2s"),
            (1.5, 12.7, "1.5s-12s"),
            (12.1, 12.9, "12s"),
            (45.0, 185.0, "45s-3m5s"),
            (45.0, 720.0, "45s-12m"),
        ] {
            assert_eq!(words_of(Spread { min, max, pods: 3 }), expected);
        }
    }
}
