//! From words and manifests to the workloads that are meant, and what is wanted of each.

use std::io;

use futures::{StreamExt, TryStreamExt};
use serde_json::Value;

use super::{Shell, sidecar_set, sources, usage};
use crate::cli::{ChangeArgs, GlobalArgs, TargetArgs, WorkloadArgs};
use crate::cluster::error::ClusterError;
use crate::cluster::{Cluster, Nodes};
use crate::error::{CommandError, ErrorKind, Result};
use crate::manifest::{self, Manifest};
use crate::render::Meaning;
use engine::change::asked_resources::AskedResources;
use engine::change::target::{self, Unnamed};
use engine::k8s::names::{ContainerName, WorkloadRef};
use engine::k8s::workload::Workload;
use engine::kinds::{SIDECAR_SETS, WorkloadKind};
use engine::plan::outline::Hook;
use engine::plan::skipped::{self, SkippedBecause, SkippedChange, SkippedObject};
use engine::plan::{self, Intent, Snapshot};
use engine::value::hint::{Hint, inplace, kubectl};
use engine::value::suggest;

/// Questions at once: the API server's own limits are meant for many clients.
pub(super) const AT_ONCE: usize = 10;

#[derive(Clone)]
pub(super) enum Asked {
    /// Images by hand, of workloads by name or selector.
    Words(Box<target::Request>),
    Manifests(Manifests),
}

#[derive(Clone)]
pub(super) struct Manifests {
    pub(super) workloads: Vec<(WorkloadKind, Manifest)>,
    pub(super) skipped: Vec<SkippedObject>,
    /// The ConfigMaps and Secrets among those that are skipped.
    pub(super) configuration: Vec<Manifest>,
}

impl Asked {
    pub(super) fn skipped(&self) -> &[SkippedObject] {
        match self {
            Self::Words(_) => &[],
            Self::Manifests(manifests) => &manifests.skipped,
        }
    }

    /// Returns the ConfigMaps and Secrets of manifests.
    pub(super) fn configuration(&self) -> Vec<Manifest> {
        match self {
            Self::Words(_) => Vec::new(),
            Self::Manifests(manifests) => manifests.configuration.clone(),
        }
    }
}

/// Reads words, files and what is wanted of containers; asks the cluster nothing.
pub(super) async fn read_change(args: &ChangeArgs, shell: &mut Shell) -> Result<Asked> {
    let mut resources = AskedResources {
        containers: args.container.iter().map(|name| ContainerName::from(name.as_str())).collect(),
        all: args.targets.all_containers,
        ..AskedResources::default()
    };
    for (map, list) in [("requests", &args.requests), ("limits", &args.limits)] {
        if !list.is_empty() {
            let list = &list.join(",");
            resources.add(map, list).map_err(|error| CommandError::usage(error.to_string()))?;
        }
    }
    let targets = with_containers(args, resources.is_empty())?;
    let mut asked = read(&targets, resources.is_empty(), shell).await?;
    if let Asked::Words(request) = &mut asked {
        request.images.resources = resources;
    }
    Ok(asked)
}

/// Gives images without a container to the containers of `-c`, and refuses others: which is meant is not known.
fn with_containers(args: &ChangeArgs, images_alone: bool) -> Result<TargetArgs> {
    let mut targets = args.targets.clone();
    let given = std::mem::take(&mut targets.image);
    for image in given {
        match image.contains('=') {
            true => targets.image.push(image),
            false if args.container.is_empty() => {
                return Err(CommandError::usage(format!("--image {image} does not say which container gets it"))
                    .hint(format!("write --image CONTAINER={image}, or add -c CONTAINER")));
            }
            false => targets.image.extend(args.container.iter().map(|name| format!("{name}={image}"))),
        }
    }
    let images: Vec<&str> =
        targets.words.iter().chain(&targets.image).filter_map(|word| Some(word.split_once('=')?.0)).collect();
    if images_alone && !args.container.is_empty() {
        if images.is_empty() {
            return Err(CommandError::usage(
                "-c names containers, and neither --image, --requests nor --limits is given",
            )
            .hint("an image is given as CONTAINER=IMAGE, or as --image IMAGE with -c CONTAINER"));
        }
        if let Some(other) = images.iter().find(|name| !args.container.iter().any(|given| given == *name)) {
            let message = format!("an image was given for container {other}, which is not among those of -c");
            return Err(CommandError::usage(message).hint("leave out -c, or name that container in it, too"));
        }
    }
    Ok(targets)
}

