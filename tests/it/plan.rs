//! `plan`: what it says, in every grammar, and that it changes nothing.

use serde_json::{Value, json};

use crate::support::api_server::{ApiServer, Effect, Logged, When, image_id};
use crate::support::builders::{self, Workload};
use crate::support::clock;
use crate::support::run::{Binary, Output};
use crate::support::scene::{APPLY, images, patches, run, server_with, two_containers, typed, web};
use crate::support::snapshot::assert_snapshot;

const PLAN: &str = "plan deploy/web side=acme/side:v2";

/// A manifest of `web` with this image for `side`; `more` is put into the container `app`.
fn manifest(name: &str, image: &str, more: &str) -> String {
    format!(
        "apiVersion: apps/v1\nkind: Deployment\nmetadata:\n  name: {name}\nspec:\n  selector: {{matchLabels: {{app: {name}}}}}\n  \
         template:\n    metadata: {{labels: {{app: {name}}}}}\n    spec:\n      containers:\n      \
         - {{name: app, image: \"acme/app:v1\"{more}}}\n      - {{name: side, image: \"{image}\"}}\n"
    )
}

/// One line a workload: `deployment/web side acme/side:v1 -> acme/side:v2`.
fn reported(output: &Output) -> Vec<String> {
    let document = output.json();
    let workloads = document["workloads"].as_array().cloned().unwrap_or_default();
    let word = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let one = |workload: &Value| {
        let name = &workload["workload"];
        let containers = workload["containers"].as_array().cloned().unwrap_or_default();
        let changed = containers.iter().filter(|container| container["to"].is_string());
        let changes: Vec<String> =
            changed.map(|one| format!(" {}={}", word(&one["container"]), word(&one["to"]))).collect();
        format!(
            "{}/{}/{}{}",
            word(&name["kind"]).to_lowercase(),
            word(&name["namespace"]),
            word(&name["name"]),
            changes.concat()
        )
    };
    workloads.iter().map(one).collect()
}

#[test]
fn a_plan_says_what_would_happen_and_changes_nothing() {
    let server = web();
    let before = server.objects("pods");
    let text = run(&server, PLAN).ends_with(0);
    assert_snapshot("plan-text", &text.block());
    assert!(!text.stdout.contains('\u{1b}') && !text.stderr.contains('\u{1b}'), "a pipe gets no colours");
    let json = run(&server, &format!("{PLAN} -o json")).ends_with(0);
    assert_snapshot("plan-json", &json.block());
    assert_eq!(json.json()["result"], "changes");
    assert!(server.writes().is_empty(), "{:?}", server.writes());
    let asked =
        server.requests().into_iter().filter(|request| request.method == "PATCH").map(|request| request.to_string());
    let path = "PATCH /api/v1/namespaces/default/pods/";
    assert!(asked.clone().all(|line| line.starts_with(path) && line.ends_with("json-patch (dry run)")));
    assert_eq!(asked.count(), 2, "one for pods of one spec, two plans");
    assert_eq!(server.objects("pods"), before);
}

#[test]
fn what_the_dry_run_asked_is_what_apply_sends() {
    let server = web();
    run(&server, PLAN).ends_with(0);
    let plan: Vec<Value> = server.requests().iter().filter(|request| request.dry_run).map(Logged::json).collect();
    run(&server, APPLY).ends_with(0);
    let asked: Vec<_> = server.requests().into_iter().filter(|request| request.dry_run).skip(plan.len()).collect();
    let sent = patches(&server);
    assert_eq!(
        (plan.len(), asked.len(), sent.len()),
        (3, 1, 3),
        "one question for pods of one spec, and two for what new pods get"
    );
    for sent in sent.iter().filter(|sent| asked.iter().any(|asked| asked.path == sent.path)) {
        let asked: Vec<_> = asked.iter().filter(|asked| asked.path == sent.path).collect();
        let [asked] = asked.as_slice() else { panic!("{} was asked {} times", sent.path, asked.len()) };
        assert_eq!(asked.body, sent.body, "word for word");
        assert_eq!(asked.parameter("fieldManager"), sent.parameter("fieldManager"));
        // The plan of another run differs in the rollout's id and in nothing else.
        let other = |body: &Value| {
            body.as_array().map(|operations| operations.iter().rev().skip(1).cloned().collect::<Vec<_>>())
        };
        assert!(plan.iter().any(|body| other(body) == other(&sent.json())), "{}", sent.path);
    }
}

