//! `completion`: shell scripts for direct use, and the link by which kubectl completes the plugin.

use std::path::{Path, PathBuf};

use clap::CommandFactory;
use clap_complete::aot::{Bash, Fish, Zsh, generate};

use super::{Shell, complete};
use crate::cli::{Cli, CompletionArgs, CompletionShell};
use crate::engine::outcome::EndResult;
use crate::error::{CommandError, ErrorKind};

pub(super) fn run(args: &CompletionArgs, shell: &Shell) -> Result<EndResult, CommandError> {
    match args.shell {
        Some(kind) => shell.print(&script(kind))?,
        None => install(shell)?,
    }
    Ok(EndResult::Complete)
}

/// Returns a shell's completion script for the binary `kubectl-inplace`.
pub fn script(shell: CompletionShell) -> String {
    let mut script = Vec::new();
    let mut command = Cli::command().bin_name("kubectl-inplace");
    let name = "kubectl-inplace";
    match shell {
        CompletionShell::Bash => generate(Bash, &mut command, name, &mut script),
        CompletionShell::Zsh => generate(Zsh, &mut command, name, &mut script),
        CompletionShell::Fish => generate(Fish, &mut command, name, &mut script),
    }
    String::from_utf8_lossy(&script).into_owned()
}

/// Links this program under the helper's name, in the folder where the shell finds this program: krew cannot put a
/// second name on the PATH (krew#812).
fn install(shell: &Shell) -> Result<(), CommandError> {
    let called = shell.arguments.first().map(PathBuf::from).unwrap_or_default();
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

#[cfg(unix)]
fn place(program: &Path, link: &Path) -> std::io::Result<()> {
    std::os::unix::fs::symlink(program, link)
}

#[cfg(not(unix))]
fn place(program: &Path, link: &Path) -> std::io::Result<()> {
    std::fs::copy(program, link.with_extension("exe")).map(drop)
}
