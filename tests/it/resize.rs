//! cpu and memory: changed by the subresource `resize`, nothing restarts, and the kubelet's status is the proof.

use std::collections::BTreeSet;
use std::time::Duration;

use serde_json::{Value, json};

use super::durable::side_by_side;
use crate::support::api_server::{ApiServer, Effect, Logged, When};
use crate::support::builders::Workload;
use crate::support::clock::{eventually, sleep};
use crate::support::run::Binary;
use crate::support::scene::{images, patches, run, server_with, typed, with_controllers_of};

fn workload() -> Workload {
    resized(Workload::deployment("web"))
}

/// `app` and `side` with cpu and memory.
pub(super) fn resized(workload: Workload) -> Workload {
    let resources =
        |cpu: &str| json!({"resources": {"requests": {"cpu": cpu, "memory": "16Mi"}, "limits": {"memory": "64Mi"}}});
    workload.container_with("app", "acme/app:v1", resources("20m")).container_with(
        "side",
        "acme/side:v1",
        resources("10m"),
    )
}

fn web() -> ApiServer {
    server_with([workload()])
}

/// What the kubelet says that `side` has in each pod.
pub(super) fn requests(server: &ApiServer) -> Vec<Value> {
    let of = |pod: &Value| pod["status"]["containerStatuses"][1]["resources"]["requests"]["cpu"].clone();
    server.objects("pods").iter().map(of).collect()
}

pub(super) fn container_ids(server: &ApiServer) -> Vec<Value> {
    let of = |pod: &Value| pod["status"]["containerStatuses"][1]["containerID"].clone();
    server.objects("pods").iter().map(of).collect()
}

const ASKED: &str = "-c side --requests cpu=30m --limits memory=96Mi";

#[test]
fn a_limit_that_pods_alone_were_given_stays_and_that_is_said() {
    let server = web();
    run(&server, "apply deploy/web -c side --limits cpu=500m --pods-only --yes").ends_with(0);
    let undo = run(&server, "undo deploy/web --yes").ends_with(0).prints("No changes");
    undo.says("the side limits.cpu stays: it cannot be removed from a running pod");
}

/// What another client has set since is nothing that this update could be taken back from.
#[test]
fn what_pods_alone_were_given_and_lost_again_is_not_called_up_to_date() {
    let server = web();
    run(&server, "apply deploy/web side=acme/side:v2 --pods-only --yes --min-ready-seconds 0").ends_with(0);
    for pod in server.objects("pods") {
        let name = pod["metadata"]["name"].as_str().unwrap_or_default();
        server.edit("pods", name, |pod| pod["spec"]["containers"][1]["image"] = "acme/side:v3".into());
    }
    let undo = run(&server, "undo deploy/web --yes").ends_with(1).omits("No changes");
    undo.says("no pod has what its last update in place, ").says("another client has changed it since");
}

#[test]
fn what_is_given_twice_adds_up() {
    let planned = run(&web(), "plan deploy/web -c side --requests cpu=30m --requests memory=20Mi").ends_with(0);
    planned.prints("side requests.cpu").prints("side requests.memory");
    let twice = run(&web(), "plan deploy/web -c side --requests cpu=30m --requests cpu=40m").ends_with(1);
    twice.says("cpu is named twice");
}

/// A resize heals no crash, and its end is no word that a pod is well.
#[test]
fn a_container_that_crashes_is_resized_and_that_it_does_not_run_is_said() {
    let server = web();
    let crashing = server.objects("pods")[0]["metadata"]["name"].as_str().unwrap_or_default().to_owned();
    server.edit("pods", &crashing, |pod| {
        let status = &mut pod["status"]["containerStatuses"][1];
        status["ready"] = false.into();
        let ended = json!({"exitCode": 137, "reason": "OOMKilled", "containerID": status["containerID"]});
        status["lastState"] = json!({ "terminated": ended });
        status["state"] = json!({"waiting": {"reason": "CrashLoopBackOff", "message": "back-off 40s restarting"}});
        for condition in pod["status"]["conditions"].as_array_mut().into_iter().flatten() {
            condition["status"] =
                if condition["type"] == "Ready" { "False".into() } else { condition["status"].take() };
        }
    });
    let before = format!("pod/{crashing} is not ready before the update, because of container side (CrashLoopBackOff)");
    let applied = run(&server, &format!("apply deploy/web {ASKED} --pods-only --yes")).ends_with(0).says(&before);
    applied.prints(&format!("pod/{crashing}  done, but side is not ready (CrashLoopBackOff)\n"));
    let status = run(&server, "status deploy/web").ends_with(0);
    status.prints("CrashLoopBackOff");
}

