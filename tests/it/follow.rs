//! `follow`: watches updates of its own and of others, believes nothing without evidence, and changes nothing.

use std::time::Duration;

use serde_json::{Value, json};

use crate::support::api_server::{ApiServer, Times};
use crate::support::builders::Workload;
use crate::support::scene::{
    APPLY, patches, run, server_with, two_containers, typed, web, with_controllers, with_controllers_of,
};

/// Sets the image of `side` in every pod, as `kubectl set image` would.
fn set_elsewhere(server: &ApiServer, image: &str) {
    for pod in server.objects("pods") {
        let name = pod["metadata"]["name"].as_str().unwrap_or_default();
        server.edit("pods", name, |pod| pod["spec"]["containers"][1]["image"] = image.into());
    }
}

/// A kubelet whose containers start in a later second than the one in which their image was set.
fn later() -> Times {
    Times { restart: Duration::from_millis(1100), ..Times::default() }
}

fn slower(server: &ApiServer) {
    server.kubelet(later());
}

/// A ReplicaSet of a newer template.
fn newer_replica_set(server: &ApiServer) {
    let mut newer = server.objects("replicasets").remove(0);
    let metadata = &mut newer["metadata"];
    (metadata["name"], metadata["uid"]) = (json!("web-newer"), json!("uid-newer"));
    metadata["annotations"]["deployment.kubernetes.io/revision"] = json!("9");
    server.insert([newer]);
}

fn wrote_nothing(server: &ApiServer) {
    assert!(server.writes().is_empty(), "{:?}", server.writes());
}

#[test]
fn an_update_of_its_own_is_followed_by_its_record() {
    let server = web();
    server.kubelet(Times { restart: Duration::from_millis(500), ..Times::default() });
    let first = typed(&server, APPLY).spawn();
    first.wait_for_stderr("patch sent");
    let name = server.objects("pods")[0]["metadata"]["name"].as_str().unwrap_or_default().to_owned();
    server.wait_for("pods", &name, |pod| pod["spec"]["containers"][1]["image"] == "acme/side:v2");
    first.signal("INT");
    first.wait().ends_with(130);
    run(&server, "follow pod/none").ends_with(1).says("not found");
    let output = run(&server, &format!("follow pod/{name} --min-ready-seconds 0")).ends_with(0);
    output.prints("Complete:").prints("Updated in place: side in 1 pod");
    assert_eq!(patches(&server).len(), 1, "following sent nothing");
}

#[test]
fn somebody_elses_update_is_followed_by_managed_fields() {
    let server = web();
    slower(&server);
    set_elsewhere(&server, "acme/side:v2");
    let output = run(&server, "follow deploy/web --min-ready-seconds 0").ends_with(0);
    output.prints("Complete: deployment/web: 3 pods");
    wrote_nothing(&server);
}

#[test]
fn what_cannot_be_proven_is_never_done() {
    let server = server_with([two_containers(Workload::pod("one"))]);
    slower(&server);
    server.edit("pods", "one", |pod| pod["spec"]["containers"][1]["image"] = "acme/side:v2".into());
    server.wait_for("pods", "one", |pod| pod["status"]["containerStatuses"][1]["restartCount"] == 1);
    run(&server, "follow pod/one --min-ready-seconds 0 --timeout 1s").ends_with(0).prints("Complete:");
    // Nothing says when the image was set, and the runtime shows another name: of the same image, or of the one before.
    server.pause_kubelet(true);
    server.edit("pods", "one", |pod| {
        pod["metadata"]["managedFields"] = json!([]);
        pod["status"]["containerStatuses"][1]["image"] = "acme/side:stable".into();
    });
    let pod = server.object("pods", "one").unwrap_or_default();
    assert!(!pod["metadata"]["managedFields"].to_string().contains("f:image"), "{}", pod["metadata"]["managedFields"]);
    let output = run(&server, "follow pod/one --min-ready-seconds 0 --timeout 1s -o json").ends_with(5);
    let last = output.json_lines().pop().unwrap_or_default();
    assert_eq!((&last["result"], &last["pods"][0]["phase"]), (&json!("timedOut"), &json!("unverified")), "{last}");
    let text = run(&server, "follow pod/one --min-ready-seconds 0 --timeout 1s").ends_with(5);
    text.prints("verified").says("side not verified yet").prints("container side");
    wrote_nothing(&server);
}