/// Refuses cpu and memory where it is not clear which container gets them.
pub(super) fn refuse_ambiguous(found: &[(Workload, Intent)]) -> Result<()> {
    for (workload, intent) in found {
        let Intent::Images(images) = intent else { continue };
        let spec = workload.template().get("spec").unwrap_or(&Value::Null);
        if let Some(names) = images.resources.ambiguous(spec) {
            let message = format!("{} has several containers: {}", workload.reference, names.join(", "));
            return Err(
                CommandError::usage(message).hint("say whose cpu and memory change: -c CONTAINER, or --all-containers")
            );
        }
    }
    Ok(())
}

/// Reads words and files; asks the cluster nothing, so that a credential plugin never sees the manifest.
pub(super) async fn read(args: &TargetArgs, images_needed: bool, shell: &mut Shell) -> Result<Asked> {
    read_words(args, unnamed(args), images_needed, shell).await
}

pub(super) fn unnamed(args: &TargetArgs) -> Unnamed {
    if args.pick.is_selected() { Unnamed::Picked } else { Unnamed::None }
}

/// Reads the words; of wrong ones it says what was probably meant.
pub(super) async fn parsed(args: &TargetArgs, unnamed: Unnamed, shell: &mut Shell) -> Result<target::Request> {
    match target::parse(&args.words, &args.image, unnamed, args.all_containers) {
        Ok(request) => Ok(request),
        Err(error) => Err(usage::with_what_was_meant(error, shell).await),
    }
}

async fn read_words(args: &TargetArgs, unnamed: Unnamed, images_needed: bool, shell: &mut Shell) -> Result<Asked> {
    let request = parsed(args, unnamed, shell).await?;
    let no_target = request.named.is_empty() && request.selected.is_empty();
    if !args.pick.has_manifests() {
        if no_target {
            return Err(CommandError::usage("no workload was named")
                .hint("name one as TYPE/NAME, such as deployment/web, or give a manifest with -f"));
        }
        if images_needed && request.images.is_empty() {
            return Err(CommandError::usage("no image was given")
                .hint("say which container gets which image, such as side=acme/side:1.27.2; --requests and --limits give cpu and memory"));
        }
        if args.pick.all_namespaces && request.selected.is_empty() {
            // kubectl's own words (cli-runtime `resource.Builder`).
            return Err(CommandError::usage("a resource cannot be retrieved by name across all namespaces")
                .hint("give a TYPE with -l or --all, or a namespace with -n"));
        }
        return Ok(Asked::Words(Box::new(request)));
    }
    if !no_target || !request.images.is_empty() || args.pick.is_selected() || args.pick.all_namespaces {
        return Err(CommandError::usage(
            "-f and -k cannot be combined with TYPE/NAME, CONTAINER=IMAGE, -l, --field-selector, --all or -A: the manifest names them",
        ));
    }
    Ok(Asked::Manifests(manifests(args, shell).await?))
}

pub(super) async fn manifests(args: &TargetArgs, shell: &mut Shell) -> Result<Manifests> {
    shell.standard_input_was_read = args.pick.filename.iter().any(|name| name == "-");
    let origins = sources::origins(args, shell).await?;
    let manifests = manifest::read(origins, args.pick.recursive, &mut io::stdin().lock())?;
    refuse_misspelt(&manifests)?;
    let mut workloads = Vec::new();
    let (mut left_out, mut configuration, mut sidecar_sets) = (Vec::new(), Vec::new(), Vec::new());
    for manifest in manifests {
        let type_of_it = (manifest.api_version.as_str(), manifest.kind.as_str());
        match skipped::taken(type_of_it, Hook::of(&manifest.object)) {
            Ok(kind) => {
                // Fields that the API does not have are the server's matter: a newer one has more.
                manifest::unknown_fields(kind, &manifest)?;
                workloads.push((kind, manifest));
            }
            Err(why) => {
                if matches!(type_of_it, ("v1", "ConfigMap" | "Secret")) && why == SkippedBecause::OtherKind {
                    configuration.push(manifest.clone());
                }
                if why == SkippedBecause::SidecarSet {
                    sidecar_sets.push((SIDECAR_SETS, manifest.clone()));
                }
                let Manifest { api_version, kind, namespace, name, .. } = manifest;
                let change = SkippedChange::NotCompared;
                left_out.push(SkippedObject { api_version, kind, namespace, name, why, change });
            }
        }
    }
    if workloads.is_empty() && sidecar_sets.len() == 1 {
        left_out.retain(|object| object.why != SkippedBecause::SidecarSet);
        workloads = sidecar_sets;
    }
    if workloads.is_empty() {
        note_skipped(&left_out, shell);
        let kinds = WorkloadKind::built_in().map(|kind| kind.spec().kind).collect::<Vec<_>>().join(", ");
        let names = args.pick.filename.iter().map(|name| if name == "-" { "standard input" } else { name });
        let names: Vec<&str> = names.chain(args.pick.kustomize.as_deref()).collect();
        let message = format!("there is no workload in {}", names.join(", "));
        return Err(CommandError::new(ErrorKind::NoWorkload, message).hint(format!("workloads are {kinds}")));
    }
    Ok(Manifests { workloads, skipped: left_out, configuration })
}

