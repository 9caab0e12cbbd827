//! Images are pulled before any container is killed; and a PodDisruptionBudget is kept, as a watcher of its own counts.

use std::process::Command;
use std::time::Duration;

use serde_json::Value;

use crate::support::{
    Api, AuthRegistry, Kind, Namespace, Output, Owner, container_status, containerd, image, images, is_ready, name,
    poll, registry, restarted, samples, side_by_side,
};

/// What must be the same after a pull that failed.
struct Untouched {
    template: Value,
    pods: Vec<Value>,
}

fn object(namespace: &Namespace) -> Value {
    serde_json::from_str(&namespace.kubectl(&["get", "deployment", "web", "-o", "json"])).expect("JSON")
}

fn pull_pods(namespace: &Namespace) -> String {
    namespace.kubectl(&["get", "pods", "-l", "kubectl-inplace.io/pull", "-o", "name"])
}

impl Untouched {
    fn new(namespace: &Namespace, secret: bool) -> Self {
        let manifest = samples::deployment("web", 2);
        let with_secret = "      imagePullSecrets: [{name: credentials}]\n      containers:\n";
        let manifest = if secret { manifest.replacen("      containers:\n", with_secret, 1) } else { manifest };
        namespace.apply(&manifest);
        // Where there was one without the Secret, its pods are replaced.
        namespace.kubectl(&["rollout", "status", "deployment/web", "--timeout=120s"]);
        let pods = namespace.wait_ready("app=web", 2);
        Self { template: object(namespace)["spec"].clone(), pods }
    }

    /// Asserts exit code 4 within the time, the words, and that nothing happened.
    #[track_caller]
    fn fails(&self, namespace: &Namespace, image: &str, words: &[&str]) -> Output {
        let output = namespace.inplace(&["apply", "deploy/web", &format!("app={image}"), "--yes"]);
        assert_eq!(output.code, 4, "{output:#?}");
        for word in words.iter().chain(&["cannot pull", "no container was touched"]) {
            assert!(output.stdout.contains(word), "{word}: {output:#?}");
        }
        // It does not wait for the deadline of the pod that pulls, which is minutes.
        assert!(output.elapsed < Duration::from_secs(60), "{output:#?}");
        assert_eq!(object(namespace)["spec"], self.template, "the owner is as it was");
        assert_eq!(restarted(&self.pods, &namespace.pods("app=web")), [""; 0], "no container was killed");
        assert_eq!(pull_pods(namespace), "", "a pod of ours is left");
        println!("{image}: exit 4 after {:.1} s", output.elapsed.as_secs_f64());
        output
    }
}

/// Takes images from the node, whose tests would find them there otherwise; `false` where that cannot be done. It waits for
/// the node's own list of them, which the kubelet renews twice a minute: who reads the old one has nothing pulled.
fn forget(images: &[&str]) -> bool {
    let Some(socket) = containerd() else { return false };
    let remove = ["-a", socket, "-n", "k8s.io", "images", "rm", "--sync"];
    if Command::new("ctr").args(remove).args(images).output().is_err() {
        return false;
    }
    let api = Api::open();
    let is_renewed = || {
        let node = api.get("/api/v1/nodes/node-1");
        let listed = node["status"]["images"].as_array().into_iter().flatten();
        let mut names = listed.filter_map(|image| image["names"].as_array()).flatten().filter_map(Value::as_str);
        (!names.any(|name| images.contains(&name))).then_some(())
    };
    poll(is_renewed).expect("the node lists what it has");
    true
}

#[test]
fn a_tag_that_does_not_exist_costs_nothing() {
    let namespace = Namespace::new("pre-pull-tag");
    let before = Untouched::new(&namespace, false);
    before.fails(&namespace, ":nope", &["app:nope: not found"]);
}

