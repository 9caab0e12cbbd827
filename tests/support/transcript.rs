//! Transcripts in the README and in `docs`: each is what a run prints. `UPDATE=1` writes the blocks again.
//!
//! A block comes after `<!-- transcript: NAME -->`. Each of its commands begins with `$ `, and is run as it is written;
//! `...` is in place of lines that are left out. Compared is everything but times, generated names, ids and digests; of
//! the lines about a rollout's progress neither the order nor those that a watch may miss.
#![expect(
    clippy::disallowed_methods,
    reason = "reads and writes the pages, and UPDATE is a variable of the environment"
)]

use std::collections::BTreeSet;
use std::sync::{Mutex, PoisonError};

use super::pages::{self, Page};
use super::redact::Redaction;

/// Tests of one process write the pages one after the other.
static WRITING: Mutex<()> = Mutex::new(());

/// The letters of names that Kubernetes makes up (k8s.io/apimachinery/pkg/util/rand).
const LETTERS: &str = "bcdfghjklmnpqrstvwxz2456789";

/// What a watch may miss of a pod on its way, and what takes long on a busy machine.
const PASSING: [&str; 12] = [
    " restarting",
    " started,",
    " ready",
    "Services",
    "service/",
    "not verified yet",
    "counts as restarted",
    "still waiting",
    "waits for",
    "retrying:",
    "retry",
    "a copy of the lock",
];

/// Lines that are shown: from the first that contains one text to the next that contains the other. An empty text is the
/// first line, or the last.
pub(crate) type Part = (&'static str, &'static str);

/// Returns the commands of a block, as they are typed.
pub(crate) fn commands(name: &str) -> Vec<String> {
    block(name).lines().filter_map(|line| line.strip_prefix("$ ")).map(str::to_owned).collect()
}

/// Returns a block unchanged.
pub(crate) fn block(name: &str) -> String {
    let _writing = WRITING.lock().unwrap_or_else(PoisonError::into_inner);
    split(&page(name), name).1.to_owned()
}

/// Compares a block with its commands and what each of them printed, or writes it.
pub(crate) fn check(name: &str, printed: &[String]) {
    let commands = commands(name);
    assert_eq!(commands.len(), printed.len(), "commands of {name}");
    let sessions =
        commands.iter().zip(printed).map(|(command, printed)| format!("$ {command}\n{}\n", printed.trim_end()));
    let found = sessions.collect::<Vec<_>>().join("\n");
    let _writing = WRITING.lock().unwrap_or_else(PoisonError::into_inner);
    let page = page(name);
    let (before, block, after) = split(&page, name);
    if std::env::var("UPDATE").is_ok_and(|value| value == "1") {
        let file = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join(&page.path);
        std::fs::write(file, format!("{before}{found}{after}")).expect("a page can be written");
        return;
    }
    let (stands, found_now) = (comparable(block), comparable(&found));
    assert!(
        stands == found_now,
        "{}, transcript {name}, is out of date: UPDATE=1 cargo test --test real transcripts\n--- page\n{block}\n--- found\n{found}\n--- compared\n{stands:#?}\n{found_now:#?}",
        page.path
    );
}

fn begin(name: &str) -> String {
    format!("<!-- transcript: {name} -->\n```\n")
}

/// Returns the page of a block.
fn page(name: &str) -> Page {
    let page = pages::pages().into_iter().find(|page| page.text.contains(&begin(name)));
    page.unwrap_or_else(|| panic!("no page has {:?}", begin(name)))
}

/// Splits a page before and after the lines of a block.
fn split<'p>(page: &'p Page, name: &str) -> (&'p str, &'p str, &'p str) {
    let begin = begin(name);
    let at = page.text.find(&begin).expect("the page has the block") + begin.len();
    let (before, rest) = page.text.split_at(at);
    let end = rest.find("```\n").expect("the block ends");
    let (block, after) = rest.split_at(end);
    (before, block, after)
}

/// Returns the shown form of what was printed: with names that are read easily, digests cut short, columns moved
/// together, and `...` for the parts that are left out.
pub(crate) fn shown(printed: &str, names: &[(&str, &str)], parts: &[Part]) -> String {
    let lines: Vec<String> = printed.lines().map(|line| readable(line, names)).collect();
    parts_of(&narrowed(&lines), parts)
}

/// Returns a line with names that are read easily, and digests cut short.
pub(crate) fn readable(line: &str, names: &[(&str, &str)]) -> String {
    let named = names.iter().fold(line.to_owned(), |line, (name, readable)| replaced(&line, name, readable));
    short_digests(&named)
}

