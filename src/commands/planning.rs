//! The plan of a command: what `plan` shows and `apply` does.

use std::collections::{BTreeMap, BTreeSet};

use futures::stream::{self, StreamExt, TryStreamExt};

use serde_json::Value;

use super::Shell;
use super::hand_over;
use super::meant;
use super::next::Invocation;
use super::permitted::Permitted;
use super::preview::first_write;
use super::pulls;
use super::reading;
use super::sidecar_set;
use super::targets;
use crate::cli::{self, ChangeArgs, GlobalArgs, PaceArgs, PolicyArgs, TargetArgs};
use crate::cluster::error::ClusterError;
use crate::cluster::{Cluster, NamespaceFacts, Nodes};
use crate::error::CommandError;
use crate::render::Meaning;
use engine::change::reason::{Reason, Warning};
use engine::k8s::names::{ContainerName, PodKey, RolloutId, WorkloadRef};
use engine::k8s::permissions::{Asked, ClusterCommand, Deed};
use engine::k8s::workload::Workload;
use engine::plan::{
    self, AdmittedPod, ContainerOrderError, DryRun, Intent, Options, PatchAnswer, Plan, RolloutState, Snapshot, Start,
    Subset, Validation, Verdict, WorkloadPlan, offline,
};
use engine::rollout::drain::DrainBy;
use engine::rollout::{Goal, create_request};
use engine::state::durable::ObjectWrite;
use engine::state::hook::Hooks;
use engine::state::outcome::EndResult;
use engine::status::status;

/// Questions at once.
const AT_ONCE: usize = 10;

/// Requests to kruise-daemon that are asked about, at most.
const REQUESTS_ASKED: usize = 50;

/// A plan, and what it was made from.
pub(super) struct Planned {
    pub(super) plan: Plan,
    pub(super) lives: Vec<Snapshot>,
    pub(super) cluster: Cluster,
    /// The id in the patches of the dry run, and in those that are sent.
    pub(super) id: RolloutId,
    /// When it was made (RFC 3339); `None` of one that was saved.
    pub(super) now: Option<String>,
    /// The manifests that were planned for; none for images by hand.
    pub(super) manifests: Manifests,
}

/// The manifests of workloads, as they were given.
pub(super) type Manifests = BTreeMap<WorkloadRef, (Value, Validation)>;

impl Planned {
    pub(super) fn shown(&self) -> (&Plan, Option<&str>) {
        (&self.plan, self.now.as_deref())
    }

    /// Returns how a command ends that carries nothing out: its plan cannot be, or only a dry run was asked for.
    pub(super) fn ends_here(&self, dry_run: cli::DryRun, shell: &Shell) -> Option<EndResult> {
        if !self.plan.is_applyable() {
            return Some(self.refuse(shell));
        }
        (dry_run != cli::DryRun::None).then_some(EndResult::Complete)
    }

    fn refuse(&self, shell: &Shell) -> EndResult {
        self.say_what_leads_on(shell);
        if self.plan.lacks_permissions() {
            shell.note("nothing was changed: a permission is missing");
        }
        self.plan.refusal()
    }

    /// Where a rollout holds a workload, says the commands that lead on, the one that keeps most first.
    pub(super) fn say_what_leads_on(&self, shell: &Shell) {
        for (plan, live) in self.plan.workloads.iter().zip(&self.lives) {
            if plan.is_held(live) {
                say_next(live, &shell.invocation(&self.cluster), shell);
            }
        }
        for whole in meant::as_meant(&self.plan, shell.line()) {
            shell.hint(&whole);
        }
    }
}

/// Says the commands that lead on from a rollout that holds a workload, the one that keeps most first.
pub(super) fn say_next(live: &Snapshot, invocation: &Invocation, shell: &Shell) {
    for (label, command) in invocation.next_commands(&status(live).next, &live.workload.reference, None) {
        shell.say_whole(Meaning::Plain, &label, &command);
    }
}

/// For what a plan is made, and what is asked for it.
pub(super) struct Purpose<'a> {
    /// The command, whose Role is missing where something may not be read.
    pub(super) command: ClusterCommand,
    pub(super) field_manager: &'a str,
    /// Whether the server is asked by a dry run.
    pub(super) ask_server: bool,
    pub(super) nodes: Nodes,
    pub(super) shows_kubelets: bool,
    /// The manifests are applied by another tool afterwards: what is not there yet, or half done by a run that is gone, is no
    /// error, and what they change beside the workloads counts.
    pub(super) goes_first: bool,
}

