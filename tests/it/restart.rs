//! `restart`: the same bits again, in place, and what it leaves alone.

use serde_json::Value;

use crate::support::api_server::{ApiServer, Effect, When, image_id};
use crate::support::builders::{self, Workload};
use crate::support::run::{Binary, Output};
use crate::support::scene::{images, patched, probe, run, server_with, two_containers, web, with_controllers};
use crate::support::snapshot::assert_snapshot;

const RESTART: &str = "restart deploy/web -c side --yes --min-ready-seconds 0";

fn digest() -> String {
    image_id("acme/side:v1").rsplit_once('@').map(|(_, digest)| digest.to_owned()).unwrap_or_default()
}

fn statuses(pods: &[Value], index: usize) -> Vec<&Value> {
    pods.iter().map(|pod| &pod["status"]["containerStatuses"][index]).collect()
}

fn template(server: &ApiServer) -> Value {
    server.objects("deployments").first().map(|owner| owner["spec"].clone()).unwrap_or_default()
}

#[test]
fn the_same_bits_run_again_and_nothing_else_changes() {
    let server = web();
    let (before, owner) = (server.objects("pods"), template(&server));
    let output = run(&server, RESTART).ends_with(0);
    output
        .prints("restart with the image digest that they run now")
        .prints("Restarted as planned: side in 3 pods; nothing else restarted");
    let after = server.objects("pods");
    assert_eq!(statuses(&before, 0), statuses(&after, 0), "app is untouched");
    for (old, new) in statuses(&before, 1).into_iter().zip(statuses(&after, 1)) {
        assert_ne!(old["containerID"], new["containerID"]);
        assert_eq!(old["imageID"], new["imageID"]);
    }
    assert_eq!(images(&server, "side"), vec![format!("acme/side:v1@{}", digest()); 3]);
    assert_eq!(template(&server), owner);
    assert!(server.writes().iter().all(|write| write.path.contains("/pods/")), "only pods are written");
}

#[test]
fn every_restart_writes_another_text_and_the_first_three_never_meet_the_back_off() {
    let server = server_with([two_containers(Workload::deployment("web")).replicas(1)]);
    let texts = [format!("acme/side:v1@{}", digest()), format!("acme/side@{}", digest())];
    for text in [&texts[0], &texts[1], &texts[0]] {
        let output: Output = run(&server, RESTART).ends_with(0);
        assert_eq!(images(&server, "side"), [text.as_str()]);
        assert!(!output.stderr.contains("RestartInBackoff"), "{}", output.stderr);
    }
    let restarts = server.objects("pods")[0]["status"]["containerStatuses"][1]["restartCount"].clone();
    assert_eq!(restarts, 3);
    // The template's own image is what they run: nothing to do, and no drift either.
    run(&server, "apply deploy/web side=acme/side:v1 --yes").ends_with(0).prints("No changes.");
    run(&server, "plan deploy/web app=acme/app:v2").ends_with(0).omits("PodsDrifted");
    // A later rollout takes the pod along.
    run(&server, "apply deploy/web side=acme/side:v2 --pods-only --yes --min-ready-seconds 0").ends_with(0);
    assert_eq!(images(&server, "side"), ["acme/side:v2"]);
}

/// The command that an update has printed as its way back is still that after a restart.
#[test]
fn an_undo_after_a_restart_takes_back_the_update_before_it() {
    let server = with_controllers();
    run(&server, "apply deploy/web side=acme/side:v2 --yes --min-ready-seconds 0").ends_with(0);
    run(&server, RESTART).ends_with(0);
    assert!(images(&server, "side").iter().all(|image| image.contains("side:v2@sha256:")));
    run(&server, "undo deploy/web --yes --min-ready-seconds 0").ends_with(0).says("this command undoes update");
    assert_eq!(images(&server, "side"), ["acme/side:v1"; 3]);
    let template = server.objects("deployments")[0].pointer("/spec/template/spec/containers/1/image").cloned();
    assert_eq!(template, Some("acme/side:v1".into()));
}

#[test]
fn an_undo_of_a_restart_takes_the_pin_away() {
    let server = server_with([two_containers(Workload::deployment("web")).replicas(2)]);
    run(&server, RESTART).ends_with(0);
    run(&server, "undo deploy/web --yes --min-ready-seconds 0").ends_with(0);
    assert_eq!(images(&server, "side"), ["acme/side:v1"; 2]);
}