/// Says that there is nothing, in kubectl's words and where kubectl says it.
pub(super) fn note_nothing(namespace: Option<&str>, shell: &Shell) {
    shell.say(Meaning::Plain, "No resources", &found_in(namespace));
}

fn found_in(namespace: Option<&str>) -> String {
    let place = namespace.map(|namespace| format!(" in {namespace} namespace.")).unwrap_or_default();
    format!("found{place}")
}

/// Reads words and files of a command that only reads workloads; a type alone is all of them.
pub(super) async fn read_without_images(args: &TargetArgs, shell: &mut Shell) -> Result<Asked> {
    let unnamed = if args.pick.is_selected() { Unnamed::Picked } else { Unnamed::OfType };
    let asked = read_words(args, unnamed, false, shell).await?;
    refuse_images(&asked, "an image was given, but this command takes workloads alone")?;
    note_skipped(asked.skipped(), shell);
    Ok(asked)
}

/// Reads words and files of a command that knows the images itself, connects, and finds the workloads.
pub(super) async fn connect_and_find(
    args: &WorkloadArgs,
    why_no_images: &str,
    global: &GlobalArgs,
    shell: &mut Shell,
) -> Result<(Cluster, Vec<(Workload, Intent)>)> {
    let args = TargetArgs::from(args);
    let asked = read(&args, false, shell).await?;
    refuse_images(&asked, why_no_images)?;
    note_skipped(asked.skipped(), shell);
    let cluster = shell.connect(global).await?;
    let found = find(asked, &args, global, &cluster).await?;
    sidecar_set::refuse(found.iter().map(|(workload, _)| workload.reference.kind))?;
    Ok((cluster, found))
}

fn refuse_images(asked: &Asked, why: &str) -> Result<()> {
    match asked {
        Asked::Words(request) if !request.images.is_empty() => Err(CommandError::usage(why)
            .hint(Hint::from("for another image: ").command(inplace("apply TYPE/NAME CONTAINER=IMAGE")))),
        Asked::Words(_) | Asked::Manifests(_) => Ok(()),
    }
}

/// Reads workloads with their pods, some at once, in the order given.
pub(super) async fn read_side_by_side(
    cluster: &Cluster,
    workloads: Vec<Workload>,
    nodes: Nodes,
) -> Result<Vec<Snapshot>, ClusterError> {
    let reads = workloads.into_iter().map(|workload| cluster.live(workload, nodes));
    futures::stream::iter(reads).buffered(AT_ONCE).try_collect().await
}

/// Refuses misspelt kinds: skipped, they would look as if there was nothing to do.
pub(super) fn refuse_misspelt(manifests: &[Manifest]) -> Result<()> {
    for Manifest { api_version, kind, source, .. } in manifests {
        if let Some(meant) = WorkloadKind::meant(api_version, kind) {
            let meant = meant.spec();
            let message = format!("{source}: there is no kind {kind} in {api_version}");
            let hint = format!("did you mean {} in {}?", meant.kind, meant.api_version());
            return Err(CommandError::new(ErrorKind::Manifest, message).hint(hint));
        }
    }
    Ok(())
}

/// Says which objects of the manifests are not looked at, where the command shows no plan that does.
pub(super) fn note_skipped(skipped: &[SkippedObject], shell: &Shell) {
    for object in skipped {
        shell.note(&format!("{}: skipped: {}", object.resource(), object.why.sentence()));
    }
}

pub(super) struct Found {
    pub(super) workloads: Vec<(Workload, Intent)>,
    /// Those of manifests that are not, with the manifest and the server's answer.
    new: Vec<(WorkloadRef, Value, ClusterError)>,
}

impl Found {
    pub(super) fn to_create(&self) -> impl Iterator<Item = (&WorkloadRef, &Value)> {
        self.new.iter().map(|(reference, manifest, _)| (reference, manifest))
    }
}

