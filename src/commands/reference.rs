//! What the pages `docs/reference/reasons.md` and `docs/reference/exit-codes.md` say, for `explain` and the completion.

const REASONS: &str = include_str!("../../docs/reference/reasons.md");
const EXIT_CODES: &str = include_str!("../../docs/reference/exit-codes.md");

/// The chapters of codes: each has a table, and a section for each of its codes.
pub const CODES: [&str; 3] = ["Reasons", "Warnings", "Failures and states"];
pub const STATES: &str = "States";
pub const OTHER_WORDS: &str = "Other words";

/// No text but `meaning`, `why` and `remedy` of a code ends with a full stop.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Code {
    pub code: &'static str,
    pub summary: &'static str,
    pub meaning: &'static str,
    pub why: &'static str,
    pub remedy: &'static str,
}

/// What a word means in one place.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Word {
    pub word: &'static str,
    /// What it is about, and which commands say it.
    pub of: &'static str,
    pub meaning: &'static str,
    /// Empty where there is nothing to do.
    pub remedy: &'static str,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct End {
    pub exit_code: &'static str,
    pub word: &'static str,
    pub meaning: &'static str,
    pub remedy: &'static str,
}

pub fn codes(chapter: &str) -> Vec<Code> {
    let code = |[code, summary]: [&'static str; 2]| {
        let code = quoted(code)?;
        let (meaning, rest) = section(code)?.split_once("\n\nWhy: ")?;
        let (why, remedy) = rest.split_once("\n\nWhat to do: ")?;
        Some(Code { code, summary, meaning, why, remedy })
    };
    rows(REASONS, chapter).filter_map(code).collect()
}

pub fn every_code() -> Vec<Code> {
    CODES.into_iter().flat_map(codes).collect()
}

/// A word with several meanings has several rows.
pub fn words(chapter: &str) -> Vec<Word> {
    let word = |[word, of, meaning, remedy]: [&'static str; 4]| Some(Word { word: quoted(word)?, of, meaning, remedy });
    rows(REASONS, chapter).filter_map(word).collect()
}

pub fn every_word() -> Vec<Word> {
    [STATES, OTHER_WORDS].into_iter().flat_map(words).collect()
}

pub fn ends() -> Vec<End> {
    let end = |[exit_code, word, meaning, remedy]: [&'static str; 4]| {
        Some(End { exit_code, word: quoted(word)?, meaning, remedy })
    };
    rows(EXIT_CODES, "Exit codes").filter_map(end).collect()
}

/// The rows of the table below a heading, as far as they have this many cells.
fn rows<const N: usize>(page: &'static str, heading: &str) -> impl Iterator<Item = [&'static str; N]> {
    let mut lines = page.lines().skip_while(move |line| line.trim_start_matches(['#', ' ']) != heading);
    lines.next();
    let chapter = lines.take_while(|line| !line.starts_with('#'));
    chapter.filter_map(|line| {
        let cells: Vec<&str> = line.strip_prefix("| ")?.strip_suffix(" |")?.split(" | ").collect();
        cells.try_into().ok()
    })
}

fn quoted(cell: &'static str) -> Option<&'static str> {
    cell.split('`').nth(1)
}

fn section(code: &str) -> Option<&'static str> {
    let begins = |part: &'static str| part.strip_prefix(code)?.strip_prefix("\n\n");
    let text = REASONS.split("\n### ").find_map(begins)?;
    Some(text.split("\n## ").next().unwrap_or(text).trim_end())
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use engine::change::reason::{ReasonCode, WarningCode};
    use engine::state::outcome::EndResult;

    #[test]
    fn every_code_has_a_section_and_every_section_a_code() {
        let rows: Vec<&str> =
            CODES.iter().flat_map(|chapter| rows(REASONS, chapter)).filter_map(|[code, _]| quoted(code)).collect();
        let sections: Vec<&str> = REASONS.lines().filter_map(|line| line.strip_prefix("### ")).collect();
        let read: Vec<&str> = every_code().iter().map(|known| known.code).collect();
        assert_eq!((&sections, &read), (&rows, &rows));
        let set = |codes: Vec<&'static str>| codes.into_iter().collect::<BTreeSet<_>>();
        let of = |chapter| set(codes(chapter).iter().map(|known| known.code).collect());
        assert_eq!(of("Reasons"), set(ReasonCode::ALL.iter().map(|code| code.as_str()).collect()));
        assert_eq!(of("Warnings"), set(WarningCode::ALL.iter().map(|code| code.as_str()).collect()));
        let known: Vec<(String, &str)> = EndResult::ALL.map(|end| (end.exit_code().to_string(), end.word())).into();
        assert_eq!(ends().iter().map(|end| (end.exit_code.to_owned(), end.word)).collect::<Vec<_>>(), known);
    }

    #[test]
    fn every_text_says_something_and_none_stands_twice() {
        let mut seen = BTreeSet::new();
        for known in every_code() {
            assert!(seen.insert((known.code.to_ascii_lowercase(), "")), "{}", known.code);
            assert!(known.summary.len() < 100 && !known.summary.ends_with('.'), "{}", known.code);
            for text in [known.meaning, known.why, known.remedy] {
                assert!(text.len() > 15 && text.ends_with('.') && !text.contains('\n'), "{}: {text}", known.code);
            }
        }
        for known in every_word() {
            assert!(seen.insert((known.word.to_owned(), known.of)), "{} of {}", known.word, known.of);
            assert!(!known.meaning.ends_with('.') && !known.remedy.ends_with('.'), "{}", known.word);
        }
    }
}
