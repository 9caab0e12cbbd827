//! A reader who knows nothing: types a command, and from then on pastes what was printed, word for word.
//!
//! The first line with a command that was not pasted yet is taken, in the order in which they were printed; a word that the
//! program takes for a slip is corrected as it says. A question is answered with yes. What has a placeholder is no command.

use std::collections::BTreeSet;
use std::fmt;
use std::path::Path;

use crate::support::{Namespace, Output};

/// More than anybody pastes.
const MOST_STEPS: usize = 8;

/// Commands of this program that change something, and so ask.
const ACTS: [&str; 5] = ["apply", "restart", "undo", "resume", "abort"];

/// Commands that only read: their output is no way on, and typing the first command again would end as before.
const TELLS: [&str; 9] = [
    "kubectl get ",
    "kubectl describe ",
    "kubectl auth ",
    "kubectl inplace status",
    "kubectl inplace history",
    "kubectl inplace explain",
    "kubectl inplace rbac",
    "kubectl inplace options",
    "kubectl inplace diff",
];

/// Words in a printed line that somebody has to fill in.
const PLACEHOLDERS: [&str; 12] = [
    "TYPE/NAME",
    "NAME",
    "CONTAINER",
    "CONTAINER=IMAGE",
    "COMMAND",
    "FILE",
    "IMAGE",
    "SELECTOR",
    "KEY=VALUE",
    "...",
    "ID",
    "DIRECTORY",
];

/// One command, and what came of it.
#[derive(Debug)]
pub(super) struct Step {
    pub(super) line: String,
    pub(super) code: i32,
    /// Both streams, as a terminal shows them.
    pub(super) text: String,
}

/// How the reading ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Stopped {
    /// Nothing more is asked of the reader.
    NothingToPaste,
    /// Every command on offer was pasted before.
    InACircle,
    /// It goes on and on.
    TooLong,
}

/// Everything that was typed and printed.
#[derive(Debug)]
pub(super) struct Trail {
    pub(super) steps: Vec<Step>,
    pub(super) stopped: Stopped,
}

impl fmt::Display for Trail {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for step in &self.steps {
            writeln!(f, "$ {}\n{}=> {}", step.line, step.text, step.code)?;
        }
        writeln!(f, "{:?}", self.stopped)
    }
}

impl Trail {
    /// The commands of this program's.
    pub(super) fn of_ours(&self) -> impl Iterator<Item = &Step> {
        self.steps.iter().filter(|step| step.line.contains("kubectl inplace "))
    }
}

/// What the reader is like.
pub(super) struct Reader<'a> {
    pub(super) namespace: &'a Namespace,
    /// Typed once, when the shell was opened.
    pub(super) session: &'a str,
    /// The working folder of the shell.
    pub(super) folder: &'a Path,
    /// Regrets what went well, once.
    pub(super) regrets: bool,
    /// To whom somebody gives the Role that is printed, as `--as` names it.
    pub(super) account: &'a str,
}

impl Reader<'_> {
    /// Types the line, and pastes until there is nothing to paste.
    pub(super) fn read(&self, first: &str) -> Trail {
        let (mut pasted, mut steps) = (BTreeSet::new(), Vec::new());
        let (mut line, mut again) = (first.to_owned(), false);
        while steps.len() < MOST_STEPS {
            let step = self.step(&line);
            pasted.insert(line.clone());
            let regrets =
                self.regrets && !steps.iter().any(|step: &Step| step.line.starts_with("kubectl inplace undo"));
            let offers = self.offers(&step, regrets && !line.starts_with("kubectl inplace undo"));
            let (code, is_first, tells) = (step.code, steps.is_empty(), is_one_of(&step.line, &TELLS));
            steps.push(step);
            line = match offers.iter().find(|offer| !pasted.contains(*offer)) {
                Some(offer) => offer.clone(),
                None if !offers.is_empty() => return Trail { steps, stopped: Stopped::InACircle },
                // What stood in the way is out of it.
                None if code == 0 && !is_first && !tells && !acts(&line) && !again => {
                    again = true;
                    first.to_owned()
                }
                None => return Trail { steps, stopped: Stopped::NothingToPaste },
            };
        }
        Trail { steps, stopped: Stopped::TooLong }
    }

    fn step(&self, line: &str) -> Step {
        let yes = if acts(line) && !line.contains(" --yes") { " --yes" } else { "" };
        let output = self.shell(&format!("{line}{yes}"));
        Step { line: line.to_owned(), code: output.code, text: output.stdout }
    }

    fn shell(&self, line: &str) -> Output {
        self.namespace.type_line(&format!("exec 2>&1; cd {}; {}\n{line}", self.folder.display(), self.session))
    }

    /// Returns what may be pasted after a step, in its order.
    fn offers(&self, step: &Step, regrets: bool) -> Vec<String> {
        if step.line.starts_with("kubectl inplace rbac")
            && !self.account.is_empty()
            && !step.line.contains('|')
            && !step.line.contains("--check")
        {
            return vec![self.given(step)];
        }
        let is_done = step.code == 0 && acts(&step.line);
        let offers = step.text.lines().filter_map(|line| {
            let (label, command) = offer(line, step)?;
            let is_way_back = label.starts_with("Roll back");
            // What is done is done, and what is said beside it is no task.
            let leads_on = !is_done || !label.starts_with("hint") && (!is_way_back || regrets);
            leads_on.then_some(command)
        });
        offers.filter(|command| !has_placeholder(command)).collect()
    }

    /// An administrator gives the account the Role that was printed, with the command above it.
    fn given(&self, step: &Step) -> String {
        let binding = step.text.lines().find_map(|line| line.strip_prefix("# kubectl create rolebinding "));
        let binding = binding.unwrap_or_default().replace("NAMESPACE:NAME", self.account);
        format!(
            "{} | kubectl apply -f - && kubectl create rolebinding {binding} -n {}",
            step.line,
            self.namespace.name()
        )
    }
}

