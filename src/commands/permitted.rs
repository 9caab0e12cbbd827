//! `rbac`: prints the least Role that a command needs, or asks the server whether the caller has it.
//!
//! And what the caller may not do, and `apply` would have to: asked before anything is written, since found out in the middle
//! it would leave a rollout half done. It has no part in the verdict, which is about the change.

use std::collections::BTreeMap;
use std::io;

use super::{Shell, sidecar_set};
use crate::cli::{GlobalArgs, RbacArgs};
use crate::cluster::Cluster;
use crate::error::{CommandError, ErrorKind, Result};
use crate::render::{self, Meaning, Role, RoleFormat};
use engine::change::reason::Reason;
use engine::k8s::names::WorkloadRef;
use engine::k8s::permissions::{self, AccessAnswer, Asked, ClusterCommand, Deed};
use engine::kinds::WorkloadKind;
use engine::plan::{Denied, WorkloadPlan};
use engine::rollout::Goal;
use engine::state::outcome::EndResult;
use engine::value::hint::{Hint, inplace};

/// Namespace, kind, what is done, and a bare pod's name, since a Role may allow one object alone (`resourceNames`).
type Subject = (String, WorkloadKind, Deed, Option<String>);

fn access_unknown(error: &str) -> String {
    format!("the server does not say what you may do ({error}), so a missing permission shows only when it is needed")
}

/// Asks the server, of workloads that are alike only once.
pub(super) struct Permitted<'c> {
    cluster: &'c Cluster,
    command: ClusterCommand,
    asked: BTreeMap<Subject, Result<Vec<Denied>, String>>,
    pulls: BTreeMap<String, Option<Denied>>,
}

impl<'c> Permitted<'c> {
    pub(super) fn new(cluster: &'c Cluster, command: ClusterCommand) -> Self {
        Self { cluster, command, asked: BTreeMap::new(), pulls: BTreeMap::new() }
    }

    /// Refuses to go on with a rollout, before anything is written, where the caller may not do all that it takes.
    ///
    /// # Errors
    /// With what is missing. A server that does not answer is no obstacle, and a note says so.
    pub(super) async fn check(&mut self, goal: &Goal, shell: &Shell) -> Result<()> {
        let workload = &goal.workload;
        let resizes = goal.pods.iter().any(|pod| pod.fields.resizes());
        match self
            .denied(workload, Deed { pods_only: goal.owner.is_none(), resizes, by_request: goal.by_request })
            .await
        {
            Ok(denied) if denied.is_empty() => Ok(()),
            Ok(denied) => {
                let reasons: Vec<Reason> = denied.iter().map(|denied| denied.reason(workload)).collect();
                Err(CommandError { kind: ErrorKind::Forbidden, ..CommandError::reasons(workload, &reasons) })
            }
            Err(error) => {
                shell.note(&format!("{workload}: {}", access_unknown(error)));
                Ok(())
            }
        }
    }

    pub(super) async fn of_plan(&mut self, plan: &WorkloadPlan) -> Result<Vec<Denied>, String> {
        self.denied(&plan.workload, plan.deed()).await.clone().map_err(|error| access_unknown(&error))
    }

    /// Returns what the caller may not do to have nodes pull images first, as far as the server says it.
    pub(super) async fn pulls_for(&mut self, workload: &WorkloadRef) -> Option<Denied> {
        if let Some(known) = self.pulls.get(&workload.namespace) {
            return known.clone();
        }
        let questions = Asked::pulls_for(self.command, workload.kind);
        let answers = self.cluster.access(questions, Some(&workload.namespace), None).await.unwrap_or_default();
        let role = format!("{} --optional", Asked::role(self.command, workload.kind, Deed::default()));
        let denied = answers.into_iter().find(|answer| !answer.allowed).map(|answer| of(answer, &role));
        self.pulls.insert(workload.namespace.clone(), denied.clone());
        denied
    }

    async fn denied(&mut self, workload: &WorkloadRef, deed: Deed) -> &Result<Vec<Denied>, String> {
        let name = Some(workload.name.clone()).filter(|_| !workload.kind.has_template());
        let subject = (workload.namespace.clone(), workload.kind, deed, name);
        let answer = match self.asked.remove(&subject) {
            Some(known) => known,
            None => self.ask(&subject).await,
        };
        self.asked.entry(subject).or_insert(answer)
    }

