//! Which cluster the tests run against.
//!
//! `INPLACE_TEST_KUBECONFIG` names a cluster of one's own (then `INPLACE_TEST_REGISTRY` must name the registry that holds
//! the tests' images, and `INPLACE_TEST_CONTAINERD` may name the socket of the node's containerd); without it the cluster of `tests/cluster` is brought up, once per test process, and left running.

use std::env;
use std::ffi::OsString;
use std::fs;
use std::iter;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::OnceLock;

/// What starts and stops it and its servers.
pub(super) const SCRIPT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/cluster/cluster");

/// Where the cluster is, and the programs that belong to it.
struct Cluster {
    kubeconfig: String,
    registry: String,
    containerd: Option<String>,
    guarded: Option<Guarded>,
    path: OsString,
}

/// The registry that wants credentials: where it is, and whom it serves.
#[derive(Debug, Clone)]
pub(super) struct Guarded {
    pub(super) address: String,
    pub(super) user: String,
    pub(super) password: String,
}

fn cluster() -> &'static Cluster {
    // A failure is kept too: the other tests need not wait for it once more.
    static CLUSTER: OnceLock<Result<Cluster, String>> = OnceLock::new();
    let found = CLUSTER.get_or_init(|| match env::var("INPLACE_TEST_KUBECONFIG") {
        Ok(kubeconfig) => {
            let registry = env::var("INPLACE_TEST_REGISTRY").map_err(|_| {
                "INPLACE_TEST_KUBECONFIG is set, so INPLACE_TEST_REGISTRY must name the registry of the tests' images"
            })?;
            let containerd = env::var("INPLACE_TEST_CONTAINERD").ok();
            let path = env::var_os("PATH").unwrap_or_default();
            Ok(Cluster { kubeconfig, registry, containerd, guarded: None, path })
        }
        Err(_) => up(),
    });
    found.as_ref().unwrap_or_else(|error| panic!("no cluster: {error}"))
}

/// Brings the cluster of `tests/cluster` up, and takes its settings as a shell would.
fn up() -> Result<Cluster, String> {
    let script = r#""$0" up >&2 && eval "$("$0" env)" && printf '%s\n' "$KUBECONFIG" "$REGISTRY" "$CONTAINERD_ADDRESS" \
        "$AUTH_REGISTRY" "$AUTH_REGISTRY_USER" "$AUTH_REGISTRY_PASSWORD" "$PATH""#;
    let output = Command::new("bash")
        .args(["-c", script, SCRIPT])
        .stdin(Stdio::null())
        .output()
        .map_err(|error| format!("bash: {error}"))?;
    let stdout = String::from_utf8_lossy(&output.stdout);
    match stdout.lines().collect::<Vec<_>>().as_slice() {
        [kubeconfig, registry, containerd, address, user, password, path] if output.status.success() => Ok(Cluster {
            kubeconfig: (*kubeconfig).into(),
            registry: (*registry).into(),
            containerd: Some((*containerd).into()),
            guarded: Some(Guarded { address: (*address).into(), user: (*user).into(), password: (*password).into() }),
            path: path.into(),
        }),
        _ => Err(String::from_utf8_lossy(&output.stderr).into_owned()),
    }
}

/// Returns whether it is that of `tests/cluster`.
pub(super) fn is_ours() -> bool {
    env::var_os("INPLACE_TEST_KUBECONFIG").is_none()
}

/// Returns the registry's host and port, the first part of the tests' image names.
pub(crate) fn registry() -> &'static str {
    &cluster().registry
}

/// Returns the socket of the node's containerd, where it is known.
pub(crate) fn containerd() -> Option<&'static str> {
    cluster().containerd.as_deref()
}

/// Returns the registry that wants credentials; only that of `tests/cluster` is known.
pub(super) fn guarded() -> Option<&'static Guarded> {
    cluster().guarded.as_ref()
}

/// Returns a command that finds the binary under test on its PATH, as kubectl finds its plugins.
pub(super) fn command_with_plugin(program: &str, home: &str) -> Command {
    let mut command = command(program, home);
    let plugin = Path::new(env!("CARGO_BIN_EXE_kubectl-inplace")).parent().expect("the binary lies in a folder");
    let folders = iter::once(plugin.to_owned()).chain(env::split_paths(&cluster().path));
    command.env("PATH", env::join_paths(folders).expect("folders of a PATH make a PATH"));
    command
}

/// Returns the kubeconfig's path.
pub(crate) fn kubeconfig() -> &'static str {
    &cluster().kubeconfig
}

/// Returns a command in a bare environment: the cluster's kubeconfig and programs, and a home folder of its own, so that
/// nothing of the person who runs the tests has a say.
pub(crate) fn command(program: &str, home: &str) -> Command {
    let cluster = cluster();
    let home = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(home);
    fs::create_dir_all(&home).expect("a folder in the target folder can be made");
    // The program is found by this process's PATH, which need not be the child's.
    let program = env::split_paths(&cluster.path)
        .map(|folder| folder.join(program))
        .find(|path| path.is_file())
        .unwrap_or_else(|| program.into());
    let mut command = Command::new(program);
    command.env_clear().env("KUBECONFIG", &cluster.kubeconfig).env("PATH", &cluster.path).env("HOME", home);
    command.stdin(Stdio::null());
    command
}
