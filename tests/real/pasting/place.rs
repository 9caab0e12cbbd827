//! Where a situation is brought about: a namespace with one workload called `web`.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::support::{Fields, Gate, Kind, Moment, Namespace, Output, Owner, is_ready, name, poll, registry, samples};

/// What is in the namespace when it begins.
#[derive(Debug, Clone, Copy)]
pub(super) enum Sample {
    /// An owner of this many pods with the containers `c1` and `c2`.
    Owner(Kind, usize),
    /// The same, with these fields of the first container.
    WithFields(Kind, usize, &'static str),
    /// The same, with these lines of the owner's spec.
    WithSpec(Kind, usize, &'static str),
    /// The same, with this line of the pods' spec.
    WithPod(Kind, usize, &'static str),
    /// A pod of its own, with the containers `app` and `side`.
    Pod,
}

/// A Deployment of one pod: what most situations need.
pub(super) const ONE: Sample = Sample::Owner(Kind::Deployment, 1);

/// A Deployment of two pods: what can be half done.
pub(super) const TWO: Sample = Sample::Owner(Kind::Deployment, 2);

/// The place itself.
pub(super) struct Place<'a> {
    pub(super) namespace: &'a Namespace,
    pub(super) gate: &'a Gate,
    /// `None` where the pod is its own.
    pub(super) owner: Option<Owner<'a>>,
    /// The working folder of the reader's shell.
    pub(super) folder: PathBuf,
}

impl<'a> Place<'a> {
    /// Makes the sample, and waits until it is at rest.
    pub(super) fn new(namespace: &'a Namespace, gate: &'a Gate, sample: Sample) -> Self {
        let api = &gate.api;
        let owner = match sample {
            Sample::Owner(kind, replicas) => Some(Owner::new(namespace, api, kind, (replicas, 2), "")),
            Sample::WithFields(kind, replicas, fields) => {
                Some(Owner::with((namespace, api), kind, (replicas, 2), Fields::Container(fields)))
            }
            Sample::WithSpec(kind, replicas, fields) => Some(Owner::new(namespace, api, kind, (replicas, 2), fields)),
            Sample::WithPod(kind, replicas, fields) => {
                let fields = fields.replace("REGISTRY", registry());
                Some(Owner::with((namespace, api), kind, (replicas, 2), Fields::Pod(&fields)))
            }
            Sample::Pod => {
                namespace.apply(&samples::pod("web"));
                namespace.wait_ready("app=web", 1);
                None
            }
        };
        let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(namespace.name());
        fs::create_dir_all(&folder).expect("a folder in the target folder can be made");
        Self { namespace, gate, owner, folder }
    }

    /// Returns the workload as the command line names it.
    pub(super) fn reference(&self) -> String {
        self.owner.as_ref().map_or_else(|| "pod/web".into(), Owner::reference)
    }

    /// Returns a line of this program's, as the user types it: `WEB` is the workload.
    pub(super) fn line(&self, words: &str) -> String {
        let folder = self.folder.display().to_string();
        let words = words.replace("WEB", &self.reference()).replace("REGISTRY", registry()).replace("FOLDER", &folder);
        format!("kubectl inplace {words} -n {}", self.namespace.name())
    }

    /// Runs one to its end, which has this exit code.
    pub(super) fn run(&self, words: &str, code: i32) -> Output {
        let output = self.namespace.type_line(&self.line(words));
        assert_eq!(output.code, code, "{words}: {output:#?}");
        output
    }

    /// Kills a run on a side of its write of this number.
    pub(super) fn killed(&self, words: &[&str], number: usize, moment: Moment) {
        self.gate.stop_at(number, moment);
        let mut running = self.namespace.inplace_spawn(&[words, &self.gate.flags()].concat());
        assert!(self.gate.held(&mut running).is_some(), "only {:?}", self.gate.writes());
        running.signal("KILL");
        assert_eq!(running.wait().code, 137);
        self.gate.lose();
    }

    /// Starts one, and leaves it to itself once its rollout holds the workload.
    pub(super) fn start(&self, words: &str) {
        self.namespace.type_line(&format!("{} > /dev/null 2>&1 &", self.line(words)));
        let is_held =
            || self.kubectl("get WEB -o jsonpath={.metadata.annotations}").contains("kubectl-inplace.io/rollout");
        poll(|| is_held().then_some(())).expect("it begins");
    }

    /// Writes the manifest with another text in it, as a file of the reader's.
    pub(super) fn manifest(&self, file: &str, from: &str, to: &str) {
        let manifest = self.owner.as_ref().map(|owner| owner.manifest.clone()).unwrap_or_else(|| samples::pod("web"));
        let changed = manifest.replacen(from, to, 1);
        assert_ne!(changed, manifest, "no {from} in it");
        fs::write(self.folder.join(file), changed).expect("a file of the target folder can be written");
    }

    /// The first pod, as kubectl names it.
    pub(super) fn a_pod(&self) -> String {
        format!("pod/{}", name(&self.pods()[0]))
    }

    /// Runs kubectl; `WEB` is the workload.
    pub(super) fn kubectl(&self, words: &str) -> String {
        let reference = self.reference();
        let words = words.replace("REGISTRY", registry());
        let words: Vec<&str> =
            words.split(' ').map(|word| if word == "WEB" { reference.as_str() } else { word }).collect();
        self.namespace.kubectl(&words)
    }

    /// Lets the account `bot` read what this program reads, and change nothing.
    pub(super) fn reads_only(&self) {
        self.kubectl("create serviceaccount bot");
        let read = "get,list,watch";
        self.kubectl(&format!("create role reads --verb={read} --resource=deployments.apps,replicasets.apps,pods"));
        self.kubectl(&format!("create rolebinding reads --role=reads --serviceaccount={}:bot", self.namespace.name()));
    }

    /// Returns the line as that account types it.
    pub(super) fn as_bot(&self, words: &str) -> String {
        format!("{} --as system:serviceaccount:{}:bot", self.line(words), self.namespace.name())
    }

    /// Reads the owner.
    pub(super) fn object(&self) -> Option<Value> {
        self.owner.as_ref().map(Owner::object)
    }

    /// Reads the pods, by name.
    pub(super) fn pods(&self) -> Vec<Value> {
        self.namespace.pods("app=web")
    }

    /// The UIDs of the pods.
    pub(super) fn uids(&self) -> Vec<Value> {
        self.pods().iter().map(|pod| pod["metadata"]["uid"].clone()).collect()
    }

    /// Says what is not as the API has it once everything is done.
    pub(super) fn unsettled(&self) -> Option<String> {
        if let Some(owner) = &self.owner {
            let template = &owner.object()["spec"]["template"]["spec"];
            let differs = |pod: &&Value| resources(&pod["spec"]) != resources(template);
            let resized =
                owner.pods().iter().find(differs).map(|pod| format!("{} has other resources", pod["metadata"]["name"]));
            return owner.unsettled().or(resized);
        }
        let pods = self.pods();
        pods.iter().find(|pod| !is_ready(pod)).map(|pod| format!("{}", pod["status"]))
    }

    /// The tag of a container in every present pod.
    pub(super) fn tags(&self, container: &str) -> Vec<String> {
        self.pods().iter().map(|pod| crate::support::image(pod, container).to_owned()).collect()
    }
}

impl Drop for Place<'_> {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.folder);
    }
}

/// What the containers of a pod's spec may use.
fn resources(spec: &Value) -> Vec<(Value, Value)> {
    let containers = spec["containers"].as_array().into_iter().flatten();
    containers.map(|container| (container["name"].clone(), container["resources"].clone())).collect()
}