fn many_workloads() -> ApiServer {
    server_with([
        two_containers(Workload::deployment("web")),
        two_containers(Workload::stateful_set("db")).replicas(1),
        two_containers(Workload::daemon_set("log")),
        two_containers(Workload::replica_set("old")).replicas(1),
        two_containers(Workload::pod("one")),
        two_containers(Workload::deployment("web")).namespace("prod").replicas(1),
    ])
}

#[test]
fn workloads_and_images_are_named_as_kubectl_set_image_names_them() {
    let server = many_workloads();
    server.insert([builders::namespace("prod")]);
    let digest = image_id("acme/side:v7");
    let digest = digest.rsplit('@').next().unwrap_or_default();
    let by_digest = format!("deploy/web side=@{digest}");
    let by_digest_told = format!("deployment/default/web side=acme/side@{digest}");
    let cases: [(&str, &[&str]); 21] = [
        ("deploy/web side=acme/side:v2", &["deployment/default/web side=acme/side:v2"]),
        ("deployment web side=acme/side:v2", &["deployment/default/web side=acme/side:v2"]),
        ("deployments.apps/web side=acme/side:v2", &["deployment/default/web side=acme/side:v2"]),
        ("side=acme/side:v2 po/one", &["pod/default/one side=acme/side:v2"]),
        (
            "rs/old ds/log side=:v2",
            &["replicaset/default/old side=acme/side:v2", "daemonset/default/log side=acme/side:v2"],
        ),
        (
            "sts/db deploy/web side=:v2",
            &["statefulset/default/db side=acme/side:v2", "deployment/default/web side=acme/side:v2"],
        ),
        ("deploy,sts -l app=web side=:v2", &["deployment/default/web side=acme/side:v2"]),
        (
            "deploy,ds --selector=app!=db side=:v2",
            &["deployment/default/web side=acme/side:v2", "daemonset/default/log side=acme/side:v2"],
        ),
        (
            "deploy -l app=web -A side=:v2",
            &["deployment/default/web side=acme/side:v2", "deployment/prod/web side=acme/side:v2"],
        ),
        ("deploy -l app=web -A=false side=:v2", &["deployment/default/web side=acme/side:v2"]),
        ("deploy/web --image side=acme/side:v2", &["deployment/default/web side=acme/side:v2"]),
        ("deploy/web --image=side=:v2 app=:v3", &["deployment/default/web app=acme/app:v3 side=acme/side:v2"]),
        (&by_digest, &[&by_digest_told]),
        ("deploy/web *=acme/all:v2 --all-containers", &["deployment/default/web app=acme/all:v2 side=acme/all:v2"]),
        (
            "deploy/web --image *=acme/all:v2 side=:v3 --all-containers=true",
            &["deployment/default/web app=acme/all:v2 side=acme/side:v3"],
        ),
        ("deploy/web side=:v2 -n prod", &["deployment/prod/web side=acme/side:v2"]),
        ("deploy/web side=:v2 -n=prod", &["deployment/prod/web side=acme/side:v2"]),
        ("deploy/web side=:v2 -nprod", &["deployment/prod/web side=acme/side:v2"]),
        ("-n default deploy/web side=:v2 --namespace=prod", &["deployment/prod/web side=acme/side:v2"]),
        ("deploy/web deploy/web side=:v2", &["deployment/default/web side=acme/side:v2"]),
        ("deploy/web side=acme/side:v1", &["deployment/default/web"]),
    ];
    for (line, wanted) in cases {
        let output = run(&server, &format!("plan -o json {line}")).ends_with(0);
        assert_eq!(reported(&output), wanted, "{line}\n{}", output.stderr);
    }
}

#[test]
fn what_cannot_be_meant_is_wrong_usage_and_nothing_is_asked() {
    let server = web();
    let cases = [
        ("", "no workload was named"),
        ("deploy/web", "no image was given"),
        ("deploy/web side=", "container side"),
        ("deploy/web side=acme/UPPER:1", "container side"),
        ("deploy/web side=a:1 side=a:2", "two images were given for container side"),
        ("deploy/web *=acme/all:v2", "say --all-containers"),
        ("deploy/web *=acme/all:v2 --all-containers=false", "say --all-containers"),
        ("deploy side=:v2", "was given without a name"),
        ("deploy web -l app=web side=:v2", "-l, --field-selector and --all cannot be combined with a name (web)"),
        ("deploy web --field-selector a=b side=:v2", "-l, --field-selector and --all cannot be combined with a name"),
        ("deploy/web -A side=:v2", "a resource cannot be retrieved by name across all namespaces"),
        ("deploy/web side=:v2 --max-unavailable 0", "must be at least 1"),
        ("deploy/web side=:v2 --max-unavailable none", "--max-unavailable"),
        ("deploy/web side=:v2 --timeout soon", "--timeout"),
        ("deploy/web side=:v2 -f x.yaml", "-f and -k cannot be combined with"),
        ("-f x.yaml --limits memory=1Gi", "'--filename <FILE>' cannot be used with '--limits <NAME=QTY>'"),
        ("deploy/web side=:v2 -o yml", "format \"yml\""),
    ];
    for (line, text) in cases {
        run(&server, &format!("plan {line}")).ends_with(1).says(text);
    }
    assert!(server.requests().is_empty(), "{:?}", server.requests());
}

