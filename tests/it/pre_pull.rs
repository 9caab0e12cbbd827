//! Images are pulled first: a pull that fails touches nothing, what the nodes have is not pulled, and no pod of ours is left.

use std::time::Duration;

use serde_json::{Value, json};

use crate::support::api_server::{Answer, ApiServer, Effect, Times, When};
use crate::support::builders::{self, Workload};
use crate::support::clock;
use crate::support::run::Running;
use crate::support::scene::{APPLY, images, patched, patches, run, two_containers, typed, web, with_controllers};

const DURABLE: &str = "apply deploy/web side=acme/side:v2 --yes";

/// Three pods on these nodes, none of which lists an image.
fn lacking(nodes: &[&str]) -> ApiServer {
    let server = ApiServer::with(nodes.iter().map(|node| builders::bare_node(node, "v1.36.3")));
    server.insert(two_containers(Workload::deployment("web").nodes(nodes)).objects());
    server.run_controllers(true);
    server
}

/// A kubelet that does nothing, and a run whose pull pod exists.
fn pulling(line: &str) -> (ApiServer, Running) {
    let server = lacking(&["node-a"]);
    server.pause_kubelet(true);
    let running = typed(&server, line).spawn();
    running.wait_for_stderr("node-a  pulls acme/side:v2 first");
    clock::eventually("a pod that pulls", || (!pull_pods(&server).is_empty()).then_some(()));
    (server, running)
}

fn pull_pods(server: &ApiServer) -> Vec<Value> {
    let pods = server.objects("pods").into_iter();
    pods.filter(|pod| pod["metadata"]["labels"]["kubectl-inplace.io/pull"].is_string()).collect()
}

/// The writes in order, as `POST pods`.
fn writes(server: &ApiServer) -> Vec<String> {
    let word = |path: &str| {
        let is_resource = |word: &&str| word.ends_with('s') && !["apis", "apps", "namespaces"].contains(word);
        path.split('/').find(is_resource).map(str::to_owned)
    };
    let all = server.writes().into_iter();
    all.map(|write| format!("{} {}", write.method, word(&write.path).unwrap_or_default())).collect()
}

fn created(server: &ApiServer) -> Vec<Value> {
    let made = server.writes().into_iter().filter(|write| write.method == "POST" && write.path.ends_with("/pods"));
    made.map(|write| write.json()).collect()
}

/// Asserts that nothing but the pods that pull was written, and that none of them is left.
#[track_caller]
fn nothing_was_touched(server: &ApiServer, what: &str) {
    let others: Vec<String> =
        writes(server).into_iter().filter(|write| write != "POST pods" && write != "DELETE pods").collect();
    assert!(others.is_empty(), "{what}: {others:?}");
    assert!(pull_pods(server).is_empty(), "{what}: a pod that pulls is left");
    assert_eq!(images(server, "side"), ["acme/side:v1"; 3], "{what}");
}

#[test]
fn what_a_node_lacks_is_pulled_before_anything_is_written_and_what_it_lists_is_not() {
    for line in [APPLY, DURABLE] {
        let server = lacking(&["node-a"]);
        let output = run(&server, line).ends_with(0).prints("pulls acme/side:v2 first");
        output.says("node-a  pulls acme/side:v2 first").says("node-a  has acme/side:v2");
        let writes = writes(&server);
        assert_eq!(writes.get(..2), Some(["POST pods".to_owned(), "DELETE pods".to_owned()].as_slice()), "{writes:?}");
        assert!(!writes.iter().skip(2).any(|write| write == "POST pods" || write == "DELETE pods"), "{writes:?}");
        assert!(pull_pods(&server).is_empty());
        assert_eq!(images(&server, "side"), ["acme/side:v2"; 3]);
        let listed = with_controllers();
        run(&listed, line).ends_with(0).omits("first");
        assert!(created(&listed).is_empty());
    }
}

/// On one node: each has a pod of its own that pulls, and takes no other away.
#[test]
fn workloads_side_by_side_pull_each_for_itself() {
    let server = lacking(&["node-a"]);
    for name in ["api", "cart"] {
        server.insert(two_containers(Workload::deployment(name).nodes(&["node-a"])).objects());
    }
    let line =
        "apply deploy/web deploy/api deploy/cart side=acme/side:v2 --pre-pull always --parallel-workloads 3 --yes";
    let output = run(&server, line).ends_with(0).omits("not pulled first");
    let has = output.stderr.matches("node-a  has acme/side:v2").count();
    assert_eq!((has, created(&server).len()), (3, 3), "{}", output.block());
    assert!(pull_pods(&server).is_empty());
}