#[test]
fn it_is_asked_by_the_subresource_guarded_and_nothing_restarts() {
    let server = web();
    let before = container_ids(&server);
    let applied = run(&server, &format!("apply deploy/web {ASKED} --pods-only --yes")).ends_with(0);
    applied.prints("Resized: side in 3 pods. Restarted as planned: nothing; nothing else restarted; pods replaced: 0.");
    assert_eq!((requests(&server), container_ids(&server)), (vec![json!("30m"); 3], before));
    let sent = patches(&server);
    assert_eq!(sent.len(), 6);
    // Of pods alone each notes what there was before.
    let noted = |patch: &str| patch.contains("kubectl-inplace.io~1update") && patch.contains("10m");
    assert_eq!(sent.iter().filter(|patch| noted(&patch.body)).count(), 3);
    for patch in sent.iter().filter(|patch| patch.path.ends_with("/resize")) {
        let body: Vec<Value> = serde_json::from_str(&patch.body).expect("it is a patch");
        let tests = |path: &str| body.iter().any(|one| one["op"] == "test" && one["path"] == path);
        for path in [
            "/metadata/uid",
            "/metadata/deletionTimestamp",
            "/spec/containers/1/name",
            "/status/containerStatuses/1/containerID",
            "/spec/containers/1/resources/requests",
        ] {
            assert!(tests(path), "{path}: {body:?}");
        }
        let added: Vec<&Value> = body.iter().filter(|one| one["op"] != "test").collect();
        assert_eq!(added[0]["value"], json!({"cpu": "30m", "memory": "16Mi"}), "what is not asked for stays");
    }
}

#[test]
fn the_template_goes_along_and_undo_leads_back() {
    let server = with_controllers_of([workload()]);
    run(&server, &format!("apply deploy/web {ASKED} --yes")).ends_with(0);
    assert_eq!(requests(&server), vec![json!("30m"); 3]);
    let template = |server: &ApiServer| {
        server.objects("deployments")[0]["spec"]["template"]["spec"]["containers"][1]["resources"].clone()
    };
    assert_eq!(template(&server), json!({"requests": {"cpu": "30m", "memory": "16Mi"}, "limits": {"memory": "96Mi"}}));
    run(&server, "history deploy/web").prints("side requests.cpu").prints("complete");
    run(&server, &format!("plan deploy/web {ASKED} --detailed-exitcode")).ends_with(0);
    run(&server, "undo deploy/web --yes").ends_with(0).prints("Resized: side in 3 pods");
    assert_eq!(requests(&server), vec![json!("10m"); 3]);
    assert_eq!(template(&server)["limits"], json!({"memory": "64Mi"}));
}

#[test]
fn with_an_image_it_comes_first() {
    let server = web();
    let line = format!("apply deploy/web side=acme/side:v2 {ASKED} --pods-only --yes --min-ready-seconds 0");
    run(&server, &line).ends_with(0).prints("Resized: side in 3 pods. Restarted as planned: side in 3 pods");
    for pod in server.objects("pods") {
        let name = format!("/{}", pod["metadata"]["name"].as_str().unwrap_or_default());
        let sent: Vec<bool> = patches(&server)
            .iter()
            .filter(|sent| sent.path.contains(&name))
            .map(|sent| sent.path.ends_with("/resize"))
            .collect();
        assert_eq!(sent, [false, true, false], "the note, the resize, the image: the new container begins with it");
    }
}

#[test]
fn a_command_before_each_pod_comes_before_its_resize_too() {
    let server = web();
    let line = format!("apply deploy/web {ASKED} --pods-only --yes --before-pod");
    let typed = |command: &str| Binary::against(&server, line.split_whitespace().chain([command])).run();
    typed("exit 7").ends_with(4).prints("HookFailed");
    assert!(patches(&server).is_empty());
    let output = typed("echo $KUBECTL_INPLACE_POD >> log").ends_with(0);
    let sent = patches(&server);
    let pods = sent.iter().filter_map(|patch| patch.path.strip_suffix("/resize")?.rsplit('/').next());
    let log = output.folder.read("log").unwrap_or_default();
    // Once the first is proven the others go side by side.
    let (asked, resized): (BTreeSet<&str>, BTreeSet<&str>) = (log.lines().collect(), pods.collect());
    assert_eq!((asked.len(), log.lines().count(), asked), (3, 3, resized));
}

