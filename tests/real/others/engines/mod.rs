//! Going first under the tools that apply manifests by themselves, with their own code: Helm 4, the engine of Argo CD, and
//! Flux's controllers, which `cluster others engines` builds.
//!
//! `OTHERS_CHANGES=60` for as many random changes, `OTHERS_SEED` for others of them, and `OTHERS_NODE=node-1` for pods that a
//! kubelet runs.

mod argocd;
mod flux;
mod helm;

use std::env;
use std::fs;
use std::path::Path;
use std::process::Command;
use std::sync::OnceLock;

use serde_json::{Value, json};

use super::forecast::{change, number, workload};
use crate::hand_over::{first, next_apply, state};
use crate::pages::Place;
use crate::support::{Api, Kind, Namespace, Random, SimulatedNode, registry, samples, side_by_side};

/// What applies the manifests next.
trait Engine {
    /// Installs or upgrades; a failure fails the test.
    fn apply(&self, namespace: &Namespace, manifest: &str);

    /// Goes back to the manifest before, after `undo`.
    fn back(&self, namespace: &Namespace, manifest: &str) {
        self.apply(namespace, manifest);
    }
}

fn uids(namespace: &Namespace, owner: &str, count: usize) -> Vec<Value> {
    namespace.kubectl(&["rollout", "status", owner, "--timeout=120s"]);
    let pods = namespace.wait_ready("app=web", count);
    pods.iter().map(|pod| pod["metadata"]["uid"].clone()).collect()
}

/// The first install, an update, the way back, and what cannot be done in place: the whole of a user's path.
fn goes_first<E: Engine>(name: &str, engine: impl Fn(&Namespace) -> E) {
    let namespace = Namespace::new(&format!("engine-{name}"));
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

    let undone = namespace.inplace(&["undo", "deployment/web", "--yes", "--min-ready-seconds", "0"]);
    assert_eq!(undone.code, 0, "{undone:#?}");
    engine.back(&namespace, &manifest);
    assert_eq!(state(&namespace), before);

    let other = samples::with_app_fields(&newer, "env: [{name: A, value: b}]");
    let other = other.replace("terminationGracePeriodSeconds: 2", "terminationGracePeriodSeconds: 1");
    assert_eq!(first(&namespace, &other).0, "left");
    assert_eq!(state(&namespace), before, "nothing was written");
    assert_eq!(next_apply(&namespace, &other)["podsReplaced"], 2);
    engine.apply(&namespace, &other);
    let after = state(&namespace);
    assert!(after.1.iter().all(|uid| !before.1.contains(uid)), "an ordinary rollout");
}

/// A Deployment of three pods with all that a random change changes.
fn deployment(nodes: &[&str]) -> Value {
    let mut object = workload(Kind::CloneSet, nodes);
    (object["apiVersion"], object["kind"]) = ("apps/v1".into(), "Deployment".into());
    // The tests' images have a shell, and no more.
    let nothing = json!(["sh", "-c", ":"]);
    let pods = &mut object["spec"]["template"]["spec"];
    pods["initContainers"][0]["command"] = nothing.clone();
    pods["containers"][0]["readinessProbe"] = json!({"exec": {"command": nothing}});
    let spec = object["spec"].as_object_mut().expect("there is one");
    spec.shift_remove("updateStrategy");
    spec.insert("strategy".into(), json!({"rollingUpdate": {"maxSurge": 3, "maxUnavailable": "100%"}}));
    object
}

/// How the changes of a lane ended: in place, left, and without going first.
type Tally = [usize; 3];