#[test]
fn always_pulls_what_is_listed_and_never_pulls_nothing() {
    let server = web();
    run(&server, &format!("{APPLY} --pre-pull=always")).ends_with(0).says("node-a  has acme/side:v2");
    assert_eq!(created(&server).len(), 1);
    let server = lacking(&["node-a"]);
    run(&server, &format!("{APPLY} --pre-pull=never")).ends_with(0).omits("first");
    assert!(created(&server).is_empty());
}

#[test]
fn a_pull_that_fails_ends_it_with_the_registrys_words_and_touches_nothing() {
    for (tag, words) in [
        ("missing", "ErrImagePull: rpc error: code = NotFound"),
        ("denied", "pull access denied, repository does not exist or may require authorization"),
        ("flaky", "connect: connection refused"),
    ] {
        for more in ["", " --pods-only"] {
            let server = lacking(&["node-a"]);
            server.kubelet(Times { flaky_pulls: 1000, ..Times::default() });
            let output = run(&server, &format!("apply deploy/web side=:{tag} --yes{more}")).ends_with(4);
            let output = output.prints(&format!("node node-a cannot pull acme/side:{tag}")).prints(words);
            let nothing = if more.is_empty() { "This run changed nothing" } else { "This run changed no pods." };
            output.prints("no container was touched").prints(nothing);
            nothing_was_touched(&server, tag);
        }
    }
}

#[test]
fn a_registry_that_comes_back_is_waited_for() {
    let server = lacking(&["node-a"]);
    run(&server, "apply deploy/web side=:flaky --yes").ends_with(0).says("node-a  has acme/side:flaky");
}

/// Nothing, once the server has refused what it asks for first: LimitRanges fill it in.
#[test]
fn a_pod_that_pulls_asks_for_nothing_where_what_it_asks_for_is_refused() {
    let server = lacking(&["node-a", "node-b"]);
    let message = "minimum memory usage per Container is 64Mi, but request is 32Mi".to_owned();
    let refusal = Effect::Deny { webhook: "limits".to_owned(), message, code: 403 };
    server.fault(When::verb("create").of("pods").dry_run().times(1), refusal);
    let output = run(&server, APPLY).ends_with(0).prints("pulls acme/side:v2 first");
    output.says("node-a  has").says("node-b  has").omits("not pulled first");
    for pod in created(&server) {
        assert_eq!(pod["spec"]["containers"][0]["resources"], Value::Null);
    }
    assert_eq!((created(&server).len(), pull_pods(&server).len()), (2, 0));
}

/// And for more, where a LimitRange for whole pods has a minimum, which fills in nothing.
#[test]
fn a_pod_that_pulls_asks_for_more_where_nothing_is_refused_too() {
    let server = lacking(&["node-a"]);
    let message = "minimum cpu usage per Pod is 80m, but request is 50m".to_owned();
    let refusal = Effect::Deny { webhook: "limits".to_owned(), message, code: 403 };
    server.fault(When::verb("create").of("pods").dry_run().times(2), refusal);
    run(&server, APPLY).ends_with(0).says("node-a  has").omits("not pulled first");
    for pod in created(&server) {
        assert_eq!(pod["spec"]["containers"][0]["resources"]["requests"], json!({"cpu": "250m", "memory": "256Mi"}));
    }
}

/// A quota that has room for one pod at a time, such as those that others use meanwhile.
#[test]
fn a_pod_that_is_refused_beside_another_is_made_once_that_one_is_gone() {
    let server = lacking(&["node-a", "node-b"]);
    let message = "exceeded quota: pods, requested: pods=1, used: pods=4, limited: pods=4".to_owned();
    let refusal = Effect::Deny { webhook: "quota".to_owned(), message, code: 403 };
    server.fault(When::verb("create").of("pods").for_real().after(1).times(2), refusal);
    let line = format!("{APPLY} --pre-pull=always");
    run(&server, &line).ends_with(0).says("node-a  has").says("node-b  has").omits("exceeded quota");
    assert!(pull_pods(&server).is_empty());
}

/// More nodes than are pulled on at once.
#[test]
fn every_node_of_many_pulls() {
    let names: Vec<String> = (10..35).map(|number| format!("node-{number}")).collect();
    let nodes: Vec<&str> = names.iter().map(String::as_str).collect();
    let server = ApiServer::with(nodes.iter().map(|node| builders::bare_node(node, "v1.36.3")));
    server.insert(two_containers(Workload::daemon_set("web").nodes(&nodes).replicas(nodes.len())).objects());
    let output = run(&server, "apply ds/web side=acme/side:v2 --pods-only --max-unavailable 25 --timeout 60s --yes");
    let output = output.ends_with(0);
    assert_eq!(output.stderr.matches("  has acme/side:v2").count(), nodes.len(), "{}", output.block());
}

