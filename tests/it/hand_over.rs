//! Going first: what `apply --if-possible` does and leaves, what the next apply would change, and `release-fields`.

use std::sync::Arc;

use serde_json::{Value, json};

use crate::support::api_server::{ApiServer, Effect, When};
use crate::support::builders::Workload;
use crate::support::run::Output;
use crate::support::scene::{images, probe, two_containers, typed, with_controllers, with_controllers_of};

const FIRST: &str = "apply -f web.yaml --if-possible --yes --min-ready-seconds 0";

/// A manifest of `web` with this image for `side`; `more` is put into the pod's spec.
fn manifest(side: &str, more: &Value) -> Value {
    let container = |name: &str, image: &str| with(json!({"name": name, "image": image}), &probe());
    let spec = with(json!({"containers": [container("app", "acme/app:v1"), container("side", side)]}), more);
    json!({"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "web"}, "spec": {
        "replicas": 3, "selector": {"matchLabels": {"app": "web"}},
        "template": {"metadata": {"labels": {"app": "web"}}, "spec": spec}}})
}

/// An object with the fields of another.
fn with(mut object: Value, more: &Value) -> Value {
    let more = more.as_object().into_iter().flatten();
    more.for_each(|(field, value)| object[field] = value.clone());
    object
}

fn first(server: &ApiServer, line: &str, manifests: &[Value]) -> Output {
    let list = json!({"apiVersion": "v1", "kind": "List", "items": manifests});
    typed(server, line).file("web.yaml", &list.to_string()).run()
}

/// `web` as another manager has applied it from the server's side, and what others have set since.
fn applied_by(manager: &str, others: &[(&str, Value)]) -> ApiServer {
    let server = with_controllers();
    apply_as(&server, "web", manager, others);
    server
}

fn apply_as(server: &ApiServer, name: &str, manager: &str, others: &[(&str, Value)]) {
    let entry = |manager: &str, operation: &str, spec: &Value| {
        json!({"manager": manager, "operation": operation, "apiVersion": "apps/v1", "time": "2026-01-01T00:00:00Z",
            "fieldsType": "FieldsV1", "fieldsV1": {"f:spec": {"f:template": {"f:spec": spec}}}})
    };
    let own = json!({"f:containers": {"k:{\"name\":\"side\"}": {".": {}, "f:image": {}, "f:name": {}}}});
    let entries: Vec<Value> = std::iter::once(entry(manager, "Apply", &own))
        .chain(others.iter().map(|(name, fields)| entry(name, "Update", fields)))
        .collect();
    server.edit("deployments", name, |found| found["metadata"]["managedFields"] = entries.into());
}

fn image_of(container: &str) -> Value {
    json!({"f:containers": {format!("k:{{\"name\":\"{container}\"}}"): {"f:image": {}}}})
}

/// The line of that type, without its times.
fn line(output: &Output, name: &str) -> Value {
    output.json_lines().into_iter().rfind(|line| line["type"] == name).unwrap_or_default()
}

#[test]
fn what_can_be_done_in_place_is_and_the_rest_is_left() {
    let none = json!({});
    for (manifests, code, last) in [
        (vec![manifest("acme/side:v2", &none)], "inPlace", "Roll back: "),
        (vec![manifest("acme/side:v1", &none)], "inPlace", "deployment/web: nothing to do"),
        (
            vec![manifest("acme/side:v2", &json!({"hostNetwork": true}))],
            "left",
            "deployment/web: left to the next apply: TemplateFieldNotInPlace",
        ),
    ] {
        for is_json in [false, true] {
            let server = with_controllers();
            let before = server.objects("pods");
            let output = first(&server, &format!("{FIRST}{}", if is_json { " -o json" } else { "" }), &manifests);
            let output = output.ends_with(0);
            if is_json {
                let end = line(&output, "end");
                assert_eq!((&end["handedOver"], &end["exitCode"]), (&json!(code), &json!(0)), "{}", output.block());
                assert_eq!(line(&output, "workload")["handedOver"], code, "{}", output.block());
            } else {
                let found = output.stdout.lines().last().unwrap_or_default().to_owned();
                assert!(found.starts_with(last), "{}", output.block());
            }
            let is_written = code == "inPlace" && last.starts_with("Roll");
            assert_eq!(!server.writes().is_empty(), is_written, "{}", output.block());
            let uid = |pods: &[Value]| pods.iter().map(|pod| pod["metadata"]["uid"].clone()).collect::<Vec<_>>();
            assert_eq!(uid(&before), uid(&server.objects("pods")));
        }
    }
}

