//! `hash`: computes the kubelet's container hashes, of manifests without a cluster, of live pods and templates with one.

use std::collections::{BTreeMap, BTreeSet};
use std::io;

use serde_json::Value;

use super::Shell;
use super::targets;
use crate::cli::{GlobalArgs, HashArgs};
use crate::cluster::Cluster;
use crate::error::{CommandError, Result};
use crate::manifest::Manifest;
use crate::render::{self, HashFormat};
use engine::change::new_images;
use engine::change::target::Images;
use engine::k8s::hash_comparison::{self, HashComparison, Kubelet};
use engine::k8s::names::WorkloadRef;
use engine::k8s::workload::Workload;
use engine::kinds::WorkloadKind;
use engine::plan::assemble;
use engine::state::outcome::EndResult;

type Given = (WorkloadKind, Manifest);

pub(super) async fn run(args: &HashArgs, global: &GlobalArgs, shell: &mut Shell) -> Result<EndResult> {
    // With a manifest and TYPE/NAME, the manifest is what comes after.
    let mut words = args.targets.clone();
    (words.pick.filename, words.pick.kustomize) = (Vec::new(), None);
    let request = targets::parsed(&words, targets::unnamed(&words), shell).await?;
    let mut manifests = Vec::new();
    if args.targets.pick.has_manifests() {
        let read = targets::manifests(&args.targets, shell).await?;
        targets::note_skipped(&read.skipped, shell);
        manifests = read.workloads;
    }
    let flag = args.kubelet_version.map(|version| Kubelet { version, source: "given", node: None });
    let names_none = request.named.is_empty() && request.selected.is_empty();
    let is_live = manifests.is_empty() || !names_none || words.pick.is_selected() || words.pick.all_namespaces;
    let mut objects = Vec::new();
    if is_live {
        let asked = targets::read(&words, false, shell).await?;
        let cluster = shell.connect(global).await?;
        let mut nodes = BTreeMap::new();
        for (Workload { reference, object, .. }, _) in targets::find(asked, &words, global, &cluster).await? {
            let known = of_node(&object, &mut nodes, &cluster, shell);
            let kubelet = if let Some(flag) = &flag { flag.clone() } else { known.await };
            let after = manifest_for(&manifests, &reference)?;
            objects.push(compared(reference, &object, after, &request.images, kubelet)?);
        }
    } else {
        objects = of_manifests(&manifests, &request.images, &flag.unwrap_or(Kubelet::ASSUMED), global)?;
    }
    render::hashes(args.output, &objects, &shell.terminal.stdout, &mut io::stdout().lock())?;
    if args.output == HashFormat::Text {
        let notes: BTreeSet<_> = objects.iter().filter_map(|object| note(object, is_live)).collect();
        notes.into_iter().for_each(|note| shell.note(note));
    }
    Ok(EndResult::Complete)
}

/// Hashes manifests as written: what a kubelet would get of them, without what admission adds.
fn of_manifests(all: &[Given], images: &Images, kubelet: &Kubelet, global: &GlobalArgs) -> Result<Vec<HashComparison>> {
    let of = |(kind, manifest): &Given| {
        let namespace = targets::namespace_of(manifest, global)?.or_else(|| global.connection.namespace.clone());
        let namespace = namespace.unwrap_or_default();
        let workload = WorkloadRef { kind: *kind, namespace, name: manifest.name.clone() };
        compared(workload, &manifest.object, None, images, kubelet.clone())
    };
    all.iter().map(of).collect()
}

/// Compares what an object is with what a manifest, and then images, would make of it.
fn compared(
    workload: WorkloadRef,
    object: &Value,
    manifest: Option<&Given>,
    images: &Images,
    kubelet: Kubelet,
) -> Result<HashComparison> {
    let now = hash_comparison::pod_of(workload.kind, object);
    let mut after = None;
    if let Some((kind, manifest)) = manifest {
        let template = manifest.object.pointer(kind.template_pointer()).unwrap_or(&Value::Null);
        let refused = |why| CommandError::usage(format!("{} cannot be put over {workload}: {why}", manifest.source));
        after = Some(hash_comparison::merged(&now, template).map_err(refused)?);
    }
    if !images.is_empty() {
        let spec = &mut after.get_or_insert_with(|| now.clone())["spec"];
        new_images::put(spec, images).map_err(|reasons| CommandError::reasons(&workload, &reasons))?;
    }
    let Some(containers) = hash_comparison::compare(&now, after.as_ref(), kubelet.version) else {
        let why = "cannot be computed: before 1.16 it depended on the kubelet's very build";
        return Err(CommandError::usage(format!("the container hash of kubelet {} {why}", kubelet.version)));
    };
    Ok(HashComparison { workload, kubelet, containers })
}

