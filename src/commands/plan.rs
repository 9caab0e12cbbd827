//! `plan`: says what would happen, and changes nothing.

use std::borrow::Cow;
use std::io;

use super::planning::{Planned, Purpose};
use super::{Shell, approve, hand_over, planning, saved};
use crate::cli::{ActArgs, DryRun, GlobalArgs, PlanArgs};
use crate::cluster::Nodes;
use crate::error::{CommandError, ErrorKind, Result};
use crate::render::{self, Guide, PlanFormat, StreamFormat};
use engine::change::reason::Warning;
use engine::k8s::permissions::ClusterCommand;
use engine::plan::Plan;
use engine::state::outcome::EndResult;

pub(super) async fn run(args: &PlanArgs, global: &GlobalArgs, shell: &mut Shell) -> Result<EndResult> {
    let nodes = match args.output {
        PlanFormat::Wide | PlanFormat::Json | PlanFormat::Yaml => Nodes::OfEveryPod,
        PlanFormat::Text | PlanFormat::Name | PlanFormat::Markdown => Nodes::WhereDecisive,
    };
    let ask_server = args.dry_run != DryRun::Client;
    let purpose = Purpose {
        command: ClusterCommand::Plan,
        field_manager: &args.field_manager,
        ask_server,
        nodes,
        shows_kubelets: args.output == PlanFormat::Wide,
        goes_first: args.hand_over,
    };
    if args.hand_over {
        hand_over::require_manifests(&args.change.targets, "--hand-over")?;
        if !ask_server {
            return Err(CommandError::usage("--hand-over asks the server, and --dry-run=client does not"));
        }
    }
    let made = planning::make(&args.change, &args.policy, global, &purpose, shell).await;
    let planned = match made {
        Err(error) if error.kind == ErrorKind::NothingFound && args.out.is_some() => {
            let message = format!("no plan was saved: no resources {}", error.message);
            return Err(CommandError::new(ErrorKind::Cluster, message));
        }
        Err(error) if error.kind == ErrorKind::NothingFound => {
            if matches!(args.output, PlanFormat::Json | PlanFormat::Yaml) {
                // As kubectl get prints a list of nothing.
                let nothing = Plan { workloads: Vec::new(), skipped: Vec::new() };
                show((&nothing, None), args.output, (None, false), shell)?;
            }
            return Err(error);
        }
        made => made?,
    };
    let next = match &args.out {
        _ if !planned.plan.is_applyable() => shell.invocation(&planned.cluster).apply_to_the_others(&planned.plan),
        Some(file) => Some(shell.invocation(&planned.cluster).apply_saved(file)),
        None => Some(shell.invocation(&planned.cluster).apply_planned()),
    };
    if let Some(file) = &args.out {
        saved::write(&planned, &args.field_manager, file)?;
    }
    show(planned.shown(), args.output, (next.as_deref(), false), shell)?;
    match args.output {
        PlanFormat::Text | PlanFormat::Wide => planned.say_what_leads_on(shell),
        // Documents carry the reason and its hint; names are for a script.
        PlanFormat::Json | PlanFormat::Yaml | PlanFormat::Name | PlanFormat::Markdown => {}
    }
    Ok(match args.hand_over {
        true if !hand_over::is_clean(&planned) => EndResult::Changes,
        false if args.detailed_exitcode => planned.plan.result(),
        _ => EndResult::Complete,
    })
}

/// Shows a plan, and the time when it was made: the result on stdout, warnings on stderr. `is_refused`: it was to be carried
/// out, and cannot be.
pub(super) fn show(
    (plan, now): (&Plan, Option<&str>),
    output: PlanFormat,
    (next, is_refused): (Option<&str>, bool),
    shell: &Shell,
) -> Result<()> {
    let plan = &*as_shown(plan, output);
    let flags = shell.flags();
    let every_namespace = shell.typed.iter().any(|typed| typed.id == "all_namespaces");
    let guide = Guide { next, flags: Some(&flags), every_namespace, now, is_refused };
    render::plan(output, plan, &guide, &shell.terminal.stdout, &mut io::stdout().lock())?;
    render::plan_warnings(output, plan, &shell.terminal.stderr, &mut io::stderr().lock())?;
    Ok(())
}

/// Shows the plan of a command that carries it out: with JSON the lines of the rollout are all that stdout has then.
pub(super) fn show_stream(planned: &Planned, act: &ActArgs, shell: &Shell) -> Result<()> {
    let acts = act.dry_run == DryRun::None;
    match act.output {
        StreamFormat::Text => show_before(planned, acts && act.yes, shell),
        StreamFormat::Json if acts && planned.plan.is_applyable() => Ok(()),
        StreamFormat::Json => show(planned.shown(), PlanFormat::Json, (None, acts), shell),
    }
}

/// Shows the plan of a command that carries it out, and asks. Returns how the command ends that carries nothing out.
pub(super) fn approved(planned: &Planned, act: &ActArgs, shell: &Shell) -> Result<Option<EndResult>> {
    show_stream(planned, act, shell)?;
    shell.tell_notices();
    if let Some(end) = planned.ends_here(act.dry_run, shell) {
        return Ok(Some(end));
    }
    approve::ask(&planned.plan, &planned.cluster, act.yes, shell)?;
    Ok(None)
}

/// Shows the plan of what is carried out next: its warnings alone where only results are wanted and nobody is asked.
fn show_before(planned: &Planned, yes: bool, shell: &Shell) -> Result<()> {
    if shell.global.quiet && yes && planned.plan.is_applyable() {
        return Ok(render::plan_warnings(
            PlanFormat::Text,
            &planned.plan,
            &shell.terminal.stderr,
            &mut io::stderr().lock(),
        )?);
    }
    let next = shell.invocation(&planned.cluster).apply_to_the_others(&planned.plan);
    show(planned.shown(), PlanFormat::Text, (next.as_deref(), false), shell)
}

/// Returns the plan without what the shell shows on stderr itself: a server's warning would be there twice.
fn as_shown(plan: &Plan, output: PlanFormat) -> Cow<'_, Plan> {
    let is_reported_by_the_shell = matches!(output, PlanFormat::Text | PlanFormat::Wide | PlanFormat::Name);
    let is_reported = |warning: &Warning| is_reported_by_the_shell && matches!(warning, Warning::ServerWarning { .. });
    if !plan.workloads.iter().any(|workload| workload.warnings.iter().any(is_reported)) {
        return Cow::Borrowed(plan);
    }
    let mut shown = plan.clone();
    for workload in &mut shown.workloads {
        workload.warnings.retain(|warning| !is_reported(warning));
    }
    Cow::Owned(shown)
}
