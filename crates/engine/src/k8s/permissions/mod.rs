//! What a caller must be allowed to do: the least rules of RBAC for each command and kind, each with its reason.
//!
//! Promise: the rules are one table of data (`table.rs`); a rule is required where the command cannot do its work without
//! it, and optional where the answer is only weaker, or where only some flags need it. Nothing here asks a server.
//!
//! Left out, because everybody has it or nobody misses it: discovery and `/version` (`system:discovery`), and `get` of the
//! namespace, which is tried only to say that it is the namespace which is not there.

mod table;

#[cfg(test)]
mod tests;

use std::fmt;

use crate::kinds::WorkloadKind;
use crate::value::words;

use table::{ROWS, Row};

words! {
    /// The commands that talk to the cluster about workloads.
    ClusterCommand {
        Plan = "plan",
        Diff = "diff",
        Apply = "apply",
        Follow = "follow",
        Status = "status",
        History = "history",
        Undo = "undo",
        Resume = "resume",
        Abort = "abort",
        Restart = "restart",
        Hash = "hash",
        ReleaseFields = "release-fields",
    }
}

impl ClusterCommand {
    /// Returns whether it has a way that leaves the owner's template alone (`--pods-only`), beside one that does not.
    pub fn has_pods_only(self) -> bool {
        matches!(self, Self::Plan | Self::Apply | Self::Undo)
    }
}

words! {
    /// A verb of RBAC, in the order in which a rule lists them.
    AccessVerb {
        Get = "get",
        List = "list",
        Watch = "watch",
        Create = "create",
        Patch = "patch",
        Delete = "delete",
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct AccessResource {
    /// The API group; empty for the core group.
    pub group: &'static str,
    pub plural: &'static str,
    /// Its objects are in no namespace: a Role cannot give it.
    pub cluster_wide: bool,
}

impl AccessResource {
    /// The subresource by which cpu and memory change.
    pub const POD_RESIZE: Self = Self::namespaced("", "pods/resize");
    /// What kruise-daemon restarts containers by.
    pub const RECREATE_REQUESTS: Self = Self::namespaced("apps.kruise.io", "containerrecreaterequests");

    const fn namespaced(group: &'static str, plural: &'static str) -> Self {
        Self { group, plural, cluster_wide: false }
    }

    const fn cluster_wide(group: &'static str, plural: &'static str) -> Self {
        Self { group, plural, cluster_wide: true }
    }

    pub fn of_kind(kind: WorkloadKind) -> Self {
        let spec = kind.spec();
        Self { group: spec.group, plural: spec.plural, cluster_wide: spec.cluster_wide }
    }
}

impl fmt::Display for AccessResource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.group {
            "" => f.write_str(self.plural),
            group => write!(f, "{}.{group}", self.plural),
        }
    }
}

/// Whether a command can do without.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Need {
    Required,
    /// The answer is weaker, or only some flags need it.
    Optional,
}

/// One thing that a caller is allowed to do, and what for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Permission {
    pub verb: AccessVerb,
    pub resource: AccessResource,
    pub need: Need,
    /// What it is needed for, a clause each.
    pub reasons: Vec<&'static str>,
}

impl fmt::Display for Permission {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.verb.word(), self.resource)
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Asked {
    pub command: ClusterCommand,
    pub kinds: Vec<WorkloadKind>,
    /// The owner's template is left alone (`--pods-only`).
    pub pods_only: bool,
}

/// What is about to be done, as far as permissions depend on it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub struct Deed {
    pub pods_only: bool,
    pub resizes: bool,
    /// kruise-daemon is asked to restart containers.
    pub by_request: bool,
}

impl Asked {
    /// Returns what a command cannot do without for one workload.
    pub fn required(command: ClusterCommand, kind: WorkloadKind, deed: Deed) -> Vec<Permission> {
        let asked = Self { command, kinds: vec![kind], pods_only: deed.pods_only };
        let is_of_it = |permission: &Permission| {
            deed.resizes && permission.resource == AccessResource::POD_RESIZE
                || deed.by_request && permission.resource == AccessResource::RECREATE_REQUESTS
        };
        let required = |permission: &Permission| permission.need == Need::Required || is_of_it(permission);
        asked.permissions().into_iter().filter(required).collect()
    }