#[test]
fn a_registry_that_is_down_costs_nothing() {
    let namespace = Namespace::new("pre-pull-down");
    // Nobody listens on port 1.
    Untouched::new(&namespace, false).fails(&namespace, "127.0.0.1:1/app:v2", &["127.0.0.1:1", "connection refused"]);
    let Some(mut registry) = AuthRegistry::alone() else { return };
    registry.credentials(&namespace, registry.password());
    let before = Untouched::new(&namespace, true);
    let wanted = registry.image("side:v3");
    forget(&[&wanted]);
    let stopped = registry.stop();
    before.fails(&namespace, &wanted, &[wanted.split('/').next().unwrap_or_default(), "connection refused"]);
    drop(stopped);
    // It was down, and nothing else was wrong.
    let output = namespace.inplace(&["apply", "deploy/web", &format!("app={wanted}"), "--yes"]);
    assert_eq!(output.code, 0, "{output:#?}");
    assert_eq!(images(&namespace.wait_ready("app=web", 2), "app"), ["side:v3"; 2]);
}

/// No test pulls this one with success, so that no node has it.
const NEVER_PULLED: &str = "app:v3";

#[test]
fn a_registry_that_wants_credentials_and_gets_none_costs_nothing() {
    let Some(registry) = AuthRegistry::shared() else { return };
    let namespace = Namespace::new("pre-pull-none");
    let wanted = registry.image(NEVER_PULLED);
    // The pods name no Secret; then one that does not exist.
    for secret in [false, true] {
        Untouched::new(&namespace, secret).fails(&namespace, &wanted, &["401 Unauthorized"]);
    }
}

#[test]
fn a_wrong_password_costs_nothing_and_is_not_shown() {
    let Some(registry) = AuthRegistry::shared() else { return };
    let namespace = Namespace::new("pre-pull-wrong");
    registry.credentials(&namespace, "guessed");
    let before = Untouched::new(&namespace, true);
    let output = before.fails(&namespace, &registry.image(NEVER_PULLED), &["401 Unauthorized"]);
    assert!(!output.stdout.contains("guessed") && !output.stderr.contains("guessed"), "{output:#?}");
}

#[test]
fn a_registry_that_wants_credentials_gets_those_of_the_pods() {
    let Some(registry) = AuthRegistry::shared() else { return };
    let namespace = Namespace::new("pre-pull-right");
    registry.credentials(&namespace, registry.password());
    let before = Untouched::new(&namespace, true);
    let wanted = registry.image("app:v2");
    forget(&[&wanted]);
    let line = ["apply", "deploy/web", &format!("app={wanted}"), "--yes"];
    let output = namespace.inplace(&line);
    assert_eq!(output.code, 0, "{output:#?}");
    let after = namespace.wait_ready("app=web", 2);
    assert_eq!(images(&after, "app"), ["app:v2"; 2]);
    assert_eq!(restarted(&before.pods, &after).len(), 2);
    assert_eq!(pull_pods(&namespace), "");
    assert!(output.stderr.contains("pulls"), "{output:#?}");
    assert!(!output.stdout.contains(registry.password()) && !output.stderr.contains(registry.password()));
}

/// What a namespace asks of the pods in it, each of which a pod with next to nothing as its request does not meet.
const RULES: [(&str, &str); 5] = [
    ("min", "{kind: LimitRange, spec: {limits: [{type: Container, min: {cpu: 60m, memory: 40Mi}}]}}"),
    ("max-of-pod", "{kind: LimitRange, spec: {limits: [{type: Pod, max: {cpu: 200m, memory: 64Mi}}]}}"),
    ("ratio", "{kind: LimitRange, spec: {limits: [{type: Container, maxLimitRequestRatio: {cpu: 2, memory: 2}}]}}"),
    ("limits", "{kind: ResourceQuota, spec: {hard: {limits.cpu: '1', limits.memory: 1Gi}}}"),
    ("full", "{kind: ResourceQuota, spec: {hard: {pods: '1'}}}"),
];