#[test]
fn what_cannot_be_restarted_is_said_before_anything_is_touched() {
    let server = web();
    for (line, code, said) in [
        ("restart deploy/web --yes", 1, "it has several containers, and none was named: app, side"),
        ("restart deploy/web -c side side=:v2 --yes", 1, "a restart keeps the images"),
        ("restart deploy/web -c side --pods-only --yes", 1, "--pods-only makes no difference to restart"),
        ("restart deploy/web -c side", 1, "there is no terminal to ask on"),
    ] {
        run(&server, line).ends_with(code).says(said);
    }
    run(&server, "restart deploy/web -c sied --yes").ends_with(3).prints("did you mean side?");
    run(&server, "restart --help").ends_with(0).omits("--pods-only");
    run(&server, "restart deploy/web -c side --dry-run=server")
        .ends_with(0)
        .prints("can be restarted in place: 3 pods");
    assert!(server.writes().is_empty(), "{:?}", server.writes());
}

#[test]
fn the_only_container_needs_no_name_and_pods_can_be_chosen() {
    let server = server_with([Workload::stateful_set("db").container_with("db", "acme/db:v1", probe())]);
    run(&server, "restart sts/db --pods db-1 --yes --min-ready-seconds 0").ends_with(0);
    assert_eq!(patched(&server), ["db-1"]);
}

#[test]
fn what_a_pause_leaves_is_named_for_the_next_run() {
    let server = server_with([Workload::stateful_set("db").container_with("db", "acme/db:v1", probe())]);
    let output = run(&server, "restart sts/db --canary 1 --yes --min-ready-seconds 0").ends_with(0);
    output.says("To restart the others: kubectl inplace restart statefulset/db -c db --pods db-1,db-0");
    run(&server, "restart statefulset/db -c db --pods db-1,db-0 --yes --min-ready-seconds 0").ends_with(0);
    assert_eq!(patched(&server), ["db-2", "db-1", "db-0"]);
}

#[test]
fn the_plan_says_what_a_restart_is() {
    let server = ApiServer::with([builders::node("node-a", "v1.36.3")]);
    server.insert(two_containers(Workload::deployment("web")).replicas(2).objects());
    let output = run(&server, "restart deploy/web -c side,app --dry-run=server").ends_with(0);
    assert_snapshot("restart-plan", &output.block());
    let document = run(&server, "restart deploy/web -c side --dry-run=server -o json").ends_with(0).json();
    assert_eq!(document["workloads"][0]["restartsTheSame"], true);
}

/// The containers' times are the cluster's: this machine's clock may be hours off.
#[test]
fn the_back_off_is_expected_by_the_servers_clock() {
    let server = server_with([two_containers(Workload::deployment("web")).replicas(1)]);
    server.run_controllers(true);
    for tag in ["v2", "v1", "v2"] {
        run(&server, &format!("apply deploy/web side=acme/side:{tag} --yes --min-ready-seconds 0")).ends_with(0);
    }
    let plan = "plan deploy/web side=acme/side:v1";
    run(&server, plan).ends_with(0).says("RestartInBackoff");
    server.set_clock(3600);
    run(&server, plan).ends_with(0).omits("RestartInBackoff");
}

/// What is refused says in its document what its exit code says, whichever command it is.
#[test]
fn a_refused_change_has_one_result() {
    let server = web();
    server.run_controllers(true);
    run(&server, "apply deploy/web side=acme/side:v2 --yes --min-ready-seconds 0").ends_with(0);
    server.fault(When::verb("patch").of("pods"), Effect::Forbid);
    for line in ["restart deploy/web -c side", "undo deploy/web", "apply deploy/web side=acme/side:v3"] {
        let document = run(&server, &format!("{line} --yes -o json")).ends_with(3).json();
        assert_eq!((&document["kind"], &document["result"]), (&"Plan".into(), &"notEligible".into()), "{line}");
    }
    server.clear_faults();
    let held = ["apply", "deploy/web", "app=acme/app:v2", "--yes", "--before-pod", "exit 1"];
    Binary::against(&server, held).run().ends_with(4);
    for line in ["restart deploy/web -c side", "apply deploy/web side=acme/side:v3"] {
        let document = run(&server, &format!("{line} --yes -o json")).ends_with(6).json();
        assert_eq!(document["result"], "superseded", "{line}");
    }
}
