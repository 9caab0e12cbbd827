//! Going first: `apply --if-possible`, the contract of a hook that runs before another tool applies the same manifests, and
//! what that tool's apply then changes.

use std::io;
use std::sync::Arc;
use std::time::Duration;

use super::planning::{self, Planned, Purpose};
use super::rolling::Rolling;
use super::several::unless_closed;
use super::{Shell, approve, plan, resume, targets};
use crate::cli::{ApplyArgs, DryRun, FIELD_MANAGER, GlobalArgs, TargetArgs};
use crate::error::{CommandError, ErrorKind, Result};
use crate::manifest::Manifest;
use crate::render::{self, PlanFormat, StreamFormat};
use engine::change::Direction;
use engine::change::reason::{Reason, Warning};
use engine::k8s::permissions::ClusterCommand;
use engine::k8s::workload::Workload;
use engine::plan::configuration::{configuration, has_configuration};
use engine::plan::{Intent, Options, Plan, RolloutState, Snapshot, Verdict, WorkloadPlan, present_lock, rollout_state};
use engine::report::WorkloadEnd;
use engine::report::hand_over::{HandOver, HandedOver};
use engine::state::durable::lock::LockState;
use engine::state::outcome::EndResult;

pub(super) async fn apply(args: &ApplyArgs, global: &GlobalArgs, shell: &mut Shell) -> Result<EndResult> {
    refuse(args, shell)?;
    let asked = match targets::read_change(&args.change, shell).await {
        Err(error) if error.kind == ErrorKind::NoWorkload => {
            if args.act.output == StreamFormat::Text {
                shell.print(&format!("nothing to do: {}\n", error.message))?;
            }
            return tell(&[], (EndResult::NothingToDo, Duration::ZERO), args.act.output, shell);
        }
        asked => asked?,
    };
    let ask_server = args.act.dry_run != DryRun::Client;
    let purpose = Purpose::of(ClusterCommand::Apply, &args.field_manager, ask_server);
    let purpose = Purpose { goes_first: true, ..purpose };
    let options = planning::options(&args.policy)?;
    let (targets, as_planned) = ((&args.change.targets, global), (&options, &purpose));
    let cluster = shell.connect(global).await?;
    let mut planned = planning::of(asked.clone(), targets, cluster, as_planned, shell).await?;
    let left = half_done(&planned);
    let mut finished = None;
    if !left.is_empty() && args.act.dry_run == DryRun::None {
        let took = Shell::stopwatch();
        let ends = finish(left, &planned, (args, &options), shell).await?;
        let result = EndResult::worst(ends.iter().filter_map(|end| end.result));
        if !result.is_done() {
            return tell(&ends, (result, took()), args.act.output, shell);
        }
        finished = Some(took());
        planned = planning::of(asked, targets, planned.cluster, as_planned, shell).await?;
    }
    show(&planned, args, shell)?;
    shell.tell_notices();
    carry_out(planned, finished, args, shell).await
}

/// What cannot be handed over is refused before anything is read.
fn refuse(args: &ApplyArgs, shell: &Shell) -> Result<()> {
    require_manifests(&args.change.targets, "--if-possible")?;
    let is_foreign = args.field_manager != FIELD_MANAGER;
    if is_foreign || args.owner.keep_field_ownership {
        let flag = if is_foreign { "--field-manager" } else { "--keep-field-ownership" };
        return Err(CommandError::usage(format!(
            "with {flag} the fields would stay this program's, and the next server-side apply of other values fails (OwnershipWouldConflict)"
        ))
        .hint(format!("leave out {flag}")));
    }
    // The first run that has something to do would fail, and not the first one.
    if !args.act.yes && args.act.dry_run == DryRun::None && !approve::can_ask(shell) {
        return Err(CommandError::usage("--if-possible has no terminal to ask on, and --yes was not given"));
    }
    Ok(())
}

pub(super) fn require_manifests(targets: &TargetArgs, flag: &str) -> Result<()> {
    if !targets.pick.has_manifests() {
        return Err(CommandError::usage(format!("{flag} is about manifests, and none is given"))
            .hint("give those that are applied next, with -f or -k"));
    }
    Ok(())
}

