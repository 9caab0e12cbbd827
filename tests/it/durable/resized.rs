//! A resize of each kind of workload among others: a server that fails or is away, and a client that sets cpu as an autoscaler would, before any write.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use serde_json::{Value, json};

use super::faults::kill_at;
use super::{KINDS, Kind, Scene, Write, side_by_side, uids};
use crate::resize::{container_ids, requests};
use crate::support::api_server::{ApiServer, Effect, When};
use crate::support::clock::{eventually, sleep};
use crate::support::run::Binary;
use crate::support::scene::{patches, typed};

fn scene(kind: Kind) -> Scene {
    let resources = |cpu: &str| json!({"requests": {"cpu": cpu, "memory": "16Mi"}, "limits": {"memory": "64Mi"}});
    Scene::with(kind, |workload| {
        workload.template(|template| {
            template["spec"]["containers"][0]["resources"] = resources("20m");
            template["spec"]["containers"][1]["resources"] = resources("10m");
        })
    })
}

fn command(scene: &Scene, verb: &str, more: &str) -> Binary {
    let asked = if verb == "apply" { " -c side --requests cpu=30m" } else { "" };
    typed(&scene.server, &format!("{verb} {}{asked} --yes {more}", scene.kind.typed))
}

/// Each write of a durable resize of three pods, of each kind. Where nothing restarts, the lock is the only note of it.
fn all_writes() -> Vec<(Kind, Write)> {
    let pods = [0, 1, 2].map(|nth| Write::new("patch", "pods/resize", nth));
    let of = |kind: Kind| kind.writes.iter().copied().chain(pods).map(move |write| (kind, write));
    KINDS.into_iter().flat_map(of).collect()
}

/// Template and pods say the same, and no pod and no container is another one.
#[track_caller]
fn is_whole(scene: &Scene, cpu: &str, before: &(Vec<Value>, Vec<Value>), what: &str) {
    let server = &scene.server;
    assert_eq!(requests(server), vec![json!(cpu); 3], "{what}");
    let template = &scene.owner()["spec"]["template"]["spec"]["containers"][1];
    assert_eq!(template["resources"]["requests"]["cpu"], cpu, "{what}");
    assert_eq!(&(uids(server), container_ids(server)), before, "{what}: nothing restarted, nothing was replaced");
}

fn before(server: &ApiServer) -> (Vec<Value>, Vec<Value>) {
    (uids(server), container_ids(server))
}

#[test]
fn every_write_survives_a_server_that_fails_once() {
    let effects = [
        ("503", Effect::Unavailable),
        ("closed before", Effect::CloseBefore),
        ("closed afterwards", Effect::CloseAfterwards),
        ("504 afterwards", Effect::TimeOutAfterwards),
    ];
    let cases = all_writes().into_iter().flat_map(|case| effects.iter().map(move |effect| (case, effect))).collect();
    side_by_side(cases, |((kind, write), (name, effect))| {
        let scene = scene(kind);
        let server = &scene.server;
        let before = before(server);
        server.fault(write.when().times(1), effect.clone());
        command(&scene, "apply", "").run().ends_with(0);
        is_whole(&scene, "30m", &before, &format!("{} {write:?} {name}", kind.typed));
    });
}

#[test]
fn a_server_that_is_away_for_a_while_is_waited_for() {
    side_by_side(all_writes(), |(kind, write)| {
        let scene = scene(kind);
        let server = &scene.server;
        let before = before(server);
        let is_there = Arc::new(AtomicBool::new(false));
        let arrives = is_there.clone();
        server.fault(write.when(), Effect::First(Arc::new(move |_| arrives.store(true, Ordering::Relaxed))));
        server.fault(write.when(), Effect::CloseBefore);
        let running = command(&scene, "apply", "--timeout 60s").spawn();
        eventually("the write", || is_there.load(Ordering::Relaxed).then_some(()));
        for verb in ["get", "list", "watch", "patch", "create"] {
            server.fault(When::verb(verb), Effect::CloseBefore);
        }
        server.drop_connections();
        sleep(Duration::from_secs(2));
        server.clear_faults();
        running.wait().ends_with(0);
        is_whole(&scene, "30m", &before, &format!("{} {write:?}", kind.typed));
    });
}

/// A change that the plan did not show is not overwritten, and no false end is reported.
#[test]
fn a_client_that_sets_cpu_before_any_write_is_named_and_one_command_leads_out() {
    let cases = all_writes().into_iter().flat_map(|case| (0..3).map(move |pod| (case, pod))).collect();
    side_by_side(cases, |((kind, write), pod)| {
        let scene = scene(kind);
        let server = &scene.server;
        let before = before(server);
        let name = server.objects("pods")[pod]["metadata"]["name"].as_str().unwrap_or_default().to_owned();
        let set = Effect::First(Arc::new(move |state| {
            state.edit("pods", &name, "vpa-updater", |pod| {
                pod["spec"]["containers"][1]["resources"]["requests"]["cpu"] = json!("33m");
            });
        }));
        server.fault(write.when().times(1), set);
        let what = format!("{} {write:?} pod {pod}", kind.typed);
        let ended = command(&scene, "apply", "--timeout 20s").run();
        let sent = patches(server).iter().filter(|patch| patch.path.ends_with("/resize")).count();
        assert!(sent <= 3, "{what}: no resize is sent again");
        if ended.code == Some(0) {
            // It came after the pod had been proven.
            eventually("the kubelet", || (requests(server)[pod] == "33m").then_some(()));
            typed(server, &format!("status {}", kind.typed))
                .run()
                .ends_with(0)
                .prints("side requests.cpu 33m, the template says 30m");
            command(&scene, "apply", "").run().ends_with(0);
            is_whole(&scene, "30m", &before, &what);
        } else {
            ended.ends_with(6).prints("was changed by another client");
            command(&scene, "abort", "").run().ends_with(0);
            is_whole(&scene, "10m", &before, &what);
        }
    });
}

