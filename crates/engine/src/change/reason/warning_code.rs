//! The codes of warnings, and what they mean at length.

use super::code::codes;

codes! {
    /// The code of a [`Warning`](super::Warning).
    WarningCode {
        TemplateKeepsImage {
            summary: "the owner's template stays as it is",
            meaning: "Only the pods change. A pod made later (scaling, eviction, a lost node) is made from the owner's template, which still says what it said before; and the owner's next rollout replaces all of them.",
            why: "Controllers never compare running pods with the template; they only make new ones from it (pkg/controller/replicaset, statefulset, daemon).",
            remedy: "Put the same image into the template when it suits, or see to it that nothing makes pods until then.",
        }
        ContainerInjected {
            summary: "the container is in the pods and not in the template",
            meaning: "Something adds the container when a pod is made. It is changed in the pods that run; later pods get what the injector says.",
            why: "Mutating webhooks change the pod, never its owner's template.",
            remedy: "Change the injector's configuration as well, so that later pods are the same.",
        }
        ContainerFilesLost {
            summary: "the container may keep files of its own, which are lost",
            meaning: "The container asks for ephemeral-storage, so that it probably writes into its own file system. That is new after the restart; volumes, emptyDir too, stay.",
            why: "A restarted container is another container with a fresh writable layer; only the pod and its volumes stay.",
            remedy: "If the files matter, keep them in a volume.",
        }
        ConfigurationReread {
            summary: "the restart reads ConfigMaps or Secrets again",
            meaning: "The container takes environment variables from ConfigMaps or Secrets. If these have changed since it started, the restart brings the new values together with the new image, or fails where a key is missing.",
            why: "The environment is computed at every start of a container (makeEnvironmentVariables in pkg/kubelet/kubelet_pods.go).",
            remedy: "Look at what has changed in them: kubectl get configmap NAME -o yaml.",
        }
        MetadataReadOnRestart {
            summary: "a container reads a changed label or annotation when it restarts",
            meaning: "The container has an environment variable from this label or annotation. It restarts in the same update and gets the new value; a plain init container has run already and does not see it.",
            why: "Environment variables are computed when a container is created (podFieldSelectorRuntimeValue in pkg/kubelet/kubelet_pods.go).",
            remedy: "Nothing, if that is what you want.",
        }
        ChecksumChanges {
            summary: "an annotation changes that usually stands there to make new pods",
            meaning: "Annotations such as checksum/config carry the hash of a ConfigMap or Secret, so that a changed configuration replaces the pods. In place, the annotation changes and nothing restarts.",
            why: "Such an annotation has no meaning of its own: it only makes the template another one, so that the owner's controller replaces the pods.",
            remedy: "If the pods are to read their configuration again, roll it out with kubectl apply, or change the image of the container that reads it in the same update.",
        }
        NoOtherPodServes {
            summary: "no other pod of the workload serves while its pods restart",
            meaning: "All pods of the workload that are ready restart at the same time, so no other pod takes their requests. What the stopped containers serve is down meanwhile. With one replica that is so for every restart in place. With several it is so if as many pods may be unavailable as there are, and --min-ready-seconds 0 lets the first pod restart together with the others.",
            why: "A container is stopped before the new one starts, and there is no surge in place. The workload's own rollout can be milder: the default maxUnavailable of a Deployment, 25%, is 0 for up to three replicas, so that it creates the new pod first (ResolveFenceposts in pkg/controller/deployment/util). A rollout in place always restarts at least one pod at a time.",
            remedy: "If the application can run more than once, add a replica first: kubectl scale. With several replicas, choose a smaller --max-unavailable. Otherwise choose a time when the downtime does no harm. Of a pod that is named by itself (pod/NAME) it is not known which others serve: the plan says nothing.",
        }
        NoReadinessProbe {
            summary: "a container that serves traffic restarts without a readiness probe",
            meaning: "A Service sends traffic to the container, and the pod is not taken out of it first: it goes on sending while the container is down, and the container counts as ready as soon as it runs. The first pod of a rollout is watched a little longer.",
            why: "The kubelet publishes no NotReady for a restart that it makes itself (kubernetes#91667); only a readiness probe turns the pod unready while the container is down. A container serves a Service if it declares the Service's target port; where none does, the pod's first container is taken for it. Between two manifests, where no Service is known, one that declares a port.",
            remedy: "Give the container a readiness probe, or --min-ready-seconds a value.",
        }
        TrafficWhileDown {
            summary: "pods cannot be taken out of their Services first",
            meaning: "A Service selects the pods only by labels that something else needs as well, so that none can be taken off for the time of a restart, and the pods have no readiness gate that could be turned off instead: one whose condition is True, and was written by kubectl alone. Traffic reaches the pod until it is seen to be not ready, and fails meanwhile.",
            why: "A Service lists a pod while the pod carries every label of its selector and is ready; a pod that loses a label of its owner's selector is replaced, and other selectors (PodDisruptionBudgets, NetworkPolicies, other owners) would lose sight of it. A gate that a controller sets would be set again at any time.",
            remedy: "Add a label that nothing else selects to the pod template, and, once every pod has it, to the Services' selectors. Or give new pods a readiness gate of their own, and set its condition to True: kubectl patch pod NAME --subresource=status.",
        }
        DrainLabelMissing {
            summary: "an earlier run has left pods outside their Services",
            meaning: "A run that took a label off pods, so that no traffic reached them while they restarted, was killed before it could put the label back. The pods' annotation kubectl-inplace.io/update says which label it was.",
            why: "What was removed is recorded on the pod in the same patch, so that any later run can restore it.",
            remedy: "kubectl inplace resume, abort, or apply the same again: each puts the label back.",
        }
        LabelMissing {
            summary: "a pod lacks a label of the template that a Service selects",
            meaning: "The template gives its pods a label, a Service selects it, and a pod does not have it: the Service sends no traffic there. Somebody takes a pod out on purpose that way; a run leaves it so whose note on the pod (the annotation kubectl-inplace.io/update) was removed by another client.",
            why: "Without the note it is not known whose doing it was, so nothing is restored by itself.",
            remedy: "If nobody took the pod out on purpose: kubectl label pod NAME KEY=VALUE.",
        }
        DrainGateFalse {
            summary: "an earlier run has left pods not ready, by their readiness gate",
            meaning: "A run that turned a readiness gate of pods off, so that no traffic reached them while they restarted, was killed before it could turn it on again. The pods' annotation kubectl-inplace.io/update says which gate it was, and what its condition said before.",
            why: "The gate is recorded on the pod before it is set to False, so that any later run can set it to True again.",
            remedy: "kubectl inplace resume, abort, or apply the same again: each turns the gate on.",
        }
        StartupProbeUnreliable {
            summary: "these kubelets show a restarted container as started before its startup probe ran",
            meaning: "The container has a startup probe, and its node's kubelet is 1.35, 1.36 or 1.37. Ready may be shown too early; it must therefore hold for one period of the probe before the pod counts as done.",
            why: "The kubelet copies `started` from the container before (kubernetes#141155).",
            remedy: "Nothing; --min-ready-seconds overrides how long ready must hold.",
        }
        FailedStartNotRetried {
            summary: "if the new image does not start, the kubelet might not try again",
            meaning: "The container has a restartPolicy of its own, Never or OnFailure, or restartPolicyRules (Kubernetes 1.35 and newer). Its new image is started once, whatever they say. If that start fails, the exit code of the container before decides whether the kubelet tries again. If it does not, no other image and no rollback starts the container: only replacing the pod does. The rule RestartAllContainers (1.36) restarts the other containers of the pod as well.",
            why: "The kubelet stops the old container first and pulls second; a container that has ended is judged by its policy and not by its image (computePodActions and ShouldContainerBeRestarted in pkg/kubelet, KEP-5307 and KEP-5532).",
            remedy: "--pre-pull=always finds an image that cannot be pulled before the container stops. After a failed start, roll back; then delete the pod, and its controller re-creates it: kubectl delete pod NAME.",
        }
        RestartInSeries {
            summary: "several containers of a pod restart one after the other",
            meaning: "The kubelet stops the changed containers one by one, each with its preStop hook and grace period, and starts the first only when all have stopped.",
            why: "One sync of a pod kills in series, then starts (SyncPod in pkg/kubelet/kuberuntime/kuberuntime_manager.go).",
            remedy: "If one of them must not be down for so long, change them in two updates.",
        }
        SlowStop {
            summary: "stopping the container may take long",
            meaning: "The container has a preStop hook or a long grace period. Until it has stopped, nothing else happens in its pod, and the next pod waits.",
            why: "The kubelet waits for preStop and then for the process, up to terminationGracePeriodSeconds in all, before it starts the new container (killContainer in pkg/kubelet/kuberuntime).",
            remedy: "Give it time with --timeout, or take more pods at once with --max-unavailable.",
        }
        RepositoryChanges {
            summary: "the image comes from another registry or repository",
            meaning: "Not only tag or digest change, but where the image comes from. Patching pods to another image is also a known attack.",
            why: "Whoever may patch pods may run any image that admission lets through.",
            remedy: "Make sure that the repository is yours, and that the pods' pull secrets reach it.",
        }
        MutableTag {
            summary: "the tag is one that is often pushed again",
            meaning: "The same tag may name other content on another node or another day.",
            why: "A tag is a name that the registry resolves at each pull; only a digest always names the same content.",
            remedy: "Use a tag of one release, or a digest: repository:tag@sha256:...",
        }
        StaleImageStays {
            summary: "a node that has an image under this tag keeps it",
            meaning: "The tag is latest, and the pod's imagePullPolicy is IfNotPresent: a node that once pulled this tag starts what it has, however old.",
            why: "imagePullPolicy is given its default when the pod is made, by the tag of that time, and cannot be changed later (SetDefaults_Container in pkg/apis/core/v1/defaults.go).",
            remedy: "Use a tag of one release, or a digest.",
        }
        PullNeedsRegistry {
            summary: "the registry is asked at every restart",
            meaning: "The container's imagePullPolicy is Always. The old container is stopped before the registry is asked: if it does not answer, the container stays down.",
            why: "The kubelet kills first and pulls second (SyncPod), and with Always it asks the registry even for an image that the node has (EnsureImageExists in pkg/kubelet/images).",
            remedy: "Make sure that the nodes reach the registry now.",
        }
        ImageNeverPulled {
            summary: "the node must have the image already",
            meaning: "The container's imagePullPolicy is Never. On a node without the image it is stopped and does not come back (ErrImageNeverPull).",
            why: "imagePullPolicy cannot be changed in a pod, and the kubelet looks for the image only after it has stopped the old container.",
            remedy: "Load the image onto the nodes first.",
        }
        SameDigest {
            summary: "the new image is the one that runs, under another name",
            meaning: "The digest that runs is that of the new image. The container restarts all the same, with the same content.",
            why: "The kubelet compares the image's text (its container hash), not its digest.",
            remedy: "Nothing, if a restart is wanted.",
        }
        RestartInBackoff {
            summary: "the kubelet holds back a container that gets an image again which it just had",
            meaning: "The container asked for the same image text a moment ago, and for another one since, as happens when an update goes to and fro. The kubelet waits before it starts it. What it shows meanwhile, CrashLoopBackOff or a pull error (ErrImagePull, ImagePullBackOff) that names the image before, says nothing of the new container; a pull error that names the new image does.",
            why: "The kubelet's back-off goes by pod, container and image text (GetBackoffKey, 1.34 and later), whatever ended the container before. It is ten seconds, doubles with each further start of the same text, up to five minutes, and is forgotten after ten; it holds where the container that ended last did so within that time (doBackOff in pkg/kubelet/kuberuntime). restart writes two texts in turn, and so meets it when it is used again and again.",
            remedy: "Wait for as long before the next update, or accept that the container is down for so long.",
        }
        PodsDiffer {
            summary: "the pods run different images now",
            meaning: "The pods of the workload do not all have the same image for the container before this update.",
            why: "An earlier update in place, or one by hand, reached some of them only; or the owner keeps some at an older revision.",
            remedy: "Nothing: each pod is taken from where it is. To roll back, each has its own command.",
        }
        PodsDrifted {
            summary: "pods run another image than the owner's template says",
            meaning: "A container has another image in some pods than in the owner's template. Where this change touches it, both get the new one: undo brings both back to what the pods ran, where they all ran the same, and abort to what the template said.",
            why: "An earlier update in place, or one by hand, left the template alone. Pods made later get the template's. Where you may create pods, the server is asked what it makes of the template: what admission changes is not counted here.",
            remedy: "Put the image that you want into the template, or bring the pods back to it.",
        }
        RewrittenByAdmission {
            summary: "admission makes another image of the template's new one",
            meaning: "A webhook or a policy replaces this image in pods that are created, as a mirror of registries does. The template gets the image that you ask for, and the pods what the server makes of it: what a new pod would have. So it is on the way back: the template gets its own image, the pods what the server makes of that.",
            why: "Mutating admission acts on pods, and not on the templates of their owners.",
            remedy: "Nothing, if the policy is meant.",
        }
        PodsResized {
            summary: "pods have other cpu or memory than the owner's template says",
            meaning: "Somebody has resized these pods alone (it may still wait for room on the node), or a LimitRange or a webhook gave them other values when they were made. Where this change touches the value, they get the new one like all others, and undo brings them to the template's, not to what they had.",
            why: "A resize, and whatever completes a pod when it is made, writes the pod and not its owner.",
            remedy: "Find out who sets it, such as a VerticalPodAutoscaler or a user, before you overwrite it; put the value that you want into the template.",
        }
        PodsMetadataDiffers {
            summary: "pods have another label or annotation value than the owner's template says",
            meaning: "Somebody has set this label or annotation in these pods alone, or removed it. They get the new value like all others, and undo brings them to the template's, not to what they had.",
            why: "kubectl label, kubectl annotate and controllers write the pod and not its owner.",
            remedy: "Find out who sets it before you overwrite it; put the value that you want into the template.",
        }
        PodsBelowPartition {
            summary: "pods below the StatefulSet's partition keep another image",
            meaning: "The template gets the image, and so do the pods from spec.updateStrategy.rollingUpdate.partition on, counted from the first ordinal. Pods below it keep the image that they have, and one that is created again there is made of the revision before.",
            why: "The StatefulSet controller makes pods below the partition of the current revision, not of the update revision (newVersionedStatefulSetPod in pkg/controller/statefulset).",
            remedy: "Lower the partition before you apply the image, and these pods are updated in place too; --pods-only patches them without the template. If it is lowered afterwards, the controller replaces them.",
        }
        PodsOfOldRevision {
            summary: "some pods are of an older revision of the owner's template",
            meaning: "These pods were made from an older template. The change is made in them all the same; whatever else differs between the two templates stays as it is.",
            why: "A partition, OnDelete or an unfinished rollout leaves pods at an older revision (labels pod-template-hash and controller-revision-hash).",
            remedy: "Nothing, if they are to get the image as well.",
        }
        OrderBlocked {
            summary: "a pod that is not ready keeps all others waiting",
            meaning: "The pods are taken strictly by ordinal, as many are down already as may be, and the first in the order is not among them. Nothing is taken until one is ready again, or the time is over.",
            why: "An OrderedReady StatefulSet is updated by ordinal alone (pkg/controller/statefulset/stateful_set_control.go), and a pod that is not ready counts as down.",
            remedy: "Heal the pod first, or allow more with --max-unavailable.",
        }
        DisruptionBudgetAllowsNone {
            summary: "a PodDisruptionBudget allows no pod to be down now",
            meaning: "The budget covers pods of this update and allows no disruption at the moment. The server would not stop a restart in place; this program waits until the budget allows one, before it writes anything, unless --disruption-budget=ignore is given.",
            why: "Only evictions ask a budget (pkg/registry/core/pod/storage/eviction.go); a patch of a pod does not.",
            remedy: "Find out why it allows none, often because pods are not ready: kubectl get poddisruptionbudgets.",
        }
        PodsNotScheduled {
            summary: "pods of the update are not scheduled",
            meaning: "No node runs these pods yet. They take the new image at once, but there is no container that could show that it works, so that the rollout waits for them until its timeout: where such a pod goes first and the template changes as well, before anything is written. They count as down.",
            why: "A kubelet starts containers only in pods that are bound to its node; the scheduler tries again whenever something changes (pkg/scheduler).",
            remedy: "See why: kubectl describe pod NAME. To update the others meanwhile, allow more pods to be down with --max-unavailable, or choose them with --pods-only --pods.",
        }
        PodsStayUnready {
            summary: "pods of the update stay not ready, whatever it does",
            meaning: "A container of these pods that the update does not change cannot be made: its image cannot be pulled, or its configuration is missing. Such a pod is no proof of the update, so it is taken last, and the rollout waits for it until its timeout; where all pods are so, it waits before the template is written. They count as down.",
            why: "A pod is ready when all of its containers are; what a container of its own waits for, no other container heals.",
            remedy: "Change that container in the same command, or heal it first. To update the others meanwhile, allow more pods to be down with --max-unavailable.",
        }
        PodsUnready {
            summary: "pods of the update are not ready, because of a container that it does not change",
            meaning: "A container of these pods that the update does not change is not ready, or ends again and again and is ready for the moment at most. It may be waiting for one that changes, so such a pod is updated first, which takes nothing down. If it does not become ready by that, the rollout waits for it until its timeout, and comes to no other pod unless more may be down.",
            why: "A pod is ready when all of its containers are, and an update counts as done in a pod only once the pod is ready.",
            remedy: "Heal that container first, or change it in the same command. To update the others all the same, allow more pods to be down with --max-unavailable. abort takes the update back whether the pod becomes ready or not.",
        }
        PodsUnreadyBefore {
            summary: "pods of the update are not ready before it, because of a container that it changes",
            meaning: "A container that the update changes is not ready now: it crashes, its image cannot be pulled, or its readiness probe does not pass. One that crashes again and again may run, and be ready, for the moment. The update may heal it. Where it does not, the failure that is seen after the update may have been there before it.",
            why: "The kubelet's status of the container, as it was read for the plan.",
            remedy: "Where the update is meant to heal it, nothing. Else look at `kubectl inplace status` and the container's log first.",
        }
        AvailabilityUsedUp {
            summary: "no further pod may be down now",
            meaning: "Pods that this update does not touch are not ready, or are missing, and count as down. The rollout waits for them before it writes anything, and gives up after its timeout.",
            why: "A restart in place takes a pod down; no more pods are down at once than the owner's maxUnavailable, or --max-unavailable, allows.",
            remedy: "Heal these pods first, or allow more with --max-unavailable.",
        }
        NotPulledFirst {
            summary: "the API server refuses the pods that would pull images first",
            meaning: "Before any container is stopped, a pod on each node that lacks a new image makes it pull the image. A dry run of such a pod was refused, so the kubelet pulls only once it has stopped the container. The words are the server's, a quota's, a policy's or a webhook's.",
            why: "A pod that pulls passes admission like any other: PodSecurity, LimitRanges, ResourceQuotas, policies and webhooks. It asks for 50m CPU and 32Mi memory, as requests and as limits; where that is refused, for nothing, and gets what a LimitRange fills in. A kubelet kills first and pulls second.",
            remedy: "Change what the words name for the time of the update, or make sure that the nodes have the image: then nothing is pulled.",
        }
        AutoscalerActive {
            summary: "a HorizontalPodAutoscaler may make pods meanwhile",
            meaning: "The autoscaler may scale the workload at any time. Pods that it makes come from the template: with --pods-only they have the image from before. Where it aims at a percentage of what the pods request, other requests make another percentage of the same use: with twice as much what was 70 % is 35 %, and it may take pods away.",
            why: "Scaling makes pods from the owner's template, which an update of pods alone does not change.",
            remedy: "Nothing; with --pods-only, plan again after a scale-up. Where requests change, change its target together with them.",
        }
        VerticalAutoscalerActs {
            summary: "a VerticalPodAutoscaler may write cpu and memory of these pods",
            meaning: "The autoscaler sets the requests of the workload's pods, of those that run or of those that are made, unless its policy leaves the container alone. What is changed here it may set back, by a resize or by evicting a pod.",
            why: "Its updater acts in the modes Auto, Recreate and InPlaceOrRecreate, and its webhook sets what pods are made with in all modes but Off (kubernetes/autoscaler, vertical-pod-autoscaler).",
            remedy: "Change its resource policy (minAllowed, maxAllowed), or turn it off for the container: containerPolicies[].mode: Off.",
        }
        MemoryLimitNotLowered {
            summary: "a kubelet may not lower the memory limit of a container that has restarted",
            meaning: "The limit becomes lower without a restart, in a container that has restarted before, as an update in place restarts it. The kubelet of 1.36 then finds no use of memory for it, answers \"missing container memory usage\", and tries again without end; the rollout waits until its timeout.",
            why: "Before it lowers a limit the kubelet looks at what the container uses (validateMemoryResizeAction in pkg/kubelet/kuberuntime). Seen with 1.36.3 where a container of the same name that has ended is still on the node.",
            remedy: "Say --deferred=leave: the rest is done, and the limit is left to the kubelet. Or raise limits in place and lower them with kubectl apply, which replaces the pods.",
        }
        MemoryTiny {
            summary: "memory would be less than 1 MiB",
            meaning: "A number without a unit is a number of bytes. Below 1 MiB no process runs: with such a limit a container is killed when it restarts (OOMKilled), and while it runs the kubelet does not lower the limit below what is used.",
            why: "Quantities of memory are bytes; Ki, Mi, Gi and k, M, G are units (apimachinery/pkg/api/resource).",
            remedy: "Write the unit, such as 128Mi.",
        }
        RuntimeSizedAtStart {
            summary: "a process sized itself when it started, and does not notice the change",
            meaning: "The container's command, arguments or environment set a size that is read once, at the start: a heap, a number of threads. Nothing restarts here, so that the process goes on with what it read; with a lower limit it may be killed (OOMKilled), with a higher one it makes no use of it.",
            why: "A resize changes the cgroup of a running container and nothing else; arguments and environment, those of resourceFieldRef too, are computed when a container is created.",
            remedy: "Change the setting in the same update where it is a fixed number; and restart the container afterwards: kubectl inplace restart.",
        }
        ManagedByArgoCd {
            summary: "Argo CD makes this object from a repository",
            meaning: "Argo CD compares the object with its source and brings it back. Pods that a workload owns are not compared, the object's own template is. With automated sync, whichever comes first replaces the pods: a merge rolls the new template out, and without one self-heal rolls the old one out again.",
            why: "Argo CD marks what it made: annotation argocd.argoproj.io/tracking-id, or a label with its field manager.",
            remedy: "Keep this order: suspend automated sync (argocd app set NAME --sync-policy none), apply in place, merge the same change at the source, see that argocd app diff NAME --refresh shows no difference in the template, then turn the sync on again. The pods have the template by then, so none is replaced.",
        }
        ManagedByFlux {
            summary: "Flux makes this object from a repository",
            meaning: "Flux applies its source again at every interval. Pods that a workload owns are not touched by it, the object's own template is. Whichever comes first replaces the pods: a merge rolls the new template out, and without one the next reconciliation rolls the old one out again.",
            why: "Flux labels what it made: kustomize.toolkit.fluxcd.io/* or helm.toolkit.fluxcd.io/*.",
            remedy: "Keep this order: flux suspend (kustomization or helmrelease), apply in place, merge the same change at the source, flux reconcile source, then flux resume. The pods have the template by then, so none is replaced.",
        }
        ManagedByHelm {
            summary: "the object belongs to a Helm release",
            meaning: "The next helm upgrade renders the template from the chart's values again. If these do not have the change, it rolls the old template out, which replaces the pods.",
            why: "Helm marks what it made: label app.kubernetes.io/managed-by=Helm and annotation meta.helm.sh/release-name.",
            remedy: "Set the new image in the release's values, apply the manifests that helm template renders from them in place, then run helm upgrade with the same values. The pods have the template by then, so none is replaced.",
        }
        ImageFieldOwned {
            summary: "the image is owned by a server-side apply manager",
            meaning: "Somebody applies this pod with server-side apply. After this update, their next apply of another image reports a conflict.",
            why: "Setting a field makes the writer its owner (metadata.managedFields); server-side apply does not take a field over unless it is forced.",
            remedy: "Set the same image in what they apply, or let them force it once: kubectl apply --server-side --force-conflicts.",
        }
        OutsideTemplate {
            summary: "the manifest also changes fields outside the template",
            meaning: "Replicas, strategy or the object's own labels differ as well. They are not touched.",
            why: "This program changes pods; the rest of the object is not in them.",
            remedy: "Apply the manifest with kubectl apply when its pods may be replaced, or change these fields on their own.",
        }
        RemovalsUnseen {
            summary: "fields that the manifest leaves out are not seen as removed",
            meaning: "The object was not made by kubectl apply, so that it is not known which fields an earlier manifest had.",
            why: "kubectl apply removes what the last applied manifest had and this one has not; it keeps it in the annotation kubectl.kubernetes.io/last-applied-configuration.",
            remedy: "Nothing, if the manifest removes nothing.",
        }
        HistoryEvicted {
            summary: "the one old revision leaves the history",
            meaning: "The Deployment keeps one old revision. The outgoing one takes its place as soon as the template changes; an abort brings the template back, not that revision.",
            why: "The controller deletes old ReplicaSets without pods beyond revisionHistoryLimit, also while the Deployment is paused (cleanupDeployment in pkg/controller/deployment/deployment_controller.go).",
            remedy: "Raise spec.revisionHistoryLimit first, if that revision may still be wanted.",
        }
        ReadFailed {
            summary: "something could not be read, so that the answer is weaker",
            meaning: "The plan does without what could not be read, and says what it does not know therefore.",
            why: "Nodes, PodDisruptionBudgets, HorizontalPodAutoscalers and revisions need permissions of their own, and not every server has every kind.",
            remedy: "Ask for the permission to read it, if the answer matters.",
        }
        OnDeleteLeft {
            summary: "a superseded rollout has left the updateStrategy OnDelete",
            meaning: "A rollout of this program sets OnDelete while it is at work. One that met another client's template leaves it, since any other strategy would have replaced the pods for that template. It stays until somebody puts the strategy back, and until then the controller replaces no pod for a later change of the template.",
            why: "The history of the workload notes the strategy that stood before.",
            remedy: "`kubectl inplace status` names the command that puts it back, once that replaces no pod.",
        }
        ServerWarning {
            summary: "the API server warned",
            meaning: "The words are the server's or a webhook's.",
            why: "API servers send warnings with their answers (HTTP header Warning), for deprecated fields for one.",
            remedy: "Do as they say. --warnings-as-errors makes an error of them.",
        }
        UpdatedByController {
            summary: "the workload's own controller updates its pods, not this program",
            meaning: "Two manifests of a kind whose controller updates pods in place were compared. The plan says what that controller does; apply, status and the other commands do not take the kind.",
            why: "Two programs that update the same pods would undo each other's work.",
            remedy: "Apply the newer manifest with kubectl apply, and follow the workload's own status.",
        }
        WorkloadAdded {
            summary: "the workload is new",
            meaning: "The cluster does not have this workload; of two manifests that were compared, the older ones do not.",
            why: "A workload that is not there yet has no pods that could be changed.",
            remedy: "Create it with kubectl apply.",
        }
        WorkloadRemoved {
            summary: "only the older manifests have the workload",
            meaning: "Two manifests were compared, and the newer ones do not have this workload.",
            why: "kubectl apply leaves an object alone that no manifest names, unless it prunes; nothing of it changes in place.",
            remedy: "Delete it if it is to go, or check whether a file was left out.",
        }
    }
}