    pub fn pulls_for(command: ClusterCommand, kind: WorkloadKind) -> Vec<Permission> {
        let asked = Self { command, kinds: vec![kind], pods_only: false };
        let is_of_pulls = |permission: &Permission| {
            matches!(permission.verb, AccessVerb::Create | AccessVerb::Delete)
                && permission.resource == AccessResource::namespaced("", "pods")
        };
        asked.permissions().into_iter().filter(is_of_pulls).collect()
    }

    /// Returns the words after `kubectl inplace rbac` that print a Role with all of that.
    pub fn role(command: ClusterCommand, kind: WorkloadKind, deed: Deed) -> String {
        let mut role = format!("{} {}", command.word(), kind.spec().singular);
        if deed.pods_only && command.has_pods_only() && kind.has_template() {
            role.push_str(" --pods-only");
        }
        if deed.resizes || deed.by_request {
            role.push_str(" --optional");
        }
        role
    }

    fn resources<'a>(&'a self, row: &'a Row) -> impl Iterator<Item = AccessResource> + 'a {
        let kinds = self.kinds.iter().copied().filter(|kind| (row.kinds)(*kind));
        kinds.flat_map(|kind| row.subject.resources(kind))
    }

    /// Returns what is needed, each verb and resource once: what is required first, then by resource in the order in
    /// which the table names it, then by verb.
    pub fn permissions(&self) -> Vec<Permission> {
        // A restart never changes a template.
        let leaves_template = self.pods_only || self.command == ClusterCommand::Restart;
        let is_meant = |row: &&Row| row.pods_only.is_none_or(|pods_only| pods_only == leaves_template);
        let mut found: Vec<Permission> = Vec::new();
        for row in ROWS.iter().filter(|row| row.commands.contains(&self.command)).filter(is_meant) {
            for resource in self.resources(row) {
                for verb in row.verbs {
                    add(&mut found, *verb, resource, row.need, row.reason);
                }
            }
        }
        let mut resources: Vec<AccessResource> = Vec::new();
        for permission in &found {
            if !resources.contains(&permission.resource) {
                resources.push(permission.resource);
            }
        }
        let place = |resource: &AccessResource| resources.iter().position(|known| known == resource);
        found.sort_by_key(|permission| (permission.need, place(&permission.resource), permission.verb));
        found
    }
}

/// If one row requires it, it is required, whatever another says; that row's reason then comes first.
fn add(found: &mut Vec<Permission>, verb: AccessVerb, resource: AccessResource, need: Need, reason: &'static str) {
    let Some(known) = found.iter_mut().find(|known| known.verb == verb && known.resource == resource) else {
        found.push(Permission { verb, resource, need, reasons: vec![reason] });
        return;
    };
    if known.reasons.contains(&reason) {
        known.need = known.need.min(need);
    } else if need < known.need {
        known.need = need;
        known.reasons.insert(0, reason);
    } else {
        known.reasons.push(reason);
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AccessAnswer {
    pub permission: Permission,
    pub allowed: bool,
    /// The server's own words about a refusal; often empty.
    pub message: String,
}

pub fn missing(answers: &[AccessAnswer]) -> Vec<&AccessAnswer> {
    answers.iter().filter(|answer| answer.permission.need == Need::Required && !answer.allowed).collect()
}

/// Rules of one role: the verbs of a resource that are needed alike.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RoleRule {
    pub resource: AccessResource,
    pub need: Need,
    pub verbs: Vec<(AccessVerb, Vec<&'static str>)>,
}

/// Groups permissions, as [`Asked::permissions`] sorts them, into the rules of a role.
pub fn rules(permissions: &[Permission]) -> Vec<RoleRule> {
    let mut rules: Vec<RoleRule> = Vec::new();
    for permission in permissions {
        let verb = (permission.verb, permission.reasons.clone());
        match rules.last_mut() {
            Some(rule) if rule.resource == permission.resource && rule.need == permission.need => rule.verbs.push(verb),
            Some(_) | None => {
                rules.push(RoleRule { resource: permission.resource, need: permission.need, verbs: vec![verb] });
            }
        }
    }
    rules
}