#[test]
fn what_is_not_there_yet_is_left_whatever_is_missing() {
    let server = with_controllers();
    let mut new = manifest("acme/side:v1", &json!({}));
    new["metadata"]["name"] = json!("new");
    let output = first(&server, FIRST, std::slice::from_ref(&new)).ends_with(0);
    assert!(output.stdout.ends_with("deployment/new: not there yet: left to the next apply\n"), "{}", output.block());
    new["metadata"]["namespace"] = json!("none");
    let output = first(&server, &format!("{FIRST} -o json"), std::slice::from_ref(&new)).ends_with(0);
    assert_eq!(line(&output, "end")["handedOver"], "absent");
    new["metadata"]["namespace"] = json!("default");
    (new["apiVersion"], new["kind"]) = (json!("apps.kruise.io/v1alpha1"), json!("CloneSet"));
    first(&server, FIRST, &[new]).ends_with(0).prints("cloneset/new: not there yet");
    let service = json!({"apiVersion": "v1", "kind": "Service", "metadata": {"name": "web"}});
    first(&server, FIRST, std::slice::from_ref(&service)).ends_with(0).prints("nothing to do: there is no workload in");
    let output = first(&server, &format!("{FIRST} -o json"), &[service]).ends_with(0);
    let end = line(&output, "end");
    assert_eq!((&end["workloads"], end.get("handedOver")), (&json!(0), None));
    // The output of a command that failed is no chart without workloads.
    typed(&server, "apply -f - --if-possible --yes").stdin(b"").run().ends_with(1).says("no objects in");
    assert!(server.writes().is_empty());
}

#[test]
fn each_of_several_ends_by_itself() {
    let server = with_controllers_of(["web", "api"].map(|name| two_containers(Workload::deployment(name))));
    let named = |name: &str, side: &str, more: &Value| {
        let text = manifest(side, more).to_string().replace("\"web\"", &format!("\"{name}\""));
        serde_json::from_str::<Value>(&text).expect("it is JSON still")
    };
    let none = json!({});
    let all = [
        named("api", "acme/side:v2", &json!({"hostNetwork": true})),
        json!({"apiVersion": "v1", "kind": "Service", "metadata": {"name": "web"}}),
        named("new", "acme/side:v1", &none),
        named("web", "acme/side:v2", &none),
    ];
    let output = first(&server, FIRST, &all).ends_with(0);
    let output = output.prints("deployment/api: left to the next apply: TemplateFieldNotInPlace");
    let output =
        output.prints("deployment/new: not there yet: left to the next apply").prints("2 left to the next apply");
    output.prints("Hand-over of deployment/web: kubectl applies this manifest without a change of the template.");
    let web = server.object("deployments", "web").expect("it is there");
    assert_eq!(web["spec"]["template"]["spec"]["containers"][1]["image"], "acme/side:v2");
    assert_eq!(images(&server, "side").iter().filter(|image| *image == "acme/side:v2").count(), 3);
    let output = first(&server, &format!("{FIRST} -o json"), &all).ends_with(0);
    let end = line(&output, "end");
    assert_eq!((&end["handedOver"], &end["workloads"]), (&json!("left"), &json!(3)));
}

#[test]
fn what_fails_halfway_fails_and_a_missing_permission_is_no_verdict() {
    let server = with_controllers();
    let failing = manifest("acme/side:missing", &json!({}));
    let output =
        first(&server, &format!("{FIRST} --pre-pull=never -o json"), std::slice::from_ref(&failing)).ends_with(4);
    let end = line(&output, "end");
    assert_eq!((&end["exitCode"], end.get("handedOver")), (&json!(4), None));
    let server = with_controllers();
    let new = serde_json::from_str(&failing.to_string().replace("\"web\"", "\"new\"")).expect("it is JSON still");
    let output = first(&server, &format!("{FIRST} --pre-pull=never"), &[failing, new]).ends_with(4);
    let output = output.prints("deployment/new: not there yet: left to the next apply");
    let last = output.stdout.lines().last().unwrap_or_default();
    assert!(
        last.starts_with("Total: 2 workloads: 0 done, 0 up to date, 1 left to the next apply, 1 not done"),
        "{last}"
    );
    let server = with_controllers();
    server.fault(When::verb("patch").of("pods").times(usize::MAX), Effect::Forbid);
    let output = first(&server, FIRST, &[manifest("acme/side:v2", &json!({}))]).ends_with(3);
    output.omits("left to the next apply");
    assert!(server.writes().is_empty());
}

