//! kubectl's `credentialPluginPolicy` (KEP-3104, `~/.kube/kuberc`): which credential plugins may run at all.
//!
//! Of the preferences file only this is read; aliases and defaults are for kubectl's own commands.

#![expect(clippy::disallowed_methods, reason = "reads kubectl's preferences file")]

use std::path::{Path, PathBuf};

use serde::Deserialize;

use super::super::error::ClusterError;
use super::Environment;

#[derive(Deserialize)]
struct Preference {
    #[serde(default, rename = "credentialPluginPolicy")]
    policy: Option<String>,
    #[serde(default, rename = "credentialPluginAllowlist")]
    allowlist: Option<Vec<AllowlistEntry>>,
}

#[derive(Deserialize)]
struct AllowlistEntry {
    /// The field's name in Kubernetes 1.35; 1.36 renamed it to `command`.
    name: Option<String>,
    command: Option<String>,
}

/// Refuses a plugin that the policy does not allow. A missing file allows all, as in kubectl.
pub(super) fn check(command: &str, environment: &Environment) -> Result<(), ClusterError> {
    let Some(path) = file(environment) else { return Ok(()) };
    let shown = path.display();
    let bad = |why: String| {
        let what = "could not be read for credentialPluginPolicy";
        ClusterError::credentials(format!("kubectl's preferences {shown} {what}: {why}"))
    };
    let text = match std::fs::read_to_string(&path) {
        Ok(text) => text,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(()),
        Err(error) => return Err(bad(error.to_string())),
    };
    if text.trim().is_empty() {
        return Ok(());
    }
    let preferences: Vec<Preference> =
        serde_saphyr::from_multiple(&text).map_err(|error| bad(error.without_snippet().to_string()))?;
    let Some(preference) = preferences.into_iter().next() else { return Ok(()) };
    let denied = |policy: &str| {
        let why = format!("{shown} sets credentialPluginPolicy {policy}");
        Err(ClusterError::credentials(format!("the credential plugin {command} is not allowed: {why}")))
    };
    match preference.policy.as_deref().unwrap_or_default() {
        "" | "AllowAll" => Ok(()),
        "DenyAll" => denied("DenyAll"),
        "Allowlist" => {
            let entries = preference.allowlist.unwrap_or_default();
            let names = entries.into_iter().filter_map(|entry| entry.command.or(entry.name));
            let wanted = resolve(Path::new(command), environment);
            let mut names = names.filter(|name| !name.is_empty());
            if names.any(|name| resolve(Path::new(&name), environment) == wanted) {
                Ok(())
            } else {
                denied("Allowlist")
            }
        }
        other => Err(bad(format!("credentialPluginPolicy \"{other}\" is none of AllowAll, DenyAll, Allowlist"))),
    }
}

fn file(environment: &Environment) -> Option<PathBuf> {
    match environment.kuberc.as_ref().filter(|path| !path.is_empty()) {
        Some(off) if off == "off" => None,
        Some(path) => Some(PathBuf::from(path)),
        None => environment.home.as_ref().map(|home| home.join(".kube").join("kuberc")),
    }
}

/// Finds the file of a command: a bare name is looked up in PATH.
pub fn resolve(command: &Path, environment: &Environment) -> PathBuf {
    if command.components().count() > 1 {
        return command.to_owned();
    }
    let folders = environment.path.as_ref().map(|path| std::env::split_paths(path).collect::<Vec<_>>());
    let mut candidates = folders.into_iter().flatten().map(|folder| folder.join(command));
    candidates.find(|candidate| candidate.is_file()).unwrap_or_else(|| command.to_owned())
}
