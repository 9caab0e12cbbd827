//! `hash`: computes the kubelet's container hashes, of manifests without a cluster, of live pods and templates with one.

use std::collections::BTreeMap;
use std::io;

use serde_json::Value;

use super::Shell;
use super::targets::{self, Asked};
use crate::cli::{GlobalArgs, HashArgs, TargetArgs};
use crate::cluster::Cluster;
use crate::error::CommandError;
use crate::manifest::Manifest;
use crate::render::{self, HashFormat};
use engine::change::new_images;
use engine::change::target::{self, Images};
use engine::k8s::hash_comparison::{self, ASSUMED_KUBELET, HashComparison, Kubelet};
use engine::k8s::names::WorkloadRef;
use engine::k8s::workload::Workload;
use engine::kinds::WorkloadKind;
use engine::state::outcome::EndResult;
use engine::value::kubelet_version::KubeletVersion;

pub(super) async fn run(args: &HashArgs, global: &GlobalArgs, shell: &mut Shell) -> Result<EndResult, CommandError> {
    let request = request(&args.targets, shell).await?;
    let images = request.images.clone();
    let manifests = manifests(&args.targets, shell).await?;
    let is_live = !request.named.is_empty() || !request.selected.is_empty();
    let objects = if !is_live {
        of_manifests(&manifests, &images, args.kubelet_version, global)?
    } else {
        let cluster = shell.connect(global).await?;
        // `targets::find` takes the words alone.
        let found = targets::find(Asked::Words(Box::new(request)), &args.targets, global, &cluster).await?;
        let mut nodes = Nodes { cluster: &cluster, read: BTreeMap::new() };
        let mut objects = Vec::new();
        for (workload, _) in found {
            let kubelet = nodes.kubelet(&workload, args.kubelet_version, shell).await;
            let manifest = manifest_for(&manifests, &workload.reference)?;
            objects.push(of_live(&workload, manifest, &images, kubelet)?);
        }
        objects
    };
    render::hashes(args.output, &objects, &shell.terminal.stdout, &mut io::stdout().lock())?;
    if args.output == HashFormat::Text {
        notes(&objects, is_live, shell);
    }
    Ok(EndResult::Complete)
}

async fn request(args: &TargetArgs, shell: &mut Shell) -> Result<target::Request, CommandError> {
    let request = targets::parsed(args, targets::unnamed(args), shell).await?;
    let no_target = request.named.is_empty() && request.selected.is_empty();
    if no_target && !has_manifests(args) {
        return Err(CommandError::usage("no pod, workload or manifest was named")
            .hint("name one as TYPE/NAME, such as pod/web-0, or give a manifest with -f"));
    }
    if no_target && (args.is_selected() || args.all_namespaces) {
        return Err(CommandError::usage("-l, --field-selector, --all and -A go with a TYPE, such as pods -l app=web"));
    }
    if args.all_namespaces && request.selected.is_empty() {
        return Err(targets::by_name_everywhere().hint("give a selector with -l, or a namespace with -n"));
    }
    Ok(request)
}

fn has_manifests(args: &TargetArgs) -> bool {
    !args.filename.is_empty() || args.kustomize.is_some()
}

async fn manifests(args: &TargetArgs, shell: &mut Shell) -> Result<Vec<(WorkloadKind, Manifest)>, CommandError> {
    if !has_manifests(args) {
        return Ok(Vec::new());
    }
    let files = TargetArgs {
        filename: args.filename.clone(),
        kustomize: args.kustomize.clone(),
        recursive: args.recursive,
        ..TargetArgs::default()
    };
    let asked = targets::read(&files, false, shell).await?;
    targets::note_skipped(asked.skipped(), shell);
    match asked {
        Asked::Manifests(manifests) => Ok(manifests.workloads),
        Asked::Words(_) => Ok(Vec::new()),
    }
}

/// Hashes manifests as written: what a kubelet would get of them, without what admission adds.
fn of_manifests(
    manifests: &[(WorkloadKind, Manifest)],
    images: &Images,
    given: Option<KubeletVersion>,
    global: &GlobalArgs,
) -> Result<Vec<HashComparison>, CommandError> {
    let kubelet = given.map_or(Kubelet::Assumed, Kubelet::Given);
    let of = |(kind, manifest): &(WorkloadKind, Manifest)| {
        let given = Some(&manifest.namespace).filter(|given| !given.is_empty());
        let namespace = given.or(global.namespace.as_ref()).cloned().unwrap_or_default();
        let workload = WorkloadRef { kind: *kind, namespace, name: manifest.name.clone() };
        let now = hash_comparison::pod_of(*kind, &manifest.object);
        let after = with_images(&now, images, &workload)?;
        comparison(workload, &now, after.as_ref(), kubelet.clone())
    };
    manifests.iter().map(of).collect()
}

