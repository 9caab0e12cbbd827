//! `--container-order`: within a pod one container after the other, also after a run that was killed in the middle.

use serde_json::{Value, json};

use crate::support::api_server::ApiServer;
use crate::support::builders::Workload;
use crate::support::run::Output;
use crate::support::scene::{images, patches, run, server_with, two_containers, typed, web, with_controllers};

const BOTH: &str = "deploy/web side=acme/side:v2 app=acme/app:v2 --yes --min-ready-seconds 0";

/// What each patch of a pod has set, in the order of the patches.
fn steps(server: &ApiServer) -> Vec<(String, Vec<String>)> {
    let of = |write: &crate::support::api_server::Logged| {
        let pod = write.path.rsplit('/').next()?.to_owned();
        let body: Value = serde_json::from_str(&write.body).ok()?;
        let set = |operation: &Value| {
            let is_image = operation["op"] == "replace" && operation["path"].as_str()?.ends_with("/image");
            is_image.then(|| operation["value"].as_str().map(str::to_owned))?
        };
        let images: Vec<String> = body.as_array()?.iter().filter_map(set).collect();
        (write.path.contains("/pods/") && !images.is_empty()).then_some((pod, images))
    };
    patches(server).iter().filter_map(of).collect()
}

/// Of each pod what its patches set, one after the other.
fn by_pod(server: &ApiServer) -> Vec<Vec<Vec<String>>> {
    let mut pods: std::collections::BTreeMap<String, Vec<Vec<String>>> = Default::default();
    for (pod, images) in steps(server) {
        pods.entry(pod).or_default().push(images);
    }
    pods.into_values().collect()
}

fn of(images: &[&str]) -> Vec<Vec<String>> {
    images.iter().map(|image| vec![(*image).to_owned()]).collect()
}

#[test]
fn containers_change_in_the_order_that_is_given_and_pods_one_after_the_other() {
    for (order, wanted) in [
        ("side,app", ["acme/side:v2", "acme/app:v2"]),
        ("app,side", ["acme/app:v2", "acme/side:v2"]),
        ("app", ["acme/app:v2", "acme/side:v2"]),
    ] {
        let server = web();
        let output = run(&server, &format!("apply {BOTH} --pods-only --container-order {order}")).ends_with(0);
        assert_eq!(by_pod(&server), vec![of(&wanted); 3], "{order}");
        let pods: Vec<String> = steps(&server).into_iter().map(|(pod, _)| pod).collect();
        assert!(pods.chunks(2).all(|two| two[0] == two[1]), "{pods:?}");
        output.prints("nothing else restarted").says("next: ");
    }
    let server = web();
    run(&server, &format!("apply {BOTH} --pods-only")).ends_with(0);
    assert_eq!(steps(&server).len(), 3, "without an order all at once");
}

#[test]
fn the_plan_says_the_order_and_counts_every_step() {
    let server = web();
    let plan = "plan deploy/web side=acme/side:v2 app=acme/app:v2 --pods-only -o json";
    let json = |more: &str| run(&server, &format!("{plan} {more}")).ends_with(0).json()["workloads"][0].clone();
    let (together, ordered) = (json("--min-ready-seconds 7"), json("--min-ready-seconds 7 --container-order app,side"));
    assert_eq!(ordered["policy"]["containerOrder"], json!(["app", "side"]));
    assert_eq!(together["policy"].get("containerOrder"), None);
    let seconds = |plan: &Value| plan["estimateSeconds"].as_f64().unwrap_or_default();
    assert!(seconds(&ordered) >= seconds(&together) + 3.0 * 7.0);
    let codes = |plan: &Value| plan["warnings"].to_string();
    assert!(codes(&together).contains("RestartInSeries") && !codes(&ordered).contains("RestartInSeries"));
    run(&server, "plan deploy/web side=acme/side:v2 app=acme/app:v2 --pods-only --container-order side")
        .ends_with(0)
        .prints("In each pod: side, then app; each once the one before is verified and ready.");
}

#[test]
fn an_order_may_only_name_what_changes() {
    let server = web();
    for (line, reported, hint) in [
        (
            "apply deploy/web side=acme/side:v2 --yes --container-order sid",
            "no container is called sid",
            "did you mean side?",
        ),
        (
            "plan deploy/web side=acme/side:v2 --container-order app,side",
            "container app does not change",
            "what changes: side",
        ),
        ("plan deploy/web side=acme/side:v2 --container-order side,side", "container side is named twice", "once"),
        (
            "restart deploy/web -c side --yes --container-order app",
            "container app does not change",
            "what changes: side",
        ),
    ] {
        run(&server, line).ends_with(1).says(&format!("--container-order: {reported}")).says(hint);
    }
    assert!(steps(&server).is_empty());
    run(&server, &format!("apply {BOTH} --pods-only --container-order app,side")).ends_with(0);
    run(&server, &format!("apply {BOTH} --pods-only --container-order app,side")).ends_with(0).prints("No changes.");
}

#[test]
fn each_of_several_workloads_gets_the_order_of_what_changes_in_it() {
    let server = server_with(["web", "api"].map(|name| two_containers(Workload::deployment(name))));
    run(&server, "apply deploy/api app=acme/app:v2 --pods-only --yes --min-ready-seconds 0").ends_with(0);
    let plan = format!("plan deploy/api {BOTH} --pods-only --container-order app,side -o json").replace("--yes ", "");
    let orders = |plan: &Value| plan["policy"].get("containerOrder").cloned();
    let workloads = run(&server, &plan).ends_with(0).json()["workloads"].as_array().cloned().unwrap_or_default();
    let mut orders: Vec<_> = workloads.iter().map(orders).collect();
    orders.sort_by_key(|order| order.as_ref().map(ToString::to_string));
    assert_eq!(orders, [Some(json!(["app", "side"])), Some(json!(["side"]))]);
}

