//! How much memory the program takes: for manifests that grow by aliases, and for a workload of thousands of pods.
#![cfg(target_os = "linux")]
#![expect(clippy::disallowed_methods, reason = "files are written, and a process is watched")]

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};
use std::thread;
use std::time::Duration;

use crate::support::api_server::Logged;
use crate::support::builders::Workload;
use crate::support::run::Folder;
use crate::support::scene::{patched, server_with, two_containers};

/// What the program may take, in KiB. Pages of the executable count, and those of a debug build are many more, so what it
/// takes to say its version is left out: of a release build, that is 14 MiB.
const MAX_KIB: u64 = 80 * 1024;

/// The same for the plan of a workload of 5,000 pods: 100 MiB in all.
const MAX_KIB_OF_PODS: u64 = (100 - 14) * 1024;

/// The same for its rollout. The static release build takes 80 MiB in all; glibc keeps more of what was freed.
const MAX_KIB_OF_ROLLOUT: u64 = 110 * 1024;

/// The most memory that a process had while it could be watched, in KiB. The last moments may be missed.
fn peak(folder: &Path, kubeconfig: &str, arguments: &[&str]) -> u64 {
    peak_until(|| false, folder, kubeconfig, arguments)
}

/// The same of one that is ended as soon as that is so.
fn peak_until(is_enough: impl Fn() -> bool, folder: &Path, kubeconfig: &str, arguments: &[&str]) -> u64 {
    let mut command = Command::new(env!("CARGO_BIN_EXE_kubectl-inplace"));
    let command = command.args(arguments).current_dir(folder).env("KUBECONFIG", kubeconfig);
    let mut child =
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("it starts");
    let status = format!("/proc/{}/status", child.id());
    let (mut peak, mut looks) = (0, 0_u64);
    while child.try_wait().expect("it can be waited for").is_none() {
        let status = fs::read_to_string(&status).unwrap_or_default();
        let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
        peak = line.and_then(|line| line.trim().trim_end_matches(" kB").parse().ok()).unwrap_or(peak);
        thread::sleep(Duration::from_millis(1));
        looks += 1;
        // Reading the server's log holds it up.
        if looks % 500 == 0 && is_enough() {
            child.kill().expect("it can be ended");
        }
    }
    peak
}

/// Aliases of aliases that would be 3^40 values, and many copies of a long text.
#[test]
fn aliases_are_refused_before_they_take_memory() {
    let head = "apiVersion: v1\nkind: A\nmetadata: {name: a}\nx:\n";
    let levels: String =
        (1..40).map(|level| format!("- &a{level} [{}]\n", format!("*a{},", level - 1).repeat(3))).collect();
    let text = format!("- &a {}\n- [{}]\n", "x".repeat(1_000_000), "*a,".repeat(100_000));
    let folder = Folder::new();
    let base = peak(folder.path(), "none", &["explain", "NoPods"]);
    for (name, bomb) in [("values", format!("{head}- &a0 [x, x, x]\n{levels}")), ("text", format!("{head}{text}"))] {
        fs::write(folder.path().join("bomb"), bomb).expect("written");
        let taken = peak(folder.path(), "none", &["hash", "-f", "bomb"]).saturating_sub(base);
        assert!(taken <= MAX_KIB, "{name} took {taken} KiB");
    }
}

#[test]
fn five_thousand_pods_are_planned_and_updated_in_less_memory_than_they_may_take_and_followed_by_one_watch() {
    let server = server_with([two_containers(Workload::stateful_set("web").replicas(5_000))]);
    let folder = Folder::new();
    folder.write("config", &server.kubeconfig().to_string());
    let base = peak(folder.path(), "none", &["explain", "NoPods"]);
    let taken = |line: &str| {
        let arguments: Vec<&str> = line.split(' ').collect();
        peak(folder.path(), "config", &arguments).saturating_sub(base)
    };
    let plan = taken("plan sts/web side=acme/side:v2 --dry-run=client");
    assert!((1..=MAX_KIB_OF_PODS).contains(&plan), "a plan took {plan} KiB");
    taken("apply sts/web side=acme/side:v2 --pods web-4999 --pods-only --pre-pull never --yes");
    let is_watch = |request: &Logged| request.query.iter().any(|(key, value)| key == "watch" && value != "false");
    let watches: Vec<_> = server.requests().into_iter().filter(is_watch).collect();
    assert_eq!(watches.len(), 1, "{watches:?}");
    assert_eq!(server.writes().len(), 1, "the pod was changed: {:?}", server.writes());
    let rollout = "apply sts/web side=acme/side:v2 --pods-only --pre-pull never --min-ready-seconds 0 --yes".split(' ');
    let rollout: Vec<&str> = rollout.collect();
    let is_under_way = || patched(&server).len() > 10;
    let rollout = peak_until(is_under_way, folder.path(), "config", &rollout).saturating_sub(base);
    assert!(is_under_way(), "it ended early: {:?}", server.writes());
    assert!((1..=MAX_KIB_OF_ROLLOUT).contains(&rollout), "a rollout took {rollout} KiB");
}
