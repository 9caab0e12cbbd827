//! A resize among others: a server that fails or is away, and a client that sets cpu as an autoscaler would, before any write.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use serde_json::{Value, json};

use super::durable::side_by_side;
use super::resize::{container_ids, requests, workload};
use crate::support::api_server::{ApiServer, Effect, When};
use crate::support::clock::{eventually, sleep};
use crate::support::scene::{patches, run, typed, with_controllers_of};

/// Every write of a durable resize of three pods. Where nothing restarts, the lock is the only note of it.
const WRITES: [(&str, &str, usize); 9] = [
    ("patch", "deployments", 0),
    ("create", "replicasets", 0),
    ("patch", "replicasets", 0),
    ("patch", "deployments", 1),
    ("patch", "pods/resize", 0),
    ("patch", "pods/resize", 1),
    ("patch", "pods/resize", 2),
    ("patch", "deployments", 2),
    ("patch", "replicasets", 1),
];

const APPLY: &str = "apply deploy/web -c side --requests cpu=30m --yes";

fn at((verb, plural, nth): (&str, &str, usize)) -> When {
    When::verb(verb).of(plural).for_real().after(nth)
}

fn uids(server: &ApiServer) -> Vec<Value> {
    server.objects("pods").iter().map(|pod| pod["metadata"]["uid"].clone()).collect()
}

/// Template and pods say the same, and no pod and no container is another one.
#[track_caller]
fn is_whole(server: &ApiServer, cpu: &str, before: &(Vec<Value>, Vec<Value>), what: &str) {
    assert_eq!(requests(server), vec![json!(cpu); 3], "{what}");
    let template = &server.objects("deployments")[0]["spec"]["template"]["spec"]["containers"][1];
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
    let cases = WRITES.into_iter().flat_map(|write| effects.iter().map(move |effect| (write, effect))).collect();
    side_by_side(cases, |(write, (name, effect))| {
        let server = with_controllers_of([workload()]);
        let before = before(&server);
        server.fault(at(write).times(1), effect.clone());
        run(&server, APPLY).ends_with(0);
        is_whole(&server, "30m", &before, &format!("{write:?} {name}"));
    });
}

#[test]
fn a_server_that_is_away_for_a_while_is_waited_for() {
    side_by_side(WRITES.to_vec(), |write| {
        let server = with_controllers_of([workload()]);
        let before = before(&server);
        let is_there = Arc::new(AtomicBool::new(false));
        let arrives = is_there.clone();
        server.fault(at(write), Effect::First(Arc::new(move |_| arrives.store(true, Ordering::Relaxed))));
        server.fault(at(write), Effect::CloseBefore);
        let running = typed(&server, &format!("{APPLY} --timeout 60s")).spawn();
        eventually("the write", || is_there.load(Ordering::Relaxed).then_some(()));
        for verb in ["get", "list", "watch", "patch", "create"] {
            server.fault(When::verb(verb), Effect::CloseBefore);
        }
        server.drop_connections();
        sleep(Duration::from_secs(2));
        server.clear_faults();
        running.wait().ends_with(0);
        is_whole(&server, "30m", &before, &format!("{write:?}"));
    });
}

/// What the plan did not show is not overwritten, and no end is told that is not so.
#[test]
fn who_sets_cpu_before_any_write_is_named_and_one_command_leads_out() {
    let cases = WRITES.into_iter().flat_map(|write| (0..3).map(move |pod| (write, pod))).collect();
    side_by_side(cases, |(write, pod)| {
        let server = with_controllers_of([workload()]);
        let before = before(&server);
        let name = server.objects("pods")[pod]["metadata"]["name"].as_str().unwrap_or_default().to_owned();
        let set = Effect::First(Arc::new(move |state| {
            state.edit("pods", &name, "vpa-updater", |pod| {
                pod["spec"]["containers"][1]["resources"]["requests"]["cpu"] = json!("33m");
            });
        }));
        server.fault(at(write).times(1), set);
        let what = format!("{write:?} pod {pod}");
        let ended = run(&server, &format!("{APPLY} --timeout 20s"));
        let sent = patches(&server).iter().filter(|patch| patch.path.ends_with("/resize")).count();
        assert!(sent <= 3, "{what}: no resize is sent again");
        if ended.code == Some(0) {
            // It came after the pod had been proven.
            assert_eq!(requests(&server)[pod], "33m", "{what}\n{}", ended.block());
            run(&server, "status deploy/web").ends_with(0).prints("side requests.cpu 33m, the template says 30m");
            run(&server, APPLY).ends_with(0);
            is_whole(&server, "30m", &before, &what);
        } else {
            ended.ends_with(6).prints("was changed by another client");
            run(&server, "abort deploy/web --yes").ends_with(0);
            is_whole(&server, "10m", &before, &what);
        }
    });
}
