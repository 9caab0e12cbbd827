//! Going first: after `apply --if-possible`, the same manifest by kubectl changes no template and replaces no pod, from the
//! client's side and from the server's; and what is left ends in an ordinary rollout.

use serde_json::{Value, json};

use crate::support::{Api, Namespace, Output, Random, image, name, reconcile_by_flux, registry, samples};

const FIRST: [&str; 7] = ["apply", "-f", "-", "--if-possible", "--yes", "--min-ready-seconds", "0"];

/// How the tool that comes next applies a manifest.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Next {
    ClientSide,
    /// As Helm does it: unforced, under its own name.
    ServerSide,
}

/// The template of `web`, and the uids of its pods once its controller is at rest.
pub(crate) fn state(namespace: &Namespace) -> (Value, Vec<Value>) {
    namespace.kubectl(&["rollout", "status", "deployment/web", "--timeout=120s"]);
    let web: Value = serde_json::from_str(&namespace.kubectl(&["get", "deployment/web", "-o", "json"])).expect("JSON");
    let count = usize::try_from(web["spec"]["replicas"].as_u64().expect("a number")).expect("few");
    let pods = namespace.wait_ready("app=web", count);
    (web["spec"]["template"].clone(), pods.iter().map(|pod| pod["metadata"]["uid"].clone()).collect())
}

/// Goes first with a manifest; returns what the JSON lines say of it.
pub(crate) fn first(namespace: &Namespace, manifest: &str) -> (Value, Output) {
    let output = namespace.inplace_input(&[&FIRST[..], &["-o", "json"]].concat(), manifest);
    assert_eq!(output.code, 0, "{output:#?}");
    let mut lines = output.stdout.lines().map(|line| serde_json::from_str::<Value>(line).expect("a line is JSON"));
    let end = lines.next_back().expect("there are lines");
    assert_eq!(end["type"], "end", "{output:#?}");
    (end["handedOver"].clone(), output)
}

pub(crate) fn next_apply(namespace: &Namespace, manifest: &str) -> Value {
    let output = namespace.inplace_input(&["plan", "-f", "-", "--hand-over", "-o", "json"], manifest);
    let document: Value = serde_json::from_str(&output.stdout).unwrap_or_else(|error| panic!("{error}: {output:#?}"));
    let found = document["workloads"][0]["handOver"].clone();
    assert_eq!(output.code, if found["result"] == "unchanged" { 0 } else { 2 }, "{output:#?}");
    found
}

/// What applies the manifests next.
pub(crate) trait Engine {
    /// Installs or upgrades; a failure fails the test.
    fn apply(&self, namespace: &Namespace, manifest: &str);

    /// The same; returns whether no conflict with another manager of the fields has kept it from it.
    fn apply_unless_conflict(&self, namespace: &Namespace, manifest: &str) -> bool {
        self.apply(namespace, manifest);
        true
    }

    /// Goes back to the manifest before, after `undo`.
    fn back(&self, namespace: &Namespace, manifest: &str) {
        self.apply(namespace, manifest);
    }
}

impl Engine for Next {
    fn apply(&self, namespace: &Namespace, manifest: &str) {
        let arguments: &[&str] = match self {
            Self::ClientSide => &["apply", "-f", "-"],
            Self::ServerSide => &["apply", "--server-side", "--field-manager=helm", "-f", "-"],
        };
        namespace.kubectl_input(arguments, manifest);
    }
}

