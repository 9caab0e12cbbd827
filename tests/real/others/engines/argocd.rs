//! The engine of Argo CD, in a program of its own: `tests/cluster/others/engines/argocd`.

use std::fs;
use std::process::Command;

use super::Engine;
use super::hook::Hook;
use super::lanes::{random_changes, random_changes_of_what_is_edited};
use crate::hand_over::state;
use crate::support::{Gate, Moment, Namespace, Running, command, images, side_by_side};

pub(super) struct ArgoCd {
    flags: &'static [&'static str],
}

impl ArgoCd {
    pub(super) fn server_side(_: &Namespace) -> Self {
        Self { flags: &["--server-side"] }
    }

    pub(super) fn client_side(_: &Namespace) -> Self {
        Self { flags: &[] }
    }

    fn sync(&self, namespace: &Namespace, manifests: &str) -> Running {
        let mut driver = command("engines/argocd", "real-argocd");
        driver.args(["-n", namespace.name()]).args(self.flags);
        Running::start_with_input(driver, Some(manifests))
    }
}

impl Engine for ArgoCd {
    fn apply(&self, namespace: &Namespace, manifest: &str) {
        let output = self.sync(namespace, manifest).wait();
        assert_eq!(output.code, 0, "{output:#?}\n{manifest}");
    }
}

#[test]
#[ignore = "needs the engine of Argo CD: tests/run others"]
fn its_sync_on_the_server_finds_its_template() {
    super::goes_first("argocd-server", ArgoCd::server_side);
}

#[test]
#[ignore = "needs the engine of Argo CD: tests/run others"]
fn its_sync_on_the_client_finds_its_template() {
    super::goes_first("argocd-client", ArgoCd::client_side);
}

#[test]
#[ignore = "needs the engine of Argo CD: tests/run others"]
fn random_changes_before_a_sync_on_the_server() {
    random_changes("argocd-server", ArgoCd::server_side);
}

#[test]
#[ignore = "needs the engine of Argo CD: tests/run others"]
fn random_changes_before_a_sync_on_the_client() {
    random_changes("argocd-client", ArgoCd::client_side);
}

#[test]
#[ignore = "needs the engine of Argo CD: tests/run others"]
fn a_sync_on_the_server_of_what_is_edited_does_as_foretold() {
    random_changes_of_what_is_edited("argocd-server", ArgoCd::server_side);
}

#[test]
#[ignore = "needs the engine of Argo CD: tests/run others"]
fn a_sync_on_the_client_of_what_is_edited_does_as_foretold() {
    random_changes_of_what_is_edited("argocd-client", ArgoCd::client_side);
}

/// Syncs `examples/gitops/argocd`, whose hook goes first, with these changes of its manifest.
fn sync_example(argo: &ArgoCd, hook: &Hook, changes: &[(&str, &str)]) -> Running {
    hook.write_manifest("argocd/web.yaml", changes);
    let rendered = hook.place.namespace.kubectl(&["kustomize", &hook.path("argocd")]);
    argo.sync(&hook.place.namespace, &rendered)
}

fn the_example_syncs(engine: fn(&Namespace) -> ArgoCd) {
    let hook = Hook::of("argocd", "argocd/kustomization.yaml", &[]);
    let namespace = &hook.place.namespace;
    let argo = engine(namespace);
    let sync = |changes: &[(&str, &str)]| {
        let output = sync_example(&argo, &hook, changes).wait();
        assert_eq!(output.code, 0, "{output:#?}");
        assert!(output.stdout.contains("Job/"), "the hook ran: {output:#?}");
        state(namespace)
    };
    let before = sync(&[]);
    let after = sync(&[("/side:v1", "/side:v2")]);
    assert_eq!(before.1, after.1, "the same pods");
    assert_eq!(images(&namespace.pods("app=web"), "side"), ["side:v2"; 2]);
    hook.assert_account_is_enough();
    // What cannot be done in place: the hook succeeds, and the sync replaces the pods.
    let replaced =
        sync(&[("/side:v1", "/side:v2"), ("terminationGracePeriodSeconds: 5", "terminationGracePeriodSeconds: 1")]);
    assert!(replaced.1.iter().all(|uid| !after.1.contains(uid)), "an ordinary rollout");
}

