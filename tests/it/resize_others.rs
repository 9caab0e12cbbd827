//! A resize of each kind of workload among others: a server that fails or is away, and a client that sets cpu as an autoscaler would, before any write.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use serde_json::{Value, json};

use super::durable::side_by_side;
use super::resize::{container_ids, requests, resized};
use crate::support::api_server::{ApiServer, Effect, When};
use crate::support::builders::{self, Workload};
use crate::support::clock::{eventually, sleep};
use crate::support::scene::{patches, run, server_with, typed};

/// A kind of workload, and every write of a durable resize of its three pods. Where nothing restarts, the lock is the only note
/// of it.
#[derive(Clone, Copy)]
struct Kind {
    word: &'static str,
    plural: &'static str,
    make: fn(&str) -> Workload,
    writes: &'static [Write],
}

/// The n-th write of a kind of object.
type Write = (&'static str, &'static str, usize);

const KINDS: [Kind; 3] = [
    Kind {
        word: "deployment",
        plural: "deployments",
        make: Workload::deployment,
        writes: &[
            ("patch", "deployments", 0),
            ("create", "replicasets", 0),
            ("patch", "replicasets", 0),
            ("patch", "deployments", 1),
            ("patch", "pods/resize", 0),
            ("patch", "pods/resize", 1),
            ("patch", "pods/resize", 2),
            ("patch", "deployments", 2),
            ("patch", "replicasets", 1),
        ],
    },
    Kind {
        word: "statefulset",
        plural: "statefulsets",
        make: Workload::stateful_set,
        writes: &[
            ("patch", "statefulsets", 0),
            ("patch", "pods/resize", 0),
            ("patch", "pods/resize", 1),
            ("patch", "pods/resize", 2),
            ("patch", "statefulsets", 1),
            ("patch", "statefulsets", 2),
        ],
    },
    Kind {
        word: "daemonset",
        plural: "daemonsets",
        make: Workload::daemon_set,
        writes: &[
            ("patch", "daemonsets", 0),
            ("patch", "pods/resize", 0),
            ("patch", "pods/resize", 1),
            ("patch", "pods/resize", 2),
            ("patch", "daemonsets", 1),
            ("patch", "daemonsets", 2),
        ],
    },
];

impl Kind {
    fn server(self) -> ApiServer {
        let nodes = ["node-a", "node-b", "node-c"];
        let workload = resized((self.make)("web"));
        let is_one_a_node = self.plural == "daemonsets";
        let server = server_with([if is_one_a_node { workload.nodes(&nodes) } else { workload }]);
        if is_one_a_node {
            server.insert(nodes.iter().skip(1).map(|node| builders::node(node, "v1.36.3")));
        }
        server.run_controllers(true);
        server
    }

    fn line(self, verb: &str) -> String {
        let asked = if verb == "apply" { " -c side --requests cpu=30m" } else { "" };
        format!("{verb} {}/web{asked} --yes", self.word)
    }
}

/// Each write of each kind.
fn all_writes() -> Vec<(Kind, Write)> {
    KINDS.into_iter().flat_map(|kind| kind.writes.iter().map(move |write| (kind, *write))).collect()
}

fn at((verb, plural, nth): Write) -> When {
    When::verb(verb).of(plural).for_real().after(nth)
}

fn uids(server: &ApiServer) -> Vec<Value> {
    server.objects("pods").iter().map(|pod| pod["metadata"]["uid"].clone()).collect()
}

/// Template and pods say the same, and no pod and no container is another one.
#[track_caller]
fn is_whole((server, kind): (&ApiServer, Kind), cpu: &str, before: &(Vec<Value>, Vec<Value>), what: &str) {
    assert_eq!(requests(server), vec![json!(cpu); 3], "{what}");
    let template = &server.objects(kind.plural)[0]["spec"]["template"]["spec"]["containers"][1];
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
        let server = kind.server();
        let before = before(&server);
        server.fault(at(write).times(1), effect.clone());
        run(&server, &kind.line("apply")).ends_with(0);
        is_whole((&server, kind), "30m", &before, &format!("{} {write:?} {name}", kind.word));
    });
}

