//! Images are pulled before any container is killed; and a PodDisruptionBudget is kept, as a watcher of its own counts.

use std::fs;
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use serde_json::Value;

use crate::support::{
    Namespace, Output, command, container_status, containerd, image, images, is_ready, name, poll, registry, restarted,
    samples,
};

/// The tests' password, `open-sesame`, as htpasswd wants it (bcrypt).
const USERS: &str = "test:$2b$05$abcdefghijklmnopqrstuutXu9KzOt.1yBoZUeFWoT/914/JfszCO\n";

/// A second registry with the images of the first that wants credentials. It ends with the test.
struct SecondRegistry {
    child: Child,
    folder: PathBuf,
    address: String,
}

impl SecondRegistry {
    /// `None` where the node is not that of `tests/cluster`, whose data it serves.
    fn start(test: &str) -> Option<Self> {
        let state = Path::new(containerd()?).parent()?.parent()?.to_owned();
        let free = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("loopback has a free port");
        let address = free.local_addr().expect("it has an address").to_string();
        drop(free);
        let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(format!("registry-{test}"));
        fs::create_dir_all(&folder).expect("a folder in the target folder can be made");
        fs::write(folder.join("users"), USERS).expect("it can be written to");
        let configuration = format!(
            "version: 0.1\nstorage: {{filesystem: {{rootdirectory: {}/registry}}}}\nhttp: {{addr: '{address}'}}\n\
             auth: {{htpasswd: {{realm: test, path: {}/users}}}}\nlog: {{level: error}}\n",
            state.display(),
            folder.display()
        );
        let file = folder.join("registry.yaml");
        fs::write(&file, configuration).expect("it can be written to");
        let mut registry: Command = command("registry", "pre-pull");
        let child = registry.arg("serve").arg(&file).stdout(Stdio::null()).stderr(Stdio::null()).spawn();
        let child = child.unwrap_or_else(|error| panic!("{registry:?}: {error}"));
        let registry = Self { child, folder, address };
        poll(|| TcpStream::connect(&registry.address).ok()).expect("the registry listens");
        Some(registry)
    }
}

impl Drop for SecondRegistry {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
        let _ = fs::remove_dir_all(&self.folder);
    }
}

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
        assert!(output.elapsed < Duration::from_secs(15), "{output:#?}");
        assert_eq!(object(namespace)["spec"], self.template, "the owner is as it was");
        assert_eq!(restarted(&self.pods, &namespace.pods("app=web")), [""; 0], "no container was killed");
        assert_eq!(pull_pods(namespace), "", "a pod of ours is left");
        println!("{image}: exit 4 after {:.1} s", output.elapsed.as_secs_f64());
        output
    }
}

#[test]
fn an_image_that_cannot_be_pulled_costs_nothing() {
    let namespace = Namespace::new("pre-pull-bad");
    let before = Untouched::new(&namespace, false);
    before.fails(&namespace, ":nope", &["app:nope: not found"]);
    // Nobody listens on port 1.
    before.fails(&namespace, "127.0.0.1:1/app:v2", &["127.0.0.1:1", "connection refused"]);
}

#[test]
fn a_registry_that_wants_credentials_gets_those_of_the_pods() {
    let namespace = Namespace::new("pre-pull-secret");
    let Some(registry) = SecondRegistry::start("secret") else { return };
    let before = Untouched::new(&namespace, true);
    let wanted = format!("{}/app:v2", registry.address);
    let credentials = |password: &str| {
        namespace.try_kubectl(&["delete", "secret", "credentials", "--ignore-not-found"], "");
        namespace.kubectl(&[
            "create",
            "secret",
            "docker-registry",
            "credentials",
            &format!("--docker-server={}", registry.address),
            "--docker-username=test",
            &format!("--docker-password={password}"),
        ]);
    };
    before.fails(&namespace, &wanted, &["401 Unauthorized"]);
    credentials("guessed");
    let output = before.fails(&namespace, &wanted, &["401 Unauthorized"]);
    assert!(!output.stdout.contains("guessed") && !output.stderr.contains("guessed"), "{output:#?}");
    credentials("open-sesame");
    let output = namespace.inplace(&["apply", "deploy/web", &format!("app={wanted}"), "--yes"]);
    assert_eq!(output.code, 0, "{output:#?}");
    assert_eq!(images(&namespace.wait_ready("app=web", 2), "app"), ["app:v2"; 2]);
    assert_eq!(pull_pods(&namespace), "");
    assert!(output.stderr.contains("pulls"), "{output:#?}");
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

/// Takes the big image from the node, so that it has to be pulled.
fn forget_the_big_image() -> bool {
    let Some(socket) = containerd() else { return false };
    let image = format!("{}/app:big", registry());
    let removed = Command::new("ctr").args(["-a", socket, "-n", "k8s.io", "images", "rm", "--sync", &image]).output();
    removed.is_ok()
}

#[test]
fn a_large_image_costs_no_more_time_down_than_a_small_one() {
    let namespace = Namespace::new("pre-pull-big");
    for pod in ["plain", "first", "small"] {
        namespace.apply(&samples::pod(pod));
        namespace.wait_ready(&format!("app={pod}"), 1);
    }
    let big = format!("app={}/app:big", registry());
    if !forget_the_big_image() {
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
    forget_the_big_image();
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
    let line = ["apply", "deploy/web", "app=:v2", "--yes", "--max-unavailable", "3", "--min-ready-seconds", "0"];
    let blocked = namespace.inplace(&[&line[..], &["--timeout", "5s"]].concat());
    assert_eq!(blocked.code, 5, "{blocked:#?}");
    assert!(blocked.stdout.contains("poddisruptionbudget/strict"), "{blocked:#?}");
    assert_eq!(restarted(&before, &namespace.pods("app=web")), [""; 0]);

    let patch = r#"{"spec":{"minAvailable":2}}"#;
    namespace.kubectl(&["patch", "pdb", "strict", "--type=merge", "-p", patch]);
    let watch = namespace.watch("app=web");
    namespace.inplace(&["abort", "deploy/web", "--yes"]);
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