#[test]
fn images_given_are_waited_for() {
    let server = web();
    slower(&server);
    let output = run(&server, "follow deploy/web side=acme/side:v2 --timeout 1s --min-ready-seconds 0").ends_with(5);
    output
        .prints("Timed out")
        .prints("  pod/web-")
        .prints("  waits for side to be set to acme/side:v2\nPods: 3 waiting.");
    let running = typed(&server, "follow deploy/web side=acme/side:v2 --min-ready-seconds 0").spawn();
    running.wait_for_stderr("following 3 pods");
    set_elsewhere(&server, "acme/side:v2");
    running.wait().ends_with(0).prints("Complete:");
    wrote_nothing(&server);
}

#[test]
fn the_last_line_of_json_says_how_it_ended() {
    let server = web();
    slower(&server);
    set_elsewhere(&server, "acme/side:v2");
    let output = run(&server, "follow deploy/web --min-ready-seconds 0 -o json").ends_with(0);
    let lines = output.json_lines();
    let result = |line: Option<&Value>| line.map(|line| (line["type"].clone(), line["result"].clone()));
    assert_eq!(result(lines.last()), Some((json!("summary"), json!("complete"))));
    assert_eq!(lines.first().map(|line| line["mode"].clone()), Some(json!("follow")));
    assert!(lines.iter().rev().skip(1).all(|line| line["result"].is_null()));
}

#[test]
fn a_failure_of_somebody_elses_update_ends_with_code_4() {
    let server = web();
    set_elsewhere(&server, "acme/side:missing");
    run(&server, "follow deploy/web").ends_with(4).prints("ErrImagePull").prints("acme/side:missing");
    wrote_nothing(&server);
}

#[test]
fn a_pod_deleted_while_it_is_followed_ends_with_code_6() {
    let server = web();
    server.pause_kubelet(true);
    set_elsewhere(&server, "acme/side:v2");
    let name = server.objects("pods")[1]["metadata"]["name"].as_str().unwrap_or_default().to_owned();
    let running = typed(&server, "follow deploy/web").spawn();
    running.wait_for_stderr(&format!("{name}  "));
    server.delete("pods", &name);
    running.wait().ends_with(6).prints(&format!("pod/{name}")).prints("deleted");
}

#[test]
fn an_interrupt_only_ends_the_watching() {
    let server = web();
    server.pause_kubelet(true);
    set_elsewhere(&server, "acme/side:v2");
    for (signal, code) in [("INT", 130), ("TERM", 143)] {
        let running = typed(&server, "follow deploy/web").spawn();
        running.wait_for_stderr("restarting");
        running.signal(signal);
        running
            .wait()
            .ends_with(code)
            .prints("Only the watching has ended")
            .prints("kubectl inplace follow deployment/web");
    }
}

/// Sets an image of a container in every pod, and leaves the field manager's time of it in the past of what starts then.
fn set_of(server: &ApiServer, container: &str, image: &str) {
    for pod in server.objects("pods") {
        let name = pod["metadata"]["name"].as_str().unwrap_or_default();
        server.edit("pods", name, |pod| {
            let containers = pod["spec"]["containers"].as_array_mut().into_iter().flatten();
            containers.filter(|one| one["name"] == container).for_each(|one| one["image"] = image.into());
        });
    }
}

#[test]
fn what_the_pods_ask_for_decides_and_no_note_of_an_earlier_update() {
    for noted in ["app", "side", ""] {
        for changed in ["app", "side"] {
            let server = web();
            // A failed pull is shown for long enough to be seen as what it is.
            server.kubelet(Times { back_off: Duration::from_secs(5), ..later() });
            if !noted.is_empty() {
                let line = format!("apply deploy/web {noted}=acme/{noted}:v2 --pods-only --yes --min-ready-seconds 0");
                run(&server, &line).ends_with(0);
            }
            set_of(&server, changed, &format!("acme/{changed}:v3"));
            let output = run(&server, "follow deploy/web --min-ready-seconds 0 --timeout 20s").ends_with(0);
            output.prints("Complete: deployment/web: 3 pods updated and ready").prints(&format!("{changed} in 3 pods"));
            set_of(&server, changed, &format!("acme/{changed}:missing"));
            let output = run(&server, "follow deploy/web --min-ready-seconds 0 --timeout 20s").ends_with(4);
            output
                .says(&format!("FAILED: {changed}: ErrImagePull\n"))
                .prints(&format!("container {changed}"))
                .prints("\n  ErrImagePull");
        }
    }
}