#[test]
fn what_cannot_be_handed_over_is_refused_before_anything_is_asked() {
    let server = with_controllers();
    let web = [manifest("acme/side:v2", &json!({}))];
    for (more, why) in [
        ("--keep-field-ownership", "(OwnershipWouldConflict)"),
        ("--field-manager ci", "(OwnershipWouldConflict)"),
        ("--pods-only", "cannot be used with"),
        ("--canary 1", "cannot be used with"),
    ] {
        first(&server, &format!("{FIRST} {more}"), &web).ends_with(1).says(why);
    }
    first(&server, "apply -f web.yaml --if-possible", &web).ends_with(1).says("--yes was not given");
    first(&server, "apply deploy/web side=:v2 --if-possible --yes", &web).ends_with(1).says("about manifests");
    first(&server, "plan deploy/web side=:v2 --hand-over", &web).ends_with(1).says("about manifests");
    first(&server, "plan -f web.yaml --hand-over --dry-run=client", &web).ends_with(1).says("--dry-run=client");
    assert!(server.requests().is_empty(), "{:?}", server.requests());
}

#[test]
fn a_configuration_that_changes_leaves_the_pods_that_read_it_to_the_next_apply() {
    let reading = json!({"volumes": [{"name": "c", "configMap": {"name": "conf"}}]});
    let make = || {
        let web = two_containers(Workload::deployment("web")).template(|template| {
            template["spec"] = with(template["spec"].clone(), &reading);
        });
        let server = with_controllers_of([web]);
        let data = json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "conf", "namespace": "default"},
            "data": {"a": "1"}});
        server.insert([data]);
        server
    };
    let config = |name: &str, value: &str| json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name}, "data": {"a": value}});
    let web = manifest("acme/side:v2", &reading);
    for (config, is_left) in [(config("conf", "1"), false), (config("conf", "2"), true), (config("other", "2"), false)]
    {
        let server = make();
        let output = first(&server, FIRST, &[config, web.clone()]).ends_with(0);
        assert_eq!(
            output.stdout.ends_with("left to the next apply: ConfigurationChanges\n"),
            is_left,
            "{}",
            output.block()
        );
        assert_eq!(server.writes().is_empty(), is_left);
    }
    let server = make();
    server.fault(When::verb("get").of("configmaps").times(usize::MAX), Effect::Forbid);
    first(&server, FIRST, &[config("conf", "1"), web.clone()]).ends_with(0).says("could not be read").prints("left to");
    // Who does not go first asks for none.
    let server = make();
    first(&server, "plan -f web.yaml", &[config("conf", "2"), web]).ends_with(0).omits("ConfigurationChanges");
    assert!(server.requests().iter().all(|request| !request.path.contains("configmaps")));
}

#[test]
fn a_run_that_is_gone_is_finished_by_the_next_one() {
    let server = with_controllers();
    let web = [manifest("acme/side:v2", &json!({}))];
    // It stops after its first pod, as a run does that is ended.
    first(&server, "apply -f web.yaml --yes --canary 1 --min-ready-seconds 0", &web).ends_with(0);
    let output = first(&server, FIRST, &web).ends_with(0).says("its rollout did not finish and is resumed first");
    output.prints("deployment/web: nothing to do");
    assert_eq!(images(&server, "side"), ["acme/side:v2"; 3]);
    let server = with_controllers();
    first(&server, "apply -f web.yaml --yes --canary 1 --min-ready-seconds 0", &web).ends_with(0);
    // Another revision changes the same again: it takes the rollout's place.
    let newer = [manifest("acme/side:v3", &json!({}))];
    first(&server, FIRST, &newer).ends_with(0).omits("is resumed first");
    assert_eq!(images(&server, "side"), ["acme/side:v3"; 3]);
}

