//! The examples below the help texts of the commands.

pub(super) const PLAN_EXAMPLES: &str = "\
Examples:
  # What would a new sidecar image do to the pods of a Deployment?
  kubectl inplace plan deployment/web side=acme/side:1.27.2

  # Can this manifest's change be rolled out in place? (0 nothing to do, 2 yes, 3 no)
  kubectl inplace plan -f web.yaml --detailed-exitcode

  # Can what a pull request changes be rolled out in place? Needs no cluster
  git show main:web.yaml | kubectl inplace plan --against - -f web.yaml --detailed-exitcode -o markdown

  # The same tag on every workload with a label, as JSON
  kubectl inplace plan deployments,daemonsets -l team=shop side=:1.27.2 -o json";

pub(super) const RESTART_EXAMPLES: &str = "\
Examples:
  # The sidecar of every pod again, one pod after the other; nothing else restarts
  kubectl inplace restart deployment/web -c side

  # Two containers of one pod
  kubectl inplace restart pod/web-0 -c app,side";

pub(super) const RESUME_EXAMPLES: &str = "\
Examples:
  # The terminal was closed in the middle of a rollout: go on, from any machine
  kubectl inplace resume deployment/web";

pub(super) const ABORT_EXAMPLES: &str = "\
Examples:
  # Take back what has been done so far
  kubectl inplace abort deployment/web";

pub(super) const UNDO_EXAMPLES: &str = "\
Examples:
  # Back to the images before the last update in place
  kubectl inplace undo deployment/web

  # Back to what ran before an earlier one
  kubectl inplace history deployment/web
  kubectl inplace undo deployment/web --to 20260301-101500-1a2b3c";

pub(super) const DIFF_EXAMPLES: &str = "\
Exit codes are those of kubectl diff: 0 nothing differs, 1 something does, more than 1 an error. KUBECTL_EXTERNAL_DIFF
names another program to show the difference, as for kubectl diff.

Examples:
  # What does this manifest change, and what of it can be done in place?
  kubectl inplace diff -f web.yaml

  # The same for an image by hand
  kubectl inplace diff deployment/web side=acme/side:1.27.2

  # In a tool of one's own
  KUBECTL_EXTERNAL_DIFF='dyff between --omit-header --set-exit-code' kubectl inplace diff -f web.yaml";

pub(super) const HASH_EXAMPLES: &str = "\
The kubelet restarts a container whose hash changes. From 1.31 on only name and image count; from 1.16 to 1.30 the whole
container as the API stores it, so that what admission injects (such as the service account's mount) changes it: then
compare with a live pod.

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

  # In a script: no question, two pods at once, ready for ten seconds each
  kubectl inplace apply daemonset/log agent=:2.4 --yes --max-unavailable 2 --min-ready-seconds 10

  # The same sidecar image in every workload of a team, three workloads at once
  kubectl inplace apply -l team=shop -A --image proxy=acme/proxy:2.4 --parallel-workloads 3";

pub(super) const FOLLOW_EXAMPLES: &str = "\
Examples:
  # After kubectl set image pod/web-0 side=acme/side:1.27.2
  kubectl inplace follow pod/web-0

  # Go on watching an update that another terminal began
  kubectl inplace follow deployment/web";

pub(super) const RBAC_EXAMPLES: &str = "\
Examples:
  # The Role for updating Deployments, into the namespace shop
  kubectl inplace rbac apply deployment -n shop | kubectl apply -f -

  # May the CI's account do it?
  kubectl inplace rbac apply deployment -n shop --check --as system:serviceaccount:ci:deployer";

pub(super) const EXPLAIN_EXAMPLES: &str = "\
Examples:
  # What does this code of a plan mean, and what can be done?
  kubectl inplace explain TemplateFieldNotInPlace

  # What does this exit code mean?
  kubectl inplace explain 4

  # All codes
  kubectl inplace explain";