#[test]
fn what_the_node_puts_off_is_waited_for_and_said() {
    let server = with_controllers_of([workload()]);
    server.limit_cpu(2000, 500);
    let line = "apply deploy/web -c side --requests cpu=1 --yes --timeout 1s";
    let late = run(&server, line).ends_with(5);
    late.prints(
        "resize of side requests.cpu deferred by node node-a: Node didn't have enough resource: cpu, requested: 1000",
    )
    .prints("1 in progress, 2 not started");
    let status = run(&server, "status deploy/web").ends_with(0);
    status
        .prints("1 resize deferred")
        .prints("resize deferred by the node")
        .prints("side requests.cpu 10m, the template says 1");
    // What is asked for and not done is not taken for done by another run.
    run(&server, "resume deploy/web --yes --timeout 1s").ends_with(5).prints("deferred by node node-a");
    let followed = run(&server, "follow deploy/web --timeout 1s").ends_with(5);
    followed.prints("resize of side requests.cpu deferred by node node-a: Node didn't have enough resource");
    run(&server, "abort deploy/web --yes").ends_with(0).prints("Rolled back: deployment/web");
    assert_eq!(requests(&server), vec![json!("10m"); 3]);
    let more = run(&server, "plan deploy/web -c side --requests cpu=9 --detailed-exitcode").ends_with(3);
    more.prints("node didn't have enough allocatable resources");
}

#[test]
fn what_the_node_puts_off_is_taken_back_where_that_is_asked_for() {
    for pods_only in ["", " --pods-only"] {
        let server = with_controllers_of([workload()]);
        server.limit_cpu(2000, 500);
        let line = format!("apply deploy/web -c side --requests cpu=1 --deferred=undo --yes{pods_only}");
        let undone = run(&server, &line).ends_with(5);
        let undone = undone.prints("Deferred after").prints("A node has no room for it now.").prints(
            "resize of side requests.cpu deferred by node node-a: Node didn't have enough resource: cpu, requested: 1000",
        );
        let undone = undone.says("undo: taking deployment/web back (--deferred=undo)");
        assert!(!undone.stdout.contains("Resume:"), "{undone:#?}");
        assert_eq!(requests(&server), vec![json!("10m"); 3]);
        let asked = |pod: &Value| pod["spec"]["containers"][1]["resources"]["requests"]["cpu"].clone();
        assert_eq!(server.objects("pods").iter().map(asked).collect::<Vec<_>>(), vec![json!("10m"); 3]);
        let owner = &server.objects("deployments")[0];
        assert_eq!(owner["spec"]["template"]["spec"]["containers"][1]["resources"]["requests"]["cpu"], "10m");
        assert_eq!(owner["metadata"]["annotations"]["kubectl-inplace.io/rollout"], Value::Null);
    }
}

