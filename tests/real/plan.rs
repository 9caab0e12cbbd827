//! `plan`: says what would happen and changes nothing.

use serde_json::Value;

use crate::support::{Namespace, Output, Running, images, name, registry, samples};

/// Returns what a write of anybody would change.
fn versions(pods: &[Value]) -> Vec<&Value> {
    pods.iter().map(|pod| &pod["metadata"]["resourceVersion"]).collect()
}

fn document(output: &Output) -> Value {
    serde_json::from_str(&output.stdout).unwrap_or_else(|error| panic!("{error}: {output:#?}"))
}

/// Returns code and path of each reason that keeps the first workload from being updated in place.
fn reasons(output: &Output) -> Vec<(String, String)> {
    let document = document(output);
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let reasons = document["workloads"][0]["reasons"].as_array().cloned().unwrap_or_default();
    reasons.iter().map(|reason| (text(&reason["code"]), text(&reason["path"]))).collect()
}

#[test]
fn a_plan_changes_nothing_and_shows_each_pod() {
    let namespace = Namespace::new("plan-words");
    namespace.apply(&samples::deployment("web", 2));
    let before = namespace.wait_ready("app=web", 2);
    let text = namespace.inplace(&["plan", "deployment/web", "side=:v2", "-o", "wide"]);
    assert_eq!(text.code, 0, "{text:#?}");
    let json = namespace.inplace(&["plan", "deployment/web", "side=:v2", "-o", "json", "--detailed-exitcode"]);
    assert_eq!(json.code, 2, "{json:#?}");
    let after = namespace.pods("app=web");
    assert_eq!(versions(&before), versions(&after));

    let document = document(&json);
    assert_eq!((&document["kind"], &document["result"]), (&"Plan".into(), &"changes".into()));
    let workload = &document["workloads"][0];
    assert_eq!(workload["checkedByServer"], true);
    for pod in &before {
        assert!(text.stdout.contains(name(pod)), "{text:#?}");
        let planned = workload["pods"].as_array().into_iter().flatten().find(|planned| planned["name"] == name(pod));
        let planned = planned.unwrap_or_else(|| panic!("{} is missing: {document:#}", name(pod)));
        assert_eq!((&planned["uid"], &planned["verdict"]), (&pod["metadata"]["uid"], &"update".into()));
        let change = &planned["changes"][0];
        let expected = [format!("{}/side:v1", registry()), format!("{}/side:v2", registry())];
        assert_eq!([&change["from"], &change["to"]], expected.each_ref().map(String::as_str));
    }

    let none = namespace.inplace(&["plan", "deployment/web", "side=:v1", "--detailed-exitcode"]);
    assert_eq!(none.code, 0, "{none:#?}");
    assert!(none.stdout.contains("No changes."), "{none:#?}");
    let blocked = namespace.inplace(&["plan", "deployment/web", "sid=:v2", "--detailed-exitcode"]);
    assert_eq!(blocked.code, 3, "{blocked:#?}");
    assert!(
        blocked.stdout.contains("ContainerNotFound") && blocked.stdout.contains("did you mean side?"),
        "{blocked:#?}"
    );
    assert_eq!(versions(&before), versions(&namespace.pods("app=web")));
}

/// Plans a manifest, and returns the exit code's word with the reasons.
fn planned(namespace: &Namespace, manifest: &str) -> Output {
    namespace.inplace_input(&["plan", "-f", "-", "-o", "json", "--detailed-exitcode"], manifest)
}

/// What a manifest means is what `kubectl apply` would store, however it was applied before.
fn manifests_are_compared_as_the_server_would_store_them(namespace: &Namespace, apply: &[&str]) {
    let base = samples::deployment("web", 1);
    let manifest = samples::with_app_fields(&base, "env: [{name: A, value: one}]");
    namespace.kubectl_input(apply, &manifest);
    let before = namespace.wait_ready("app=web", 1);

    // Everything that the server has filled in is left out: no change.
    let same = planned(namespace, &manifest);
    assert_eq!((same.code, document(&same)["result"].as_str()), (0, Some("nothingToDo")), "{same:#?}");
    let bumped = planned(namespace, &samples::with_tag(&manifest, "side", "v2"));
    assert_eq!((bumped.code, document(&bumped)["result"].as_str()), (2, Some("changes")), "{bumped:#?}");

    let cases = [
        (
            "a value",
            samples::with_app_fields(&base, "env: [{name: A, value: two}]"),
            "spec.containers[app].env[A].value",
        ),
        ("a field removed", base.clone(), "spec.containers[app].env"),
        (
            "a field added",
            samples::with_app_fields(&base, "env: [{name: A, value: one}], workingDir: /tmp"),
            "spec.containers[app].workingDir",
        ),
    ];
    for (what, manifest, path) in cases {
        let output = planned(namespace, &samples::with_tag(&manifest, "side", "v2"));
        assert_eq!(output.code, 3, "{what}: {output:#?}");
        let reasons = reasons(&output);
        assert!(
            matches!(reasons.as_slice(), [(code, at)] if code == "TemplateFieldNotInPlace" && at.starts_with(path)),
            "{what}: {reasons:?}"
        );
    }
    assert_eq!(versions(&before), versions(&namespace.pods("app=web")));
}

