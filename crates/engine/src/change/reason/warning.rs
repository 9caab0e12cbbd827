//! What is worth knowing though it can be done.

use serde::Serialize;

use super::code::{self, findings};
use super::listed;
use crate::k8s::names::{ContainerName, WorkloadRef};
use crate::value::count::{count, pods_that};
use crate::value::hint::{Hint, inplace, quoted};
use crate::value::in_brackets;

findings! {
    /// What is worth knowing though it can be done. `pods` is how many, `pod` one of them.
    Warning, WarningCode;

    NoOtherPodServes { pods: usize } => match pods {
        1 => "the only ready pod of the workload restarts: no other one serves meanwhile".to_owned(),
        _ => format!("all {pods} ready pods of the workload restart at the same time: no other one serves meanwhile; choose a smaller --max-unavailable"),
    };
    /// `what` also says what follows.
    ReadFailed { what: String } => what.clone();
    TemplateKeepsImage =>
        "the owner's template stays as it is: a new pod (scaling, eviction, a lost node) gets what the template says";
    ContainerInjected { container: ContainerName } =>
        format!("container {container} is not in the template; pods made later get what its injector says");
    ContainerFilesLost { container: ContainerName } =>
        format!("container {container} asks for ephemeral-storage: files outside its volumes are lost when it restarts");
    ConfigurationReread { container: ContainerName, sources: Vec<String> } =>
        format!("container {container} reads {} again when it restarts", sources.join(", "));
    MetadataReadOnRestart {
        container: ContainerName,
        path: String,
        /// It restarts in this update; otherwise it is a plain init container, which has run already.
        restarts: bool,
    } => match restarts {
        true => format!("container {container} has {path} in its environment and gets the new value, since it restarts"),
        false => format!("init container {container} has {path} in its environment; it has run already and does not see the new value"),
    };
    ChecksumChanges { key: String } =>
        format!("the annotation {key} changes without a restart; it usually stands there to make new pods");
    NoReadinessProbe { container: ContainerName } =>
        format!("container {container} has no readiness probe: traffic may reach it while it is down");
    /// Neither a label nor a readiness gate takes the pods out of their Services, which list a pod until it is seen to be not ready.
    TrafficWhileDown { services: Vec<String>, why: String, remedy: String } => {
        let services = services.iter().map(|service| format!("service/{service}")).collect::<Vec<_>>().join(", ");
        format!("{services} may send traffic to a container that is down, since the pods cannot be taken out first: {why}; to make it possible, {remedy}")
    };
    DrainLabelMissing { label: String, pods: usize } => format!(
        "an earlier run took label {label} off {} and did not put it back: no Service that selects it sends traffic there until it is",
        count(*pods, "pod")
    );
    /// No record says who removed the label, which is `key=value`.
    LabelMissing { label: String, pods: Vec<String> } => {
        let (are, them) = if pods.len() == 1 { ("1 pod is", "it") } else { ("several pods are", "them") };
        let pods = pods.join(", ");
        format!("{are} without label {label}, which the template has and a Service selects, so that no traffic reaches {them}: {pods}")
    };
    DrainGateFalse { gate: String, pods: usize } => format!(
        "an earlier run turned readiness gate {gate} off for {} and did not turn it on again: a pod is not ready until it is",
        count(*pods, "pod")
    );
    StartupProbeUnreliable { container: ContainerName, kubelets: Vec<String> } => format!(
        "kubelet {} may show {container} as ready before its startup probe ran; ready must hold for one period of it",
        kubelets.join(", ")
    );
    FailedStartNotRetried {
        container: ContainerName,
        /// Its own, as it follows `restartPolicy`.
        policy: String,
        /// The kubelet tries again; all containers of the pod may restart for it.
        is_always: bool,
        /// A rule of it restarts all containers of its pod.
        restarts_all: bool,
    } => {
        let fails = format!("container {container} has restartPolicy {policy}: if the new image does not start, ");
        let down = "it might stay down until its pod is replaced";
        let all = "all containers of the pod might restart";
        match (is_always, restarts_all) {
            (true, _) => format!("{fails}{all}"),
            (false, true) => format!("{fails}{all}, or {down}"),
            (false, false) => format!("{fails}{down}"),
        }
    };
    RestartInSeries { containers: Vec<ContainerName> } =>
        format!("the kubelet stops {} one by one before it starts any of them: their downtimes add up", listed(containers));
    SlowStop { container: ContainerName, seconds: u64, pre_stop: bool } => match pre_stop {
        true => format!("container {container} has a preStop hook; stopping it may take up to {seconds} s"),
        false => format!("stopping container {container} may take up to {seconds} s (terminationGracePeriodSeconds)"),
    };
    RepositoryChanges { container: ContainerName, from: String, to: String } =>
        format!("the image of {container} comes from another repository: {from} before, {to} now");
    MutableTag { container: ContainerName, image: String } =>
        format!("the tag of {image} ({container}) may be pushed again; nodes may then run different content");
    StaleImageStays { container: ContainerName, image: String } =>
        format!("a node that has {image} ({container}) already does not look for a newer one (imagePullPolicy IfNotPresent)");
    PullNeedsRegistry { container: ContainerName, registry: String } =>
        format!("{registry} must answer when {container} restarts (imagePullPolicy Always), else it stays down");
    ImageNeverPulled { container: ContainerName, image: String } =>
        format!("each node must have {image} already (imagePullPolicy Never), else {container} stays down");
    SameDigest { container: ContainerName, image: String } =>
        format!("{image} is what {container} runs already, under another name: it restarts with the same content");
    /// `seconds` is the longest that the start is expected to be held back.
    RestartInBackoff { container: ContainerName, image: String, pods: usize, seconds: u64 } => format!(
        "{container} of {} asked for {image} a moment ago: the kubelet holds its start back for about {seconds} s; a CrashLoopBackOff, or an error that names another image, that it shows meanwhile says nothing of the new container",
        count(*pods, "pod")
    );
    PodsDiffer { container: ContainerName, images: Vec<String> } =>
        format!("the pods run different images of {container} now: {}", images.join(", "));
    PodsDrifted {
        container: ContainerName,
        template: String,
        images: Vec<String>,
        pods: usize,
        /// What `undo` brings template and pods to; none where the change does not touch the container.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        back_to: Option<String>,
    } => {
        let (run, images) = (pods_that(*pods, "runs", "run"), images.join(", "));
        match back_to {
            None => format!("{run} {images} for {container}, which this change does not touch; the template says {template}"),
            Some(back) => format!("{run} {images} for {container}, and the template says {template}: abort would bring both to {template}, undo to {back}"),
        }
    };
    RewrittenByAdmission { container: ContainerName, template: String, made: String } =>
        format!("rewritten by admission: pods get {made} for {container} in place of {template}");
    PodsResized {
        /// Such as `app requests.cpu`.
        what: String,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        template: Option<String>,
        values: Vec<String>,
        pods: usize,
        /// What they get; none where the change does not touch it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        to: Option<String>,
    } => {
        let (have, values) = (pods_that(*pods, "has", "have"), values.join(", "));
        let then = to.as_ref().map_or(", which this change does not touch".to_owned(), |to| format!(", and would get {to}"));
        format!("{have} {what} {values}{then}; the template says {}", template.as_deref().unwrap_or("none"))
    };
    PodsMetadataDiffers {
        /// Such as `label tier`.
        what: String,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        template: Option<String>,
        values: Vec<String>,
        pods: usize,
        /// What they get; none where it is removed.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        to: Option<String>,
    } => {
        let (have, values) = (pods_that(*pods, "has", "have"), values.join(", "));
        let then = to.as_ref().map_or("lose it".to_owned(), |to| format!("get {to}"));
        format!("{have} {what} {values}, and would {then}; the template says {}", template.as_deref().unwrap_or("none"))
    };
    /// `template` is the image that the template has after the change.
    PodsBelowPartition { container: ContainerName, images: Vec<String>, pods: usize, partition: i64, template: String } => {
        let below = format!("below the partition ({partition})");
        let keep = if *pods == 1 { format!("1 pod {below} keeps") } else { format!("{pods} pods {below} keep") };
        format!("{keep} {} for {container}; only pods from the partition on get the template's {template}", images.join(", "))
    };
    PodsOfOldRevision { pods: usize, current: String } => format!(
        "{} of an older revision than {current}: only what is shown here changes in {}",
        pods_that(*pods, "is", "are"),
        if *pods == 1 { "it" } else { "them" }
    );
    OrderBlocked { pod: String, allowed: u32 } => format!(
        "pod/{pod} is not ready, and its turn comes later: it counts as down, and {allowed} may be, so no pod is taken until it is ready"
    );
    DisruptionBudgetAllowsNone { budget: String, pods: usize, why: String } => format!(
        "poddisruptionbudget/{budget} allows none of {} to be down now: {why}; a pod that is ready is taken down only when it allows one",
        count(*pods, "pod")
    );
    /// `why` has the scheduler's words, if there are any.
    PodsNotScheduled { pod: String, pods: usize, why: String } => {
        let (pods, why) = (pods_are(*pods, pod), in_brackets(why));
        format!("{pods} not scheduled{why}: the update cannot be confirmed, nor its time estimated, before a node runs each pod")
    };
    PodsStayUnready { pod: String, pods: usize, container: ContainerName, why: String } => {
        let pods = pods_are(*pods, pod);
        format!("{pods} not ready because of container {container} ({why}), which does not change: the update cannot be confirmed there, and comes there last")
    };
    /// The container may wait for one that changes.
    PodsUnready {
        pod: String,
        pods: usize,
        container: ContainerName,
        /// The kubelet's word; empty where it runs.
        why: String,
        /// It ends again and again, which is said in `why`: for the moment it may run.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        ends: bool,
    } => {
        let pods = pods_are(*pods, pod);
        match ends {
            true => format!("{pods} unstable: container {container}, which does not change, has ended in the last minutes ({why}): unless the update makes it stay, the rollout may wait there until its timeout"),
            false => format!("{pods} not ready because of container {container}{}, which does not change: unless the update makes it ready, the rollout waits there until its timeout", in_brackets(why)),
        }
    };
    PodsUnreadyBefore {
        pod: String,
        pods: usize,
        container: ContainerName,
        /// The kubelet's word; empty where it runs and has not failed.
        why: String,
        /// It ends again and again, which is said in `why`: for the moment it may run.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        ends: bool,
    } => {
        let pods = pods_are(*pods, pod);
        match ends {
            true => format!("{pods} unstable before the update: container {container}, which it changes, has ended in the last minutes ({why}): a failure that stays is older than the update"),
            false => format!("{pods} not ready before the update, because of container {container}{}, which it changes: a failure that stays is older than the update", in_brackets(why)),
        }
    };
    AvailabilityUsedUp {
        /// Empty where pods are missing.
        pod: String,
        down: u32,
        allowed: u32,
    } => {
        let first = if pod.is_empty() { String::new() } else { format!(", among them pod/{pod}") };
        let are = pods_that(*down, "is", "are");
        format!("{are} down or missing{first}, and {allowed} may be (maxUnavailable): no pod is taken down until there are fewer")
    };
    NotPulledFirst { images: String, message: String } => format!(
        "{images} cannot be pulled first, since the server refuses the pods for it: {message}; an image that cannot be pulled shows only once a container has been stopped"
    );
    AutoscalerActive { autoscaler: String } =>
        format!("horizontalpodautoscaler/{autoscaler} may scale meanwhile; pods that it adds are made from the template");
    VerticalAutoscalerActs { autoscaler: String, mode: String } =>
        format!("verticalpodautoscaler/{autoscaler} may set cpu and memory of these pods (updateMode {mode}), and set this back");
    MemoryLimitNotLowered { container: ContainerName, pods: usize } => format!(
        "container {container} of {} has restarted before, and a kubelet may not lower the memory limit of such a container (\"missing container memory usage\"): the rollout would wait until its timeout",
        count(*pods, "pod")
    );
    MemoryTiny { path: String, value: String, bytes: u64 } =>
        format!("{path} would be {value}, which is {}; Mi or Gi may be missing", count(*bytes, "byte"));
    /// `signs` is where the spec shows that the size was read.
    RuntimeSizedAtStart { container: ContainerName, resource: String, signs: Vec<String> } => format!(
        "what runs in {container} has read {} when it started, and does not notice other {resource} before it restarts",
        signs.join(", ")
    );
    /// `images` is what has to be committed; the application is empty where nothing names it, and so is the release below.
    ManagedByArgoCd { application: String, images: Vec<String> } => managed("Argo CD", "sync", application, images);
    /// The namespace is that of the Kustomization or HelmRelease, and below that of the release.
    ManagedByFlux {
        source: String,
        #[serde(default)]
        namespace: String,
        images: Vec<String>,
    } => managed("Flux", "reconciliation", source, images);
    ManagedByHelm {
        release: String,
        #[serde(default)]
        namespace: String,
        images: Vec<String>,
    } => managed("Helm", "upgrade", release, images);
    ForeignFieldManagers { owner: String, managers: Vec<String>, paths: Vec<String> } => {
        let own = if managers.len() == 1 { "owns" } else { "own" };
        format!("{} {own} {}: if the next apply by {owner} changes that, it fails", managers.join(" and "), paths.join(", "))
    };
    ApplyReplaces => "its sync options say Force=true and Replace=true: each sync that changes it deletes it and creates it again, and its pods with it";
    /// `not_read` says why it is not known.
    ConfigurationChanges {
        object: String,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        not_read: Option<String>,
    } => match not_read {
        None => format!("the manifest changes {object} as well, which the pods read: updated before that, they would run with the old one"),
        Some(why) => format!("the manifest has {object} as well, which the pods read, and whether it changes could not be read: {why}"),
    };
    ImageFieldOwned { container: ContainerName, manager: String } =>
        format!("the image of {container} is applied by {manager}; its next apply of another value reports a conflict");
    OutsideTemplate { paths: Vec<String> } =>
        format!("the manifest also changes {}, which is outside the template and is not touched", paths.join(", "));
    RemovalsUnseen => "the object was never applied: fields that the manifest leaves out are not seen as removed";
    HistoryEvicted { name: String, revision: i64 } => format!(
        "revision {revision} (replicaset/{name}) leaves the history at the first step, even if the rollout is rolled back (revisionHistoryLimit 1)"
    );
    OnDeleteLeft { before: String } => format!(
        "a superseded rollout has left its own updateStrategy in place of {before}, and this update keeps it; after it, status names the command that puts it back"
    );
    ServerWarning { message: String } => format!("the server says: {message}");
    /// What its own controller does with the same change: how many pods it updates in place and replaces, and of how many
    /// that is not known, as it rests on a feature gate.
    ItsController { in_place: usize, replaced: usize, not_known: usize, since: String } => {
        let part = |pods: usize, what: &str| (pods > 0).then(|| format!("{what} {}", count(pods, "pod")));
        let parts = [part(*replaced, "replace"), part(*in_place, "update in place"), part(*not_known, "perhaps replace")];
        let parts: Vec<String> = parts.into_iter().flatten().collect();
        let since = if since.is_empty() { String::new() } else { format!(", since {since}") };
        format!("left to its own controller, as after kubectl apply, the change would {}{since}", parts.join(", "))
    };
    UpdatedByController {
        /// Which pods it leaves unchanged, or when it goes on.
        limits: Vec<String>,
        /// Paths outside the template that change too.
        paths: Vec<String>,
    } => {
        let limits = limits.iter().map(|limit| format!("; {limit}")).collect::<String>();
        let paths = match paths.as_slice() {
            [] => String::new(),
            paths => format!("; outside the template, {} changes too", paths.join(", ")),
        };
        format!("its own controller acts on the change once kubectl apply has made it{limits}{paths}")
    };
    /// What the controller of a SidecarSet does otherwise than with every pod alike, a sentence each.
    SidecarSetUpdates { limits: Vec<String> } => {
        let limits: String = limits.iter().map(|limit| format!("; {limit}")).collect();
        format!("its own controller updates the pods, as spec.updateStrategy says{limits}")
    };
    WorkloadAdded => "the workload is new: kubectl apply creates it, and there is nothing to do in place";
    WorkloadRemoved => "the workload is removed: the newer manifests do not have it";
}