/// The first install, an update, the way back, and what cannot be done in place: the whole of a user's path.
pub(crate) fn goes_first<E: Engine>(namespace: &str, engine: impl Fn(&Namespace) -> E) {
    let namespace = Namespace::new(namespace);
    let engine = engine(&namespace);
    let manifest = samples::deployment("web", 2);
    assert_eq!(first(&namespace, &manifest).0, "absent", "a first install");
    engine.apply(&namespace, &manifest);
    let before = state(&namespace);

    let newer = samples::with_tag(&manifest, "side", "v2");
    assert_eq!(next_apply(&namespace, &newer)["podsReplaced"], 2);
    assert_eq!(first(&namespace, &newer).0, "inPlace");
    assert_eq!(next_apply(&namespace, &newer)["result"], "unchanged");
    let in_place = state(&namespace);
    assert_eq!(before.1, in_place.1);
    engine.apply(&namespace, &newer);
    assert_eq!(state(&namespace), in_place, "the same manifest changes nothing");

    // Back: what was before, in place, and then the manifest of that.
    let undone = namespace.inplace(&["undo", "deployment/web", "--yes", "--min-ready-seconds", "0"]);
    assert_eq!(undone.code, 0, "{undone:#?}");
    engine.back(&namespace, &manifest);
    assert_eq!(state(&namespace), before);

    let other = samples::with_app_fields(&newer, "env: [{name: A, value: b}]");
    let other = other.replace("terminationGracePeriodSeconds: 2", "terminationGracePeriodSeconds: 1");
    let (handed_over, output) = first(&namespace, &other);
    assert_eq!(handed_over, "left");
    assert!(output.stdout.contains("left to the next apply: TemplateFieldNotInPlace"), "{output:#?}");
    assert_eq!(state(&namespace), before, "nothing was written");
    assert_eq!(next_apply(&namespace, &other)["podsReplaced"], 2);
    engine.apply(&namespace, &other);
    let after = state(&namespace);
    assert!(after.1.iter().all(|uid| !before.1.contains(uid)), "an ordinary rollout");
}

#[test]
fn the_clients_side_finds_its_template_and_its_pods() {
    goes_first("first-client", |_| Next::ClientSide);
}

#[test]
fn the_servers_side_finds_its_template_and_its_pods() {
    goes_first("first-server", |_| Next::ServerSide);
}

#[test]
fn the_chart_of_a_stateful_set_and_a_daemon_set_goes_by_itself_each() {
    let namespace = Namespace::new("first-chart");
    let chart = format!(
        "{}---\n{}---\napiVersion: v1\nkind: Service\nmetadata: {{name: db}}\nspec: {{clusterIP: None, ports: [{{port: 80}}]}}\n",
        samples::stateful_set("db", 1),
        samples::daemon_set("log")
    );
    Next::ServerSide.apply(&namespace, &chart);
    let uids = |namespace: &Namespace| -> Vec<Value> {
        let pods = ["app=db", "app=log"].iter().flat_map(|selector| namespace.wait_ready(selector, 1));
        pods.map(|pod| pod["metadata"]["uid"].clone()).collect()
    };
    let before = uids(&namespace);
    let newer = samples::with_tag(&chart, "side", "v2");
    assert_eq!(first(&namespace, &newer).0, "inPlace");
    Next::ServerSide.apply(&namespace, &newer);
    for owner in ["statefulset/db", "daemonset/log"] {
        namespace.kubectl(&["rollout", "status", owner, "--timeout=120s"]);
    }
    assert_eq!(uids(&namespace), before);
}

/// The path of a user whose chart somebody has edited.
#[test]
fn a_field_that_kubectl_edit_has_set_is_released() {
    let namespace = Namespace::new("first-edited");
    let manifest = samples::deployment("web", 1);
    Next::ServerSide.apply(&namespace, &manifest);
    state(&namespace);
    let tagged = format!("{}/side:v2", registry());
    let patch = json!({"spec": {"template": {"spec": {"containers": [{"name": "side", "image": tagged}]}}}});
    namespace.kubectl(&["patch", "deployment/web", "--field-manager=kubectl-edit", "-p", &patch.to_string()]);
    state(&namespace);
    let newer = samples::with_tag(&manifest, "side", "v1-again");
    let helm = ["apply", "--server-side", "--field-manager=helm", "-f", "-"];
    let failed = namespace.try_kubectl(&helm, &newer);
    assert!(failed.code != 0 && failed.stderr.contains("conflict with \"kubectl-edit\""), "{failed:#?}");
    let found = next_apply(&namespace, &newer);
    let conflict = json!([{"field": "spec.containers[side].image", "manager": "kubectl-edit"}]);
    assert_eq!((&found["result"], &found["conflicts"]), (&json!("conflict"), &conflict));
    let plan = namespace.inplace_input(&["plan", "-f", "-"], &newer);
    assert!(plan.stderr.contains("(ForeignFieldManagers)"), "{plan:#?}");

    let released = namespace.inplace(&["release-fields", "deployment/web", "--yes"]);
    assert_eq!(released.code, 0, "{released:#?}");
    assert!(released.stdout.contains("kubectl-edit (20"), "{released:#?}");
    assert!(released.stdout.contains("): spec.containers[side].image\n"), "{released:#?}");
    namespace.kubectl_input(&helm, &newer);
    let again = namespace.inplace(&["release-fields", "deployment/web", "--yes"]);
    assert!(again.stderr.contains("no field manager but helm owns"), "{again:#?}");
}

