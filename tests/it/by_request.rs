//! `restart --by-request`: kruise-daemon restarts the containers, and this program neither believes it nor leaves a request
//! behind.

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use serde_json::{Value, json};

use crate::support::api_server::{ApiServer, Effect, When, hex64};
use crate::support::clock;
use crate::support::run::Output;
use crate::support::scene::{images, patched, run, typed, web};
use crate::support::snapshot::assert_snapshot;

const RESTART: &str = "restart deploy/web -c side --by-request --yes --min-ready-seconds 0";
const REQUESTS: &str = "containerrecreaterequests";

/// What kruise-daemon does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Daemon {
    Restarts,
    /// It says that it did, as of a container that has started in the second of the request.
    OnlySaysSo,
    Away,
}

/// Ends the daemon also where a test fails.
struct Ends<'a>(&'a AtomicBool);

impl Drop for Ends<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

fn kruise() -> ApiServer {
    let server = web();
    server.change(|state| state.has_kruise = true);
    server
}

fn with<T>(server: &ApiServer, daemon: Daemon, test: impl FnOnce() -> T) -> T {
    let ends = AtomicBool::new(false);
    thread::scope(|scope| {
        scope.spawn(|| {
            while !ends.load(Ordering::Relaxed) {
                server.objects(REQUESTS).iter().for_each(|request| work(server, daemon, request));
                clock::sleep(Duration::from_millis(5));
            }
        });
        let _ends = Ends(&ends);
        test()
    })
}

/// Goes one step on with a request.
fn work(server: &ApiServer, daemon: Daemon, request: &Value) {
    let name = request["metadata"]["name"].as_str().expect("it has a name");
    let phase = request["status"]["phase"].as_str().unwrap_or_default();
    if daemon == Daemon::Away || phase == "Completed" {
        return;
    }
    let containers: Vec<&str> =
        request["spec"]["containers"].as_array().into_iter().flatten().filter_map(|one| one["name"].as_str()).collect();
    let phase = if phase.is_empty() { "Recreating" } else { "Completed" };
    if phase == "Completed" && daemon == Daemon::Restarts {
        let pod = request["spec"]["podName"].as_str().expect("it is about a pod");
        server.edit("pods", pod, |pod| containers.iter().for_each(|name| restart(pod, name)));
    }
    let states = containers.iter().map(|name| json!({"name": name, "phase": "Succeeded", "isKilled": true}));
    let states: Vec<Value> = states.collect();
    server.edit(REQUESTS, name, |request| {
        request["status"] = json!({"phase": phase, "containerRecreateStates": states});
        if phase == "Completed" {
            request["status"]["completionTime"] = clock::now_text().into();
        }
    });
}

/// What the kubelet shows once a container was stopped.
fn restart(pod: &mut Value, name: &str) {
    let now = clock::now_text();
    let statuses = pod["status"]["containerStatuses"].as_array_mut();
    let status = statuses.into_iter().flatten().find(|status| status["name"] == name).expect("it has a status");
    let before = status["containerID"].clone();
    let count = status["restartCount"].as_u64().unwrap_or(0) + 1;
    status["lastState"] = json!({"terminated": {"exitCode": 0, "reason": "Completed", "containerID": before,
        "startedAt": status["state"]["running"]["startedAt"], "finishedAt": now}});
    status["state"] = json!({"running": {"startedAt": now}});
    status["containerID"] = format!("containerd://{}", hex64(&format!("{before}{count}"))).into();
    status["restartCount"] = count.into();
}

fn restarts(server: &ApiServer, index: usize) -> Vec<u64> {
    let count = |pod: &Value| pod["status"]["containerStatuses"][index]["restartCount"].as_u64().unwrap_or(0);
    server.objects("pods").iter().map(count).collect()
}

fn creates(server: &ApiServer) -> usize {
    server.writes().iter().filter(|write| write.method == "POST").count()
}

fn none_is_left(server: &ApiServer) {
    assert_eq!(server.objects(REQUESTS), [Value::Null; 0]);
}

