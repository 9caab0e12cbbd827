//! What a rollout or `status` reports of pods and containers, and what it means at length.

use super::code::codes;

codes! {
    /// The reason of a failure, or a state, as a rollout and `status` show it. The kubelet's own reasons keep their names.
    ReportCode {
        HookFailed {
            summary: "the command of --before-pod or --after-pod failed",
            meaning: "The command ended with an exit code other than 0, was ended by a signal, ran out of the pod's --timeout, or could not be started. Before a pod: the pod was not touched. After a pod: the pod runs its new image, and no further pod was taken.",
            why: "The command stands for a check or a step that the rollout must not go on without, such as taking the pod out of a load balancer.",
            remedy: "Read the command's last lines, which are shown; run it by hand with the variables KUBECTL_INPLACE_... set. Then resume with the same flags, or abort.",
        }
        ErrImagePull {
            summary: "the image could not be pulled",
            meaning: "The kubelet asked the registry for the image and got no for an answer, or none. Only a final answer (not found, unauthorized, denied) ends a rollout at once; the container from before is stopped by then, unless the image was pulled first.",
            why: "The kubelet pulls when it starts the container (EnsureImageExists in pkg/kubelet/images/image_manager.go); the message is the runtime's or the registry's.",
            remedy: "Check the tag, the registry's name and the imagePullSecrets of the pod's service account; a pod's own imagePullSecrets cannot change in place. Roll the pod back with the command that is printed, or set another image. --pre-pull=always finds such an image before anything is touched.",
        }
        ImagePullBackOff {
            summary: "the image could not be pulled, and the kubelet waits before it tries again",
            meaning: "As ErrImagePull, some time later: the kubelet repeats the pull with growing pauses of up to five minutes.",
            why: "A pull that failed is delayed per image and pod (MaxImageBackOff in pkg/kubelet/kubelet.go).",
            remedy: "As for ErrImagePull. Another image for the container is pulled without waiting.",
        }
        InvalidImageName {
            summary: "the kubelet cannot read the image's name",
            meaning: "The image is not a reference that a container runtime can pull.",
            why: "The kubelet parses the name before it pulls (pkg/kubelet/images/image_manager.go); the API server does not.",
            remedy: "Write it as registry/repository:tag or registry/repository@sha256:digest.",
        }
        ErrImageNeverPull {
            summary: "the image is not on the node, and imagePullPolicy is Never",
            meaning: "The container may use only images that are on its node already, and this one is not.",
            why: "imagePullPolicy is fixed when a pod is made; with Never the kubelet does not ask the registry.",
            remedy: "Load the image on the node, or set an image that is there.",
        }
        RegistryUnavailable {
            summary: "the registry does not answer",
            meaning: "The runtime could not reach the registry. The kubelet tries again by itself, so that a rollout waits for its timeout before it fails.",
            why: "Container runtimes return this reason over the CRI when a registry cannot be reached (pkg/kubelet/images/types.go).",
            remedy: "Check the registry, and the way to it from the node that is named.",
        }
        SignatureValidationFailed {
            summary: "the image's signature is not accepted",
            meaning: "The runtime is configured to verify signatures and refuses this image.",
            why: "Container runtimes return this reason over the CRI (pkg/kubelet/images/types.go).",
            remedy: "Sign the image as the node's policy demands, or set one that is signed.",
        }
        ImageInspectError {
            summary: "the runtime cannot say whether it has the image",
            meaning: "The kubelet asks the runtime for the image before it pulls it, and got an error.",
            why: "Often a runtime that is overloaded or a damaged image store on the node (pkg/kubelet/images/image_manager.go).",
            remedy: "Look at the container runtime on the node that is named; its log says more.",
        }
        CreateContainerConfigError {
            summary: "something that the container refers to is missing",
            meaning: "The kubelet could not put the container's configuration together, mostly because a ConfigMap, a Secret or a key in one does not exist.",
            why: "References are resolved each time a container starts (makeEnvironmentVariables in pkg/kubelet/kubelet_pods.go), so that one which was deleted since is missed only now.",
            remedy: "Create what the message names: the kubelet tries again by itself. The image before would fail in the same way.",
        }
        CreateContainerError {
            summary: "the runtime could not create the container",
            meaning: "The image is there, and the container runtime refused to make a container of it, or did not answer in time.",
            why: "The message is the runtime's; a name that is still in use or a slow disk pass by themselves, so that it must last ten seconds to count.",
            remedy: "Read the message; look at the container runtime on the node that is named.",
        }
        PreCreateHookError {
            summary: "the kubelet's step before creating the container failed",
            meaning: "The kubelet prepares each container, for example its cpu and memory managers; that step failed.",
            why: "The internal lifecycle of the kubelet (pkg/kubelet/kuberuntime/kuberuntime_container.go).",
            remedy: "Look at the kubelet's log on the node that is named.",
        }
        PreStartHookError {
            summary: "the kubelet's step before starting the container failed",
            meaning: "The container was created, and a step of the kubelet before its start failed.",
            why: "The internal lifecycle of the kubelet (pkg/kubelet/kuberuntime/kuberuntime_container.go).",
            remedy: "Look at the kubelet's log on the node that is named.",
        }
        PostStartHookError {
            summary: "the container's postStart hook failed",
            meaning: "The new container was started and killed again because its lifecycle.postStart failed.",
            why: "A postStart hook that fails kills its container (pkg/kubelet/kuberuntime/kuberuntime_container.go).",
            remedy: "Run the hook's command in a container of the new image: it may lack what the hook needs.",
        }
        RunContainerError {
            summary: "the container could not be started",
            meaning: "The runtime made the container and could not start it, mostly because its command is not in the new image.",
            why: "Command and arguments stand in the pod and are fixed; the image must have them.",
            remedy: "Check that the new image has the command that the pod's container names. Roll the pod back with the command that is printed.",
        }
        StartError {
            summary: "the container's process could not be started",
            meaning: "As RunContainerError, in the runtime's word for the end of the container: exit code 128, mostly a command that the image does not have.",
            why: "containerd reports a process that never ran as a container that ended with StartError.",
            remedy: "Check that the new image has the command that the pod's container names. Roll the pod back with the command that is printed.",
        }
        ContainerCannotRun {
            summary: "the container's process could not be started",
            meaning: "As StartError, in the word of other container runtimes.",
            why: "Docker and CRI-O report a process that never ran so.",
            remedy: "Check that the new image has the command that the pod's container names. Roll the pod back with the command that is printed.",
        }
        CrashLoopBackOff {
            summary: "the new container starts and ends again and again",
            meaning: "The container of the new image ended after its start, and the kubelet waits before it starts it once more. It counts as a failure only of a container that is known to be the new one.",
            why: "Restarts are delayed by 10 s, doubled each time up to five minutes (backOff in pkg/kubelet/kuberuntime). A container that was replaced is in the same back-off although nothing crashed: then it is held, which is no failure.",
            remedy: "Read the exit code and the last lines of the log, which are shown. Roll the pod back with the command that is printed; the image before may have to sit out the same back-off.",
        }
        Error {
            summary: "the new container ended with an error",
            meaning: "The container of the new image ended with an exit code other than 0: for the second time, or the kubelet has not started it again for 20 seconds.",
            why: "The kubelet is slow to say CrashLoopBackOff: between two runs it shows the end itself for a while. A container that has ended and is not started again is in back-off, whatever it is called.",
            remedy: "Read the exit code and the last lines of the log, which are shown. Roll the pod back with the command that is printed.",
        }
        Completed {
            summary: "the new container ended with exit code 0, and is not started again",
            meaning: "The container of the new image did what it does and ended, though a container of a running pod is to stay.",
            why: "Where restartPolicy is Always the kubelet starts it again, with back-off, for ever.",
            remedy: "Check the image's command: it has to run in the foreground.",
        }
        OOMKilled {
            summary: "the new container used more memory than its limit",
            meaning: "The kernel killed the container's process because it went over resources.limits.memory.",
            why: "The limit is part of the pod's spec and is the same for every image (the cgroup's memory.max).",
            remedy: "Roll the pod back with the command that is printed. Then ask for the image and a higher limit in one command (Kubernetes 1.33 or newer), so that the new container begins with it: kubectl inplace apply TYPE/NAME CONTAINER=IMAGE -c CONTAINER --limits memory=QUANTITY.",
        }
        NotStartedAgain {
            summary: "the container has ended, and the kubelet does not start it again",
            meaning: "By its restartPolicy, or the pod's, the container stays down. The kubelet's reason is shown in place of this word where its events say it, such as ErrImagePull. Neither the image from before nor another one starts the container.",
            why: "A container that has ended is judged by restartPolicy and restartPolicyRules, not by its image (ShouldContainerBeRestarted in pkg/kubelet/container/helpers.go).",
            remedy: "Roll back, so that new pods get the image from before. Then delete the pod, and its controller re-creates it: kubectl delete pod NAME.",
        }
        TimedOut {
            summary: "the pod was not done within --timeout",
            meaning: "The pod was taken, and its container did not become ready, or could not be verified to be another one, in the time that one pod may take.",
            why: "A deadline for each pod ends a rollout that waits for something that does not come; the default is 5m plus the pod's grace period and min ready seconds, for each step of --container-order; the seconds of --drain-seconds are added.",
            remedy: "Look at what the pod waited for, which is shown; resume with a longer --timeout if it only needs time, else abort.",
        }
        TooManyTries {
            summary: "the server did not take a patch in several tries",
            meaning: "The patch of a pod or of its Services' label was sent several times, each after a fresh read of the pod, and never took effect.",
            why: "Another writer changes the same pod all the time, or the way to the server loses answers.",
            remedy: "See who writes to the pod (its managedFields), then resume.",
        }
        DrainNoteRemoved {
            summary: "the note of what was taken off a pod was removed",
            meaning: "This run had taken the pod out of its Services, and the annotation kubectl-inplace.io/update that says by what was removed from the pod by another client before the run had restored it. The pod stays out of its Services.",
            why: "What was removed from a pod is recorded in that annotation alone, so that any run can restore it; without it nothing more is done to the pod.",
            remedy: "Put the label back with the command that is shown, or turn the gate on; then resume or abort.",
        }
        NotSent {
            summary: "the request never reached the server",
            meaning: "The patch could not be sent at all, so that the pod was certainly not changed by it.",
            why: "The message says what is wrong with the connection or the request.",
            remedy: "Mend what the message names, then resume.",
        }
        Unverified {
            summary: "the container is ready, but nothing proves that it is another one",
            meaning: "The pod asks for the image and is ready, and yet no evidence shows that the container was restarted: the same digest, no event of the kubelet any more, no record of what ran before.",
            why: "Ready alone is said of the old container too until the kubelet has stopped it. Evidence is another containerID than the one on record, a start after the change, or the kubelet's event.",
            remedy: "Nothing has to be done if the pod works. To be sure, restart it in place: kubectl inplace restart.",
        }
        Held {
            summary: "the kubelet waits before it starts the container, though nothing crashed",
            meaning: "The container was stopped for its new image and sits out a back-off of the kubelet that an earlier restart of the same container has left. It will start by itself.",
            why: "The kubelet delays the start of a container that ended less than ten minutes ago in the same pod with the same image and hash (doBackOff in pkg/kubelet/kuberuntime), whatever ended it.",
            remedy: "Wait; switching the same tag to and fro makes it longer.",
        }
        Drifted {
            summary: "a pod asks for another image than its owner's template",
            meaning: "The container's image was changed in the pod alone. A replacement pod gets the template's image.",
            why: "Controllers make new pods from the template and never compare running pods with it.",
            remedy: "Make it durable by giving the owner the same image (kubectl inplace apply TYPE/NAME CONTAINER=IMAGE), or go back (kubectl inplace undo TYPE/NAME).",
        }
        Pinned {
            summary: "a pod asks for the template's image at the digest that runs",
            meaning: "A restart in place has pinned the digest in the pod; it is the digest of the template's tag at that time.",
            why: "A restart in place needs a changed image field, and a digest in place of the tag changes no content.",
            remedy: "Nothing has to be done; the next rollout sets the template's image again.",
        }
    }
}