#[test]
fn what_the_node_puts_off_is_left_to_the_kubelet_where_that_is_asked_for() {
    let stateful = || {
        let fields = |cpu: &str| json!({"resources": {"requests": {"cpu": cpu, "memory": "16Mi"}}});
        Workload::stateful_set("web").container_with("app", "acme/app:v1", fields("20m")).container_with(
            "side",
            "acme/side:v1",
            fields("10m"),
        )
    };
    for (reference, plural, workload) in
        [("deploy/web", "deployments", workload()), ("sts/web", "statefulsets", stateful())]
    {
        let server = with_controllers_of([workload]);
        server.limit_cpu(2000, 500);
        // With an image, so that a container restarts besides: it does, and only the resize is left.
        let line = format!(
            "apply {reference} app=acme/app:v2 -c side --requests cpu=1 --deferred leave --yes --min-ready-seconds 0"
        );
        let left = run(&server, &line).ends_with(5);
        left.prints("Deferred after")
            .prints("3 pods keep what they have until the kubelets resize them")
            .prints("resize of side requests.cpu left to the kubelet of node node-a: Node didn't have")
            .prints("Pods: 3 left to the kubelet.")
            .prints("Roll back: kubectl inplace undo ")
            .prints("Follow: kubectl inplace follow ");
        assert_eq!(
            (requests(&server), images(&server, "app")),
            (vec![json!("10m"); 3], vec!["acme/app:v2".to_owned(); 3])
        );
        // Nothing of it holds the owner, and a pod that is made later has it from the template.
        let owner = &server.objects(plural)[0];
        assert_eq!(owner["metadata"]["annotations"]["kubectl-inplace.io/rollout"], Value::Null);
        assert_eq!(owner["spec"]["template"]["spec"]["containers"][1]["resources"]["requests"]["cpu"], "1");
        assert_eq!(
            (&owner["spec"]["paused"], owner["spec"]["updateStrategy"]["type"] == "OnDelete"),
            (&Value::Null, false)
        );
        run(&server, &format!("history {reference}")).prints("deferred");
        run(&server, &format!("status {reference}")).prints("resize deferred by the node");
        run(&server, &format!("follow {reference} --timeout 1s")).ends_with(5);
        let json =
            run(&server, &format!("apply {reference} -c side --requests cpu=900m --deferred=leave --yes -o json"));
        let summary: Vec<Value> =
            json.ends_with(5).stdout.lines().filter_map(|line| serde_json::from_str(line).ok()).collect();
        let summary = summary.iter().find(|line| line["type"] == "summary").expect("there is one");
        assert_eq!((&summary["result"], &summary["leftToKubelet"]), (&json!("deferred"), &json!(3)));
        assert_eq!(summary["proof"]["resized"], json!([]), "none has it");
        assert_eq!(
            (&summary["pods"][0]["phase"], &summary["pods"][0]["node"]),
            (&json!("resizeLeft"), &json!("node-a"))
        );
        server.limit_cpu(2000, 2000);
        run(&server, &format!("undo {reference} --yes")).ends_with(0);
        run(&server, &format!("undo {reference} --yes --to {}", first_id(&server, plural))).ends_with(0);
        assert_eq!(
            (requests(&server), images(&server, "app")),
            (vec![json!("10m"); 3], vec!["acme/app:v1".to_owned(); 3])
        );
    }
}

/// What pods cannot lose they keep, and a StatefulSet's have another label then, that of the revision: nothing of them changes.
#[test]
fn a_limit_that_goes_out_of_the_template_changes_no_pod() {
    let server = with_controllers_of([Workload::stateful_set("web").container("app", "acme/app:v1")]);
    let line = "apply sts/web -c app --limits memory=64Mi --yes -o json";
    let lines: Vec<Value> =
        run(&server, line).ends_with(3).stdout.lines().filter_map(|line| serde_json::from_str(line).ok()).collect();
    assert_eq!(lines.len(), 1, "another class: {lines:#?}");
    let fields = json!({"resources": {"requests": {"cpu": "10m", "memory": "16Mi"}}});
    let server = with_controllers_of([Workload::stateful_set("web").container_with("app", "acme/app:v1", fields)]);
    let lines: Vec<Value> =
        run(&server, line).ends_with(0).stdout.lines().filter_map(|line| serde_json::from_str(line).ok()).collect();
    let of = |word: &str| lines.iter().find(|line| line["type"] == word).expect("there is one").clone();
    assert_eq!(of("start")["pods"][0]["resized"], json!(["app"]));
    assert_eq!(of("summary")["proof"]["resized"], json!([{"container": "app", "pods": 3}]));
    let back = run(&server, "undo sts/web --yes").ends_with(0);
    back.prints("Complete in ").prints("No pod had to change.").says("pods that have the app limits.memory keep it");
}

/// The rollout that began first, as the history has it.
fn first_id(server: &ApiServer, plural: &str) -> String {
    let owner = &server.objects(plural)[0];
    let text = owner["metadata"]["annotations"]["kubectl-inplace.io/history"].as_str().unwrap_or_default();
    let entries: Vec<Value> = serde_json::from_str(text).unwrap_or_default();
    entries[0]["id"].as_str().unwrap_or_default().to_owned()
}

/// Who would keep the budget when the kubelet comes to it?
#[test]
fn a_container_that_restarts_for_its_resize_is_not_left_to_the_kubelet() {
    let server = with_controllers_of([with_policy()]);
    server.limit_cpu(2000, 500);
    let line = "apply deploy/web -c side --requests cpu=1 --limits memory=96Mi --deferred=leave --yes --timeout 1s";
    run(&server, line).ends_with(5).prints("Timed out after").prints("1 in progress, 2 not started");
}

