//! The field manager under which this program writes, as the server notes it in `metadata.managedFields`.

use thiserror::Error;

/// The default of `--field-manager`.
pub const OUR_MANAGER: &str = "inplace-cli";

/// What it was at first: its entries may still be found, and are ours.
const EARLIER_MANAGER: &str = "kubectl-inplace";

/// How the names begin of those whose fields Flux takes over, and removes with its next apply: with them goes the lock of a
/// rollout and its history (`apply` in internal/controller/kustomization_controller.go of fluxcd/kustomize-controller,
/// `matchFieldManager` in ssa/patch.go of fluxcd/pkg).
const TAKEN_OVER: [&str; 3] = ["kubectl", "before-first-apply", KUSTOMIZE_CONTROLLER];

pub const KUSTOMIZE_CONTROLLER: &str = "kustomize-controller";

/// Whose server-side apply takes fields over, whoever owns them (`ApplyResource` in pkg/utils/kube/resource_ops.go of Argo CD's
/// gitops-engine, internal/action/upgrade.go of fluxcd/helm-controller).
const FORCING: [&str; 3] = ["argocd-controller", KUSTOMIZE_CONTROLLER, "helm-controller"];

/// A name that a field manager of this program cannot have.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
pub enum ManagerError {
    #[error("a name is needed")]
    Empty,
    /// It begins like those whose fields Flux takes over.
    #[error(
        "Flux removes what a field manager owns whose name begins with {0}: the lock of a rollout, and its history"
    )]
    TakenOver(&'static str),
}

/// Returns whether a field manager is this program's, where no other name was chosen.
pub fn is_ours(manager: &str) -> bool {
    [OUR_MANAGER, EARLIER_MANAGER].contains(&manager)
}

/// Returns whether two names are of one writer: this program's two names are.
pub fn is_same_writer(one: &str, other: &str) -> bool {
    one == other || is_ours(one) && is_ours(other)
}

/// Returns whether Flux takes over what a field manager owns.
pub fn is_taken_over(manager: &str) -> bool {
    TAKEN_OVER.into_iter().any(|begin| manager.starts_with(begin))
}

/// Returns whether a field manager's server-side apply knows no conflict.
pub fn forces_conflicts(manager: &str) -> bool {
    FORCING.contains(&manager)
}

/// Reads the name that a user has chosen; what is written under some would not last.
pub fn read(name: &str) -> Result<String, ManagerError> {
    // The server would take the program's own name, which begins with kubectl.
    if name.is_empty() {
        return Err(ManagerError::Empty);
    }
    match TAKEN_OVER.into_iter().find(|begin| name.starts_with(begin)) {
        Some(begin) => Err(ManagerError::TakenOver(begin)),
        None => Ok(name.to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_flux_would_remove_is_written_under_no_name() {
        for name in [OUR_MANAGER, "ci", "my-kubectl"] {
            assert_eq!(read(name), Ok(name.to_owned()));
        }
        for (name, begin) in [
            (EARLIER_MANAGER, "kubectl"),
            ("kubectl", "kubectl"),
            ("kubectl-edit", "kubectl"),
            ("before-first-apply", "before-first-apply"),
            ("kustomize-controller", "kustomize-controller"),
        ] {
            assert_eq!(read(name), Err(ManagerError::TakenOver(begin)));
        }
        assert_eq!(read(""), Err(ManagerError::Empty));
    }

    #[test]
    fn both_names_of_this_program_are_one_writer() {
        assert!(is_same_writer(OUR_MANAGER, EARLIER_MANAGER) && is_same_writer("ci", "ci"));
        assert!(!is_same_writer("ci", OUR_MANAGER) && !is_same_writer("kubectl-edit", EARLIER_MANAGER));
    }
}
