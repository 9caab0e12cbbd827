//! What each warning says.

use super::Warning;
use crate::k8s::names::ContainerName;
use crate::value::count::{count, pods_that};

impl Warning {
    /// Returns one sentence, without a full stop.
    #[expect(clippy::too_many_lines, reason = "one sentence for each warning")]
    pub fn sentence(&self) -> String {
        match self {
            Self::NoOtherPodServes { pods: 1 } => {
                "the only ready pod of the workload restarts: no other one serves meanwhile".into()
            }
            Self::NoOtherPodServes { pods } => {
                format!("all {pods} ready pods of the workload restart at the same time: no other one serves meanwhile; choose a smaller --max-unavailable")
            }
            Self::ReadFailed { what } => what.clone(),
            Self::TemplateKeepsImage => {
                "the owner's template stays as it is: a new pod (scaling, eviction, a lost node) gets what the template says".into()
            }
            Self::ContainerInjected { container } => {
                format!("container {container} is not in the template; pods made later get what its injector says")
            }
            Self::ContainerFilesLost { container } => {
                format!("container {container} asks for ephemeral-storage: files outside its volumes are lost when it restarts")
            }
            Self::ConfigurationReread { container, sources } => {
                format!("container {container} reads {} again when it restarts", sources.join(", "))
            }
            Self::MetadataReadOnRestart { container, path, restarts: true } => {
                format!("container {container} has {path} in its environment and gets the new value, since it restarts")
            }
            Self::MetadataReadOnRestart { container, path, restarts: false } => {
                format!("init container {container} has {path} in its environment; it has run already and does not see the new value")
            }
            Self::ChecksumChanges { key } => {
                format!("the annotation {key} changes without a restart; it usually stands there to make new pods")
            }
            Self::NoReadinessProbe { container } => {
                format!("container {container} has no readiness probe: traffic may reach it while it is down")
            }
            Self::TrafficWhileDown { services, why, remedy } => {
                let services: Vec<String> = services.iter().map(|service| format!("service/{service}")).collect();
                format!(
                    "{} may send traffic to a container that is down, since the pods cannot be taken out first: {why}; to make it possible, {remedy}",
                    services.join(", ")
                )
            }
            Self::DrainLabelMissing { label, pods } => {
                format!(
                    "an earlier run took label {label} off {} and did not put it back: no Service that selects it sends traffic there until it is",
                    count(*pods, "pod")
                )
            }
            Self::LabelMissing { label, pods } => format!(
                "{} without label {label}, which the template has and a Service selects, so that no traffic reaches {}: {}",
                if pods.len() == 1 { "1 pod is" } else { "several pods are" },
                if pods.len() == 1 { "it" } else { "them" },
                pods.join(", ")
            ),
            Self::DrainGateFalse { gate, pods } => {
                format!(
                    "an earlier run turned readiness gate {gate} off for {} and did not turn it on again: a pod is not ready until it is",
                    count(*pods, "pod")
                )
            }
            Self::StartupProbeUnreliable { container, kubelets } => {
                format!(
                    "kubelet {} may show {container} as ready before its startup probe ran; ready must hold for one period of it",
                    kubelets.join(", ")
                )
            }
            Self::FailedStartNotRetried { container, policy, is_always, restarts_all } => {
                let fails = format!("container {container} has restartPolicy {policy}: if the new image does not start, ");
                let down = "it might stay down until its pod is replaced";
                let all = "all containers of the pod might restart";
                match (is_always, restarts_all) {
                    (true, _) => format!("{fails}{all}"),
                    (false, true) => format!("{fails}{all}, or {down}"),
                    (false, false) => format!("{fails}{down}"),
                }
            }
            Self::RestartInSeries { containers } => {
                let names: Vec<&str> = containers.iter().map(ContainerName::as_str).collect();
                format!("the kubelet stops {} one by one before it starts any of them: their downtimes add up", names.join(", "))
            }
            Self::SlowStop { container, seconds, pre_stop: true } => {
                format!("container {container} has a preStop hook; stopping it may take up to {seconds} s")
            }
            Self::SlowStop { container, seconds, pre_stop: false } => {
                format!("stopping container {container} may take up to {seconds} s (terminationGracePeriodSeconds)")
            }
            Self::RepositoryChanges { container, from, to } => {
                format!("the image of {container} comes from another repository: {from} before, {to} now")
            }
            Self::MutableTag { container, image } => {
                format!("the tag of {image} ({container}) may be pushed again; nodes may then run different content")
            }
            Self::StaleImageStays { container, image } => {
                format!("a node that has {image} ({container}) already does not look for a newer one (imagePullPolicy IfNotPresent)")
            }
            Self::PullNeedsRegistry { container, registry } => {
                format!("{registry} must answer when {container} restarts (imagePullPolicy Always), else it stays down")
            }
            Self::ImageNeverPulled { container, image } => {
                format!("each node must have {image} already (imagePullPolicy Never), else {container} stays down")
            }
            Self::SameDigest { container, image } => {
                format!("{image} is what {container} runs already, under another name: it restarts with the same content")
            }
            Self::RestartInBackoff { container, image, pods, seconds } => {
                format!(
                    "{container} of {} asked for {image} a moment ago: the kubelet holds its start back for about {seconds} s; a CrashLoopBackOff, or an error that names another image, that it shows meanwhile says nothing of the new container",
                    count(*pods, "pod")
                )
            }
            Self::PodsDiffer { container, images } => {
                format!("the pods run different images of {container} now: {}", images.join(", "))
            }
            Self::PodsDrifted { container, template, images, pods, back_to } => {
                let run = pods_that(*pods, "runs", "run");
                let images = images.join(", ");
                match back_to {
                    None => format!(
                        "{run} {images} for {container}, which this change does not touch; the template says {template}"
                    ),
                    Some(back) => format!(
                        "{run} {images} for {container}, and the template says {template}: abort would bring both to {template}, undo to {back}"
                    ),
                }
            }
            Self::RewrittenByAdmission { container, template, made } => {
                format!("rewritten by admission: pods get {made} for {container} in place of {template}, as new pods do")
            }
            Self::PodsResized { what, template, values, pods, to } => {
                let have = pods_that(*pods, "has", "have");
                let (values, template) = (values.join(", "), template.as_deref().unwrap_or("none"));
                let then = match to {
                    None => ", which this change does not touch".to_owned(),
                    Some(to) => format!(", and would get {to}"),
                };
                format!("{have} {what} {values}{then}; the template says {template}")
            }
            Self::PodsMetadataDiffers { what, template, values, pods, to } => {
                let have = pods_that(*pods, "has", "have");
                let template = template.as_deref().unwrap_or("none");
                let then = to.as_ref().map_or("lose it".to_owned(), |to| format!("get {to}"));
                format!("{have} {what} {}, and would {then}; the template says {template}", values.join(", "))
            }
            Self::PodsBelowPartition { container, images, pods, partition, template } => {
                let below = format!("below the partition ({partition})");
                let keep = if *pods == 1 { format!("1 pod {below} keeps") } else { format!("{pods} pods {below} keep") };
                format!("{keep} {} for {container}; only pods from the partition on get the template's {template}", images.join(", "))
            }
            Self::PodsOfOldRevision { pods, current } => {
                format!(
                    "{} of an older revision than {current}: only what is shown here changes in {}",
                    pods_that(*pods, "is", "are"),
                    if *pods == 1 { "it" } else { "them" }
                )
            }
            Self::OrderBlocked { pod, allowed } => {
                format!(
                    "pod/{pod} is not ready, and its turn comes later: it counts as down, and {allowed} may be, so no pod is taken until it is ready"
                )
            }
            Self::DisruptionBudgetAllowsNone { budget, pods, why } => {
                format!(
                    "poddisruptionbudget/{budget} allows none of {} to be down now: {why}; a pod that is ready is taken down only when it allows one",
                    count(*pods, "pod")
                )
            }
            Self::PodsNotScheduled { pod, pods, why } => {
                let pods = pods_are(*pods, pod);
                let why = if why.is_empty() { String::new() } else { format!(" ({why})") };
                format!("{pods} not scheduled{why}: the update cannot be confirmed, nor its time estimated, before a node runs each pod")
            }
            Self::PodsStayUnready { pod, pods, container, why } => {
                let pods = pods_are(*pods, pod);
                format!("{pods} not ready because of container {container} ({why}), which does not change: the update cannot be confirmed there, and comes there last")
            }
            Self::PodsUnready { pod, pods, container, why, ends: true } => format!(
                "{} unstable: container {container}, which does not change, has ended in the last minutes ({why}): unless the update makes it stay, the rollout may wait there until its timeout",
                pods_are(*pods, pod)
            ),
            Self::PodsUnreadyBefore { pod, pods, container, why, ends: true } => format!(
                "{} unstable before the update: container {container}, which it changes, has ended in the last minutes ({why}): a failure that stays is older than the update",
                pods_are(*pods, pod)
            ),
            Self::PodsUnready { pod, pods, container, why, ends: false } => {
                let pods = pods_are(*pods, pod);
                let why = if why.is_empty() { String::new() } else { format!(" ({why})") };
                format!("{pods} not ready because of container {container}{why}, which does not change: unless the update makes it ready, the rollout waits there until its timeout")
            }
            Self::PodsUnreadyBefore { pod, pods, container, why, ends: false } => {
                let pods = pods_are(*pods, pod);
                let why = if why.is_empty() { String::new() } else { format!(" ({why})") };
                format!("{pods} not ready before the update, because of container {container}{why}, which it changes: a failure that stays is older than the update")
            }
            Self::AvailabilityUsedUp { pod, down, allowed } => {
                let first = if pod.is_empty() { String::new() } else { format!(", among them pod/{pod}") };
                format!(
                    "{} down or missing{first}, and {allowed} may be (maxUnavailable): no pod is taken down until there are fewer",
                    pods_that(*down, "is", "are")
                )
            }
            Self::NotPulledFirst { images, message } => {
                format!(
                    "{images} cannot be pulled first, since the server refuses the pods for it: {message}; an image that cannot be pulled shows only once a container has been stopped"
                )
            }
            Self::AutoscalerActive { autoscaler } => {
                format!("horizontalpodautoscaler/{autoscaler} may scale meanwhile; pods that it adds are made from the template")
            }
            Self::VerticalAutoscalerActs { autoscaler, mode } => {
                format!("verticalpodautoscaler/{autoscaler} may set cpu and memory of these pods (updateMode {mode}), and set this back")
            }
            Self::MemoryLimitNotLowered { container, pods } => {
                format!(
                    "container {container} of {} has restarted before, and a kubelet may not lower the memory limit of such a container (\"missing container memory usage\"): the rollout would wait until its timeout",
                    count(*pods, "pod")
                )
            }
            Self::MemoryTiny { path, value, bytes } => {
                let bytes = count(*bytes, "byte");
                format!("{path} would be {value}, which is {bytes}; Mi or Gi may be missing")
            }
            Self::RuntimeSizedAtStart { container, resource, signs } => {
                format!(
                    "what runs in {container} has read {} when it started, and does not notice other {resource} before it restarts",
                    signs.join(", ")
                )
            }
            Self::ManagedByArgoCd { application, images } => managed("Argo CD", "sync", application, images),
            Self::ManagedByFlux { source, images } => managed("Flux", "reconciliation", source, images),
            Self::ManagedByHelm { release, images } => managed("Helm", "upgrade", release, images),
            Self::ImageFieldOwned { container, manager } => {
                format!("the image of {container} is applied by {manager}; its next apply of another value reports a conflict")
            }
            Self::OutsideTemplate { paths } => {
                format!("the manifest also changes {}, which is outside the template and is not touched", paths.join(", "))
            }
            Self::RemovalsUnseen => {
                "the object was never applied: fields that the manifest leaves out are not seen as removed".into()
            }
            Self::HistoryEvicted { name, revision } => {
                format!("revision {revision} (replicaset/{name}) leaves the history at the first step, even if the rollout is rolled back (revisionHistoryLimit 1)")
            }
            Self::OnDeleteLeft { before } => {
                format!("a superseded rollout has left the updateStrategy OnDelete in place of {before}, and this update keeps it; after it, status names the command that puts it back")
            }
            Self::ServerWarning { message } => format!("the server says: {message}"),
            Self::UpdatedByController { limits, paths } => {
                let limits = limits.iter().map(|limit| format!("; {limit}")).collect::<String>();
                let paths = match paths.as_slice() {
                    [] => String::new(),
                    paths => format!("; outside the template, {} changes too", paths.join(", ")),
                };
                format!("its own controller acts on the change once kubectl apply has made it, not kubectl inplace{limits}{paths}")
            }
            Self::WorkloadAdded => "the workload is new: kubectl apply creates it, and there is nothing to do in place".into(),
            Self::WorkloadRemoved => "the workload is removed: the newer manifests do not have it".into(),
        }
    }
}

fn pods_are(pods: usize, one: &str) -> String {
    if pods == 1 { format!("pod/{one} is") } else { format!("{pods} pods, among them pod/{one}, are") }
}

fn managed(tool: &str, next: &str, name: &str, images: &[String]) -> String {
    let name = if name.is_empty() { String::new() } else { format!(" ({name})") };
    let what = if images.is_empty() { "the change".to_owned() } else { images.join(", ") };
    format!("{tool}{name} makes this object: commit {what} at its source, or later pods and the next {next} go back")
}
