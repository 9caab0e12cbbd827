//! A SidecarSet: `plan` says which pods its controller updates, `apply` sets its images and follows the pods, `follow` follows
//! them alone.

use std::pin::pin;
use std::time::Duration;

use futures::future::{self, Either};
use serde_json::Value;

use super::next::{Verb, is_of_one_run, is_of_the_connection};
use super::permitted::Permitted;
use super::planning::{self, Planned, not_taken};
use super::recording::{RecordTo, tell_trouble};
use super::targets::{self, Asked};
use super::witness::Witness;
use super::{Shell, plan};
use crate::cli::{ApplyArgs, DryRun, FollowArgs, FollowPolicyArgs, GlobalArgs, PlanArgs, TargetArgs, root};
use crate::cluster::Cluster;
use crate::cluster::error::ClusterError;
use crate::drive;
use crate::error::{CommandError, ErrorKind, Result};
use crate::manifest::Manifest;
use crate::render::{Listener, NextSteps, StreamFormat};
use engine::change::reason::Reason;
use engine::k8s::permissions::ClusterCommand;
use engine::k8s::workload::Workload;
use engine::kinds::SIDECAR_SETS;
use engine::plan::sidecar_set::{self, Change, Found};
use engine::plan::{self as plans, Intent, Options, PatchAnswer, Plan, Verdict};
use engine::report::Outcome;
use engine::rollout::Goal;
use engine::state::durable::ObjectWrite;
use engine::state::outcome::EndResult;
use engine::value::hint::{Hint, inplace, kubectl};

/// How often it is looked whether what is followed is still wanted.
const LOOKS_AGAIN: Duration = Duration::from_secs(5);

/// A SidecarSet that was named, and what is wanted of it.
#[derive(Clone)]
pub(super) struct Wanted {
    name: String,
    intent: Intent,
}

impl Wanted {
    /// Returns it where a SidecarSet was named, by words or by a manifest.
    pub(super) fn of(asked: &Asked, args: &TargetArgs) -> Result<Option<Self>> {
        let request = match asked {
            Asked::Words(request) => request,
            Asked::Manifests(manifests) => {
                let of_manifest = |Manifest { name, object, .. }: &Manifest| {
                    let manifest = plans::Manifest::Given { object: object.clone(), validation: args.validate };
                    Self { name: name.clone(), intent: Intent::Manifest(manifest) }
                };
                return Ok(manifests.sidecar_set.as_ref().map(of_manifest));
            }
        };
        let kinds = request.named.iter().map(|(kind, _)| kind).chain(&request.selected);
        if !kinds.into_iter().any(|kind| kind.is_sidecar_set()) {
            return Ok(None);
        }
        let ([(_, name)], []) = (request.named.as_slice(), request.selected.as_slice()) else { return Err(refused()) };
        if !request.images.resources.is_empty() {
            return Err(CommandError::usage("the controller of a SidecarSet updates images alone in running pods"));
        }
        let images = request.images.clone();
        let intent = if images.is_empty() { Intent::None } else { Intent::Images(images) };
        Ok(Some(Self { name: name.clone(), intent }))
    }

    pub(super) async fn read(&self, cluster: &Cluster) -> Result<Found> {
        let set = targets::named(SIDECAR_SETS, &self.name, cluster).await?;
        cluster.sidecar_set(set).await.map_err(|error| not_read(error, ClusterCommand::Status))
    }
}

/// Why a SidecarSet is not taken.
pub(super) fn refused() -> CommandError {
    CommandError::usage("a SidecarSet is taken alone, by its name, and by plan, apply, follow and status only: its controller updates the pods")
        .hint(Hint::from("see which there are with: ").command(kubectl("get sidecarsets")))
}

fn not_read(error: ClusterError, command: ClusterCommand) -> CommandError {
    let is_forbidden = matches!(error, ClusterError::Forbidden { .. });
    let error = CommandError::from(error);
    let role = inplace("rbac").and(command.word()).and(SIDECAR_SETS.spec().singular);
    if is_forbidden { error.hint(Hint::from("the Role that allows it is printed by: ").command(role)) } else { error }
}

/// What of the flags has a meaning where the controller does the work.
const FLAGS: &[&str] = &[
    "words",
    "image",
    "container",
    "all_containers",
    "filename",
    "kustomize",
    "recursive",
    "validate",
    "namespace",
    "min_ready_seconds",
    "timeout",
    "total_timeout",
    "field_manager",
    "detailed_exitcode",
];

fn refuse_flags(shell: &Shell) -> Result<()> {
    let is_meant = |id: &str| FLAGS.contains(&id) || is_of_the_connection(id) || is_of_one_run(id);
    let Some(other) = shell.typed.iter().find(|typed| !is_meant(&typed.id)) else { return Ok(()) };
    let arguments = root().get_subcommands().flat_map(clap::Command::get_arguments);
    let flag = arguments.filter(|flag| flag.get_id() == other.id.as_str()).find_map(|flag| flag.get_long());
    let flag = flag.unwrap_or(&other.id);
    Err(CommandError::usage(format!("--{flag} has no meaning for a SidecarSet: its controller updates the pods"))
        .hint("leave it out; its spec.updateStrategy says how fast, and which pods"))
}