#[test]
fn a_kind_that_is_none_is_named_with_those_that_there_are() {
    let server = web();
    run(&server, "plan deploymnt/web side=:v2")
        .ends_with(1)
        .says("error: unsupported kind \"deploymnt\"; supported: deployment, statefulset, daemonset, replicaset, pod, cloneset, statefulset.apps.kruise.io, daemonset.apps.kruise.io, rollout, sidecarset (did you mean deployment?)")
        .says("the whole command: kubectl inplace plan deployment/web side=:v2");
    run(&server, "status foo").ends_with(1).says("error: unsupported kind \"foo\"");
    for line in ["status svc/web", "status Service/web"] {
        run(&server, line).ends_with(1).says("error: unsupported kind").omits("hint: ");
    }
    let alone = Binary::alone(["plan", "deploymnt/web", "side=:v2"]).run().ends_with(1);
    alone.says("unsupported kind \"deploymnt\"; supported: ").says("did you mean deployment?");
    assert!(server.requests().iter().all(|request| request.path.starts_with("/api")), "{:?}", server.requests());
}

#[test]
fn fields_pick_workloads_as_labels_do() {
    let server = web();
    let picked = run(&server, "plan deploy --field-selector metadata.name=web side=:v2").ends_with(0);
    picked.prints("kubectl inplace apply deploy side=:v2 --field-selector metadata.name=web");
    run(&server, "plan deploy --field-selector metadata.name=other -l app=web side=:v2")
        .ends_with(1)
        .says("no workload in namespace default matches the selector \"app=web\" and \"metadata.name=other\"");
    run(&server, "status --field-selector metadata.name=web -A").ends_with(0).prints("deployment/web");
    run(&server, "status deploy --field-selector metadata.name!=web").ends_with(0).says("No resources found");
}