/// The workloads that a rollout holds whose run is gone, and in which the manifest does not take its place: it keeps some of what
/// that one brings, or is left to the next apply. Where another manifest follows one that was stopped, such as by a failure, that
/// one is taken back.
fn half_done(planned: &Planned) -> Vec<(Workload, Direction)> {
    let is_held = |reason: &Reason| matches!(reason, Reason::RolloutHeld { .. });
    let pairs = planned.plan.workloads.iter().zip(&planned.lives);
    let left = pairs.filter(|(plan, live)| {
        let state = rollout_state(live);
        let is_left = matches!(plan.handed_over(Some(state)), Some((HandedOver::Left, _)));
        state == RolloutState::Unfinished && (is_left || plan.all_reasons().any(is_held))
    });
    left.map(|(plan, live)| {
        let is_stopped = present_lock(live).is_some_and(|lock| lock.state == LockState::Stopped);
        let brings = plan.durable.as_ref().is_some_and(|durable| !durable.rollout.change.is_empty());
        let is_other = brings || plan.all_reasons().any(|reason| !is_held(reason));
        (live.workload.clone(), if is_other && is_stopped { Direction::Back } else { Direction::Forward })
    })
    .collect()
}

/// Finishes what a run of the same manifests has left, or takes it back.
async fn finish(
    left: Vec<(Workload, Direction)>,
    planned: &Planned,
    (args, options): (&ApplyArgs, &Options),
    shell: &Shell,
) -> Result<Vec<WorkloadEnd>> {
    let writer = (args.act.output, args.field_manager.as_str());
    let mut rolling = Rolling::new(&planned.cluster, &args.rollout, writer, shell).await;
    rolling.on_deferred = args.resize.deferred;
    let mut ends: Vec<WorkloadEnd> = Vec::new();
    for (workload, direction) in left {
        let reference = workload.reference.clone();
        if ends.iter().any(|end| end.result.is_none_or(|result| !result.is_done())) {
            ends.push(WorkloadEnd::of(reference, None));
            continue;
        }
        let what = match direction {
            Direction::Forward => "did not finish and is resumed first",
            Direction::Back => "was stopped, and these manifests are other ones: it is rolled back first",
        };
        shell.note(&format!("{reference}: its rollout {what}"));
        let (found, back) = (vec![(workload, Intent::None)], (direction == Direction::Back).then_some(direction));
        let result = resume::go_on(found, back, options, &rolling, args.act.yes, shell).await;
        let result = result.map_err(approve::midway(!ends.is_empty()))?;
        ends.push(WorkloadEnd::of(reference, Some(result)));
    }
    Ok(ends)
}

fn show(planned: &Planned, args: &ApplyArgs, shell: &Shell) -> Result<()> {
    match args.act.output {
        StreamFormat::Text => plan::show(planned.shown(), PlanFormat::Text, (None, false), shell),
        StreamFormat::Json if args.act.dry_run == DryRun::None => {
            targets::note_skipped(&planned.plan.skipped, shell);
            Ok(())
        }
        StreamFormat::Json => plan::show(planned.shown(), PlanFormat::Json, (None, false), shell),
    }
}

/// Each workload by itself: what can be done in place is, and the others end without a write. What was `finished` before took its
/// time, too.
async fn carry_out(planned: Planned, finished: Option<Duration>, args: &ApplyArgs, shell: &Shell) -> Result<EndResult> {
    let Planned { plan, lives, cluster, id, manifests, .. } = planned;
    let order: Vec<_> = plan.workloads.iter().map(|plan| plan.workload.clone()).collect();
    let mut lives = lives.into_iter();
    let (mut going, mut ends) = (Plan { workloads: Vec::new(), skipped: Vec::new() }, Vec::new());
    let mut going_lives = Vec::new();
    for plan in plan.workloads {
        let live = lives.next();
        match (without_a_rollout(&plan, live.as_ref()), live) {
            (None, Some(live)) => {
                going.workloads.push(plan);
                going_lives.push(live);
            }
            (end, _) => ends.push(end.unwrap_or_else(|| WorkloadEnd::of(plan.workload, None))),
        }
    }
    if args.act.dry_run != DryRun::None {
        let result = EndResult::worst(ends.iter().filter_map(|end| end.result));
        // A document has them.
        let is_text = args.act.output == StreamFormat::Text;
        return if is_text { tell(&ends, (result, Duration::ZERO), StreamFormat::Text, shell) } else { Ok(result) };
    }
    if !going.workloads.is_empty() {
        approve::ask(&going, &cluster, args.act.yes, shell).map_err(approve::midway(finished.is_some()))?;
    }
    let writer = (args.act.output, args.field_manager.as_str());
    let mut rolling = Rolling::new(&cluster, &args.rollout, writer, shell).await;
    rolling.start.reason.clone_from(&args.owner.reason);
    rolling.on_deferred = args.resize.deferred;
    rolling.manifests = Arc::new(manifests);
    let jobs = going.workloads.iter().zip(going_lives).map(|(plan, live)| rolling.job_of(plan, live, &id)).collect();
    let (done, (result, elapsed)) = rolling.each_to_its_end(jobs, shell).await?;
    ends.extend(done.into_iter().map(|end| {
        let is_done = end.result.is_some_and(EndResult::is_done);
        WorkloadEnd { handed_over: is_done.then(|| (HandedOver::InPlace, String::new())), ..end }
    }));
    ends.sort_by_key(|end| order.iter().position(|workload| *workload == end.workload));
    let result = EndResult::worst(ends.iter().filter_map(|end| end.result).chain([result]));
    tell(&ends, (result, elapsed + finished.unwrap_or_default()), args.act.output, shell)
}

