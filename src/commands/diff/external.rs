//! Another program to show the difference, as `kubectl diff` calls it.
//!
//! Promise: two folders, LIVE and MERGED, hold a file per object under kubectl's name for it; only their owner may read
//! them, and they are gone when this is left, interrupted or not.
#![expect(
    clippy::disallowed_methods,
    reason = "reads KUBECTL_EXTERNAL_DIFF, and writes the files that the program compares"
)]

use std::collections::hash_map::RandomState;
use std::fs;
use std::hash::{BuildHasher, Hasher};
use std::io;
use std::path::{Path, PathBuf};
use std::pin::pin;

use futures::future::{self, Either};
use tokio::process::Command;

use super::{DIFFERENT, FAILED, SAME};
use crate::error::{CommandError, ErrorKind, Result};
use crate::render;
use crate::signals::Signals;
use engine::plan::workload_diff::WorkloadDiff;
use engine::state::outcome::EndResult;

/// How often another name is tried for a folder that exists.
const TRIES: usize = 16;

#[derive(Debug, PartialEq, Eq)]
pub(super) struct Program {
    name: String,
    arguments: Vec<String>,
}

impl Program {
    pub(super) fn of_environment() -> Option<Self> {
        Self::parse(&std::env::var("KUBECTL_EXTERNAL_DIFF").ok()?)
    }

    /// Splits at blanks; of the arguments, only those of letters, digits, `-` and `=` are kept.
    ///
    /// Upstream: `DiffProgram.getCommand` in kubectl's `pkg/cmd/diff/diff.go`.
    fn parse(text: &str) -> Option<Self> {
        if text.is_empty() {
            return None;
        }
        let mut words = text.split(' ').map(str::to_owned);
        let name = words.next()?;
        let is_kept =
            |word: &String| !word.is_empty() && word.chars().all(|c| c.is_ascii_alphanumeric() || c == '-' || c == '=');
        Some(Self { name, arguments: words.filter(is_kept).collect() })
    }
}

/// Writes both states of each object, and lets the program compare the folders.
///
/// It gets the two folders, then its arguments, as from kubectl. Its code 0 is no difference, 1 is one; more is passed on.
pub(super) async fn run(program: &Program, diffs: &[WorkloadDiff]) -> Result<u8> {
    // From here on no signal ends the process before the folders are gone.
    let mut signals = Signals::listen()?;
    let folders = write(diffs).map_err(|error| {
        CommandError::new(ErrorKind::Output, format!("failed to write files for {:?}: {error}", program.name))
    })?;
    let [live, merged] = &folders;
    let failed = |error: io::Error| {
        CommandError::new(ErrorKind::Output, format!("failed to run {:?}: {error}", program.name))
            .hint("it is what KUBECTL_EXTERNAL_DIFF says; unset it for the built-in diff")
    };
    let mut child =
        Command::new(&program.name).args([&live.0, &merged.0]).args(&program.arguments).spawn().map_err(failed)?;
    // Ctrl-C goes to the program too, from the terminal: its end is waited for, unless it is asked for twice. SIGTERM does not.
    let mut stopped = None;
    let status = loop {
        let ended = {
            let (waiting, signalled) = (pin!(child.wait()), pin!(signals.next()));
            match future::select(waiting, signalled).await {
                Either::Left((status, _)) => Ok(status.map_err(failed)?),
                Either::Right((stop, _)) => Err(stop),
            }
        };
        match ended {
            Ok(status) => break status,
            Err(stop) => {
                let result = stop.result();
                if stopped.replace(result).is_some() || result == EndResult::Terminated {
                    child.start_kill().map_err(failed)?;
                }
            }
        }
    };
    if let Some(result) = stopped {
        return Ok(result.exit_code());
    }
    match status.code() {
        Some(0) => Ok(SAME),
        Some(1) => Ok(DIFFERENT),
        Some(code) => Ok(u8::try_from(code).unwrap_or(FAILED)),
        None => Err(CommandError::new(ErrorKind::Output, format!("{:?} was ended: {status}", program.name))),
    }
}

#[derive(Debug)]
struct Folder(PathBuf);