#[test]
fn what_is_not_there_is_named() {
    let server = web();
    run(&server, "plan deploy/wbe side=:v2")
        .ends_with(1)
        .says("Error from server (NotFound): deployments.apps \"wbe\" not found")
        .says(
            "hint: did you mean deployment/web?\nhint: the whole command: kubectl inplace plan deploy/web side=:v2\n",
        );
    run(&server, "plan deploy/web side=:v2 -n nowhere")
        .ends_with(1)
        .says("namespaces \"nowhere\" not found")
        .says("kubectl get namespaces");
    run(&server, "plan deploy -l app=nope side=:v2")
        .ends_with(1)
        .says("no workload in namespace default matches the selector \"app=nope\"");
    run(&server, "plan deploy -l app=nope -A side=:v2").ends_with(1).says("no workload in any namespace");
    for line in ["plan sts --all side=:v2", "apply sts --all side=:v2 --yes", "restart sts --all --yes"] {
        let none = run(&server, line).ends_with(0);
        assert_eq!(none.stderr, "No resources found in default namespace.\n", "as kubectl says it: {line}");
    }
    for line in ["plan sts --all side=:v2 -n nowhere", "apply sts --all side=:v2 --yes -n nowhere"] {
        // A mistyped namespace is no success.
        run(&server, line).ends_with(1).says("namespaces \"nowhere\" not found");
    }
    run(&server, "diff sts --all side=:v2").ends_with(0).says("No resources found");
    let empty = run(&server, "plan sts --all side=:v2 -o json").ends_with(0).json();
    assert_eq!(empty["workloads"], json!([]), "{empty}");
    let end = run(&server, "apply sts --all side=:v2 --yes -o json").ends_with(0);
    let lines = end.json_lines();
    assert_eq!((lines.len(), &lines[0]["type"], &lines[0]["result"]), (1, &json!("end"), &json!("nothingToDo")));
    run(&server, "plan sts --all side=:v2 --out p.json").ends_with(1).says("no plan was saved: no resources found");
    server.insert(two_containers(Workload::stateful_set("db")).objects());
    for (name, whole) in [("web", "deployment/web"), ("db", "statefulset/db"), ("db-0", "pod/db-0")] {
        let line = format!("plan {name} side=:v2");
        run(&server, &line).ends_with(1).says(&format!("the whole command: kubectl inplace plan {whole} side=:v2\n"));
    }
    run(&server, "plan wbe side=:v2").ends_with(1).says("such as deployment/wbe, statefulset/wbe, daemonset/wbe");
    run(&server, "status all").ends_with(1).says("hint: the whole command: kubectl inplace status --all\n");
    let typo = run(&server, "plan deploy/web sdie=:v2 --detailed-exitcode").ends_with(3);
    typo.prints("ContainerNotFound").prints("did you mean side?");
    run(&server, "apply pod/db-0 side=:v2 --yes")
        .ends_with(3)
        .says("hint: all pods of it: kubectl inplace apply statefulset/db side=:v2\n")
        .says("hint: this pod alone: kubectl inplace apply pod/db-0 side=:v2 --pods-only\n");
    // What is guessed is not approved, and of several workloads or containers it may be another.
    for (line, whole) in [
        ("apply deploy/web sdie=:v2 --yes", Some("apply deploy/web side=:v2")),
        ("apply deploy wbe side=:v2 --yes", Some("apply deploy web side=:v2")),
        ("apply deploy/web -c sdie --limits cpu=1 --yes", Some("apply deploy/web -c side --limits cpu=1")),
        ("apply deploy/web sts/db sdie=:v2 --yes", None),
        ("apply deploy/web sdie=:v2 side=:v3 --yes", None),
        ("status sts/wbe", None),
    ] {
        let reported = run(&server, line);
        match whole {
            Some(whole) => drop(reported.says(&format!("the whole command: kubectl inplace {whole}\n"))),
            None => drop(reported.omits("the whole command")),
        }
    }
    run(&server, "plan deploy/entirely-other side=:v2").ends_with(1).omits("did you mean");
    // A caller that may not list them gets the same message, without a suggestion.
    server.fault(When::verb("list").of("deployments"), Effect::Forbid);
    run(&server, "plan deploy/wbe side=:v2").ends_with(1).says("\"wbe\" not found").omits("did you mean");
}

#[test]
fn manifests_come_from_files_folders_lists_and_standard_input() {
    let server = web();
    server.insert(two_containers(Workload::deployment("api")).objects());
    let (web, api) = (manifest("web", "acme/side:v2", ""), manifest("api", "acme/side:v3", ""));
    let service = "apiVersion: v1\nkind: Service\nmetadata: {name: web}\nspec: {}\n";
    let list = json!({"apiVersion": "v1", "kind": "List", "items": [{"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "web"},
        "spec": {"template": {"spec": {"containers": [{"name": "side", "image": "acme/side:v2"}]}}}}]});
    let both = ["deployment/default/web side=acme/side:v2", "deployment/default/api side=acme/side:v3"];
    let sorted = ["deployment/default/api side=acme/side:v3", "deployment/default/web side=acme/side:v2"];
    let cases: [(&str, &[&str]); 9] = [
        ("-f web.yaml", &both[..1]),
        ("-f web.yaml,api.yaml", &both),
        ("-f web.yaml -f api.yaml", &both),
        ("-f all.yaml", &both),
        ("-f folder", &sorted[..1]),
        ("-f folder -R", &sorted),
        ("--filename=folder --recursive=false", &sorted[..1]),
        ("-f list.json", &both[..1]),
        ("-f - -n=default", &both[..1]),
    ];
    for (line, wanted) in cases {
        let binary = typed(&server, &format!("plan -o json {line}"))
            .file("web.yaml", &web)
            .file("api.yaml", &api)
            .file("all.yaml", &format!("{web}---\n{service}---\n{api}"))
            .file("folder/a.yaml", &api)
            .file("folder/ignored.txt", "no manifest")
            .file("folder/deeper/b.yml", &web)
            .file("list.json", &list.to_string())
            .stdin(web.as_bytes());
        let output = binary.run().ends_with(0);
        assert_eq!(reported(&output), wanted, "{line}\n{}", output.stderr);
        let skipped = output.json()["skippedObjects"][0]["name"] == "web";
        assert_eq!(skipped, line.contains("all.yaml"), "{}", output.block());
    }
    assert!(server.writes().is_empty());
}