#[test]
fn a_permission_that_no_default_role_has_is_asked_for_first() {
    let server = web();
    server.fault(When::verb("patch").of("pods/resize"), Effect::Forbid);
    let refused = run(&server, &format!("apply deploy/web {ASKED} --pods-only --yes")).ends_with(3);
    refused.prints("PermissionMissing: you may not patch pods/resize");
    let plan = run(&server, &format!("plan deploy/web {ASKED}")).ends_with(0);
    plan.prints(
        "hint: the Role that gives them is printed by: kubectl inplace rbac apply deployment --optional -n default",
    );
    assert!(patches(&server).is_empty());
    run(&server, "apply deploy/web side=acme/side:v2 --pods-only --yes --min-ready-seconds 0").ends_with(0);
}

#[test]
fn whose_it_is_has_to_be_said() {
    let server = web();
    run(&server, "plan deploy/web --requests cpu=1").ends_with(1).says("several containers: app, side");
    run(&server, "plan deploy/web --requests cpu=1 --all-containers").ends_with(0).prints("app requests.cpu");
    run(&server, "plan deploy/web -c sied --requests cpu=1").ends_with(0).prints("did you mean side?");
    run(&server, "plan deploy/web -c side").ends_with(1).says("neither --image, --requests nor --limits");
    run(&server, "plan deploy/web -c side --limits cpu=x").ends_with(1).says("is not a quantity of cpu");
}

fn with_policy() -> Workload {
    let fields = json!({"resources": {"requests": {"cpu": "20m", "memory": "16Mi"}, "limits": {"memory": "64Mi"}},
        "resizePolicy": [{"resourceName": "memory", "restartPolicy": "RestartContainer"}],
        "readinessProbe": {"tcpSocket": {"port": 80}, "periodSeconds": 1}});
    Workload::deployment("web").container_with("app", "acme/app:v1", json!({})).container_with(
        "side",
        "acme/side:v1",
        fields,
    )
}

#[test]
fn a_container_that_restarts_for_its_resize_is_updated_like_one_with_another_image() {
    let server = with_controllers_of([with_policy()]);
    let before = container_ids(&server);
    let line = "deploy/web -c side --limits memory=96Mi";
    let plan = run(&server, &format!("plan {line}")).ends_with(0);
    plan.prints("side restarts in place").prints("side                 acme/side:v1   (unchanged)   restarts in place");
    let applied = run(&server, &format!("apply {line} --yes")).ends_with(0);
    applied.says("3 pods, at most 1 down at a time").prints(
        "Resized: side in 3 pods. Restarted as planned: side in 3 pods; nothing else restarted; pods replaced: 0.",
    );
    let limits = |server: &ApiServer| -> Vec<Value> {
        let of = |pod: &Value| pod["status"]["containerStatuses"][1]["resources"]["limits"]["memory"].clone();
        server.objects("pods").iter().map(of).collect()
    };
    assert_eq!(limits(&server), vec![json!("96Mi"); 3]);
    let after = container_ids(&server);
    assert!(after.iter().all(|id| !before.contains(id)), "each is another one");
    // A note, and the resize that rests on it.
    let of_pods: Vec<bool> = patches(&server)
        .iter()
        .filter(|sent| sent.path.contains("/pods/"))
        .map(|sent| sent.path.ends_with("/resize"))
        .collect();
    assert_eq!(of_pods, [false, true, false, true, false, true]);
    run(&server, &format!("plan {line} --detailed-exitcode")).ends_with(0);
    run(&server, "undo deploy/web --yes").ends_with(0).prints("Restarted as planned: side in 3 pods");
    assert_eq!(limits(&server), vec![json!("64Mi"); 3]);
    // What the policy does not restart stays up.
    let cpu = run(&server, "apply deploy/web -c side --requests cpu=30m --yes").ends_with(0);
    cpu.prints("Restarted as planned: nothing");
}

