//! What to do about a reason.

use super::{Reason, admission};
use crate::k8s::names::WorkloadRef;
use crate::kinds::{Course, IfResumed, lifts_hold};
use crate::value::hint::{Hint, Spoken, inplace, kubectl};
use crate::value::quantity::Quantity;

/// Returns how the API lets a running pod's field change, though this program does not do it.
///
/// Upstream: `ValidatePodUpdate` and `ValidatePodResize` in `pkg/apis/core/validation/validation.go`.
pub(super) fn changes_otherwise(path: &str) -> Option<&'static str> {
    if path.starts_with("spec.tolerations") {
        Some("kubectl patch can change their order in a running pod, which means nothing")
    } else if path.starts_with("spec.schedulingGates") {
        Some("kubectl patch can take gates away from a pod that waits for them")
    } else if path == "spec.activeDeadlineSeconds" {
        Some("kubectl patch can set or shorten it in a running pod")
    } else {
        None
    }
}

/// Not true for a pod that was created by hand: nothing replaces that.
const REPLACES: &str = "apply it with kubectl apply, which replaces the pods";

/// What leads on where a rollout holds a workload.
pub fn see_its_rollout(workload: &WorkloadRef) -> Hint {
    let status = inplace("status").of(workload).in_namespace(&workload.namespace);
    Hint::from("finish that rollout, or take it back; see how: ").command(status)
}

impl Reason {
    /// Returns what to do about it, without a full stop: nothing replaces a pod that was created by hand. A command in
    /// it is for this workload.
    pub fn hint_for(&self, workload: &WorkloadRef) -> Hint {
        if workload.kind.has_template() {
            return self.hint(workload);
        }
        let again = "delete the pod and create it again from the manifest";
        if let Self::TemplateFieldNotInPlace { path } = self {
            let how = changes_otherwise(path).unwrap_or(again);
            return format!("{how}, or leave it out of this change").into();
        }
        self.hint(workload).with(REPLACES, again)
    }