/// Returns the text before a command that a line offers, and the command.
fn offer(line: &str, step: &Step) -> Option<(String, String)> {
    let line = line.trim();
    if let Some(meant) = between(line, "did you mean ", "?").or_else(|| between(line, "exists: '", "'")) {
        let meant = meant.trim_end_matches(", the tag");
        return Some(("slip".into(), corrected(&step.line, &step.text, meant)?));
    }
    if line == "hint: say --yes to approve" {
        return Some(("yes".into(), format!("{} --yes", step.line)));
    }
    let (label, command) = line.rsplit_once(": kubectl ")?;
    let is_other = ["Warning", "[", "note", "Usage", "left behind", "superseded", "unclear", "owner"]
        .iter()
        .any(|other| line.starts_with(other));
    (!is_other).then(|| (label.to_owned(), format!("kubectl {command}")))
}

fn between<'a>(line: &'a str, before: &str, after: &str) -> Option<&'a str> {
    let (_, rest) = line.split_once(before)?;
    rest.split_once(after).map(|(inside, _)| inside)
}

/// Puts what was meant in the place of the part of the line that is quoted in what was said, or else is closest to it.
fn corrected(typed: &str, said: &str, meant: &str) -> Option<String> {
    let parts = |word: &str| -> Vec<String> {
        let whole = [word].into_iter();
        let parts = word.split(['=', '/']).filter(|_| !meant.contains(['/', '=']) && !word.starts_with('-'));
        whole.chain(parts).map(str::to_owned).collect()
    };
    let words = typed.split(' ').enumerate().skip(2);
    let candidates = words.flat_map(|(at, word)| parts(word).into_iter().map(move |part| (at, part)));
    let closest = candidates.min_by_key(|(_, part)| {
        let is_quoted = ['"', '\''].iter().any(|quote| said.contains(&format!("{quote}{part}{quote}")));
        (!is_quoted, distance(part, meant))
    });
    let (at, part) = closest.filter(|(_, part)| part != meant)?;
    let mut words: Vec<String> = typed.split(' ').map(str::to_owned).collect();
    words[at] = words[at].replacen(&part, meant, 1);
    Some(words.join(" "))
}

/// How many letters differ (Levenshtein).
fn distance(left: &str, right: &str) -> usize {
    let mut row: Vec<usize> = (0..=right.chars().count()).collect();
    for (i, a) in left.chars().enumerate() {
        let mut corner = std::mem::replace(&mut row[0], i + 1);
        for (j, b) in right.chars().enumerate() {
            let cost = corner + usize::from(a != b);
            corner = row[j + 1];
            row[j + 1] = cost.min(corner + 1).min(row[j] + 1);
        }
    }
    row.last().copied().unwrap_or_default()
}

fn acts(line: &str) -> bool {
    let verb = line.strip_prefix("kubectl inplace ").and_then(|rest| rest.split(' ').next());
    verb.is_some_and(|verb| ACTS.contains(&verb)) && !line.contains("--dry-run")
}

fn is_one_of(line: &str, commands: &[&str]) -> bool {
    commands.iter().any(|command| line.starts_with(command)) && !line.contains('|')
}

fn has_placeholder(command: &str) -> bool {
    command.split_whitespace().any(|word| PLACEHOLDERS.contains(&word.trim_end_matches([',', ';', ')'])))
}

#[test]
fn a_slip_is_corrected_where_it_was_made() {
    let line = "kubectl inplace aply deploy/web sid=:v2 -n shop --dry-rum";
    let command = |text: &str| {
        let step = Step { line: line.into(), code: 1, text: text.into() };
        step.text.lines().find_map(|line| offer(line, &step)).map(|(_, command)| command)
    };
    for (said, corrected) in [
        ("unrecognized 'aply'\n  tip: a similar subcommand exists: 'undo'", line.replace("aply", "undo")),
        ("    hint: did you mean side?", line.replace("sid=", "side=")),
        ("  tip: a similar argument exists: '--dry-run'", line.replace("--dry-rum", "--dry-run")),
        ("hint: did you mean deployment/web?", line.replace("deploy/web", "deployment/web")),
        ("\"deploy\" is no kind (did you mean daemonset?)", line.replace("deploy/web", "daemonset/web")),
        ("Next: kubectl inplace apply web", "kubectl inplace apply web".into()),
    ] {
        assert_eq!(command(said).as_deref(), Some(corrected.as_str()), "{said}");
    }
    assert_eq!(command("Usage: kubectl inplace [OPTIONS]"), None);
    assert!(has_placeholder("kubectl inplace plan TYPE/NAME CONTAINER=IMAGE --out FILE"));
}