#[test]
#[expect(
    clippy::disallowed_methods,
    reason = "the API's times are whole seconds: the second image is set in a later one"
)]
fn a_note_of_one_pod_says_nothing_of_the_others_once_somebody_else_has_set_images() {
    let server = web();
    slower(&server);
    let name = server.objects("pods")[0]["metadata"]["name"].as_str().unwrap_or_default().to_owned();
    run(&server, &format!("apply pod/{name} side=acme/side:v2 --pods-only --yes --min-ready-seconds 0")).ends_with(0);
    std::thread::sleep(Duration::from_millis(2100));
    set_of(&server, "app", "acme/app:v2");
    run(&server, "follow deploy/web --min-ready-seconds 0 --timeout 20s").ends_with(0).prints("app in 3 pods");
}

/// The managed fields have one time for all that a writer has set: it need not be this image that was set last.
#[test]
#[expect(clippy::disallowed_methods, reason = "the API's times are whole seconds: the second write is in a later one")]
fn a_container_that_its_writers_next_write_left_alone_is_proven() {
    for second in ["app", "label"] {
        let pod = two_containers(Workload::pod("one"));
        let server = server_with([pod.template(|pod| pod["spec"]["terminationGracePeriodSeconds"] = json!(2))]);
        slower(&server);
        let line = "follow pod/one --min-ready-seconds 0 --timeout 30s";
        set_of(&server, "side", "acme/side:v2");
        run(&server, line).ends_with(0).prints("side in 1 pod");
        std::thread::sleep(Duration::from_millis(1100));
        if second == "app" {
            // The container that restarts shows that the other one was compared.
            set_of(&server, "app", "acme/app:v2");
            run(&server, line).ends_with(0).prints("Updated in place: app in 1 pod.");
        } else {
            // Nothing restarts: the kubelet lets the container be.
            server.edit("pods", "one", |pod| pod["metadata"]["labels"]["later"] = json!("yes"));
            run(&server, line).ends_with(0).prints("Complete: pod/one");
        }
    }
}

#[test]
fn a_rollout_of_the_owners_controller_is_named_and_none_of_ours() {
    let server = web();
    // A newer ReplicaSet whose first pod does not come up.
    newer_replica_set(&server);
    server.edit("deployments", "web", |web| {
        (web["status"]["replicas"], web["status"]["updatedReplicas"]) = (json!(4), json!(1));
    });
    let output = run(&server, "follow deploy/web").ends_with(6);
    output
        .prints("Stopped")
        .prints("ts controller is replacing pods, which is no update in place: ")
        .prints("Follow: kubectl rollout status deployment/web -n default")
        .omits("GONE");
    let last = run(&server, "follow deploy/web -o json").ends_with(6).json_lines().pop().unwrap_or_default();
    assert_eq!((&last["type"], &last["result"]), (&json!("summary"), &json!("superseded")), "{last}");
    wrote_nothing(&server);
}

#[test]
fn an_update_of_long_ago_says_when_it_was() {
    let server = web();
    run(&server, &format!("{APPLY} --min-ready-seconds 0")).ends_with(0);
    let pod = server.objects("pods").remove(0);
    let started = pod["status"]["containerStatuses"][1]["state"]["running"]["startedAt"].as_str().unwrap_or_default();
    let day = started.get(..10).unwrap_or("no time");
    let output = run(&server, "follow deploy/web --min-ready-seconds 0").ends_with(0);
    output.prints(&format!("updated and ready, the last container started at {day}")).prints("(watched for ");
}

#[test]
fn what_the_controller_does_is_asked_once_it_has_observed_the_newest_change() {
    let server = web();
    newer_replica_set(&server);
    server.edit("deployments", "web", |web| {
        web["status"]["observedGeneration"] = json!(web["metadata"]["generation"].as_i64().unwrap_or_default() - 1);
    });
    let following = typed(&server, "follow deploy/web").spawn();
    let reads = || server.requests().iter().filter(|request| request.path.ends_with("/deployments/web")).count();
    for _ in 0..1000 {
        if reads() >= 3 {
            break;
        }
        crate::support::clock::sleep(Duration::from_millis(10));
    }
    server.edit("deployments", "web", |web| {
        web["status"]["observedGeneration"] = web["metadata"]["generation"].clone();
        (web["status"]["replicas"], web["status"]["updatedReplicas"]) = (json!(4), json!(1));
    });
    following.wait().ends_with(6).prints("ts controller is replacing pods");
    wrote_nothing(&server);
}

