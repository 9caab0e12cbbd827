//! The tables of codes for the README, as Markdown, from the closed sets of the engine.

use std::fmt::Write as _;

use crate::engine::reason::{Explanation, ReasonCode, WarningCode};

/// Returns the table of reasons: code, and what it means in one line.
pub fn reasons() -> String {
    table(ReasonCode::ALL.iter().map(|code| code.explanation()))
}

/// Returns the table of warnings: code, and what it means in one line.
pub fn warnings() -> String {
    table(WarningCode::ALL.iter().map(|code| code.explanation()))
}

fn table(explanations: impl Iterator<Item = Explanation>) -> String {
    let mut table = String::from("| code | meaning |\n|---|---|\n");
    for explanation in explanations {
        // A vertical bar would end the cell. Writing to a String does not fail.
        let _ = writeln!(table, "| `{}` | {} |", explanation.code, explanation.summary.replace('|', "\\|"));
    }
    table
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_code_has_one_row() {
        for (table, rows) in [(reasons(), ReasonCode::ALL.len()), (warnings(), WarningCode::ALL.len())] {
            assert_eq!(table.lines().count(), 2 + rows);
            assert!(table.lines().all(|line| line.starts_with('|') && line.ends_with('|')), "{table}");
        }
        assert!(reasons().contains("| `NoPods` | "));
    }
}
