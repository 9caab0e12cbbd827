//! What a reason says: one sentence, one hint.

use super::{Reason, admission};
use crate::k8s::names::{ContainerName, WorkloadRef};
use crate::kinds::{Course, HoldsBy, IfResumed};
use crate::value::hint::{Hint, Spoken, inplace, kubectl};
use crate::value::quantity::Quantity;

/// Returns how the API lets a running pod's field change, though this program does not do it.
///
/// Upstream: `ValidatePodUpdate` and `ValidatePodResize` in `pkg/apis/core/validation/validation.go`.
fn changes_otherwise(path: &str) -> Option<&'static str> {
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

impl Reason {
    /// Returns one sentence, without a full stop.
    #[expect(clippy::too_many_lines, reason = "one sentence for each reason")]
    pub fn sentence(&self) -> String {
        match self {
            Self::PermissionMissing { verb, resource, message, .. } if message.is_empty() => {
                format!("you may not {verb} {resource}")
            }
            Self::PermissionMissing { verb, resource, message, .. } => {
                format!("you may not {verb} {resource}: {message}")
            }
            Self::TemplateFieldNotInPlace { path } if changes_otherwise(path).is_some() => {
                format!("{path} is not changed in a running pod by this program")
            }
            Self::TemplateFieldNotInPlace { path } => format!("{path} cannot change in a running pod"),
            Self::VolumeClaimTemplateChanges { path } => format!("{path} cannot change: the claims exist already"),
            Self::ContainerAdded { container, .. } => format!("container {container} would be added"),
            Self::ContainerRemoved { container, .. } => format!("container {container} would be removed"),
            Self::ContainerRenamed { container, to, .. } => format!("container {container} would be renamed to {to}"),
            Self::QosClassChanges { from, to } => {
                format!("the pod's quality of service class would change from {from} to {to}")
            }
            Self::SelectorLabelChanges { key } => format!("the owner selects its pods by the label {key}"),
            Self::TolerationRemoved { toleration } => {
                format!("a running pod cannot lose the toleration {toleration}: it only takes more of them")
            }
            Self::MetadataKeyReserved { path } => format!("{path} belongs to a controller, or is fixed in a pod"),
            Self::MetadataReadByContainer { container, path, .. } => {
                format!(
                    "container {container} has {path} in its environment and does not restart, so it would keep the value from before"
                )
            }
            Self::ResourceRemoved { path } => format!("{path} cannot be removed from a running pod"),
            Self::RequestAboveLimit { path, value, limit } => {
                let whose = if path.starts_with("spec.resources.") { "pod" } else { "container" };
                format!("{path} would be {value}, above the {whose}'s limit of {limit}")
            }
            Self::FractionalMemory { path, value } => {
                format!("{path} would be {value}, which is no whole number of bytes")
            }
            Self::PodRequestTooSmall { path } => {
                format!("{path} would be less than what the containers request together")
            }
            Self::LimitAbovePod { path } => format!("{path} would be above the limit of the pod as a whole"),
            Self::PodLimitRestarts { container, path } => {
                format!(
                    "container {container} has no limit of its own and its resizePolicy restarts it when {path} changes, which this program does not do"
                )
            }
            Self::PodResizeNotSupported { node } => {
                format!("node {node} does not report what its pods have as a whole, so they cannot be resized as a whole")
            }
            Self::ResizeNotSupported { node } => {
                format!("node {node} does not report what its containers have, so they cannot be resized")
            }
            Self::WindowsPod => "cpu and memory of a Windows pod cannot change while it runs".into(),
            Self::RestartRequested => {
                "the annotation of kubectl rollout restart changes: it asks for new pods, not for a new annotation"
                    .into()
            }
            Self::ContainerNotFound { container, known, .. } => {
                let known = known.iter().map(ContainerName::as_str).collect::<Vec<_>>().join(", ");
                format!("there is no container {container}; there are {known}")
            }
            Self::ContainerNotInPod { container, .. } => format!("this pod has no container {container}"),
            Self::ImageMalformed { container, image, why, .. } => {
                format!("the image {image:?} for container {container} is not a valid image reference: {why}")
            }
            Self::ImageWhitespace { container, image, .. } => {
                format!(
                    "the image {image:?} for container {container} has whitespace around it, which a pod does not take"
                )
            }
            Self::DigestUnknown { container, why, .. } => {
                format!("the digest of container {container} is not known: {why}")
            }
            Self::PodTerminating => "the pod is being deleted; its kubelet ignores a changed image".into(),
            Self::PodFinished { phase } => format!("the pod has ended ({phase}); nothing is started in it any more"),
            Self::MirrorPod => {
                "this is the mirror of a static pod; its kubelet runs the file on the node, not this object".into()
            }
            Self::RestartPolicyNotAlways(why) => why.sentence(),
            Self::SidecarNeedsNewerKubelet { container, kubelet } => {
                format!(
                    "the node's kubelet {kubelet} does not restart the sidecar {container} when its image changes (1.32 does)"
                )
            }
            Self::SidecarStartupPending { container } => {
                format!(
                    "the startup probe of the sidecar {container} has not passed; until then the kubelet ignores a changed image"
                )
            }
            Self::OrphanPod => "the selector matches this pod, but the workload does not control it".into(),
            Self::PodOfOldRevision { revision, current } => {
                format!(
                    "the pod was made from revision {revision} of the template, and the manifest changes {current}: it would differ in more than this change"
                )
            }
            Self::NoPods => "there is no pod to update".into(),
            Self::OwnerRollingOut { status } => format!("its controller is replacing pods now: {status}"),
            Self::OwnerNotObserved => "its controller has not observed the latest spec".into(),
            Self::OwnerPaused { if_resumed, leads_in_place: true, by_a_run: false } => {
                format!(
                    "its rollouts are paused, and its pods do not have its template: {}; {}",
                    if_resumed.sentence(),
                    HoldsBy::Paused.by_whom()
                )
            }
            Self::OwnerPaused { if_resumed, leads_in_place: true, by_a_run: true } => {
                format!(
                    "its rollouts are paused, and not every pod has its template, as after a rollout in place whose lock was removed: {}",
                    if_resumed.sentence()
                )
            }
            Self::OwnerPaused { if_resumed: IfResumed::KeepsPods, .. } => {
                "it is paused (spec.paused), so its pods shall stay as they are".into()
            }
            Self::OwnerPaused { if_resumed: IfResumed::ReplacesPods, .. } => {
                format!(
                    "its rollouts are paused, and its pods do not have its template: {}",
                    IfResumed::ReplacesPods.sentence()
                )
            }
            Self::OwnerPaused { if_resumed: IfResumed::NotKnown, .. } => {
                format!(
                    "it is paused (spec.paused), and whether its pods have its template is not known: {}",
                    IfResumed::NotKnown.sentence()
                )
            }
            Self::OwnerIsControlled { kind, name } => {
                format!("{kind} {name} controls it and decides its template: what is changed here would be set back")
            }
            Self::PodIsControlled { kind, name, .. } => {
                format!("{kind} {name} controls this pod: a replacement pod gets what its template says, not this change")
            }
            Self::RolloutHeld { id, who, began, state, run, .. } => {
                let id = if id.is_empty() { String::new() } else { format!(" \"{id}\"") };
                let began = if began.is_empty() { String::new() } else { format!(" {began}") };
                let state = if state.is_empty() { String::new() } else { format!(", {state}") };
                let run = if run.is_empty() { String::new() } else { format!(": {run}") };
                format!("rollout{id} is in progress, started by {who}{began}{state}{run}")
            }
            Self::PodNotFound { pod, .. } => format!("it has no pod {pod}"),
            Self::NoPodOnNode { node, .. } => format!("none of the pods to update is on the node {node}"),
            Self::SubsetNotDurable => {
                "only some of its pods are chosen, and its controller would replace the others once its update strategy is back".into()
            }
            Self::OwnerTerminating => "it is being deleted, and its pods with it".into(),
            Self::NoUnavailabilityAllowed { .. } => {
                "the owner lets no pod be down (maxUnavailable 0), and a restart in place takes one down".into()
            }
            Self::DisruptionBudgetBlocks { budget, why, pods } => {
                let of = if *pods == 1 { "this pod".to_owned() } else { format!("any of {pods} pods") };
                format!("poddisruptionbudget/{budget} never allows {of} to be down: {why}")
            }
            Self::ReplicaSetOfOldRevision { deployment } => {
                format!("it is an old revision of deployment/{deployment}, which has a newer ReplicaSet")
            }
            Self::AdmissionRefused { message, others } => admission::sentence(message, others),
            Self::PullPodRefused { images, message } => {
                format!("the server refuses the pods that pull {images} first (--pre-pull=always): {message}")
            }
            Self::AdmissionRewrites { container, image, .. } => {
                format!("admission (a webhook or a policy) would replace the image of {container} with {image}")
            }
            Self::AdmissionAdds { values } => {
                let said = |(path, value): &(String, Option<String>)| match value {
                    Some(value) => format!("{path} to {value}"),
                    None => format!("{path} to nothing"),
                };
                let values = values.iter().map(said).collect::<Vec<_>>().join(", ");
                format!("the server would also set {values}")
            }
            Self::OwnerFieldImmutable { path } => format!("{path} cannot change once the object exists"),
            Self::ControllerNotInPlace { course: Course::ReplacesPods, because, .. } => {
                format!("its controller replaces the pods, since {because}")
            }
            Self::ControllerNotInPlace { course: Course::RefusesChange, because, .. } => {
                format!("its admission webhook refuses the change, since {because}")
            }
            Self::ControllerNotInPlace { course: Course::NotKnown, because, .. } => {
                format!("what its controller does is not known, since {because}")
            }
            Self::ManifestsNotMergeable { message } => format!("the manifests cannot be merged: {message}"),
            Self::PlanStale { moved, .. } => moved.clone(),
            Self::ServerTooOld { server, needs } => {
                format!("the API server is Kubernetes {server}, and this needs {needs} or newer")
            }
        }
    }

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
            Self::OwnerPaused { leads_in_place: true, by_a_run: true, .. } => return without_lock(workload),
            Self::OwnerPaused { leads_in_place: true, by_a_run: false, .. } => {
                let verb = |verb| of_it(inplace(verb)).and("--take-over");
                return Hint::from("bring that template to the pods, in place (")
                    .command(verb("resume"))
                    .then("), or set it back to what the pods have, which drops what was set in it (")
                    .command(verb("abort"))
                    .then("), or let it roll out (")
                    .command(of_it(kubectl("rollout resume")))
                    .then(")");
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
            Self::RolloutHeld { id, .. } if id.is_empty() => return without_lock(workload),
            Self::RolloutHeld { is_at_work, goes_back, has_hooks, makes_way, .. } => {
                let ways = Ways {
                    is_at_work: *is_at_work,
                    goes_back: *goes_back,
                    has_hooks: *has_hooks,
                    makes_way: *makes_way,
                };
                return ways.hint(workload);
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
            Self::AdmissionRewrites { .. } => {
                "apply the image in that form; if admission changes that as well, it has to be changed first"
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
                "change only what the controller changes in place to keep the pods; kubectl apply lets it replace them"
            }
            Self::ControllerNotInPlace { course: Course::RefusesChange, .. } => {
                "correct it; kubectl apply would be refused, too"
            }
            Self::ControllerNotInPlace { course: Course::NotKnown, .. } => {
                "leave it out of this change, or ask whoever runs the controller what it does"
            }
            Self::ManifestsNotMergeable { .. } => "kubectl apply would refuse it too; correct the manifest",
            Self::PlanStale { .. } => "plan again, and save the new plan",
            Self::ServerTooOld { .. } => {
                "upgrade the control plane, or apply it with kubectl apply, which replaces the pods"
            }
        };
        hint.into()
    }
}

