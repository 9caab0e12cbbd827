//! Several workloads, some of which cannot be updated: the command for the others.

use super::carry::Carry;
use super::{Invocation, Verb, command};
use crate::cli::Typed;
use engine::plan::{Plan, Verdict, WorkloadPlan};

/// More workloads are no command to copy.
const MOST_NAMED: usize = 20;

impl Invocation {
    /// Returns the command that does it to those workloads alone that can be updated, where it would otherwise be refused for
    /// the others' sake; `None` where what was typed does not say what is wanted of each.
    pub(in crate::commands) fn apply_to_the_others(&self, plan: &Plan) -> Option<String> {
        let (can, cannot): (Vec<_>, Vec<_>) =
            plan.workloads.iter().partition(|workload| workload.verdict != Verdict::NotEligible);
        let can: Vec<&WorkloadPlan> =
            can.into_iter().filter(|workload| workload.verdict == Verdict::InPlace && !workload.is_offline()).collect();
        let first = &can.first()?.workload;
        let is_one_place = can.iter().all(|workload| workload.workload.namespace == first.namespace);
        let is_allowed = can.iter().all(|workload| workload.missing_permissions.is_empty());
        let by_file = |typed: &Typed| matches!(typed.id.as_str(), "filename" | "kustomize");
        if cannot.is_empty() || !is_one_place || !is_allowed || can.len() > MOST_NAMED {
            return None;
        }
        if !self.names_what_is_wanted() || self.typed.iter().any(by_file) {
            return None;
        }
        let is_dropped = |typed: &Typed| {
            matches!(typed.id.as_str(), "selector" | "field_selector" | "all" | "all_namespaces" | "namespace")
        };
        let mut typed = self.typed.clone();
        typed.retain(|typed| !is_dropped(typed));
        let mut task: Vec<String> = can.iter().map(|workload| workload.workload.to_string()).collect();
        for words in typed.iter_mut().filter(|typed| typed.id == "words") {
            task.extend(std::mem::take(&mut words.values).into_iter().filter(|word| word.contains('=')));
        }
        typed.retain(|typed| typed.id != "words");
        task.extend(self.place(first));
        Some(
            command(Verb::Apply, task, &typed, &[Carry::Task, Carry::Policy, Carry::Safeguard, Carry::Connection])
                .to_string(),
        )
    }
}
