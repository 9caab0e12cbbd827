//! Wrong usage, and what was probably meant: words that other tools have for what this one does.

use clap::builder::StyledStr;
use clap::error::{ContextKind, ContextValue, ErrorKind};

/// Commands by the words that somebody who knows kubectl, Helm or Argo Rollouts tries first.
const MEANT: &[(&str, &[&str])] = &[
    ("apply", &["update", "set", "patch", "upgrade", "deploy", "promote", "run", "set-image", "bump"]),
    ("undo", &["rollback", "revert", "roll-back", "rollout-undo"]),
    ("abort", &["cancel", "stop"]),
    ("resume", &["continue", "retry", "unpause"]),
    ("status", &["get", "list", "ls", "describe", "pods", "ps", "top"]),
    ("follow", &["wait", "progress", "logs"]),
    ("plan", &["preview", "check", "validate", "what-if", "dry-run"]),
    ("history", &["log", "revisions", "audit"]),
    ("rbac", &["auth", "can-i", "role"]),
    ("explain", &["reasons", "codes", "why"]),
];

/// Output formats of kubectl that take fields out of an object.
const TEMPLATES: [&str; 6] =
    ["jsonpath", "jsonpath-as-json", "jsonpath-file", "go-template", "go-template-file", "custom-columns"];

/// Adds what was probably meant to an error of clap's.
pub(super) fn suggest(mut error: clap::Error) -> clap::Error {
    let text = |kind| match error.get(kind) {
        Some(ContextValue::String(text)) => text.clone(),
        _ => String::new(),
    };
    match error.kind() {
        ErrorKind::InvalidSubcommand => {
            let word = text(ContextKind::InvalidSubcommand);
            let meant = MEANT.iter().find(|(_, words)| words.contains(&word.as_str()));
            if let Some((command, _)) = meant {
                let command = vec![(*command).to_owned()];
                error.insert(ContextKind::SuggestedSubcommand, ContextValue::Strings(command));
            }
        }
        ErrorKind::InvalidValue if text(ContextKind::InvalidArg).starts_with("--output") => {
            let value = text(ContextKind::InvalidValue);
            let format = value.split('=').next().unwrap_or_default();
            if TEMPLATES.contains(&format) {
                error.remove(ContextKind::SuggestedValue);
                let tip = "-o json prints every field: take what is needed from it, for example with jq";
                error.insert(ContextKind::Suggested, ContextValue::StyledStrs(vec![StyledStr::from(tip)]));
            }
        }
        _ => {}
    }
    error
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::root;

    fn told(line: &str) -> String {
        let words = std::iter::once("kubectl-inplace").chain(line.split_whitespace());
        suggest(root().try_get_matches_from(words).unwrap_err()).to_string()
    }

    #[test]
    fn words_of_other_tools_lead_to_the_command_that_does_it() {
        for (line, command) in [("rollback deployment/web", "undo"), ("update deployment/web", "apply")] {
            assert!(told(line).contains(&format!("'{command}'")), "{}", told(line));
        }
        for (command, words) in MEANT {
            assert!(root().find_subcommand(command).is_some(), "{command}");
            assert!(words.iter().all(|word| root().find_subcommand(word).is_none()), "{command}");
        }
    }

    #[test]
    fn a_template_is_refused_with_the_way_to_the_fields() {
        for format in ["jsonpath={.items}", "go-template={{.}}", "custom-columns=A:.b"] {
            let told = told(&format!("status -o {format}"));
            assert!(told.contains("tip: -o json prints every field") && !told.contains("similar value"), "{told}");
        }
    }
}
