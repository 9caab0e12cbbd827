//! The failure report and the proof at the end: what is read after a rollout, what is shown of it, and that nothing of it
//! can fail or delay the end.

use std::time::Duration;

use serde_json::{Value, json};

use crate::support::api_server::{ApiServer, Effect, Times, When};
use crate::support::clock;
use crate::support::run::Output;
use crate::support::scene::{APPLY, run, web};

const CRASH: &str = "apply deploy/web side=:crash --pods-only --yes";
const MISSING: &str = "apply deploy/web side=:missing --pods-only --yes --pre-pull=never";

/// A server whose pods all say something and have an event with a secret.
fn talkative() -> ApiServer {
    let server = web();
    for pod in server.objects("pods") {
        let name = pod["metadata"]["name"].as_str().unwrap_or_default().to_owned();
        let words: String = (1..=25).map(|line| format!("line {line}\n")).collect();
        let words = format!("{words}DB_PASSWORD=hunter2 \u{1b}[31mred\n");
        server.change(|state| {
            state.set_log(&name, "side", &words);
            state.set_log(&name, "app", "not its words\n");
        });
        server.insert([event(&pod, "BackOff", "Back-off with https://user:hunter2@registry.k8s.io/", 0)]);
    }
    server
}

fn event(pod: &Value, reason: &str, message: &str, number: usize) -> Value {
    let name = format!("{}.{reason}.{number}", pod["metadata"]["name"].as_str().unwrap_or_default());
    json!({"apiVersion": "v1", "kind": "Event", "metadata": {"name": name, "namespace": "default"},
        "involvedObject": {"kind": "Pod", "uid": pod["metadata"]["uid"], "fieldPath": "spec.containers{side}"},
        "type": "Warning", "reason": reason, "message": message, "count": 2,
        "firstTimestamp": "2026-01-01T00:00:00Z", "lastTimestamp": "2099-01-01T00:00:00Z"})
}

fn requests(server: &ApiServer, part: &str) -> Vec<String> {
    let requests = server.requests();
    let of = requests.iter().filter(|request| request.path.contains(part));
    of.map(|request| request.query.iter().map(|(key, value)| format!("{key}={value}")).collect::<Vec<_>>().join("&"))
        .collect()
}

fn line_of<'a>(output: &'a [Value], kind: &str) -> &'a Value {
    output.iter().find(|line| line["type"] == kind).unwrap_or(&Value::Null)
}

#[test]
fn a_crash_is_reported_once_with_last_words_and_events() {
    let server = talkative();
    let output = run(&server, CRASH).ends_with(4);
    output
        .prints("container side (acme/side:crash), on node-a")
        .prints("exit code 3")
        .prints("the last 20 lines of the log of the container that ended:")
        .prints("| line 25")
        .prints("| DB_PASSWORD=*** ^[[31mred")
        .prints("BackOff (x2 since 00:00:00): Back-off with https://user:***@registry.k8s.io/")
        .says("FAILED: side: CrashLoopBackOff (exit code 3)\n")
        .prints("Roll back:")
        .omits("what was seen of it:")
        .omits("hunter2")
        .omits("line 5\n")
        .omits("not its words");
    assert_eq!(requests(&server, "/log"), ["container=side&tailLines=20&limitBytes=16384&previous=true"], "of one pod");
}

#[test]
fn json_has_the_report_as_a_line_before_the_summary() {
    let server = talkative();
    let output = run(&server, &format!("{CRASH} -o json")).ends_with(4).omits("hunter2").json_lines();
    let report = line_of(&output, "failureReport");
    assert_eq!(
        output.iter().rev().take(2).map(|line| line["type"].clone()).collect::<Vec<_>>(),
        ["summary", "failureReport"]
    );
    let pod = &report["pods"][0];
    assert_eq!((&pod["container"], &pod["exitCode"], &report["omitted"]), (&json!("side"), &json!(3), &json!(0)));
    assert_eq!((&pod["log"]["instance"], pod["log"]["lines"].as_array().map(Vec::len)), (&json!("previous"), Some(20)));
    assert_eq!((&pod["events"][0]["reason"], &pod["events"][0]["count"]), (&json!("BackOff"), &json!(2)));
    let phases: Vec<&Value> = pod["timeLine"].as_array().into_iter().flatten().map(|moment| &moment["phase"]).collect();
    assert_eq!((phases.first(), phases.last()), (Some(&&json!("patched")), Some(&&json!("failing"))));
}

#[test]
fn of_a_container_that_never_started_no_log_is_read() {
    let server = talkative();
    let output = run(&server, MISSING).ends_with(4);
    output.prints("ErrImagePull").prints("BackOff (x2 since 00:00:00)").omits("the log of").omits("line 25");
    assert_eq!(requests(&server, "/log"), [""; 0]);
}

#[test]
fn what_may_not_be_read_is_said_and_the_end_stays_the_same() {
    let server = talkative();
    server.fault(When::verb("get").of("pods/log"), Effect::Forbid);
    server.fault(When::verb("list").of("events"), Effect::Forbid);
    run(&server, CRASH)
        .ends_with(4)
        .prints("could not be read: its events:")
        .prints("could not be read: its log:")
        .prints("Roll back:");
}

