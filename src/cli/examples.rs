//! The texts below the flags: what a command's help says at length, and three examples at least.
//!
//! A paragraph is one line here, which clap breaks at the terminal's width; a command fits into 80 columns.

pub(super) const PLAN_EXAMPLES: &str = "\
Examples:
  # What would a new sidecar image do to the pods of a Deployment?
  kubectl inplace plan deployment/web side=acme/side:1.27.2

  # Can this manifest be rolled out in place? (0: nothing to do, 2: yes, 3: no)
  kubectl inplace plan -f web.yaml --detailed-exitcode

  # Can what a pull request changes be rolled out in place? Needs no cluster
  git show main:web.yaml | kubectl inplace plan --against - -f web.yaml";

pub(super) const RESTART_EXAMPLES: &str = "\
Examples:
  # The sidecar of every pod, one pod after the other
  kubectl inplace restart deployment/web -c side

  # Two containers of one pod
  kubectl inplace restart pod/web-0 -c app,side

  # What would it do, and in which order?
  kubectl inplace restart daemonset/log -c agent --dry-run=server";

pub(super) const RESUME_EXAMPLES: &str = "\
Examples:
  # The terminal was closed during a rollout: resume it, from any machine
  kubectl inplace resume deployment/web

  # What would it still change?
  kubectl inplace resume deployment/web --dry-run=client

  # With more time for each pod, and without a question
  kubectl inplace resume deployment/web --timeout 15m --yes";

pub(super) const ABORT_EXAMPLES: &str = "\
Examples:
  # Restore what was before the rollout that stopped
  kubectl inplace abort deployment/web

  # What would be restored?
  kubectl inplace abort deployment/web --dry-run=client

  # In a script, without a question
  kubectl inplace abort deployment/web --yes

  # Another client has changed it since, and its controller shall do the rest
  kubectl inplace abort deployment/web --release";

pub(super) const UNDO_EXAMPLES: &str = "\
Examples:
  # Back to the images before the last update in place
  kubectl inplace undo deployment/web

  # Back to what ran before an earlier one, as kubectl inplace history names it
  kubectl inplace undo deployment/web --to 20260301-101500-1a2b3c

  # From the image digests that ran, in a script
  kubectl inplace undo deployment/web --pin-digest --yes";

pub(super) const RELEASE_FIELDS_EXAMPLES: &str = "\
A field that kubectl edit or kubectl set image has changed is theirs (metadata.managedFields): helm upgrade, or another server-side apply that does not force conflicts, fails if it changes that field. Only the ownership goes: the field keeps its value until the next apply sets it, and a field that the next apply does not have stays.

Examples:
  # Who owns fields of the template beside its chart?
  kubectl inplace release-fields deployment/web --dry-run=client

  # Release them, after a question
  kubectl inplace release-fields deployment/web

  # In a script, before helm upgrade
  kubectl inplace release-fields deployment/web --yes";

pub(super) const DIFF_EXAMPLES: &str = "\
Exit codes are those of kubectl diff: 0 nothing differs, 1 something does, more than 1 an error. KUBECTL_EXTERNAL_DIFF names another program to show the difference, as for kubectl diff.

Examples:
  # What does this manifest change, and what of it can be done in place?
  kubectl inplace diff -f web.yaml

  # The same for an image by hand
  kubectl inplace diff deployment/web side=acme/side:1.27.2

  # In another tool
  KUBECTL_EXTERNAL_DIFF='dyff between' kubectl inplace diff -f web.yaml";

pub(super) const HASH_EXAMPLES: &str = "\
The kubelet restarts a container whose hash changes. From 1.31 on only name and image count; from 1.16 to 1.30 the whole container as the API stores it, so that what admission injects (such as the service account's mount) changes it: then compare with a live pod.

