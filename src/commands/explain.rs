//! `explain`: what a code means, why it is so, and what to do.

use super::Shell;
use super::reference::{self, CODES, Code, End, OTHER_WORDS, STATES, Word};
use crate::cli::ExplainArgs;
use crate::error::{CommandError, Result};
use crate::render::{self, Style};
use engine::state::outcome::EndResult;
use engine::value::hint::{Hint, inplace};
use engine::value::suggest;

/// No line is longer, on however wide a terminal.
const COLUMNS: usize = 100;

/// A shorter part of a code names too many.
const SHORTEST_PART: usize = 4;

/// More codes that may have been meant are no help.
const MOST_MEANT: usize = 4;

/// What screens say in other words than documents.
const ALSO_CALLED: [(&str, &str); 13] = [
    ("unproven", "Unverified"),
    ("ended", "Completed"),
    ("restarts in place", "restart"),
    ("no restart", "inPlace"),
    ("rollout in progress", "inProgress"),
    ("NOT in place", "notEligible"),
    ("running, not ready", "notReady"),
    ("ready, unverified", "unverified"),
    ("running, unverified", "unverified"),
    ("of an older revision", "older"),
    ("drifted from the template", "drifted"),
    ("rewritten by admission", "rewritten"),
    ("resize deferred by the node", "deferred"),
];

pub(super) fn run(args: &ExplainArgs, shell: &Shell) -> Result<EndResult> {
    let columns = shell.terminal.stdout.width.map_or(COLUMNS, |width| usize::from(width).clamp(20, COLUMNS));
    let text = match &args.code {
        None => list(columns),
        Some(code) => explained(code, columns).ok_or_else(|| unknown(code))?,
    };
    shell.print(&text)?;
    Ok(EndResult::Complete)
}

/// The form in which codes and words are compared: `not ready` is `notReady`.
fn key(text: &str) -> String {
    text.chars().filter(char::is_ascii_alphanumeric).map(|c| c.to_ascii_lowercase()).collect()
}

/// Returns every meaning of a code, a word or an exit code, as documents or screens write it.
pub fn explained(text: &str, columns: usize) -> Option<String> {
    let own = key(text);
    let also = ALSO_CALLED.iter().filter(|(also, _)| key(also) == own).map(|(_, name)| key(name));
    let names: Vec<String> = also.chain([own.clone()]).collect();
    let codes = reference::every_code().into_iter().filter(|known| names.contains(&key(known.code)));
    let words = reference::every_word().into_iter().filter(|known| names.contains(&key(known.word)));
    let words: Vec<String> = words.map(|known| word_at_length(&known, columns)).collect();
    let ends = with_exit_code(text);
    let ends = (!ends.is_empty()).then(|| exit_codes(&ends, text.parse::<u8>().is_ok(), columns));
    let parts: Vec<String> = codes.map(|known| at_length(&known, columns)).chain(words).chain(ends).collect();
    (!parts.is_empty()).then(|| parts.join("\n"))
}

fn unknown(code: &str) -> CommandError {
    let error = CommandError::usage(format!("there is no code {code:?}"));
    let known: Vec<(String, &str)> = names().into_iter().map(|name| (key(name), name)).collect();
    let nearest = suggest::closest(&key(code), known.iter().map(|(key, _)| key.as_str()));
    let nearest = known.iter().find(|(key, _)| Some(key.as_str()) == nearest);
    let meant = nearest.map_or_else(|| holding(code), |(_, nearest)| vec![*nearest]);
    if meant.is_empty() {
        return error.hint(Hint::from("see all of them with: ").command(inplace("explain").whole()));
    }
    error.hint(format!("did you mean {}?", meant.join(" or ")))
}

fn names() -> Vec<&'static str> {
    let words = reference::every_word().into_iter().map(|known| known.word);
    reference::every_code().into_iter().map(|known| known.code).chain(words).collect()
}

fn holding(part: &str) -> Vec<&'static str> {
    let part = key(part);
    let mut found: Vec<&str> = names().into_iter().filter(|name| key(name).contains(&part)).collect();
    found.sort_unstable();
    found.dedup_by_key(|word| word.to_ascii_lowercase());
    let says_something = (SHORTEST_PART <= part.len()) && found.len() <= MOST_MEANT;
    if says_something { found } else { Vec::new() }
}

fn list(columns: usize) -> String {
    let codes = CODES.map(reference::codes);
    let mut states = reference::words(STATES);
    states.sort_by_key(|known| known.word);
    // Only the first of several meanings is shown here.
    states.dedup_by_key(|known| known.word);
    let mut others: Vec<&str> = reference::words(OTHER_WORDS).iter().map(|known| known.word).collect();
    others.sort_unstable_by_key(|word| word.to_ascii_lowercase());
    others.dedup();
    let ends: Vec<String> = reference::ends().iter().map(|end| format!("{} ({})", end.exit_code, end.word)).collect();
    let width = codes.iter().flatten().map(|known| known.code.len()).max().unwrap_or(0);
    let line = |word: &str, what: &str| indented(&format!("{word:width$}  {what}"), width + 4, columns);
    let [reasons, warnings, reports] =
        codes.map(|codes| codes.iter().map(|known| line(known.code, known.summary)).collect::<String>());
    format!(
        "Reasons: why something cannot be done in place\n{reasons}\nWarnings: what is worth knowing though it can\n{warnings}\nFailures and notable states: what a rollout and status report\n{reports}\nStates: where something stands\n{}\nOther words, of JSON, of the live view and of Kubernetes\n{}\nExit codes, by number or by their word in JSON\n{}\nMore about one of them: kubectl inplace explain CODE\n",
        states.iter().map(|known| line(known.word, known.meaning)).collect::<String>(),
        broken(&others.join(", "), columns),
        broken(&ends.join(", "), columns),
    )
}

