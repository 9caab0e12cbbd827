//! What the table has to say, field by field, so that a test can hold all of it against a server.

use super::Defaults;
use super::table::{Rule, Type};

/// What is done with a field.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Handling {
    /// It gets a value where it has none.
    FilledIn,
    /// It is left out where it is zero or empty.
    LeftOut,
    /// It is a quantity, or a map of them, and is written in canonical form.
    Canonical,
}

impl Defaults {
    /// Returns every field that [`Defaults::fill`] does something with: the names that lead to it, those of lists standing
    /// for any of their elements.
    pub fn handled(self) -> Vec<(Vec<&'static str>, Handling)> {
        let mut found = Vec::new();
        collect(self.0, &mut Vec::new(), &mut found);
        found
    }
}

fn collect(of: &Type, above: &mut Vec<&'static str>, found: &mut Vec<(Vec<&'static str>, Handling)>) {
    let mut add = |names: &[&'static str], handling| {
        found.push((above.iter().chain(names).copied().collect(), handling));
    };
    for name in of.omitted {
        add(&[name], Handling::LeftOut);
    }
    for (name, _) in of.defaults {
        add(&[name], Handling::FilledIn);
    }
    for rule in of.rules {
        match rule {
            Rule::PullPolicy { policy, .. } => add(&[policy], Handling::FilledIn),
            Rule::EmptyVolume => add(&["emptyDir"], Handling::FilledIn),
            Rule::RollingUpdate | Rule::RollingUpdateUnlessNamed => add(&["rollingUpdate"], Handling::FilledIn),
            Rule::Quantities(names) => names.iter().for_each(|name| add(&[name], Handling::Canonical)),
            Rule::Quantity(name) => add(&[name], Handling::Canonical),
            Rule::ServiceAccount => {
                add(&["serviceAccount"], Handling::FilledIn);
                add(&["serviceAccountName"], Handling::FilledIn);
            }
            Rule::PodOnly => {
                add(&["spec", "enableServiceLinks"], Handling::FilledIn);
                for list in ["containers", "initContainers"] {
                    add(&["spec", list, "resources", "requests"], Handling::FilledIn);
                    add(&["spec", list, "ports", "hostPort"], Handling::FilledIn);
                }
            }
        }
    }
    for (name, of) in of.fields {
        above.push(name);
        collect(of, above, found);
        above.pop();
    }
}
