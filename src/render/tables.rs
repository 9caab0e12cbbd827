//! Tables for the README, as Markdown, from the closed sets of the engine.

use std::fmt::Write as _;

use crate::engine::outcome::EndResult;

/// Returns the table of exit codes: code, word in JSON, meaning.
pub fn exit_codes() -> String {
    let mut table = String::from("| code | word in JSON | meaning |\n|---|---|---|\n");
    for result in EndResult::ALL {
        // Writing to a String does not fail.
        let _ = writeln!(table, "| {} | `{}` | {} |", result.exit_code(), result.word(), cell(result.meaning()));
    }
    table
}

/// A vertical bar would end the cell.
fn cell(text: &str) -> String {
    text.replace('|', "\\|")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_result_has_one_row() {
        let table = exit_codes();
        assert_eq!(table.lines().count(), 2 + EndResult::ALL.len());
        assert!(table.contains("| 143 | `interrupted` | "), "{table}");
        assert!(table.lines().all(|line| line.starts_with('|') && line.ends_with('|')), "{table}");
    }
}