    #[expect(clippy::too_many_lines, reason = "one hint for each reason")]
    fn hint(&self, workload: &WorkloadRef) -> Hint {
        let here = |command: Spoken| command.in_namespace(&workload.namespace);
        let of_it = |command: Spoken| here(command.of(workload));
        let has_rollout = workload.kind.has_kubectl_rollout();
        let hint = match self {
            Self::TemplateFieldNotInPlace { .. }
            | Self::ContainerAdded { .. }
            | Self::ContainerRemoved { .. }
            | Self::ContainerRenamed { .. } => {
                "apply it with kubectl apply, which replaces the pods, or leave it out of this change"
            }
            Self::VolumeClaimTemplateChanges { .. } => {
                "leave it out of this change; only re-creating the StatefulSet changes it"
            }
            Self::QosClassChanges { .. } => {
                "choose resources of the same class, or apply it with kubectl apply, which replaces the pods"
            }
            Self::SelectorLabelChanges { .. } => {
                "leave the label as it is; a workload with other labels is another workload"
            }
            Self::TolerationRemoved { .. } => {
                "keep it beside those that are added, or apply it with kubectl apply, which replaces the pods"
            }
            Self::MetadataKeyReserved { .. } => "leave the key out of the manifest",
            Self::MetadataReadByContainer { container, .. } => {
                return format!("change the image of {container} in the same update, so that it restarts").into();
            }
            Self::ResourceRemoved { .. } => {
                "give it a value instead, or apply it with kubectl apply, which replaces the pods"
            }
            Self::RequestAboveLimit { .. } => {
                "raise the limit, or lower the request, so that the request is not above it"
            }
            Self::FractionalMemory { value, .. } => return whole_bytes(value).into(),
            Self::PodRequestTooSmall { .. } => "raise the pod's request with those of the containers",
            Self::LimitAbovePod { .. } => "raise the pod's limit with it",
            Self::PodLimitRestarts { .. } => {
                "leave the pod's limit as it is, or apply it with kubectl apply, which replaces the pods"
            }
            Self::PodResizeNotSupported { .. } => {
                "cpu and memory of the pod as a whole need Kubernetes 1.36 or newer on the node; apply it with kubectl apply, which replaces the pods"
            }
            Self::ResizeNotSupported { .. } => {
                "resize in place needs Kubernetes 1.33 or newer on the node; apply it with kubectl apply, which replaces the pods"
            }
            Self::WindowsPod => "apply it with kubectl apply, which replaces the pods",
            Self::RestartRequested => "leave the annotation out; for new pods use kubectl rollout restart",
            Self::ContainerNotFound { suggestion: Some(suggestion), .. } => {
                return format!("did you mean {suggestion}?").into();
            }
            Self::ContainerNotFound { suggestion: None, .. } => "name one of them",
            Self::ContainerNotInPod { .. } => {
                "the pod was made from another template, or without its injector; delete it, and its owner re-creates it"
            }
            Self::ImageMalformed { .. } => "write it as registry/repository:tag or @sha256:digest",
            Self::ImageWhitespace { .. } => "remove the whitespace",
            Self::DigestUnknown { .. } => {
                "wait until the container runs; of an image that was built or loaded on its node nothing can be pinned"
            }
            Self::PodTerminating => "wait until it is gone; an owner's replacement has the template's image",
            Self::PodFinished { .. } => "delete it: its owner re-creates it; without an owner, re-create it yourself",
            Self::MirrorPod => "change the manifest on the node",
            Self::RestartPolicyNotAlways(why) => return why.hint(workload),
            Self::SidecarNeedsNewerKubelet { .. } => "replace the pod, or upgrade the node",
            Self::SidecarStartupPending { .. } => "wait until the sidecar has started",
            Self::OrphanPod => "name the pod itself if you mean it",
            Self::PodOfOldRevision { .. } => {
                "finish the owner's rollout first (status says whose it is), or change the image alone: CONTAINER=IMAGE"
            }
            Self::NoPods => {
                "change the template, for new pods, with kubectl apply, kubectl set image or kubectl set resources"
            }
            Self::OwnerRollingOut { .. } if has_rollout => {
                return Hint::from("wait for it: ").command(of_it(kubectl("rollout status")));
            }
            Self::OwnerRollingOut { .. } => "wait for it",
            Self::OwnerNotObserved => "plan again in a moment",
            Self::OwnerPaused { by_a_rollout: true, .. } => {
                return see_its_rollout(workload);
            }
            Self::OwnerPaused { if_resumed: IfResumed::ReplacesPods, .. } if has_rollout => {
                let what = "to keep the pods, set its template back with kubectl edit; or let it roll out: ";
                return Hint::from(what).command(of_it(kubectl("rollout resume")));
            }
            Self::OwnerPaused { .. } if has_rollout => {
                let what = "to change a pod all the same, say pod/NAME --pods-only; or resume its rollouts: ";
                return Hint::from(what).command(of_it(kubectl("rollout resume")));
            }
            Self::OwnerPaused { .. } => {
                "to change a pod all the same, say pod/NAME --pods-only; or resume its rollouts"
            }
            Self::OwnerIsControlled { .. } => "change it there; or change only the pods: --pods-only",
            Self::PodIsControlled { workload: Some(workload), .. } => {
                return format!(
                    "name {workload} to update its template and pods in place, or say --pods-only to update this pod alone"
                )
                .into();
            }
            Self::PodIsControlled { workload: None, .. } => "to update this pod alone, say --pods-only",
            Self::RolloutHeld { makes_way, .. } => {
                let hint = see_its_rollout(workload);
                return if *makes_way { hint.then("; or put this update in its place: --take-over") } else { hint };
            }
            Self::PodNotFound { suggestion: Some(suggestion), .. }
            | Self::NoPodOnNode { suggestion: Some(suggestion), .. } => {
                return format!("did you mean {suggestion}?").into();
            }
            Self::PodNotFound { suggestion: None, .. } => {
                return Hint::from("see its pods: ").command(here(kubectl("get pods")));
            }
            Self::NoPodOnNode { suggestion: None, .. } => {
                return Hint::from("see on which nodes its pods are: ").command(here(kubectl("get pods -o wide")));
            }
            Self::SubsetNotDurable => "choose all pods, or say --pods-only; a first few and then the rest: --canary",
            Self::OwnerTerminating => "wait until it is gone",
            Self::NoUnavailabilityAllowed { .. } => "say how many may be down: --max-unavailable 1",
            Self::DisruptionBudgetBlocks { budget, .. } => {
                let edit = here(kubectl("edit").of(format!("poddisruptionbudget/{budget}")));
                let others = "), run more replicas, or do without it: --disruption-budget=ignore";
                return Hint::from("give the budget room (").command(edit).then(others);
            }
            Self::ReplicaSetOfOldRevision { deployment } => {
                return format!("name deployment/{deployment}").into();
            }
            Self::PermissionMissing { role, namespace, .. } => {
                let role = inplace("rbac").and(role).in_namespace(namespace);
                return Hint::from("ask for the Role that this prints: ").command(role);
            }
            Self::PullPodRefused { .. } => {
                "change what refuses them, or let the kubelet pull once it has stopped a container: leave out --pre-pull=always"
            }
            Self::AdmissionRefused { message, others } => return admission::hint(message, others, here),
            Self::AdmissionRewrites { container, image, .. } => {
                let form = format!(
                    "apply it in that form ({container}={image}); if admission changes that as well, it has to be changed first"
                );
                return form.into();
            }
            Self::AdmissionAdds { .. } => {
                let what =
                    "ask for these values as well, or change what fills them in, such as the namespace's LimitRange: ";
                return Hint::from(what).command(here(kubectl("describe limitrange")));
            }
            Self::OwnerFieldImmutable { .. } => {
                "leave it out of this change; only re-creating the object changes it, and kubectl delete --cascade=orphan keeps its pods"
            }
            Self::ControllerNotInPlace { course: Course::ReplacesPods, .. } => {
                "change only what the controller changes in place to keep the pods; kubectl apply lets it replace them, and a plan of the live object says whether kubectl inplace apply keeps them"
            }
            Self::ControllerNotInPlace { course: Course::RefusesChange, .. } => {
                "correct it; kubectl apply would be refused, too"
            }
            Self::ControllerNotInPlace { course: Course::NotKnown, .. } => {
                "leave it out of this change, or ask whoever runs the controller what it does"
            }
            Self::LeftToController { .. } => {
                let what = "change only the pods (--pods-only); or let its controller do it, and watch the pods: ";
                return Hint::from(what).command(of_it(inplace("follow")));
            }
            Self::SidecarNotUpdated { .. } => {
                "a pod gets it when it is deleted and its owner re-creates it; for new pods alone change the SidecarSet with kubectl"
            }
            Self::UpdateStrategyHolds { path, .. } => {
                let field = path.rsplit('.').next().unwrap_or_default();
                let patch = kubectl("patch").of(workload).and("--type=merge -p").of(lifts_hold(field));
                return Hint::from("let its controller go on: ").command(patch);
            }
            Self::ManifestsNotMergeable { .. } => "kubectl apply would refuse it too; correct the manifest",
            Self::PlanStale { .. } => "plan again, and save the new plan",
            Self::ServerTooOld { .. } => {
                "upgrade the control plane, or apply it with kubectl apply, which replaces the pods"
            }
            Self::KruiseNotInstalled => "leave out --by-request: a restart without it works on any cluster",
        };
        hint.into()
    }
}

