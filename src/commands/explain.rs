//! `explain`: what a code means, why it is so, and what to do.

use super::Shell;
use crate::cli::ExplainArgs;
use crate::engine::change::reason::{self, Explanation, ReasonCode, ReportCode, WarningCode};
use crate::engine::state::outcome::EndResult;
use crate::error::CommandError;

/// The text is broken at so many columns.
const COLUMNS: usize = 100;

pub(super) fn run(args: &ExplainArgs, shell: &Shell) -> Result<EndResult, CommandError> {
    let text = match &args.code {
        None => list(),
        Some(code) if !with_exit_code(code).is_empty() => exit_codes(&with_exit_code(code)),
        Some(code) => match reason::explain(code) {
            Ok(explanation) => at_length(&explanation),
            Err(nearest) => {
                let error = CommandError::usage(format!("there is no code {code:?}"));
                return Err(match nearest {
                    Some(nearest) => error.hint(format!("did you mean {nearest}?")),
                    None => error.hint("see all of them with: kubectl inplace explain"),
                });
            }
        },
    };
    shell.print(&text)?;
    Ok(EndResult::Complete)
}

fn list() -> String {
    let reasons: Vec<Explanation> = ReasonCode::ALL.iter().map(|code| code.explanation()).collect();
    let warnings: Vec<Explanation> = WarningCode::ALL.iter().map(|code| code.explanation()).collect();
    let reports: Vec<Explanation> = ReportCode::ALL.iter().map(|code| code.explanation()).collect();
    let width = reasons.iter().chain(&warnings).chain(&reports).map(|known| known.code.len()).max().unwrap_or(0);
    let line = |known: &Explanation| format!("  {:width$}  {}\n", known.code, known.summary);
    let lines = |explanations: &[Explanation]| explanations.iter().map(line).collect::<String>();
    format!(
        "Reasons: why something cannot be done in place\n{}\nWarnings: what is worth knowing though it can\n{}\nFailures and states: what a rollout and status report\n{}\nExit codes: by number, such as 4, or by their word in JSON, such as failed\n\nMore about one of them: kubectl inplace explain CODE\n",
        lines(&reasons),
        lines(&warnings),
        lines(&reports)
    )
}

/// Returns how a command may have ended with an exit code, or with its word in JSON.
fn with_exit_code(code: &str) -> Vec<EndResult> {
    let is = |result: &EndResult| {
        code.parse() == Ok(result.exit_code()) || result.word().eq_ignore_ascii_case(code) && !is_code(code)
    };
    EndResult::ALL.into_iter().filter(is).collect()
}

fn is_code(code: &str) -> bool {
    reason::all_explanations().any(|known| known.code.eq_ignore_ascii_case(code))
}

fn exit_codes(results: &[EndResult]) -> String {
    let lines = results.iter().map(|result| {
        let line = format!("Exit code {} ({}): {}.", result.exit_code(), result.word(), result.meaning());
        format!("{}{}", broken(&line), broken(&format!("What to do: {}.", result.remedy())))
    });
    let note = "diff has kubectl diff's exit codes: 0 nothing differs, 1 something does, more than 1 an error.";
    format!("{}\n{}", lines.collect::<Vec<_>>().join("\n"), broken(note))
}

fn at_length(explanation: &Explanation) -> String {
    let part = |heading: &str, text: &str| format!("\n{heading}\n{}", broken(text));
    format!(
        "{}: {}.\n{}{}{}",
        explanation.code,
        explanation.summary,
        part("What it means", explanation.meaning),
        part("Why it is so", explanation.why),
        part("What to do", explanation.remedy)
    )
}

/// Breaks a text into indented lines between its words.
fn broken(text: &str) -> String {
    let mut lines = String::new();
    let mut line = String::new();
    for word in text.split_whitespace() {
        if !line.is_empty() && line.len() + word.len() + 3 > COLUMNS {
            lines.push_str(&format!("  {line}\n"));
            line.clear();
        }
        if !line.is_empty() {
            line.push(' ');
        }
        line.push_str(word);
    }
    lines + &format!("  {line}\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_list_names_every_code_and_no_line_is_too_long() {
        let list = list();
        for explanation in reason::all_explanations() {
            assert!(list.contains(explanation.code), "{}", explanation.code);
            assert!(at_length(&explanation).lines().all(|line| line.len() <= COLUMNS + 30), "{}", explanation.code);
        }
    }

    #[test]
    fn exit_codes_are_explained_by_number_and_by_word() {
        for result in EndResult::ALL {
            let number = with_exit_code(&result.exit_code().to_string());
            assert!(number.contains(&result), "{result:?}");
            let text = exit_codes(&number);
            assert!(
                text.contains(&format!("Exit code {}", result.exit_code())) && text.contains(result.word()),
                "{text}"
            );
            let known = is_code(result.word()) || with_exit_code(result.word()).contains(&result);
            assert!(known, "{}", result.word());
        }
        assert!(with_exit_code("256").is_empty() && with_exit_code("x").is_empty());
    }

    #[test]
    fn words_stay_whole() {
        let text = "word ".repeat(50);
        let broken = broken(&text);
        assert_eq!(broken.split_whitespace().count(), 50);
        assert!(broken.lines().count() > 1 && broken.lines().all(|line| line.len() <= COLUMNS));
    }
}