/// Finds the manifest that is meant for a live object: its own, or the only one.
fn manifest_for<'m>(manifests: &'m [Given], live: &WorkloadRef) -> Result<Option<&'m Given>> {
    if let [] | [_] = manifests {
        return Ok(manifests.first());
    }
    let own = manifests.iter().find(|(kind, manifest)| *kind == live.kind && manifest.name == live.name);
    own.map(Some).ok_or_else(|| {
        CommandError::usage(format!("several workloads were given with -f, and none is {live}"))
            .hint("give the one whose containers are to be compared with it")
    })
}

/// The kubelet of a pod; no template has a node. One that cannot be read is no error: the newest is the likely one.
async fn of_node(pod: &Value, known: &mut BTreeMap<String, Kubelet>, cluster: &Cluster, shell: &Shell) -> Kubelet {
    let name = pod.pointer("/spec/nodeName").and_then(Value::as_str).unwrap_or_default();
    if !name.is_empty() && !known.contains_key(name) {
        let nodes = cluster.nodes(vec![name.to_owned()]).await;
        let nodes = nodes.inspect_err(|error| shell.note(&format!("the kubelet of node {name} is not known: {error}")));
        let version = nodes.ok().and_then(|nodes| assemble::kubelets(&nodes).remove(name));
        let read = |version| Kubelet { version, source: "node", node: Some(name.to_owned()) };
        known.insert(name.to_owned(), version.map_or(Kubelet::ASSUMED, read));
    }
    known.get(name).cloned().unwrap_or(Kubelet::ASSUMED)
}

/// What else there is to say of a hash.
fn note(object: &HashComparison, is_live: bool) -> Option<&'static str> {
    if object.kubelet == Kubelet::ASSUMED {
        return Some("the kubelet's version is assumed: set --kubelet-version, or name a running pod");
    }
    let is_admitted = is_live && !object.workload.kind.has_template();
    (!is_admitted && !object.kubelet.version.at_least(1, 31)).then_some(
        "below kubelet 1.31 what admission adds to a pod, such as the service account's mount, changes the hash: \
         name a running pod for the hash that its kubelet has",
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::manifest;
    use engine::change::target::{self, Unnamed};

    fn read(text: &str) -> Vec<(WorkloadKind, Manifest)> {
        let kind = |one: &Manifest| WorkloadKind::from_manifest(&one.api_version, &one.kind).unwrap();
        let read = manifest::parse("two.yaml", text.as_bytes()).unwrap();
        read.into_iter().map(|one| (kind(&one), one)).collect()
    }

    const TWO: &str = "
apiVersion: v1
kind: Pod
metadata: {name: a}
spec: {containers: [{name: app, image: 'registry.test/app:v1'}]}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: a, namespace: prod}
spec: {template: {spec: {containers: [{name: side, image: 'registry.test/side:v1'}]}}}
";

    #[test]
    fn manifests_are_hashed_without_a_cluster() {
        let images = target::parse(&["*=registry.test/side:v2".into()], &[], Unnamed::None, true).unwrap().images;
        let objects = of_manifests(&read(TWO), &images, &Kubelet::ASSUMED, &GlobalArgs::default()).unwrap();
        let hashes: Vec<String> = objects
            .iter()
            .flat_map(|object| &object.containers)
            .map(|one| format!("{} {}", one.hash.as_deref().unwrap(), one.restarts.unwrap()))
            .collect();
        assert_eq!(hashes, ["cacdff2f true", "7f53a3a1 true"]);
        assert_eq!(objects[1].workload.namespace, "prod");
        let old = of_manifests(
            &read(TWO),
            &Images::default(),
            &Kubelet { version: "1.15".parse().unwrap(), ..Kubelet::ASSUMED },
            &GlobalArgs::default(),
        );
        assert!(old.unwrap_err().message.contains("1.15"));
        let typo = target::parse(&["ap=x:1".into()], &[], Unnamed::None, false).unwrap().images;
        let error = of_manifests(&read(TWO), &typo, &Kubelet::ASSUMED, &GlobalArgs::default()).unwrap_err();
        assert_eq!(error.hints, ["did you mean app?".into()]);
    }

    #[test]
    fn the_manifest_of_a_live_object_is_found() {
        let manifests = read(TWO);
        let live = |kind, name: &str| WorkloadRef { kind, namespace: "n".into(), name: name.into() };
        let found = |manifests: &[_], live: &WorkloadRef| {
            manifest_for(manifests, live).map(|found| found.map(|(kind, _): &(WorkloadKind, Manifest)| *kind)).ok()
        };
        assert_eq!(found(&[], &live(WorkloadKind::Pod, "a")), Some(None));
        assert_eq!(found(&manifests, &live(WorkloadKind::Deployment, "a")), Some(Some(WorkloadKind::Deployment)));
        assert_eq!(found(&manifests, &live(WorkloadKind::Pod, "web-0")), None);
        assert_eq!(found(&manifests[1..], &live(WorkloadKind::Pod, "web-0")), Some(Some(WorkloadKind::Deployment)));
    }
}