const TOOLS: [(WarningCode, &str); 3] = [
    (WarningCode::ManagedByArgoCd, "Argo CD"),
    (WarningCode::ManagedByFlux, "Flux"),
    (WarningCode::ManagedByHelm, "Helm"),
];

impl Warning {
    /// Returns the tool that makes the workload, where that is what it says.
    pub fn tool(&self) -> Option<&'static str> {
        TOOLS.into_iter().find(|(code, _)| *code == self.kind()).map(|(_, tool)| tool)
    }

    /// Returns the commands that keep the workload's tool from failing, or from replacing the pods: at most two, each with what
    /// it is for.
    #[expect(clippy::wildcard_enum_match_arm, reason = "the others have none")]
    pub fn recipe(&self, workload: &WorkloadRef) -> Vec<String> {
        let place =
            |namespace: &str| if namespace.is_empty() { String::new() } else { format!(" -n {}", quoted(namespace)) };
        match self {
            Self::ManagedByArgoCd { application, .. } if !application.is_empty() => {
                let set = format!("argocd app set {} --sync-policy", quoted(application));
                vec![format!("pause its sync: {set} none"), format!("after the merge, go on: {set} automated")]
            }
            Self::ManagedByFlux { source, namespace, .. } => {
                let of = |verb: &str| format!("flux {verb} {}{}", source.replace('/', " "), place(namespace));
                vec![format!("pause it: {}", of("suspend")), format!("after the merge, go on: {}", of("resume"))]
            }
            Self::ManagedByHelm { release, namespace, .. } if !release.is_empty() => {
                let (release, place) = (quoted(release), place(namespace));
                let apply = inplace("apply -f -").in_namespace(namespace);
                let first = Hint::from(format!("first: helm template {release} CHART --is-upgrade{place} | "));
                vec![first.command(apply).to_string(), format!("then: helm upgrade {release} CHART{place}")]
            }
            Self::ForeignFieldManagers { .. } => {
                let release = inplace("release-fields").of(workload).in_namespace(&workload.namespace);
                vec![Hint::from("release them: ").command(release).to_string()]
            }
            _ => Vec::new(),
        }
    }
}

fn pods_are(pods: usize, one: &str) -> String {
    if pods == 1 { format!("pod/{one} is") } else { format!("{pods} pods, among them pod/{one}, are") }
}

fn managed(tool: &str, next: &str, name: &str, images: &[String]) -> String {
    let name = in_brackets(name);
    let what = if images.is_empty() { "the change".to_owned() } else { images.join(", ") };
    format!("{tool}{name} makes this object: commit {what} at its source, or later pods and the next {next} go back")
}