#[test]
#[ignore = "needs the engine of Argo CD: tests/run others"]
fn the_example_syncs_in_place_on_the_server() {
    the_example_syncs(ArgoCd::server_side);
}

#[test]
#[ignore = "needs the engine of Argo CD: tests/run others"]
fn the_example_syncs_in_place_on_the_client() {
    the_example_syncs(ArgoCd::client_side);
}

/// A pod that fails fails the hook and the sync, which has changed nothing; `abort` goes back.
#[test]
#[ignore = "needs the engine of Argo CD: tests/run others"]
fn a_hook_that_fails_leaves_the_sync_undone() {
    let hook = Hook::of("argocd", "argocd/kustomization.yaml", &[]);
    let namespace = &hook.place.namespace;
    let argo = ArgoCd::server_side(namespace);
    hook.write("argocd/inplace.yaml", &hook.read("argocd/inplace.yaml").replace("backoffLimit: 6", "backoffLimit: 0"));
    assert_eq!(sync_example(&argo, &hook, &[]).wait().code, 0);
    let before = state(namespace);
    let failed = sync_example(&argo, &hook, &[("/app:v1", "/app:crash")]).wait();
    assert_eq!(failed.code, 1, "{failed:#?}");
    let aborted = namespace.inplace(&["abort", "deployment/web", "--yes", "--min-ready-seconds", "0"]);
    assert_eq!(aborted.code, 0, "{aborted:#?}");
    assert_eq!(state(namespace), before);
    assert_eq!(sync_example(&argo, &hook, &[]).wait().code, 0);
    assert_eq!(state(namespace), before);
}

/// Ends the program whose command line has this, on the node: it is this machine.
fn kill(argument: &str) -> usize {
    let is_it = |pid: &String| {
        let line = fs::read_to_string(format!("/proc/{pid}/cmdline")).unwrap_or_default();
        line.contains("--if-possible") && line.contains(argument)
    };
    let processes = fs::read_dir("/proc").expect("Linux").flatten();
    let pids: Vec<String> = processes.filter_map(|entry| entry.file_name().into_string().ok()).filter(is_it).collect();
    let status = Command::new("kill").arg("-KILL").args(&pids).status().expect("kill runs");
    assert!(status.success(), "{pids:?}");
    pids.len()
}

/// The hook's program is killed before and after its writes, one after the other: the Job starts another pod, and the sync ends as if it had
/// not happened.
fn killed_in_lane(lane: usize, lanes: usize) -> usize {
    let gate = Gate::open();
    let hook = Hook::of("argocd", "argocd/kustomization.yaml", &[&gate.flags().join("="), "--min-ready-seconds=0"]);
    let namespace = &hook.place.namespace;
    let argo = ArgoCd::server_side(namespace);
    assert_eq!(sync_example(&argo, &hook, &[]).wait().code, 0);
    let before = state(namespace);
    for killed in 0.. {
        let at = lane + killed * lanes;
        let (number, moment) = (at / 2 + 1, if at.is_multiple_of(2) { Moment::Before } else { Moment::After });
        let tag = if killed.is_multiple_of(2) { "/side:v2" } else { "/side:v1" };
        gate.stop_at(number, moment);
        let mut sync = sync_example(&argo, &hook, &[("/side:v1", tag)]);
        let held = gate.held(&mut sync);
        if held.is_some() {
            assert_eq!(kill(gate.flags()[1]), 1);
            gate.lose();
            gate.stop_at(usize::MAX, moment);
        }
        let output = sync.wait();
        let context = format!("killed {moment:?} write {number}, {held:?}: {output:#?}");
        assert_eq!(output.code, 0, "{context}");
        assert_eq!(state(namespace).1, before.1, "{context}");
        let pods = namespace.pods("app=web");
        assert!(images(&pods, "side").iter().all(|image| tag.ends_with(image)), "{context}");
        if held.is_none() {
            return killed;
        }
    }
    unreachable!("the writes of a rollout have an end")
}

#[test]
#[ignore = "needs the engine of Argo CD: tests/run others"]
fn a_hook_that_is_killed_at_a_write_is_finished_by_the_next_pod_of_its_job() {
    const LANES: usize = 4;
    let killed: usize = side_by_side(LANES, 0..LANES, |lane| killed_in_lane(lane, LANES)).iter().sum();
    eprintln!("{killed} kills");
    assert!(killed > 12, "{killed}");
}
