//! `apply`: plan, ask, patch, follow to the end.

use std::path::Path;

use super::planning::Planned;
use super::rolling::Rolling;
use super::saved::Reread;
use super::{Shell, approve, next as commands, plan, planning, saved};
use crate::cli::{ApplyArgs, DryRun, GlobalArgs};
use crate::cluster::Nodes;
use crate::engine::outcome::EndResult;
use crate::engine::plan::{Plan, Verdict, WorkloadPlan};
use crate::engine::workload::WorkloadKind;
use crate::error::CommandError;
use crate::render::{Meaning, OutputFormat};

pub(super) async fn run(args: &ApplyArgs, global: &GlobalArgs, shell: &mut Shell) -> Result<EndResult, CommandError> {
    if let Some(file) = &args.plan {
        return saved_plan(file, args, global, shell).await;
    }
    let ask_server = args.dry_run != DryRun::Client;
    let planned = planning::make(
        &args.targets,
        &args.policy,
        global,
        &args.field_manager,
        ask_server,
        Nodes::WhereDecisive,
        shell,
    )
    .await?;
    show(&planned.plan, args, shell)?;
    shell.tell_notices();
    if planned.plan.result() != EndResult::Changes {
        return Ok(planned.plan.refusal());
    }
    if args.dry_run != DryRun::None {
        return Ok(EndResult::Complete);
    }
    check_owned_pods(&planned.plan, args.policy.pods_only)?;
    if !approve::ask(&planned.plan, &planned.cluster, args.yes, shell)? {
        return Err(CommandError::usage("not approved: nothing was changed"));
    }
    carry_out(&planned, &args.field_manager, args, global, shell).await
}

/// A pod that is named has an owner whose template stays as it is: that must be wanted.
fn check_owned_pods(plan: &Plan, given: bool) -> Result<(), CommandError> {
    let is_owned = |plan: &&WorkloadPlan| {
        plan.workload.kind == WorkloadKind::Pod && !plan.controllers.is_empty() && plan.verdict == Verdict::InPlace
    };
    match plan.workloads.iter().find(is_owned) {
        Some(pod) if !given => Err(CommandError::usage(format!(
            "{} was made from its owner's template, and only the pod would change: one made in its place gets the template's image again",
            pod.workload
        ))
        .hint("name the owner, such as deployment/web, to change its template and pods in place")
        .hint("say --pods-only if the pod alone is what you want")),
        Some(_) | None => Ok(()),
    }
}

async fn carry_out(
    planned: &Planned,
    field_manager: &str,
    args: &ApplyArgs,
    global: &GlobalArgs,
    shell: &Shell,
) -> Result<EndResult, CommandError> {
    let writer = (args.output, args.yes, field_manager);
    let mut rolling = Rolling::new(&planned.cluster, global, &args.rollout, writer, shell).await;
    rolling.go_on = Some(commands::go_on(&shell.arguments));
    rolling.each(planned, shell).await
}

/// Does exactly what a saved plan says: it was approved when it was given.
async fn saved_plan(
    file: &Path,
    args: &ApplyArgs,
    global: &GlobalArgs,
    shell: &mut Shell,
) -> Result<EndResult, CommandError> {
    let (planned, field_manager) = match saved::read(file, global, shell).await? {
        Reread::Fresh(planned, field_manager) => (planned, field_manager),
        Reread::Stale(plan) => {
            if args.output == OutputFormat::Json {
                plan::show(&plan, OutputFormat::Json, None, shell)?;
            }
            shell.say(
                Meaning::Failing,
                "stale:",
                "the saved plan does not fit the cluster any more; nothing was changed",
            );
            let reasons = plan.workloads.iter().flat_map(|workload| &workload.reasons);
            for reason in reasons.clone() {
                shell.say(Meaning::Plain, "  -", &format!("{}: {}", reason.code(), reason.sentence()));
            }
            reasons.take(1).for_each(|reason| shell.say(Meaning::Plain, "hint:", &reason.hint()));
            return Ok(EndResult::Superseded);
        }
    };
    show(&planned.plan, args, shell)?;
    if args.dry_run != DryRun::None || planned.plan.result() != EndResult::Changes {
        return Ok(if args.dry_run == DryRun::None { planned.plan.refusal() } else { EndResult::Complete });
    }
    carry_out(&planned, &field_manager, args, global, shell).await
}

fn show(plan: &Plan, args: &ApplyArgs, shell: &Shell) -> Result<(), CommandError> {
    // With JSON the lines of the rollout are all that stdout carries; `plan -o json` has the document.
    match args.output {
        // The command line has none but text and JSON here.
        OutputFormat::Text | OutputFormat::Wide | OutputFormat::Yaml | OutputFormat::Name | OutputFormat::Markdown => {
            plan::show(plan, OutputFormat::Text, None, shell)
        }
        OutputFormat::Json if plan.result() == EndResult::Changes && args.dry_run == DryRun::None => Ok(()),
        OutputFormat::Json => plan::show(plan, OutputFormat::Json, None, shell),
    }
}
