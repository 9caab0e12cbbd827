//! `--container-order` checked against a plan: it may only name containers that change.

use std::collections::BTreeSet;

use super::{Plan, Verdict, WorkloadPlan};
use crate::k8s::names::ContainerName;
use crate::value::suggest;

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ContainerOrderError {
    #[error("no container is called {name}")]
    Unknown {
        name: ContainerName,
        /// A container that changes and has a similar name.
        suggestion: Option<String>,
        changed: String,
    },
    #[error("container {name} does not change")]
    Unchanged { name: ContainerName, changed: String },
    /// It restarts only because its cpu or memory changes, which the whole pod gets at once.
    #[error("container {name} restarts for its resize, which comes before every image")]
    Resized { name: ContainerName },
    #[error("container {name} is named twice")]
    Twice { name: ContainerName },
}

impl ContainerOrderError {
    pub fn hint(&self) -> String {
        match self {
            Self::Unknown { suggestion: Some(suggestion), .. } => format!("did you mean {suggestion}?"),
            Self::Unknown { changed, .. } | Self::Unchanged { changed, .. } if changed.is_empty() => {
                "name containers whose image changes".into()
            }
            Self::Unknown { changed, .. } | Self::Unchanged { changed, .. } => format!("what changes: {changed}"),
            Self::Resized { .. } => "leave it out of the order".into(),
            Self::Twice { .. } => "name each container once".into(),
        }
    }

    /// Checks an order against the names of containers: those that change, and those that are known besides.
    pub fn check(
        order: &[ContainerName],
        changed: &BTreeSet<&ContainerName>,
        known: &BTreeSet<&ContainerName>,
    ) -> Result<(), Self> {
        let list = || changed.iter().map(|name| name.as_str()).collect::<Vec<_>>().join(", ");
        for (index, name) in order.iter().enumerate() {
            if order.iter().take(index).any(|before| before == name) {
                return Err(Self::Twice { name: name.clone() });
            }
            if changed.contains(name) {
                continue;
            }
            if known.contains(name) {
                return Err(Self::Unchanged { name: name.clone(), changed: list() });
            }
            let suggestion = suggest::closest(name.as_str(), changed.iter().map(|name| name.as_str()));
            let suggestion = suggestion.map(str::to_owned);
            return Err(Self::Unknown { name: name.clone(), suggestion, changed: list() });
        }
        Ok(())
    }
}

impl Plan {
    /// Checks an order of containers against everything that the plan changes; `named` are those that the user has
    /// named to change, which may have the change already. For a plan that cannot be carried out, its own reasons come
    /// first.
    pub fn check_order(
        &self,
        order: &[ContainerName],
        named: &BTreeSet<ContainerName>,
    ) -> Result<(), ContainerOrderError> {
        let is_carried_out = |plan: &WorkloadPlan| plan.verdict != Verdict::NotEligible;
        if !self.workloads.iter().all(is_carried_out) {
            return Ok(());
        }
        let known: BTreeSet<&ContainerName> =
            self.workloads.iter().flat_map(|plan| &plan.containers).map(|plan| &plan.container).collect();
        let images = self.workloads.iter().flat_map(|plan| &plan.containers).filter(|plan| plan.to.is_some());
        let in_pods = self.workloads.iter().flat_map(|plan| &plan.pods).flat_map(|pod| pod.changes.keys());
        let named = named.iter().filter(|name| known.contains(name));
        let mut changed: BTreeSet<&ContainerName> = images.map(|plan| &plan.container).chain(in_pods).collect();
        changed.extend(named);
        if changed.is_empty() {
            // There is nothing to do, and so nothing to order.
            changed.clone_from(&known);
        }
        let containers = self.workloads.iter().flat_map(|plan| &plan.containers);
        let mut resized = containers.filter(|plan| plan.restarts() > 0 && !changed.contains(&plan.container));
        match ContainerOrderError::check(order, &changed, &known) {
            Err(ContainerOrderError::Unchanged { name, .. }) if resized.any(|plan| plan.container == name) => {
                Err(ContainerOrderError::Resized { name })
            }
            checked => checked,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_changes_has_an_order() {
        let names = |names: &[&str]| names.iter().map(|name| ContainerName::from(*name)).collect::<Vec<_>>();
        let (changed, known) = (names(&["proxy", "agent"]), names(&["proxy", "agent", "app"]));
        let checked = |order: &[&str]| {
            let error = ContainerOrderError::check(&names(order), &changed.iter().collect(), &known.iter().collect());
            error.map_err(|error| format!("{error}; {}", error.hint()))
        };
        for (order, reported) in [
            (&["proxy"][..], None),
            (&["agent", "proxy"], None),
            (&["agent", "prox"], Some("no container is called prox; did you mean proxy?")),
            (&["zzz"], Some("no container is called zzz; what changes: agent, proxy")),
            (&["app", "proxy"], Some("container app does not change; what changes: agent, proxy")),
            (&["proxy", "proxy"], Some("container proxy is named twice; name each container once")),
        ] {
            assert_eq!(checked(order).err().as_deref(), reported, "{order:?}");
        }
    }
}