#[test]
fn a_saved_plan_keeps_its_order() {
    let server = web();
    let plan = "plan deploy/web side=acme/side:v2 app=acme/app:v2 --pods-only --min-ready-seconds 0";
    let saved = run(&server, &format!("{plan} --container-order side,app --out web.plan")).ends_with(0);
    let text = saved.folder.read("web.plan").unwrap_or_default();
    typed(&server, "apply --plan web.plan").file("web.plan", &text).run().ends_with(0);
    assert_eq!(by_pod(&server), vec![of(&["acme/side:v2", "acme/app:v2"]); 3]);
}

/// Kills a run whose first pod has its first container, and not its second.
fn killed_in_the_middle(pods_only: bool) -> ApiServer {
    let server = with_controllers();
    let only = if pods_only { " --pods-only" } else { "" };
    let line = format!("apply {BOTH}{only} --container-order side,app").replace("seconds 0", "seconds 30");
    let running = typed(&server, &line).spawn();
    running.wait_for_stderr("stabilizing");
    running.signal("KILL");
    running.wait();
    assert_eq!(by_pod(&server), [of(&["acme/side:v2"])]);
    let records: Vec<Value> = server.objects("pods").iter().filter_map(record).collect();
    assert_eq!(records.len(), 1);
    assert_eq!(records[0]["containers"]["side"]["from"], "acme/side:v1");
    assert_eq!(records[0]["later"], json!({"app": {"from": "acme/app:v1", "to": "acme/app:v2"}}));
    server
}

fn record(pod: &Value) -> Option<Value> {
    serde_json::from_str(pod["metadata"]["annotations"]["kubectl-inplace.io/update"].as_str()?).ok()
}

#[test]
fn a_run_that_goes_on_keeps_to_the_order() {
    let server = killed_in_the_middle(false);
    let resumed: Output = run(&server, "resume deploy/web --yes --min-ready-seconds 0").ends_with(0);
    resumed.prints("nothing else restarted");
    assert_eq!(by_pod(&server), vec![of(&["acme/side:v2", "acme/app:v2"]); 3]);
    for pod in server.objects("pods") {
        let counts = pod["status"]["containerStatuses"].as_array().into_iter().flatten();
        assert!(counts.clone().all(|status| status["restartCount"] == 1), "{pod}");
        let record = record(&pod).unwrap_or_default();
        assert!(record.get("later").is_none() && record["containers"].as_object().is_some_and(|all| all.len() == 2));
    }
    run(&server, "undo deploy/web --yes --min-ready-seconds 0 --container-order app,side").ends_with(0);
    assert_eq!(
        (images(&server, "side"), images(&server, "app")),
        (vec!["acme/side:v1".to_owned(); 3], vec!["acme/app:v1".to_owned(); 3])
    );
}

#[test]
fn what_was_changed_so_far_goes_back_from_the_middle() {
    let server = killed_in_the_middle(false);
    run(&server, "resume deploy/web --yes --container-order appp").ends_with(1).says("did you mean app?");
    run(&server, "abort deploy/web --yes --min-ready-seconds 0").ends_with(0);
    assert_eq!(by_pod(&server), [of(&["acme/side:v2", "acme/side:v1"])]);
    let server = killed_in_the_middle(true);
    run(&server, "undo deploy/web --yes --min-ready-seconds 0").ends_with(0);
    assert_eq!(by_pod(&server), [of(&["acme/side:v2", "acme/side:v1"])]);
    assert_eq!(images(&server, "app"), ["acme/app:v1"; 3]);
}

/// Equal bits leave the restart alone as evidence, and the next run's own note moves the time in the managed fields.
#[test]
fn a_run_killed_between_two_containers_of_the_same_digest_is_completed() {
    use crate::support::api_server::{Effect, When};
    use crate::support::clock;
    for (more, verb) in [("", "resume deploy/web"), (" --pods-only", "apply ")] {
        let server = with_controllers();
        let line = format!(
            "deploy/web side=acme/side:v1-again app=acme/app:v1-again --yes --min-ready-seconds 0 \
             --container-order side,app --timeout 20s{more}"
        );
        server.fault(When::verb("patch").of("pods").for_real().after(1), Effect::NoAnswer);
        let running = typed(&server, &format!("apply {line}")).spawn();
        let sent = || patches(&server).iter().filter(|patch| patch.path.contains("/pods/")).count() > 1;
        clock::eventually("the second patch", || sent().then_some(()));
        running.signal("KILL");
        assert_eq!(running.wait().code, None, "killed");
        server.clear_faults();
        // The times of the API are whole seconds.
        clock::sleep(std::time::Duration::from_millis(2_100));
        let line = if more.is_empty() {
            format!("{verb} --yes --min-ready-seconds 0 --timeout 20s")
        } else {
            format!("{verb}{line}")
        };
        run(&server, &line).ends_with(0);
        assert_eq!(images(&server, "side"), ["acme/side:v1-again"; 3], "{more}");
        assert_eq!(images(&server, "app"), ["acme/app:v1-again"; 3], "{more}");
    }
}
