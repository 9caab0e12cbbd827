//! Words other than states: what JSON documents and lines hold, what screens shorten, and
//! Kubernetes' own reasons that are passed on.
//!
//! Every word that a schema lists and that is no state, code or exit code is here: a test of `tests/it/schemas.rs` holds that.

use super::word::{StateWord, word};

const EFFECT: &str = "the effect of a change, in plan, diff and history";
const SKIPPED: &str = "what becomes of an object that a plan did not look at";
const LINE: &str = "the type of a line, in the JSON of a rollout";
const KIND: &str = "the kind of a JSON document";
const VERSION: &str = "the version of JSON documents and lines";
const MODE: &str = "what a run does to the owner, in the JSON of a rollout";
const KEPT: &str = "how the outgoing template is kept, in a plan";
const LIST: &str = "which list of the pod's spec a container is in";
const DIRECTION: &str = "the direction of a rollout, in status and history";
const HOOK: &str = "which hook, in the JSON of a rollout";
const HOOK_END: &str = "how a hook ended, in the JSON of a rollout";
const INSTANCE: &str = "whose log it is, in a failure report";
const KUBELET: &str = "where a kubelet's version is from, in hash";
const COMMAND: &str = "the command of a preview";
const PHASE: &str = "the phase of a pod, in the live view";
const READY: &str = "the reason of a pod's Ready condition, as Kubernetes gives it";
const WAITING: &str = "the reason why a container waits, as the kubelet gives it";

const SEE_CONTAINERS: &str = "see which, and why: kubectl inplace status TYPE/NAME";

