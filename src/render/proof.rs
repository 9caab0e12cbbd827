//! The times of a rollout and the pods that were replaced, as a person reads them.

use std::io::{self, Write};

use crate::engine::report::proof::{ContainerProof, Proof, Spread};

use super::style::Style;
use super::words;

/// Picks one kind of time.
type TimeOf = fn(&ContainerProof) -> Option<Spread>;

/// How many pods that left are named.
const NAMED_PODS: usize = 5;

/// Writes a line for each kind of time that is known, and one for each pod that left.
pub(super) fn write(proof: &Proof, style: &Style, out: &mut dyn Write) -> io::Result<()> {
    for (pod, why) in proof.replaced.iter().take(NAMED_PODS) {
        writeln!(out, "  {}  replaced: {}", words::pod(style, pod), style.show(why))?;
    }
    if let left @ 1.. = proof.replaced.len().saturating_sub(NAMED_PODS) {
        writeln!(out, "  and {} replaced", words::count(left, "more pod"))?;
    }
    let lines: [(&str, TimeOf, &str); 3] = [
        ("Pull time:", |times| times.pull, " (by the kubelet's events)"),
        ("Downtime per pod:", |times| times.down, " (in whole seconds)"),
        ("Ready", |times| times.ready.filter(|ready| ready.max > 0.0), " after its start (in whole seconds)"),
    ];
    for (label, spread, source) in lines {
        let texts = proof.times.iter().filter_map(|times| {
            let name = style.show(times.container.as_str());
            spread(times).map(|spread| format!("{name} {}", words_of(spread)))
        });
        let texts: Vec<String> = texts.collect();
        if !texts.is_empty() {
            writeln!(out, "{label} {}{source}.", texts.join("; "))?;
        }
    }
    Ok(())
}

fn words_of(spread: Spread) -> String {
    let [min, median, max] = [spread.min, spread.median, spread.max].map(time);
    if min == max { max } else { format!("{min} to {max}, median {median}") }
}

/// Whole seconds as they are, parts of a second to a tenth.
fn time(seconds: f64) -> String {
    let duration = words::from_seconds(seconds);
    if duration.subsec_millis() == 0 { words::whole_seconds(duration.as_secs()) } else { words::duration(duration) }
}