/// Killed at any write: it is finished, or taken back, and nothing restarts.
#[test]
fn killed_at_every_write_it_is_finished_or_taken_back() {
    let cases = all_writes().into_iter().flat_map(|case| ["resume", "abort"].map(|verb| (case, verb))).collect();
    side_by_side(cases, |((kind, write), verb)| {
        let scene = scene(kind);
        let server = &scene.server;
        let before = before(server);
        let what = format!("{} killed at {write:?}, {verb}", kind.typed);
        kill_at(&scene, write, command(&scene, "apply", ""));
        let is_begun = scene.lock() != Value::Null;
        let ended = command(&scene, verb, "").run();
        let is_over = !is_begun && write != kind.writes[0];
        // What is recorded is no longer to be taken back.
        let is_too_late = is_over && verb == "abort" && ended.code == Some(6);
        assert!(is_too_late || ended.code == Some(0), "{what}\n{}", ended.block());
        let is_new = if verb == "resume" { is_begun || is_over } else { is_over };
        is_whole(&scene, if is_new { "30m" } else { "10m" }, &before, &format!("{what}\n{}", ended.block()));
    });
}

/// What the first of them asked for came to no end: it is nothing to go back to.
#[test]
fn back_from_what_took_the_place_of_another_resize_is_to_the_beginning() {
    side_by_side(KINDS.to_vec(), |kind| {
        let scene = scene(kind);
        let before = before(&scene.server);
        command(&scene, "apply", "--canary 1").run().ends_with(0).prints("Paused");
        let more = format!("apply {} -c side --requests cpu=40m --yes --canary 2", kind.typed);
        typed(&scene.server, &more).run().ends_with(0).prints("Paused");
        command(&scene, "abort", "").run().ends_with(0).omits("30m").omits("another client");
        is_whole(&scene, "10m", &before, kind.typed);

        command(&scene, "apply", "--canary 2").run().ends_with(0).prints("Paused");
        let more = format!("apply {} -c side --requests cpu=10m --yes --canary 1", kind.typed);
        typed(&scene.server, &more).run().ends_with(0).prints("Paused");
        command(&scene, "abort", "").run().ends_with(0).omits("another client");
        is_whole(&scene, "10m", &before, kind.typed);

        command(&scene, "apply", "--canary 1").run().ends_with(0).prints("Paused");
        let more = format!("apply {} -c side --requests cpu=40m --yes", kind.typed);
        typed(&scene.server, &more).run().ends_with(0).prints("Updated 3 pods");
        command(&scene, "undo", "").run().ends_with(0).omits("30m");
        is_whole(&scene, "10m", &before, kind.typed);
    });
}

/// Pods cannot lose the limit, and so not get the request back that is above it; everything else goes back.
#[test]
fn a_limit_that_stays_below_the_request_before_keeps_nobody_from_going_back() {
    side_by_side(KINDS.to_vec(), |kind| {
        let scene = Scene::with(kind, |workload| {
            workload.template(|template| {
                template["spec"]["containers"][1]["resources"] = json!({"requests": {"cpu": "10m", "memory": "16Mi"}});
            })
        });
        let resize = |verb: &str, more: &str| {
            let yes = if verb == "status" { "" } else { "--yes" };
            typed(&scene.server, &format!("{verb} {} {yes} {more}", scene.kind.typed)).run()
        };
        let asked = "-c side --requests cpu=20m,memory=8Mi --limits memory=12Mi";
        let kept = "pods that have the side limits.memory keep it";
        resize("apply", &format!("{asked} --canary 1")).ends_with(0);
        resize("abort", "")
            .ends_with(0)
            .says(kept)
            .says("pods that have side requests.memory 8Mi keep it; the template has 16Mi");
        resize("apply", asked).ends_with(0);
        resize("undo", "").ends_with(0).says(kept);
        assert_eq!(scene.owner()["spec"]["template"], scene.spec["template"], "{}", kind.typed);
        assert_eq!(uids(&scene.server), scene.uids, "{}", kind.typed);
        for pod in scene.server.objects("pods") {
            let side = &pod["spec"]["containers"][1]["resources"];
            assert_eq!(side["requests"], json!({"cpu": "10m", "memory": "8Mi"}), "{}", kind.typed);
            assert_eq!(side["limits"], json!({"memory": "12Mi"}), "{}", kind.typed);
        }
        // What a pod asks for in place of its template is seen.
        let status = resize("status", "--exit-code").ends_with(2);
        status.prints("3 drifted").prints("side requests.memory 8Mi, the template says 16Mi");
    });
}
