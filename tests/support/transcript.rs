//! Transcripts in the README: what stands there is what a run prints. `UPDATE=1` writes the blocks anew.
//!
//! A block stands behind `<!-- transcript: NAME -->`. Each of its commands begins with `$ `, and is run as it is written; `...` stands
//! for lines that are left out. Compared is everything but times, generated names, ids and digests; of the lines that
//! tell how a rollout goes on neither the order nor those that a watch may miss.
#![expect(
    clippy::disallowed_methods,
    reason = "reads and writes the README, and UPDATE is a variable of the environment"
)]

use std::collections::BTreeSet;
use std::sync::{Mutex, PoisonError};

use super::redact::Redaction;

const README: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/README.md");

/// Tests of one process write the README one after the other.
static WRITING: Mutex<()> = Mutex::new(());

/// The letters of names that Kubernetes makes up (k8s.io/apimachinery/pkg/util/rand).
const LETTERS: &str = "bcdfghjklmnpqrstvwxz2456789";

/// What a watch may miss of a pod on its way, and what takes long on a busy machine.
const PASSING: [&str; 11] = [
    " restarting",
    " started,",
    " ready",
    "Services",
    "service/",
    "not proven",
    "still waiting",
    "waits for",
    "looked at again",
    "retry",
    "a copy of the lock",
];

/// Lines that are shown: from the first that contains one text to the next that contains the other. An empty text is the
/// first line, or the last.
pub(crate) type Part = (&'static str, &'static str);

/// Returns the commands of a block, as they are typed.
pub(crate) fn commands(name: &str) -> Vec<String> {
    let _writing = WRITING.lock().unwrap_or_else(PoisonError::into_inner);
    let readme = std::fs::read_to_string(README).expect("README.md can be read");
    let (_, block, _) = split(&readme, name);
    block.lines().filter_map(|line| line.strip_prefix("$ ")).map(str::to_owned).collect()
}

/// Compares a block with its commands and what each of them printed, or writes it.
pub(crate) fn check(name: &str, printed: &[String]) {
    let commands = commands(name);
    assert_eq!(commands.len(), printed.len(), "commands of {name}");
    let sessions =
        commands.iter().zip(printed).map(|(command, printed)| format!("$ {command}\n{}\n", printed.trim_end()));
    let found = sessions.collect::<Vec<_>>().join("\n");
    let _writing = WRITING.lock().unwrap_or_else(PoisonError::into_inner);
    let readme = std::fs::read_to_string(README).expect("README.md can be read");
    let (before, block, after) = split(&readme, name);
    if std::env::var("UPDATE").is_ok_and(|value| value == "1") {
        std::fs::write(README, format!("{before}{found}{after}")).expect("README.md can be written");
        return;
    }
    let (stands, found_now) = (comparable(block), comparable(&found));
    assert!(
        stands == found_now,
        "README.md, transcript {name}, is out of date: UPDATE=1 cargo test --test real transcripts\n--- README\n{block}\n--- found\n{found}\n--- compared\n{stands:#?}\n{found_now:#?}"
    );
}

/// Splits the README before and after the lines of a block.
fn split<'r>(readme: &'r str, name: &str) -> (&'r str, &'r str, &'r str) {
    let begin = format!("<!-- transcript: {name} -->\n```\n");
    let at = readme.find(&begin).unwrap_or_else(|| panic!("README.md has no {begin:?}")) + begin.len();
    let (before, rest) = readme.split_at(at);
    let end = rest.find("```\n").expect("the block ends");
    let (block, after) = rest.split_at(end);
    (before, block, after)
}

/// Returns what is shown of what was printed: with names that are read easily, digests cut short, columns laid out again, and
/// `...` for the parts that are left out.
pub(crate) fn shown(printed: &str, names: &[(&str, &str)], parts: &[Part]) -> String {
    let readable = names.iter().fold(printed.to_owned(), |text, (name, readable)| text.replace(name, readable));
    parts_of(&aligned(&short_digests(&readable)), parts)
}

/// No parts are all of it.
fn parts_of(printed: &str, parts: &[Part]) -> String {
    let mut lines = printed.lines().peekable();
    if parts.is_empty() {
        return printed.to_owned();
    }
    let mut shown = String::new();
    for (from, to) in parts {
        let mut skipped = false;
        while lines.next_if(|line| !line.contains(from)).is_some() {
            skipped = true;
        }
        assert!(lines.peek().is_some(), "no line with {from:?} in\n{printed}");
        shown.push_str(if skipped { "...\n" } else { "" });
        for line in lines.by_ref() {
            shown.push_str(line);
            shown.push('\n');
            if !to.is_empty() && line.contains(to) {
                break;
            }
        }
    }
    shown.push_str(if lines.peek().is_some() { "...\n" } else { "" });
    shown
}

