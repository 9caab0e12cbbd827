//! `apply`: plan, ask, patch, follow to the end.

use std::path::Path;
use std::sync::Arc;

use super::planning::{Planned, Purpose};
use super::rolling::Rolling;
use super::saved::Reread;
use super::{Shell, approve, hand_over, plan, planning, saved, sidecar_set, targets};
use crate::cli::{ApplyArgs, DryRun, GlobalArgs, OwnerArgs};
use crate::error::Result;
use crate::render::{Meaning, PlanFormat, StreamFormat};
use engine::k8s::permissions::ClusterCommand;
use engine::plan::Plan;
use engine::state::outcome::EndResult;

pub(super) async fn run(args: &ApplyArgs, global: &GlobalArgs, shell: &mut Shell) -> Result<EndResult> {
    if let Some(file) = &args.plan {
        return saved_plan(file, args, global, shell).await;
    }
    if args.if_possible {
        return hand_over::apply(args, global, shell).await;
    }
    let ask_server = args.act.dry_run != DryRun::Client;
    let purpose = Purpose::of(ClusterCommand::Apply, &args.field_manager, ask_server);
    let planned = planning::make(&args.change, &args.policy, global, &purpose, shell).await?;
    plan::show_stream(&planned, &args.act, shell)?;
    shell.tell_notices();
    if let Some(end) = planned.ends_here(args.act.dry_run, shell) {
        return Ok(end);
    }
    if args.act.output == StreamFormat::Json {
        // The lines of the rollout do not have the plan, which says so elsewhere.
        targets::note_skipped(&planned.plan.skipped, shell);
        for new in planned.plan.workloads.iter().filter(|plan| plan.is_offline()) {
            shell.note(&format!("{}: skipped: it is new; kubectl apply creates it", new.workload));
        }
    }
    approve::ask(&planned.plan, &planned.cluster, args.act.yes, shell)?;
    carry_out(planned, &args.field_manager, args, shell).await
}

async fn carry_out(planned: Planned, field_manager: &str, args: &ApplyArgs, shell: &Shell) -> Result<EndResult> {
    let Planned { plan, lives, cluster, id, manifests, .. } = planned;
    let writer = (args.act.output, field_manager);
    sidecar_set::write((&plan, &lives), &cluster, field_manager).await?;
    let mut rolling = Rolling::new(&cluster, &args.rollout, writer, shell).await;
    write_to_the_owner(&mut rolling, &args.owner, &plan, shell);
    rolling.on_deferred = args.resize.deferred;
    rolling.manifests = Arc::new(manifests);
    rolling.each((plan, lives), &id, shell).await
}

/// Sets what is written to the owner. Where pods alone are changed, no reason is kept.
pub(super) fn write_to_the_owner(rolling: &mut Rolling<'_>, owner: &OwnerArgs, plan: &Plan, shell: &Shell) {
    rolling.start.reason.clone_from(&owner.reason);
    rolling.start.keep_field_ownership = owner.keep_field_ownership;
    for workload in plan.workloads.iter().filter(|workload| owner.reason.is_some() && workload.durable.is_none()) {
        shell.note(&format!("{}: the reason is not kept, since pods alone are changed", workload.workload));
    }
}

/// Does exactly what a saved plan says: it was approved when it was given.
async fn saved_plan(file: &Path, args: &ApplyArgs, global: &GlobalArgs, shell: &mut Shell) -> Result<EndResult> {
    let ask_server = args.act.dry_run != DryRun::Client;
    let (planned, field_manager) = match saved::read(file, ask_server, global, shell).await? {
        Reread::Fresh(planned, field_manager) => (planned, field_manager),
        Reread::Stale(plan) => {
            if args.act.output == StreamFormat::Json {
                plan::show((&plan, None), PlanFormat::Json, (None, false), shell)?;
            }
            shell.say(
                Meaning::Failing,
                "stale:",
                "the saved plan does not fit the cluster any more; nothing was changed",
            );
            let mut hint = None;
            for plan in &plan.workloads {
                for reason in &plan.reasons {
                    shell.say(Meaning::Plain, "  -", &format!("{}: {}", reason.code(), reason.sentence()));
                    hint.get_or_insert_with(|| reason.hint_for(&plan.workload));
                }
            }
            hint.iter().for_each(|hint| shell.hint(hint));
            return Ok(EndResult::Superseded);
        }
    };
    plan::show_stream(&planned, &args.act, shell)?;
    if let Some(end) = planned.ends_here(args.act.dry_run, shell) {
        return Ok(end);
    }
    carry_out(*planned, &field_manager, args, shell).await
}