/// Every word; one with several meanings is listed several times.
pub const OTHER_WORDS: &[StateWord] = &[
    word("inPlace", EFFECT, "running pods get it, without a restart", ""),
    word("restart", EFFECT, "running pods get it, by a restart of the container in place", ""),
    word("laterPods", EFFECT, "running pods keep what they have, and pods created later get it", ""),
    word("noEffectNow", EFFECT, "a plain init container has ended; its image is used when the pod is next created", ""),
    word("unchanged", EFFECT, "the container stays as it is", ""),
    word("notCompared", SKIPPED, "whether it changes is not known", ""),
    word("added", SKIPPED, "only the newer manifests have it", ""),
    word("removed", SKIPPED, "only the older manifests have it", ""),
    word("changed", SKIPPED, "it differs, but not in the template of its pods, or it is a hook", ""),
    word(
        "podTemplateChanged",
        SKIPPED,
        "the template of its pods differs, and what becomes of them is not known: the exit code is 3",
        "see in its controller's documentation what it does with its pods",
    ),
    word("start", LINE, "a rollout begins: what it is about, and by which rules", ""),
    word("owner", LINE, "a step on the workload's owner was made", ""),
    word("pod", LINE, "a pod has come to another phase", ""),
    word("hookBegins", LINE, "the command of --before-pod or --after-pod was started", ""),
    word("hookEnded", LINE, "the command of --before-pod or --after-pod has ended", ""),
    word("pullBegins", LINE, "images are being pulled to nodes before their pods are patched", ""),
    word("pulled", LINE, "images were pulled to a node", ""),
    word("prePullSkipped", LINE, "an image is not pulled beforehand, and why", ""),
    word("tagDiffersByNode", LINE, "a tag is one image on some nodes and another one on others", ""),
    word("waitsToBegin", LINE, "something has to be over before the first pod is patched", ""),
    word("waitsToEnd", LINE, "every pod is done or was replaced, and the new pods have to be ready", ""),
    word("budgetHolds", LINE, "no further pod is patched for now: too many are unavailable", ""),
    word(
        "disruptionBudgetHolds",
        LINE,
        "no further pod is patched for now: a PodDisruptionBudget does not allow it",
        "",
    ),
    word(
        "budgetsUnreadable",
        LINE,
        "PodDisruptionBudgets cannot be read",
        "see the message; rbac prints the Role that is needed",
    ),
    word("drain", LINE, "a pod is being removed from its Services, or added back", ""),
    word("evidence", LINE, "a container was seen to be another one", ""),
    word("retrying", LINE, "a request failed and is sent again", ""),
    word("notPatched", LINE, "a patch was refused, and is not sent again: the pod is another run's, or left", ""),
    word("watchLost", LINE, "the watch on pods was lost, and is opened again", ""),
    word("watchRestored", LINE, "the watch on pods is open again", ""),
    word("stillWaiting", LINE, "nothing has changed for a while", ""),
    word("stopping", LINE, "no further pod is begun: Ctrl-C or a failure", ""),
    word("failureReport", LINE, "why a pod failed: the reason, the last exit, the end of its log", ""),
    word("summary", LINE, "how the pods of a workload ended", ""),
    word("workload", LINE, "how a workload ended, of several", ""),
    word("end", LINE, "how everything ended", ""),
    word("Plan", KIND, "what plan prints", ""),
    word("RolloutPreview", KIND, "what resume and abort print with --dry-run", ""),
    word("Status", KIND, "what status prints", ""),
    word("History", KIND, "what history prints", ""),
    word("ContainerHashes", KIND, "what hash prints", ""),
    word("AccessCheck", KIND, "what rbac --check prints", ""),
    word("kubectl-inplace.io/v1alpha1", VERSION, "fields may be added to it; readers ignore what they do not know", ""),
    word("v1alpha1", VERSION, "fields may be added to it; readers ignore what they do not know", ""),
    word("durable", MODE, "it changes the template, too, so that pods created later get the change", ""),
    word("podsOnly", MODE, "it leaves the template as it is", ""),
    word("follow", MODE, "it changes nothing", ""),
    word("create", KEPT, "a ReplicaSet without pods is created for it", ""),
    word("swap", KEPT, "a ReplicaSet that exists takes it over", ""),
    word("forget", KEPT, "it is not kept: revisionHistoryLimit is 0", ""),
    word("byController", KEPT, "the workload's controller keeps it", ""),
    word("containers", LIST, "among the containers", ""),
    word("initContainers", LIST, "among the init containers", ""),
    word("forward", DIRECTION, "towards the new images", ""),
    word("back", DIRECTION, "back to what was before: it is being aborted or rolled back", ""),
    word("before", HOOK, "the command of --before-pod", ""),
    word("after", HOOK, "the command of --after-pod", ""),
    word("exited", HOOK_END, "by itself, with an exit code", ""),
    word("signalled", HOOK_END, "by a signal", ""),
    word("notStarted", HOOK_END, "it could not be started", "see the message"),
    word("previous", INSTANCE, "of the instance that ended last", ""),
    word("current", INSTANCE, "of the instance that runs", ""),
    word("given", KUBELET, "from --kubelet-version", ""),
    word("node", KUBELET, "from the pod's node", ""),
    word("assumed", KUBELET, "nobody said it: the newest rule is assumed", "give it with --kubelet-version"),
    word("resume", COMMAND, "what resume would do", ""),
    word("abort", COMMAND, "what abort would do", ""),
    word("stabilizing", PHASE, "it is ready, and must stay so for --min-ready-seconds", ""),
    word("rejoining", PHASE, "it is verified, and is being added back to its Services", ""),
    word(
        "conflict",
        PHASE,
        "another client has changed meanwhile what this changes",
        "see who, in its managedFields, then plan again",
    ),
    word(
        "left",
        PHASE,
        "everything but its resize is done, and that is left to the kubelet (--deferred=leave)",
        "make room on the node",
    ),
    word("ContainersNotReady", READY, "a container of the pod is not ready", SEE_CONTAINERS),
    word("ContainersNotInitialized", READY, "an init container of the pod has not ended well yet", SEE_CONTAINERS),
    word(
        "ReadinessGatesNotReady",
        READY,
        "a condition that the pod lists in its readinessGates is not true",
        "see which: kubectl describe pod",
    ),
    word(
        "UnknownContainerStatuses",
        READY,
        "the kubelet does not know the state of its containers",
        "see its node: kubectl describe node",
    ),
    word("PodCompleted", READY, "every container of the pod has ended well", ""),
    word("PodFailed", READY, "the pod has ended, and a container of it failed", SEE_CONTAINERS),
    word(
        "ContainerCreating",
        WAITING,
        "the kubelet is setting the pod up: volumes, network, image",
        "kubectl describe pod says what it is at",
    ),
    word("PodInitializing", WAITING, "an init container has not ended yet", SEE_CONTAINERS),
];