#[test]
fn another_manifest_after_one_that_failed_takes_that_back_first() {
    let server = with_controllers();
    let of = |app: &str, side: &str| {
        let mut manifest = manifest(side, &json!({}));
        manifest["spec"]["template"]["spec"]["containers"][0]["image"] = app.into();
        [manifest]
    };
    let line = format!("{FIRST} --pre-pull=never");
    let failing = of("acme/app:missing", "acme/side:v2");
    first(&server, &line, &failing).ends_with(4);
    // The same again fails again.
    let output = first(&server, &format!("{line} -o json"), &failing).ends_with(4).says("is resumed first");
    assert!(self::line(&output, "end")["elapsedSeconds"].as_f64().is_some_and(|took| took > 0.0), "{}", output.block());
    let output = first(&server, &line, &of("acme/app:v2", "acme/side:v2")).ends_with(0);
    output.says("was stopped, and these manifests are other ones: it is rolled back first");
    assert_eq!(
        (images(&server, "app"), images(&server, "side")),
        (vec!["acme/app:v2".into(); 3], vec!["acme/side:v2".into(); 3])
    );
    // What cannot be brought in place is left to the next apply, with nothing of the failed one in its way.
    first(&server, &line, &of("acme/app:missing", "acme/side:v3")).ends_with(4);
    let mut other = of("acme/app:v3", "acme/side:v3");
    other[0]["spec"]["template"]["spec"]["hostNetwork"] = json!(true);
    let output = first(&server, &line, &other).ends_with(0).says("it is rolled back first");
    output.prints("deployment/web: left to the next apply: TemplateFieldNotInPlace");
    assert_eq!(images(&server, "app"), ["acme/app:v2"; 3]);
    typed(&server, "status deployment/web").run().omits("resume");
}

#[test]
fn a_plan_says_what_the_next_apply_changes() {
    let none = json!({});
    let next = |server: &ApiServer, side: &str| {
        first(server, "plan -f web.yaml --hand-over -o json", &[manifest(side, &none)])
    };
    let found = |output: &Output| output.json()["workloads"][0]["handOver"].clone();
    let server = applied_by("helm", &[("kubectl-edit", image_of("app"))]);
    let clean = next(&server, "acme/side:v1").ends_with(0);
    assert_eq!(found(&clean)["result"], "unchanged");
    let changed = next(&server, "acme/side:v2").ends_with(2);
    assert_eq!(found(&changed)["paths"], json!(["spec.containers[side].image"]));
    assert_eq!(found(&changed)["podsReplaced"], 3);
    let server = applied_by("helm", &[("kubectl-edit", image_of("side"))]);
    let conflict = next(&server, "acme/side:v2").ends_with(2);
    let owner = json!([{"field": "spec.containers[side].image", "manager": "kubectl-edit"}]);
    assert_eq!((&found(&conflict)["result"], &found(&conflict)["conflicts"]), (&json!("conflict"), &owner));
    let text = first(&server, "plan -f web.yaml --hand-over", &[manifest("acme/side:v2", &none)]).ends_with(2);
    text.prints(
        "hint: see whose fields they are, and release them: kubectl inplace release-fields deployment/web -n default",
    );
    let long = format!("--as {}", "a".repeat(1100));
    let text = first(&server, &format!("plan -f web.yaml --hand-over {long}"), &[manifest("acme/side:v2", &none)]);
    text.ends_with(2).prints(&format!("release-fields deployment/web -n default {long}\n"));
    let forced = applied_by("argocd-controller", &[("kubectl-edit", image_of("side"))]);
    assert_eq!(found(&next(&forced, "acme/side:v2").ends_with(2))["result"], "changes");
    let unasked = applied_by("helm", &[]);
    unasked.fault(When::verb("patch").of("deployments").times(usize::MAX), Effect::Forbid);
    assert_eq!(found(&next(&unasked, "acme/side:v1").ends_with(2))["result"], "notKnown");
    assert!([server, forced, unasked].iter().all(|server| server.writes().is_empty()));
}