/// Replaces a text, and leaves the cells behind it where they are.
fn replaced(line: &str, text: &str, new: &str) -> String {
    let mut line = line.to_owned();
    let mut from = 0;
    while let Some(at) = line.get(from..).and_then(|rest| rest.find(text)).map(|at| at + from) {
        line.replace_range(at..at + text.len(), new);
        from = at + new.len();
        let end = line.get(from..).and_then(|rest| rest.find("   ")).map_or(line.len(), |end| from + end);
        line.insert_str(end, &" ".repeat(text.len().saturating_sub(new.len())));
    }
    line
}

/// Moves the columns of tables together: neighbouring lines of several cells, which nothing but spaces divides.
fn narrowed(lines: &[String]) -> String {
    let is_row = |line: &str| line.trim().contains("   ");
    let tables = lines.chunk_by(|a, b| is_row(a) && is_row(b));
    tables.map(|lines| if lines.iter().all(|line| is_row(line)) { narrow(lines) } else { trimmed(lines) }).collect()
}

fn trimmed(lines: &[String]) -> String {
    lines.iter().map(|line| format!("{}\n", line.trim_end())).collect()
}

fn narrow(lines: &[String]) -> String {
    let rows: Vec<Vec<char>> = lines.iter().map(|line| line.chars().collect()).collect();
    let width = rows.iter().map(Vec::len).max().unwrap_or(0);
    let is_blank = |column: usize| rows.iter().all(|row| row.get(column).is_none_or(|letter| *letter == ' '));
    let begin = (0..width).find(|column| !is_blank(*column)).unwrap_or(0);
    let mut blanks = 0;
    let mut keep = vec![true; width];
    for (column, keep) in keep.iter_mut().enumerate().skip(begin) {
        blanks = if is_blank(column) { blanks + 1 } else { 0 };
        *keep = blanks <= 3;
    }
    let line = |row: &Vec<char>| row.iter().zip(&keep).filter(|(_, keep)| **keep).map(|(letter, _)| *letter).collect();
    trimmed(&rows.iter().map(line).collect::<Vec<String>>())
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

/// Shortens digests, which nobody reads.
fn short_digests(line: &str) -> String {
    let digests = line.split("sha256:").skip(1).filter_map(|rest| rest.get(..64));
    let whole = digests.filter(|digest| digest.chars().all(|letter| letter.is_ascii_hexdigit()));
    whole.fold(line.to_owned(), |line, digest| {
        let (first, last) = (digest.get(..4).unwrap_or_default(), digest.get(60..).unwrap_or_default());
        replaced(&line, digest, &format!("{first}...{last}"))
    })
}

const DOWNTIME: &str = "Downtime per pod";

/// The compared parts of a block: its lines in order, and separately the lines about the rollout's progress.
type Comparable = (Vec<String>, BTreeSet<String>);

fn comparable(block: &str) -> Comparable {
    let text = without_digests(&words(block));
    let text = Redaction::default().replace("[  ", "[").replace("[ ", "[").durations().apply(&text);
    let (mut lines, mut moments) = (Vec::new(), BTreeSet::new());
    for line in text.lines() {
        let line = line.split_whitespace().collect::<Vec<_>>().join(" ").replace("0-DURATION", "DURATION");
        // The kubelet's events come when they come.
        if line.starts_with("CLOCK ") || line == "its newest events:" {
            continue;
        }
        // Another test may have brought the image to the node.
        let line = without_pull(&line);
        // Which times there are, of those that the API has in whole seconds, is chance.
        let line = if line.starts_with(DOWNTIME) { DOWNTIME.to_owned() } else { line };
        let moment = line.trim_start_matches('[');
        if !moment.starts_with("DURATION") {
            lines.push(line);
        } else if !PASSING.iter().any(|passing| moment.contains(passing)) {
            moments.insert(moment.to_owned());
        }
    }
    (lines, moments)
}

/// Takes what is pulled first out of the steps of each pod.
fn without_pull(line: &str) -> String {
    let steps = line.strip_prefix("Each pod: pulls ").and_then(|steps| steps.split_once(" first"));
    let others = steps.filter(|(image, _)| !image.contains(' ')).map(|(_, others)| others.trim_start_matches(", "));
    others.map_or_else(|| line.to_owned(), |others| format!("Each pod: {others}"))
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
    // Hashes of templates are numbers in these letters; words of that length have a vowel.
    let is_hash = |part: &str| is_made_up(part, 7..=10);
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
