//! Where manifests come from that are not read by name: URLs, and kustomizations.
#![expect(clippy::disallowed_methods, reason = "runs kubectl kustomize")]

use std::process::Stdio;

use tokio::process::Command;

use super::Shell;
use crate::cli::TargetArgs;
use crate::cluster::connect::fetch;
use crate::error::{CommandError, ErrorKind, Result};
use crate::manifest::{MAX_FILE_BYTES, Origin};
use engine::k8s::mask;

const SHOWN_LINES: usize = 5;

/// Reads what is in no file: what -f names by URL, and what -k names.
pub(super) async fn origins(args: &TargetArgs, shell: &Shell) -> Result<Vec<Origin>> {
    match &args.pick.kustomize {
        Some(folder) => Ok(vec![kustomization(folder).await?]),
        None => of_names(&args.pick.filename, shell).await,
    }
}

pub(super) async fn of_names(names: &[String], shell: &Shell) -> Result<Vec<Origin>> {
    let mut origins = Vec::new();
    for name in names {
        origins.push(if fetch::is_url(name) {
            let bytes = fetch::fetch(name, MAX_FILE_BYTES, shell.environment()).await;
            let bytes = bytes.map_err(|error| CommandError::new(ErrorKind::Manifest, error))?;
            Origin::Text { name: fetch::shown(name), bytes }
        } else {
            Origin::Name(name.clone())
        });
    }
    Ok(origins)
}

/// Builds a kustomization with the kubectl that called this program, as far as it says so (`KUBECTL_PATH`, from 1.37 on).
async fn kustomization(folder: &str) -> Result<Origin> {
    let kubectl = std::env::var_os("KUBECTL_PATH").filter(|path| !path.is_empty()).unwrap_or_else(|| "kubectl".into());
    let error = |message: String| CommandError::new(ErrorKind::Manifest, message);
    let output = Command::new(&kubectl).args(["kustomize", folder]).stdin(Stdio::null()).output().await;
    let output = output.map_err(|why| {
        error(format!("-k needs kubectl, and {} could not be run: {why}", kubectl.to_string_lossy()))
            .hint("build it elsewhere and pipe it in: kustomize build DIRECTORY, with -f - here")
    })?;
    if !output.status.success() {
        let text = mask::text(&String::from_utf8_lossy(&output.stderr));
        let text = text
            .lines()
            .map(|line| without_klog(line).trim_start_matches("error: "))
            .filter(|line| !line.trim().is_empty());
        let text: Vec<&str> = text.take(SHOWN_LINES).collect();
        let why = if text.is_empty() { output.status.to_string() } else { text.join("; ") };
        return Err(error(format!("kubectl kustomize {folder:?} failed: {why}")));
    }
    Ok(Origin::Text { name: format!("kustomization {folder}"), bytes: output.stdout })
}

/// Without what klog writes before an error (`run.go`): `E1126 20:48:37.1 12 run.go:72] "command failed" err="..."`.
fn without_klog(line: &str) -> &str {
    let Some((head, rest)) = line.split_once("] ") else { return line };
    let is_head = head.starts_with(['E', 'F', 'W', 'I']) && head.contains(".go:");
    let Some(text) = rest.split_once("err=").map(|(_, text)| text).filter(|_| is_head) else { return line };
    text.strip_prefix('"').and_then(|text| text.strip_suffix('"')).unwrap_or(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_kubectl_logs_is_reported_without_its_head() {
        let logged =
            r#"E1126 20:48:37.101 12 run.go:72] "command failed" err="unable to find one of 'kustomization.yaml'""#;
        assert_eq!(without_klog(logged), "unable to find one of 'kustomization.yaml'");
        for line in ["error: must build at directory", "E1126 x.go:1] said", "[a] err=b"] {
            assert_eq!(without_klog(line), line);
        }
    }
}
