//! The desired state of a manifest is what `kubectl apply` of it would store: for objects under client-side apply, under
//! server-side apply and under neither.

use std::io::Write;
use std::process::Stdio;

use engine::k8s::workload::Workload;
use engine::kinds::WorkloadKind;
use engine::plan::{Manifest, Validation};
use futures::stream::{self, StreamExt};
use kubectl_inplace::cli::ConnectionArgs;
use kubectl_inplace::cluster::Cluster;
use kubectl_inplace::cluster::connect::{ConnectOptions, Environment};
use serde_json::{Value, json};

use crate::support::{Api, Namespace, Random, command, kubeconfig};

/// Objects in each of the three states.
const OBJECTS: usize = 100;

const KINDS: [WorkloadKind; 3] = [WorkloadKind::Deployment, WorkloadKind::StatefulSet, WorkloadKind::DaemonSet];

fn manifest(random: &mut Random, index: usize, namespace: &str) -> Value {
    let kind = KINDS[index % KINDS.len()];
    let name = format!("w{index}");
    let mut manifest = json!({
        "apiVersion": "apps/v1", "kind": kind.spec().kind, "metadata": {"name": name, "namespace": namespace},
        "spec": {"selector": {"matchLabels": {"app": name}}, "template": {
            "metadata": {"labels": {"app": name}, "annotations": random.annotations()}, "spec": random.pod_spec()}}});
    if kind != WorkloadKind::DaemonSet {
        manifest["spec"]["replicas"] = json!(0);
    }
    if kind == WorkloadKind::StatefulSet {
        manifest["spec"]["serviceName"] = json!("s");
    }
    manifest
}

/// Writes out the source of volumes that name none. The one that the server fills in has no owner, so that server-side apply
/// of another one is refused.
fn with_sources(manifest: &mut Value) {
    let volumes = manifest.pointer_mut("/spec/template/spec/volumes").and_then(Value::as_array_mut);
    for volume in volumes.into_iter().flatten().filter_map(Value::as_object_mut) {
        if volume.len() == 1 {
            volume.insert("emptyDir".to_owned(), json!({}));
        }
    }
}

fn path(object: &Value) -> String {
    let text = |pointer: &str| object.pointer(pointer).and_then(Value::as_str).unwrap_or_default().to_owned();
    let plural = format!("{}s", text("/kind").to_lowercase());
    format!("/apis/apps/v1/namespaces/{}/{plural}/{}", text("/metadata/namespace"), text("/metadata/name"))
}

/// Runs kubectl once for all the manifests, and returns its stdout.
fn kubectl(arguments: &[&str], manifests: &[Value]) -> String {
    let list = json!({"apiVersion": "v1", "kind": "List", "items": manifests});
    let mut kubectl = command("kubectl", "real-kubectl");
    kubectl.args(arguments).args(["-f", "-"]).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = kubectl.spawn().expect("kubectl starts");
    let mut stdin = child.stdin.take().expect("stdin is piped");
    let writer = std::thread::spawn(move || stdin.write_all(list.to_string().as_bytes()));
    let output = child.wait_with_output().expect("kubectl ends");
    writer.join().expect("no panic").expect("kubectl reads");
    assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8_lossy(&output.stdout).into_owned()
}

/// What others do to an object after it was applied.
fn others(random: &mut Random, api: &Api, object: &Value) {
    let patch = match random.below(4) {
        0 => json!({"spec": {"template": {"metadata": {"annotations": {"kubectl.kubernetes.io/restartedAt": "now"}}}}}),
        1 => json!({"spec": {"template": {"spec": {"containers": [{"name": "injected", "image": "m:1"}]}}}}),
        2 => {
            json!({"spec": {"template": {"spec": {"hostname": "h", "tolerations": [{"key": "x", "operator": "Exists"}]}}}})
        }
        _ => return,
    };
    let path = format!("{}?fieldManager=somebody", path(object));
    let (status, answer) = api.request("PATCH", &path, "application/strategic-merge-patch+json", &patch);
    assert_eq!(status, 200, "{answer}");
}

fn spec(object: &Value) -> Value {
    object.get("spec").cloned().unwrap_or_default()
}

