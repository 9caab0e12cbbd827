//! What the caller may not do, and `apply` would have to: asked before anything is written, since found out in the middle
//! it would leave a rollout half done. It has no part in the verdict, which is about the change.

use std::collections::BTreeMap;

use super::Shell;
use crate::cluster::Cluster;
use crate::error::{CommandError, ErrorKind};
use engine::change::reason::Reason;
use engine::k8s::names::WorkloadRef;
use engine::k8s::permissions::{AccessAnswer, Asked, ClusterCommand, Deed};
use engine::kinds::WorkloadKind;
use engine::plan::{Denied, WorkloadPlan};
use engine::rollout::Goal;

/// What one question is about: namespace, kind, what is done, and a bare pod's name, since a Role may allow one object alone
/// (`resourceNames`).
type Subject = (String, WorkloadKind, Deed, Option<String>);

fn not_reported(error: &str) -> String {
    format!("the server does not say what you may do ({error}), so a missing permission shows only when it is needed")
}

/// Asks the server, of workloads that are alike only once.
pub(super) struct Permitted<'c> {
    cluster: &'c Cluster,
    command: ClusterCommand,
    asked: BTreeMap<Subject, Result<Vec<Denied>, String>>,
    /// By namespace.
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
    pub(super) async fn check(&mut self, goal: &Goal, shell: &Shell) -> Result<(), CommandError> {
        let workload = &goal.workload;
        let resizes = goal.pods.iter().any(|pod| pod.fields.resizes());
        match self.denied(workload, Deed { pods_only: goal.owner.is_none(), resizes }).await {
            Ok(denied) if denied.is_empty() => Ok(()),
            Ok(denied) => {
                let reasons: Vec<Reason> = denied.iter().map(|denied| denied.reason(workload)).collect();
                Err(CommandError { kind: ErrorKind::Forbidden, ..CommandError::reasons(workload, &reasons) })
            }
            Err(error) => {
                shell.note(&format!("{workload}: {}", not_reported(error)));
                Ok(())
            }
        }
    }

    /// Returns what the caller of a plan may not do, or why the server does not say.
    pub(super) async fn of_plan(&mut self, plan: &WorkloadPlan) -> Result<Vec<Denied>, String> {
        self.denied(&plan.workload, plan.deed()).await.clone().map_err(|error| not_reported(&error))
    }

    /// Returns what the caller may not do to have nodes pull images first. A server that does not answer is no
    /// obstacle.
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

    /// Asks, or says what was answered before.
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