#[test]
fn the_daemon_restarts_and_the_pods_keep_their_images() {
    let server = kruise();
    let output = with(&server, Daemon::Restarts, || run(&server, RESTART)).ends_with(0);
    output
        .prints("kruise-daemon is asked to restart the containers")
        .prints("Restarted as planned: side in 3 pods; nothing else restarted; pods replaced: 0.");
    assert_eq!(images(&server, "side"), ["acme/side:v1"; 3]);
    assert_eq!((restarts(&server, 0), restarts(&server, 1)), (vec![0; 3], vec![1; 3]));
    none_is_left(&server);
    let deletes = server.writes().into_iter().filter(|write| write.method == "DELETE");
    let uids: BTreeSet<String> = deletes.map(|write| write.json()["preconditions"]["uid"].to_string()).collect();
    assert_eq!((uids.len(), creates(&server), patched(&server).len()), (3, 3, 3), "one of each a pod");
    run(&server, "history deploy/web").ends_with(0).prints("side");
    run(&server, "status deploy/web").ends_with(0).omits("pinned").omits("differ");
    run(&server, "undo deploy/web --yes").ends_with(1).says("no update in place is recorded");
    // An update and the way back from it are as ever.
    run(&server, "apply deploy/web side=:v2 --pods-only --yes --min-ready-seconds 0").ends_with(0);
    run(&server, "undo deploy/web --yes --min-ready-seconds 0").ends_with(0);
    assert_eq!(images(&server, "side"), ["acme/side:v1"; 3]);
}

#[test]
fn the_plan_and_its_document_say_by_whom() {
    let server = kruise();
    let line = "restart deploy/web -c side --by-request --dry-run=server";
    assert_snapshot("restart-by-request-plan", &run(&server, line).ends_with(0).block());
    let document = run(&server, &format!("{line} -o json")).ends_with(0).json();
    let plan = &document["workloads"][0];
    assert_eq!((&plan["restartsTheSame"], &plan["byRequest"]), (&true.into(), &true.into()));
    let asked = server.requests().into_iter().filter(|asked| asked.path.ends_with(REQUESTS) && asked.dry_run).count();
    assert_eq!((asked, server.writes().len()), (6, 0), "each pod's request is asked about, and nothing is stored");
    let lines =
        with(&server, Daemon::Restarts, || run(&server, &format!("{RESTART} -o json"))).ends_with(0).json_lines();
    let phases = |phase: &str| lines.iter().filter(|line| line["phase"] == phase).count();
    assert_eq!((phases("patched"), phases("restarting"), phases("done")), (3, 3, 3));
}

#[test]
fn completed_without_another_container_is_a_failure() {
    let server = kruise();
    let output = with(&server, Daemon::OnlySaysSo, || run(&server, RESTART)).ends_with(4);
    output
        .prints("NotRestarted")
        .prints("is Completed, and side is the container of before: side Succeeded, isKilled true");
    assert_eq!((restarts(&server, 1), creates(&server)), (vec![0; 3], 1), "no further pod is touched");
    none_is_left(&server);
}

#[test]
fn a_daemon_that_does_not_answer_is_named_and_not_waited_for() {
    let server = kruise();
    let began = clock::now();
    let output = run(&server, RESTART).ends_with(4);
    output
        .prints("kruise-daemon on node node-a has not begun")
        .prints("a restart without --by-request needs no daemon");
    assert!(clock::now().duration_since(began) < Duration::from_secs(20));
    none_is_left(&server);
    // The others are tried where that is asked for.
    let failed = run(&server, &format!("{RESTART} --on-failure=continue --max-unavailable 3")).ends_with(4);
    failed.prints("NotRestarted");
    assert_eq!(creates(&server), 4);
    none_is_left(&server);
}

#[test]
fn what_cannot_be_asked_for_is_refused_before_anything_is_written() {
    let server = web();
    let refused = run(&server, RESTART).ends_with(3);
    refused
        .prints("KruiseNotInstalled")
        .prints("OpenKruise is not installed")
        .prints("leave out --by-request: a restart without it works on any cluster");
    run(&server, "restart deploy/web -c side --yes --min-ready-seconds 0").ends_with(0);
    for (effect, code, said) in [
        (Effect::Forbid, 3, "you may not create containerrecreaterequests.apps.kruise.io"),
        (
            Effect::Deny {
                webhook: "mcontainerrecreaterequest.kb.io".into(),
                message: "not allowed to recreate containers in a pending Pod".into(),
                code: 400,
            },
            3,
            "not allowed to recreate containers in a pending Pod",
        ),
    ] {
        let server = kruise();
        server.fault(When::verb("create").of(REQUESTS), effect);
        let output = run(&server, RESTART).ends_with(code).prints(said);
        assert!(server.writes().is_empty(), "{}", output.block());
        // Who may not, or cannot, restarts without.
        run(&server, "restart deploy/web -c side --yes --min-ready-seconds 0").ends_with(0);
    }
    let server = kruise();
    server.fault(When::verb("create").of(REQUESTS), Effect::Forbid);
    run(&server, RESTART).ends_with(3).prints("kubectl inplace rbac restart deployment --optional");
    run(&server, "rbac restart deployment --optional").ends_with(0).prints("containerrecreaterequests");
}

