//! What is said of a change that the API server refuses: its words, whose container they are about, what to do.

use super::listed;
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
        let quota = here(kubectl("describe resourcequota"));
        return Hint::from("raise the quota, ask for less, or free something first: ").command(quota);
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

/// Returns a message of the API server without the Go values that it may print: nobody reads `map[...]` of a whole object.
fn without_go_values(message: &str) -> String {
    const MARK: &str = "map[";
    const LONGEST: usize = 40;
    let mut shown = String::with_capacity(message.len());
    let mut rest = message;
    while let Some(at) = rest.find(MARK) {
        let (before, value) = rest.split_at(at);
        shown.push_str(before);
        let mut depth = 0_usize;
        let end = value.char_indices().find_map(|(at, c)| {
            match c {
                '[' => depth += 1,
                ']' => depth = depth.saturating_sub(1),
                _ => return None,
            }
            (c == ']' && depth == 0).then_some(at + 1)
        });
        let (value, after) = value.split_at(end.unwrap_or(value.len()));
        shown.push_str(if value.len() > LONGEST { "map[...]" } else { value });
        rest = after;
    }
    shown + rest
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_go_value_is_not_shown() {
        for (message, expected) in [
            ("no map here", "no map here"),
            ("got map[a:b]", "got map[a:b]"),
            (
                "unrecognized type: map[containers:[map[image:5 name:app]] restartPolicy:Always] in x",
                "unrecognized type: map[...] in x",
            ),
            ("cut off: map[containers:[map[image:5 name:app restartPolicy:Alw", "cut off: map[...]"),
        ] {
            assert_eq!(without_go_values(message), expected);
        }
    }
}