fn with_exit_code(code: &str) -> Vec<End> {
    let number = code.parse::<u8>().ok().map(|number| number.to_string());
    let is = |end: &End| number.as_deref() == Some(end.exit_code) || end.word.eq_ignore_ascii_case(code);
    reference::ends().into_iter().filter(is).collect()
}

fn exit_codes(ends: &[End], is_number: bool, columns: usize) -> String {
    let lines = ends.iter().map(|End { exit_code, word, meaning, remedy }| {
        let line = format!("Exit code {exit_code} ({word}): {meaning}.");
        format!("{}{}", broken(&line, columns), broken(&format!("What to do: {remedy}."), columns))
    });
    let lines = lines.collect::<Vec<_>>().join("\n");
    // diff has no other ones than these.
    let note = "diff has kubectl diff's exit codes: 0 nothing differs, 1 something does, more than 1 an error.";
    let is_of_diff = is_number && ends.iter().any(|end| ["0", "1", "2"].contains(&end.exit_code));
    if is_of_diff { format!("{lines}\n{}", broken(note, columns)) } else { lines }
}

fn word_at_length(known: &Word, columns: usize) -> String {
    let Word { word, of, meaning, remedy } = known;
    let remedy = if remedy.is_empty() { "nothing has to be done" } else { *remedy };
    let remedy = broken(&format!("What to do: {remedy}."), columns);
    format!("{word}: {of}\n{}{remedy}", broken(&format!("{meaning}."), columns))
}

fn at_length(known: &Code, columns: usize) -> String {
    let part = |heading: &str, text: &str| format!("\n{heading}\n{}", broken(text, columns));
    let title = broken(&format!("{}: {}.", known.code, known.summary), columns + 2);
    format!(
        "{}{}{}{}",
        title.lines().map(|line| format!("{}\n", line.trim_start())).collect::<String>(),
        part("What it means", known.meaning),
        part("Why it is so", known.why),
        part("What to do", known.remedy)
    )
}

/// Breaks a text into indented lines between its words.
fn broken(text: &str, columns: usize) -> String {
    indented(text, 2, columns)
}

/// The same, with the lines after the first indented further; blanks within a line stay.
fn indented(text: &str, further: usize, columns: usize) -> String {
    let further = if further + 20 > columns { 4 } else { further };
    let style = Style { width: u16::try_from(columns).ok(), ..Style::PLAIN };
    render::flowing(&format!("  {text}"), further, &style) + "\n"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_list_names_every_code_and_every_line_fits() {
        let list = list(COLUMNS);
        for known in reference::every_code() {
            assert!(list.contains(known.code), "{}", known.code);
            for columns in [40, 80, COLUMNS] {
                let text = at_length(&known, columns);
                // A path of Kubernetes' sources is one word, and so is a command.
                let is_one = |line: &str| {
                    !line.trim().contains(' ') || line.trim().trim_start_matches('(').starts_with("kubectl ")
                };
                let too_long = text.lines().find(|line| line.len() > columns && !is_one(line));
                assert_eq!(too_long, None, "{}", known.code);
            }
        }
        assert!(reference::every_word().iter().all(|known| list.contains(known.word)));
        for columns in [80, COLUMNS] {
            assert!(super::list(columns).lines().all(|line| line.len() <= columns), "{}", super::list(columns));
        }
    }

    #[test]
    fn exit_codes_are_explained_by_number_and_by_word() {
        for end in reference::ends() {
            assert!(with_exit_code(end.exit_code).contains(&end), "{end:?}");
            let text = explained(end.word, COLUMNS).unwrap_or_default();
            assert!(text.contains(&format!("Exit code {} ({})", end.exit_code, end.word)), "{text}");
        }
        assert!(with_exit_code("256").is_empty() && with_exit_code("x").is_empty());
    }

    #[test]
    fn a_word_that_stands_for_several_things_is_explained_as_each() {
        let failed = explained("failed", COLUMNS).unwrap_or_default();
        for part in ["the state of a pod", "the state of a container", "Exit code 4"] {
            assert!(failed.contains(part), "{failed}");
        }
        for known in reference::every_word() {
            assert!(explained(known.word, COLUMNS).is_some_and(|text| text.contains(known.of)), "{}", known.word);
        }
        for text in ["notReady", "not ready", "NOTREADY", "not-ready"] {
            assert_eq!(explained(text, COLUMNS), explained("running, not ready", COLUMNS), "{text}");
        }
        for (also, name) in ALSO_CALLED {
            assert!(explained(also, COLUMNS).is_some_and(|text| text.contains(name)), "{also}");
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
            ("pendng", "did you mean pending?"),
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
