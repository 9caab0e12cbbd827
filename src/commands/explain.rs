//! `explain`: what a code means, why it is so, and what to do.

use super::Shell;
use crate::cli::ExplainArgs;
use crate::error::CommandError;
use engine::change::reason::{
    self, Explanation, OTHER_WORDS, ReasonCode, ReportCode, STATE_WORDS, StateWord, WarningCode, nearest_state,
    state_words,
};
use engine::state::outcome::EndResult;
use engine::value::hint::{Hint, inplace};

/// No line is longer, on however wide a terminal.
const COLUMNS: usize = 100;

/// A shorter part of a code names too many.
const SHORTEST_PART: usize = 4;

/// More codes that may have been meant are no help.
const MOST_MEANT: usize = 4;

pub(super) fn run(args: &ExplainArgs, shell: &Shell) -> Result<EndResult, CommandError> {
    let columns = shell.terminal.stdout.width.map_or(COLUMNS, |width| usize::from(width).clamp(20, COLUMNS));
    let text = match &args.code {
        None => list(columns),
        Some(code) => explained(code, columns).ok_or_else(|| unknown(code))?,
    };
    shell.print(&text)?;
    Ok(EndResult::Complete)
}

/// Returns every meaning of a code, a state or an exit code.
fn explained(code: &str, columns: usize) -> Option<String> {
    let explanation = reason::explain(code).ok().map(|known| at_length(&known, columns));
    let states = state_words(code);
    let states = (!states.is_empty()).then(|| states_at_length(&states, columns));
    let ends = with_exit_code(code);
    let ends = (!ends.is_empty()).then(|| exit_codes(&ends, code.parse::<u8>().is_ok(), columns));
    let parts: Vec<String> = [explanation, states, ends].into_iter().flatten().collect();
    (!parts.is_empty()).then(|| parts.join("\n"))
}

fn unknown(code: &str) -> CommandError {
    let error = CommandError::usage(format!("there is no code {code:?}"));
    let nearest = reason::explain(code).err().flatten().or_else(|| nearest_state(code));
    let meant = nearest.map_or_else(|| holding(code), |nearest| vec![nearest]);
    if meant.is_empty() {
        return error.hint(Hint::from("see all of them with: ").command(inplace("explain").whole()));
    }
    error.hint(format!("did you mean {}?", meant.join(" or ")))
}

/// Returns the few codes and words that contain the typed text, as documents and screens write it.
fn holding(part: &str) -> Vec<&'static str> {
    let key = |text: &str| text.replace(|c: char| !c.is_ascii_alphanumeric(), "").to_ascii_lowercase();
    let part = key(part);
    let words = reason::all_explanations().map(|known| known.code);
    let words = words.chain(reason::every_word().map(|known| known.word));
    let mut found: Vec<&str> = words.filter(|word| key(word).contains(&part)).collect();
    found.sort_unstable();
    found.dedup_by_key(|word| word.to_ascii_lowercase());
    let says_something = (SHORTEST_PART <= part.len()) && found.len() <= MOST_MEANT;
    if says_something { found } else { Vec::new() }
}

fn list(columns: usize) -> String {
    let reasons: Vec<Explanation> = ReasonCode::ALL.iter().map(|code| code.explanation()).collect();
    let warnings: Vec<Explanation> = WarningCode::ALL.iter().map(|code| code.explanation()).collect();
    let reports: Vec<Explanation> = ReportCode::ALL.iter().map(|code| code.explanation()).collect();
    let mut states: Vec<(&str, &str)> = STATE_WORDS.iter().map(|known| (known.word, known.meaning)).collect();
    states.sort_by_key(|(word, _)| *word);
    // Only the first of several meanings is shown here.
    states.dedup_by_key(|(word, _)| *word);
    let mut others: Vec<&str> = OTHER_WORDS.iter().map(|known| known.word).collect();
    others.sort_unstable_by_key(|word| word.to_ascii_lowercase());
    others.dedup();
    let ends = EndResult::ALL.map(|end| format!("{} ({})", end.exit_code(), end.word()));
    let width = reasons.iter().chain(&warnings).chain(&reports).map(|known| known.code.len()).max().unwrap_or(0);
    let line = |word: &str, what: &str| indented(&format!("{word:width$}  {what}"), width + 4, columns);
    let lines = |explanations: &[Explanation]| {
        explanations.iter().map(|known| line(known.code, known.summary)).collect::<String>()
    };
    format!(
        "Reasons: why something cannot be done in place\n{}\nWarnings: what is worth knowing though it can\n{}\nFailures and notable states: what a rollout and status report\n{}\nStates: where something stands\n{}\nOther words, of JSON, of the live view and of Kubernetes\n{}\nExit codes, by number or by their word in JSON\n{}\nMore about one of them: kubectl inplace explain CODE\n",
        lines(&reasons),
        lines(&warnings),
        lines(&reports),
        states.iter().map(|(word, meaning)| line(word, meaning)).collect::<String>(),
        broken(&others.join(", "), columns),
        broken(&ends.join(", "), columns),
    )
}

/// Returns how a command may have ended with an exit code, or with its word in JSON.
fn with_exit_code(code: &str) -> Vec<EndResult> {
    let is = |end: &EndResult| code.parse() == Ok(end.exit_code()) || end.word().eq_ignore_ascii_case(code);
    EndResult::ALL.into_iter().filter(is).collect()
}

