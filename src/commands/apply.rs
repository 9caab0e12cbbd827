//! `apply`: plan, ask, patch, follow to the end.

use std::path::Path;

use super::planning::Planned;
use super::saved::Reread;
use super::{Shell, approve, next as commands, plan, planning, saved};
use crate::cli::{ApplyArgs, DryRun, GlobalArgs};
use crate::cluster::{Cluster, Nodes};
use crate::drive;
use crate::engine::outcome::EndResult;
use crate::engine::plan::{Plan, Verdict, way_back};
use crate::error::CommandError;
use crate::render::{Meaning, NextSteps, OutputFormat};

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
    match planned.plan.result() {
        EndResult::Changes => {}
        result => return Ok(result),
    }
    if args.dry_run != DryRun::None {
        return Ok(EndResult::Complete);
    }
    check_pods_only(&planned.plan, args.pods_only)?;
    if !approve::ask(&planned.plan, &planned.cluster, args.yes, shell)? {
        return Err(CommandError::usage("not approved: nothing was changed"));
    }
    follow_each(&planned, &args.field_manager, args, global, shell).await
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
        Reread::Stale(moved) => {
            shell.say(
                Meaning::Failing,
                "stale:",
                "the saved plan does not fit the cluster any more; nothing was changed",
            );
            moved.iter().for_each(|moved| shell.say(Meaning::Plain, "  -", &moved.to_string()));
            shell.say(Meaning::Plain, "hint:", "plan again, and save the new plan");
            return Ok(EndResult::Superseded);
        }
    };
    show(&planned.plan, args, shell)?;
    if args.dry_run != DryRun::None || planned.plan.result() != EndResult::Changes {
        return Ok(if args.dry_run == DryRun::None { planned.plan.result() } else { EndResult::Complete });
    }
    follow_each(&planned, &field_manager, args, global, shell).await
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

/// A pod made later gets the template's image: that must be wanted.
fn check_pods_only(plan: &Plan, given: bool) -> Result<(), CommandError> {
    let owned =
        plan.workloads.iter().find(|workload| !workload.controllers.is_empty() && workload.verdict == Verdict::InPlace);
    match owned {
        Some(workload) if !given => Err(CommandError::usage(format!(
            "{} makes its pods from a template, and only the pods would change: a pod made later (scaling, eviction, a lost node) gets the template's image again",
            workload.workload
        ))
        .hint("say --pods-only if that is what you want")
        .hint("to change the template too, and have the pods replaced: kubectl set image")),
        Some(_) | None => Ok(()),
    }
}

/// One workload after the other; the first that does not complete is the last.
async fn follow_each(
    planned: &Planned,
    field_manager: &str,
    args: &ApplyArgs,
    global: &GlobalArgs,
    shell: &mut Shell,
) -> Result<EndResult, CommandError> {
    let mut result = EndResult::NothingToDo;
    for (plan, live) in planned.plan.workloads.iter().zip(&planned.lives) {
        if plan.verdict != Verdict::InPlace {
            continue;
        }
        let goal = plan.goal(&planned.id, field_manager);
        let next = NextSteps {
            take_back: way_back(&goal)
                .and_then(|back| commands::take_back(&plan.workload, &back, global, &planned.cluster)),
            go_on: Some(commands::same_as(&shell.arguments, "apply", &[])),
            follow: Some(commands::follow(&plan.workload, global, &planned.cluster)),
        };
        let mut listener = shell.listener(args.output);
        listener.start(&goal, &next)?;
        let outcome = drive::drive(&planned.cluster, &goal, &Cluster::scope(&live.workload), listener.as_mut()).await?;
        drop(listener);
        shell.tell_notices();
        result = outcome.result;
        if result != EndResult::Complete {
            break;
        }
    }
    Ok(result)
}