/// As `kubectl rollout status` does: an owner whose pods cannot be created is not complete.
#[test]
fn an_owner_that_lacks_pods_is_not_complete() {
    let server = web();
    slower(&server);
    server.run_controllers(false);
    let pods = server.objects("pods");
    let name = pods[0]["metadata"]["name"].as_str().unwrap_or_default();
    server.delete("pods", name);
    set_elsewhere(&server, "acme/side:v2");
    let output = run(&server, "follow deploy/web --min-ready-seconds 0 --timeout 6s").ends_with(5);
    output.says("1 pod still to be made").prints("Timed out").omits("Complete");
    let running = typed(&server, "follow deploy/web --min-ready-seconds 0").spawn();
    running.wait_for_stderr("1 pod still to be made");
    server.run_controllers(true);
    running.wait().ends_with(0).prints("Complete: deployment/web");
}

/// A container that restarts where its memory limit changes.
fn restarts_for_memory() -> ApiServer {
    let fields = json!({"resources": {"requests": {"memory": "16Mi"}, "limits": {"memory": "64Mi"}},
        "resizePolicy": [{"resourceName": "memory", "restartPolicy": "RestartContainer"}]});
    let workload = Workload::deployment("web").container("app", "acme/app:v1");
    with_controllers_of([workload.container_with("side", "acme/side:v1", fields)])
}

#[test]
fn pods_that_a_resize_has_not_come_to_are_waited_for() {
    let server = restarts_for_memory();
    let line = "apply deploy/web -c side --limits memory=96Mi --yes --min-ready-seconds 0";
    run(&server, &format!("{line} --pause-after 1")).ends_with(0).prints("Paused");
    let output = run(&server, "follow deploy/web --timeout 1s --total-timeout 9s --min-ready-seconds 0").ends_with(5);
    let output =
        output.prints("  waits for side limits.memory to be set to 96Mi\nPods: 1 done, 2 waiting.").omits("Complete");
    // How long somebody watches is no limit of the rollout.
    let output = output
        .says("Resume: kubectl inplace resume deployment/web\n")
        .says("Roll back: kubectl inplace abort deployment/web\n");
    output.prints("Follow: kubectl inplace follow deployment/web\n");
    // It pauses after each pod.
    for _ in 0..2 {
        run(&server, "resume deploy/web --yes --min-ready-seconds 0").ends_with(0);
    }
    let whole = run(&server, "follow deploy/web --min-ready-seconds 0").ends_with(0);
    whole.prints("Updated in place: side in 3 pods").omits("no container restarted");
}

#[test]
fn a_run_that_is_alive_is_followed_to_its_end() {
    let server = with_controllers();
    let running = typed(&server, "apply deploy/web side=acme/side:v2 --yes --min-ready-seconds 3").spawn();
    let name = |index: usize| server.objects("pods")[index]["metadata"]["name"].as_str().unwrap_or_default().to_owned();
    running.wait_for_stderr("patch sent");
    for index in 0..3 {
        server.wait_for("pods", &name(index), |pod| pod["spec"]["containers"][1]["image"] == "acme/side:v2");
    }
    run(&server, "follow deploy/web --min-ready-seconds 0").ends_with(0).prints("Complete");
    let owner = server.object("deployments", "web").unwrap_or_default();
    assert!(owner["metadata"]["annotations"]["kubectl-inplace.io/rollout"].is_null(), "it was held");
    running.wait().ends_with(0);
}

#[test]
fn a_run_that_pauses_while_it_is_followed_is_said_to_at_once() {
    let server = with_controllers();
    let line = "apply deploy/web side=acme/side:v2 --yes --canary 1 --min-ready-seconds 2";
    let running = typed(&server, line).spawn();
    running.wait_for_stderr("patch sent");
    let following = typed(&server, "follow deploy/web --timeout 60s").spawn();
    running.wait().ends_with(0).prints("Paused");
    following.wait_for_stderr("no run is known to carry it on");
    following.wait_for_stderr("Resume: kubectl inplace resume deployment/web");
    run(&server, "resume deploy/web --yes --min-ready-seconds 0").ends_with(0);
    let output = following.wait().ends_with(0);
    assert_eq!(output.stderr.matches("known to carry it on").count(), 1, "{}", output.stderr);
}

#[test]
fn a_failure_of_somebody_elses_image_in_one_pod_names_the_way_out() {
    let server = web();
    let name = server.objects("pods")[0]["metadata"]["name"].as_str().unwrap_or_default().to_owned();
    server.edit("pods", &name, |pod| pod["spec"]["containers"][1]["image"] = "acme/side:missing".into());
    let way = "Bring the pods to the template, in place: kubectl inplace apply deployment/web side=acme/side:v1";
    for line in ["follow deploy/web --timeout 60s".to_owned(), format!("follow pod/{name} --timeout 60s")] {
        let output = run(&server, &line).ends_with(4);
        output.says(way).omits("in progress").omits(&format!("{way} --timeout"));
    }
}
