//! `version`: this program's, and the server's.

use serde_json::json;

use super::Shell;
use crate::cli::{GlobalArgs, VersionArgs};
use crate::cluster::connect::platform;
use crate::engine::state::outcome::EndResult;
use crate::error::CommandError;
use crate::render::OutputFormat;

const VERSION: &str = env!("CARGO_PKG_VERSION");

/// The commit and the day that a release was built from: the script `release` says them.
const COMMIT: Option<&str> = option_env!("KUBECTL_INPLACE_COMMIT");
const DATE: Option<&str> = option_env!("KUBECTL_INPLACE_DATE");

/// Prints one line.
pub(super) fn short(shell: &Shell) -> Result<EndResult, CommandError> {
    shell.print(&format!("kubectl-inplace {VERSION}\n"))?;
    Ok(EndResult::Complete)
}

/// Returns what the program was built from.
fn build() -> String {
    match (COMMIT, DATE) {
        (Some(commit), Some(date)) => format!("commit {commit}, {date}, {}", platform()),
        _ => format!("not a release build, {}", platform()),
    }
}

pub(super) async fn run(args: &VersionArgs, global: &GlobalArgs, shell: &mut Shell) -> Result<EndResult, CommandError> {
    // The client's version is known without a server, and is often what an unreachable one is asked about.
    let asked = if args.client { None } else { Some(server_version(global, shell).await) };
    let (server, error) = match asked.transpose() {
        Ok(server) => (server, None),
        Err(error) => (None, Some(error)),
    };
    let text = match args.output {
        OutputFormat::Json => {
            let document = json!({ "clientVersion": VERSION, "commit": COMMIT, "date": DATE, "platform": platform(), "serverVersion": server });
            format!("{document}\n")
        }
        OutputFormat::Text | OutputFormat::Wide | OutputFormat::Yaml | OutputFormat::Name | OutputFormat::Markdown => {
            let server = server
                .map(|server| format!("Server Version: {}\n", shell.terminal.stdout.show(&server)))
                .unwrap_or_default();
            format!("Client Version: v{VERSION} ({})\n{server}", build())
        }
    };
    shell.document(|out| out.write_all(text.as_bytes()))?;
    error.map_or(Ok(EndResult::Complete), Err)
}

async fn server_version(global: &GlobalArgs, shell: &mut Shell) -> Result<String, CommandError> {
    Ok(shell.connect(global).await?.server_version().await?)
}