/// Kept ownership is the plugin's own leftover.
#[test]
fn a_kept_ownership_is_released_too() {
    let namespace = Namespace::new("first-kept");
    let manifest = samples::deployment("web", 1);
    Next::ServerSide.apply(&namespace, &manifest);
    state(&namespace);
    let kept = ["apply", "deployment/web", "side=:v2", "--keep-field-ownership", "--yes", "--min-ready-seconds", "0"];
    assert_eq!(namespace.inplace(&kept).code, 0);
    let newer = samples::with_tag(&manifest, "side", "v1-again");
    assert_eq!(next_apply(&namespace, &newer)["conflicts"][0]["manager"], "inplace-cli");
    assert_eq!(namespace.inplace(&["release-fields", "deployment/web", "--yes"]).code, 0);
    Next::ServerSide.apply(&namespace, &newer);
}

/// What Helm's client side has set is known without its own record: the fields that a chart drops go in place, too.
#[test]
fn a_field_that_a_chart_drops_is_seen_without_a_record_of_the_last_apply() {
    let namespace = Namespace::new("first-dropped");
    let marks = "annotations: {meta.helm.sh/release-name: shop, meta.helm.sh/release-namespace: shop}";
    let manifest = samples::deployment("web", 1).replacen("{name: web}", &format!("{{name: web, {marks}}}"), 1);
    let noted = manifest.replacen("labels: {app: web}", "labels: {app: web}\n      annotations: {note: one}", 1);
    assert_ne!(manifest, noted);
    namespace.kubectl_input(&["create", "--field-manager=helm", "-f", "-"], &noted);
    let (_, uids) = state(&namespace);
    assert_eq!(next_apply(&namespace, &noted)["result"], "unchanged");
    let set = namespace.kubectl(&["annotate", "deployment/web", "other=value"]);
    assert!(set.contains("annotated"));
    assert_eq!(next_apply(&namespace, &manifest)["paths"], json!(["metadata.annotations"]));
    assert_eq!(first(&namespace, &manifest).0, "inPlace");
    let (template, after) = state(&namespace);
    assert_eq!((template["metadata"].get("annotations"), after), (None, uids));
    assert_eq!(next_apply(&namespace, &manifest)["result"], "unchanged");
}

/// Flux removes what kubectl has set, though its own apply is of the same manifest.
#[test]
fn what_flux_will_remove_is_foretold() {
    let namespace = Namespace::new("first-flux");
    let api = Api::open();
    let manifest = samples::deployment("web", 1);
    namespace.kubectl_input(&["apply", "--server-side", "--field-manager=kustomize-controller", "-f", "-"], &manifest);
    state(&namespace);
    assert_eq!(next_apply(&namespace, &manifest)["result"], "unchanged");
    let patch = json!({"spec": {"template": {"metadata": {"annotations": {"note": "one"}}}}});
    namespace.kubectl(&["patch", "deployment/web", "--field-manager=kubectl-edit", "-p", &patch.to_string()]);
    let (edited, _) = state(&namespace);
    assert_eq!(next_apply(&namespace, &manifest)["paths"], json!(["metadata.annotations"]));
    let path = format!("/apis/apps/v1/namespaces/{}/deployments/web", namespace.name());
    reconcile_by_flux(&api, &path, &manifest);
    assert_ne!(state(&namespace).0, edited);
    assert_eq!(next_apply(&namespace, &manifest)["result"], "unchanged");
}