impl<'a> Purpose<'a> {
    /// The purpose of a command that carries its plan out.
    pub(super) fn of(command: ClusterCommand, field_manager: &'a str, ask_server: bool) -> Self {
        let nodes = Nodes::WhereDecisive;
        Self { command, field_manager, ask_server, nodes, shows_kubelets: false, goes_first: false }
    }
}

/// Reads, compares, and asks the server whether it would accept exactly these patches.
pub(super) async fn make(
    change: &ChangeArgs,
    policy: &PolicyArgs,
    global: &GlobalArgs,
    purpose: &Purpose<'_>,
    shell: &mut Shell,
) -> Result<Planned, CommandError> {
    let options = Options { shows_kubelets: purpose.shows_kubelets, ..options(policy)? };
    let asked = targets::read_change(change, shell).await?;
    let cluster = shell.connect(global).await?;
    of(asked, (&change.targets, global), cluster, (&options, purpose), shell).await
}

/// The same for what was read of the command line.
pub(super) async fn of(
    asked: targets::Asked,
    (args, global): (&TargetArgs, &GlobalArgs),
    cluster: Cluster,
    (options, purpose): (&Options, &Purpose<'_>),
    shell: &Shell,
) -> Result<Planned, CommandError> {
    let skipped = asked.skipped().to_vec();
    let configuration = asked.configuration();
    let found = targets::find_or_new(asked, (args, purpose.goes_first), global, &cluster).await?;
    targets::refuse_ambiguous(&found.workloads)?;
    sidecar_set::refuse_flags(&found.workloads, options, shell)?;
    let new: Vec<WorkloadPlan> =
        found.to_create().map(|(reference, manifest)| offline::new(reference, manifest, options)).collect();
    let manifests = found.workloads.iter().filter_map(|(workload, intent)| match intent {
        Intent::Manifest(plan::Manifest::Given { object, validation }) => {
            Some((workload.reference.clone(), (object.clone(), *validation)))
        }
        Intent::Manifest(plan::Manifest::Stored { .. } | plan::Manifest::Refused { .. })
        | Intent::None
        | Intent::Images(_)
        | Intent::Undo { .. }
        | Intent::Restart { .. } => None,
    });
    let manifests = manifests.collect();
    let mut planned = make_for(found.workloads, cluster, options, purpose, shell).await?;
    planned.manifests = manifests;
    if purpose.goes_first {
        // The tool is known, and what it does next is said as such.
        let workloads = planned.plan.workloads.iter_mut();
        workloads.for_each(|plan| plan.warnings.retain(|warning| warning.tool().is_none()));
        hand_over::warn_of_configuration(&mut planned, &configuration).await;
    }
    hand_over::foretell(&mut planned, purpose).await;
    // Behind the others, which are paired with what was read of them.
    planned.plan.workloads.extend(new);
    planned.plan.skipped = skipped;
    Ok(planned)
}

/// The same for workloads that were found.
pub(super) async fn make_for(
    found: Vec<(Workload, Intent)>,
    cluster: Cluster,
    options: &Options,
    purpose: &Purpose<'_>,
    shell: &Shell,
) -> Result<Planned, CommandError> {
    let id = shell.rollout_id();
    let has_ordinals = |(workload, _): &(Workload, Intent)| workload.reference.kind.has_partition();
    if options.subset.partition.is_some() && !found.iter().all(has_ordinals) {
        return Err(CommandError::usage("--partition is for StatefulSets: no other kind numbers its pods"));
    }
    let (read, now) = read(&found, &cluster, options, purpose, shell).await?;
    // A user who plans sees what carrying it out would take.
    let is_plan = purpose.command == ClusterCommand::Plan;
    let carried_out_by = if is_plan { ClusterCommand::Apply } else { purpose.command };
    let mut permitted = Permitted::new(&cluster, carried_out_by);
    let mut workloads = Vec::new();
    let mut lives = Vec::new();
    for (intent, mut live) in read {
        // A hook that was killed is run again, and finds its own rollout.
        let is_left = purpose.goes_first && plan::rollout_state(&live) == RolloutState::Unfinished;
        let options = Options { take_over: options.take_over || is_left, ..options.clone() };
        let build =
            |live: &Snapshot| plan::build(&intent, live, &options).map_err(|error| reading::intent_error(live, &error));
        let mut plan = built(&build, &mut live, purpose, &cluster).await?;
        if plan.verdict == Verdict::InPlace {
            let denied = permitted.of_plan(&plan).await;
            let dry_run = match purpose.ask_server {
                true => {
                    let writer = (&id, purpose.field_manager);
                    let (again, asked) = asked(plan, (&mut live, &build), &mut permitted, &cluster, writer).await?;
                    plan = again;
                    Some(DryRun { is_way_back: matches!(intent, Intent::Undo { .. }), ..asked })
                }
                false => None,
            };
            plan = plan.with_answers(denied, dry_run, &live);
        }
        workloads.push(plan);
        lives.push(live);
    }
    let reported: BTreeSet<String> = cluster.warnings().into_iter().collect();
    if let Some(first) = workloads.first_mut() {
        first.warnings.extend(reported.into_iter().map(|message| Warning::ServerWarning { message }));
    }
    let plan = Plan { workloads, skipped: Vec::new() };
    check_order(&plan, &found, options)?;
    Ok(Planned { plan, lives, cluster, id, now: Some(now), manifests: Manifests::new() })
}

/// Reads the workloads with what their namespaces and the server have to do with it; also returns when that was.
async fn read(
    found: &[(Workload, Intent)],
    cluster: &Cluster,
    options: &Options,
    purpose: &Purpose<'_>,
    shell: &Shell,
) -> Result<(Vec<(Intent, Snapshot)>, String), CommandError> {
    let (facts, read, server) = futures::join!(
        namespaces(found, cluster),
        reading::all(found.to_vec(), cluster, purpose.field_manager, purpose.nodes),
        // Where the version cannot be read or parsed, the server's refusals take its place.
        cluster.server_version()
    );
    let mut read = read?;
    let server = server.ok().and_then(|version| version.parse().ok());
    let now = shell.clock(cluster);
    for (_, live) in &mut read {
        (live.surroundings.server, live.surroundings.now) = (server, Some(now.clone()));
        if let Some(facts) = facts.get(&live.workload.reference.namespace) {
            add_facts(live, facts);
        }
        name_role(live, purpose, options);
    }
    if options.drain != Some(DrainBy::None) {
        cluster.selecting(read.iter_mut().map(|(_, live)| live)).await;
    }
    Ok((read, now))
}

/// Says of what could not be read which Role allows it.
fn name_role(live: &mut Snapshot, purpose: &Purpose<'_>, options: &Options) {
    let kind = live.workload.reference.kind;
    let role = Asked::role(purpose.command, kind, Deed { pods_only: options.pods_only, ..Deed::default() });
    let not_read = live.surroundings.denied.iter_mut().chain(&mut live.surroundings.revisions_denied);
    not_read.for_each(|denied| denied.role = Some(role.clone()));
}

/// Builds a plan, and once more with what it turns out to need.
async fn built(
    build: &impl Fn(&Snapshot) -> Result<WorkloadPlan, CommandError>,
    live: &mut Snapshot,
    purpose: &Purpose<'_>,
    cluster: &Cluster,
) -> Result<WorkloadPlan, CommandError> {
    let mut plan = build(live)?;
    if purpose.ask_server && plan::differs_from_template(live) {
        let next = plan.template_after(live);
        let made = cluster.what_is_made(live, next.as_ref()).await;
        (live.surroundings.made, live.surroundings.made_next) = made;
        plan = build(live)?;
    }
    if plan.verdict == Verdict::InPlace && plan.resizes() {
        // Whether those that have done their work are resized depends on the kubelets.
        if plan.fields.resources.reaches_init_containers() {
            cluster.kubelets(live, Nodes::OfEveryPod).await;
        }
        let namespace = &live.workload.reference.namespace;
        live.surroundings.vertical_autoscalers = cluster.vertical_autoscalers(namespace).await;
        plan = build(live)?;
    }
    Ok(plan)
}

/// Asks the server by a dry run, and what it makes of the template of new pods. Where admission makes other images of it, asks
/// once more with those.
async fn asked(
    mut plan: WorkloadPlan,
    (live, build): (&mut Snapshot, impl Fn(&Snapshot) -> Result<WorkloadPlan, CommandError>),
    permitted: &mut Permitted<'_>,
    cluster: &Cluster,
    writer: (&RolloutId, &str),
) -> Result<(WorkloadPlan, DryRun), CommandError> {
    let is_asked = plan.sets_template_image() && live.surroundings.made == AdmittedPod::NotAsked;
    let Some(next) = is_asked.then(|| plan.template_after(live)).flatten() else {
        let asked = dry_run(&plan, live, permitted, cluster, writer).await?;
        return Ok((plan, asked));
    };
    let made = cluster.what_is_made(live, Some(&next));
    let (asked, made) = futures::join!(dry_run(&plan, live, permitted, cluster, writer), made);
    (live.surroundings.made, live.surroundings.made_next) = made;
    if !plan.is_made_otherwise(live) {
        return Ok((plan, asked?));
    }
    plan = build(live)?;
    let asked = dry_run(&plan, live, permitted, cluster, writer).await?;
    Ok((plan, asked))
}

/// Asks each namespace once, whatever the number of its workloads.
async fn namespaces(found: &[(Workload, Intent)], cluster: &Cluster) -> BTreeMap<String, NamespaceFacts> {
    let mut asked: BTreeSet<&str> = found.iter().map(|(workload, _)| workload.reference.namespace.as_str()).collect();
    asked.remove("");
    let questions = asked
        .into_iter()
        .map(|namespace| async move { (namespace.to_owned(), cluster.namespace_facts(namespace).await) });
    stream::iter(questions).buffered(AT_ONCE).collect().await
}

fn add_facts(live: &mut Snapshot, facts: &NamespaceFacts) {
    let surroundings = &mut live.surroundings;
    surroundings.budgets.clone_from(&facts.surroundings.budgets);
    surroundings.services.clone_from(&facts.surroundings.services);
    surroundings.autoscalers.clone_from(&facts.surroundings.autoscalers);
    live.not_read.extend(facts.not_read.iter().cloned());
}

/// Reads what a drain needs of a rollout that is resumed or aborted.
pub(super) async fn read_services(live: &mut Snapshot, cluster: &Cluster) {
    let facts = cluster.namespace_facts(&live.workload.reference.namespace).await;
    add_facts(live, &facts);
    cluster.selecting(std::iter::once(live)).await;
}

/// Turns the flags into the engine's options.
pub(super) fn options(policy: &PolicyArgs) -> Result<Options, CommandError> {
    let choice = &policy.choice;
    let subset = Subset {
        pods: choice.pods.iter().map(|name| name.trim_start_matches("pod/").to_owned()).collect(),
        node: choice.node.clone(),
        partition: choice.partition,
    };
    Ok(Options {
        pods_only: choice.pods_only,
        canary: choice.canary,
        order: choice.order,
        subset,
        ..pace(&policy.pace)?
    })
}

/// The options of how fast and how careful.
pub(super) fn pace(policy: &PaceArgs) -> Result<Options, CommandError> {
    if policy.drain == Some(DrainBy::None) && policy.drain_seconds.is_some() {
        return Err(CommandError::usage("--drain-seconds has no effect with --drain none: leave out one of them"));
    }
    Ok(Options {
        max_unavailable: policy.max_unavailable,
        min_ready_seconds: policy.min_ready_seconds,
        timeout: policy.timeout,
        total_timeout: policy.total_timeout,
        take_over: policy.take_over,
        pause_after: policy.pause_after,
        container_order: policy.container_order.iter().map(|name| ContainerName::from(name.as_str())).collect(),
        hooks: Hooks { before_pod: policy.before_pod.clone(), after_pod: policy.after_pod.clone() },
        pre_pull: policy.pre_pull,
        drain: policy.drain,
        drain_seconds: policy.drain_seconds,
        respects_budgets: policy.disruption_budget,
        ..Options::default()
    })
}

/// An order that names what does not change is a slip.
fn check_order(plan: &Plan, found: &[(Workload, Intent)], options: &Options) -> Result<(), CommandError> {
    let mut named: BTreeSet<ContainerName> = BTreeSet::new();
    for (_, intent) in found {
        match intent {
            Intent::Images(images) if images.all.is_some() => named.extend(options.container_order.iter().cloned()),
            Intent::Images(images) => named.extend(images.by_container.keys().cloned()),
            Intent::Restart { containers, .. } => named.extend(containers.iter().cloned()),
            Intent::None | Intent::Manifest(_) | Intent::Undo { .. } => {}
        }
    }
    plan.check_order(&options.container_order, &named).map_err(|error| order_error(&error))
}

/// Wrong usage, and what would be right.
pub(super) fn order_error(error: &ContainerOrderError) -> CommandError {
    CommandError::usage(format!("--container-order: {error}")).hint(error.hint())
}

/// Asks the server by a dry run of exactly these patches, and the nodes for what they have to pull first.
pub(super) async fn dry_run(
    plan: &WorkloadPlan,
    live: &Snapshot,
    permitted: &mut Permitted<'_>,
    cluster: &Cluster,
    (id, field_manager): (&RolloutId, &str),
) -> Result<DryRun, CommandError> {
    let (questions, asked_all) = plan.questions(live, id, field_manager);
    let answers = stream::iter(questions)
        .map(|question| async move {
            let answer = match cluster.send(&question.patch, true).await {
                Ok(pod) => PatchAnswer::Pod(Box::new(pod)),
                Err(error) => patch_answer(error)?,
            };
            Ok::<_, ClusterError>((question, answer))
        })
        .buffered(AT_ONCE)
        .try_collect();
    let goal = plan.goal(id, &Start { field_manager: field_manager.to_owned(), ..Start::default() });
    let lacking = pulls::find(&goal.pods, live, plan.pre_pull, cluster);
    let owner_refused = owner_refused(plan, live, cluster, (id, field_manager));
    let requests = requests_refused(&goal, live, cluster);
    let (lacking, answers, owner_refused, requests) = futures::join!(lacking, answers, owner_refused, requests);
    let pulls_denied = if lacking.pulls.is_empty() { None } else { permitted.pulls_for(&plan.workload).await };
    let asked_pulls = match pulls_denied {
        None => pulls::ask(&goal, lacking.pulls.clone(), cluster).await,
        Some(_) => Vec::new(),
    };
    Ok(DryRun {
        is_way_back: false,
        answers: answers?,
        requests_refused: requests?,
        owner_refused,
        asked_all,
        lacking,
        pulls_denied,
        asked_pulls,
    })
}

/// Asks about the very requests to kruise-daemon that would be created: their webhook knows which containers it restarts.
async fn requests_refused(
    goal: &Goal,
    live: &Snapshot,
    cluster: &Cluster,
) -> Result<Vec<(PodKey, Reason)>, ClusterError> {
    let wanted = goal.pods.iter().filter(|_| goal.by_request).take(REQUESTS_ASKED);
    let pods = wanted.filter_map(|wanted| Some((wanted, live.pods.iter().find(|pod| pod.key == wanted.key)?)));
    let requests = pods.map(|(wanted, pod)| {
        let containers = wanted.containers.keys().cloned().collect();
        (pod.key.clone(), create_request(goal, pod, &containers))
    });
    let ask = |(pod, request): (PodKey, ObjectWrite)| async move {
        let Err(error) = cluster.dry_write(&request, &goal.field_manager).await else { return Ok(None) };
        if matches!(error, ClusterError::UnknownResource { .. }) {
            return Ok(Some((pod, Reason::KruiseNotInstalled)));
        }
        let message = error.to_string();
        let is_refusal = error.lacks_webhook() || matches!(patch_answer(error)?, PatchAnswer::Refused { .. });
        Ok(is_refusal.then(|| (pod, Reason::AdmissionRefused { message, others: Vec::new() })))
    };
    stream::iter(requests.collect::<Vec<_>>())
        .map(ask)
        .buffered(AT_ONCE)
        .try_filter_map(|refused| async { Ok::<_, ClusterError>(refused) })
        .try_collect()
        .await
}

/// Asks about the first write to a custom resource: its own webhooks judge that, or are not there.
async fn owner_refused(
    plan: &WorkloadPlan,
    live: &Snapshot,
    cluster: &Cluster,
    (id, field_manager): (&RolloutId, &str),
) -> Option<String> {
    let write = match &plan.durable {
        None if plan.workload.kind.is_sidecar_set() => plan::sidecar_set::write(plan, live)?,
        Some(_) if !plan.workload.kind.is_built_in() => {
            let start = Start { field_manager: field_manager.to_owned(), ..Start::default() };
            first_write(&plan.durable_goal(id, live, &start), live)?.1
        }
        Some(_) | None => return None,
    };
    let error = cluster.dry_write(&write, field_manager).await.err()?;
    let message = error.to_string();
    let is_refusal = error.lacks_webhook() || matches!(patch_answer(error), Ok(PatchAnswer::Refused { .. }));
    is_refusal.then_some(message)
}

/// What an error says of the patch, unless it says nothing of it.
#[expect(clippy::wildcard_enum_match_arm, reason = "the patch was not judged")]
fn patch_answer(error: ClusterError) -> Result<PatchAnswer, ClusterError> {
    match error {
        ClusterError::Forbidden { message, .. } => Ok(PatchAnswer::Denied { message }),
        ClusterError::AdmissionDenied { message }
        | ClusterError::Invalid { message, is_bare_test_failure: false, .. }
        | ClusterError::Rejected { message, .. } => Ok(PatchAnswer::Refused { message }),
        ClusterError::Invalid { is_bare_test_failure: true, .. }
        | ClusterError::Conflict { .. }
        | ClusterError::NotFound { .. } => Ok(PatchAnswer::Conflict),
        other => Err(other),
    }
}