/// Makes the rule, and waits until pods are refused for it: informers and the quota controller may be a moment late.
fn rule(namespace: &Namespace, yaml: &str) {
    let yaml = yaml.strip_prefix('{').unwrap_or_default();
    namespace.apply(&format!("{{apiVersion: v1, metadata: {{name: rule}}, {yaml}"));
    let pod = r#"{"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "p"}, "spec": {"containers": [
        {"name": "c", "image": "i", "resources": {"requests": {"cpu": "1m", "memory": "1Mi"}}}]}}"#;
    let create = || namespace.try_kubectl(&["create", "--dry-run=server", "-f", "-"], pod);
    poll(|| (create().code != 0).then_some(())).expect("such a pod is refused");
}

/// Whatever a namespace asks of its pods, the plan says that an image is pulled first only where it is.
#[test]
fn what_the_plan_promises_of_a_pull_is_done_in_every_namespace() {
    let api = Api::open();
    let kinds = [Kind::Deployment, Kind::StatefulSet, Kind::DaemonSet];
    let all = kinds.into_iter().flat_map(|kind| RULES.map(|(name, yaml)| (kind, name, yaml)));
    side_by_side(4, all.collect::<Vec<_>>(), |(kind, name, yaml)| {
        let namespace = Namespace::new(&format!("pre-pull-{}-{name}", kind.word()));
        let owner = Owner::new(&namespace, &api, kind, (1, 1), "");
        rule(&namespace, yaml);
        let line = |verb: &str, more: &[&str]| {
            let reference = owner.reference();
            namespace.inplace(&[&[verb, reference.as_str(), "c1=:v2", "--pre-pull", "always"], more].concat())
        };
        let plan = line("plan", &[]);
        if name == "full" {
            assert_eq!(plan.code, 0, "{plan:#?}");
            assert!(plan.stdout.contains("PullPodRefused") && plan.stdout.contains("exceeded quota"), "{plan:#?}");
            assert_eq!(line("apply", &["--yes"]).code, 3);
            owner.assert_same_pods(name);
            // Where it is not required, the kubelet pulls by itself, and nothing is promised. What the node lacks is not known
            // to this test: so it is asked of an image that no node has, and only planned.
            let wanted = format!("c1={}", NEVER_PULLED.replace("app", "side"));
            let auto = namespace.inplace(&["plan", &owner.reference(), &wanted]);
            assert!(auto.stderr.contains("NotPulledFirst") && !auto.stdout.contains("pulls"), "{auto:#?}");
            return;
        }
        assert!(plan.stdout.contains("pulls") && plan.stdout.contains("first"), "{kind:?} {name}: {plan:#?}");
        let output = line("apply", &["--yes"]);
        assert_eq!(output.code, 0, "{kind:?} {name}: {output:#?}");
        let has = format!("node-1  has {}/side:v2", registry());
        assert!(output.stderr.contains(&has), "{kind:?} {name}: {output:#?}");
        owner.assert_same_pods(name);
        assert_eq!(pull_pods(&namespace), "", "{kind:?} {name}: a pod of ours is left");
    });
}

/// Whole seconds from the end of the old container to the start of the new one, and the same by what a watch saw.
fn down(pod: &Value) -> i64 {
    let status = container_status(pod, "app");
    let time = |value: &Value| -> i64 {
        let text = value.as_str().unwrap_or_else(|| panic!("a time: {status:#}"));
        text.parse::<jiff::Timestamp>().expect("RFC 3339").as_second()
    };
    time(&status["state"]["running"]["startedAt"]) - time(&status["lastState"]["terminated"]["finishedAt"])
}