/// One random change of a manifest: of what changes in place, and of what does not.
fn change(random: &mut Random, manifest: &str) -> String {
    let tag = random.pick(&["v1", "v2"]);
    let metadata =
        random.pick(&["", "\n      annotations: {note: one}", "\n      annotations: {note: two, more: '1'}"]);
    let env = if random.one_in(5) { ", env: [{name: A, value: b}]" } else { "" };
    let resources = random.pick(&["", ", resources: {requests: {cpu: 10m}}", ", resources: {requests: {cpu: 20m}}"]);
    let manifest = samples::with_tag(manifest, "side", tag);
    let manifest = samples::with_tag(&manifest, "app", random.pick(&["v1", "v2", "v1-again"]));
    let manifest = manifest.replacen("labels: {app: web}", &format!("labels: {{app: web}}{metadata}"), 1);
    let at = manifest.find("{name: app,").expect("there is the container");
    let end = manifest[at..].find('}').expect("it ends") + at;
    format!("{}{resources}{env}{}", &manifest[..end], &manifest[end..])
}

/// Whatever the change: if it went first, the next apply changes nothing and replaces no pod, as was foretold.
fn random_changes(next: Next, seed: u64) {
    const CHANGES: usize = 16;
    let namespace = Namespace::new("first-random");
    let manifest = samples::deployment("web", 1);
    next.apply(&namespace, &manifest);
    let mut random = Random::new(seed);
    let (mut in_place, mut left) = (0, 0);
    for index in 0..CHANGES {
        let newer = change(&mut random, &manifest);
        let before = state(&namespace);
        let (handed_over, output) = first(&namespace, &newer);
        let foretold = next_apply(&namespace, &newer);
        let between = state(&namespace);
        next.apply(&namespace, &newer);
        let after = state(&namespace);
        let context = format!("{next:?}, seed {seed}, {index}: {newer}\n{output:#?}\n{foretold}");
        assert_eq!(before.1, between.1, "{context}");
        assert_eq!(foretold["result"] == "unchanged", between.0 == after.0, "{context}");
        if handed_over == "inPlace" {
            assert_eq!(between, after, "{context}");
            in_place += 1;
        } else {
            left += 1;
        }
    }
    assert!(in_place > 2 && left > 0, "{in_place} in place, {left} left");
}

#[test]
fn random_changes_from_the_clients_side() {
    random_changes(Next::ClientSide, 1);
}

#[test]
fn random_changes_from_the_servers_side() {
    random_changes(Next::ServerSide, 2);
}

#[test]
fn a_run_that_is_killed_is_finished_by_the_same_command() {
    let namespace = Namespace::new("first-killed");
    let manifest = samples::deployment("web", 2);
    Next::ServerSide.apply(&namespace, &manifest);
    let before = state(&namespace);
    let newer = samples::with_tag(&manifest, "side", "v2");
    // The hold of the first pod leaves time to kill it.
    let file = std::env::temp_dir().join(format!("{}.yaml", namespace.name()));
    std::fs::write(&file, &newer).expect("a temporary file can be written");
    let path = file.to_str().expect("a path of ours is text");
    let running =
        namespace.inplace_spawn(&["apply", "-f", path, "--if-possible", "--yes", "--min-ready-seconds", "60"]);
    let patched = |pods: &[Value]| pods.iter().any(|pod| image(pod, "side") == "side:v2");
    namespace.wait_pods("app=web", patched);
    running.signal("KILL");
    running.wait();
    let finished =
        namespace.inplace_after_a_kill(&["apply", "-f", path, "--if-possible", "--yes", "--min-ready-seconds", "0"]);
    assert_eq!(finished.code, 0, "{finished:#?}");
    let between = state(&namespace);
    assert_eq!(before.1, between.1);
    Next::ServerSide.apply(&namespace, &newer);
    assert_eq!(state(&namespace), between);
    let pods = namespace.pods("app=web");
    assert!(pods.iter().all(|pod| image(pod, "side") == "side:v2"), "{:?}", pods.iter().map(name).collect::<Vec<_>>());
    std::fs::remove_file(&file).expect("it is still there");
}