    async fn ask(&self, (namespace, kind, deed, name): &Subject) -> Result<Vec<Denied>, String> {
        let questions = Asked::required(self.command, *kind, *deed);
        let answers = self.cluster.access(questions, Some(namespace), name.as_deref()).await;
        let answers = answers.map_err(|error| error.to_string())?;
        let denied = answers.into_iter().filter(|answer| !answer.allowed);
        let role = Asked::role(self.command, *kind, *deed);
        Ok(denied.map(|answer| of(answer, &role)).collect())
    }
}

fn of(answer: AccessAnswer, role: &str) -> Denied {
    Denied {
        verb: answer.permission.verb.word().to_owned(),
        resource: answer.permission.resource.to_string(),
        message: answer.message,
        role: Some(role.to_owned()),
    }
}

pub(super) async fn run(args: &RbacArgs, global: &GlobalArgs, shell: &mut Shell) -> Result<EndResult> {
    let command = args.command;
    if args.pods_only && !command.has_pods_only() {
        return Err(CommandError::usage(format!("--pods-only makes no difference to {}", command.word())));
    }
    use ClusterCommand::{Apply, Follow, Plan, Status};
    if !matches!(command, Plan | Apply | Follow | Status) {
        sidecar_set::refuse(args.kind.0)?;
    }
    let kinds = args.kind.0.map_or_else(|| WorkloadKind::built_in().collect(), |kind| vec![kind]);
    let asked = Asked { command, kinds, pods_only: args.pods_only };
    if args.check { check(args, &asked, global, shell).await } else { print(args, &asked, global) }
}

/// Returns the words after `kubectl inplace`, with a separator between them.
fn words(args: &RbacArgs, separator: &str) -> String {
    let mut words = vec![args.command.word()];
    words.extend(args.kind.0.map(|kind| kind.spec().singular));
    words.join(separator) + if args.pods_only { " --pods-only" } else { "" }
}

/// What is in no namespace has its pods in any.
fn of_all_namespaces(args: &RbacArgs) -> bool {
    args.all_namespaces || args.kind.0.is_some_and(|kind| kind.spec().cluster_wide)
}

fn print(args: &RbacArgs, asked: &Asked, global: &GlobalArgs) -> Result<EndResult> {
    let role = Role {
        command: format!("kubectl inplace {}", words(args, " ")),
        name: format!("kubectl-inplace-{}", words(args, "-").replace(" --", "-")),
        namespace: global.connection.namespace.clone(),
        all_namespaces: of_all_namespaces(args),
        optional: args.optional,
        permissions: asked.permissions(),
    };
    let out = &mut io::stdout().lock();
    match args.output {
        RoleFormat::Text => render::role_yaml(&role, out),
        RoleFormat::Json => render::role_json(&role, out),
    }?;
    Ok(EndResult::Complete)
}

async fn check(args: &RbacArgs, asked: &Asked, global: &GlobalArgs, shell: &mut Shell) -> Result<EndResult> {
    let cluster = shell.connect(global).await?;
    let namespace = (!of_all_namespaces(args)).then(|| cluster.namespace());
    let answers = cluster.access(asked.permissions(), namespace, None).await?;
    let missing = permissions::missing(&answers);
    let result = if missing.is_empty() { EndResult::Complete } else { EndResult::NotEligible };
    let out = &mut io::stdout().lock();
    match args.output {
        RoleFormat::Text => render::access_table(&answers, namespace, &shell.terminal.stdout, out),
        RoleFormat::Json => render::access_json(&answers, namespace, result, out),
    }?;
    tell(&missing, args, namespace, shell);
    Ok(result)
}

/// Names each verb that is missing, and how to come by it.
fn tell(missing: &[&AccessAnswer], args: &RbacArgs, namespace: Option<&str>, shell: &Shell) {
    for answer in missing {
        let place = match namespace {
            Some(namespace) => format!("in namespace {namespace}"),
            None => "in all namespaces".to_owned(),
        };
        let server = if answer.message.is_empty() { String::new() } else { format!(" ({})", answer.message) };
        shell.say(Meaning::Failing, "missing:", &format!("{} {place}{server}", answer.permission));
    }
    if !missing.is_empty() {
        let command = inplace("rbac").and(&words(args, " "));
        let command = namespace.map_or_else(|| command.clone().and("-A"), |name| command.clone().in_namespace(name));
        shell.hint(&Hint::from("the Role that gives it is printed by: ").command(command));
    }
}
