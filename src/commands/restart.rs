//! `restart`: named containers again, in place, using the image digest that is running.

use super::planning::{self, Planned, Purpose};
use super::rolling::Rolling;
use super::targets;
use super::{Shell, approve, plan};
use crate::cli::{DryRun, GlobalArgs, RestartArgs, TargetArgs};
use crate::cluster::Nodes;
use crate::error::CommandError;
use engine::k8s::names::ContainerName;
use engine::k8s::permissions::ClusterCommand;
use engine::plan::{Intent, Options};
use engine::state::outcome::EndResult;

pub(super) async fn run(args: &RestartArgs, global: &GlobalArgs, shell: &mut Shell) -> Result<EndResult, CommandError> {
    if args.policy.choice.pods_only {
        return Err(CommandError::usage("--pods-only makes no difference to restart, which changes pods alone"));
    }
    // Nothing changes that a template could say.
    let options = Options { pods_only: true, ..planning::options(&args.policy)? };
    let words = TargetArgs::from(&args.targets);
    let why = "a restart keeps the images; name the workload and its containers: -c NAME";
    let asked = targets::read_workloads(&words, why, shell).await?;
    let cluster = shell.connect(global).await?;
    let mut found = targets::find(asked, &words, global, &cluster).await?;
    for (_, intent) in &mut found {
        let containers = args.container.iter().map(|name| ContainerName::from(name.as_str())).collect();
        *intent = Intent::Restart { containers };
    }
    let ask_server = args.dry_run != DryRun::Client;
    let (command, nodes) = (ClusterCommand::Restart, Nodes::WhereDecisive);
    let purpose = Purpose { command, field_manager: &args.field_manager, ask_server, nodes, shows_kubelets: false };
    let planned = planning::make_for(found, cluster, &options, &purpose, shell).await?;
    plan::show_stream(&planned, args.output, (args.dry_run == DryRun::None, args.yes), shell)?;
    shell.tell_notices();
    if let Some(end) = planned.ends_here(args.dry_run, shell) {
        return Ok(end);
    }
    if !approve::ask(&planned.plan, &planned.cluster, args.yes, shell)? {
        return Err(approve::declined());
    }
    let writer = (args.output, args.field_manager.as_str());
    let Planned { plan, lives, cluster, id, .. } = planned;
    let mut rolling = Rolling::new(&cluster, &args.rollout, writer, shell).await;
    rolling.is_restart = true;
    rolling.each((plan, lives), &id, shell).await
}