/// Hashes a live pod or template, and what a manifest and images would make of it.
fn of_live(
    workload: &Workload,
    manifest: Option<&(WorkloadKind, Manifest)>,
    images: &Images,
    kubelet: Kubelet,
) -> Result<HashComparison, CommandError> {
    let now = hash_comparison::pod_of(workload.reference.kind, &workload.object);
    let merged = match manifest {
        None => None,
        Some((kind, manifest)) => {
            let template = manifest.object.pointer(kind.template_pointer()).unwrap_or(&Value::Null);
            let merged = hash_comparison::merged(&now, template).map_err(|error| {
                CommandError::usage(format!("{} cannot be put over {}: {error}", manifest.source, workload.reference))
            })?;
            Some(merged)
        }
    };
    let after = with_images(merged.as_ref().unwrap_or(&now), images, &workload.reference)?.or(merged);
    comparison(workload.reference.clone(), &now, after.as_ref(), kubelet)
}

fn with_images(pod: &Value, images: &Images, workload: &WorkloadRef) -> Result<Option<Value>, CommandError> {
    if images.is_empty() {
        return Ok(None);
    }
    let mut after = pod.clone();
    let mut nothing = Value::Null;
    new_images::put(after.get_mut("spec").unwrap_or(&mut nothing), images)
        .map_err(|reasons| CommandError::reasons(workload, &reasons))?;
    Ok(Some(after))
}

fn comparison(
    workload: WorkloadRef,
    now: &Value,
    after: Option<&Value>,
    kubelet: Kubelet,
) -> Result<HashComparison, CommandError> {
    let containers = hash_comparison::compare(now, after, &kubelet).ok_or_else(|| {
        CommandError::usage(format!(
            "the container hash of kubelet {} cannot be computed: before 1.16 it depended on the kubelet's very build",
            kubelet.version()
        ))
    })?;
    Ok(HashComparison { workload, kubelet, containers })
}

/// Finds the manifest that is meant for a live object: its own, or the only one.
fn manifest_for<'m>(
    manifests: &'m [(WorkloadKind, Manifest)],
    live: &WorkloadRef,
) -> Result<Option<&'m (WorkloadKind, Manifest)>, CommandError> {
    match manifests {
        [] => Ok(None),
        [only] => Ok(Some(only)),
        several => match several.iter().find(|(kind, manifest)| *kind == live.kind && manifest.name == live.name) {
            Some(own) => Ok(Some(own)),
            None => Err(CommandError::usage(format!("several workloads were given with -f, and none is {live}"))
                .hint("give the one whose containers are to be compared with it")),
        },
    }
}

/// The kubelets of nodes, each asked for once.
struct Nodes<'c> {
    cluster: &'c Cluster,
    read: BTreeMap<String, Option<KubeletVersion>>,
}

impl Nodes<'_> {
    async fn kubelet(&mut self, workload: &Workload, given: Option<KubeletVersion>, shell: &Shell) -> Kubelet {
        if let Some(version) = given {
            return Kubelet::Given(version);
        }
        let node = workload.object.pointer("/spec/nodeName").and_then(Value::as_str).unwrap_or_default();
        if workload.reference.kind.has_template() || node.is_empty() {
            return Kubelet::Assumed;
        }
        if !self.read.contains_key(node) {
            let version = match self.cluster.kubelet(node).await {
                Ok(version) => Some(version),
                // Not an error: the newest era is the likely one, and the answer says what was assumed.
                Err(error) => {
                    shell.note(&format!("the kubelet of node {node} is not known: {error}"));
                    None
                }
            };
            self.read.insert(node.to_owned(), version);
        }
        match self.read.get(node).copied().flatten() {
            Some(version) => Kubelet::OfNode { version, node: node.to_owned() },
            None => Kubelet::Assumed,
        }
    }
}

/// Says what the hashes rest on.
fn notes(objects: &[HashComparison], is_live: bool, shell: &Shell) {
    if objects.iter().any(|object| object.kubelet == Kubelet::Assumed) {
        shell.note(&format!(
            "which kubelet it is for is not known: {ASSUMED_KUBELET} or newer was assumed, where name and image alone count; \
             say --kubelet-version, or name a running pod"
        ));
    }
    let whole = |object: &&HashComparison| !object.kubelet.version().at_least(1, 31);
    let made = |object: &&HashComparison| !is_live || object.workload.kind.has_template();
    if objects.iter().filter(whole).any(|object| made(&object)) {
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
    use engine::change::target::Unnamed;

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
        let objects = of_manifests(&read(TWO), &images, None, &GlobalArgs::default()).unwrap();
        let hashes: Vec<String> = objects
            .iter()
            .flat_map(|object| &object.containers)
            .map(|one| format!("{} {}", one.now.as_ref().unwrap().hash, one.restart.unwrap().restarts()))
            .collect();
        assert_eq!(hashes, ["cacdff2f true", "7f53a3a1 true"]);
        assert_eq!(objects[1].workload.namespace, "prod");
        let old = of_manifests(&read(TWO), &Images::default(), "1.15".parse().ok(), &GlobalArgs::default());
        assert!(old.unwrap_err().message.contains("1.15"));
        let typo = target::parse(&["ap=x:1".into()], &[], Unnamed::None, false).unwrap().images;
        let error = of_manifests(&read(TWO), &typo, None, &GlobalArgs::default()).unwrap_err();
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