#[test]
fn a_previous_instance_that_is_gone_gives_way_to_the_present_one() {
    let server = talkative();
    server.fault(When::verb("get").of("pods/log").times(1), Effect::Unavailable);
    let not_found = crate::support::api_server::Answer::json(
        400,
        json!({"kind": "Status", "apiVersion": "v1", "status": "Failure", "reason": "BadRequest", "code": 400,
            "message": "previous terminated container \"side\" in pod not found"}),
    );
    server.clear_faults();
    server.fault(When::verb("get").of("pods/log").times(1), Effect::Answer(not_found));
    let output = run(&server, &format!("{CRASH} -o json")).ends_with(4).json_lines();
    assert_eq!(line_of(&output, "failureReport")["pods"][0]["log"]["instance"], "current");
}

/// The kubelet writes it where the log would be, and the answer is a good one.
#[test]
fn what_the_kubelet_says_of_a_log_that_is_gone_is_no_log() {
    let server = talkative();
    let says = "unable to retrieve container logs for containerd://0123456789ab";
    server.fault(When::verb("get").of("pods/log"), Effect::Answer(crate::support::api_server::Answer::text(200, says)));
    run(&server, CRASH)
        .ends_with(4)
        .prints("could not be read: its log: the node keeps none of this container any more")
        .omits("unable to retrieve");
    assert_eq!(requests(&server, "/log").len(), 2);
}

#[test]
fn a_server_that_does_not_answer_delays_the_end_by_three_seconds_at_most() {
    let server = talkative();
    server.fault(When::verb("list").of("events"), Effect::Delay(Duration::from_secs(30)));
    let began = clock::now();
    run(&server, CRASH).ends_with(4).prints("nothing was read of it in time").prints("Roll back:");
    assert!(began.elapsed() < Duration::from_secs(15), "{:?}", began.elapsed());
}

#[test]
fn a_pod_that_is_late_says_what_it_lacks() {
    let server = talkative();
    server.kubelet(Times::default());
    let output = run(&server, "apply deploy/web side=:never-ready --pods-only --yes --timeout 2s").ends_with(5);
    output.prints("container side (acme/side:never-ready)").prints("the log of the container:").prints("not ready");
}

fn proof(output: &Output) -> Value {
    output.json_lines().last().map(|line| line["proof"].clone()).unwrap_or_default()
}

#[test]
fn the_summary_proves_what_restarted_and_how_long_it_took() {
    let server = web();
    // What the kubelet would say: within the restart, and of another one an hour ago.
    let pod = server.objects("pods")[0].clone();
    let output = run(&server, &format!("{APPLY} -o json")).ends_with(0);
    let proof = proof(&output);
    assert_eq!(proof["restartedAsPlanned"], json!([{"container": "side", "pods": 3, "restarts": 3}]));
    assert_eq!((&proof["restartedNotPlanned"], &proof["replaced"]), (&json!([]), &json!([])));
    let times = &proof["times"][0];
    assert_eq!((&times["container"], &times["downSeconds"]["pods"]), (&json!("side"), &json!(3)));
    assert_eq!(times["readySeconds"]["pods"], 3, "{proof}");
    assert_eq!(times["pullSeconds"], Value::Null, "no event said so");
    assert!(requests(&server, "/events").iter().any(|query| query.contains("reason=Pulled")), "{pod}");
}

#[test]
fn the_time_of_a_pull_is_the_kubelets() {
    let server = web();
    server.fault(
        When::verb("list").of("events").times(1),
        Effect::First(std::sync::Arc::new(|state| {
            for pod in state.all("pods") {
                let mut event = event(
                    &pod,
                    "Pulled",
                    "Successfully pulled image \"acme/side:v2\" in 1.5s (2s including waiting)",
                    1,
                );
                event["lastTimestamp"] = pod["status"]["containerStatuses"][1]["state"]["running"]["startedAt"].clone();
                state.insert(event);
            }
        })),
    );
    let proof = proof(&run(&server, &format!("{APPLY} -o json")).ends_with(0));
    assert_eq!(proof["times"][0]["pullSeconds"], json!({"min": 1.5, "max": 1.5, "pods": 3}));
}

#[test]
fn a_container_that_restarts_unplanned_is_counted() {
    let server = web();
    let name = server.objects("pods")[0]["metadata"]["name"].as_str().unwrap_or_default().to_owned();
    let running = crate::support::scene::typed(&server, &format!("{APPLY} -o json --min-ready-seconds 1")).spawn();
    server.wait_for("pods", &name, |pod| pod["status"]["containerStatuses"][1]["restartCount"] == 1);
    server.edit("pods", &name, |pod| {
        pod["status"]["containerStatuses"][0]["containerID"] = "containerd://another".into();
        pod["status"]["containerStatuses"][0]["restartCount"] = 1.into();
    });
    let output = running.wait().ends_with(0);
    assert_eq!(proof(&output)["restartedNotPlanned"], json!([{"container": "app", "pods": 1, "restarts": 1}]));
}
