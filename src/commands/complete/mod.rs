//! Answers kubectl's completion requests (kubectl `pkg/cmd/plugin/plugin_completion.go`).
//!
//! kubectl runs `kubectl_complete-inplace` with the words after the plugin's name; the last one is being typed. The answer
//! is one candidate a line, with a description after a tab, and a last line with a directive.
//!
//! `completion`: shell scripts for direct use, and the link by which kubectl completes the plugin.

mod names;
mod wanted;

use std::ffi::{OsStr, OsString};
use std::path::Path;

use clap::CommandFactory;
use clap_complete::engine as candidates;

use super::Shell;
use crate::cli::{Cli, CompletionArgs, CompletionShell};
use crate::cluster::connect::resolve;
use crate::error::{CommandError, ErrorKind, Result};
use engine::state::outcome::EndResult;
use wanted::{What, wanted};

/// The name under which kubectl looks for the completion of this plugin.
pub(super) const HELPER: &str = "kubectl_complete-inplace";

/// What our shells' scripts call, and what the script under the helper's name calls where it replaces the link.
const HIDDEN_COMMAND: &str = "__complete";
const HIDDEN_HELPER: &str = "__complete-for-kubectl";

/// cobra's directives: offer nothing else, or let the shell complete file names.
const NO_FILES: &str = ":4";
const NO_FILES_NO_BLANK: &str = ":6";
const FILES: &str = ":0";

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Asker {
    /// kubectl's, by cobra: it puts `--flag=` before the candidates itself.
    Kubectl,
    Ours,
}

/// Returns the words to complete, where this process was started under the helper's name or with a hidden command: the
/// command line would take flags among them for its own.
pub(super) fn asked_for(arguments: &[String]) -> Option<(Asker, Vec<String>)> {
    let (program, words) = arguments.split_first()?;
    if Path::new(program).file_stem().is_some_and(|name| name == HELPER) {
        return Some((Asker::Kubectl, words.to_vec()));
    }
    let (first, words) = words.split_first()?;
    let asker = match first.as_str() {
        HIDDEN_COMMAND => Asker::Ours,
        HIDDEN_HELPER => Asker::Kubectl,
        _ => return None,
    };
    Some((asker, words.to_vec()))
}

/// Prints the candidates. Whatever goes wrong is silence: a shell is waiting.
pub(super) async fn answer(asker: Asker, words: Vec<String>, shell: &mut Shell) -> EndResult {
    let typed = words.last().cloned().unwrap_or_default();
    let text = match wanted(&words) {
        Some(wanted) if wanted.what == What::File => format!("{FILES}\n"),
        Some(wanted) => names::candidates(&wanted, &words, shell).await,
        None => candidates(words),
    };
    let text = match asker {
        Asker::Kubectl => without_flag(&text, &typed),
        Asker::Ours => text,
    };
    drop(shell.print(&text));
    EndResult::Complete
}

/// Leaves `--flag=` out, where that is typed (cobra, `__complete`: candidates are values alone).
fn without_flag(text: &str, typed: &str) -> String {
    let Some((flag, _)) = typed.split_once('=').filter(|(flag, _)| flag.starts_with('-')) else {
        return text.to_owned();
    };
    let value = |line: &str| line.strip_prefix(flag).and_then(|rest| rest.strip_prefix('=')).unwrap_or(line).to_owned();
    text.lines().map(|line| value(line) + "\n").collect()
}

/// Candidates without a cluster: commands, flags and their values.
fn candidates(words: Vec<String>) -> String {
    let mut all: Vec<OsString> = vec!["kubectl-inplace".into()];
    all.extend(words.into_iter().map(OsString::from));
    if all.len() == 1 {
        all.push(OsString::new());
    }
    let last = all.len() - 1;
    // As in kubectl, flags are completed only once one is begun.
    let is_flag = all.last().is_some_and(|typed| typed.to_string_lossy().starts_with('-'));
    let found = candidates::complete(&mut Cli::command(), all, last, None).unwrap_or_default();
    let is_wanted = |value: &OsStr| is_flag || !value.to_string_lossy().starts_with('-');
    let mut text = String::new();
    for candidate in found.into_iter().filter(|found| !found.is_hide_set() && is_wanted(found.get_value())) {
        text.push_str(&candidate.get_value().to_string_lossy());
        if let Some(help) = candidate.get_help() {
            text.push('\t');
            text.push_str(help.to_string().lines().next().unwrap_or_default());
        }
        text.push('\n');
    }
    text.push_str(NO_FILES);
    text.push('\n');
    text
}