/// Finds the workloads as [`find`] does; of several manifests some may be of workloads that are still to be made, and all of
/// them where `may_be_absent`.
pub(super) async fn find_or_new(
    asked: Asked,
    (args, may_be_absent): (&TargetArgs, bool),
    global: &GlobalArgs,
    cluster: &Cluster,
) -> Result<Found> {
    let Asked::Manifests(manifests) = asked else {
        let workloads = find(asked, args, global, cluster).await?;
        return Ok(Found { workloads, new: Vec::new() });
    };
    let mut found = of_manifests(manifests.workloads, (args, may_be_absent), global, cluster).await?;
    match found.new.pop() {
        Some((reference, _, error)) if found.workloads.is_empty() && !may_be_absent => {
            Err(missing(error, &reference, cluster).await)
        }
        last => {
            found.new.extend(last);
            Ok(found)
        }
    }
}

async fn of_manifests(
    manifests: Vec<(WorkloadKind, Manifest)>,
    (args, may_be_absent): (&TargetArgs, bool),
    global: &GlobalArgs,
    cluster: &Cluster,
) -> Result<Found> {
    let mut found = Found { workloads: Vec::new(), new: Vec::new() };
    for (kind, manifest) in manifests {
        let namespace = namespace_of(&manifest, global)?.unwrap_or_else(|| place(kind, cluster));
        let Manifest { name, object, .. } = manifest;
        let reference = WorkloadRef { kind, namespace, name };
        match cluster.workload(&reference).await {
            Ok(workload) => {
                let manifest = plan::Manifest::Given { object, validation: args.validate };
                found.workloads.push((workload, Intent::Manifest(manifest)));
            }
            // Its namespace, or its type, comes with it.
            Err(error @ (ClusterError::NotFound { .. } | ClusterError::UnknownResource { .. })) if may_be_absent => {
                found.new.push((reference, object, error));
            }
            Err(error @ ClusterError::NotFound { .. })
                if cluster.has_namespace(&reference.namespace).await != Some(false) =>
            {
                found.new.push((reference, object, error));
            }
            Err(error) => return Err(missing(error, &reference, cluster).await),
        }
    }
    Ok(found)
}

/// Finds the workloads in the order in which they were named; what a selector picks by namespace, kind and name.
pub(super) async fn find(
    asked: Asked,
    args: &TargetArgs,
    global: &GlobalArgs,
    cluster: &Cluster,
) -> Result<Vec<(Workload, Intent)>> {
    let selects = matches!(&asked, Asked::Words(request) if !request.selected.is_empty());
    let found = find_any(asked, args, global, cluster).await?;
    if found.is_empty() && selects {
        let namespace = (!args.pick.all_namespaces).then(|| cluster.namespace());
        let given: Vec<String> = selectors(args).iter().map(|(_, selector)| format!("{selector:?}")).collect();
        if let Some(namespace) = namespace
            && cluster.has_namespace(namespace).await == Some(false)
        {
            return Err(no_namespace(namespace));
        }
        if given.is_empty() {
            return Err(CommandError::new(ErrorKind::NothingFound, found_in(namespace)));
        }
        let place = namespace.map_or_else(|| "any namespace".to_owned(), |namespace| format!("namespace {namespace}"));
        // A selector is a claim that there are some: one that is mistyped must not pass for a change that was made.
        let message = format!("no workload in {place} matches the selector {}", given.join(" and "));
        return Err(CommandError::new(ErrorKind::Cluster, message));
    }
    Ok(found)
}

fn selectors(args: &TargetArgs) -> Vec<(&'static str, &str)> {
    let given = [("labelSelector", &args.pick.selector), ("fieldSelector", &args.pick.field_selector)];
    given.into_iter().filter_map(|(name, selector)| Some((name, selector.as_deref()?))).collect()
}

/// The same where nothing is an answer, too.
pub(super) async fn find_any(
    asked: Asked,
    args: &TargetArgs,
    global: &GlobalArgs,
    cluster: &Cluster,
) -> Result<Vec<(Workload, Intent)>> {
    let mut found = Vec::new();
    match asked {
        Asked::Words(request) => {
            let intent = if request.images.is_empty() { Intent::None } else { Intent::Images(request.images) };
            for (kind, name) in &request.named {
                found.push((named(*kind, name, cluster).await?, intent.clone()));
            }
            for kind in &request.selected {
                let namespace = (!args.pick.all_namespaces && !kind.spec().cluster_wide).then(|| cluster.namespace());
                let workloads = cluster.workloads(*kind, namespace, &selectors(args)).await?;
                found.extend(workloads.into_iter().map(|workload| (workload, intent.clone())));
            }
            if !request.selected.is_empty() {
                // A server lists each kind by namespace and name.
                let key = |(workload, _): &(Workload, Intent)| {
                    let WorkloadRef { namespace, kind, name } = workload.reference.clone();
                    (namespace, WorkloadKind::ALL.iter().position(|known| *known == kind), name)
                };
                found.sort_by_key(key);
                found.dedup_by_key(|found| found.0.reference.clone());
            }
        }
        Asked::Manifests(manifests) => {
            let of_manifests = of_manifests(manifests.workloads, (args, false), global, cluster).await?;
            if let Some((reference, _, error)) = of_manifests.new.into_iter().next() {
                return Err(missing(error, &reference, cluster).await);
            }
            found = of_manifests.workloads;
        }
    }
    Ok(found)
}

