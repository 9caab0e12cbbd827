//! What goes wrong, and the endpoints beside the objects.

use std::time::Duration;

use serde_json::{Value, json};

use super::*;
use crate::support::api_server::{Answer, Effect, When};
use crate::support::{builders, clock};

#[test]
fn faults_strike_where_they_are_set_to() {
    let server = quiet_pod();
    let hit = |when: When, effect: Effect| {
        server.clear_faults();
        server.fault(when, effect);
        let got = try_send(&server, "PATCH", &format!("{PODS}/p"), JSON_PATCH, &image_patch("acme/app:v9").to_string());
        let done = server.object("pods", "p").is_some_and(|pod| pod["spec"]["containers"][0]["image"] == "acme/app:v9");
        server.edit("pods", "p", |pod| pod["spec"]["containers"][0]["image"] = "acme/app:v1".into());
        let text = got.map(|got| {
            format!("{} {}{}", got.code, got.message(), got.headers.get("retry-after").map_or("", |_| " (later)"))
        });
        (text, done)
    };
    let patches = || When::verb("patch").of("pods");
    let text = |text: &str| Some(text.to_owned());
    let throttled = "429 the server has received too many requests and has asked us to try again later";
    let denied = "403 admission webhook \"w.acme.example\" denied the request: no";
    let deny = Effect::Deny { webhook: "w.acme.example".to_owned(), message: "no".to_owned(), code: 403 };
    let own = Effect::Answer(Answer::json(418, json!({"message": "teapot"})));
    let forbidden = "403 pods \"p\" is forbidden: User \"jane\" cannot patch resource \"pods\" in API group \"\" in the namespace \"default\"";
    let cases = [
        (patches().named("p").in_namespace("default"), Effect::Forbid, text(forbidden), false),
        (patches(), Effect::Throttle(Some(1)), text(&format!("{throttled} (later)")), false),
        (patches(), Effect::Throttle(None), text(throttled), false),
        (patches(), Effect::Unavailable, text("503 the server is currently unable to handle the request"), false),
        (
            patches(),
            Effect::TimeOutAfterwards,
            text("504 Timeout: request did not complete within the allotted timeout"),
            true,
        ),
        (patches(), Effect::CloseBefore, None, false),
        (patches(), Effect::CloseAfterwards, None, true),
        (patches(), deny, text(denied), false),
        (patches(), own, text("418 teapot"), false),
        (patches().named("q"), Effect::Unavailable, text("200 "), true),
        (patches().after(1), Effect::Unavailable, text("200 "), true),
        (patches().dry_run(), Effect::Unavailable, text("200 "), true),
        (patches().for_real(), Effect::CloseBefore, None, false),
        (patches().times(0), Effect::Unavailable, text("200 "), true),
        (When::verb("get"), Effect::Unavailable, text("200 "), true),
        (patches(), Effect::delete_first("pods", "q"), text("200 "), true),
    ];
    for (index, (when, effect, answer, done)) in cases.into_iter().enumerate() {
        assert_eq!(hit(when, effect), (answer, done), "case {index}");
    }
}

#[test]
fn another_writer_a_late_answer_a_warning_and_access_reviews() {
    let server = quiet_pod();
    let guarded = json!([{"op": "test", "path": "/spec/containers/0/image", "value": "acme/app:v1"}]);
    server.fault(When::verb("patch").times(1), Effect::foreign_image("p", "app", "acme/app:foreign"));
    assert_eq!(patch(&server, "p", JSON_PATCH, &guarded).code, 422, "the test fails: somebody was faster");
    server.fault(When::verb("patch").times(1), Effect::delete_first("pods", "p"));
    assert_eq!(patch(&server, "p", JSON_PATCH, &guarded).code, 404);

    server.fault(When::verb("list"), Effect::Warn("a \"b\"".to_owned()));
    server.fault(When::verb("list"), Effect::Delay(Duration::from_millis(30)));
    let before = clock::now();
    let got = get(&server, PODS);
    assert_eq!(got.headers.get("warning").map(String::as_str), Some(r#"299 - "a \"b\"""#));
    assert!(clock::now().duration_since(before) >= Duration::from_millis(30));

    server.fault(When::verb("patch").of("deployments"), Effect::Forbid);
    let allowed = |verb: &str| {
        let asked = json!({"spec": {"resourceAttributes": {"verb": verb, "resource": "deployments", "group": "apps", "namespace": "default"}}});
        let path = "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews";
        send(&server, "POST", path, "application/json", &asked).body["status"]["allowed"].clone()
    };
    assert_eq!((allowed("patch"), allowed("get")), (json!(false), json!(true)));
    let writes = server.writes();
    assert_eq!(writes.len(), 2, "reviews are no writes");
    let first = writes.first().expect("there are two");
    assert_eq!(first.to_string(), format!("PATCH {PODS}/p json-patch"));
    assert_eq!((first.parameter("fieldManager"), first.user_agent.as_str()), (Some("me"), "raw/1.0"));
    assert_eq!(first.json(), guarded);
}

#[test]
fn evictions_logs_readiness_gates_and_discovery() {
    let server = ApiServer::start();
    server.insert([
        builders::namespace("prod"),
        builders::service("web", &json!({"app": "p"})),
        builders::budget("p", 0),
    ]);
    let gate = json!([{"conditionType": "acme.example/gate"}]);
    let pod = Workload::pod("p")
        .container("app", "acme/app:v1")
        .template(|template| template["spec"]["readinessGates"] = gate);
    server.insert(pod.objects());
    let evict = || send(&server, "POST", &format!("{PODS}/p/eviction?dryRun=All"), "application/json", &json!({}));
    let got = evict();
    assert_eq!((got.code, &got.body["details"]["causes"][0]["reason"]), (429, &json!("DisruptionBudget")));
    server.edit("poddisruptionbudgets", "p-budget", |budget| budget["status"]["disruptionsAllowed"] = 1.into());
    assert_eq!(evict().code, 201);

    server.change(|state| state.set_log("p", "app", "panic: no\n"));
    assert_eq!(get(&server, &format!("{PODS}/p/log?container=app&previous=true")).body, "panic: no\n");

    let ready = |pod: &Value| pod["status"]["conditions"][2].clone();
    server.wait_for("pods", "p", |pod| ready(pod)["reason"] == "ReadinessGatesNotReady");
    let condition = json!({"status": {"conditions": [{"type": "acme.example/gate", "status": "True"}]}});
    let got = send(&server, "PATCH", &format!("{PODS}/p/status"), STRATEGIC, &condition);
    assert_eq!(got.code, 200, "{}", got.body);
    server.wait_for("pods", "p", |pod| {
        let conditions = pod["status"]["conditions"].as_array().cloned().unwrap_or_default();
        conditions.iter().any(|one| one["type"] == "Ready" && one["status"] == "True")
    });
    let main = patch(&server, "p", MERGE, &json!({"status": {"phase": "Failed"}}));
    assert_eq!(main.body["status"]["phase"], "Running", "the main resource does not write status");

    assert_eq!(get(&server, "/version").body["gitVersion"], "v1.36.3");
    assert_eq!(get(&server, "/api").body["versions"], json!(["v1"]));
    let groups = get(&server, "/apis").body["groups"].clone();
    let names: Vec<&str> = groups.as_array().into_iter().flatten().filter_map(|group| group["name"].as_str()).collect();
    assert!(names.contains(&"apps") && names.contains(&"policy"), "{names:?}");
    let apps = get(&server, "/apis/apps/v1").body["resources"].to_string();
    assert!(apps.contains("\"deployments\"") && apps.contains("\"deployments/status\""), "{apps}");
}
