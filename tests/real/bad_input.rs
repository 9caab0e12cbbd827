//! Bad input and missing permissions: a clear error, the right exit code, and nothing touched.

use std::net::TcpListener;

use serde_json::Value;

use crate::support::{Namespace, Output, Running, kubeconfig, name, samples};

/// Asserts the exit code and that the program says each of the words, on stdout or stderr.
fn assert_says(output: &Output, code: i32, words: &[&str]) {
    assert_eq!(output.code, code, "{output:#?}");
    for word in words {
        assert!(output.stdout.contains(word) || output.stderr.contains(word), "{word:?} is missing: {output:#?}");
    }
}

/// A Deployment with two pods, and a check whether anything changed them.
struct Untouched {
    namespace: Namespace,
    before: Vec<Value>,
}

impl Untouched {
    fn new(name: &str) -> Self {
        let namespace = Namespace::new(name);
        namespace.apply(&samples::deployment("web", 2));
        let before = namespace.wait_ready("app=web", 2);
        Self { namespace, before }
    }

    fn check(&self) {
        let versions = |pods: &[Value]| -> Vec<Value> {
            pods.iter().map(|pod| pod["metadata"]["resourceVersion"].clone()).collect()
        };
        assert_eq!(versions(&self.before), versions(&self.namespace.pods("app=web")));
    }

    /// Lets a user of its own do the rules (`verbs: [..], resources: [..]`), and returns the user's name.
    fn user(&self, name: &str, rules: &[(&str, &str, &[&str])]) -> String {
        let user = format!("{name}-{}", self.namespace.name());
        let rules: String = rules
            .iter()
            .map(|(group, resource, verbs)| {
                format!("- {{apiGroups: ['{group}'], resources: [{resource}], verbs: [{}]}}\n", verbs.join(", "))
            })
            .collect();
        let role = if rules.is_empty() { "rules: []\n".to_owned() } else { format!("rules:\n{rules}") };
        self.namespace.apply(&format!(
            "apiVersion: rbac.authorization.k8s.io/v1\nkind: Role\nmetadata: {{name: {name}}}\n{role}---\n\
             apiVersion: rbac.authorization.k8s.io/v1\nkind: RoleBinding\nmetadata: {{name: {name}}}\n\
             roleRef: {{apiGroup: rbac.authorization.k8s.io, kind: Role, name: {name}}}\n\
             subjects: [{{apiGroup: rbac.authorization.k8s.io, kind: User, name: {user}}}]\n"
        ));
        let wait = format!(
            "until kubectl auth can-i get deployments.apps -n {} --as {user} >/dev/null; do sleep 0.1; done",
            self.namespace.name()
        );
        assert_eq!(self.namespace.type_line(&wait).code, 0);
        user
    }
}

const READ: &[&str] = &["get", "list", "watch"];

#[test]
fn a_missing_permission_is_named_with_verb_and_resource() {
    let web = Untouched::new("bad-permission");
    let apply =
        |user: &str| web.namespace.inplace(&["apply", "deploy/web", "side=:v2", "--pods-only", "--yes", "--as", user]);
    let owners = [("apps", "deployments", READ), ("apps", "replicasets", READ)];

    let reader = web.user("reader", &[owners[0], owners[1], ("", "pods", READ)]);
    assert_says(&apply(&reader), 3, &["PermissionMissing", "patch", "pods"]);
    let plan = web.namespace.inplace(&["plan", "deploy/web", "side=:v2", "--as", &reader, "--detailed-exitcode"]);
    assert_says(&plan, 2, &["PermissionMissing", "patch", "pods"]);

    let blind = web.user("blind", &owners);
    assert_says(&apply(&blind), 3, &["PermissionMissing", "list pods"]);

    let half = web.user("half", &[owners[0], ("", "pods", READ)]);
    assert_says(&apply(&half), 3, &["PermissionMissing", "list replicasets"]);

    // Without the watch nothing could be seen through, so nothing is begun.
    let no_watch = web.user("nowatch", &[owners[0], owners[1], ("", "pods", &["get", "list", "patch"])]);
    assert_says(&apply(&no_watch), 3, &["PermissionMissing", "watch pods"]);
    let follow = web.namespace.inplace(&["follow", "deploy/web", "--as", &no_watch]);
    assert_says(&follow, 1, &["cannot watch resource \"pods\""]);

    // A stranger does not even learn whether it exists.
    assert_says(&apply("stranger"), 1, &["cannot get resource \"deployments\""]);
    web.check();
}

#[test]
fn names_that_do_not_exist_are_reported() {
    let web = Untouched::new("bad-names");
    let cases: [(&[&str], i32, &[&str]); 9] = [
        (&["deploy/web", "sid=:v2"], 3, &["ContainerNotFound", "there is no container sid", "did you mean side?"]),
        (&["deploy/nix", "side=:v2"], 1, &["deployments.apps \"nix\" not found"]),
        (&["pod/nix", "side=:v2"], 1, &["pods \"nix\" not found"]),
        (
            &["deploymnt/web", "side=:v2"],
            1,
            &["unsupported kind \"deploymnt\"", "the whole command: ", "deployment/web"],
        ),
        (&["service/web", "side=:v2"], 1, &["\"service\"", "deployment, statefulset"]),
        (&["deploy", "-l", "app=nix", "side=:v2"], 1, &["no workload", "app=nix"]),
        (&["deploy/web", "side=:v2", "--context", "nix"], 1, &["context \"nix\" does not exist"]),
        (&["deploy/web"], 1, &["no image"]),
        (&["side=:v2"], 1, &["no workload was named"]),
    ];
    for (arguments, code, words) in cases {
        assert_says(&web.namespace.inplace(&[&["apply", "--pods-only", "--yes"], arguments].concat()), code, words);
    }
    // The last -n counts, so the flag goes through a line of its own.
    let line = "kubectl inplace apply deploy/web side=:v2 --pods-only --yes -n no-such-namespace";
    assert_says(&web.namespace.type_line(line), 1, &["namespaces \"no-such-namespace\" not found"]);
    web.check();
}