/// A folder as users keep it: one workload exists, one is new, the rest are no workloads.
#[test]
fn a_folder_may_hold_a_workload_that_is_new_and_what_is_none() {
    let folder = |server: &ApiServer, line: &str| {
        typed(server, line)
            .file("folder/web.yaml", &manifest("web", "acme/side:v2", ""))
            .file("folder/new.yaml", &manifest("new", "acme/side:v2", ""))
            .file("folder/config.yaml", "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: c}\n")
            .file("folder/custom.yaml", "apiVersion: acme.io/v1\nkind: Widget\nmetadata: {name: w}\nspec: {a: 1}\n")
            .file("new.yaml", &manifest("new", "acme/side:v2", ""))
            .run()
    };
    let server = web();
    let plan = folder(&server, "plan -f folder -o json").ends_with(0);
    let skipped =
        plan.json()["skippedObjects"].as_array().map(|all| all.iter().map(|one| one["name"].clone()).collect());
    assert_eq!(skipped, Some(vec![json!("c"), json!("w")]));
    assert_eq!(reported(&plan), ["deployment/default/web side=acme/side:v2", "deployment/default/new"]);
    assert_eq!(plan.json()["workloads"][1]["warnings"][0]["code"], "WorkloadAdded", "{}", plan.stdout);
    let diff = folder(&server, "diff -f folder").ends_with(1);
    let diff = diff.says("configmap/c: skipped: not a kind that is updated").says("widget.acme.io/w: skipped: ");
    let diff = diff.prints("# in place: restarts side").prints("+kind: Deployment").prints("+  name: new");
    let removed = diff.stdout.lines().filter(|line| line.starts_with('-') && !line.starts_with("---"));
    assert_eq!(removed.count(), 1, "{}", diff.stdout);
    // Alone it is no folder of many, and most likely a wrong name or namespace.
    folder(&server, "plan -f new.yaml").ends_with(1).says("deployments.apps \"new\" not found");
    assert!(server.writes().is_empty());
}

#[test]
fn bad_manifests_are_reported_with_their_place() {
    let server = web();
    let good = manifest("web", "acme/side:v2", "");
    let prod = good.replace("name: web\nspec", "name: web\n  namespace: prod\nspec");
    let clash = "error: the namespace from the provided object \"prod\" does not match the namespace \"other\". \
                 You must pass '--namespace=prod' to perform this operation.\n";
    let cases: [(&str, &str, &[&str]); 6] = [
        ("plan -f x.yaml -n other", &prod, &[clash]),
        ("plan -f x.yaml", "a: [1,\nb: 2\n", &["error: x.yaml:1:4: ", "unclosed bracket"]),
        ("plan -f x.yaml", &format!("{good}---\n{good}"), &["is given twice"]),
        (
            "plan -f x.yaml",
            "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: c}\n",
            &["there is no workload in x.yaml", "workloads are Deployment"],
        ),
        ("plan -f y.yaml", "", &["the path \"y.yaml\" does not exist"]),
        ("plan -f x.yaml", "", &["x.yaml"]),
    ];
    for (line, content, texts) in cases {
        let output = typed(&server, line).file("x.yaml", content).run().ends_with(1);
        assert!(texts.iter().all(|text| output.stderr.contains(text)), "{line}: {texts:?}\n{}", output.block());
        assert_eq!(output.stdout, "");
    }
    assert!(server.requests().is_empty(), "{:?}", server.requests());
}

#[test]
fn the_detailed_exit_code_distinguishes_nothing_in_place_and_not() {
    let server = web();
    let env = manifest("web", "acme/side:v2", ", env: [{name: A, value: b}]");
    let cases = [
        ("plan deploy/web side=:v2", 0),
        ("plan deploy/web side=:v2 --detailed-exitcode", 2),
        ("plan deploy/web side=:v2 --detailed-exitcode=true", 2),
        ("plan deploy/web side=:v2 --detailed-exitcode=false", 0),
        ("plan deploy/web side=:v2 --detailed-exitcode --detailed-exitcode=false", 0),
        ("plan deploy/web side=:v1 --detailed-exitcode", 0),
        ("plan deploy/web nope=:v1 --detailed-exitcode", 3),
        ("plan -f env.yaml --detailed-exitcode", 3),
        ("plan -f env.yaml", 0),
    ];
    for (line, code) in cases {
        typed(&server, line).file("env.yaml", &env).run().ends_with(code);
    }
    let blocked = typed(&server, "plan -f env.yaml").file("env.yaml", &env).run().ends_with(0);
    let blocked = blocked
        .prints("TemplateFieldNotInPlace")
        .prints("env")
        .prints("deployment/web: cannot be updated in place: 1 problem")
        .omits("Next:");
    assert!(blocked.stdout.contains("hint:"), "{}", blocked.stdout);
    let refused = typed(&server, "apply -f env.yaml --pods-only --yes").file("env.yaml", &env).run();
    refused.ends_with(3).prints("TemplateFieldNotInPlace");
    run(&server, "plan deploy/web side=:v1").ends_with(0).prints("No changes.").omits("Next:");
    assert!(server.writes().is_empty() && images(&server, "side").iter().all(|image| image == "acme/side:v1"));
}

