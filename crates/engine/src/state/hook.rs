//! The user's own commands around each pod: `--before-pod` and `--after-pod`.
//!
//! Here is only what they are, when they run, and how they ended. Nothing here runs anything, and no command is ever
//! written to the cluster: a user who goes on with a rollout brings their own.

use serde::{Deserialize, Serialize};

use crate::k8s::failure::Failure;
use crate::k8s::mask;
use crate::k8s::names::{ContainerName, PodKey, WorkloadRef};
use crate::value::words;

/// The reason of a pod whose command failed.
pub const HOOK_FAILED: &str = "HookFailed";

/// The commands, as they were given.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Hooks {
    /// `--before-pod`: before the pod is drained or patched.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub before_pod: Option<String>,
    /// `--after-pod`: once it is done, and back in its Services.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub after_pod: Option<String>,
}

impl Hooks {
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    pub fn phases(&self) -> impl Iterator<Item = HookPhase> {
        [HookPhase::Before, HookPhase::After].into_iter().filter(|phase| self.command(*phase).is_some())
    }

    pub fn command(&self, phase: HookPhase) -> Option<&str> {
        match phase {
            HookPhase::Before => self.before_pod.as_deref(),
            HookPhase::After => self.after_pod.as_deref(),
        }
    }
}

words! {
    #[derive(Serialize, Deserialize)]
    #[serde(rename_all = "camelCase")]
    HookPhase {
        Before = "before",
        After = "after",
    }
}

impl HookPhase {
    pub fn flag(self) -> &'static str {
        match self {
            Self::Before => "--before-pod",
            Self::After => "--after-pod",
        }
    }

    pub fn flags<'p>(phases: impl IntoIterator<Item = &'p Self>) -> String {
        phases.into_iter().map(|phase| phase.flag()).collect::<Vec<_>>().join(" and ")
    }
}

/// One run of a command that is asked for. The command itself is the goal's.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct HookRun {
    pub phase: HookPhase,
    pub pod: PodKey,
    /// Its node; empty where it has none.
    pub node: String,
    /// Its owner, or the pod itself.
    pub workload: WorkloadRef,
    pub containers: Vec<ContainerName>,
}

impl HookRun {
    /// Returns what is added to the command's environment.
    pub fn environment(&self) -> Vec<(&'static str, String)> {
        let containers: Vec<&str> = self.containers.iter().map(ContainerName::as_str).collect();
        vec![
            ("KUBECTL_INPLACE_PHASE", self.phase.word().to_owned()),
            ("KUBECTL_INPLACE_NAMESPACE", self.pod.namespace.clone()),
            ("KUBECTL_INPLACE_POD", self.pod.name.clone()),
            ("KUBECTL_INPLACE_POD_UID", self.pod.uid.to_string()),
            ("KUBECTL_INPLACE_NODE", self.node.clone()),
            ("KUBECTL_INPLACE_WORKLOAD", self.workload.to_string()),
            ("KUBECTL_INPLACE_CONTAINERS", containers.join(",")),
        ]
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct HookEnd {
    #[serde(flatten)]
    pub how: HookResult,
    /// Its last lines, or why it could not be started.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub message: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", tag = "ended")]
pub enum HookResult {
    /// By itself.
    Exited {
        /// Its exit code; 0 is success.
        #[serde(rename = "exitCode")]
        exit_code: i64,
    },
    Signalled {
        signal: i64,
    },
    NotStarted,
}

impl HookEnd {
    /// Returns the pod's failure; `None` for a success.
    pub fn failure(&self, phase: HookPhase) -> Option<Failure> {
        let flag = phase.flag();
        let (how, exit_code) = match self.how {
            HookResult::Exited { exit_code: 0 } => return None,
            HookResult::Exited { exit_code } => (format!("ended with exit code {exit_code}"), Some(exit_code)),
            HookResult::Signalled { signal } => (format!("was ended by signal {signal}"), None),
            HookResult::NotStarted => ("could not be started".to_owned(), None),
        };
        let untouched = match phase {
            HookPhase::Before => "; the pod was not touched",
            HookPhase::After => "",
        };
        let message = match mask::text(&self.message) {
            said if said.is_empty() => format!("the command of {flag} {how}{untouched}"),
            said => format!("the command of {flag} {how}{untouched}: {said}"),
        };
        Some(Failure { reason: HOOK_FAILED.into(), message, exit_code, ..Failure::default() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kinds::WorkloadKind;

    #[test]
    fn a_failure_says_how_the_command_ended_and_its_last_words() {
        let end = |how, message: &str| HookEnd { how, message: message.into() };
        for (end, phase, message, exit_code) in [
            (
                end(HookResult::Exited { exit_code: 3 }, "no backend / token=abc"),
                HookPhase::Before,
                "the command of --before-pod ended with exit code 3; the pod was not touched: no backend / token=",
                Some(3),
            ),
            (
                end(HookResult::Signalled { signal: 9 }, ""),
                HookPhase::After,
                "the command of --after-pod was ended by signal 9",
                None,
            ),
            (
                end(HookResult::NotStarted, "no sh"),
                HookPhase::After,
                "the command of --after-pod could not be started: no sh",
                None,
            ),
        ] {
            let failure = end.failure(phase).unwrap();
            assert!(failure.message.starts_with(message), "{}", failure.message);
            assert!(!failure.message.contains("abc"), "{}", failure.message);
            assert_eq!((failure.reason.as_str(), failure.exit_code), (HOOK_FAILED, exit_code));
        }
        assert_eq!(end(HookResult::Exited { exit_code: 0 }, "x").failure(HookPhase::Before), None);
    }

    #[test]
    fn its_environment_names_the_pod_and_what_changes() {
        let run = HookRun {
            phase: HookPhase::Before,
            pod: PodKey { namespace: "prod".into(), name: "web-0".into(), uid: "u0".into() },
            node: "node-a".into(),
            workload: WorkloadRef { kind: WorkloadKind::StatefulSet, namespace: "prod".into(), name: "web".into() },
            containers: vec!["app".into(), "side".into()],
        };
        let words: Vec<String> = run.environment().iter().map(|(name, value)| format!("{name}={value}")).collect();
        assert_eq!(
            words,
            [
                "KUBECTL_INPLACE_PHASE=before",
                "KUBECTL_INPLACE_NAMESPACE=prod",
                "KUBECTL_INPLACE_POD=web-0",
                "KUBECTL_INPLACE_POD_UID=u0",
                "KUBECTL_INPLACE_NODE=node-a",
                "KUBECTL_INPLACE_WORKLOAD=statefulset/web",
                "KUBECTL_INPLACE_CONTAINERS=app,side",
            ]
        );
    }
}