#[test]
fn a_server_that_is_away_for_a_while_is_waited_for() {
    side_by_side(all_writes(), |(kind, write)| {
        let server = kind.server();
        let before = before(&server);
        let is_there = Arc::new(AtomicBool::new(false));
        let arrives = is_there.clone();
        server.fault(at(write), Effect::First(Arc::new(move |_| arrives.store(true, Ordering::Relaxed))));
        server.fault(at(write), Effect::CloseBefore);
        let running = typed(&server, &format!("{} --timeout 60s", kind.line("apply"))).spawn();
        eventually("the write", || is_there.load(Ordering::Relaxed).then_some(()));
        for verb in ["get", "list", "watch", "patch", "create"] {
            server.fault(When::verb(verb), Effect::CloseBefore);
        }
        server.drop_connections();
        sleep(Duration::from_secs(2));
        server.clear_faults();
        running.wait().ends_with(0);
        is_whole((&server, kind), "30m", &before, &format!("{} {write:?}", kind.word));
    });
}

/// What the plan did not show is not overwritten, and no end is told that is not so.
#[test]
fn who_sets_cpu_before_any_write_is_named_and_one_command_leads_out() {
    let cases = all_writes().into_iter().flat_map(|case| (0..3).map(move |pod| (case, pod))).collect();
    side_by_side(cases, |((kind, write), pod)| {
        let server = kind.server();
        let before = before(&server);
        let name = server.objects("pods")[pod]["metadata"]["name"].as_str().unwrap_or_default().to_owned();
        let set = Effect::First(Arc::new(move |state| {
            state.edit("pods", &name, "vpa-updater", |pod| {
                pod["spec"]["containers"][1]["resources"]["requests"]["cpu"] = json!("33m");
            });
        }));
        server.fault(at(write).times(1), set);
        let what = format!("{} {write:?} pod {pod}", kind.word);
        let ended = run(&server, &format!("{} --timeout 20s", kind.line("apply")));
        let sent = patches(&server).iter().filter(|patch| patch.path.ends_with("/resize")).count();
        assert!(sent <= 3, "{what}: no resize is sent again");
        if ended.code == Some(0) {
            // It came after the pod had been proven.
            assert_eq!(requests(&server)[pod], "33m", "{what}\n{}", ended.block());
            run(&server, &format!("status {}/web", kind.word))
                .ends_with(0)
                .prints("side requests.cpu 33m, the template says 30m");
            run(&server, &kind.line("apply")).ends_with(0);
            is_whole((&server, kind), "30m", &before, &what);
        } else {
            ended.ends_with(6).prints("was changed by another client");
            run(&server, &kind.line("abort")).ends_with(0);
            is_whole((&server, kind), "10m", &before, &what);
        }
    });
}

/// Killed at any write: it is finished, or taken back, and nothing restarts.
#[test]
fn killed_at_every_write_it_is_finished_or_taken_back() {
    let cases = all_writes().into_iter().flat_map(|case| ["resume", "abort"].map(|verb| (case, verb))).collect();
    side_by_side(cases, |((kind, write), verb)| {
        let server = kind.server();
        let before = before(&server);
        let what = format!("{} killed at {write:?}, {verb}", kind.word);
        let is_there = Arc::new(AtomicBool::new(false));
        let arrives = is_there.clone();
        server.fault(at(write), Effect::First(Arc::new(move |_| arrives.store(true, Ordering::Relaxed))));
        server.fault(at(write), Effect::NoAnswer);
        let running = typed(&server, &kind.line("apply")).spawn();
        eventually("the write", || is_there.load(Ordering::Relaxed).then_some(()));
        running.signal("KILL");
        assert_eq!(running.wait().code, None, "{what}");
        server.clear_faults();
        let is_begun =
            server.objects(kind.plural)[0]["metadata"]["annotations"]["kubectl-inplace.io/rollout"].is_string();
        let ended = run(&server, &kind.line(verb));
        let is_over = !is_begun && write != kind.writes[0];
        // What is recorded is no longer to be taken back.
        let is_too_late = is_over && verb == "abort" && ended.code == Some(6);
        assert!(is_too_late || ended.code == Some(0), "{what}\n{}", ended.block());
        let is_new = if verb == "resume" { is_begun || is_over } else { is_over };
        is_whole((&server, kind), if is_new { "30m" } else { "10m" }, &before, &format!("{what}\n{}", ended.block()));
    });
}