#[test]
fn with_an_image_such_a_container_restarts_twice_and_the_plan_says_so() {
    let server = with_controllers_of([with_policy()]);
    let line = "deploy/web side=acme/side:v2 -c side --limits memory=96Mi";
    run(&server, &format!("plan {line}")).ends_with(0).prints("acme/side:v2   restarts in place, twice");
    let applied = run(&server, &format!("apply {line} --yes")).ends_with(0);
    applied.prints(
        "Resized: side in 3 pods. Restarted as planned: side in 3 pods (3 of them twice); nothing else restarted",
    );
    let of = |pod: &Value| pod["status"]["containerStatuses"][1]["restartCount"].clone();
    assert_eq!(server.objects("pods").iter().map(of).collect::<Vec<_>>(), vec![json!(2); 3]);
    run(&server, "undo deploy/web --yes")
        .ends_with(0)
        .prints("Resized: side in 3 pods. Restarted as planned: side in 3 pods");
}

#[test]
fn killed_at_every_write_it_is_finished_or_taken_back() {
    let mut cases = Vec::new();
    for (image, of_pods) in [("", 3), ("side=acme/side:v2", 6)] {
        for (verb, wanted) in [("resume", "96Mi"), ("abort", "64Mi")] {
            let writes = (0..of_pods).map(|nth| ("pods", nth)).chain((0..3).map(|nth| ("pods/resize", nth)));
            cases.extend(writes.map(|write| (image, verb, wanted, write)));
        }
    }
    side_by_side(cases, |(image, verb, wanted, (plural, nth))| {
        let server = with_controllers_of([with_policy()]);
        let what = format!("{image} {verb} {plural} {nth}");
        let uids = || server.objects("pods").iter().map(|pod| pod["metadata"]["uid"].clone()).collect::<Vec<_>>();
        let before = uids();
        let is_it =
            |sent: &Logged| sent.path.contains("/pods/") && sent.path.ends_with("/resize") == (plural != "pods");
        server.fault(When::verb("patch").of(plural).for_real().after(nth), Effect::NoAnswer);
        let line = format!("apply deploy/web {image} -c side --limits memory=96Mi --yes");
        let running = typed(&server, &line).spawn();
        eventually("the write", || (patches(&server).iter().filter(|sent| is_it(sent)).count() > nth).then_some(()));
        running.signal("KILL");
        assert_eq!(running.wait().code, None, "{what}");
        server.clear_faults();
        run(&server, &format!("{verb} deploy/web --yes")).ends_with(0);
        let side = |path: &str| {
            let of = |pod: &Value| pod["status"]["containerStatuses"][1].pointer(path).cloned().unwrap_or_default();
            server.objects("pods").iter().map(of).collect::<Vec<_>>()
        };
        assert_eq!(side("/resources/limits/memory"), vec![json!(wanted); 3], "{what}");
        assert_eq!(side("/ready"), vec![json!(true); 3], "{what}");
        let template = &server.objects("deployments")[0]["spec"]["template"]["spec"]["containers"][1];
        assert_eq!(template["resources"]["limits"]["memory"], wanted, "{what}");
        assert_eq!(uids(), before, "{what}");
    });
}

#[test]
fn a_resize_of_pods_alone_is_recorded_and_taken_back() {
    let server = with_controllers_of([workload()]);
    run(&server, &format!("apply deploy/web {ASKED} --pods-only --yes")).ends_with(0);
    run(&server, "history deploy/web").ends_with(0).prints("side requests.cpu").prints("pods only");
    run(&server, "undo deploy/web --yes --dry-run=server").ends_with(0).prints("side requests.cpu");
    let undone = run(&server, "undo deploy/web --yes").ends_with(0);
    undone.prints("Resized: side in 3 pods. Restarted as planned: nothing");
    assert_eq!(requests(&server), vec![json!("10m"); 3]);
    let limits = |pod: &Value| pod["spec"]["containers"][1]["resources"]["limits"]["memory"].clone();
    assert_eq!(server.objects("pods").iter().map(limits).collect::<Vec<_>>(), vec![json!("64Mi"); 3]);
    // Back again, and then with an image: both go back.
    run(&server, "undo deploy/web --yes").ends_with(0);
    assert_eq!(requests(&server), vec![json!("30m"); 3]);
    let both = "apply deploy/web side=acme/side:v2 -c side --requests cpu=40m --pods-only --yes --min-ready-seconds 0";
    run(&server, both).ends_with(0);
    run(&server, "undo deploy/web --yes --min-ready-seconds 0").ends_with(0);
    assert_eq!(requests(&server), vec![json!("30m"); 3]);
    assert_eq!(images(&server, "side"), ["acme/side:v1"; 3]);
    // What somebody has set since is not this update's.
    let name = server.objects("pods")[0]["metadata"]["name"].as_str().unwrap_or_default().to_owned();
    run(&server, "apply deploy/web -c side --requests cpu=50m --pods-only --yes").ends_with(0);
    run(&server, &format!("apply deploy/web -c side --requests cpu=60m --pods-only --pods {name} --yes")).ends_with(0);
    run(&server, "undo deploy/web --yes").ends_with(0).prints("Resized: side in 1 pod.");
    assert_eq!(requests(&server), vec![json!("50m"); 3]);
}