/// Lays columns out again, where names of another length took the place of others: neighbouring lines with as many cells.
fn aligned(text: &str) -> String {
    let cells = |line: &str| line.trim().split("   ").map(str::trim).filter(|cell| !cell.is_empty()).count();
    let lines: Vec<&str> = text.lines().collect();
    let tables = lines.chunk_by(|a, b| cells(a) > 1 && cells(a) == cells(b) && indent(a) == indent(b));
    tables.map(table).collect()
}

fn indent(line: &str) -> usize {
    line.len() - line.trim_start().len()
}

fn table(lines: &[&str]) -> String {
    let rows: Vec<Vec<&str>> = lines
        .iter()
        .map(|line| line.trim().split("   ").map(str::trim).filter(|cell| !cell.is_empty()).collect())
        .collect();
    let width = |column: usize| rows.iter().filter_map(|row| row.get(column)).map(|cell| cell.chars().count()).max();
    let write = |(line, row): (&&str, &Vec<&str>)| {
        if lines.len() < 2 {
            return format!("{}\n", line.trim_end());
        }
        let cells = row.iter().enumerate();
        let padded: String = cells.map(|(column, cell)| format!("{cell:0$}   ", width(column).unwrap_or(0))).collect();
        format!("{:1$}{2}\n", "", indent(line), padded.trim_end())
    };
    lines.iter().zip(&rows).map(write).collect()
}

/// Shortens digests, which nobody reads.
fn short_digests(text: &str) -> String {
    let mut parts = text.split("sha256:");
    let mut short = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let end = part.find(|letter: char| !letter.is_ascii_hexdigit()).unwrap_or(part.len());
        let (digest, rest) = part.split_at(end);
        let shortened = match (digest.get(..4), digest.get(60..)) {
            (Some(first), Some(last)) => format!("{first}...{last}"),
            _ => digest.to_owned(),
        };
        short.push_str(&format!("sha256:{shortened}{rest}"));
    }
    short
}

/// What of a block is compared: its lines in order, and apart from them what tells how the rollout goes on.
type Comparable = (Vec<String>, BTreeSet<String>);

fn comparable(block: &str) -> Comparable {
    let text = without_digests(&words(block));
    let text = Redaction::default().replace("[  ", "[").replace("[ ", "[").durations().apply(&text);
    let (mut lines, mut moments) = (Vec::new(), BTreeSet::new());
    for line in text.lines() {
        let line = line.split_whitespace().collect::<Vec<_>>().join(" ").replace("0-DURATION", "DURATION");
        // The kubelet's events come when they come.
        if line.starts_with("CLOCK ") {
            continue;
        }
        let moment = line.trim_start_matches('[');
        if !moment.starts_with("DURATION") {
            lines.push(line);
        } else if !PASSING.iter().any(|passing| moment.contains(passing)) {
            moments.insert(moment.to_owned());
        }
    }
    (lines, moments)
}

/// Takes generated names and rollout ids out.
fn words(text: &str) -> String {
    let mut clean = String::with_capacity(text.len());
    let mut rest = text;
    while !rest.is_empty() {
        let is_word = |letter: char| letter.is_ascii_alphanumeric() || letter == '-';
        let word = rest.find(|letter| !is_word(letter)).unwrap_or(rest.len());
        let (word, tail) = rest.split_at(word);
        clean.push_str(&without_generated(word));
        let other = tail.find(is_word).unwrap_or(tail.len());
        let (other, tail) = tail.split_at(other);
        clean.push_str(other);
        rest = tail;
    }
    clean
}

fn without_generated(word: &str) -> String {
    let parts: Vec<&str> = word.split('-').collect();
    let is_made_up = |part: &str, lengths: std::ops::RangeInclusive<usize>| {
        lengths.contains(&part.len()) && part.chars().all(|letter| LETTERS.contains(letter))
    };
    // Hashes of templates are numbers in these letters, and nobody's word has none of their digits.
    let is_hash = |part: &str| is_made_up(part, 7..=10) && part.contains(|letter: char| letter.is_ascii_digit());
    match parts.as_slice() {
        [name @ .., hash, suffix] if !name.is_empty() && is_made_up(suffix, 5..=5) && is_made_up(hash, 7..=10) => {
            format!("{}-POD", name.join("-"))
        }
        [name @ .., hash] if !name.is_empty() && is_hash(hash) => format!("{}-HASH", name.join("-")),
        [date, time, random] if [date.len(), time.len(), random.len()] == [8, 6, 6] => "ID".to_owned(),
        _ => word.to_owned(),
    }
}

fn without_digests(text: &str) -> String {
    let mut parts = text.split("sha256:");
    let mut clean = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        clean.push_str("DIGEST");
        clean.push_str(part.trim_start_matches(|letter: char| letter.is_ascii_hexdigit() || letter == '.'));
    }
    clean
}
