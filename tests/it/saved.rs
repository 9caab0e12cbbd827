//! Saved plans: done exactly, without a question, and refused before the first write when anything has changed.

use serde_json::Value;

use crate::support::api_server::{ApiServer, Effect, When};
use crate::support::run::Output;
use crate::support::scene::{images, run, typed, with_controllers};

/// Saves a plan for another sidecar, and returns the content of the file.
fn save(server: &ApiServer) -> String {
    let output = run(server, "plan deploy/web side=acme/side:v2 --out web.plan --max-unavailable 2").ends_with(0);
    let output = output.prints("Next: kubectl inplace apply --plan web.plan");
    output.folder.read("web.plan").expect("the plan was saved")
}

fn carry_out(server: &ApiServer, plan: &str) -> Output {
    typed(server, "apply --plan web.plan").file("web.plan", plan).run()
}

#[test]
fn a_saved_plan_is_done_without_a_question() {
    let server = with_controllers();
    let plan = save(&server);
    assert!(server.writes().is_empty(), "saving changes nothing");
    carry_out(&server, &plan).ends_with(0).prints("Updated 3 pods in place");
    assert_eq!(images(&server, "side"), ["acme/side:v2"; 3]);
    let maximum = serde_json::from_str::<Value>(&plan).expect("it is JSON")["workloads"][0]["plan"]["policy"].clone();
    assert_eq!(maximum["maxUnavailable"], 2, "the plan's own policy is kept");
}

#[test]
fn the_way_back_of_a_saved_plan_has_the_flags_that_were_given() {
    for (given, flags) in [("", ""), (" --disruption-budget ignore", " --disruption-budget ignore")] {
        let server = with_controllers();
        let line = format!("plan deploy/web side=acme/side:v2 --min-ready-seconds 0 --out web.plan{given}");
        let plan = run(&server, &line).ends_with(0).folder.read("web.plan").expect("the plan was saved");
        let output = carry_out(&server, &plan).ends_with(0);
        let printed = output.after("Roll back: ");
        assert_eq!(printed, format!("kubectl inplace undo deployment/web --min-ready-seconds 0{flags}"));
    }
}

#[test]
fn a_stale_plan_is_refused_before_the_first_write_and_names_what_changed() {
    type Change = (&'static str, fn(&ApiServer, &str));
    let cases: [Change; 4] = [
        ("has the image acme/side:v9; it was acme/side:v1", |server, pod| {
            server.edit("pods", pod, |pod| pod["spec"]["containers"][1]["image"] = "acme/side:v9".into());
        }),
        ("is gone, or another pod has its name", |server, pod| server.delete("pods", pod)),
        ("the template of deployment/web changed: template.spec.containers[app].image", |server, _| {
            server.edit("deployments", "web", |web| {
                web["spec"]["template"]["spec"]["containers"][0]["image"] = "acme/app:v2".into();
            });
        }),
        ("was deleted and re-created", |server, _| {
            server.edit("deployments", "web", |web| web["metadata"]["uid"] = "another".into());
        }),
    ];
    for (reported, change) in cases {
        let server = with_controllers();
        let plan = save(&server);
        let pods = server.objects("pods");
        change(&server, pods[0]["metadata"]["name"].as_str().expect("a name"));
        let stale = carry_out(&server, &plan).ends_with(6);
        stale.says(reported).says("PlanStale: ").says("nothing was changed").says("plan again");
        let json = typed(&server, "apply --plan web.plan -o json").file("web.plan", &plan).run().ends_with(6);
        let document: Value = serde_json::from_str(&json.stdout).expect("JSON");
        assert_eq!(document["result"], "superseded");
        assert_eq!(document["workloads"][0]["reasons"][0]["code"], "PlanStale");
        assert!(server.writes().is_empty(), "{reported}");
    }
}

#[test]
fn a_status_write_makes_no_plan_stale() {
    let server = with_controllers();
    let plan = save(&server);
    let name = server.objects("pods")[0]["metadata"]["name"].as_str().expect("a name").to_owned();
    server.edit("pods", &name, |pod| pod["metadata"]["labels"]["seen"] = "yes".into());
    carry_out(&server, &plan).ends_with(0);
}

#[test]
fn what_is_no_plan_for_this_server_is_refused() {
    let server = with_controllers();
    let plan = save(&server);
    let other = with_controllers();
    carry_out(&other, &plan).ends_with(1).says("the plan was made for the server");
    for (text, reported) in [
        ("", "it is no saved plan"),
        ("{", "it is no saved plan"),
        (r#"{"apiVersion":"v1","kind":"Pod"}"#, "it is a Pod of v1"),
        (r#"{"apiVersion":"kubectl-inplace.io/v1alpha1","kind":"SavedPlan"}"#, "it is no saved plan"),
    ] {
        carry_out(&server, text).ends_with(1).says(reported);
    }
    run(&server, "apply --plan missing.plan").ends_with(1).says("missing.plan");
    let elsewhere = typed(&server, "apply --plan web.plan -n prod").file("web.plan", &plan).run().ends_with(1);
    elsewhere.says("--namespace cannot be used with --plan");
    for other in ["deploy/web", "--all", "-k base"] {
        run(&server, &format!("apply {other} --plan web.plan")).ends_with(1).says("cannot be used with");
    }
    run(&server, "plan deploy/web side=:v2 --out no/such/folder/web.plan").ends_with(1).says("could not be saved");
    assert!(server.writes().is_empty() && other.writes().is_empty());
}

/// What the server said when the plan was made is not said again before it is asked.
#[test]
fn a_saved_plan_is_asked_about_again() {
    let server = with_controllers();
    let plan = save(&server);
    let dry =
        |kind: &str| typed(&server, &format!("apply --plan web.plan --dry-run={kind}")).file("web.plan", &plan).run();
    dry("client").ends_with(0).prints("Not validated by the server").omits("dry run succeeded");
    dry("server").ends_with(0).prints("Server-side dry run succeeded.");
    let deny = || Effect::Deny { webhook: "policy".to_owned(), message: "not today".to_owned(), code: 403 };
    server.fault(When::verb("patch").of("pods").dry_run().times(1), deny());
    dry("server").ends_with(3).prints("AdmissionRefused").prints("not today");
    server.fault(When::verb("patch").of("pods"), Effect::Forbid);
    dry("client").ends_with(3).prints("PermissionMissing: you may not patch pods");
    carry_out(&server, &plan).ends_with(3);
    assert!(server.writes().is_empty());
}