#[test]
fn a_large_image_costs_no_more_time_down_than_a_small_one() {
    let namespace = Namespace::new("pre-pull-big");
    for pod in ["plain", "first", "small"] {
        namespace.apply(&samples::pod(pod));
        namespace.wait_ready(&format!("app={pod}"), 1);
    }
    let image = format!("{}/app:big", registry());
    let big = format!("app={image}");
    if !forget(&[&image]) {
        return;
    }
    namespace.kubectl(&["set", "image", "pod/plain", &big]);
    let is_big = |pods: &[Value]| {
        pods.iter().all(|pod| {
            is_ready(pod)
                && pod["status"]["containerStatuses"]
                    .as_array()
                    .is_some_and(|all| all.iter().any(|status| status["name"] == "app" && status["restartCount"] == 1))
        })
    };
    let plain = namespace.wait_pods("app=plain", is_big);
    // A pod that uses it keeps it on the node.
    namespace.kubectl(&["delete", "pod", "plain", "--now"]);
    forget(&[&image]);
    let run = |pod: &str, image: &str| {
        let line = ["apply", &format!("pod/{pod}"), image, "--yes", "--pre-pull=always"];
        let output = namespace.inplace(&line);
        assert_eq!(output.code, 0, "{output:#?}");
        output
    };
    let with_pull = run("first", &big);
    run("small", "app=:v2");
    let [first, small] = ["first", "small"].map(|pod| namespace.wait_pods(&format!("app={pod}"), is_big));
    let [plain, first, small] = [plain, first, small].map(|pods| down(&pods[0]));
    println!(
        "time down (whole seconds): kubectl set image app:big {plain} s, pre-pull and app:big {first} s, \
         pre-pull and app:v2 {small} s; the run with the pull took {:.1} s",
        with_pull.elapsed.as_secs_f64()
    );
    // The old container may take its grace of two seconds.
    assert!(first <= small + 2 && first <= plain + 1, "{plain} {first} {small}");
}

#[test]
fn a_disruption_budget_is_kept_by_an_independent_count() {
    let namespace = Namespace::new("pre-pull-budget");
    namespace.apply(&samples::deployment("web", 3));
    let before = namespace.wait_ready("app=web", 3);
    namespace.apply(
        "apiVersion: policy/v1\nkind: PodDisruptionBudget\nmetadata: {name: strict}\n\
         spec: {minAvailable: 3, selector: {matchLabels: {app: web}}}\n",
    );
    // Before the disruption controller has seen it, it allows none either, but nobody knows for how long.
    namespace.wait_pods("app=web", |_| {
        namespace.kubectl(&["get", "pdb", "strict", "-o", "jsonpath={.status.observedGeneration}"]) == "1"
    });
    let line = ["apply", "deploy/web", "app=:v2", "--yes", "--max-unavailable", "3", "--min-ready-seconds", "0"];
    let blocked = namespace.inplace(&[&line[..], &["--timeout", "5s"]].concat());
    assert_eq!(blocked.code, 3, "it can never have room, so nothing is written: {blocked:#?}");
    assert!(blocked.stdout.contains("poddisruptionbudget/strict"), "{blocked:#?}");
    assert_eq!(restarted(&before, &namespace.pods("app=web")), [""; 0]);

    let patch = r#"{"spec":{"minAvailable":2}}"#;
    namespace.kubectl(&["patch", "pdb", "strict", "--type=merge", "-p", patch]);
    let watch = namespace.watch("app=web");
    let output = namespace.inplace(&line);
    assert_eq!(output.code, 0, "{output:#?}");
    let after = namespace.wait_ready("app=web", 3);
    assert_eq!(images(&after, "app"), ["app:v2"; 3]);
    let id = |pod: &Value| container_status(pod, "app")["containerID"].clone();
    let mut down: Vec<String> = Vec::new();
    let mut most = 0;
    for seen in watch.seen() {
        let pod = &seen.pod;
        let old = before.iter().find(|old| name(old) == name(pod)).map(id);
        down.retain(|other| other != name(pod));
        if image(pod, "app") == "app:v2" && !(is_ready(pod) && Some(id(pod)) != old) {
            down.push(name(pod).to_owned());
        }
        most = most.max(down.len());
    }
    assert_eq!(most, 1, "the budget allows one, and maxUnavailable three");
}