#[test]
fn where_pods_may_not_be_made_auto_says_so_and_goes_on_and_always_stops() {
    let server = lacking(&["node-a"]);
    server.fault(When::verb("create").of("pods"), Effect::Forbid);
    let output = run(&server, &format!("{APPLY} --pre-pull=always")).ends_with(3);
    output.prints("PermissionMissing: you may not create pods");
    nothing_was_touched(&server, "always");
    let output = run(&server, APPLY).ends_with(0).says("you may not create pods, so no node pulls acme/side:v2 first");
    output.omits("not pulled first");
    assert_eq!(patched(&server).len(), 3);
}

#[test]
fn where_a_webhook_lets_no_pods_be_made_auto_says_so_and_goes_on_and_always_stops() {
    let server = lacking(&["node-a"]);
    let refusal = || Effect::Deny { webhook: "limits".to_owned(), message: "no pods here".to_owned(), code: 403 };
    server.fault(When::verb("create").of("pods"), refusal());
    let output = run(&server, &format!("{APPLY} --pre-pull=always")).ends_with(3);
    output.prints("PullPodRefused").prints("acme/side:v2 first (--pre-pull=always)").prints("no pods here");
    nothing_was_touched(&server, "always");
    let output = run(&server, APPLY).ends_with(0).says("acme/side:v2 cannot be pulled first").says("no pods here");
    output.says("(NotPulledFirst)").omits("pulls acme/side:v2 first");
    assert_eq!(patched(&server).len(), 3);
}

/// The dry run was accepted, and what it was accepted for is refused.
#[test]
fn a_refusal_that_comes_later_is_reported_and_always_stops() {
    let server = lacking(&["node-a"]);
    let refusal = || Effect::Deny { webhook: "limits".to_owned(), message: "no pods here".to_owned(), code: 403 };
    server.fault(When::verb("create").of("pods").for_real(), refusal());
    let output = run(&server, &format!("{APPLY} --pre-pull=always")).ends_with(4);
    output.prints("--pre-pull=always").prints("no pods here");
    nothing_was_touched(&server, "always");
    run(&server, APPLY).ends_with(0).says("node-a  not pulled first: ").says("no pods here");
    assert_eq!(patched(&server).len(), 3);
}

/// A server that cannot answer the dry run has not refused anything.
#[test]
fn what_the_server_does_not_answer_is_not_known() {
    let no_dry_run = json!({"kind": "Status", "apiVersion": "v1", "status": "Failure", "reason": "BadRequest", "code": 400,
        "message": "admission webhook \"x\" does not support dry run"});
    for effect in [Effect::Unavailable, Effect::Answer(Answer::json(400, no_dry_run))] {
        let server = lacking(&["node-a"]);
        server.fault(When::verb("create").of("pods").dry_run(), effect);
        let output = run(&server, APPLY).ends_with(0).says("not known whether the server takes the pods that pull");
        output.says("node-a  has acme/side:v2");
    }
}

/// `resume` and `abort` ask as the plan does.
#[test]
fn what_goes_on_pulls_only_what_the_server_takes_the_pods_for() {
    let (server, running) = pulling(DURABLE);
    server.fault(When::verb("patch").of("pods").for_real(), Effect::NoAnswer);
    server.pause_kubelet(false);
    clock::eventually("the lock", || writes(&server).contains(&"PATCH deployments".to_owned()).then_some(()));
    running.signal("KILL");
    running.wait();
    server.clear_faults();
    server.edit("nodes", "node-a", |node| node["status"]["images"] = json!([]));
    let refusal = Effect::Deny { webhook: "limits".to_owned(), message: "no pods here".to_owned(), code: 403 };
    server.fault(When::verb("create").of("pods"), refusal);
    let always = run(&server, "resume deploy/web --take-over --pre-pull always --yes").ends_with(3);
    always.says("the server refuses the pods that pull acme/side:v2 first (--pre-pull=always): ").says("no pods here");
    let output = run(&server, "resume deploy/web --take-over --yes").ends_with(0);
    output.says("acme/side:v2 cannot be pulled first").says("no pods here").omits("node-a  not pulled first");
}