/// Whatever the change: once it went first, the engine changes nothing and replaces no pod; what it does of the others is as
/// was foretold.
fn lane<E: Engine>(
    namespace: &Namespace,
    engine: &E,
    nodes: &[&str],
    (name, seed, changes): (&str, u64, u64),
) -> Tally {
    let (mut random, mut object, mut tally) = (Random::new(seed), deployment(nodes), Tally::default());
    assert_eq!(first(namespace, &object.to_string()).0, "absent");
    engine.apply(namespace, &object.to_string());
    for index in 0..changes {
        let ways = change(&mut object, &mut random);
        let manifest = object.to_string();
        let before = state(namespace);
        // Some reach the engine alone: of them too it is foretold.
        let went = if random.one_in(5) { None } else { Some(first(namespace, &manifest)) };
        let foretold = next_apply(namespace, &manifest);
        let between = state(namespace);
        engine.apply(namespace, &manifest);
        let after = state(namespace);
        let context =
            format!("{name}, OTHERS_SEED={seed}, change {index}, {ways:?}: {foretold}\n{went:#?}\n{manifest}");
        assert_eq!(before.1, between.1, "{context}");
        assert_eq!(foretold["result"] == "unchanged", between.0 == after.0, "{context}");
        assert!(between.0 != after.0 || between.1 == after.1, "{context}");
        match went.map(|(handed_over, _)| handed_over) {
            Some(word) if word == "inPlace" => {
                assert_eq!(between, after, "{context}");
                tally[0] += 1;
            }
            Some(word) => {
                assert_eq!((word.as_str(), &before), (Some("left"), &between), "{context}");
                tally[1] += 1;
            }
            None => tally[2] += 1,
        }
    }
    tally
}

/// On simulated pods, or on those of a real node.
fn random_changes<E: Engine>(name: &str, engine: impl Fn(&Namespace) -> E + Sync) {
    const LANES: u64 = 3;
    let api = Api::open();
    let (changes, seed) = (number("OTHERS_CHANGES").unwrap_or(12), number("OTHERS_SEED").unwrap_or(1));
    let here = Namespace::new(&format!("engine-{name}"));
    let real = env::var("OTHERS_NODE").ok();
    let start = |number: usize| SimulatedNode::start(&api, &format!("{}-{number}", here.name()), "v1.36.3");
    let simulated: Vec<_> = if real.is_some() { Vec::new() } else { (1..=2).filter_map(start).collect() };
    let nodes: Vec<&str> = simulated.iter().map(SimulatedNode::name).chain(real.as_deref()).collect();
    let tallies = side_by_side(usize::try_from(LANES).unwrap_or(1), 0..LANES, |number| {
        let namespace = Namespace::new(&format!("engine-{name}-{number}"));
        let engine = engine(&namespace);
        lane(&namespace, &engine, &nodes, (name, seed + number, changes.div_ceil(LANES)))
    });
    let sum = |at: usize| tallies.iter().map(|tally| tally[at]).sum::<usize>();
    eprintln!("{name}: {} in place, {} left, {} without going first", sum(0), sum(1), sum(2));
    assert!(sum(0) > 0 && sum(1) > 0, "{tallies:?}");
}

/// Pushes files as one layer, and returns the digest.
fn push(name: &str, files: &[(&str, String)]) -> String {
    let folder = env::temp_dir().join(name.replace([':', '/'], "-"));
    let files = files.iter().map(|(path, text)| {
        let file = folder.join(path);
        fs::create_dir_all(file.parent().expect("it is in the folder")).expect("the temporary folder can be written");
        fs::write(&file, text).expect("the temporary folder can be written");
        format!("{path}={}", file.display())
    });
    let digest = push_files(name, &files.collect::<Vec<_>>());
    fs::remove_dir_all(folder).expect("it is still there");
    digest
}

fn push_files(name: &str, files: &[String]) -> String {
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/cluster/push.py");
    let output = Command::new("python3").args([script, registry(), name]).args(files).output().expect("Python runs");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8_lossy(&output.stdout).trim().to_owned()
}

/// The digest of an image that runs the binary under test, with the libraries that it loads.
fn image_under_test() -> &'static str {
    static DIGEST: OnceLock<String> = OnceLock::new();
    DIGEST.get_or_init(|| {
        let binary = env!("CARGO_BIN_EXE_kubectl-inplace");
        let said = Command::new("ldd").arg(binary).output().expect("ldd runs");
        let said = String::from_utf8_lossy(&said.stdout).into_owned();
        let libraries = said.split_whitespace().filter(|word| word.starts_with('/'));
        let files = libraries.map(|path| format!("{}={path}", path.trim_start_matches('/')));
        let files: Vec<String> = std::iter::once(format!("kubectl-inplace={binary}")).chain(files).collect();
        push_files("inplace/under-test:latest", &files)
    })
}

