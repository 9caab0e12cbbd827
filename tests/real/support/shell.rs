//! A shell beside the cluster, for what a test asks of kubectl, the kubelet's runtime or the file system by itself.

use std::env;

use super::cluster::command;
use super::process::{Output, Running};

/// Runs a bash script with the cluster's kubeconfig and programs; `arguments` are its `$1` and so on.
///
/// `CONTAINERD_ADDRESS` is that of the node's containerd; on a cluster of one's own it is set only if the caller has set it.
pub(crate) fn shell(script: &str, arguments: &[&str]) -> Output {
    let mut bash = command("bash", "real-shell");
    match env::var("CONTAINERD_ADDRESS") {
        Ok(address) => drop(bash.env("CONTAINERD_ADDRESS", address)),
        Err(_) if env::var("INPLACE_TEST_KUBECONFIG").is_err() => {
            let ours = concat!("eval \"$('", env!("CARGO_MANIFEST_DIR"), "/tests/cluster/cluster' env)\"\n");
            return Running::start_with(bash, &format!("{ours}{script}"), arguments);
        }
        Err(_) => {}
    }
    Running::start_with(bash, script, arguments)
}