/// Asks the library, for all objects side by side.
fn desired(lives: &[Value], manifests: &[Value], field_manager: &str) -> Vec<Manifest> {
    let runtime =
        tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().expect("a runtime");
    let options = ConnectOptions {
        flags: ConnectionArgs { kubeconfig: Some(kubeconfig().to_owned()), ..ConnectionArgs::default() },
        ..ConnectOptions::default()
    };
    runtime.block_on(async {
        let cluster = Cluster::connect(&options, &Environment::default()).await.expect("the cluster is there");
        let cluster = &cluster;
        let questions = lives.iter().zip(manifests).enumerate().map(|(index, (live, manifest))| async move {
            let live =
                Workload::from_object(KINDS[index % KINDS.len()], live.clone()).expect("a live object has a uid");
            cluster.desired(&live, manifest, (field_manager, Validation::Strict)).await.expect("an answer")
        });
        stream::iter(questions).buffered(8).collect().await
    })
}

/// Makes the objects by one command, lets others change them, and compares the desired state of other manifests with what
/// another command would store.
fn compare(name: &str, seed: u64, make: &[&str], apply: &[&str], unseen: bool) {
    let namespace = Namespace::new(name);
    let api = Api::open();
    let mut random = Random::new(seed);
    let make_manifests = |random: &mut Random| -> Vec<Value> {
        let mut manifests: Vec<Value> = (0..OBJECTS).map(|index| manifest(random, index, namespace.name())).collect();
        if apply.contains(&"--server-side") {
            manifests.iter_mut().for_each(with_sources);
        }
        manifests
    };
    let originals = make_manifests(&mut random);
    kubectl(make, &originals);
    originals.iter().for_each(|original| others(&mut random, &api, original));
    let manifests = make_manifests(&mut random);
    let lives: Vec<Value> = manifests.iter().map(|manifest| api.get(&path(manifest))).collect();
    let answer: Value =
        serde_json::from_str(&kubectl(&[apply, &["--dry-run=server", "-o", "json"]].concat(), &manifests))
            .expect("JSON");
    let stored = answer["items"].as_array().cloned().unwrap_or_default();
    assert_eq!(stored.len(), OBJECTS);
    let mut wrong = Vec::new();
    for (index, desired) in desired(&lives, &manifests, "kubectl-client-side-apply").into_iter().enumerate() {
        let theirs = stored.iter().find(|object| path(object) == path(&manifests[index])).map(spec).unwrap_or_default();
        match desired {
            Manifest::Stored { object, removals_unseen } => {
                assert_eq!(removals_unseen, unseen, "{name}: w{index}");
                if spec(&object) != theirs {
                    wrong.push(format!(
                        "w{index} of seed {seed}: {}\nkubectl: {theirs}\nlive: {}\nmanifest: {}",
                        spec(&object),
                        spec(&lives[index]),
                        spec(&manifests[index])
                    ));
                }
            }
            other => wrong.push(format!("w{index} of seed {seed}: {other:?}")),
        }
    }
    assert!(wrong.is_empty(), "{} of {OBJECTS} differ:\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
fn under_client_side_apply() {
    compare("desired-client", 1, &["apply"], &["apply"], false);
}

#[test]
fn under_server_side_apply() {
    compare(
        "desired-server",
        2,
        &["apply", "--server-side"],
        &["apply", "--server-side", "--force-conflicts", "--field-manager=kubectl"],
        false,
    );
}

/// kubectl too can only set what the manifest says, and warns: it is unknown what an earlier manifest had.
#[test]
fn under_neither() {
    compare("desired-neither", 3, &["create"], &["apply"], true);
}

/// What the offline check leaves to the server: under either kind of apply, it names the field, and not the manifest.
#[test]
fn a_field_that_the_server_does_not_know_is_refused() {
    for (name, make) in [("unknown-client", &["apply"][..]), ("unknown-server", &["apply", "--server-side"])] {
        let namespace = Namespace::new(name);
        let original = manifest(&mut Random::new(4), 0, namespace.name());
        kubectl(make, std::slice::from_ref(&original));
        let live = Api::open().get(&path(&original));
        let mut misspelt = original.clone();
        misspelt["spec"]["template"]["spec"]["contianers"] = json!([{"name": "a", "image": "hunter2"}]);
        let answers = desired(&[live], &[misspelt], "kubectl-client-side-apply");
        let [Manifest::Refused { message }] = answers.as_slice() else { panic!("{name}: {answers:?}") };
        assert!(message.contains("contianers") && !message.contains("hunter2"), "{name}: {message}");
    }
}
