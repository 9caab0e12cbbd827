//! Whether the kubelet starts a container again that has ended: by the pod's `restartPolicy`, by the container's own, and by its
//! `restartPolicyRules` (KEP-5307; `ContainerShouldRestart` in pkg/api/v1/pod/util.go).
//!
//! A changed image starts a container once, whatever its policy. If that start fails, the exit code of the container *before*
//! decides, and another image changes nothing (`computePodActions` and `ShouldContainerBeRestarted` in pkg/kubelet).

use std::fmt;

use super::{Container, ContainerList, Pod, RestartRule, Terminated};
use crate::k8s::names::ContainerName;
use crate::value::kubelet_version::KubeletVersion;

/// The first kubelet that goes by a container's own policy where its feature gate is on, and the first where it is on by default.
const IF_GATED: KubeletVersion = KubeletVersion::new(1, 34);
const BY_DEFAULT: KubeletVersion = KubeletVersion::new(1, 35);

/// The first kubelet that restarts all containers of a pod for a rule (KEP-5532).
const RESTARTS_ALL: KubeletVersion = KubeletVersion::new(1, 36);

/// The kubelet's word for the end of a container that it starts again with all the others.
const RESTARTING_ALL: &str = "RestartingAllContainers";

/// What decides over one container on one node.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RestartPolicy<'a> {
    of_pod: &'a str,
    /// The container with a policy of its own, if its kubelet goes by that, or may.
    own: Option<(ContainerList, &'a Container)>,
    is_certain: bool,
    restarts_all: bool,
}

impl<'a> RestartPolicy<'a> {
    /// Finds what decides. `of_pod` is the pod's `restartPolicy`. An unknown kubelet is taken for a present one: the API server
    /// keeps the fields only from the version on in which kubelets go by them.
    pub fn of(of_pod: &'a str, list: ContainerList, container: &'a Container, kubelet: Option<KubeletVersion>) -> Self {
        // Every kubelet keeps a sidecar running.
        let is_sidecar = list == ContainerList::InitContainers && container.is_sidecar();
        let is_from = |first: KubeletVersion| kubelet.is_none_or(|kubelet| kubelet >= first);
        let own = container.restart_policy.is_some() && (is_sidecar || is_from(IF_GATED));
        Self {
            of_pod,
            own: own.then_some((list, container)),
            is_certain: is_sidecar || is_from(BY_DEFAULT),
            restarts_all: is_from(RESTARTS_ALL),
        }
    }

    /// Returns whether a container is started again that ended with this code; `None` where that depends on the kubelet's
    /// feature gates.
    pub fn starts_again(&self, exit_code: i64) -> Option<bool> {
        let of_pod = by(self.of_pod, exit_code).unwrap_or(true);
        let Some((_, container)) = self.own else { return Some(of_pod) };
        let rule = container.restart_policy_rules.iter().find(|rule| rule.fits(exit_code));
        let of_rule = rule.is_some_and(|rule| rule.action == "Restart" || rule.is_for_all() && self.restarts_all);
        let own = of_rule || by(container.restart_policy.as_deref().unwrap_or_default(), exit_code).unwrap_or(of_pod);
        (self.is_certain || own == of_pod).then_some(own)
    }

    pub fn is_always(&self) -> bool {
        EXIT_CODES.into_iter().all(|code| self.starts_again(code) == Some(true))
    }

    pub fn is_never(&self) -> bool {
        EXIT_CODES.into_iter().all(|code| self.starts_again(code) == Some(false))
    }

    /// Returns whether a rule of it may restart all containers of its pod.
    pub fn restarts_all(&self) -> bool {
        let rules = self.own.filter(|_| self.restarts_all).map(|(_, container)| container.restart_policy_rules.iter());
        rules.into_iter().flatten().any(RestartRule::is_for_all)
    }

    /// Returns the container whose own policy counts; `None` where the pod's does.
    pub fn container(&self) -> Option<(ContainerList, ContainerName)> {
        self.own.map(|(list, container)| (list, container.name.clone()))
    }
}

/// Of a process on Linux.
const EXIT_CODES: std::ops::RangeInclusive<i64> = 0..=255;

/// What a policy says of an exit code; `None` of a policy that does not exist.
fn by(policy: &str, exit_code: i64) -> Option<bool> {
    match policy {
        "Always" => Some(true),
        "OnFailure" => Some(exit_code != 0),
        "Never" => Some(false),
        _ => None,
    }
}

/// As it follows `restartPolicy`.
impl fmt::Display for RestartPolicy<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Some((_, container)) = self.own else { return f.write_str(self.of_pod) };
        f.write_str(container.restart_policy.as_deref().unwrap_or_default())?;
        if !container.restart_policy_rules.is_empty() {
            f.write_str(" with restartPolicyRules")?;
        }
        if !self.is_certain {
            write!(f, ", which a kubelet of {IF_GATED} goes by only with the feature gate ContainerRestartRules")?;
        }
        Ok(())
    }
}

