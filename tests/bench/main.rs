//! Measures the program against the real cluster: `cargo bench --bench measure` (release build; the cluster must be up).
//!
//! Figures, no verdicts: each with its number of runs, median and worst, and the machine's size.
#![expect(clippy::disallowed_macros, clippy::disallowed_methods, reason = "a benchmark takes times and prints them")]

mod estimate;
#[path = "../real/support/mod.rs"]
#[expect(dead_code, unused_imports, reason = "the tests use more of it")]
mod support;

use std::io::{BufRead, BufReader};
use std::process::{Command, Stdio};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use engine::k8s::pod::Pod;
use engine::rollout::Observation;
use futures::StreamExt;
use kubectl_inplace::cluster::connect::{ConnectOptions, Environment};
use kubectl_inplace::cluster::{Cluster, PodScope};
use support::{Namespace, registry, samples};

const PROGRAM: &str = env!("CARGO_BIN_EXE_kubectl-inplace");
const RUNS: usize = 20;

fn main() {
    // `-- estimate` and `-- resize` make that table alone. `-- others` needs OpenKruise: `tests/cluster/cluster others kruise`.
    if std::env::args().any(|word| word == "estimate") {
        return estimate::table();
    }
    if std::env::args().any(|word| word == "resize") {
        return resizes();
    }
    if std::env::args().any(|word| word == "others") {
        return clone_set_beside_deployment();
    }
    let cores = std::thread::available_parallelism().map_or(0, usize::from);
    println!("machine: {cores} cores");
    let size = std::fs::metadata(PROGRAM).map_or(0, |file| file.len());
    println!("binary: {:.2} MB", size as f64 / 1e6);
    start_up();
    latency();
    plan_against_kubectl_diff();
    twenty_pods();
    resizes();
    estimate::table();
}

/// Prints one row: what, how many, median, worst.
fn row(what: &str, mut times: Vec<Duration>) {
    times.sort();
    let at = |index: usize| times.get(index).map_or(0.0, |time| time.as_secs_f64() * 1e3);
    println!(
        "{what}: {} runs, median {:.1} ms, worst {:.1} ms",
        times.len(),
        at(times.len() / 2),
        at(times.len().saturating_sub(1))
    );
}

fn timed(mut command: Command) -> Duration {
    let began = Instant::now();
    let status = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).status().expect("it starts");
    let took = began.elapsed();
    assert!(status.code().is_some_and(|code| code < 2), "{command:?}: {status}");
    took
}

fn command(program: &str, arguments: &[&str]) -> Command {
    let mut command = support::command(program, "measure");
    command.args(arguments);
    command
}

fn start_up() {
    row("kubectl-inplace --version", (0..RUNS).map(|_| timed(command(PROGRAM, &["--version"]))).collect());
    row("kubectl version --client", (0..RUNS).map(|_| timed(command("kubectl", &["version", "--client"]))).collect());
}

/// The sidecar's container ID, once it is ready.
fn side(pod: &Pod) -> Option<String> {
    let (_, _, status) = pod.container_status(&"side".into())?;
    (status.ready && pod.is_ready()).then(|| status.container_id.clone()).flatten()
}

/// From the kubelet's status update, seen by a watch of our own, to the program's `done`.
///
/// A pod a run: a container that is given the same image again and again runs into the kubelet's crash back-off, whose key
/// is the pod, the container and the image.
fn latency() {
    let namespace = Namespace::new("latency");
    let name = |run: usize| format!("one-{run}");
    (0..RUNS).for_each(|run| namespace.apply(&samples::pod(&name(run))));
    (0..RUNS).for_each(|run| drop(namespace.wait_ready(&format!("app={}", name(run)), 1)));
    let seen: Arc<Mutex<Vec<(Instant, String)>>> = Arc::default();
    let written = Arc::clone(&seen);
    let place = namespace.name().to_owned();
    std::thread::spawn(move || {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
        runtime.block_on(async move {
            let environment =
                Environment { kubeconfig: Some(support::kubeconfig().into()), ..Environment::of_process() };
            let cluster = Cluster::connect(&ConnectOptions::default(), &environment).await.expect("a connection");
            let mut pods = cluster.watch(&place, &PodScope::Labels("app".into()));
            while let Some(item) = pods.next().await {
                let now = Instant::now();
                let pods = match item {
                    Ok(Observation::Applied(pod)) => vec![*pod],
                    Ok(Observation::Relisted(pods)) => pods,
                    Ok(_) | Err(_) => Vec::new(),
                };
                let mut seen = written.lock().expect("nobody panics");
                seen.extend(pods.iter().filter_map(side).map(|id| (now, id)));
            }
        });
    });
    let mut times = Vec::new();
    let mut memory = 0;
    for run in 0..RUNS {
        let pods = namespace.pods("app");
        let before: Vec<String> = pods.iter().filter_map(|pod| side(&Pod::from_object(pod).expect("a pod"))).collect();
        let (image, target) = (format!("side={}/side:v2", registry()), format!("pod/{}", name(run)));
        let arguments = ["apply", &target, &image, "--yes", "--min-ready-seconds", "0"];
        let (done, peak) = run_until_done(&namespace, &arguments);
        memory = memory.max(peak);
        std::thread::sleep(Duration::from_millis(300));
        let seen = seen.lock().expect("nobody panics");
        let first = seen.iter().find(|(at, id)| !before.contains(id) && *at > done.0).map(|(at, _)| *at);
        times.push(done.1.saturating_duration_since(first.expect("the watch saw it")));
    }
    row("kubelet's status to `done`", times);
    println!("peak memory of such an apply: {:.1} MB", memory as f64 / 1e3);
}