pub(in crate::commands) fn completion(args: &CompletionArgs, shell: &Shell) -> Result<EndResult> {
    match args.shell {
        Some(kind) => shell.print(script(kind))?,
        None => install(shell)?,
    }
    Ok(EndResult::Complete)
}

/// Returns a shell's completion script for the binary `kubectl-inplace`: it asks the program itself, so that nothing
/// hidden shows and names of the cluster are offered.
pub fn script(shell: CompletionShell) -> &'static str {
    match shell {
        CompletionShell::Bash => include_str!("../../../completions/inplace.bash"),
        CompletionShell::Zsh => include_str!("../../../completions/inplace.zsh"),
        CompletionShell::Fish => include_str!("../../../completions/inplace.fish"),
        CompletionShell::PowerShell => include_str!("../../../completions/inplace.ps1"),
    }
}

/// Links this program under the helper's name beside itself: krew cannot put a second name on the PATH (krew#812).
fn install(shell: &Shell) -> Result<()> {
    let called = shell.arguments.first().map(String::as_str).unwrap_or_default();
    // What is called by its name alone is on the PATH.
    let called = resolve(Path::new(called), shell.environment());
    let failed = |why: String| CommandError::new(ErrorKind::Output, why);
    let folder = called.parent().filter(|folder| !folder.as_os_str().is_empty()).ok_or_else(|| {
        failed("it is not known in which directory this program was found".into())
            .hint("call it by its full path, or through kubectl")
    })?;
    let link = folder.join(HELPER);
    if link.symlink_metadata().is_ok() {
        shell.note(&format!("{} is there already", link.display()));
        return Ok(());
    }
    place(&called, &link).map_err(|error| failed(format!("{} could not be made: {error}", link.display())))?;
    shell.print(&format!("{} now answers for kubectl inplace\n", link.display()))?;
    Ok(())
}

#[cfg(unix)]
fn place(program: &Path, link: &Path) -> std::io::Result<()> {
    std::os::unix::fs::symlink(program, link)
}

#[cfg(not(unix))]
fn place(program: &Path, link: &Path) -> std::io::Result<()> {
    std::fs::copy(program, link.with_extension("exe")).map(drop)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn complete(line: &str) -> String {
        candidates(line.split(' ').map(str::to_owned).collect())
    }

    #[test]
    fn commands_flags_and_values_are_offered() {
        assert!(complete("pl").starts_with("plan\tSay what would happen"));
        assert!(complete("plan --detailed").starts_with("--detailed-exitcode\t"));
        assert!(complete("plan -o j").contains("json"));
        assert!(complete("completion z").contains("zsh"));
        assert!(!complete("").contains("__complete"));
        assert!(complete("pl").ends_with(":4\n"));
        for line in ["version ", "explain NoPods ", "options "] {
            assert_eq!(complete(line), ":4\n", "{line}");
        }
        assert_eq!(complete("completion ").lines().count(), 5, "four shells: {}", complete("completion "));
        assert!(complete("completion -").contains("--install") && complete("version -").contains("--context"));
    }

    #[test]
    fn kubectl_gets_values_without_their_flag() {
        let text = "--namespace=shop\tdescribed\n--namespace=stage\n:4\n";
        assert_eq!(without_flag(text, "--namespace=s"), "shop\tdescribed\nstage\n:4\n");
        assert_eq!(without_flag("-n=shop\n:4\n", "-n="), "shop\n:4\n");
        assert_eq!(without_flag("side=:v1\n:6\n", "side="), "side=:v1\n:6\n");
    }
}
