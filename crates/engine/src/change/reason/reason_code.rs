//! The codes of reasons, and what they mean at length.

use super::code::codes;

codes! {
    /// The code of a [`Reason`](super::Reason).
    ReasonCode {
        TemplateFieldNotInPlace {
            summary: "a changed field of the template is not changed in running pods",
            meaning: "The change touches a field of the pod template that this program has no rule for, so the change as a whole cannot be done in the pods that run. The path names containers by name.",
            why: "The API server lets very little of a pod change: images, added tolerations, cpu and memory by its subresource resize, and a few fields that matter rarely (ValidatePodUpdate and ValidatePodResize in pkg/apis/core/validation/validation.go). Environment, command, ports, probes, volumes, security context and imagePullPolicy are fixed when the pod is made. A field that this program does not know is refused as well, never dropped.",
            remedy: "Take the field out of this change, or roll it out with kubectl apply, which replaces the pods; a pod that was made by hand must be deleted and created again. activeDeadlineSeconds can be set or shortened in running pods with kubectl patch; this program leaves it alone. Where only the image is urgent, update it alone: kubectl inplace apply TYPE/NAME CONTAINER=IMAGE.",
        }
        VolumeClaimTemplateChanges {
            summary: "a changed volumeClaimTemplates cannot take effect in place",
            meaning: "The manifest changes the volume claim templates of a StatefulSet.",
            why: "The claims exist already, and the API server forbids changing spec.volumeClaimTemplates of a StatefulSet (ValidateStatefulSetUpdate in pkg/apis/apps/validation/validation.go).",
            remedy: "Leave it out of this change. To change it, delete the StatefulSet with --cascade=orphan, re-create it, and resize or replace the claims by hand.",
        }
        ContainerAdded {
            summary: "a container would be added",
            meaning: "The manifest has a container that the template does not have.",
            why: "The number of containers of a pod is fixed when it is made: pod updates may not add or remove containers (ValidatePodUpdate).",
            remedy: "Roll it out with kubectl apply, which replaces the pods. For a look inside a running pod there is kubectl debug.",
        }
        ContainerRemoved {
            summary: "a container would be removed",
            meaning: "The template has a container that the manifest does not have.",
            why: "The number of containers of a pod is fixed when it is made: pod updates may not add or remove containers (ValidatePodUpdate).",
            remedy: "Roll it out with kubectl apply, which replaces the pods.",
        }
        ContainerRenamed {
            summary: "a container would be renamed",
            meaning: "The manifest has a container under another name that is otherwise the same.",
            why: "A container's name is fixed when the pod is made (ValidatePodUpdate compares everything but the image).",
            remedy: "Keep the name, or roll it out with kubectl apply, which replaces the pods. If the name is a slip, mend it in the manifest.",
        }
        QosClassChanges {
            summary: "the pod's quality of service class would change",
            meaning: "With the resources of the manifest, the pods would be of another class (Guaranteed, Burstable or BestEffort).",
            why: "The class is set when the pod is made and never changes, not even by a resize (ValidatePodResize: Pod QOS Class may not change as a result of resizing; classes are computed by GetPodQOS in pkg/apis/core/v1/helper/qos).",
            remedy: "Choose resources of the same class, or roll it out with kubectl apply, which replaces the pods.",
        }
        SelectorLabelChanges {
            summary: "a label that the owner selects its pods by would change",
            meaning: "The changed label is part of the owner's selector.",
            why: "A pod that the selector does not match any more is released by its controller, which then makes another one (ClaimPods in pkg/controller/controller_ref_manager.go); the selector itself cannot change.",
            remedy: "Leave the label as it is. To change it, create another workload and move the traffic over.",
        }
        TolerationRemoved {
            summary: "a toleration would be removed, or changed in more than its tolerationSeconds",
            meaning: "The manifest lacks a toleration that the template has. A toleration whose key, operator, value or effect changes is one that is removed and another that is added.",
            why: "The API server takes additions to the tolerations of a running pod, and another tolerationSeconds, and nothing else (validateOnlyAddedTolerations in pkg/apis/core/validation/validation.go).",
            remedy: "Keep it in the manifest beside those that are added, or roll it out with kubectl apply, which replaces the pods. undo and abort take an added toleration out of the template: the pods that run keep it, pods made later do not have it.",
        }
        MetadataKeyReserved {
            summary: "a label or annotation that belongs to a controller would change",
            meaning: "The changed key is written by a controller or fixed by the API server: pod-template-hash, controller-revision-hash, pod-template-generation, statefulset.kubernetes.io/*, apps.kubernetes.io/pod-index, AppArmor's beta annotations, kubernetes.io/config.*.",
            why: "Controllers tell pods and revisions apart by these keys, and the API server refuses changed AppArmor and mirror annotations of a pod (ValidatePodUpdate, ValidatePodSpecificAnnotationUpdates).",
            remedy: "Leave the key out of the manifest.",
        }
        MetadataReadByContainer {
            summary: "a container reads a changed label or annotation at its start and would not restart",
            meaning: "The container has an environment variable from this label or annotation (valueFrom.fieldRef), and nothing else of this update restarts it in this pod: it would go on with the value from before.",
            why: "Environment variables are computed when a container is created (podFieldSelectorRuntimeValue in pkg/kubelet/kubelet_pods.go). A downwardAPI volume, in contrast, is kept up to date.",
            remedy: "Change the container's image in the same update, so that it restarts and reads the new value; or roll it out with kubectl apply, which replaces the pods.",
        }
        ResourceRemoved {
            summary: "a request or limit would be removed",
            meaning: "The change removes a request or limit of cpu or memory from a container.",
            why: "A resize may add and change requests and limits, and not remove them (ValidatePodResize: resource limits cannot be removed).",
            remedy: "Give it a value, such as one that is large enough; or roll it out with kubectl apply, which replaces the pods.",
        }
        RequestAboveLimit {
            summary: "a container would request more than its limit",
            meaning: "With the change, a request of cpu or memory would be larger than the limit of the same resource, perhaps only in this pod.",
            why: "The API server refuses such a container (validateContainerResourceRequirements: must be less than or equal to cpu limit).",
            remedy: "Change request and limit together: --requests and --limits.",
        }
        FractionalMemory {
            summary: "a container would ask for a part of a byte of memory",
            meaning: "The change sets a request or limit of memory that is no whole number of bytes, such as 0.1Gi.",
            why: "The API server takes it and only warns (fractional byte value is invalid), and the kubelet rounds up what it has: it never reports the resize as done.",
            remedy: "Ask for whole bytes: a whole number of Ki, Mi or Gi.",
        }
        PodRequestTooSmall {
            summary: "the containers would request more than the pod as a whole",
            meaning: "With the change, what the containers request of cpu or memory together would be larger than the pod's own request (spec.resources.requests), perhaps only in this pod.",
            why: "The API server refuses such a pod (validatePodResourceConsistency: must be greater than or equal to aggregate container requests).",
            remedy: "Change the pod's request and those of its containers together, in one manifest.",
        }
        LimitAbovePod {
            summary: "a container's limit would be above the limit of the pod as a whole",
            meaning: "With the change, a container's limit of cpu or memory would be larger than the pod's own limit (spec.resources.limits), perhaps only in this pod.",
            why: "The API server refuses such a pod (validatePodResourceConsistency: must be less than or equal to pod limits).",
            remedy: "Change the pod's limit and those of its containers together, in one manifest.",
        }
        PodLimitRestarts {
            summary: "a container would restart because the limit of the pod as a whole changes",
            meaning: "The container has no limit of its own for this resource, so that the pod's (spec.resources.limits) is set for it, too, and its resizePolicy for the resource is RestartContainer.",
            why: "The kubelet compares the limit that a container has from its pod, and restarts it by its policy (computePodResizeAction in pkg/kubelet/kuberuntime). This program restarts a container only where it can prove that it did; for a limit that comes from the pod it does not, and refuses it.",
            remedy: "Leave the pod's limit as it is and change its requests, or roll it out with kubectl apply, which replaces the pods.",
        }
        PodResizeNotSupported {
            summary: "the node cannot resize pods as a whole",
            meaning: "The status of the running pod does not say what the pod has as a whole (status.resources), which a kubelet that can resize it always reports.",
            why: "The API server refuses it where the node does not declare InPlacePodLevelResourcesVerticalScaling (plugin/pkg/admission/nodedeclaredfeatures), which kubelets do since 1.36; and nothing would tell that it is done.",
            remedy: "Bring the node to Kubernetes 1.36 or newer, or roll the change out with kubectl apply, which replaces the pods.",
        }
        ResizeNotSupported {
            summary: "the node cannot resize containers",
            meaning: "The status of a running container has no resources, which a kubelet that can resize always reports.",
            why: "The API server refuses a resize of such a pod (ValidatePodResize: Pod running on node without support for resize). Kubelets report them since 1.33.",
            remedy: "Bring the node to Kubernetes 1.33 or newer, or roll the change out with kubectl apply, which replaces the pods.",
        }
        WindowsPod {
            summary: "cpu and memory of a Windows pod cannot change while it runs",
            meaning: "The pod is one of Windows (spec.os.name), or its node is (label kubernetes.io/os).",
            why: "The API server refuses a resize of such a pod (ValidatePodResize: windows pods cannot be resized; from 1.36 on also by the node: plugin/pkg/admission/podresize); a kubelet of Windows calls every resize infeasible (pkg/kubelet/allocation).",
            remedy: "Roll the change out with kubectl apply, which replaces the pods.",
        }
        RestartRequested {
            summary: "kubectl.kubernetes.io/restartedAt asks for new pods",
            meaning: "The change sets the annotation that kubectl rollout restart sets. Whoever sets it wants every pod replaced; writing it into the running pods would look done without any restart.",
            why: "The annotation has no meaning of its own: it only makes the template another one, so that the owner's controller replaces the pods (polymorphichelpers/objectrestarter.go in kubectl). Its removal, in contrast, asks for nothing and is done in place.",
            remedy: "For new pods: kubectl rollout restart. To restart one container in place, give it the digest that runs: CONTAINER=@sha256:... Otherwise leave the annotation out of the manifest.",
        }
        ContainerNotFound {
            summary: "neither the template nor any pod has a container of that name",
            meaning: "The name of a container on the command line is unknown in this workload.",
            why: "Images are set by the container's name, as in kubectl set image; nothing is changed for a name that may be mistyped.",
            remedy: "Name one of the containers that the message lists.",
        }
        ContainerNotInPod {
            summary: "this pod does not have the container",
            meaning: "Other pods of the workload, or its template, have the container; this pod does not.",
            why: "The pod was made from another template, or its injector left it out. A container cannot be added to a pod (ValidatePodUpdate).",
            remedy: "Delete the pod, so that its owner re-creates it, or leave it as it is.",
        }
        ImageMalformed {
            summary: "the image is not a reference that a kubelet can pull",
            meaning: "The image does not have the form of a reference.",
            why: "The API server does not check the form, and the kubelet finds out only after it has killed the old container (InvalidImageName). The grammar is that of github.com/distribution/reference.",
            remedy: "Write it as [registry/]repository[:tag][@sha256:digest], the repository in lower case.",
        }
        ImageWhitespace {
            summary: "the image begins or ends with whitespace",
            meaning: "There are blanks or line breaks around the image. A template takes them, a pod does not.",
            why: "The API server refuses such an image of a pod (must not have leading or trailing whitespace, ValidatePodUpdate), and kubelets cannot pull it.",
            remedy: "Remove the whitespace. It often comes from a template or a shell variable with a line break.",
        }
        DigestUnknown {
            summary: "the digest to pin is not known",
            meaning: "A container is to run the same image digest again (restart, undo --pin-digest), and its digest is not known: no container runs yet or its update has not come through, or the image was built or loaded on the node and no registry's digest is known of it.",
            why: "The digest comes from status.containerStatuses[].imageID. While an image cannot be pulled it is still that of the container before; of an image without a registry it is the hash of its configuration, which no registry serves (kubernetes#95968).",
            remedy: "Wait until the container runs. To restart what has no registry's digest, give it another tag, or replace the pod.",
        }
        PodTerminating {
            summary: "the pod is being deleted",
            meaning: "The pod has a deletionTimestamp. A changed image has no effect in it any more.",
            why: "The API server would take the change, but a kubelet starts nothing in a pod that is going (test/e2e_node/container_lifecycle_test.go has it for all restart policies).",
            remedy: "Wait for its replacement, which has the template's image.",
        }
        PodFinished {
            summary: "the pod has completed",
            meaning: "The pod's phase is Succeeded or Failed.",
            why: "The API server would take the change, but a kubelet never starts a container in a pod that has ended (SyncPod in pkg/kubelet/kubelet.go).",
            remedy: "Delete the pod, so that its owner makes another one.",
        }
        MirrorPod {
            summary: "the pod only mirrors a static pod",
            meaning: "The pod is the API's picture of a pod that the kubelet runs from a file on its node.",
            why: "The kubelet runs what the file says; a patch of the mirror is accepted and has no effect (pkg/kubelet/pod/pod_manager.go).",
            remedy: "Change the manifest on the node, often in /etc/kubernetes/manifests.",
        }
        RestartPolicyNotAlways {
            summary: "the kubelet does not start the container again once it has ended",
            meaning: "The restartPolicy of the pod, as in Jobs, or of the container itself (Kubernetes 1.35 and newer) is Never or OnFailure, or has rules. If the new image cannot be pulled or started, the kubelet does not try again, and nothing re-creates the pod. Or the container has ended already: then no image starts it again.",
            why: "The kubelet kills first and pulls second; what then has exited is judged by restartPolicy (computePodActions and ShouldContainerBeRestarted in pkg/kubelet/kuberuntime). A container's own policy counts from 1.35 on; a kubelet of 1.34 goes by it only with the feature gate ContainerRestartRules, and an older one by the pod's.",
            remedy: "Re-create the pod or Job with the new image. A pod of a Deployment, StatefulSet or DaemonSet is re-created from the template once it is deleted: kubectl delete pod NAME. An unfinished rollout is rolled back first, since its image is in the template: kubectl inplace abort TYPE/NAME.",
        }
        SidecarNeedsNewerKubelet {
            summary: "the node's kubelet does not restart a sidecar whose image changes",
            meaning: "The container is a sidecar (an init container with restartPolicy Always), and the pod's node runs a kubelet before 1.32. The pod's spec would show the new image while the old one runs on. Each node decides for its own pods.",
            why: "Kubelets 1.28 to 1.31 look at a sidecar's image only when it dies by itself (kubernetes#121333); 1.32 restarts it (kubernetes#126525).",
            remedy: "Upgrade the node, or replace its pods.",
        }
        SidecarStartupPending {
            summary: "the sidecar's startup probe has not passed yet",
            meaning: "A changed image of this sidecar has no effect until its startup probe has passed or failed.",
            why: "While a sidecar has not started, the kubelet leaves computeInitContainerActions before it compares the image (pkg/kubelet/kuberuntime/kuberuntime_container.go).",
            remedy: "Wait until the sidecar has started, then plan again. If it never starts, replace the pod.",
        }
        OrphanPod {
            summary: "the pod is matched by the selector, but it has no controller",
            meaning: "The pod has the workload's labels and no controller. It is left out.",
            why: "Only a pod whose owner reference says so belongs to a workload; a pod made or released by hand may be there on purpose.",
            remedy: "Name the pod itself, if you mean it: pod/NAME.",
        }
        PodOfOldRevision {
            summary: "the pod was made from an older template than the manifest changes",
            meaning: "The pod's revision is not the owner's current one, so that it may differ from the manifest in more than what changes now. With the new image it would still not be what the manifest says.",
            why: "Pods keep the spec that they were made with: a partition, OnDelete or a paused rollout leaves some at an older revision (labels pod-template-hash and controller-revision-hash).",
            remedy: "Finish the owner's rollout first, or delete the pod; or change the image alone, by hand: CONTAINER=IMAGE.",
        }
        NoPods {
            summary: "there is no pod to update",
            meaning: "The workload has no pod now.",
            why: "An update in place is one of pods. Without any, only the template matters.",
            remedy: "Change the template, which costs nothing while there are no pods: kubectl apply or kubectl set image.",
        }
        OwnerRollingOut {
            summary: "the owner's controller is replacing pods now",
            meaning: "A rollout of the owner is in progress: pods that are changed now would be replaced a moment later.",
            why: "Deployments, StatefulSets and DaemonSets replace every pod of another revision, whatever runs in it (status.updatedReplicas, status.updateRevision, status.updatedNumberScheduled).",
            remedy: "Wait for its end: kubectl rollout status. If it is stuck, undo it first: kubectl rollout undo.",
        }
        OwnerNotObserved {
            summary: "the owner's controller has not observed the latest spec",
            meaning: "status.observedGeneration is behind metadata.generation: it is not known yet whether pods are about to be replaced.",
            why: "Controllers note the generation that they have acted on. It lags for less than a second, unless kube-controller-manager is down.",
            remedy: "Plan again in a moment. If it stays so, look at kube-controller-manager.",
        }
        OwnerPaused {
            summary: "the owner's rollouts are paused",
            meaning: "The Deployment is paused (spec.paused): its pods shall stay as they are, and its template may hold changes that no pod has yet.",
            why: "A paused Deployment keeps its template apart from its pods (pkg/controller/deployment); an update in place would go around the pause.",
            remedy: "Look first: kubectl inplace status TYPE/NAME says whether its pods have its template. If they have, kubectl rollout resume replaces none. If they do not, it replaces every pod that differs: kubectl inplace resume --take-over finishes the change in place, kubectl inplace abort --take-over restores the template that the pods have. To change a pod all the same: pod/NAME --pods-only.",
        }
        OwnerIsControlled {
            summary: "something else controls the owner and decides its template",
            meaning: "The workload has a controller of its own, such as a ReplicaSet its Deployment or a Deployment its operator. A template that is changed here would be set back, and that replaces pods.",
            why: "A controller reconciles what it owns with what it was asked for (metadata.ownerReferences with controller true).",
            remedy: "Change the image where that controller reads it: the Deployment of a ReplicaSet, the custom resource of an operator. To change the running pods only, say --pods-only.",
        }
        PodIsControlled {
            summary: "the pod has an owner, whose template would stay as it is",
            meaning: "A pod was named that a workload made from its template. Only this pod would change: a replacement pod gets the template's image, and the owner's next rollout replaces it.",
            why: "Controllers make new pods from the template alone and never compare running pods with it (pkg/controller/replicaset, statefulset, daemon).",
            remedy: "Name the workload, such as deployment/web, to update its template and pods in place. Say --pods-only if the pod alone is what you want.",
        }
        RolloutHeld {
            summary: "a rollout holds the workload",
            meaning: "The annotation kubectl-inplace.io/rollout says that a rollout of this workload is in progress, or did not finish: who began it, when, and what it says of itself.",
            why: "The goal of a rollout is its lock: it is written in the same patch as the template, and only if there is none. Two rollouts at once would undo each other's steps.",
            remedy: "Look at it: kubectl inplace status. While its run is at work, watch it: kubectl inplace follow. Once that has ended, resume it: kubectl inplace resume; or roll it back: kubectl inplace abort. Put yours in its place: --take-over.",
        }
        PodNotFound {
            summary: "no pod of the workload has the name that was given",
            meaning: "--pods names a pod that the workload does not have.",
            why: "A pod's name changes whenever it is replaced; a name from a while ago may be of a pod that is gone.",
            remedy: "Look at the names: kubectl get pods, or plan without --pods.",
        }
        NoPodOnNode {
            summary: "no pod that was chosen is on the node that was given",
            meaning: "--node names a node that no pod of the workload is on, or, with --pods, none of those.",
            why: "A rollout of some pods lists them in its lock, and an empty list is every pod: so it does not begin.",
            remedy: "Look at the nodes: kubectl get pods -o wide, or plan without --node.",
        }
        SubsetNotDurable {
            summary: "some pods of a StatefulSet or DaemonSet alone cannot be updated durably",
            meaning: "--pods, --node or another --partition than the owner's leaves pods of the old revision behind.",
            why: "StatefulSet and DaemonSet controllers replace every pod whose revision label is not the update revision, as soon as the update strategy is RollingUpdate again (pkg/controller/statefulset, pkg/controller/daemon).",
            remedy: "Choose all pods and go in steps with --canary or --pause-after, which keep OnDelete meanwhile; or update the pods alone: --pods-only.",
        }
        OwnerTerminating {
            summary: "the owner is being deleted",
            meaning: "The workload has a deletionTimestamp: its pods go with it.",
            why: "The garbage collector deletes what a deleted owner controls, unless it was deleted with --cascade=orphan.",
            remedy: "Wait until it is gone and re-create it.",
        }
        NoUnavailabilityAllowed {
            summary: "the owner lets no pod be down",
            meaning: "The owner's maxUnavailable is literally 0: it makes a new pod before it takes one away (maxSurge). A restart in place takes one down.",
            why: "A container is stopped before the next one is started, so that its pod is down for a moment; there is no surge in place.",
            remedy: "Say how many may be down at once: --max-unavailable 1.",
        }
        DisruptionBudgetBlocks {
            summary: "a PodDisruptionBudget never allows one of the pods to be down",
            meaning: "The budget demands that as many pods stay healthy as there are to be, so that it has no room even when all of them are. A pod that is updated in place is down for a moment: the rollout would write the template and then wait in vain.",
            why: "Pods are taken down only as far as every budget that selects them allows, as for an eviction (updatePdbStatus in pkg/controller/disruption); an ordinary rollout does not ask budgets.",
            remedy: "Give the budget room, run more replicas, or take the pods down without asking it: --disruption-budget=ignore.",
        }
        ReplicaSetOfOldRevision {
            summary: "the ReplicaSet is an old revision of its Deployment",
            meaning: "The Deployment has a newer ReplicaSet; this one is kept for kubectl rollout undo, or is being scaled down.",
            why: "A Deployment has one current ReplicaSet, the one with its template; the others go to no pods (annotation deployment.kubernetes.io/revision).",
            remedy: "Name the Deployment.",
        }
        PermissionMissing {
            summary: "the caller lacks a permission",
            meaning: "The API server says that you may not do what this needs.",
            why: "Reading, watching and patching pods are verbs of their own in RBAC; the answer is the server's own (SelfSubjectAccessReview, or its refusal).",
            remedy: "Ask for the Role that the command of the hint prints, such as kubectl inplace rbac apply deployment. The roles edit and admin have what is needed in their namespace, but for cpu and memory.",
        }
        AdmissionRefused {
            summary: "the API server or its admission would refuse the change",
            meaning: "A server-side dry run of the change was refused. The words are the server's, a policy's or a webhook's.",
            why: "Admission looks at an image change as at a new pod: PodSecurity, AlwaysPullImages, policies and webhooks all run again, and rules may be stricter than when the pod was made.",
            remedy: "Change what the words name, or ask who keeps the policy. Where a container that the change leaves alone breaks a LimitRange or a quota, resize that one too.",
        }
        PullPodRefused {
            summary: "the server would refuse the pods that pull images first, which --pre-pull=always requires",
            meaning: "A server-side dry run of a pod that pulls a new image first was refused. The words are the server's, a quota's, a policy's or a webhook's.",
            why: "A pod that pulls passes admission like any other: PodSecurity, LimitRanges, ResourceQuotas, policies and webhooks. It asks for 50m CPU and 32Mi memory, as requests and as limits; where that is refused, for nothing, and gets what a LimitRange fills in.",
            remedy: "Change what the words name, or leave out --pre-pull=always: then the kubelet pulls once it has stopped the container.",
        }
        AdmissionRewrites {
            summary: "admission would set another image than the one asked for",
            meaning: "The dry run was taken, but its result has another image: a webhook or policy rewrites images, to a mirror for one. The pods would never show the image asked for.",
            why: "Mutating admission runs on updates of pods too, after the patch is applied.",
            remedy: "Apply the image in the form that admission makes of it. If it changes that as well, at every update, no image can be set before it is changed.",
        }
        AdmissionAdds {
            summary: "admission would set cpu or memory that was not asked for",
            meaning: "The dry run was taken, but its result has more than what was asked for: requests or limits that a LimitRange or a webhook fills in. In a running pod a limit can never be removed again.",
            why: "The admission plugin LimitRanger gives the defaults of the namespace to every container of the pod in a resize, also to those that the resize does not name (plugin/pkg/admission/limitranger).",
            remedy: "Ask for these values as well, so that the plan shows them and the template has them; or change the LimitRange.",
        }
        OwnerFieldImmutable {
            summary: "a field of the owner that the API server never lets change",
            meaning: "The newer manifest changes a field outside the template, such as the selector or a StatefulSet's serviceName, that is fixed once the object exists.",
            why: "The API server refuses it (ValidateStatefulSetUpdate and the like in pkg/apis/apps/validation/validation.go).",
            remedy: "Leave it out of this change, or delete the object with --cascade=orphan, which keeps its pods, and re-create it.",
        }
        ControllerNotInPlace {
            summary: "the controller of this kind does not change it in place",
            meaning: "The pods of this workload are updated by its own controller. Of two manifests that were compared, the change has something that this controller does not bring into running pods: it replaces them, its webhook refuses the change, or what it does rests on something that no manifest shows, such as a feature gate. The sentence says which.",
            why: "Controllers such as OpenKruise's compare the templates of two revisions themselves and update pods in place only where nothing but certain fields differs (defaultCalculateInPlaceUpdateSpec in pkg/util/inplaceupdate/inplace_update_defaults.go for a CloneSet).",
            remedy: "Leave the named path out of the change, or apply it with kubectl apply and expect new pods.",
        }
        ManifestsNotMergeable {
            summary: "the two manifests cannot be merged",
            meaning: "What kubectl apply would send cannot be computed from the older and the newer manifest.",
            why: "Lists are merged by the name of their elements (strategic merge patch); one of them has an element without it, or a value of another type.",
            remedy: "Correct the manifest that the message names; kubectl apply would refuse it too.",
        }
        PlanStale {
            summary: "a saved plan does not fit the cluster any more",
            meaning: "Since the plan was saved, something that it was made from has changed: the workload or a pod was re-created, the owner's template changed, or a container of a pod got another image. The sentence says which, and nothing was written.",
            why: "A saved plan is carried out without a question, exactly as it was approved, so it must not meet another state. Compared are the uids of the owner and of the pods that change, the owner's template and the images in those pods; a resourceVersion is not, since every write to the status moves it.",
            remedy: "Plan again with --out, look at the new plan, and carry that out.",
        }
        ServerTooOld {
            summary: "the API server is older than what this program needs",
            meaning: "The server's version (GET /version) is below 1.23; below 1.33, where cpu or memory changes; below 1.34, where a memory limit falls or is added and the container's resizePolicy does not restart it for that.",
            why: "1.23 is the first version that serves, as stable, every API that a plan rests on: dry run (1.19), server-side apply (1.22), policy/v1 and discovery.k8s.io/v1 (1.21), autoscaling/v2 (1.23); see pkg/controlplane/instance.go. On an older one a plan would be wrong in silence rather than weaker. The subresource resize is on since 1.33, and lets memory limits fall since 1.34 (ValidatePodResize in pkg/apis/core/validation).",
            remedy: "Upgrade the control plane. To change the image all the same, patch the pods by hand: kubectl set image pod/NAME CONTAINER=IMAGE.",
        }
    }
}