/// Finds the existing workloads of a command that only reads, and the errors of names that do not exist, as `kubectl
/// get` does; where none exists, the first error is the answer.
pub(super) async fn find_there(
    asked: Asked,
    args: &TargetArgs,
    global: &GlobalArgs,
    cluster: &Cluster,
) -> Result<(Vec<Workload>, Vec<CommandError>)> {
    let Asked::Words(mut request) = asked else {
        let found = find_any(asked, args, global, cluster).await?;
        return Ok((found.into_iter().map(|(workload, _)| workload).collect(), Vec::new()));
    };
    let (mut found, mut missing) = (Vec::new(), Vec::new());
    for (kind, name) in std::mem::take(&mut request.named) {
        match named(kind, &name, cluster).await {
            Ok(workload) => found.push(workload),
            Err(error) if error.server_reason == Some("NotFound") => missing.push(error),
            Err(error) => return Err(error),
        }
    }
    let selected = find_any(Asked::Words(request), args, global, cluster).await?;
    found.extend(selected.into_iter().map(|(workload, _)| workload));
    if missing.len() > 1 {
        // A command with one of them corrected is as wrong.
        missing.iter_mut().for_each(|error| error.meant = None);
    }
    if found.is_empty() && !missing.is_empty() {
        return Err(missing.swap_remove(0));
    }
    Ok((found, missing))
}

/// The namespace that objects of this kind are in where none is given; empty for those that are in none.
fn place(kind: WorkloadKind, cluster: &Cluster) -> String {
    if kind.spec().cluster_wide { String::new() } else { cluster.namespace().to_owned() }
}

async fn named(kind: WorkloadKind, name: &str, cluster: &Cluster) -> Result<Workload> {
    let reference = WorkloadRef { kind, namespace: place(kind, cluster), name: name.to_owned() };
    match cluster.workload(&reference).await {
        Ok(workload) => Ok(workload),
        Err(error) => Err(missing(error, &reference, cluster).await),
    }
}

/// Returns the namespace that a manifest names, which must be that of `-n` where both are given.
pub(super) fn namespace_of(manifest: &Manifest, global: &GlobalArgs) -> Result<Option<String>> {
    let given = Some(manifest.namespace.clone()).filter(|given| !given.is_empty());
    if let (Some(given), Some(flag)) = (&given, &global.connection.namespace)
        && given != flag
    {
        // kubectl's words (cli-runtime `visitor.go`).
        return Err(CommandError::usage(format!(
            "the namespace from the provided object \"{given}\" does not match the namespace \"{flag}\". You must pass '--namespace={given}' to perform this operation."
        )));
    }
    Ok(given)
}

fn no_namespace(name: &str) -> CommandError {
    CommandError::from_server("NotFound", format!("namespaces \"{name}\" not found"))
        .hint(Hint::from("see what there is with: ").command(kubectl("get namespaces")))
}

/// A workload that is not there: perhaps the namespace is not, and perhaps there are others.
async fn missing(error: ClusterError, reference: &WorkloadRef, cluster: &Cluster) -> CommandError {
    if !matches!(error, ClusterError::NotFound { .. }) {
        return CommandError::from(error);
    }
    if !reference.namespace.is_empty() && cluster.has_namespace(&reference.namespace).await == Some(false) {
        return no_namespace(&reference.namespace);
    }
    // A caller that may not list them gets no suggestion.
    let names = cluster.workload_names(reference.kind, &reference.namespace).await.unwrap_or_default();
    let error = CommandError::from(error);
    let error = match suggest::closest(&reference.name, names.iter().map(String::as_str)) {
        Some(name) => CommandError { meant: Some(Box::new((reference.clone(), name.to_owned()))), ..error }
            .hint(format!("did you mean {}/{name}?", reference.kind.spec().singular)),
        None => error,
    };
    let list = kubectl("get").and(reference.kind.spec().plural).in_namespace(&reference.namespace);
    error.hint(Hint::from("see what there is with: ").command(list))
}