#[test]
fn a_signal_takes_the_pods_away_at_once() {
    for (signal, code) in [("INT", 130), ("TERM", 143)] {
        for line in [APPLY, DURABLE] {
            let (server, running) = pulling(line);
            let began = clock::now();
            running.signal(signal);
            running.wait().ends_with(code);
            assert!(clock::now().duration_since(began) < Duration::from_secs(5), "within five seconds");
            nothing_was_touched(&server, signal);
        }
    }
}

#[test]
fn what_a_killed_run_has_left_is_taken_away_by_the_next() {
    for (line, waits) in [(APPLY, false), (APPLY, true), (DURABLE, false), (DURABLE, true)] {
        let (server, running) = pulling(line);
        let status = run(&server, "status").ends_with(0).says("pulls images for a run that has not begun to update");
        assert!(!status.stdout.contains("inplace-pull"), "{}", status.block());
        running.signal("KILL");
        running.wait();
        assert_eq!(pull_pods(&server).len(), 1);
        let status = run(&server, "status").ends_with(0).says("a run that is gone has left a pod that pulls images");
        assert!(!status.says("kubectl delete pod/inplace-pull-node-a-").stdout.contains("inplace-pull"));
        let named = run(&server, "status deploy/web").ends_with(0).says("a run that is gone has left a pod");
        named.says("kubectl delete pod/inplace-pull-node-a-");
        if waits {
            // Then the node lists the image, and nothing has to be pulled any more.
            server.pause_kubelet(false);
            server.wait_for("nodes", "node-a", |node| node["status"]["images"].to_string().contains("side:v2"));
        }
        let again = typed(&server, line).spawn();
        if !waits {
            again.wait_for_stderr("node-a  pulls acme/side:v2 first");
            server.pause_kubelet(false);
        }
        let output = again.wait().ends_with(0);
        assert_eq!(output.stderr.contains("first"), !waits, "{}", output.block());
        assert!(pull_pods(&server).is_empty(), "{line}, {waits}");
    }
}

#[test]
fn a_tag_that_is_another_image_on_another_node_is_reported() {
    let server = lacking(&["node-a", "node-b"]);
    let output = run(&server, "apply deploy/web side=:moving --yes --pods-only").ends_with(0);
    output.says("acme/side:moving means something else from node to node: sha256:");
    let server = lacking(&["node-a", "node-b"]);
    run(&server, APPLY).ends_with(0).says("node-b  has").omits("means something else");
}

#[test]
fn a_pull_that_takes_too_long_ends_in_time_and_leaves_nothing() {
    for (flag, words) in [
        ("--timeout 1s", "the images were not pulled in time on node-a; no container was touched"),
        ("--total-timeout 1s", "--total-timeout"),
    ] {
        let (server, running) = pulling(&format!("{DURABLE} {flag}"));
        let began = clock::now();
        running.wait().ends_with(5).prints(words);
        assert!(clock::now().duration_since(began) < Duration::from_secs(5), "{flag}");
        nothing_was_touched(&server, flag);
    }
}

#[test]
fn answers_that_are_lost_make_no_second_pod_and_leave_none() {
    for (verb, effect) in [
        ("create", Effect::CloseAfterwards),
        ("create", Effect::CloseBefore),
        ("create", Effect::TimeOutAfterwards),
        ("create", Effect::Throttle(Some(1))),
        ("delete", Effect::CloseAfterwards),
        ("delete", Effect::CloseBefore),
        ("delete", Effect::Throttle(Some(1))),
    ] {
        let server = lacking(&["node-a"]);
        server.fault(When::verb(verb).of("pods").for_real().times(1), effect);
        run(&server, APPLY).ends_with(0).says("node-a  has acme/side:v2").omits("not pulled first");
        let mut names: Vec<Value> = created(&server).iter().map(|pod| pod["metadata"]["name"].clone()).collect();
        names.dedup();
        assert_eq!(names.len(), 1, "{verb}");
        assert!(pull_pods(&server).is_empty(), "{verb}");
    }
}

#[test]
fn pods_that_may_not_be_deleted_are_left_to_their_deadline() {
    let server = lacking(&["node-a"]);
    let refusal = Effect::Deny { webhook: "limits".to_owned(), message: "pods stay".to_owned(), code: 403 };
    server.fault(When::verb("delete").of("pods"), refusal);
    run(&server, APPLY).ends_with(0).says("pods stay");
    let left = pull_pods(&server);
    assert_eq!(left.len(), 1);
    assert!(left[0]["spec"]["activeDeadlineSeconds"].is_u64());
}

