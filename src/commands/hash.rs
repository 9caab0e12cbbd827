//! `hash`: computes the kubelet's container hashes, of manifests without a cluster, of live pods and templates with one.

use std::collections::{BTreeMap, BTreeSet};
use std::io;

use serde_json::Value;

use super::Shell;
use super::targets;
use crate::cli::{GlobalArgs, HashArgs, TargetArgs};
use crate::cluster::Cluster;
use crate::error::{CommandError, Result};
use crate::manifest::Manifest;
use crate::render::{self, HashFormat};
use engine::change::new_images;
use engine::change::target::Images;
use engine::k8s::hash_comparison::{self, ASSUMED_KUBELET, HashComparison, Kubelet};
use engine::k8s::names::WorkloadRef;
use engine::k8s::workload::Workload;
use engine::kinds::WorkloadKind;
use engine::plan::Intent;
use engine::plan::assemble;
use engine::state::outcome::EndResult;
use engine::value::kubelet_version::KubeletVersion;

type Manifests = [(WorkloadKind, Manifest)];

pub(super) async fn run(args: &HashArgs, global: &GlobalArgs, shell: &mut Shell) -> Result<EndResult> {
    // With a manifest and TYPE/NAME, the manifest is what comes after.
    let words = TargetArgs { filename: Vec::new(), kustomize: None, ..args.targets.clone() };
    let request = targets::parsed(&words, targets::unnamed(&words), shell).await?;
    let has_manifests = !args.targets.filename.is_empty() || args.targets.kustomize.is_some();
    let mut manifests = Vec::new();
    if has_manifests {
        let read = targets::manifests(&args.targets, shell).await?;
        targets::note_skipped(&read.skipped, shell);
        manifests = read.workloads;
    }
    let given = args.kubelet_version.map(|version| Kubelet { version, source: "given", node: None });
    let names_none = request.named.is_empty() && request.selected.is_empty();
    let is_live = manifests.is_empty() || !names_none || words.is_selected() || words.all_namespaces;
    let mut objects = Vec::new();
    if is_live {
        let asked = targets::read(&words, false, shell).await?;
        let cluster = shell.connect(global).await?;
        let found = targets::find(asked, &words, global, &cluster).await?;
        let kubelets = if given.is_some() { BTreeMap::new() } else { kubelets(&found, &cluster, shell).await };
        for (Workload { reference, object, .. }, _) in found {
            let of_node = || {
                let node = node(&object)?.to_owned();
                Some(Kubelet { version: *kubelets.get(&node)?, source: "node", node: Some(node) })
            };
            let kubelet = given.clone().or_else(of_node).unwrap_or(Kubelet::ASSUMED);
            let after = manifest_for(&manifests, &reference)?;
            objects.push(compared(reference, &object, after, &request.images, kubelet)?);
        }
    } else {
        objects = of_manifests(&manifests, &request.images, &given.unwrap_or(Kubelet::ASSUMED), global)?;
    }
    render::hashes(args.output, &objects, &shell.terminal.stdout, &mut io::stdout().lock())?;
    if args.output == HashFormat::Text {
        notes(&objects, is_live, shell);
    }
    Ok(EndResult::Complete)
}

/// Hashes manifests as written: what a kubelet would get of them, without what admission adds.
fn of_manifests(
    manifests: &Manifests,
    images: &Images,
    kubelet: &Kubelet,
    global: &GlobalArgs,
) -> Result<Vec<HashComparison>> {
    let of = |(kind, manifest): &(WorkloadKind, Manifest)| {
        let namespace = targets::namespace_of(manifest, global)?.or_else(|| global.connection.namespace.clone());
        let reference =
            WorkloadRef { kind: *kind, namespace: namespace.unwrap_or_default(), name: manifest.name.clone() };
        compared(reference, &manifest.object, None, images, kubelet.clone())
    };
    manifests.iter().map(of).collect()
}

/// Compares what an object is with what a manifest, and then images, would make of it.
fn compared(
    workload: WorkloadRef,
    object: &Value,
    manifest: Option<&(WorkloadKind, Manifest)>,
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
    let containers = hash_comparison::compare(&now, after.as_ref(), kubelet.version).ok_or_else(|| {
        CommandError::usage(format!(
            "the container hash of kubelet {} cannot be computed: before 1.16 it depended on the kubelet's very build",
            kubelet.version
        ))
    })?;
    Ok(HashComparison { workload, kubelet, containers })
}

/// Finds the manifest that is meant for a live object: its own, or the only one.
fn manifest_for<'m>(manifests: &'m Manifests, live: &WorkloadRef) -> Result<Option<&'m (WorkloadKind, Manifest)>> {
    if let [] | [_] = manifests {
        return Ok(manifests.first());
    }
    let own = manifests.iter().find(|(kind, manifest)| *kind == live.kind && manifest.name == live.name);
    own.map(Some).ok_or_else(|| {
        CommandError::usage(format!("several workloads were given with -f, and none is {live}"))
            .hint("give the one whose containers are to be compared with it")
    })
}

/// The node of a pod; no template has one.
fn node(object: &Value) -> Option<&str> {
    object.pointer("/spec/nodeName").and_then(Value::as_str).filter(|node| !node.is_empty())
}

/// The kubelets of pods. One that cannot be read is no error: the newest is the likely one, and the answer says so.
async fn kubelets(found: &[(Workload, Intent)], cluster: &Cluster, shell: &Shell) -> BTreeMap<String, KubeletVersion> {
    let mut known = BTreeMap::new();
    for node in found.iter().filter_map(|(workload, _)| node(&workload.object)).collect::<BTreeSet<_>>() {
        match cluster.nodes(vec![node.to_owned()]).await {
            Ok(nodes) => known.extend(assemble::kubelets(&nodes)),
            Err(error) => shell.note(&format!("the kubelet of node {node} is not known: {error}")),
        }
    }
    known
}

fn notes(objects: &[HashComparison], is_live: bool, shell: &Shell) {
    if objects.iter().any(|object| object.kubelet == Kubelet::ASSUMED) {
        shell.note(&format!(
            "which kubelet it is for is not known: {ASSUMED_KUBELET} or newer was assumed, where name and image alone count; \
             say --kubelet-version, or name a running pod"
        ));
    }
    let lacks_admission = |object: &HashComparison| {
        !object.kubelet.version.at_least(1, 31) && (!is_live || object.workload.kind.has_template())
    };
    if objects.iter().any(lacks_admission) {
        shell.note(
            "below kubelet 1.31 every field of the container counts; of a template or manifest the API server's defaults were \
             filled in, but what admission adds to the pod, such as the service account's mount, changes the hash: \
             name a running pod for the hash that its kubelet has",
        );
    }
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