/// What leads out where there is no lock that can be read.
fn without_lock(workload: &WorkloadRef) -> Hint {
    let command = |verb| inplace(verb).of(workload).in_namespace(&workload.namespace).and("--take-over");
    Hint::from("finish the change in place (")
        .command(command("resume"))
        .then("), or restore the template that the pods have (")
        .command(command("abort"))
        .then(")")
}

/// What leads on from a rollout that holds a workload.
struct Ways {
    is_at_work: bool,
    /// It cannot be finished, only rolled back.
    goes_back: bool,
    /// It began with commands around each pod, which are stored nowhere.
    has_hooks: bool,
    /// Another update may take its place.
    makes_way: bool,
}

impl Ways {
    fn hint(&self, workload: &WorkloadRef) -> Hint {
        let of_it = |verb| inplace(verb).of(workload).in_namespace(&workload.namespace);
        let ended = |verb| of_it(verb).and(if self.has_hooks { "--no-hooks" } else { "" });
        let first = match self.is_at_work {
            true => Hint::from("follow it (").command(of_it("follow")).then("); once its run has ended, "),
            false => Hint::default(),
        };
        let both = match self.goes_back {
            true => first.then("roll it back ("),
            false => first.then("resume it (").command(ended("resume")).then("), or roll it back ("),
        };
        let hint = both.command(ended("abort")).then(")");
        let hint = if self.makes_way { hint.then("; or put yours in its place (--take-over)") } else { hint };
        match self.has_hooks {
            true => {
                hint.then("; to keep the commands that it ran around each pod, give them again in place of --no-hooks")
            }
            false => hint,
        }
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
            hint(Reason::OwnerPaused { if_resumed: IfResumed::KeepsPods, leads_in_place: false, by_a_run: false })
                .ends_with(": kubectl rollout resume deployment/web -n shop")
        );
        let full = Reason::AdmissionRefused { message: "exceeded quota: small".into(), others: vec![] };
        assert!(hint(full).ends_with(": kubectl describe resourcequota -n shop"));
        // kubectl knows no rollout of it.
        let paused = Reason::OwnerPaused { if_resumed: IfResumed::KeepsPods, leads_in_place: false, by_a_run: false };
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