/// Runs the program; returns when it began and said `done`, and its peak memory in kB.
fn run_until_done(namespace: &Namespace, arguments: &[&str]) -> ((Instant, Instant), u64) {
    let began = Instant::now();
    let mut command = command(PROGRAM, arguments);
    let mut child = command
        .args(["-n", namespace.name()])
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .expect("it starts");
    let status = format!("/proc/{}/status", child.id());
    let (mut done, mut peak) = (None, 0);
    for line in BufReader::new(child.stderr.take().expect("its stderr")).lines().map_while(Result::ok) {
        if line.contains("done after") {
            done.get_or_insert_with(Instant::now);
        }
        peak = peak.max(high_water(&status));
    }
    assert!(child.wait().expect("it ends").success());
    ((began, done.expect("it said done")), peak)
}

fn high_water(status: &str) -> u64 {
    let status = std::fs::read_to_string(status).unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    line.and_then(|line| line.split_whitespace().next()?.parse().ok()).unwrap_or(0)
}

fn plan_against_kubectl_diff() {
    let namespace = Namespace::new("plan");
    let manifest = samples::deployment("web", 3);
    namespace.apply(&manifest);
    namespace.wait_ready("app=web", 3);
    let file = std::env::temp_dir().join(format!("{}.yaml", namespace.name()));
    std::fs::write(&file, manifest.replace("/side:v1", "/side:v2")).expect("a temporary file");
    let file = file.to_string_lossy().into_owned();
    let n = namespace.name();
    row(
        "plan -f of one Deployment",
        (0..RUNS).map(|_| timed(command(PROGRAM, &["plan", "-f", &file, "-n", n]))).collect(),
    );
    row(
        "kubectl diff -f of the same",
        (0..RUNS).map(|_| timed(command("kubectl", &["diff", "-f", &file, "-n", n]))).collect(),
    );
    let old = format!("{file}.old");
    std::fs::write(&old, manifest).expect("a temporary file");
    let arguments = ["plan", "--against", &old, "-f", &file];
    row("plan --against, two manifests", (0..RUNS).map(|_| timed(command(PROGRAM, &arguments))).collect());
    let _ = (std::fs::remove_file(file), std::fs::remove_file(old));
}

/// The same work three ways: 20 pods get another sidecar.
fn twenty_pods() {
    let namespace = Namespace::new("twenty");
    namespace.apply(&samples::deployment("web", 20));
    namespace.wait_ready("app=web", 20);
    let n = namespace.name();
    let image = |version: usize| format!("side={}/side:v{version}", registry());
    let mut peak = 0;
    let times = [2, 3].into_iter().map(|version| {
        let image = image(version);
        let began = Instant::now();
        let arguments = [
            "apply",
            "deployment/web",
            &image,
            "--pods-only",
            "--yes",
            "--max-unavailable",
            "25%",
            "--min-ready-seconds",
            "0",
        ];
        peak = peak.max(run_until_done(&namespace, &arguments).1);
        began.elapsed()
    });
    row("20 pods in place, 25 %, min-ready 0", times.collect());
    println!("peak memory of it: {:.1} MB", peak as f64 / 1e3);
    let times = (0..3).map(|run| {
        let image = image(3 - run % 2);
        let began = Instant::now();
        timed(command("kubectl", &["set", "image", "deployment/web", &image, "-n", n]));
        timed(command("kubectl", &["rollout", "status", "deployment/web", "-n", n]));
        began.elapsed()
    });
    row("20 pods by kubectl set image and rollout status", times.collect());
}