#[test]
fn an_apply_ends_with_what_the_next_one_changes() {
    let none = json!({});
    let server = applied_by("helm", &[]);
    let output =
        first(&server, "apply -f web.yaml --yes --min-ready-seconds 0 -o json", &[manifest("acme/side:v2", &none)]);
    let last = output.ends_with(0).json_lines().pop().unwrap_or_default();
    assert_eq!((&last["type"], &last["handOver"]["result"]), (&json!("summary"), &json!("unchanged")));
    let pods =
        first(&server, "apply -f web.yaml --pods-only --yes --min-ready-seconds 0", &[manifest("acme/side:v3", &none)]);
    pods.ends_with(0).prints("changes spec.containers[side].image, and replaces 3 pods");
    // Images by hand have no next apply.
    typed(&server, "apply deploy/web side=:v4 --yes --min-ready-seconds 0").run().ends_with(0).omits("Hand-over");
}

#[test]
fn field_managers_are_shown_and_released_by_one_guarded_patch() {
    let server = applied_by("helm", &[("kubectl-edit", image_of("app")), ("kubectl-set", image_of("side"))]);
    let shown = "\
deployment/web: helm applies its template; fields of it belong to others:
  kubectl-edit (2026-01-01T00:00:00Z): spec.containers[app].image
  kubectl-set (2026-01-01T00:00:00Z): spec.containers[side].image
";
    for (mode, said) in [("client", "(dry run)"), ("server", "(server dry run)")] {
        let output = typed(&server, &format!("release-fields deploy/web --dry-run={mode}")).run().ends_with(0);
        assert_eq!(output.stdout, shown);
        output.says(&format!("Released: deployment/web from 2 field managers; its fields keep their values {said}\n"));
    }
    typed(&server, "release-fields deploy/web").run().ends_with(1).says("there is no terminal to ask on");
    assert!(server.writes().is_empty());
    let output = typed(&server, "release-fields deploy/web --yes").run().ends_with(0);
    output.says("Released: deployment/web from 2 field managers");
    let [patch] = server.writes().try_into().expect("one write");
    let tested = |path: &str| patch.json().as_array().is_some_and(|all| all.iter().any(|one| one["path"] == path));
    assert!(tested("/metadata/uid") && tested("/metadata/managedFields/1/manager"), "{}", patch.json());
    let web = server.object("deployments", "web").expect("it is there");
    let managers: Vec<&Value> = web["metadata"]["managedFields"].as_array().into_iter().flatten().collect();
    assert!(managers.iter().all(|entry| entry["manager"] == "helm"), "{managers:?}");
    typed(&server, "release-fields deploy/web --yes").run().ends_with(0).says("no field manager but helm owns");
    let unapplied = with_controllers();
    typed(&unapplied, "release-fields deploy/web").run().ends_with(0).says("no server-side apply owns its template");
}

#[test]
fn nothing_is_released_where_a_rollout_holds_one_of_the_workloads() {
    let server = with_controllers_of(["web", "api"].map(|name| two_containers(Workload::deployment(name))));
    typed(&server, "apply deploy/api side=:v2 --yes --canary 1 --min-ready-seconds 0").run().ends_with(0);
    for name in ["web", "api"] {
        apply_as(&server, name, "helm", &[("kubectl-edit", image_of("app"))]);
    }
    let before = server.writes().len();
    let output = typed(&server, "release-fields deploy/web deploy/api --yes").run().ends_with(6);
    output.says("deployment/api: its rollout is not finished");
    assert_eq!(server.writes().len(), before);
}

#[test]
fn an_entry_that_has_changed_meanwhile_is_not_removed() {
    let server = applied_by("helm", &[("kubectl-edit", image_of("app"))]);
    let other = Effect::First(Arc::new(|state| {
        state.edit("deployments", "web", "kubectl-edit", |web| {
            web["metadata"]["managedFields"][1]["time"] = json!("2026-02-01T00:00:00Z");
        });
    }));
    server.fault(When::verb("patch").of("deployments").for_real().times(1), other);
    typed(&server, "release-fields deploy/web --yes").run().ends_with(1).says("plan again");
    let web = server.object("deployments", "web").expect("it is there");
    assert_eq!(web["metadata"]["managedFields"].as_array().map(Vec::len), Some(2));
}