/// Kills a run once there is something to see.
fn killed<T>(server: &ApiServer, line: &str, when: impl Fn() -> Option<T>) {
    let running = typed(server, line).spawn();
    clock::eventually("the time to be killed", when);
    running.signal("KILL");
    running.wait();
}

#[test]
fn a_run_that_was_killed_leaves_nothing_that_the_next_one_does_not_clear_up() {
    let server = kruise();
    // Before the daemon has begun, and after it is done.
    killed(&server, RESTART, || server.objects(REQUESTS).pop());
    assert_eq!(server.objects(REQUESTS).len(), 1);
    with(&server, Daemon::Restarts, || {
        // What was left is done by the daemon, and deleted by the next run before its own.
        run(&server, RESTART).ends_with(0);
        none_is_left(&server);
        server.fault(When::verb("delete").of(REQUESTS), Effect::NoAnswer);
        let before = restarts(&server, 1);
        killed(&server, RESTART, || (restarts(&server, 1) != before).then_some(()));
        server.clear_faults();
        assert_eq!(server.objects(REQUESTS).len(), 1);
        run(&server, RESTART).ends_with(0);
        none_is_left(&server);
    });
}

#[test]
fn an_interrupt_deletes_the_request_or_says_that_it_is_left() {
    let interrupted = |server: &ApiServer| -> Output {
        let running = typed(server, RESTART).spawn();
        clock::eventually("a request", || server.objects(REQUESTS).pop());
        running.signal("INT");
        running.wait().ends_with(130)
    };
    let server = kruise();
    let pods: Vec<String> = server.objects("pods").iter().map(|pod| pod["metadata"]["name"].to_string()).collect();
    let output = interrupted(&server).omits("may be left");
    output.says("To restart the others: kubectl inplace restart deployment/web -c side --pods").says("--by-request");
    assert_eq!(pods.len(), 3);
    none_is_left(&server);
    server.fault(When::verb("delete").of(REQUESTS), Effect::NoAnswer);
    let left = interrupted(&server);
    let name = server.objects(REQUESTS)[0]["metadata"]["name"].as_str().unwrap_or_default().to_owned();
    left.prints(&format!("kubectl delete containerrecreaterequests.apps.kruise.io {name} -n default"));
}

#[test]
fn lost_answers_restart_nothing_twice() {
    for verb in ["create", "delete", "list"] {
        for effect in [Effect::CloseAfterwards, Effect::CloseBefore, Effect::Throttle(Some(1)), Effect::Unavailable] {
            let server = kruise();
            server.fault(When::verb(verb).of(REQUESTS).for_real().times(1), effect);
            with(&server, Daemon::Restarts, || run(&server, RESTART)).ends_with(0);
            assert_eq!(restarts(&server, 1), [1; 3], "{verb}");
            none_is_left(&server);
        }
    }
}

#[test]
fn containers_in_an_order_have_a_request_each() {
    let server = kruise();
    let line = "restart deploy/web -c side,app --by-request --yes --min-ready-seconds 0";
    let order = format!("{line} --container-order side,app");
    with(&server, Daemon::Restarts, || {
        run(&server, &order).ends_with(0).prints("Restarted as planned: app in 3 pods, side in 3 pods");
        assert_eq!(creates(&server), 6);
        run(&server, line).ends_with(0);
        assert_eq!(creates(&server), 9, "without an order they are restarted by one");
    });
    assert_eq!((restarts(&server, 0), restarts(&server, 1)), (vec![2; 3], vec![2; 3]));
    none_is_left(&server);
}
