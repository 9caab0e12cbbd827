//! `plan --against`: two manifests, and nothing else: no kubeconfig is read and no server asked.

use std::io;

use serde_json::Value;

use super::{Shell, next, plan, planning, sources};
use crate::cli::{GlobalArgs, PlanArgs, TargetArgs, Typed, root};
use crate::error::{CommandError, ErrorKind, Result};
use crate::manifest::{self, Manifest, Origin};
use crate::render::Meaning;
use engine::kinds::WorkloadKind;
use engine::plan::outline::{Hook, Written};
use engine::plan::{Validation, offline};
use engine::state::outcome::EndResult;

pub(super) async fn run(args: &PlanArgs, global: &GlobalArgs, shell: &mut Shell) -> Result<EndResult> {
    let targets = &args.change.targets;
    if !targets.pick.has_manifests() {
        return Err(CommandError::usage("--against compares two manifests, and the newer one is missing")
            .hint("give it with -f, such as --against old.yaml -f new.yaml"));
    }
    if !targets.words.is_empty()
        || !targets.image.is_empty()
        || targets.pick.is_selected()
        || targets.pick.all_namespaces
    {
        return Err(CommandError::usage(
            "--against cannot be combined with TYPE/NAME, CONTAINER=IMAGE, -l, --all and -A",
        ));
    }
    if args.out.is_some() {
        return Err(CommandError::usage("a plan of two manifests names no pods, so that it cannot be saved")
            .hint("leave out --against to plan against the cluster"));
    }
    if let Some(flag) = connection_flag(shell) {
        return Err(CommandError::usage(format!("--against asks no cluster, so that {flag} has no meaning"))
            .hint("leave out --against to plan against the cluster"));
    }
    let from_stdin = |names: &[String]| names.iter().any(|name| name == "-");
    if from_stdin(&args.against) && from_stdin(&targets.pick.filename) {
        return Err(CommandError::usage("standard input can be the older manifest or the newer one, not both"));
    }
    let options = planning::options(&args.policy)?;
    shell.standard_input_was_read = from_stdin(&args.against) || from_stdin(&targets.pick.filename);
    let old = objects(sources::of_names(&args.against, shell).await?, targets, global, None)?;
    let new = objects(sources::origins(targets, shell).await?, targets, global, Some(shell))?;
    let plan = offline::compare(&old, &new, global.connection.namespace.as_deref(), &options)
        .map_err(|error| CommandError::new(ErrorKind::Manifest, error.to_string()))?;
    plan::show((&plan, None), args.output, (None, false), shell)?;
    Ok(if args.detailed_exitcode { plan.result() } else { EndResult::Complete })
}

/// Returns a flag that was given and leads to a cluster. The namespace is not one: manifests may leave theirs out.
fn connection_flag(shell: &Shell) -> Option<String> {
    let leads_there = |typed: &&Typed| typed.id != "namespace" && next::is_of_the_connection(&typed.id);
    let typed = shell.typed.iter().find(leads_there)?;
    let root = root();
    let flag = root.get_arguments().find(|flag| flag.get_id() == typed.id.as_str())?;
    Some(format!("--{}", flag.get_long()?))
}

/// Reads one side; fields that are not known are said where there is a shell to say it.
fn objects(
    origins: Vec<Origin>,
    args: &TargetArgs,
    global: &GlobalArgs,
    shell: Option<&Shell>,
) -> Result<Vec<Manifest>> {
    let manifests = manifest::read(origins, args.pick.recursive, &mut io::stdin().lock())?;
    super::targets::refuse_misspelt(&manifests)?;
    for manifest in manifests.iter().filter(|manifest| Hook::of(&manifest.object).is_none()) {
        let Some(kind) = WorkloadKind::from_manifest(&manifest.api_version, &manifest.kind) else { continue };
        let unknown = manifest::unknown_fields(kind, manifest)?;
        manifest::require_containers(kind, manifest)?;
        super::targets::namespace_of(manifest, global)?;
        if unknown.is_empty() {
            continue;
        }
        let fields = if unknown.len() > 1 { "fields" } else { "field" };
        let message = format!("{}: unknown {fields} {}", manifest.source, unknown.join(", "));
        match (args.validate, shell) {
            (Validation::Strict, _) => {
                return Err(CommandError::new(ErrorKind::Manifest, message).hint(
                    "the fields are those of Kubernetes 1.37; --validate=warn accepts others, as in kubectl apply",
                ));
            }
            (Validation::Warn, Some(shell)) => shell.say(Meaning::Waiting, "Warning:", &message),
            (Validation::Warn, None) | (Validation::Ignore, _) => {}
        }
    }
    Ok(manifests)
}

impl Written for Manifest {
    fn identity(&self) -> [&str; 4] {
        [&self.api_version, &self.kind, &self.namespace, &self.name]
    }

    fn object(&self) -> &Value {
        &self.object
    }
}