#[test]
fn a_node_that_is_not_ready_is_reported_and_nothing_is_pulled_there() {
    let server = lacking(&["node-a"]);
    server.edit("nodes", "node-a", |node| node["status"]["conditions"][0]["status"] = "Unknown".into());
    let plan = run(&server, "plan deploy/web side=:v2").ends_with(0);
    assert!(plan.block().contains("node node-a is not Ready"), "{}", plan.block());
    run(&server, APPLY).ends_with(0);
    assert!(created(&server).is_empty());
    assert_eq!(patches(&server).len(), 3);
}

/// The pods of a run that waits for them, or may do so, are not another one's to take away: also where two plan in the same
/// second, the first on another machine, and the clock of a machine is hours behind or ahead of the server's.
#[test]
fn only_what_is_left_behind_is_deleted_by_another_run() {
    const PROCESS: &str = "kubectl-inplace.io/process";
    let uids =
        |server: &ApiServer| pull_pods(server).iter().map(|pod| pod["metadata"]["uid"].clone()).collect::<Vec<_>>();
    let resume = |server: &ApiServer| run(server, "resume deploy/web --yes").ends_with(0);
    let at_work = "a run that may be active pulls images first: its pods are not touched";
    for ahead in [0, -7200, 7200] {
        let server = lacking(&["node-a"]);
        server.set_clock(ahead);
        server.pause_kubelet(true);
        let [running, second] = [DURABLE, "apply deploy/web side=acme/side:v3 --pods-only --yes"].map(|line| {
            let running = typed(&server, line).spawn();
            running.wait_for_stderr(" first");
            running
        });
        clock::eventually("both pods", || (pull_pods(&server).len() == 2).then_some(()));
        resume(&server).says(at_work).omits("was deleted");
        second.signal("INT");
        second.wait().ends_with(130);
        let of_first = uids(&server);
        assert_eq!(of_first.len(), 1, "{ahead}: the first run's pod is as it was");
        assert!(pull_pods(&server)[0]["spec"]["containers"].to_string().contains("acme/side:v2"), "{ahead}");

        running.signal("KILL");
        running.wait();
        let name = pull_pods(&server)[0]["metadata"]["name"].as_str().unwrap_or_default().to_owned();
        server.edit("pods", &name, |pod| {
            let text = pod["metadata"]["annotations"][PROCESS].as_str().unwrap_or_default();
            let mut process: Value = serde_json::from_str(text).expect("it says whose it is");
            process["boot"] = "another machine".into();
            pod["metadata"]["annotations"][PROCESS] = process.to_string().into();
        });
        resume(&server).says(at_work);
        // A quota that has room for one pod.
        let full = Effect::Deny { webhook: "quota".to_owned(), message: "exceeded quota: pods".to_owned(), code: 403 };
        server.fault(When::verb("create").of("pods").dry_run(), full);
        let plan = run(&server, "plan deploy/web side=acme/side:v4").ends_with(0);
        plan.says("acme/side:v4 cannot be pulled first").omits("Each pod: pulls");
        assert_eq!(uids(&server), of_first, "{ahead}: it is not known to be gone");
        server.set_clock(ahead + 3600);
        resume(&server).says("a pod that pulled images for a run that is gone was deleted").omits(at_work);
        assert!(pull_pods(&server).is_empty(), "{ahead}: its deadline has passed");
    }

    let (server, running) = pulling(DURABLE);
    running.signal("KILL");
    running.wait();
    resume(&server).says("a pod that pulled images for a run that is gone was deleted");
    assert!(pull_pods(&server).is_empty(), "a process of this machine that is gone is known at once");
}

/// What the caller may not do is not promised; where it is asked for, it is missing.
#[test]
fn a_pull_is_promised_only_to_a_caller_that_may_make_the_pod_for_it() {
    let server = lacking(&["node-a"]);
    server.fault(When::verb("create").of("pods"), Effect::Forbid);
    let plan = run(&server, "plan deploy/web side=acme/side:v2").ends_with(0);
    plan.omits("Each pod: pulls").says(
        "you may not create pods, so no node pulls acme/side:v2 first, and it is not known whether the server takes",
    );
    let always = run(&server, "plan deploy/web side=acme/side:v2 --pre-pull always").ends_with(0);
    always.prints("PermissionMissing: you may not create pods");
    run(&server, &format!("{DURABLE} --pre-pull always")).ends_with(3);
    nothing_was_touched(&server, "--pre-pull=always");
    run(&server, &format!("{DURABLE} --min-ready-seconds 0")).ends_with(0).omits("node-a  pulls");
}
