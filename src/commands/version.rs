//! `version`: this program's, and the server's.

use serde_json::json;

use super::Shell;
use crate::cli::{GlobalArgs, VersionArgs};
use crate::engine::outcome::EndResult;
use crate::error::CommandError;
use crate::render::OutputFormat;

const VERSION: &str = env!("CARGO_PKG_VERSION");

/// Prints one line.
pub(super) fn short(shell: &Shell) -> Result<EndResult, CommandError> {
    shell.print(&format!("kubectl-inplace {VERSION}\n"))?;
    Ok(EndResult::Complete)
}

pub(super) async fn run(args: &VersionArgs, global: &GlobalArgs, shell: &mut Shell) -> Result<EndResult, CommandError> {
    let server = if args.client { None } else { Some(shell.connect(global).await?.server_version().await?) };
    let text = match args.output {
        OutputFormat::Json => format!("{}\n", json!({ "clientVersion": VERSION, "serverVersion": server })),
        OutputFormat::Text | OutputFormat::Wide | OutputFormat::Yaml | OutputFormat::Name | OutputFormat::Markdown => {
            let server = server
                .map(|server| format!("Server Version: {}\n", shell.terminal.stdout.show(&server)))
                .unwrap_or_default();
            format!("Client Version: v{VERSION}\n{server}")
        }
    };
    shell.print(&text)?;
    Ok(EndResult::Complete)
}