/// The same change of cpu and memory two ways, in turn: 20 pods in place, template included, and by a rollout that replaces
/// them.
fn resizes() {
    let namespace = Namespace::new("resizes");
    let resources =
        |cpu: usize| format!("resources: {{requests: {{cpu: {cpu}m}}, limits: {{memory: {}Mi}}}}", 60 + cpu);
    namespace.apply(&samples::with_app_fields(&samples::deployment("web", 20), &resources(4)));
    namespace.wait_ready("app=web", 20);
    let n = namespace.name();
    let (mut ours, mut theirs) = (Vec::new(), Vec::new());
    for run in 0..5 {
        let asked = |cpu: usize| [format!("--requests=cpu={cpu}m"), format!("--limits=memory={}Mi", 60 + cpu)];
        let [requests, limits] = asked(5 + 2 * run);
        let apply = ["apply", "deployment/web", "-c", "app", &requests, &limits, "--yes", "-n", n];
        ours.push(timed(command(PROGRAM, &apply)));
        let [requests, limits] = asked(6 + 2 * run);
        let began = Instant::now();
        timed(command("kubectl", &["set", "resources", "deployment/web", "-c", "app", &requests, &limits, "-n", n]));
        timed(command("kubectl", &["rollout", "status", "deployment/web", "-n", n]));
        theirs.push(began.elapsed());
        namespace.wait_ready("app=web", 20);
    }
    row("20 pods resized in place, template included", ours);
    row("20 pods by kubectl set resources and rollout status", theirs);
}

/// The same change of 20 pods of a Deployment and of a CloneSet, by turns; and of a CloneSet by its own controller.
fn clone_set_beside_deployment() {
    let namespace = Namespace::new("beside");
    let n = namespace.name();
    namespace.kubectl(&["label", "namespace", n, "inplace.test/others=kruise"]);
    namespace.apply(&samples::deployment("web", 20));
    let clone_set = |name: &str, fields: &str| {
        let manifest = samples::deployment(name, 20).replace("kind: Deployment", "kind: CloneSet");
        let manifest = manifest.replace("apps/v1", "apps.kruise.io/v1alpha1");
        namespace.apply(&manifest.replacen("replicas: 20", &format!("replicas: 20\n  {fields}"), 1));
    };
    clone_set("clone", "updateStrategy: {}");
    clone_set("theirs", "updateStrategy: {type: InPlaceIfPossible, maxUnavailable: 25%}");
    for name in ["web", "clone", "theirs"] {
        namespace.wait_ready(&format!("app={name}"), 20);
    }
    let ours = |target: &str, image: &str| {
        let policy = ["--yes", "--max-unavailable", "25%", "--min-ready-seconds", "0", "-n", n];
        timed(command(PROGRAM, &[&["apply", target, image][..], &policy].concat()))
    };
    let mut times: [Vec<Duration>; 3] = Default::default();
    for version in [2, 3, 2, 3] {
        let image = format!("{}/side:v{version}", registry());
        times[0].push(ours("deployment/web", &format!("side={image}")));
        times[1].push(ours("cloneset/clone", &format!("side={image}")));
        let patch = format!(
            "[{{\"op\":\"replace\",\"path\":\"/spec/template/spec/containers/1/image\",\"value\":\"{image}\"}}]"
        );
        let began = Instant::now();
        namespace.kubectl(&["patch", "cloneset", "theirs", "--type=json", "-p", &patch]);
        let is_new = |pod: &serde_json::Value| {
            let status = support::container_status(pod, "side");
            support::is_ready(pod) && status["image"].as_str().is_some_and(|it| it.ends_with(&format!(":v{version}")))
        };
        namespace.wait_pods("app=theirs", |pods| pods.len() == 20 && pods.iter().all(is_new));
        times[2].push(began.elapsed());
    }
    let [deployment, clone, theirs] = times;
    row("20 pods of a Deployment in place, 25 %, min-ready 0", deployment);
    row("20 pods of a CloneSet in place, the same", clone);
    row("20 pods of a CloneSet by its own controller, 25 %", theirs);
}