/// How a workload ends that is not carried out; `None` of one that is.
fn without_a_rollout(plan: &WorkloadPlan, live: Option<&Snapshot>) -> Option<WorkloadEnd> {
    let handed_over = plan.handed_over(live.map(rollout_state));
    let result = match handed_over {
        Some((HandedOver::InPlace, _)) if plan.verdict == Verdict::InPlace => return None,
        Some((HandedOver::InPlace, _)) => EndResult::NothingToDo,
        Some((HandedOver::Left | HandedOver::Absent, _)) => EndResult::Left,
        None => Plan { workloads: vec![plan.clone()], skipped: Vec::new() }.refusal(),
    };
    let handed_over = handed_over.map(|(word, code)| (word, code.to_owned()));
    Some(WorkloadEnd { handed_over, ..WorkloadEnd::of(plan.workload.clone(), Some(result)) })
}

fn tell(ends: &[WorkloadEnd], of_all: (EndResult, Duration), output: StreamFormat, shell: &Shell) -> Result<EndResult> {
    unless_closed(render::handed_over(output, ends, of_all, &shell.terminal.stdout, &mut io::stdout().lock()))?;
    Ok(of_all.0)
}

/// Warns where the manifests change a ConfigMap or Secret that the pods read: in place they would have read it before that.
pub(super) async fn warn_of_configuration(planned: &mut Planned, manifests: &[Manifest]) {
    for (plan, live) in planned.plan.workloads.iter_mut().zip(&planned.lives) {
        let read = configuration(live.workload.template());
        let namespace = &live.workload.reference.namespace;
        for manifest in manifests.iter().filter(|_| plan.verdict == Verdict::InPlace) {
            let given = if manifest.namespace.is_empty() { planned.cluster.namespace() } else { &manifest.namespace };
            let is_read = read.iter().any(|(kind, name)| *kind == manifest.kind && *name == manifest.name);
            if !is_read || given != namespace {
                continue;
            }
            let not_read = match planned.cluster.configuration(&manifest.kind, namespace, &manifest.name).await {
                Ok(Some(live)) if has_configuration(&live, &manifest.object) => continue,
                Ok(_) => None,
                Err(error) => Some(error.to_string()),
            };
            let object = format!("{}/{}", manifest.kind.to_lowercase(), manifest.name);
            plan.warnings.push(Warning::ConfigurationChanges { object, not_read });
        }
    }
}

/// Asks what the next apply of each manifest changes: of every workload where that is the question, else of those that have
/// what is wanted already; after a rollout it is asked at its end.
pub(super) async fn foretell(planned: &mut Planned, purpose: &Purpose<'_>) {
    let is_plan = purpose.command == ClusterCommand::Plan;
    let is_asked =
        |plan: &WorkloadPlan| if is_plan { purpose.goes_first } else { plan.verdict == Verdict::NothingToDo };
    for (plan, live) in planned.plan.workloads.iter_mut().zip(&planned.lives) {
        let manifest = planned.manifests.get(&plan.workload).filter(|_| plan.workload.kind.has_template());
        if let Some((manifest, validation)) = manifest.filter(|_| purpose.ask_server && is_asked(plan)) {
            plan.hand_over = Some(planned.cluster.next_apply(&live.workload, manifest, *validation).await);
        }
    }
}

/// Whether no next apply changes a template, as far as there is one.
pub(super) fn is_clean(planned: &Planned) -> bool {
    planned.plan.workloads.iter().filter_map(|plan| plan.hand_over.as_ref()).all(HandOver::is_clean)
}