#[test]
fn a_server_that_is_too_old_is_refused_and_one_that_hides_its_version_is_not() {
    let server = web();
    server.change(|state| state.version = "v1.22.17".into());
    let plan = run(&server, PLAN).ends_with(0).prints("ServerTooOld").prints("Kubernetes 1.22, and this needs 1.23");
    plan.omits("Next:");
    run(&server, APPLY).ends_with(3).prints("ServerTooOld");
    assert!(server.writes().is_empty());
    for version in ["v1.23.0", "1.36+", "unknown", ""] {
        server.change(|state| state.version = version.into());
        run(&server, PLAN).ends_with(0).omits("ServerTooOld").prints("Next:");
    }
}

#[test]
fn nothing_to_do_asks_nobody_and_sends_nothing() {
    let server = web();
    run(&server, "apply deploy/web side=acme/side:v1 --pods-only").ends_with(0).prints("No changes.").omits("terminal");
    let json = run(&server, "apply deploy/web side=acme/side:v1 -o json").ends_with(0);
    assert_eq!(json.json()["result"], "nothingToDo");
    assert!(server.writes().is_empty() && !server.requests().iter().any(|request| request.method == "PATCH"));
}

#[test]
fn colours_follow_flag_terminal_and_environment() {
    let server = web();
    let colours = |binary: Binary| binary.run().ends_with(0).stdout.contains("\u{1b}[");
    assert!(!colours(typed(&server, PLAN)));
    assert!(colours(typed(&server, &format!("{PLAN} --color always"))));
    assert!(colours(typed(&server, PLAN).on_a_terminal()));
    assert!(!colours(typed(&server, PLAN).on_a_terminal().env("NO_COLOR", "")), "as kubectl, also when it is empty");
    assert!(!colours(typed(&server, &format!("{PLAN} --color=never")).on_a_terminal()));
    assert!(
        colours(typed(&server, &format!("{PLAN} --color=always")).env("NO_COLOR", "1")),
        "the flag is the last word"
    );
}

#[test]
fn a_narrow_terminal_shows_whole_names_of_pods() {
    let server = web();
    let wide = run(&server, PLAN).ends_with(0);
    let narrow = typed(&server, PLAN).env("COLUMNS", "40").run().ends_with(0);
    let words = |output: &Output| output.stdout.split_whitespace().map(str::to_owned).collect::<Vec<_>>();
    for word in words(&wide).iter().filter(|word| word.starts_with("web-")) {
        assert!(words(&narrow).contains(word), "{word} is lost\n{}", narrow.stdout);
    }
    assert_ne!(narrow.stdout, wide.stdout);
}

#[test]
fn a_reader_that_goes_away_ends_it_quietly() {
    let server = server_with([two_containers(Workload::deployment("web")).replicas(400)]);
    let bin = env!("CARGO_BIN_EXE_kubectl-inplace");
    for (line, first) in [
        (format!("{bin} {PLAN} -o json | head -1"), "{\n"),
        (
            format!("{bin} {PLAN} | head -1"),
            "deployment/web can be updated in place: 400 pods, up to 100 at a time, about 3 s   (namespace default)\n",
        ),
        (format!("{bin} {PLAN} | true"), ""),
        (format!("{bin} --help | true"), ""),
        (format!("{bin} completion bash | true"), ""),
    ] {
        let (command, reader) = line.split_once(" | ").unwrap_or_default();
        let script = format!("{{ {command}; echo \"code $?\" >&2; }} | {reader}");
        let output = Binary::against(&server, ["-c", &script]).program("/bin/sh").run();
        assert_eq!(output.stdout, first, "{line}");
        assert!(output.stderr.ends_with("code 0\n"), "{line}\n{}", output.stderr);
        assert!(!output.stderr.contains("panicked") && !output.stderr.contains("failed to write"), "{}", output.stderr);
    }
}