/// A copy of an example whose Job goes first, for the tests' cluster, which has no addresses of Services: the Job finds the
/// API server on the node.
struct Hook {
    place: Place,
}

impl Hook {
    /// `more` are arguments of its program.
    fn of(name: &str, kustomization: &str, more: &[&str]) -> Self {
        let hook = Self { place: example(name) };
        let text = hook.read(kustomization);
        let image = format!("newName: {}/inplace/under-test", registry());
        let text = text.replace("newName: ghcr.io/kubectl-inplace/kubectl-inplace", &image);
        let text = text.replace("newTag: v0.1.0", &format!("digest: {}", image_under_test()));
        assert!(text.contains(&image) && text.contains("digest: "), "{text}");
        let server = hook.place.namespace.kubectl(&["config", "view", "-o", "jsonpath={.clusters[0].cluster.server}"]);
        let (host, port) = server.trim_start_matches("https://").split_once(':').expect("a port");
        let variable = |name: &str, value: &str| json!({"name": name, "value": value});
        // The image has no certificates of authorities, and a client without any is none, whatever it talks to.
        let authority = variable("SSL_CERT_FILE", "/var/run/secrets/kubernetes.io/serviceaccount/ca.crt");
        let mut env = vec![variable("KUBERNETES_SERVICE_HOST", host), variable("KUBERNETES_SERVICE_PORT", port)];
        env.extend((!more.is_empty()).then_some(authority));
        let add = |path: &str, value: Value| json!({"op": "add", "path": format!("/spec/template/spec/{path}"), "value": value});
        let mut patch = vec![add("hostNetwork", json!(true)), add("containers/0/env", json!(env))];
        patch.extend(more.iter().map(|argument| add("containers/0/args/-", json!(argument))));
        let patches = json!([{"target": {"kind": "Job"}, "patch": Value::from(patch).to_string()}]);
        hook.write(kustomization, &format!("{text}patches: {patches}\n"));
        hook
    }

    fn path(&self, file: &str) -> String {
        self.place.folder.join(file).to_str().expect("a path of ours is text").to_owned()
    }

    fn read(&self, file: &str) -> String {
        fs::read_to_string(self.path(file)).expect("the example can be read")
    }

    fn write(&self, file: &str, text: &str) {
        fs::write(self.path(file), text).expect("the copy can be written");
    }

    /// Writes the example's manifest with the tests' images, of the tags v1, and these changes.
    fn write_manifest(&self, file: &str, changes: &[(&str, &str)]) {
        let name = file.split('/').next().unwrap_or_default();
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("examples/gitops");
        let text = fs::read_to_string(folder.join(file)).expect("the example can be read");
        let images = [("app", "registry.k8s.io/e2e-test-images/agnhost:2.53"), ("side", "registry.k8s.io/pause:3.9")];
        let ours = images.iter().fold(text, |text, (image, public)| {
            assert!(text.contains(public), "{name}: {text}");
            text.replace(public, &format!("{}/{image}:v1", registry()))
        });
        let changed = changes.iter().fold(ours, |text, (from, to)| {
            assert!(text.contains(from), "{from}: {text}");
            text.replace(from, to)
        });
        self.write(file, &changed);
    }

    fn assert_account_is_enough(&self) {
        let account = format!("system:serviceaccount:{}:inplace", self.place.namespace.name());
        let check = self.place.namespace.inplace(&["rbac", "apply", "deployment", "--check", "--as", &account]);
        assert_eq!(check.code, 0, "{check:#?}");
    }
}

/// A place with a copy of an example of `examples/gitops`.
fn example(name: &str) -> Place {
    let place = Place::new();
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("examples/gitops").join(name);
    copy(&folder, &place.folder.join(name));
    place
}

fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).expect("the temporary folder can be written");
    for entry in fs::read_dir(from).expect("the example can be read").flatten() {
        let to = to.join(entry.file_name());
        if entry.path().is_dir() {
            copy(&entry.path(), &to);
        } else {
            fs::copy(entry.path(), to).expect("the example can be copied");
        }
    }
}