impl Drop for Folder {
    fn drop(&mut self) {
        // A folder that cannot be removed is left to the cleaning of the temporary folder.
        drop(fs::remove_dir_all(&self.0));
    }
}

impl Folder {
    fn new(prefix: &str) -> io::Result<Self> {
        let builder = fs::DirBuilder::new();
        #[cfg(unix)]
        let builder = {
            let mut builder = builder;
            std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
            builder
        };
        for _ in 0..TRIES {
            // The keys of a RandomState are random: enough for a name, because an existing one is never taken.
            let path = std::env::temp_dir().join(format!("{prefix}-{}", RandomState::new().build_hasher().finish()));
            match builder.create(&path) {
                Ok(()) => return Ok(Self(path)),
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                Err(error) => return Err(error),
            }
        }
        Err(io::ErrorKind::AlreadyExists.into())
    }
}

fn write(diffs: &[WorkloadDiff]) -> io::Result<[Folder; 2]> {
    let folders = [Folder::new("LIVE")?, Folder::new("MERGED")?];
    let file = |folder: &Folder, diff: &WorkloadDiff| Path::join(&folder.0, diff.file_name());
    let [live, merged] = &folders;
    for diff in diffs {
        fs::write(file(live, diff), render::yaml(&diff.before))?;
        fs::write(file(merged, diff), render::yaml(&diff.after))?;
    }
    Ok(folders)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use engine::k8s::names::WorkloadRef;
    use engine::kinds::WorkloadKind;

    fn diff() -> WorkloadDiff {
        WorkloadDiff {
            workload: WorkloadRef { kind: WorkloadKind::Pod, namespace: "n".into(), name: "p".into() },
            before: json!({"a": 1}),
            after: json!({"a": 2}),
            marks: Vec::new(),
        }
    }

    #[test]
    fn the_variable_is_read_as_kubectl_reads_it() {
        for (text, name, arguments) in [
            ("colordiff -N -u", "colordiff", vec!["-N", "-u"]),
            ("dyff between --set-exit-code", "dyff", vec!["between", "--set-exit-code"]),
            ("meld", "meld", vec![]),
            ("diff  -u;rm $(x) --a=b --c=/d é", "diff", vec!["--a=b"]),
            ("/opt/my_diff -x", "/opt/my_diff", vec!["-x"]),
            (" diff -u", "", vec!["diff", "-u"]),
        ] {
            let arguments = arguments.into_iter().map(str::to_owned).collect();
            assert_eq!(Program::parse(text), Some(Program { name: name.into(), arguments }), "{text}");
        }
        assert_eq!(Program::parse(""), None);
    }

    #[test]
    fn the_files_are_there_and_go_again() {
        let folders = write(&[diff()]).unwrap();
        let [live, merged] = [&folders[0], &folders[1]].map(|folder| folder.0.join("v1.Pod.n.p"));
        assert_eq!(
            (fs::read_to_string(&live).unwrap(), fs::read_to_string(&merged).unwrap()),
            ("a: 1\n".into(), "a: 2\n".into())
        );
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt;
            assert_eq!(fs::metadata(&folders[0].0).unwrap().permissions().mode() & 0o777, 0o700);
        }
        let paths = [folders[0].0.clone(), folders[1].0.clone()];
        assert!(paths.iter().all(|path| path.file_name().is_some()) && paths[0] != paths[1]);
        drop(folders);
        assert!(paths.iter().all(|path| !path.exists()));
    }

    #[cfg(unix)]
    #[tokio::test]
    async fn the_programs_code_is_passed_on() {
        let program = |name: &str| Program { name: name.into(), arguments: Vec::new() };
        // `true` and `false` take the folders and read nothing; `test A B` alone is wrong usage, code 2 or 1.
        assert_eq!(run(&program("true"), &[diff()]).await.unwrap(), SAME);
        assert_eq!(run(&program("false"), &[diff()]).await.unwrap(), DIFFERENT);
        assert_eq!(run(&program("expr"), &[diff()]).await.unwrap(), 2);
        let error = run(&program("no-such-program"), &[diff()]).await.unwrap_err();
        assert!(error.message.starts_with("failed to run \"no-such-program\": "), "{}", error.message);
    }
}