fn exit_codes(results: &[EndResult], is_number: bool, columns: usize) -> String {
    let lines = results.iter().map(|result| {
        let line = format!("Exit code {} ({}): {}.", result.exit_code(), result.word(), result.meaning());
        format!("{}{}", broken(&line, columns), broken(&format!("What to do: {}.", result.remedy()), columns))
    });
    let lines = lines.collect::<Vec<_>>().join("\n");
    // diff has no other ones than these.
    let note = "diff has kubectl diff's exit codes: 0 nothing differs, 1 something does, more than 1 an error.";
    let is_of_diff = results.iter().any(|result| result.exit_code() <= 2) && is_number;
    if is_of_diff { format!("{lines}\n{}", broken(note, columns)) } else { lines }
}

fn states_at_length(states: &[StateWord], columns: usize) -> String {
    let parts = states.iter().map(|state| {
        let StateWord { word, of, meaning, remedy } = state;
        let remedy = if remedy.is_empty() { "nothing has to be done" } else { *remedy };
        let remedy = broken(&format!("What to do: {remedy}."), columns);
        format!("{word}: {of}\n{}{remedy}", broken(&format!("{meaning}."), columns))
    });
    parts.collect::<Vec<_>>().join("\n")
}

fn at_length(explanation: &Explanation, columns: usize) -> String {
    let part = |heading: &str, text: &str| format!("\n{heading}\n{}", broken(text, columns));
    let title = broken(&format!("{}: {}.", explanation.code, explanation.summary), columns + 2);
    format!(
        "{}{}{}{}",
        title.lines().map(|line| format!("{}\n", line.trim_start())).collect::<String>(),
        part("What it means", explanation.meaning),
        part("Why it is so", explanation.why),
        part("What to do", explanation.remedy)
    )
}

/// Breaks a text into indented lines between its words.
fn broken(text: &str, columns: usize) -> String {
    indented(text, 2, columns)
}

/// The same, with the lines after the first indented further; blanks within a line stay.
fn indented(text: &str, further: usize, columns: usize) -> String {
    let further = if further + 20 > columns { 4 } else { further };
    let mut lines = String::new();
    let mut line = "  ".to_owned();
    let mut is_empty = true;
    for word in text.split(' ') {
        if !is_empty && !word.is_empty() && line.len() + word.len() + 1 > columns {
            lines.push_str(line.trim_end());
            lines.push('\n');
            line = " ".repeat(further);
            is_empty = true;
        }
        if !is_empty {
            line.push(' ');
        }
        line.push_str(word);
        is_empty = false;
    }
    lines + line.trim_end() + "\n"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_list_names_every_code_and_every_line_fits() {
        let list = list(COLUMNS);
        for explanation in reason::all_explanations() {
            assert!(list.contains(explanation.code), "{}", explanation.code);
            for columns in [40, 80, COLUMNS] {
                let text = at_length(&explanation, columns);
                // A path of Kubernetes' sources is one word.
                let too_long = text.lines().find(|line| line.len() > columns && line.trim().contains(' '));
                assert_eq!(too_long, None, "{}", explanation.code);
            }
        }
        assert!(reason::every_word().all(|known| list.contains(known.word)));
        for columns in [80, COLUMNS] {
            assert!(super::list(columns).lines().all(|line| line.len() <= columns), "{}", super::list(columns));
        }
    }

    #[test]
    fn exit_codes_are_explained_by_number_and_by_word() {
        for result in EndResult::ALL {
            let number = with_exit_code(&result.exit_code().to_string());
            assert!(number.contains(&result), "{result:?}");
            let text = explained(result.word(), COLUMNS).unwrap_or_default();
            assert!(text.contains(&format!("Exit code {} ({})", result.exit_code(), result.word())), "{text}");
        }
        assert!(with_exit_code("256").is_empty() && with_exit_code("x").is_empty());
    }

    #[test]
    fn a_word_that_stands_for_several_things_is_explained_as_each() {
        let failed = explained("failed", COLUMNS).unwrap_or_default();
        for part in ["the state of a pod", "the state of a container", "Exit code 4"] {
            assert!(failed.contains(part), "{failed}");
        }
        for state in reason::every_word() {
            assert!(explained(state.word, COLUMNS).is_some_and(|text| text.contains(state.of)), "{}", state.word);
        }
        assert_eq!(explained("weather", COLUMNS), None);
    }

    #[test]
    fn a_part_of_a_code_leads_to_the_codes_that_have_it() {
        let hints = |code| unknown(code).hints.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n");
        for (code, reported) in [
            ("templatefield", "did you mean TemplateFieldNotInPlace?"),
            ("keeps image", "did you mean TemplateKeepsImage?"),
            ("StartupPr", "did you mean StartupProbeUnreliable?"),
            ("NoPod", "did you mean NoPods?"),
            ("not", "see all of them with: kubectl inplace explain"),
            ("weather", "see all of them with: kubectl inplace explain"),
        ] {
            assert_eq!(hints(code), reported, "{code}");
        }
    }

    #[test]
    fn words_stay_whole() {
        let text = ["word"; 50].join(" ");
        let broken = broken(&text, COLUMNS);
        assert_eq!(broken.split_whitespace().count(), 50);
        assert!(broken.lines().count() > 1 && broken.lines().all(|line| line.len() <= COLUMNS));
    }
}