#[test]
fn a_manifest_brings_back_what_was_resized_in_the_pods_alone() {
    let server = with_controllers_of([workload()]);
    let manifest = server.objects("deployments")[0].clone();
    let with_file = |line: &str| typed(&server, line).file("web.json", &manifest.to_string()).run();
    with_file("plan -f web.json --detailed-exitcode").ends_with(0);
    run(&server, &format!("apply deploy/web {ASKED} --pods-only --yes")).ends_with(0);
    let plan = with_file("plan -f web.json --detailed-exitcode").ends_with(2);
    plan.prints("side requests.cpu").prints("side limits.memory").prints("can be updated in place: 3 pods");
    with_file("apply -f web.json --yes").ends_with(0).prints("Resized: side in 3 pods");
    assert_eq!(requests(&server), vec![json!("10m"); 3]);
    with_file("plan -f web.json --detailed-exitcode").ends_with(0);
}

/// A pod whose kubelet has put a resize off, while the others are done or wait.
fn put_off(server: &ApiServer) -> String {
    let deferred = |pod: &&Value| {
        let conditions = pod["status"]["conditions"].as_array();
        conditions.into_iter().flatten().any(|condition| condition["reason"] == "Deferred")
    };
    let find = || server.objects("pods").iter().find(deferred).map(|pod| pod["metadata"]["name"].clone());
    eventually("a resize that is put off", find).as_str().unwrap_or_default().to_owned()
}

#[test]
fn another_client_that_resizes_meanwhile_is_named_and_its_pod_is_not_said_to_be_gone() {
    let server = with_controllers_of([workload()]);
    server.limit_cpu(2000, 500);
    let line = "apply deploy/web -c side --requests cpu=1 --yes --timeout 60s";
    let running = typed(&server, line).spawn();
    let name = put_off(&server);
    let cpu = |pod: &mut Value| pod["spec"]["containers"][1]["resources"]["requests"]["cpu"] = json!("33m");
    server.edit("pods", &name, cpu);
    let ended = running.wait().ends_with(6);
    assert!(!ended.stdout.contains("gone") && !ended.stderr.contains("GONE"), "{ended:#?}");
    ended
        .prints("CONFLICT: its spec.containers[side].resources.requests.cpu was changed by another client")
        .prints("1 changed outside this run");
    let reported = format!("{name}: side requests.cpu is 33m, which this rollout has not set; it gets 1\n");
    run(&server, "resume deploy/web --dry-run=client").ends_with(0).prints(&reported);
    run(&server, "abort deploy/web --yes").ends_with(0);
    assert_eq!(requests(&server), vec![json!("10m"); 3]);
}

#[test]
fn what_the_kubelet_says_again_with_other_amounts_is_reported_once() {
    let server = with_controllers_of([workload()]);
    server.limit_cpu(2000, 500);
    let running = typed(&server, "apply deploy/web -c side --requests cpu=1 --yes --timeout 3s").spawn();
    let name = put_off(&server);
    for used in [1510, 1520, 1530] {
        let message = format!("Node didn't have enough resource: cpu, requested: 1000, used: {used}, capacity: 2000");
        server.edit("pods", &name, |pod| {
            let conditions = pod["status"]["conditions"].as_array_mut();
            for condition in conditions.into_iter().flatten().filter(|one| one["reason"] == "Deferred") {
                condition["message"] = json!(message);
            }
        });
        // Each is seen by itself.
        sleep(Duration::from_millis(200));
    }
    let late = running.wait().ends_with(5);
    let reported = late.stderr.lines().filter(|line| line.starts_with('[') && line.contains(", used: "));
    assert_eq!(reported.count(), 1, "{late:#?}");
    late.prints("used: 1530");
    let undone = run(&server, "abort deploy/web --yes").ends_with(0);
    undone.prints("Rolled back: deployment/web");
}
