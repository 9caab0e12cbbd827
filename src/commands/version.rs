//! `version`: this program's, and the server's.

use std::time::Duration;

use serde_json::json;

use super::Shell;
use crate::cli::{GlobalArgs, VersionArgs};
use crate::cluster::connect::platform;
use crate::error::Result;
use crate::render::{self, DocumentFormat};
use engine::state::outcome::EndResult;

/// Where no `--request-timeout` is given: a user who asks for versions may be looking for a server that hangs.
const TIMEOUT: Duration = Duration::from_secs(5);

const VERSION: &str = env!("CARGO_PKG_VERSION");

/// The commit and the day that a release was built from: the script `release` says them.
const COMMIT: Option<&str> = option_env!("KUBECTL_INPLACE_COMMIT");
const DATE: Option<&str> = option_env!("KUBECTL_INPLACE_DATE");

pub(super) fn short(shell: &Shell) -> Result<EndResult> {
    shell.print(&format!("kubectl-inplace {VERSION}\n"))?;
    Ok(EndResult::Complete)
}

fn build() -> String {
    match (COMMIT, DATE) {
        (Some(commit), Some(date)) => format!("commit {commit}, {date}, {}", platform()),
        _ => format!("not a release build, {}", platform()),
    }
}

pub(super) async fn run(args: &VersionArgs, global: &GlobalArgs, shell: &mut Shell) -> Result<EndResult> {
    // The client's version is known without a server, and is often what an unreachable one is asked about.
    if args.output == DocumentFormat::Text {
        shell.print(&format!("Client Version: v{VERSION} ({})\n", build()))?;
    }
    let asked = if args.client { None } else { Some(server_version(global, shell).await) };
    let (server, error) = match asked.transpose() {
        Ok(server) => (server, None),
        Err(error) => (None, Some(error)),
    };
    let document = json!({ "clientVersion": VERSION, "commit": COMMIT, "date": DATE, "platform": platform(), "serverVersion": server });
    match args.output {
        DocumentFormat::Text if args.client => {}
        DocumentFormat::Text => {
            let server = server.map_or_else(|| "unknown".to_owned(), |server| shell.terminal.stdout.show(&server));
            shell.print(&format!("Server Version: {server}\n"))?;
        }
        DocumentFormat::Json => shell.print(&format!("{document}\n"))?,
        DocumentFormat::Yaml => shell.print(&render::yaml(&document))?,
    }
    error.map_or(Ok(EndResult::Complete), Err)
}

async fn server_version(global: &GlobalArgs, shell: &mut Shell) -> Result<String> {
    let mut global = global.clone();
    global.connection.request_timeout.get_or_insert(TIMEOUT);
    Ok(shell.connect(&global).await?.server_version().await?)
}