/// A container that has ended and stays so.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct StaysDown<'p> {
    pub ended: &'p Terminated,
    /// What keeps the kubelet from starting it again.
    pub policy: RestartPolicy<'p>,
    /// Whether it is known that it is not started again.
    pub is_certain: bool,
}

impl Pod {
    /// Returns what decides over a container once it ends.
    pub fn restart_policy(&self, name: &ContainerName, kubelet: Option<KubeletVersion>) -> Option<RestartPolicy<'_>> {
        let (list, _, container) = self.container(name)?;
        Some(RestartPolicy::of(&self.spec.restart_policy, list, container, kubelet))
    }

    /// Returns how a container of a running pod has ended, if it is to run for the pod's whole life and the kubelet does not
    /// start it again, or may not.
    pub fn stays_down(&self, name: &ContainerName, kubelet: Option<KubeletVersion>) -> Option<StaysDown<'_>> {
        let (list, _, container) = self.container(name)?;
        let ended = self.status_of(name)?.state.terminated.as_ref()?;
        let policy = self.restart_policy(name, kubelet)?;
        let starts = policy.starts_again(ended.exit_code);
        let is_meant = container.is_long_lived(list) && self.is_present() && ended.reason != RESTARTING_ALL;
        (is_meant && starts != Some(true)).then_some(StaysDown { ended, policy, is_certain: starts.is_some() })
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn container(fields: &Value) -> Container {
        let mut container = json!({"name": "app", "image": "a:1"});
        container.as_object_mut().unwrap().extend(fields.as_object().cloned().unwrap());
        serde_json::from_value(container).unwrap()
    }

    fn rule(action: &str, operator: &str, values: &[i64]) -> Value {
        json!({"action": action, "exitCodes": {"operator": operator, "values": values}})
    }

    /// What is expected is what `ContainerShouldRestart` returns (pkg/api/v1/pod/util.go), with the gates of each version.
    #[test]
    fn a_container_is_started_again_as_its_kubelet_does() {
        let (none, own) = (json!({}), |policy: &str| json!({"restartPolicy": policy}));
        let ruled = |policy: &str, rules: &[Value]| json!({"restartPolicy": policy, "restartPolicyRules": rules});
        let restart_42 = [rule("Restart", "In", &[42])];
        let (yes, no, unknown) = (Some(true), Some(false), None);
        let main = ContainerList::Containers;
        let init = ContainerList::InitContainers;
        type Expected = [Option<bool>; 3];
        // For the exit codes 0, 1 and 42.
        let cases: Vec<(&str, ContainerList, Value, Option<u32>, Expected)> = vec![
            ("Always", main, none.clone(), Some(36), [yes; 3]),
            ("", main, none.clone(), Some(36), [yes; 3]),
            ("OnFailure", main, none.clone(), Some(36), [no, yes, yes]),
            ("Never", main, none.clone(), Some(36), [no; 3]),
            ("Always", main, own("Never"), Some(36), [no; 3]),
            ("Always", main, own("OnFailure"), Some(36), [no, yes, yes]),
            ("Never", main, own("Always"), Some(36), [yes; 3]),
            ("Never", main, own("OnFailure"), Some(35), [no, yes, yes]),
            ("OnFailure", main, own("Never"), Some(35), [no; 3]),
            // Who does not know the field goes by the pod's.
            ("Always", main, own("Never"), Some(33), [yes; 3]),
            ("Never", main, own("Always"), Some(33), [no; 3]),
            ("Never", main, ruled("Never", &restart_42), Some(33), [no; 3]),
            // Behind a gate that is off by default.
            ("Always", main, own("Never"), Some(34), [unknown; 3]),
            ("Always", main, own("OnFailure"), Some(34), [unknown, yes, yes]),
            ("Never", main, own("Never"), Some(34), [no; 3]),
            ("Never", main, ruled("Never", &restart_42), Some(34), [no, no, unknown]),
            // One that is not known.
            ("Always", main, own("Never"), None, [no; 3]),
            ("Never", main, own("Always"), None, [yes; 3]),
            ("Always", main, ruled("Never", &restart_42), Some(36), [no, no, yes]),
            ("Always", main, ruled("Never", &[rule("Restart", "NotIn", &[0, 42])]), Some(36), [no, yes, no]),
            ("Always", main, ruled("Never", &[rule("Restart", "NotIn", &[])]), Some(36), [yes; 3]),
            ("Always", main, ruled("OnFailure", &[rule("Restart", "In", &[0])]), Some(36), [yes; 3]),
            ("Always", main, ruled("Never", &[json!({"action": "Restart"})]), Some(36), [no; 3]),
            ("Always", main, ruled("Never", &[rule("Restart", "Like", &[42])]), Some(36), [no; 3]),
            // The first that fits counts, also where the kubelet cannot do it.
            ("Always", main, ruled("Never", &[rule("RestartAllContainers", "In", &[42])]), Some(36), [no, no, yes]),
            ("Always", main, ruled("Never", &[rule("RestartAllContainers", "In", &[42])]), Some(35), [no; 3]),
            (
                "Always",
                main,
                ruled("Never", &[rule("RestartAllContainers", "In", &[42]), rule("Restart", "In", &[42])]),
                Some(35),
                [no; 3],
            ),
            // A rule without a policy does not count.
            ("Never", main, json!({"restartPolicyRules": restart_42}), Some(36), [no; 3]),
            ("Always", main, own("Sometimes"), Some(36), [yes; 3]),
            ("Never", main, own("Sometimes"), Some(36), [no; 3]),
            // A sidecar, and a plain init container.
            ("Never", init, own("Always"), Some(29), [yes; 3]),
            ("Never", init, own("Always"), Some(36), [yes; 3]),
            ("Always", init, own("Never"), Some(36), [no; 3]),
            ("Always", init, own("Never"), Some(33), [yes; 3]),
            ("Never", init, none, Some(36), [no; 3]),
        ];
        for (of_pod, list, fields, minor, expected) in cases {
            let container = container(&fields);
            let kubelet = minor.map(|minor| KubeletVersion::new(1, minor));
            let policy = RestartPolicy::of(of_pod, list, &container, kubelet);
            let found = [0, 1, 42].map(|code| policy.starts_again(code));
            assert_eq!(found, expected, "{of_pod} {list:?} {fields} {minor:?}");
            assert_eq!(policy.is_always(), expected == [yes; 3], "{of_pod} {list:?} {fields} {minor:?}");
            assert_eq!(policy.is_never(), expected == [no; 3], "{of_pod} {list:?} {fields} {minor:?}");
        }
    }

    #[test]
    fn what_decides_is_named() {
        let rules = [rule("RestartAllContainers", "In", &[42])];
        for (fields, minor, expected, of_container, all) in [
            (json!({}), 36, "Always", false, false),
            (json!({"restartPolicy": "Never"}), 36, "Never", true, false),
            (json!({"restartPolicy": "Never"}), 33, "Always", false, false),
            (
                json!({"restartPolicy": "Never", "restartPolicyRules": rules}),
                36,
                "Never with restartPolicyRules",
                true,
                true,
            ),
            (
                json!({"restartPolicy": "Never", "restartPolicyRules": rules}),
                35,
                "Never with restartPolicyRules",
                true,
                false,
            ),
            (
                json!({"restartPolicy": "Never"}),
                34,
                "Never, which a kubelet of 1.34 goes by only with the feature gate ContainerRestartRules",
                true,
                false,
            ),
        ] {
            let container = container(&fields);
            let kubelet = Some(KubeletVersion::new(1, minor));
            let policy = RestartPolicy::of("Always", ContainerList::Containers, &container, kubelet);
            assert_eq!(policy.to_string(), expected, "{fields}");
            assert_eq!((policy.container().is_some(), policy.restarts_all()), (of_container, all), "{fields}");
        }
    }

    #[test]
    fn only_what_has_ended_and_is_to_run_stays_down() {
        let ended = |code: i64, reason: &str| json!({"terminated": {"exitCode": code, "reason": reason}});
        let (never, none) = (json!({"restartPolicy": "Never"}), json!({}));
        for (what, fields, list, phase, state, expected) in [
            ("it has ended", &never, "containers", "Running", ended(0, "Completed"), true),
            ("it runs", &never, "containers", "Running", json!({"running": {}}), false),
            ("it is started again", &none, "containers", "Running", ended(0, "Completed"), false),
            ("with all the others", &never, "containers", "Running", ended(137, RESTARTING_ALL), false),
            ("the whole pod has ended", &never, "containers", "Succeeded", ended(0, "Completed"), false),
            ("a plain init container", &never, "initContainers", "Running", ended(0, "Completed"), false),
        ] {
            let mut spec = json!({"restartPolicy": "Always"});
            spec[list] = json!([container(fields)]);
            let statuses = if list == "containers" { "containerStatuses" } else { "initContainerStatuses" };
            let mut status = json!({"phase": phase});
            status[statuses] =
                json!([{"name": "app", "image": "a:1", "imageID": "", "restartCount": 0, "state": state}]);
            let object = json!({"metadata": {"name": "web-0", "uid": "u"}, "spec": spec, "status": status});
            let pod = Pod::from_object(&object).unwrap();
            assert_eq!(pod.stays_down(&"app".into(), None).is_some(), expected, "{what}");
        }
    }
}