/// What was applied with a template and has none now is no change to plan.
#[test]
fn a_manifest_whose_template_is_gone_is_an_error() {
    let server = web();
    let manifest = "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: web}\nspec: {replicas: 2}\n";
    let plan = || Binary::against(&server, ["plan", "-f", "web.yaml"]).file("web.yaml", manifest).run();
    plan().ends_with(0);
    server.edit("deployments", "web", |owner| {
        let applied = json!({"spec": {"template": owner["spec"]["template"].clone()}}).to_string();
        owner["metadata"]["annotations"]["kubectl.kubernetes.io/last-applied-configuration"] = applied.into();
    });
    plan().ends_with(1).says("spec.template is required and not set").omits("AdmissionRefused");
}

/// The template says v3, all pods run v2.
#[test]
fn what_the_pods_run_is_what_an_update_comes_from_and_goes_back_to() {
    let server = server_with([two_containers(Workload::deployment("web"))]);
    server.run_controllers(true);
    run(&server, "apply deploy/web side=acme/side:v3 --yes --min-ready-seconds 0").ends_with(0);
    run(&server, "apply deploy/web side=acme/side:v2 --pods-only --yes --min-ready-seconds 0").ends_with(0);
    let plan = run(&server, "plan deploy/web side=acme/side:v4").ends_with(0);
    plan.says("3 pods run acme/side:v2 for side, and the template says acme/side:v3: abort would bring both to acme/side:v3, undo to acme/side:v2");
    let json = run(&server, "plan deploy/web side=acme/side:v4 -o json").ends_with(0).json();
    let containers = json["workloads"][0]["containers"].as_array().cloned().unwrap_or_default();
    assert!(containers.iter().any(|one| one["container"] == "side" && one["from"] == "acme/side:v2"), "{json}");
    run(&server, "apply deploy/web side=acme/side:v4 --yes --min-ready-seconds 0").ends_with(0);
    run(&server, "history deploy/web").ends_with(0).prints("v2 -> v4");
    run(&server, "undo deploy/web --yes --min-ready-seconds 0").ends_with(0);
    assert_eq!(images(&server, "side"), ["acme/side:v2"; 3]);
    let template = server.objects("deployments")[0]["spec"]["template"]["spec"]["containers"][1]["image"].clone();
    assert_eq!(template, "acme/side:v2");
    run(&server, "plan deploy/web side=acme/side:v5").ends_with(0).omits("PodsDrifted");
}

/// The template gets what was asked for, and pods what the server makes of it: whether the policy is older than the pods or
/// not, and whether it acts on updates or not.
#[test]
fn pods_get_what_admission_makes_of_the_template() {
    const CREATED: &[&str] = &["CREATE"];
    const BOTH: &[&str] = &["CREATE", "UPDATE"];
    for (operations, is_older) in [(CREATED, true), (BOTH, true), (BOTH, false), (CREATED, false)] {
        let server = server_with([two_containers(Workload::deployment("web"))]);
        server.run_controllers(true);
        server.mirror("acme/side:", "mirror.example/side:", operations);
        if is_older {
            let pods = server.objects("pods");
            pods.iter().filter_map(|pod| pod["metadata"]["name"].as_str()).for_each(|name| server.delete("pods", name));
            let has_it = |pod: &Value| {
                pod["spec"]["containers"][1]["image"] == "mirror.example/side:v1"
                    && pod["status"]["containerStatuses"][1]["ready"] == true
            };
            clock::eventually("pods that the policy has seen", || {
                let pods = server.objects("pods");
                (pods.len() == 3 && pods.iter().all(has_it)).then_some(())
            });
        }
        let ids = || -> Vec<Value> {
            let of = |pod: &Value| pod["status"]["containerStatuses"][1]["containerID"].clone();
            server.objects("pods").iter().map(of).collect()
        };
        let (before, running) = (images(&server, "side"), ids());
        // The second one takes the place of the first, and neither is an image.
        for tag in ["nope", "missing"] {
            run(&server, &format!("apply deploy/web side=:{tag} --pre-pull=never --yes")).ends_with(4);
        }
        run(&server, "abort deploy/web --yes --min-ready-seconds 0")
            .ends_with(0)
            .omits("which this rollout has not set");
        assert_eq!(ids().iter().filter(|id| !running.contains(id)).count(), 1, "{operations:?} {is_older}");
        let other = images(&server, "side").into_iter().zip(before).filter(|(now, before)| now != before).count();
        assert!(other <= usize::from(!is_older), "{:?}", images(&server, "side"));
        run(&server, "status deploy/web --exit-code").ends_with(0);
        let template =
            || server.objects("deployments")[0]["spec"]["template"]["spec"]["containers"][1]["image"].clone();
        run(&server, "apply deploy/web side=:v2 --yes --min-ready-seconds 0")
            .ends_with(0)
            .says("rewritten by admission: pods get mirror.example/side:v2 for side in place of acme/side:v2");
        assert_eq!(template(), "acme/side:v2");
        assert_eq!(images(&server, "side"), ["mirror.example/side:v2"; 3]);
        run(&server, "status deploy/web --exit-code").ends_with(0).prints("rewritten by admission");
        run(&server, "plan deploy/web side=acme/side:v2").ends_with(0).prints("No changes.");
        run(&server, "follow deploy/web side=acme/side:v2 --timeout 5s").ends_with(0);
        run(&server, "plan deploy/web app=:v2 side=acme/side:v2").ends_with(0).omits("mirror.example");
        run(&server, "undo deploy/web --yes --min-ready-seconds 0").ends_with(0).omits("PodsDrifted");
        assert_eq!(template(), "acme/side:v1");
        assert_eq!(images(&server, "side"), ["mirror.example/side:v1"; 3]);
    }
}

