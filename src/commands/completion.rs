//! `completion`: shell scripts for direct use, and the link by which kubectl completes the plugin.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use super::{Shell, complete};
use crate::cli::{CompletionArgs, CompletionShell};
use crate::error::{CommandError, ErrorKind};
use engine::state::outcome::EndResult;

pub(super) fn run(args: &CompletionArgs, shell: &Shell) -> Result<EndResult, CommandError> {
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
        CompletionShell::Bash => include_str!("../../completions/inplace.bash"),
        CompletionShell::Zsh => include_str!("../../completions/inplace.zsh"),
        CompletionShell::Fish => include_str!("../../completions/inplace.fish"),
        CompletionShell::PowerShell => include_str!("../../completions/inplace.ps1"),
    }
}

/// Links this program under the helper's name, in the folder where the shell finds this program: krew cannot put a
/// second name on the PATH (krew#812).
fn install(shell: &Shell) -> Result<(), CommandError> {
    let called =
        found(shell.arguments.first().map(PathBuf::from).unwrap_or_default(), shell.environment().path.as_deref());
    let failed = |why: String| CommandError::new(ErrorKind::Output, why);
    let folder = called.parent().filter(|folder| !folder.as_os_str().is_empty()).ok_or_else(|| {
        failed("it is not known in which folder this program was found".into())
            .hint("call it by its full path, or through kubectl")
    })?;
    let link = folder.join(complete::HELPER);
    if link.symlink_metadata().is_ok() {
        shell.note(&format!("{} is there already", link.display()));
        return Ok(());
    }
    place(&called, &link).map_err(|error| failed(format!("{} could not be made: {error}", link.display())))?;
    shell.print(&format!("{} now answers for kubectl inplace\n", link.display()))?;
    Ok(())
}

/// Returns where the shell finds a program: what is called by its name alone is on the PATH.
fn found(called: PathBuf, path: Option<&OsStr>) -> PathBuf {
    if called.components().count() > 1 {
        return called;
    }
    let folders = std::env::split_paths(path.unwrap_or_default());
    let mut programs = folders.map(|folder| folder.join(&called));
    programs.find(|program| program.is_file()).unwrap_or(called)
}

#[cfg(unix)]
fn place(program: &Path, link: &Path) -> std::io::Result<()> {
    std::os::unix::fs::symlink(program, link)
}

#[cfg(not(unix))]
fn place(program: &Path, link: &Path) -> std::io::Result<()> {
    std::fs::copy(program, link.with_extension("exe")).map(drop)
}
