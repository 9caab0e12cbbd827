//! The times of a rollout and the pods that were replaced, as text for the terminal.

use std::io::{self, Write};

use crate::engine::report::proof::{Proof, Spread};
use crate::engine::value::duration;

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
    let [min, median, max] =
        [spread.min, spread.median, spread.max].map(|time| duration::human(words::from_seconds(time)));
    // The API has whole seconds.
    if spread.max == 0.0 {
        return "less than 1s".to_owned();
    }
    let from = min.strip_suffix('s').filter(|_| max.ends_with('s') && !max.contains('m')).unwrap_or(&min);
    if min == max { max } else { format!("{from}-{max}, median {median}") }
}