/// A policy on updates alone: new pods have the template's image and updated ones another, which no `apply` changes.
#[test]
fn what_admission_makes_of_an_update_is_no_drift() {
    let server = server_with([two_containers(Workload::deployment("web"))]);
    server.run_controllers(true);
    server.mirror("acme/side:", "mirror.example/side:", &["UPDATE"]);
    run(&server, "apply deploy/web side=:v2").ends_with(3).prints("(side=mirror.example/side:v2)");
    let set = "apply deploy/web side=acme/side:nope --pods-only --pre-pull=never --yes";
    run(&server, set).ends_with(3).prints("AdmissionRewrites");
    // The way back takes what the server makes of the image from before.
    let failed = "apply deploy/web side=mirror.example/side:nope --pre-pull=never --yes --on-failure=undo";
    run(&server, failed).ends_with(4).prints("Rolled back");
    run(&server, "status deploy/web --exit-code")
        .ends_with(0)
        .prints("rewritten by admission: side: acme/side:v1 -> mirror.example/side:v1")
        .omits("kubectl inplace apply");
    run(&server, "plan deploy/web side=acme/side:v1").ends_with(0).prints("No changes.");
    // What a rollout prints to roll back is taken, too.
    run(&server, "apply deploy/web side=mirror.example/side:v2 --yes").ends_with(0).prints("kubectl inplace undo");
    run(&server, "undo deploy/web --yes").ends_with(0).says("(RewrittenByAdmission)");
    run(&server, "status deploy/web --exit-code").ends_with(0).prints("rewritten by admission");
    assert_eq!(images(&server, "side"), ["mirror.example/side:v1"; 3]);
}

/// Traffic goes to the container that serves, or through one with a port.
#[test]
fn a_sidecar_without_ports_puts_no_traffic_at_risk() {
    let port = |number: u16| json!({"ports": [{"containerPort": number}]});
    for (fields, is_at_risk) in [(json!({}), false), (port(15090), true), (port(80), true)] {
        let workload = Workload::deployment("web").container("app", "acme/app:v1");
        let server = server_with([workload.container_with("side", "acme/side:v1", fields.clone())]);
        server.insert([builders::service("web", &json!({"app": "web"}))]);
        let reported = run(&server, "plan deploy/web side=acme/side:v2").ends_with(0).stderr;
        assert_eq!(reported.contains("TrafficWhileDown"), is_at_risk, "{fields}: {reported}");
        let serves = fields != port(80);
        let reported = run(&server, "plan deploy/web app=acme/app:v2").ends_with(0).stderr;
        assert_eq!(reported.contains("TrafficWhileDown"), serves, "{fields}: {reported}");
    }
}

#[test]
fn a_pod_that_no_node_has_taken_and_that_has_the_image_has_nothing_on_its_way() {
    let server = web();
    for pod in server.objects("pods") {
        server.edit("pods", pod["metadata"]["name"].as_str().unwrap_or_default(), |pod| {
            pod["spec"].as_object_mut().map(|spec| spec.remove("nodeName"));
            pod["status"] = json!({"phase": "Pending"});
        });
    }
    let output = run(&server, "apply deploy/web side=acme/side:v1 --yes").ends_with(0);
    output.prints("No changes").omits("had been patched before");
}