#[test]
fn images_that_are_none_are_refused_before_anything_is_asked() {
    let web = Untouched::new("bad-images");
    let cases = [
        ("side=", "image is empty"),
        ("side=:", "tag"),
        ("side=UPPER/Case:1", "upper-case"),
        ("side= side:v2", "whitespace"),
        ("side=a b", "image reference"),
        ("side=side:v2@sha256:12", "digest"),
        ("side=https://registry.example/side:v2", "URL scheme"),
        ("=side:v2", "=side:v2"),
        ("*=side:v2", "--all-containers"),
    ];
    for (image, word) in cases {
        let output = web.namespace.inplace(&["apply", "deploy/web", image, "--pods-only", "--yes"]);
        assert_says(&output, 1, &[word]);
        assert!(output.stderr.starts_with("error: "), "{output:#?}");
    }
    // In a manifest it is the plan that finds it, as one of its reasons.
    let manifest = samples::with_tag(&samples::deployment("web", 2), "side", "v2 ");
    let output = web.namespace.inplace_input(&["apply", "-f", "-", "--pods-only", "--yes"], &manifest);
    assert_says(&output, 3, &["side:v2 "]);
    web.check();
}

#[test]
fn manifests_that_are_none_are_refused_with_their_place() {
    let web = Untouched::new("bad-manifests");
    let twice = format!("{0}---\n{0}", samples::with_tag(&samples::deployment("web", 2), "side", "v2"));
    let cases = [
        ("kind: Deployment\napiVersion: apps/v1\nmetadata: {name: web\n", 1, vec!["standard input:3:11", "unclosed"]),
        ("kind: Deployment\nmetadata:\n\tname: web\n", 1, vec!["standard input:3:2", "tabs"]),
        (
            "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n",
            1,
            vec!["configmap/a: skipped", "no workload in standard input"],
        ),
        (
            "apiVersion: batch/v1\nkind: Job\nmetadata: {name: a}\n",
            1,
            vec!["job.batch/a: skipped", "workloads are Deployment"],
        ),
        ("apiVersion: apps/v1\nkind: Deployment\n", 1, vec!["metadata.name"]),
        ("just a sentence\n", 1, vec!["expected an object"]),
        ("", 1, vec!["standard input"]),
        (twice.as_str(), 1, vec!["Deployment", "web", "given twice", "standard input:1 "]),
    ];
    for (manifest, code, words) in cases {
        let output = web.namespace.inplace_input(&["apply", "-f", "-", "--pods-only", "--yes"], manifest);
        assert_says(&output, code, &words);
    }
    let missing = web.namespace.inplace(&["apply", "-f", "no-such-file.yaml", "--pods-only", "--yes"]);
    assert_says(&missing, 1, &["no-such-file.yaml", "does not exist"]);
    let elsewhere =
        samples::deployment("web", 2).replace("metadata: {name: web}", "metadata: {name: web, namespace: other}");
    let output = web.namespace.inplace_input(&["apply", "-f", "-", "--pods-only", "--yes"], &elsewhere);
    assert_says(&output, 1, &["does not match the namespace"]);
    web.check();
}

#[test]
fn a_server_that_cannot_be_reached_is_reported() {
    let namespace = Namespace::new("bad-server");
    let refused = namespace.inplace(&["plan", "deploy/web", "side=:v2", "--server", "https://127.0.0.1:1"]);
    assert_says(&refused, 1, &["127.0.0.1:1 was refused"]);

    // Somebody listens and never answers.
    let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
    let url = format!("https://{}", listener.local_addr().expect("a bound port"));
    let silent = namespace.inplace(&["plan", "deploy/web", "side=:v2", "--server", &url, "--request-timeout", "1s"]);
    assert_says(&silent, 1, &["did not answer within 1s"]);
    assert!(silent.elapsed.as_secs() < 5, "{silent:#?}");

    let without = |flags: &[&str]| {
        let mut nowhere = namespace.inplace_command(&[&["plan", "pod/nix", "side=:v2"], flags].concat());
        nowhere.env_remove("KUBECONFIG");
        Running::start(nowhere).wait()
    };
    assert_says(&without(&[]), 1, &["error: ", "kubeconfig"]);
    assert_says(&without(&["--kubeconfig", kubeconfig()]), 1, &["pods \"nix\" not found"]);
    assert_says(&without(&["--kubeconfig", "/no/such/kubeconfig"]), 1, &["error: ", "/no/such/kubeconfig"]);
}

#[test]
fn consent_is_asked_for() {
    let web = Untouched::new("bad-consent");
    let pod = web.namespace.pods("app=web").first().map(|pod| format!("pod/{}", name(pod))).expect("a pod");
    let owned = web.namespace.inplace(&["apply", &pod, "side=:v2", "--yes"]);
    assert_says(&owned, 3, &["PodIsControlled", "--pods-only"]);
    let unasked = web.namespace.inplace(&["apply", "deploy/web", "side=:v2", "--pods-only"]);
    assert_says(&unasked, 1, &["no terminal", "--yes"]);
    let same = web.namespace.inplace(&["apply", "deploy/web", "side=:v1", "--pods-only", "--yes"]);
    assert_says(&same, 0, &["No changes."]);
    let zero =
        web.namespace.inplace(&["apply", "deploy/web", "side=:v2", "--pods-only", "--yes", "--max-unavailable", "0"]);
    assert_says(&zero, 1, &["must be at least 1"]);
    web.check();
}