/// Says how memory is asked for that is no whole number of bytes: most often `m` was meant to be megabytes.
fn whole_bytes(value: &str) -> String {
    const BYTE: i128 = 1000;
    let unit = |thousandths: i128| if thousandths < BYTE << 20 { BYTE } else { BYTE << 20 };
    let up =
        |thousandths: i128| thousandths.div_euclid(unit(thousandths)).saturating_add(1).checked_mul(unit(thousandths));
    let thousandths = value.parse().ok().and_then(|quantity: Quantity| quantity.thousandths());
    if let Some(number) = value.strip_suffix('m')
        && thousandths.is_some_and(|thousandths| thousandths < BYTE << 20)
    {
        return format!("m stands for thousandths; {number}Mi may be what was meant");
    }
    match thousandths.and_then(up) {
        Some(up) => format!("ask for whole bytes, such as {}", Quantity::of_thousandths(up, true)),
        None => "ask for whole bytes".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::k8s::names::ContainerName;
    use crate::k8s::pod::ContainerList;
    use crate::kinds::WorkloadKind;

    fn of(kind: WorkloadKind) -> WorkloadRef {
        WorkloadRef { kind, namespace: "shop".into(), name: "web".into() }
    }

    #[test]
    fn a_command_of_a_hint_is_of_the_workload() {
        let hint = |reason: Reason| reason.hint_for(&of(WorkloadKind::Deployment)).to_string();
        let rolling = hint(Reason::OwnerRollingOut { status: String::new() });
        assert_eq!(rolling, "wait for it: kubectl rollout status deployment/web -n shop");
        assert!(
            hint(Reason::OwnerPaused { if_resumed: IfResumed::KeepsPods, by_a_rollout: false })
                .ends_with(": kubectl rollout resume deployment/web -n shop")
        );
        let full = Reason::AdmissionRefused { message: "exceeded quota: small".into(), others: vec![] };
        assert!(hint(full).ends_with(": kubectl describe resourcequota -n shop"));
        // kubectl knows no rollout of it.
        let paused = Reason::OwnerPaused { if_resumed: IfResumed::KeepsPods, by_a_rollout: false };
        let paused = paused.hint_for(&of(WorkloadKind::ReplicaSet)).to_string();
        assert_eq!(paused, "to change a pod all the same, say pod/NAME --pods-only; or resume its rollouts");
    }

    fn field(path: &str) -> Reason {
        Reason::TemplateFieldNotInPlace { path: path.into() }
    }

    #[test]
    fn a_field_that_the_api_lets_change_is_not_said_to_be_fixed() {
        for (path, is_fixed, hint) in [
            ("spec.tolerations (order)", false, "change their order"),
            ("spec.activeDeadlineSeconds", false, "set or shorten"),
            ("spec.schedulingGates[wait]", false, "take gates away"),
            ("spec.resources.limits.hugepages-2Mi", true, "create it again"),
            ("spec.resourcesClaims", true, "create it again"),
            ("spec.containers[app].resources.limits.storage", true, "create it again"),
            ("spec.containers[app].resizePolicy", true, "create it again"),
            ("spec.volumes[resources]", true, "create it again"),
            ("spec.nodeSelector", true, "create it again"),
        ] {
            let reason = field(path);
            assert_eq!(reason.sentence().contains("cannot change in a running pod"), is_fixed, "{path}");
            let reported = reason.hint_for(&of(WorkloadKind::Pod)).to_string();
            assert!(reported.contains(hint) && reported.ends_with("leave it out of this change"), "{path}: {reported}");
            let reported = reason.hint_for(&of(WorkloadKind::Deployment)).to_string();
            assert!(reported.contains("which replaces the pods"), "{path}");
        }
    }

    #[test]
    fn a_refusal_names_neither_patch_nor_manifest_because_it_may_be_of_either() {
        let sentence = Reason::AdmissionRefused { message: "no".into(), others: vec![] }.sentence();
        assert_eq!(sentence, "the server refuses the change: no");
    }

    #[test]
    fn nobody_replaces_a_pod_that_was_made_by_hand() {
        let (list, container) = (ContainerList::Containers, ContainerName::from("app"));
        for reason in [
            field("spec.hostNetwork"),
            Reason::ContainerAdded { list, container: container.clone() },
            Reason::ContainerRemoved { list, container: container.clone() },
            Reason::ContainerRenamed { list, container, to: "web".into() },
            Reason::QosClassChanges { from: "Burstable".into(), to: "BestEffort".into() },
            Reason::TolerationRemoved { toleration: "gpu op=Exists".into() },
            Reason::ResourceRemoved { path: "spec.containers[app].resources.limits.cpu".into() },
            Reason::PodLimitRestarts { container: "app".into(), path: "spec.resources.limits.cpu".into() },
            Reason::ResizeNotSupported { node: "n".into() },
            Reason::PodResizeNotSupported { node: "n".into() },
            Reason::WindowsPod,
            Reason::ServerTooOld { server: "1.30".into(), needs: "1.33".into() },
        ] {
            let hint = reason.hint_for(&of(WorkloadKind::Pod)).to_string();
            assert!(hint.contains("delete the pod and create it again") && !hint.contains("replaces"), "{hint}");
            let daemon_set = of(WorkloadKind::DaemonSet);
            assert_eq!(reason.hint_for(&daemon_set), reason.hint(&daemon_set));
        }
        let pod = of(WorkloadKind::Pod);
        assert_eq!(Reason::NoPods.hint_for(&pod), Reason::NoPods.hint(&pod));
    }

    #[test]
    fn memory_that_is_no_whole_number_of_bytes_has_a_neighbour_that_is() {
        for (asked, hint) in [
            ("100m", "m stands for thousandths; 100Mi may be what was meant"),
            ("68719476736m", "ask for whole bytes, such as 66Mi"),
            ("0.0635Gi", "ask for whole bytes, such as 66Mi"),
            ("1.5", "ask for whole bytes, such as 2"),
            ("0.1Gi", "ask for whole bytes, such as 103Mi"),
            ("1e40", "ask for whole bytes"),
        ] {
            assert_eq!(whole_bytes(asked), hint, "{asked}");
        }
    }
}
