//! What is said of a change that the API server refuses: its words, whose container they are about, what to do.

use super::class::without_go_values;
use crate::k8s::names::ContainerName;
use crate::value::hint::{Hint, Spoken, kubectl};

/// Words of the admission plugin LimitRanger.
const LIMIT_RANGES: [&str; 4] = [" usage per Container ", " usage per Pod ", "ratio per Container ", "ratio per Pod "];

/// Of a request that is above a limit (`ValidateContainerResourceRequirements`).
const ABOVE_A_LIMIT: &str = "must be less than or equal to ";

/// Of containers that lack what a quota counts.
const NOT_SPECIFIED: &str = "failed quota: ";

/// Returns one sentence, without a full stop. `others` break the rule, and the change leaves them alone.
pub(super) fn sentence(message: &str, others: &[ContainerName]) -> String {
    let message = without_go_values(message);
    let of_others = match others {
        [] => String::new(),
        [one] => format!("; container {one} breaks this rule, and the change leaves it alone"),
        many => format!("; containers {} break this rule, and the change leaves them alone", listed(many)),
    };
    format!("the server refuses the change: {message}{of_others}")
}

/// Returns what to do; `here` puts a command into the workload's namespace.
pub(super) fn hint(message: &str, others: &[ContainerName], here: impl Fn(Spoken) -> Spoken) -> Hint {
    let limit_range = || here(kubectl("describe limitrange"));
    let quota = || here(kubectl("describe resourcequota"));
    let is_unspecified = message.contains(NOT_SPECIFIED);
    if !others.is_empty() {
        let what = format!("resize container {} too, to what the namespace asks for: ", listed(others));
        return Hint::from(what).command(if is_unspecified { quota() } else { limit_range() });
    }
    if message.contains("exceeded quota: ") {
        return Hint::from("raise the quota, ask for less, or free something first: ").command(quota());
    }
    if is_unspecified {
        return Hint::from("ask for what the namespace's ResourceQuota counts, too: ").command(quota());
    }
    // A limit of the pod itself is refused before the server is asked.
    if message.contains(ABOVE_A_LIMIT) {
        let what = "the limit may come from the namespace's LimitRange; ask for a limit as well, or for less: ";
        return Hint::from(what).command(limit_range());
    }
    if LIMIT_RANGES.iter().any(|words| message.contains(words)) {
        return Hint::from("ask for what the namespace's LimitRange allows: ").command(limit_range());
    }
    "fix what the API server or the admission webhook reports".into()
}

fn listed(containers: &[ContainerName]) -> String {
    containers.iter().map(ContainerName::as_str).collect::<Vec<_>>().join(", ")
}