#[test]
fn a_manifest_is_compared_under_client_side_apply() {
    let namespace = Namespace::new("plan-last-applied");
    manifests_are_compared_as_the_server_would_store_them(&namespace, &["apply", "-f", "-"]);
}

#[test]
fn a_manifest_is_compared_under_server_side_apply() {
    let namespace = Namespace::new("plan-server-side");
    manifests_are_compared_as_the_server_would_store_them(&namespace, &["apply", "--server-side", "-f", "-"]);
}

#[test]
fn what_others_added_stays_and_is_no_change() {
    let namespace = Namespace::new("plan-others");
    let manifest = samples::deployment("web", 1);
    namespace.apply(&manifest);
    namespace.wait_ready("app=web", 1);
    let added = r#"{"spec":{"template":{"metadata":{"annotations":{"kubectl.kubernetes.io/restartedAt":"2026-01-01T00:00:00Z"}}}}}"#;
    namespace.kubectl(&["patch", "deployment/web", "-p", added]);
    namespace.kubectl(&["rollout", "status", "deployment/web", "--timeout=120s"]);
    namespace.wait_ready("app=web", 1);
    let same = planned(&namespace, &manifest);
    assert_eq!(same.code, 0, "{same:#?}");
}

/// A policy of the cluster that refuses an image in one namespace; removed with this value.
struct Policy<'a> {
    namespace: &'a Namespace,
}

impl<'a> Policy<'a> {
    const SENTENCE: &'static str = "v3 has not been approved yet";

    fn new(namespace: &'a Namespace) -> Self {
        let name = namespace.name();
        namespace.apply(&format!(
            "apiVersion: admissionregistration.k8s.io/v1\nkind: ValidatingAdmissionPolicy\nmetadata: {{name: {name}}}\nspec:\n\
             \x20 matchConstraints:\n    resourceRules: [{{apiGroups: [''], apiVersions: [v1], operations: [UPDATE], resources: [pods]}}]\n\
             \x20 validations:\n  - {{expression: \"object.spec.containers.all(c, !c.image.endsWith('side:v3'))\", message: '{}'}}\n\
             ---\napiVersion: admissionregistration.k8s.io/v1\nkind: ValidatingAdmissionPolicyBinding\nmetadata: {{name: {name}}}\nspec:\n\
             \x20 policyName: {name}\n  validationActions: [Deny]\n\
             \x20 matchResources: {{namespaceSelector: {{matchLabels: {{kubernetes.io/metadata.name: {name}}}}}}}\n",
            Self::SENTENCE
        ));
        Self { namespace }
    }
}

impl Drop for Policy<'_> {
    fn drop(&mut self) {
        let name = self.namespace.name();
        let kinds = "validatingadmissionpolicies,validatingadmissionpolicybindings";
        self.namespace.type_line(&format!("kubectl delete {kinds} {name} --ignore-not-found --wait=false"));
    }
}

#[test]
fn a_policys_refusal_is_found_by_the_dry_run() {
    let namespace = Namespace::new("plan-policy");
    namespace.apply(&samples::deployment("web", 2));
    let before = namespace.wait_ready("app=web", 2);
    let _policy = Policy::new(&namespace);
    let pod = before.first().map(name).expect("two pods");
    // The server takes a moment to compile a policy.
    let line = format!(
        "until kubectl set image pod/{pod} side={}/side:v3 --dry-run=server -n {} 2>&1 | grep -q approved; do sleep 0.2; done",
        registry(),
        namespace.name()
    );
    assert_eq!(namespace.type_line(&line).code, 0);

    let allowed = namespace.inplace(&["plan", "deploy/web", "side=:v2", "--detailed-exitcode"]);
    assert_eq!(allowed.code, 2, "{allowed:#?}");
    let plan = namespace.inplace(&["plan", "deploy/web", "side=:v3", "--detailed-exitcode"]);
    assert_eq!(plan.code, 3, "{plan:#?}");
    assert!(plan.stdout.contains("AdmissionRefused") && plan.stdout.contains(Policy::SENTENCE), "{plan:#?}");
    let apply = namespace.inplace(&["apply", "deploy/web", "side=:v3", "--pods-only", "--yes"]);
    assert_eq!(apply.code, 3, "{apply:#?}");
    assert!(apply.stdout.contains(Policy::SENTENCE), "{apply:#?}");
    let after = namespace.pods("app=web");
    assert_eq!(versions(&before), versions(&after));
    assert_eq!(images(&after, "side"), ["side:v1"; 2]);
}

#[test]
fn a_dry_run_of_apply_changes_nothing() {
    let namespace = Namespace::new("plan-dry-run");
    namespace.apply(&samples::deployment("web", 1));
    let before = namespace.wait_ready("app=web", 1);
    for mode in ["--dry-run=client", "--dry-run=server"] {
        let running: Running = namespace.inplace_spawn(&["apply", "deploy/web", "side=:v2", mode]);
        let output = running.wait();
        assert_eq!(output.code, 0, "{mode}: {output:#?}");
        assert!(output.stdout.contains("can be updated in place: 1 pod"), "{mode}: {output:#?}");
    }
    assert_eq!(versions(&before), versions(&namespace.pods("app=web")));
}