/// The plan, and what it was made from.
struct Made {
    planned: Planned,
    found: Found,
    change: Change,
}

async fn make(
    wanted: Wanted,
    (field_manager, ask_server): (&str, bool),
    options: &Options,
    global: &GlobalArgs,
    shell: &mut Shell,
) -> Result<Made> {
    let cluster = shell.connect(global).await?;
    let mut found = wanted.read(&cluster).await?;
    let intent = match wanted.intent {
        Intent::Manifest(plans::Manifest::Given { object, validation }) => {
            let stored = cluster.desired(&found.live.workload, &object, (field_manager, validation)).await;
            Intent::Manifest(stored.map_err(|error| not_read(error, ClusterCommand::Apply))?)
        }
        intent => intent,
    };
    let mut change = Change::of(&found.live.workload, &intent);
    let mut set = change.applied(&found.live.workload);
    let is_asked = ask_server && !change.is_empty() && change.reasons.is_empty();
    if is_asked {
        match asked(&cluster, &change.write(&found.live.workload), field_manager).await? {
            Ok(stored) => set = stored,
            Err(PatchAnswer::Refused { message }) => {
                change.reasons.push(Reason::AdmissionRefused { message, others: Vec::new() });
            }
            Err(PatchAnswer::Denied { message }) => found
                .live
                .not_read
                .push(format!("what the webhook of the SidecarSet makes of the change could not be asked ({message})")),
            Err(PatchAnswer::Conflict | PatchAnswer::Pod(_)) => return Err(changed(&found.live.workload)),
        }
    }
    let mut plan = sidecar_set::plan(&found, &change, &set, options);
    plan.checked_by_server = is_asked && change.reasons.is_empty() && set != change.applied(&found.live.workload);
    if plan.verdict == Verdict::InPlaceByController {
        let denied = Permitted::new(&cluster, ClusterCommand::Apply).of_plan(&plan).await.unwrap_or_default();
        plan.missing_permissions = denied.iter().map(|denied| denied.reason(&plan.workload)).collect();
    }
    let (id, now) = (shell.rollout_id(), Some(shell.clock(&cluster)));
    let plan = Plan { workloads: vec![plan], skipped: Vec::new() };
    Ok(Made { planned: Planned { plan, lives: Vec::new(), cluster, id, now }, found, change })
}

/// Returns the SidecarSet as the server would store it, or why it would not.
async fn asked(cluster: &Cluster, write: &ObjectWrite, field_manager: &str) -> Result<Result<Value, PatchAnswer>> {
    match cluster.written(write, field_manager, true).await {
        Ok(stored) => Ok(Ok(stored)),
        Err(error) => Ok(Err(not_taken(error)?)),
    }
}

fn changed(set: &Workload) -> CommandError {
    let message = format!("{} has changed since it was read, and nothing was written", set.reference);
    CommandError::new(ErrorKind::Held, message).hint("plan again")
}

pub(super) async fn plan(wanted: Wanted, args: &PlanArgs, global: &GlobalArgs, shell: &mut Shell) -> Result<EndResult> {
    refuse_flags(shell)?;
    let asks = (args.field_manager.as_str(), args.dry_run != DryRun::Client);
    let Made { planned, .. } = make(wanted, asks, &planning::options(&args.policy)?, global, shell).await?;
    let next = planned.plan.is_applyable().then(|| shell.invocation(&planned.cluster).apply_planned());
    plan::show(planned.shown(), args.output, (next.as_deref(), false), shell)?;
    Ok(if args.detailed_exitcode { planned.plan.result() } else { EndResult::Complete })
}

pub(super) async fn apply(
    wanted: Wanted,
    args: &ApplyArgs,
    global: &GlobalArgs,
    shell: &mut Shell,
) -> Result<EndResult> {
    refuse_flags(shell)?;
    let asks = (args.field_manager.as_str(), args.act.dry_run != DryRun::Client);
    let options = planning::options(&args.policy)?;
    let Made { planned, found, change } = make(wanted, asks, &options, global, shell).await?;
    if let Some(end) = plan::approved(&planned, &args.act, shell)? {
        return Ok(end);
    }
    let (cluster, set) = (&planned.cluster, &found.live.workload);
    let stored = match change.is_empty() {
        true => set.object.clone(),
        false => write(cluster, &change, set, &args.field_manager).await?,
    };
    let goal = sidecar_set::goal(&found, &stored, (&options, false), (&planned.id, &shell.clock(cluster)));
    let back = change.words_back(&found);
    let recording = RecordTo::new(args.rollout.record.as_deref());
    Followed { cluster, found: &found, set: &stored, back }
        .to_the_end(&goal, (args.act.output, &recording), shell)
        .await
}

