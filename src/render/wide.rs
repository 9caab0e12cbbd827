//! What `-o wide` adds to the text of a plan: details that experts otherwise look up elsewhere.
//!
//! Promise: what is not known is called unknown, and why; nothing is guessed.

use std::io::{self, Write};

use engine::plan::{ChangeEvidence, PodPlan};

use super::style::{Meaning, Style};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Detail {
    Short,
    /// Also uid, kubelet, image digests and the kubelet's hashes.
    Wide,
}

const UNKNOWN: &str = "unknown";

/// Writes the lines below a pod's.
pub(super) fn pod(pod: &PodPlan, style: &Style, out: &mut dyn Write) -> io::Result<()> {
    let known = |text: Option<&str>| text.map_or_else(|| UNKNOWN.to_owned(), |text| style.whole(text));
    let line = |text: String| style.paint(Meaning::Quiet, &text);
    let uid = Some(pod.pod.uid.as_str()).filter(|uid| !uid.is_empty());
    let kubelet = known(pod.kubelet.map(|kubelet| kubelet.to_string()).as_deref());
    writeln!(out, "      {}", line(format!("uid {}   kubelet {kubelet}", known(uid))))?;
    for (name, change) in &pod.changes {
        let name = style.show(name.as_str());
        let image = known(change.evidence.image_id.as_deref());
        let hash = hash(&change.evidence, pod.kubelet.is_some());
        writeln!(out, "      {}", line(format!("{name}: image ID {image}   hash {hash}")))?;
    }
    Ok(())
}

/// The kubelet's hash before and after: where they are equal, nothing restarts.
fn hash(evidence: &ChangeEvidence, kubelet_known: bool) -> String {
    match (&evidence.hash_from, &evidence.hash_to) {
        (Some(from), Some(to)) if from == to => format!("{from}, the same after: no restart"),
        (Some(from), Some(to)) => format!("{from} -> {to}"),
        (None, Some(to)) => format!("{UNKNOWN} -> {to}"),
        (_, None) if kubelet_known => format!("{UNKNOWN} (kubelet < 1.31)"),
        (_, None) => UNKNOWN.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_known_is_called_so() {
        let evidence = |from: Option<&str>, to: Option<&str>| ChangeEvidence {
            hash_from: from.map(str::to_owned),
            hash_to: to.map(str::to_owned),
            ..ChangeEvidence::default()
        };
        for (from, to, kubelet_known, text) in [
            (Some("1a"), Some("2b"), true, "1a -> 2b"),
            (Some("1a"), Some("1a"), true, "1a, the same after: no restart"),
            (None, Some("2b"), true, "unknown -> 2b"),
            (None, None, true, "unknown (kubelet < 1.31)"),
            (None, None, false, "unknown"),
        ] {
            assert_eq!(hash(&evidence(from, to), kubelet_known), text);
        }
    }
}