Examples:
  # Of a manifest's containers, without a cluster
  kubectl inplace hash -f web.yaml

  # Would a kubelet 1.29 restart the sidecar of this pod for another tag?
  kubectl inplace hash pod/web-0 side=:1.27.2 --kubelet-version 1.29

  # Would its own kubelet restart anything of the pod for this manifest?
  kubectl inplace hash pod/web-0 -f web.yaml";

pub(super) const APPLY_EXAMPLES: &str = "\
Examples:
  # A new sidecar image: only that container restarts, pod by pod
  kubectl inplace apply deployment/web side=acme/side:1.27.2

  # More memory for the pods that run, without a restart or a question
  kubectl inplace apply deployment/web -c app --limits memory=512Mi --yes

  # The same sidecar image in every workload of a team
  kubectl inplace apply -A -l team=shop --image proxy=acme/proxy:2.4";

pub(super) const FOLLOW_EXAMPLES: &str = "\
Examples:
  # After kubectl set image pod/web-0 side=acme/side:1.27.2
  kubectl inplace follow pod/web-0

  # Follow an update that another terminal started
  kubectl inplace follow deployment/web

  # Until these images run, for a script: one JSON object a line
  kubectl inplace follow deployment/web side=:1.27.2 --timeout 10m -o json";

pub(super) const STATUS_EXAMPLES: &str = "\
Without a target it is every workload of the namespace, or of all with -A. Then only those are shown on which there is something to say: one that is held by a rollout of this program, whose controller is replacing pods, paused or stuck, that lacks pods, or of which a pod is not ready, fails, is updating, or asks for another image than the template. Where all are up to date, each has one line. -o json and -o yaml always have all of them, marked as notable or not.

What a state means: kubectl inplace explain STATE.

Examples:
  # On call: is anything in the middle of something, in the whole cluster?
  kubectl inplace status -A

  # One workload, with nodes and digests, shown again whenever it changes
  kubectl inplace status deployment/web -o wide -w

  # Fail in a script unless all is well with it
  kubectl inplace status deployment/web --exit-code";

pub(super) const HISTORY_EXAMPLES: &str = "\
The newest update is listed last, as in kubectl rollout history; a rollout in progress comes after it. Of updates of pods alone (apply --pods-only, or a pod of its own) only the last one of each pod is known, without who and how it ended.

Examples:
  # What was done to a Deployment in place?
  kubectl inplace history deployment/web

  # Of every Deployment of the namespace
  kubectl inplace history deployments

  # Of all DaemonSets with a label, for a script
  kubectl inplace history daemonsets -l team=shop -A -o json";

pub(super) const RBAC_EXAMPLES: &str = "\
Examples:
  # The Role for updating Deployments, into the namespace shop
  kubectl inplace rbac apply deployment -n shop | kubectl apply -f -

  # May I do it?
  kubectl inplace rbac apply deployment -n shop --check

  # May the CI's account plan in all namespaces?
  kubectl inplace rbac plan -A --check --as system:serviceaccount:ci:deployer";

pub(super) const EXPLAIN_EXAMPLES: &str = "\
Examples:
  # What does this code of a plan mean, and what can be done?
  kubectl inplace explain TemplateFieldNotInPlace

  # What does this state of a pod mean?
  kubectl inplace explain pending

  # What does this exit code mean?
  kubectl inplace explain 4";

pub(super) const COMPLETION_EXAMPLES: &str = "\
Examples:
  # For kubectl inplace, in every shell that completes kubectl
  kubectl inplace completion --install

  # For kubectl-inplace alone, in bash: now, and in ~/.bashrc
  source <(kubectl-inplace completion bash)

  # In zsh
  source <(kubectl-inplace completion zsh)

  # In fish
  kubectl-inplace completion fish | source";

pub(super) const VERSION_EXAMPLES: &str = "\
Examples:
  # Of this program and of the server
  kubectl inplace version

  # Without asking the server
  kubectl inplace version --client

  # For a script
  kubectl inplace version -o json";