async fn write(cluster: &Cluster, change: &Change, set: &Workload, field_manager: &str) -> Result<Value> {
    let error = match cluster.written(&change.write(set), field_manager, false).await {
        Ok(stored) => return Ok(stored),
        Err(error) => error,
    };
    if error.may_have_been_done() {
        let status = inplace("status").of(&set.reference);
        return Err(CommandError::from(error).hint(Hint::from("it may have been written; see: ").command(status)));
    }
    let is_conflict =
        matches!(error, ClusterError::Invalid { is_bare_test_failure: true, .. } | ClusterError::Conflict { .. });
    if is_conflict { Err(changed(set)) } else { Err(error.into()) }
}

pub(super) async fn follow(
    wanted: Wanted,
    args: &FollowArgs,
    global: &GlobalArgs,
    shell: &mut Shell,
) -> Result<EndResult> {
    refuse_flags(shell)?;
    if matches!(wanted.intent, Intent::Images(_)) {
        return Err(CommandError::usage(
            "a SidecarSet is followed until its pods have its own images: leave out the images",
        ));
    }
    let FollowPolicyArgs { min_ready_seconds, timeout, total_timeout } = args.policy;
    let options = Options { min_ready_seconds, timeout, total_timeout, ..Options::default() };
    let cluster = &shell.connect(global).await?;
    let found = wanted.read(cluster).await?;
    let set = &found.live.workload.object;
    let goal = sidecar_set::goal(&found, set, (&options, true), (&shell.rollout_id(), &shell.clock(cluster)));
    if goal.pods.is_empty() {
        let reference = &found.live.workload.reference;
        let why = sidecar_set::left(&found, set).map(|left| format!(": {}", left.why)).unwrap_or_default();
        return Err(CommandError::new(ErrorKind::Cluster, format!("{reference} has no pod to follow{why}")));
    }
    let back = sidecar_set::words_back(&found);
    let recording = RecordTo::new(args.record.as_deref());
    Followed { cluster, found: &found, set, back }.to_the_end(&goal, (args.output, &recording), shell).await
}

/// Pods that a SidecarSet's controller brings to it.
struct Followed<'a> {
    cluster: &'a Cluster,
    found: &'a Found,
    /// The SidecarSet that they are brought to.
    set: &'a Value,
    /// The images that they come from, as words of `apply`.
    back: Vec<String>,
}

impl Followed<'_> {
    async fn to_the_end(
        &self,
        goal: &Goal,
        (output, recording): (StreamFormat, &RecordTo),
        shell: &Shell,
    ) -> Result<EndResult> {
        let workload = &self.found.live.workload;
        let scope = Cluster::scope_of_sidecar_set(workload);
        let mut recorder = recording.open(shell)?;
        let mut witness = Witness::new(shell.listener(output, false));
        let next = self.next(shell);
        witness.start(goal, &next)?;
        let driven = drive::drive(self.cluster, goal, &scope, &mut witness, &mut recorder);
        let changed = drive::until_found(LOOKS_AGAIN, async || self.changed().await);
        let mut outcome = match future::select(pin!(driven), pin!(changed)).await {
            Either::Left((outcome, _)) => outcome?,
            Either::Right(((why, seconds), _)) => Outcome {
                why: Some(why),
                seconds,
                ..Outcome::new(goal.workload.clone(), EndResult::Superseded, Vec::new())
            },
        };
        if matches!(outcome.result, EndResult::Complete | EndResult::Paused)
            && let Some(left) = sidecar_set::left(self.found, self.set)
        {
            (outcome.result, outcome.why) = (EndResult::Paused, Some(left.why));
        }
        if !witness.end(self.cluster, &mut outcome).await? {
            shell.tell_the_end(goal, &next, &outcome);
        }
        shell.tell_notices();
        tell_trouble(&mut recorder, shell);
        Ok(outcome.result)
    }

    /// The way back is another `apply`; what keeps pods is lifted by kubectl.
    fn next(&self, shell: &Shell) -> NextSteps {
        let workload = &self.found.live.workload.reference;
        let invocation = shell.invocation(self.cluster);
        let lifted = sidecar_set::left(self.found, self.set).and_then(|left| left.lifted_by);
        let lift = |patch: &str| kubectl("patch").of(workload).and("--type=merge -p").of(patch);
        NextSteps {
            take_back: (!self.back.is_empty()).then(|| invocation.with_images(workload, &self.back)),
            go_on: lifted.map(|patch| shell.with_flags(&Hint::default().command(lift(patch)))),
            follow: Some(invocation.of_workload(Verb::Follow, workload, None).to_string()),
            ..NextSteps::default()
        }
    }

    /// Returns why nothing of what is followed is to be expected any more. What cannot be read now shows nothing.
    async fn changed(&self) -> Option<String> {
        let generation = |object: &Value| object.pointer("/metadata/generation").cloned();
        let set = &self.found.live.workload;
        let why = match self.cluster.workload(&set.reference).await {
            Ok(now) if now.uid == set.uid && generation(&now.object) == generation(self.set) => return None,
            Ok(_) => "another client has changed the SidecarSet meanwhile",
            Err(ClusterError::NotFound { .. }) => "the SidecarSet was deleted meanwhile",
            Err(_) => return None,
        };
        Some(why.to_owned())
    }
}
