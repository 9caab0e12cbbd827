//! Reading kubeconfig files, and several as one (client-go `tools/clientcmd/loader.go`).

#![expect(clippy::disallowed_methods, reason = "reads kubeconfigs")]

use std::path::Path;

use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

use super::super::super::error::{ClusterError, Result};
use super::super::entries::{Cluster, Context, Text, User};
use super::super::yaml;
use super::SET_ONE;
use engine::value::encoding::decode;

/// What the files hold together, each list in their order.
#[derive(Default)]
pub(super) struct Kubeconfig {
    pub(super) current_context: Text,
    pub(super) clusters: Entries<Cluster>,
    pub(super) users: Entries<User>,
    pub(super) contexts: Entries<Context>,
}

pub(super) type Entries<T> = Vec<(String, T)>;

#[derive(Default, Deserialize)]
#[serde(default)]
struct Document {
    kind: Text,
    #[serde(rename = "apiVersion")]
    api_version: Text,
    #[serde(rename = "current-context")]
    current_context: Text,
    clusters: Option<Vec<Map<String, Value>>>,
    users: Option<Vec<Map<String, Value>>>,
    contexts: Option<Vec<Map<String, Value>>>,
}

#[derive(Deserialize)]
#[serde(bound = "T: DeserializeOwned")]
struct Named<T> {
    #[serde(default)]
    name: Text,
    #[serde(default, alias = "cluster", alias = "user", alias = "context", deserialize_with = "yaml::mapping")]
    entry: Option<T>,
}

impl Kubeconfig {
    /// Reads one file, with its relative paths resolved against its directory; `None` if it is not there.
    pub(super) fn read(path: &Path) -> Result<Option<Self>> {
        let bad = |what: &str| Err(ClusterError::kubeconfig(format!("the kubeconfig {} {what}", path.display())));
        if path.is_dir() {
            return bad("is a directory");
        }
        let bytes = match std::fs::read(path) {
            Ok(bytes) => bytes,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return bad(&format!("could not be read: {error}")),
        };
        let mut config = Self::parse(path, bytes)?;
        config.resolve(path.parent().unwrap_or(path));
        Ok(Some(config))
    }

    fn parse(path: &Path, bytes: Vec<u8>) -> Result<Self> {
        let bad =
            |place: &str| ClusterError::kubeconfig(format!("{} is not a valid kubeconfig{place}", path.display()));
        let text = decode(bytes).map_err(|_| bad(""))?;
        let values = yaml::read(&text).map_err(|error| {
            // Its text quotes the file, which holds credentials: only the place is reported.
            let place = error.location().map(|at| format!(" (line {}, column {})", at.line(), at.column()));
            bad(&place.unwrap_or_default())
        })?;
        let document = serde_json::from_value::<Option<Document>>(values).map_err(|_| bad(""))?.unwrap_or_default();
        let is = |field: &Text, wanted: &str| field.as_deref().is_none_or(|found| found == wanted);
        if !is(&document.kind, "Config") || !is(&document.api_version, "v1") {
            let [kind, version] = [&document.kind, &document.api_version].map(|it| it.value().unwrap_or_default());
            let is = format!("it is of the kind \"{kind}\" (apiVersion \"{version}\"), not Config (v1)");
            return Err(ClusterError::kubeconfig(format!("{} is no kubeconfig: {is}", path.display())).hint(SET_ONE));
        }
        Ok(Self {
            current_context: document.current_context,
            clusters: entries(path, "clusters", document.clusters)?,
            users: entries(path, "users", document.users)?,
            contexts: entries(path, "contexts", document.contexts)?,
        })
    }

    /// Relative paths are relative to the file that has them; a command without a slash is looked up in PATH.
    fn resolve(&mut self, directory: &Path) {
        let resolve = |text: &mut Text| {
            if let Some(path) = &**text {
                *text = Text::new(Some(directory.join(path).to_string_lossy().into_owned()));
            }
        };
        for (_, cluster) in &mut self.clusters {
            resolve(&mut cluster.certificate_authority);
        }
        for (_, user) in &mut self.users {
            resolve(&mut user.client_certificate);
            resolve(&mut user.client_key);
            resolve(&mut user.token_file);
            if let Some(exec) = &mut user.exec
                && exec.command.as_ref().is_some_and(|command| command.contains(std::path::MAIN_SEPARATOR))
            {
                resolve(&mut exec.command);
            }
        }
    }

    /// Adds a later file: the first one that has an entry, or a current context, has the whole of it.
    pub(super) fn merge(&mut self, later: Self) {
        fn add<T>(entries: &mut Entries<T>, later: Entries<T>) {
            for (name, entry) in later {
                if !entries.iter().any(|(known, _)| *known == name) {
                    entries.push((name, entry));
                }
            }
        }
        if self.current_context.is_none() {
            self.current_context = later.current_context;
        }
        add(&mut self.clusters, later.clusters);
        add(&mut self.users, later.users);
        add(&mut self.contexts, later.contexts);
    }

    pub(super) fn is_empty(&self) -> bool {
        self.clusters.is_empty() && self.contexts.is_empty() && self.users.is_empty()
    }
}

/// Lists what has names; no two in a file may have the same.
fn entries<T: Default + DeserializeOwned>(
    path: &Path,
    list: &str,
    named: Option<Vec<Map<String, Value>>>,
) -> Result<Entries<T>> {
    let mut entries = Entries::new();
    for (index, value) in named.into_iter().flatten().enumerate() {
        let Named { name, entry } = serde_json::from_value::<Named<T>>(value.into()).map_err(|_| {
            let place = format!("({list}[{index}])");
            ClusterError::kubeconfig(format!("{} is not a valid kubeconfig {place}", path.display()))
        })?;
        let name = name.value().unwrap_or_default();
        if entries.iter().any(|(known, _)| *known == name) {
            let twice = format!("the kubeconfig {} has two entries named \"{name}\" in {list}", path.display());
            return Err(ClusterError::kubeconfig(twice));
        }
        entries.push((name, entry.unwrap_or_default()));
    }
    Ok(entries)
}

pub(super) fn find<'a, T>(entries: &'a Entries<T>, name: &str) -> Option<&'a T> {
    entries.iter().find(|(known, _)| known == name).map(|(_, entry)| entry)
}

pub(super) fn names<T>(entries: &Entries<T>) -> Vec<String> {
    entries.iter().map(|(name, _)| name.clone()).collect()
}
