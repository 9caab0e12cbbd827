#compdef kubectl-inplace

autoload -U is-at-least

_kubectl-inplace() {
    typeset -A opt_args
    typeset -a _arguments_options
    local ret=1

    if is-at-least 5.2; then
        _arguments_options=(-s -S -C)
    else
        _arguments_options=(-s -C)
    fi

    local context curcontext="$curcontext" state line
    _arguments "${_arguments_options[@]}" : \
'-n+[Namespace]:NAME:_default' \
'--namespace=[Namespace]:NAME:_default' \
'--kubeconfig=[The kubeconfig to use]:FILE:_files' \
'--context=[Context of the kubeconfig]:NAME:_default' \
'--cluster=[Cluster of the kubeconfig]:NAME:_default' \
'--user=[User of the kubeconfig]:NAME:_default' \
'-s+[Address of the API server]:URL:_default' \
'--server=[Address of the API server]:URL:_default' \
'--token=[Bearer token]:TOKEN:_default' \
'--certificate-authority=[Certificate file of the server'\''s authority]:FILE:_files' \
'--client-certificate=[Client certificate file]:FILE:_files' \
'--client-key=[Client key file]:FILE:_files' \
'--insecure-skip-tls-verify=[Do not check the server'\''s certificate]::BOOL:(true false)' \
'--tls-server-name=[Name that the server'\''s certificate must have]:NAME:_default' \
'--as=[User to impersonate]:USER:_default' \
'*--as-group=[Group to impersonate; repeatable]:GROUP:_default' \
'--as-uid=[UID to impersonate]:UID:_default' \
'*--as-user-extra=[Extra of the impersonated user; repeatable]:KEY=VALUE:_default' \
'--request-timeout=[How long one request may take, repetitions included; 0 is no limit]:DURATION:_default' \
'--disable-compression=[Ask the server not to compress its answers]::BOOL:(true false)' \
'--warnings-as-errors=[End with an error if the server warned]::BOOL:(true false)' \
'--color=[Colours]:WHEN:((auto\:"On a terminal that can, unless \`NO_COLOR\` is set"
always\:"Always"
never\:"Never"))' \
'-q+[Show results and errors only]::BOOL:(true false)' \
'--quiet=[Show results and errors only]::BOOL:(true false)' \
'-v+[Log level\: 6 shows requests, 8 more]:LEVEL:_default' \
'--v=[Log level\: 6 shows requests, 8 more]:LEVEL:_default' \
'--version[Print the version]' \
'-h[Print help (see more with '\''--help'\'')]' \
'--help[Print help (see more with '\''--help'\'')]' \
":: :_kubectl-inplace_commands" \
"*::: :->kubectl-inplace" \
&& ret=0
    case $state in
    (kubectl-inplace)
        words=($line[1] "${words[@]}")
        (( CURRENT += 1 ))
        curcontext="${curcontext%:*:*}:kubectl-inplace-command-$line[1]:"
        case $line[1] in
            (plan)
_arguments "${_arguments_options[@]}" : \
'*--image=[The same as CONTAINER=IMAGE among the words]:CONTAINER=IMAGE:_default' \
'--all-containers=[Let '\''*=IMAGE'\'' stand for every container]::BOOL:(true false)' \
'*-f+[Manifests whose workloads are meant\: files, folders, or - for standard input]:FILE:_files' \
'*--filename=[Manifests whose workloads are meant\: files, folders, or - for standard input]:FILE:_files' \
'-R+[Read folders with their subfolders]::BOOL:(true false)' \
'--recursive=[Read folders with their subfolders]::BOOL:(true false)' \
'-l+[Label selector of the workloads]:SELECTOR:_default' \
'--selector=[Label selector of the workloads]:SELECTOR:_default' \
'-A+[In all namespaces; with -l]::BOOL:(true false)' \
'--all-namespaces=[In all namespaces; with -l]::BOOL:(true false)' \
'--max-unavailable=[Pods down at once, a number or a percentage \[default\: the owner'\''s own, else 1\]]:N|N%:_default' \
'--min-ready-seconds=[Seconds that a pod must stay ready before the next one is taken \[default\: the owner'\''s own; 5 for the first pod without a readiness probe\]]:SECONDS:_default' \
'--timeout=[How long one pod may take, such as 90s or 10m \[default\: 5m and its termination grace\]]:DURATION:_default' \
'--total-timeout=[How long everything may take \[default\: no limit\]]:DURATION:_default' \
'--pods-only=[Patch the pods and leave the owner'\''s template\: pods made later get the template'\''s image]::BOOL:(true false)' \
'--take-over=[Go on in place of a run that still holds the workload]::BOOL:(true false)' \
'--canary=[Stop after the first pods, a number or a percentage, and say how to go on; on a terminal ask]:N|N%:_default' \
'--pause-after=[Stop after every so many pods, and say how to go on; on a terminal ask]:N:_default' \
'--partition=[Only the pods of a StatefulSet from this ordinal on; a durable rollout takes the StatefulSet'\''s own]:N:_default' \
'*--pods=[Only these pods, separated by commas]:NAME:_default' \
'--node=[Only the pods on this node]:NAME:_default' \
'--disruption-budget=[Wait until the PodDisruptionBudgets allow a pod to be taken down, or do not ask them]:WHAT:((respect\:"Wait until they allow it"
ignore\:"Do not ask them"))' \
'--pre-pull=[Pull on each node first what it lacks, before anything is touched\: where the kubelet would pull, everywhere, or nowhere]:WHEN:(auto always never)' \
'--drain=[Take a pod out of its Services before a container of it is stopped, by a label that they select and its owner does not, else by a readiness gate that only kubectl has set, and put it back after, or do not \[default\: auto\]]:HOW:(auto none)' \
'--drain-seconds=[Seconds between a pod'\''s being out of its Services and its restart, for traffic that is on its way \[default\: 2\]]:SECONDS:_default' \
'--order=[In which order pods are taken; an OrderedReady StatefulSet always goes by ordinal]:ORDER:(unready-first name age node)' \
'*--container-order=[Change containers of a pod one after the other in this order, each once the one before is proven and ready; changed ones that are not named come last, together \[default\: all in one patch\]]:NAME:_default' \
'--before-pod=[Run this with sh -c before each pod is touched; a failure stops the rollout. Its environment\: KUBECTL_INPLACE_PHASE, _NAMESPACE, _POD, _POD_UID, _NODE, _WORKLOAD, _CONTAINERS. No lock keeps it\: give it to resume again; it runs at least once]:COMMAND:_default' \
'--after-pod=[The same once a pod is done and back in its Services; both count in the pod'\''s --timeout]:COMMAND:_default' \
'*--against=[Compare -f with these older manifests, with no cluster at all\: files, folders, or - for standard input]:FILE:_files' \
'-o+[Output format; wide is text with what an expert asks for, name the pods that would change, markdown a comment for a pull request]:FORMAT:((text\:"For a person"
wide\:"The text, and what an expert asks for; of a plan alone"
json\:"For a script\: one document for a plan, one object a line for a rollout"
yaml\:"The JSON document as YAML; of a plan alone"
name\:"The pods that would change, one a line as \`pod/NAME\`; of a plan alone"
markdown\:"For a pull request'\''s comment; of a plan alone"))' \
'--output=[Output format; wide is text with what an expert asks for, name the pods that would change, markdown a comment for a pull request]:FORMAT:((text\:"For a person"
wide\:"The text, and what an expert asks for; of a plan alone"
json\:"For a script\: one document for a plan, one object a line for a rollout"
yaml\:"The JSON document as YAML; of a plan alone"
name\:"The pods that would change, one a line as \`pod/NAME\`; of a plan alone"
markdown\:"For a pull request'\''s comment; of a plan alone"))' \
'--detailed-exitcode=[Exit with 0 for nothing to do, 2 for changes that are all in place, 3 for anything else]::BOOL:(true false)' \
'--out=[Save the plan, for apply --plan FILE]:FILE:_files' \
'--field-manager=[Name of the writer in the objects'\'' managed fields]:NAME:_default' \
'-n+[Namespace]:NAME:_default' \
'--namespace=[Namespace]:NAME:_default' \
'--kubeconfig=[The kubeconfig to use]:FILE:_files' \
'--context=[Context of the kubeconfig]:NAME:_default' \
'--cluster=[Cluster of the kubeconfig]:NAME:_default' \
'--user=[User of the kubeconfig]:NAME:_default' \
'-s+[Address of the API server]:URL:_default' \
'--server=[Address of the API server]:URL:_default' \
'--token=[Bearer token]:TOKEN:_default' \
'--certificate-authority=[Certificate file of the server'\''s authority]:FILE:_files' \
'--client-certificate=[Client certificate file]:FILE:_files' \
'--client-key=[Client key file]:FILE:_files' \
'--insecure-skip-tls-verify=[Do not check the server'\''s certificate]::BOOL:(true false)' \
'--tls-server-name=[Name that the server'\''s certificate must have]:NAME:_default' \
'--as=[User to impersonate]:USER:_default' \
'*--as-group=[Group to impersonate; repeatable]:GROUP:_default' \
'--as-uid=[UID to impersonate]:UID:_default' \
'*--as-user-extra=[Extra of the impersonated user; repeatable]:KEY=VALUE:_default' \
'--request-timeout=[How long one request may take, repetitions included; 0 is no limit]:DURATION:_default' \
'--disable-compression=[Ask the server not to compress its answers]::BOOL:(true false)' \
'--warnings-as-errors=[End with an error if the server warned]::BOOL:(true false)' \
'--color=[Colours]:WHEN:((auto\:"On a terminal that can, unless \`NO_COLOR\` is set"
always\:"Always"
never\:"Never"))' \
'-q+[Show results and errors only]::BOOL:(true false)' \
'--quiet=[Show results and errors only]::BOOL:(true false)' \
'-v+[Log level\: 6 shows requests, 8 more]:LEVEL:_default' \
'--v=[Log level\: 6 shows requests, 8 more]:LEVEL:_default' \
'-h[Print help (see more with '\''--help'\'')]' \
'--help[Print help (see more with '\''--help'\'')]' \
'*::words -- Workloads as TYPE/NAME, TYPE NAME or TYPE with -l, then images as CONTAINER=IMAGE. IMAGE may be \:TAG or @DIGEST, which keep the repository:_default' \
&& ret=0
;;
(diff)
_arguments "${_arguments_options[@]}" : \
'*--image=[The same as CONTAINER=IMAGE among the words]:CONTAINER=IMAGE:_default' \
'--all-containers=[Let '\''*=IMAGE'\'' stand for every container]::BOOL:(true false)' \
'*-f+[Manifests whose workloads are meant\: files, folders, or - for standard input]:FILE:_files' \
'*--filename=[Manifests whose workloads are meant\: files, folders, or - for standard input]:FILE:_files' \
'-R+[Read folders with their subfolders]::BOOL:(true false)' \
'--recursive=[Read folders with their subfolders]::BOOL:(true false)' \
'-l+[Label selector of the workloads]:SELECTOR:_default' \
'--selector=[Label selector of the workloads]:SELECTOR:_default' \
'-A+[In all namespaces; with -l]::BOOL:(true false)' \
'--all-namespaces=[In all namespaces; with -l]::BOOL:(true false)' \
'-C+[Unchanged lines around each change]:LINES:_default' \
'--context-lines=[Unchanged lines around each change]:LINES:_default' \
'--field-manager=[Name of the writer that the server is asked as]:NAME:_default' \
'-n+[Namespace]:NAME:_default' \
'--namespace=[Namespace]:NAME:_default' \
'--kubeconfig=[The kubeconfig to use]:FILE:_files' \
'--context=[Context of the kubeconfig]:NAME:_default' \
'--cluster=[Cluster of the kubeconfig]:NAME:_default' \
'--user=[User of the kubeconfig]:NAME:_default' \
'-s+[Address of the API server]:URL:_default' \
'--server=[Address of the API server]:URL:_default' \
'--token=[Bearer token]:TOKEN:_default' \
'--certificate-authority=[Certificate file of the server'\''s authority]:FILE:_files' \
'--client-certificate=[Client certificate file]:FILE:_files' \
'--client-key=[Client key file]:FILE:_files' \
'--insecure-skip-tls-verify=[Do not check the server'\''s certificate]::BOOL:(true false)' \
'--tls-server-name=[Name that the server'\''s certificate must have]:NAME:_default' \
'--as=[User to impersonate]:USER:_default' \
'*--as-group=[Group to impersonate; repeatable]:GROUP:_default' \
'--as-uid=[UID to impersonate]:UID:_default' \
'*--as-user-extra=[Extra of the impersonated user; repeatable]:KEY=VALUE:_default' \
'--request-timeout=[How long one request may take, repetitions included; 0 is no limit]:DURATION:_default' \
'--disable-compression=[Ask the server not to compress its answers]::BOOL:(true false)' \
'--warnings-as-errors=[End with an error if the server warned]::BOOL:(true false)' \
'--color=[Colours]:WHEN:((auto\:"On a terminal that can, unless \`NO_COLOR\` is set"
always\:"Always"
never\:"Never"))' \
'-q+[Show results and errors only]::BOOL:(true false)' \
'--quiet=[Show results and errors only]::BOOL:(true false)' \
'-v+[Log level\: 6 shows requests, 8 more]:LEVEL:_default' \
'--v=[Log level\: 6 shows requests, 8 more]:LEVEL:_default' \
'-h[Print help (see more with '\''--help'\'')]' \
'--help[Print help (see more with '\''--help'\'')]' \
'*::words -- Workloads as TYPE/NAME, TYPE NAME or TYPE with -l, then images as CONTAINER=IMAGE. IMAGE may be \:TAG or @DIGEST, which keep the repository:_default' \
&& ret=0
;;
(apply)
_arguments "${_arguments_options[@]}" : \
'*--image=[The same as CONTAINER=IMAGE among the words]:CONTAINER=IMAGE:_default' \
'--all-containers=[Let '\''*=IMAGE'\'' stand for every container]::BOOL:(true false)' \
'*-f+[Manifests whose workloads are meant\: files, folders, or - for standard input]:FILE:_files' \
'*--filename=[Manifests whose workloads are meant\: files, folders, or - for standard input]:FILE:_files' \
'-R+[Read folders with their subfolders]::BOOL:(true false)' \
'--recursive=[Read folders with their subfolders]::BOOL:(true false)' \
'-l+[Label selector of the workloads]:SELECTOR:_default' \
'--selector=[Label selector of the workloads]:SELECTOR:_default' \
'-A+[In all namespaces; with -l]::BOOL:(true false)' \
'--all-namespaces=[In all namespaces; with -l]::BOOL:(true false)' \
'--max-unavailable=[Pods down at once, a number or a percentage \[default\: the owner'\''s own, else 1\]]:N|N%:_default' \
'--min-ready-seconds=[Seconds that a pod must stay ready before the next one is taken \[default\: the owner'\''s own; 5 for the first pod without a readiness probe\]]:SECONDS:_default' \
'--timeout=[How long one pod may take, such as 90s or 10m \[default\: 5m and its termination grace\]]:DURATION:_default' \
'--total-timeout=[How long everything may take \[default\: no limit\]]:DURATION:_default' \
'--pods-only=[Patch the pods and leave the owner'\''s template\: pods made later get the template'\''s image]::BOOL:(true false)' \
'--take-over=[Go on in place of a run that still holds the workload]::BOOL:(true false)' \
'--canary=[Stop after the first pods, a number or a percentage, and say how to go on; on a terminal ask]:N|N%:_default' \
'--pause-after=[Stop after every so many pods, and say how to go on; on a terminal ask]:N:_default' \
'--partition=[Only the pods of a StatefulSet from this ordinal on; a durable rollout takes the StatefulSet'\''s own]:N:_default' \
'*--pods=[Only these pods, separated by commas]:NAME:_default' \
'--node=[Only the pods on this node]:NAME:_default' \
'--disruption-budget=[Wait until the PodDisruptionBudgets allow a pod to be taken down, or do not ask them]:WHAT:((respect\:"Wait until they allow it"
ignore\:"Do not ask them"))' \
'--pre-pull=[Pull on each node first what it lacks, before anything is touched\: where the kubelet would pull, everywhere, or nowhere]:WHEN:(auto always never)' \
'--drain=[Take a pod out of its Services before a container of it is stopped, by a label that they select and its owner does not, else by a readiness gate that only kubectl has set, and put it back after, or do not \[default\: auto\]]:HOW:(auto none)' \
'--drain-seconds=[Seconds between a pod'\''s being out of its Services and its restart, for traffic that is on its way \[default\: 2\]]:SECONDS:_default' \
'--order=[In which order pods are taken; an OrderedReady StatefulSet always goes by ordinal]:ORDER:(unready-first name age node)' \
'*--container-order=[Change containers of a pod one after the other in this order, each once the one before is proven and ready; changed ones that are not named come last, together \[default\: all in one patch\]]:NAME:_default' \
'--before-pod=[Run this with sh -c before each pod is touched; a failure stops the rollout. Its environment\: KUBECTL_INPLACE_PHASE, _NAMESPACE, _POD, _POD_UID, _NODE, _WORKLOAD, _CONTAINERS. No lock keeps it\: give it to resume again; it runs at least once]:COMMAND:_default' \
'--after-pod=[The same once a pod is done and back in its Services; both count in the pod'\''s --timeout]:COMMAND:_default' \
'(--image -f --filename -l --selector -A --all-namespaces --all-containers -R --recursive --max-unavailable --min-ready-seconds --timeout --total-timeout --pods-only --take-over --canary --pause-after --partition --pods --node --order --container-order --before-pod --after-pod --pre-pull --disruption-budget --field-manager)--plan=[Do exactly what a saved plan says, without asking; refused if anything moved since]:FILE:_files' \
'-o+[Output format; json is one object a line]:FORMAT:((text\:"For a person"
json\:"For a script\: one document for a plan, one object a line for a rollout"))' \
'--output=[Output format; json is one object a line]:FORMAT:((text\:"For a person"
json\:"For a script\: one document for a plan, one object a line for a rollout"))' \
'-y+[Do not ask; required where there is no terminal]::BOOL:(true false)' \
'--yes=[Do not ask; required where there is no terminal]::BOOL:(true false)' \
'--reason=[Why; recorded in the history, and as kubernetes.io/change-cause of a Deployment]:TEXT:_default' \
'--on-failure=[What to do when a pod fails\: stop, take everything back, or go on with the other pods and workloads]:WHAT:((stop\:"Stop before the next pod"
undo\:"Take everything back"
continue\:"Go on with the other pods, as long as pods may be down\: one that failed counts as down"))' \
'--keep-field-ownership=[Stay owner of the changed fields for server-side apply, so that an apply of another image is a conflict]::BOOL:(true false)' \
'--record=[Write down everything that is decided, and from what, as one JSON object a line\: for a report of a bug]:FILE:_files' \
'--parallel-workloads=[Workloads at once; each keeps to its own budget]:N:_default' \
'--dry-run=[client\: plan without asking the server about the patches; server\: plan as usual. Neither changes anything]::MODE:((none\:"Do it"
client\:"Only plan, without asking the server about the patches"
server\:"Only plan"))' \
'--field-manager=[Name of the writer in the objects'\'' managed fields]:NAME:_default' \
'-n+[Namespace]:NAME:_default' \
'--namespace=[Namespace]:NAME:_default' \
'--kubeconfig=[The kubeconfig to use]:FILE:_files' \
'--context=[Context of the kubeconfig]:NAME:_default' \
'--cluster=[Cluster of the kubeconfig]:NAME:_default' \
'--user=[User of the kubeconfig]:NAME:_default' \
'-s+[Address of the API server]:URL:_default' \
'--server=[Address of the API server]:URL:_default' \
'--token=[Bearer token]:TOKEN:_default' \
'--certificate-authority=[Certificate file of the server'\''s authority]:FILE:_files' \
'--client-certificate=[Client certificate file]:FILE:_files' \
'--client-key=[Client key file]:FILE:_files' \
'--insecure-skip-tls-verify=[Do not check the server'\''s certificate]::BOOL:(true false)' \
'--tls-server-name=[Name that the server'\''s certificate must have]:NAME:_default' \
'--as=[User to impersonate]:USER:_default' \
'*--as-group=[Group to impersonate; repeatable]:GROUP:_default' \
'--as-uid=[UID to impersonate]:UID:_default' \
'*--as-user-extra=[Extra of the impersonated user; repeatable]:KEY=VALUE:_default' \
'--request-timeout=[How long one request may take, repetitions included; 0 is no limit]:DURATION:_default' \
'--disable-compression=[Ask the server not to compress its answers]::BOOL:(true false)' \
'--warnings-as-errors=[End with an error if the server warned]::BOOL:(true false)' \
'--color=[Colours]:WHEN:((auto\:"On a terminal that can, unless \`NO_COLOR\` is set"
always\:"Always"
never\:"Never"))' \
'-q+[Show results and errors only]::BOOL:(true false)' \
'--quiet=[Show results and errors only]::BOOL:(true false)' \
'-v+[Log level\: 6 shows requests, 8 more]:LEVEL:_default' \
'--v=[Log level\: 6 shows requests, 8 more]:LEVEL:_default' \
'-h[Print help (see more with '\''--help'\'')]' \
'--help[Print help (see more with '\''--help'\'')]' \
'*::words -- Workloads as TYPE/NAME, TYPE NAME or TYPE with -l, then images as CONTAINER=IMAGE. IMAGE may be \:TAG or @DIGEST, which keep the repository:_default' \
&& ret=0
;;
(restart)
_arguments "${_arguments_options[@]}" : \
'*--image=[The same as CONTAINER=IMAGE among the words]:CONTAINER=IMAGE:_default' \
'--all-containers=[Let '\''*=IMAGE'\'' stand for every container]::BOOL:(true false)' \
'*-f+[Manifests whose workloads are meant\: files, folders, or - for standard input]:FILE:_files' \
'*--filename=[Manifests whose workloads are meant\: files, folders, or - for standard input]:FILE:_files' \
'-R+[Read folders with their subfolders]::BOOL:(true false)' \
'--recursive=[Read folders with their subfolders]::BOOL:(true false)' \
'-l+[Label selector of the workloads]:SELECTOR:_default' \
'--selector=[Label selector of the workloads]:SELECTOR:_default' \
'-A+[In all namespaces; with -l]::BOOL:(true false)' \
'--all-namespaces=[In all namespaces; with -l]::BOOL:(true false)' \
'*-c+[The containers that restart, separated by commas; required unless there is one]:NAME:_default' \
'*--container=[The containers that restart, separated by commas; required unless there is one]:NAME:_default' \
'--max-unavailable=[Pods down at once, a number or a percentage \[default\: the owner'\''s own, else 1\]]:N|N%:_default' \
'--min-ready-seconds=[Seconds that a pod must stay ready before the next one is taken \[default\: the owner'\''s own; 5 for the first pod without a readiness probe\]]:SECONDS:_default' \
'--timeout=[How long one pod may take, such as 90s or 10m \[default\: 5m and its termination grace\]]:DURATION:_default' \
'--total-timeout=[How long everything may take \[default\: no limit\]]:DURATION:_default' \
'--pods-only=[Patch the pods and leave the owner'\''s template\: pods made later get the template'\''s image]::BOOL:(true false)' \
'--take-over=[Go on in place of a run that still holds the workload]::BOOL:(true false)' \
'--canary=[Stop after the first pods, a number or a percentage, and say how to go on; on a terminal ask]:N|N%:_default' \
'--pause-after=[Stop after every so many pods, and say how to go on; on a terminal ask]:N:_default' \
'--partition=[Only the pods of a StatefulSet from this ordinal on; a durable rollout takes the StatefulSet'\''s own]:N:_default' \
'*--pods=[Only these pods, separated by commas]:NAME:_default' \
'--node=[Only the pods on this node]:NAME:_default' \
'--disruption-budget=[Wait until the PodDisruptionBudgets allow a pod to be taken down, or do not ask them]:WHAT:((respect\:"Wait until they allow it"
ignore\:"Do not ask them"))' \
'--pre-pull=[Pull on each node first what it lacks, before anything is touched\: where the kubelet would pull, everywhere, or nowhere]:WHEN:(auto always never)' \
'--drain=[Take a pod out of its Services before a container of it is stopped, by a label that they select and its owner does not, else by a readiness gate that only kubectl has set, and put it back after, or do not \[default\: auto\]]:HOW:(auto none)' \
'--drain-seconds=[Seconds between a pod'\''s being out of its Services and its restart, for traffic that is on its way \[default\: 2\]]:SECONDS:_default' \
'--order=[In which order pods are taken; an OrderedReady StatefulSet always goes by ordinal]:ORDER:(unready-first name age node)' \
'*--container-order=[Change containers of a pod one after the other in this order, each once the one before is proven and ready; changed ones that are not named come last, together \[default\: all in one patch\]]:NAME:_default' \
'--before-pod=[Run this with sh -c before each pod is touched; a failure stops the rollout. Its environment\: KUBECTL_INPLACE_PHASE, _NAMESPACE, _POD, _POD_UID, _NODE, _WORKLOAD, _CONTAINERS. No lock keeps it\: give it to resume again; it runs at least once]:COMMAND:_default' \
'--after-pod=[The same once a pod is done and back in its Services; both count in the pod'\''s --timeout]:COMMAND:_default' \
'--reason=[Why; recorded in the history, and as kubernetes.io/change-cause of a Deployment]:TEXT:_default' \
'--on-failure=[What to do when a pod fails\: stop, take everything back, or go on with the other pods and workloads]:WHAT:((stop\:"Stop before the next pod"
undo\:"Take everything back"
continue\:"Go on with the other pods, as long as pods may be down\: one that failed counts as down"))' \
'--keep-field-ownership=[Stay owner of the changed fields for server-side apply, so that an apply of another image is a conflict]::BOOL:(true false)' \
'--record=[Write down everything that is decided, and from what, as one JSON object a line\: for a report of a bug]:FILE:_files' \
'--parallel-workloads=[Workloads at once; each keeps to its own budget]:N:_default' \
'-o+[Output format; json is one object a line]:FORMAT:((text\:"For a person"
json\:"For a script\: one document for a plan, one object a line for a rollout"))' \
'--output=[Output format; json is one object a line]:FORMAT:((text\:"For a person"
json\:"For a script\: one document for a plan, one object a line for a rollout"))' \
'-y+[Do not ask; required where there is no terminal]::BOOL:(true false)' \
'--yes=[Do not ask; required where there is no terminal]::BOOL:(true false)' \
'--dry-run=[client\: plan without asking the server about the patches; server\: plan as usual. Neither changes anything]::MODE:((none\:"Do it"
client\:"Only plan, without asking the server about the patches"
server\:"Only plan"))' \
'--field-manager=[Name of the writer in the objects'\'' managed fields]:NAME:_default' \
'-n+[Namespace]:NAME:_default' \
'--namespace=[Namespace]:NAME:_default' \
'--kubeconfig=[The kubeconfig to use]:FILE:_files' \
'--context=[Context of the kubeconfig]:NAME:_default' \
'--cluster=[Cluster of the kubeconfig]:NAME:_default' \
'--user=[User of the kubeconfig]:NAME:_default' \
'-s+[Address of the API server]:URL:_default' \
'--server=[Address of the API server]:URL:_default' \
'--token=[Bearer token]:TOKEN:_default' \
'--certificate-authority=[Certificate file of the server'\''s authority]:FILE:_files' \
'--client-certificate=[Client certificate file]:FILE:_files' \
'--client-key=[Client key file]:FILE:_files' \
'--insecure-skip-tls-verify=[Do not check the server'\''s certificate]::BOOL:(true false)' \
'--tls-server-name=[Name that the server'\''s certificate must have]:NAME:_default' \
'--as=[User to impersonate]:USER:_default' \
'*--as-group=[Group to impersonate; repeatable]:GROUP:_default' \
'--as-uid=[UID to impersonate]:UID:_default' \
'*--as-user-extra=[Extra of the impersonated user; repeatable]:KEY=VALUE:_default' \
'--request-timeout=[How long one request may take, repetitions included; 0 is no limit]:DURATION:_default' \
'--disable-compression=[Ask the server not to compress its answers]::BOOL:(true false)' \
'--warnings-as-errors=[End with an error if the server warned]::BOOL:(true false)' \
'--color=[Colours]:WHEN:((auto\:"On a terminal that can, unless \`NO_COLOR\` is set"
always\:"Always"
never\:"Never"))' \
'-q+[Show results and errors only]::BOOL:(true false)' \
'--quiet=[Show results and errors only]::BOOL:(true false)' \
'-v+[Log level\: 6 shows requests, 8 more]:LEVEL:_default' \
'--v=[Log level\: 6 shows requests, 8 more]:LEVEL:_default' \
'-h[Print help (see more with '\''--help'\'')]' \
'--help[Print help (see more with '\''--help'\'')]' \
'*::words -- Workloads as TYPE/NAME, TYPE NAME or TYPE with -l, then images as CONTAINER=IMAGE. IMAGE may be \:TAG or @DIGEST, which keep the repository:_default' \
&& ret=0
;;
(resume)
_arguments "${_arguments_options[@]}" : \
'*--image=[The same as CONTAINER=IMAGE among the words]:CONTAINER=IMAGE:_default' \
'--all-containers=[Let '\''*=IMAGE'\'' stand for every container]::BOOL:(true false)' \
'*-f+[Manifests whose workloads are meant\: files, folders, or - for standard input]:FILE:_files' \
'*--filename=[Manifests whose workloads are meant\: files, folders, or - for standard input]:FILE:_files' \
'-R+[Read folders with their subfolders]::BOOL:(true false)' \
'--recursive=[Read folders with their subfolders]::BOOL:(true false)' \
'-l+[Label selector of the workloads]:SELECTOR:_default' \
'--selector=[Label selector of the workloads]:SELECTOR:_default' \
'-A+[In all namespaces; with -l]::BOOL:(true false)' \
'--all-namespaces=[In all namespaces; with -l]::BOOL:(true false)' \
'--max-unavailable=[Pods down at once, a number or a percentage \[default\: the owner'\''s own, else 1\]]:N|N%:_default' \
'--min-ready-seconds=[Seconds that a pod must stay ready before the next one is taken \[default\: the owner'\''s own; 5 for the first pod without a readiness probe\]]:SECONDS:_default' \
'--timeout=[How long one pod may take, such as 90s or 10m \[default\: 5m and its termination grace\]]:DURATION:_default' \
'--total-timeout=[How long everything may take \[default\: no limit\]]:DURATION:_default' \
'--pods-only=[Patch the pods and leave the owner'\''s template\: pods made later get the template'\''s image]::BOOL:(true false)' \
'--take-over=[Go on in place of a run that still holds the workload]::BOOL:(true false)' \
'--canary=[Stop after the first pods, a number or a percentage, and say how to go on; on a terminal ask]:N|N%:_default' \
'--pause-after=[Stop after every so many pods, and say how to go on; on a terminal ask]:N:_default' \
'--partition=[Only the pods of a StatefulSet from this ordinal on; a durable rollout takes the StatefulSet'\''s own]:N:_default' \
'*--pods=[Only these pods, separated by commas]:NAME:_default' \
'--node=[Only the pods on this node]:NAME:_default' \
'--disruption-budget=[Wait until the PodDisruptionBudgets allow a pod to be taken down, or do not ask them]:WHAT:((respect\:"Wait until they allow it"
ignore\:"Do not ask them"))' \
'--pre-pull=[Pull on each node first what it lacks, before anything is touched\: where the kubelet would pull, everywhere, or nowhere]:WHEN:(auto always never)' \
'--drain=[Take a pod out of its Services before a container of it is stopped, by a label that they select and its owner does not, else by a readiness gate that only kubectl has set, and put it back after, or do not \[default\: auto\]]:HOW:(auto none)' \
'--drain-seconds=[Seconds between a pod'\''s being out of its Services and its restart, for traffic that is on its way \[default\: 2\]]:SECONDS:_default' \
'--order=[In which order pods are taken; an OrderedReady StatefulSet always goes by ordinal]:ORDER:(unready-first name age node)' \
'*--container-order=[Change containers of a pod one after the other in this order, each once the one before is proven and ready; changed ones that are not named come last, together \[default\: all in one patch\]]:NAME:_default' \
'--before-pod=[Run this with sh -c before each pod is touched; a failure stops the rollout. Its environment\: KUBECTL_INPLACE_PHASE, _NAMESPACE, _POD, _POD_UID, _NODE, _WORKLOAD, _CONTAINERS. No lock keeps it\: give it to resume again; it runs at least once]:COMMAND:_default' \
'--after-pod=[The same once a pod is done and back in its Services; both count in the pod'\''s --timeout]:COMMAND:_default' \
'--reason=[Why; recorded in the history, and as kubernetes.io/change-cause of a Deployment]:TEXT:_default' \
'--on-failure=[What to do when a pod fails\: stop, take everything back, or go on with the other pods and workloads]:WHAT:((stop\:"Stop before the next pod"
undo\:"Take everything back"
continue\:"Go on with the other pods, as long as pods may be down\: one that failed counts as down"))' \
'--keep-field-ownership=[Stay owner of the changed fields for server-side apply, so that an apply of another image is a conflict]::BOOL:(true false)' \
'--record=[Write down everything that is decided, and from what, as one JSON object a line\: for a report of a bug]:FILE:_files' \
'--parallel-workloads=[Workloads at once; each keeps to its own budget]:N:_default' \
'-o+[Output format; json is one object a line]:FORMAT:((text\:"For a person"
json\:"For a script\: one document for a plan, one object a line for a rollout"))' \
'--output=[Output format; json is one object a line]:FORMAT:((text\:"For a person"
json\:"For a script\: one document for a plan, one object a line for a rollout"))' \
'-y+[Do not ask; required where there is no terminal]::BOOL:(true false)' \
'--yes=[Do not ask; required where there is no terminal]::BOOL:(true false)' \
'--field-manager=[Name of the writer in the objects'\'' managed fields]:NAME:_default' \
'-n+[Namespace]:NAME:_default' \
'--namespace=[Namespace]:NAME:_default' \
'--kubeconfig=[The kubeconfig to use]:FILE:_files' \
'--context=[Context of the kubeconfig]:NAME:_default' \
'--cluster=[Cluster of the kubeconfig]:NAME:_default' \
'--user=[User of the kubeconfig]:NAME:_default' \
'-s+[Address of the API server]:URL:_default' \
'--server=[Address of the API server]:URL:_default' \
'--token=[Bearer token]:TOKEN:_default' \
'--certificate-authority=[Certificate file of the server'\''s authority]:FILE:_files' \
'--client-certificate=[Client certificate file]:FILE:_files' \
'--client-key=[Client key file]:FILE:_files' \
'--insecure-skip-tls-verify=[Do not check the server'\''s certificate]::BOOL:(true false)' \
'--tls-server-name=[Name that the server'\''s certificate must have]:NAME:_default' \
'--as=[User to impersonate]:USER:_default' \
'*--as-group=[Group to impersonate; repeatable]:GROUP:_default' \
'--as-uid=[UID to impersonate]:UID:_default' \
'*--as-user-extra=[Extra of the impersonated user; repeatable]:KEY=VALUE:_default' \
'--request-timeout=[How long one request may take, repetitions included; 0 is no limit]:DURATION:_default' \
'--disable-compression=[Ask the server not to compress its answers]::BOOL:(true false)' \
'--warnings-as-errors=[End with an error if the server warned]::BOOL:(true false)' \
'--color=[Colours]:WHEN:((auto\:"On a terminal that can, unless \`NO_COLOR\` is set"
always\:"Always"
never\:"Never"))' \
'-q+[Show results and errors only]::BOOL:(true false)' \
'--quiet=[Show results and errors only]::BOOL:(true false)' \
'-v+[Log level\: 6 shows requests, 8 more]:LEVEL:_default' \
'--v=[Log level\: 6 shows requests, 8 more]:LEVEL:_default' \
'-h[Print help (see more with '\''--help'\'')]' \
'--help[Print help (see more with '\''--help'\'')]' \
'*::words -- Workloads as TYPE/NAME, TYPE NAME or TYPE with -l, then images as CONTAINER=IMAGE. IMAGE may be \:TAG or @DIGEST, which keep the repository:_default' \
&& ret=0
;;
(abort)
_arguments "${_arguments_options[@]}" : \
'*--image=[The same as CONTAINER=IMAGE among the words]:CONTAINER=IMAGE:_default' \
'--all-containers=[Let '\''*=IMAGE'\'' stand for every container]::BOOL:(true false)' \
'*-f+[Manifests whose workloads are meant\: files, folders, or - for standard input]:FILE:_files' \
'*--filename=[Manifests whose workloads are meant\: files, folders, or - for standard input]:FILE:_files' \
'-R+[Read folders with their subfolders]::BOOL:(true false)' \
'--recursive=[Read folders with their subfolders]::BOOL:(true false)' \
'-l+[Label selector of the workloads]:SELECTOR:_default' \
'--selector=[Label selector of the workloads]:SELECTOR:_default' \
'-A+[In all namespaces; with -l]::BOOL:(true false)' \
'--all-namespaces=[In all namespaces; with -l]::BOOL:(true false)' \
'--max-unavailable=[Pods down at once, a number or a percentage \[default\: the owner'\''s own, else 1\]]:N|N%:_default' \
'--min-ready-seconds=[Seconds that a pod must stay ready before the next one is taken \[default\: the owner'\''s own; 5 for the first pod without a readiness probe\]]:SECONDS:_default' \
'--timeout=[How long one pod may take, such as 90s or 10m \[default\: 5m and its termination grace\]]:DURATION:_default' \
'--total-timeout=[How long everything may take \[default\: no limit\]]:DURATION:_default' \
'--pods-only=[Patch the pods and leave the owner'\''s template\: pods made later get the template'\''s image]::BOOL:(true false)' \
'--take-over=[Go on in place of a run that still holds the workload]::BOOL:(true false)' \
'--canary=[Stop after the first pods, a number or a percentage, and say how to go on; on a terminal ask]:N|N%:_default' \
'--pause-after=[Stop after every so many pods, and say how to go on; on a terminal ask]:N:_default' \
'--partition=[Only the pods of a StatefulSet from this ordinal on; a durable rollout takes the StatefulSet'\''s own]:N:_default' \
'*--pods=[Only these pods, separated by commas]:NAME:_default' \
'--node=[Only the pods on this node]:NAME:_default' \
'--disruption-budget=[Wait until the PodDisruptionBudgets allow a pod to be taken down, or do not ask them]:WHAT:((respect\:"Wait until they allow it"
ignore\:"Do not ask them"))' \
'--pre-pull=[Pull on each node first what it lacks, before anything is touched\: where the kubelet would pull, everywhere, or nowhere]:WHEN:(auto always never)' \
'--drain=[Take a pod out of its Services before a container of it is stopped, by a label that they select and its owner does not, else by a readiness gate that only kubectl has set, and put it back after, or do not \[default\: auto\]]:HOW:(auto none)' \
'--drain-seconds=[Seconds between a pod'\''s being out of its Services and its restart, for traffic that is on its way \[default\: 2\]]:SECONDS:_default' \
'--order=[In which order pods are taken; an OrderedReady StatefulSet always goes by ordinal]:ORDER:(unready-first name age node)' \
'*--container-order=[Change containers of a pod one after the other in this order, each once the one before is proven and ready; changed ones that are not named come last, together \[default\: all in one patch\]]:NAME:_default' \
'--before-pod=[Run this with sh -c before each pod is touched; a failure stops the rollout. Its environment\: KUBECTL_INPLACE_PHASE, _NAMESPACE, _POD, _POD_UID, _NODE, _WORKLOAD, _CONTAINERS. No lock keeps it\: give it to resume again; it runs at least once]:COMMAND:_default' \
'--after-pod=[The same once a pod is done and back in its Services; both count in the pod'\''s --timeout]:COMMAND:_default' \
'--reason=[Why; recorded in the history, and as kubernetes.io/change-cause of a Deployment]:TEXT:_default' \
'--on-failure=[What to do when a pod fails\: stop, take everything back, or go on with the other pods and workloads]:WHAT:((stop\:"Stop before the next pod"
undo\:"Take everything back"
continue\:"Go on with the other pods, as long as pods may be down\: one that failed counts as down"))' \
'--keep-field-ownership=[Stay owner of the changed fields for server-side apply, so that an apply of another image is a conflict]::BOOL:(true false)' \
'--record=[Write down everything that is decided, and from what, as one JSON object a line\: for a report of a bug]:FILE:_files' \
'--parallel-workloads=[Workloads at once; each keeps to its own budget]:N:_default' \
'-o+[Output format; json is one object a line]:FORMAT:((text\:"For a person"
json\:"For a script\: one document for a plan, one object a line for a rollout"))' \
'--output=[Output format; json is one object a line]:FORMAT:((text\:"For a person"
json\:"For a script\: one document for a plan, one object a line for a rollout"))' \
'-y+[Do not ask; required where there is no terminal]::BOOL:(true false)' \
'--yes=[Do not ask; required where there is no terminal]::BOOL:(true false)' \
'--field-manager=[Name of the writer in the objects'\'' managed fields]:NAME:_default' \
'-n+[Namespace]:NAME:_default' \
'--namespace=[Namespace]:NAME:_default' \
'--kubeconfig=[The kubeconfig to use]:FILE:_files' \
'--context=[Context of the kubeconfig]:NAME:_default' \
'--cluster=[Cluster of the kubeconfig]:NAME:_default' \
'--user=[User of the kubeconfig]:NAME:_default' \
'-s+[Address of the API server]:URL:_default' \
'--server=[Address of the API server]:URL:_default' \
'--token=[Bearer token]:TOKEN:_default' \
'--certificate-authority=[Certificate file of the server'\''s authority]:FILE:_files' \
'--client-certificate=[Client certificate file]:FILE:_files' \
'--client-key=[Client key file]:FILE:_files' \
'--insecure-skip-tls-verify=[Do not check the server'\''s certificate]::BOOL:(true false)' \
'--tls-server-name=[Name that the server'\''s certificate must have]:NAME:_default' \
'--as=[User to impersonate]:USER:_default' \
'*--as-group=[Group to impersonate; repeatable]:GROUP:_default' \
'--as-uid=[UID to impersonate]:UID:_default' \
'*--as-user-extra=[Extra of the impersonated user; repeatable]:KEY=VALUE:_default' \
'--request-timeout=[How long one request may take, repetitions included; 0 is no limit]:DURATION:_default' \
'--disable-compression=[Ask the server not to compress its answers]::BOOL:(true false)' \
'--warnings-as-errors=[End with an error if the server warned]::BOOL:(true false)' \
'--color=[Colours]:WHEN:((auto\:"On a terminal that can, unless \`NO_COLOR\` is set"
always\:"Always"
never\:"Never"))' \
'-q+[Show results and errors only]::BOOL:(true false)' \
'--quiet=[Show results and errors only]::BOOL:(true false)' \
'-v+[Log level\: 6 shows requests, 8 more]:LEVEL:_default' \
'--v=[Log level\: 6 shows requests, 8 more]:LEVEL:_default' \
'-h[Print help (see more with '\''--help'\'')]' \
'--help[Print help (see more with '\''--help'\'')]' \
'*::words -- Workloads as TYPE/NAME, TYPE NAME or TYPE with -l, then images as CONTAINER=IMAGE. IMAGE may be \:TAG or @DIGEST, which keep the repository:_default' \
&& ret=0
;;
(undo)
_arguments "${_arguments_options[@]}" : \
'*--image=[The same as CONTAINER=IMAGE among the words]:CONTAINER=IMAGE:_default' \
'--all-containers=[Let '\''*=IMAGE'\'' stand for every container]::BOOL:(true false)' \
'*-f+[Manifests whose workloads are meant\: files, folders, or - for standard input]:FILE:_files' \
'*--filename=[Manifests whose workloads are meant\: files, folders, or - for standard input]:FILE:_files' \
'-R+[Read folders with their subfolders]::BOOL:(true false)' \
'--recursive=[Read folders with their subfolders]::BOOL:(true false)' \
'-l+[Label selector of the workloads]:SELECTOR:_default' \
'--selector=[Label selector of the workloads]:SELECTOR:_default' \
'-A+[In all namespaces; with -l]::BOOL:(true false)' \
'--all-namespaces=[In all namespaces; with -l]::BOOL:(true false)' \
'--max-unavailable=[Pods down at once, a number or a percentage \[default\: the owner'\''s own, else 1\]]:N|N%:_default' \
'--min-ready-seconds=[Seconds that a pod must stay ready before the next one is taken \[default\: the owner'\''s own; 5 for the first pod without a readiness probe\]]:SECONDS:_default' \
'--timeout=[How long one pod may take, such as 90s or 10m \[default\: 5m and its termination grace\]]:DURATION:_default' \
'--total-timeout=[How long everything may take \[default\: no limit\]]:DURATION:_default' \
'--pods-only=[Patch the pods and leave the owner'\''s template\: pods made later get the template'\''s image]::BOOL:(true false)' \
'--take-over=[Go on in place of a run that still holds the workload]::BOOL:(true false)' \
'--canary=[Stop after the first pods, a number or a percentage, and say how to go on; on a terminal ask]:N|N%:_default' \
'--pause-after=[Stop after every so many pods, and say how to go on; on a terminal ask]:N:_default' \
'--partition=[Only the pods of a StatefulSet from this ordinal on; a durable rollout takes the StatefulSet'\''s own]:N:_default' \
'*--pods=[Only these pods, separated by commas]:NAME:_default' \
'--node=[Only the pods on this node]:NAME:_default' \
'--disruption-budget=[Wait until the PodDisruptionBudgets allow a pod to be taken down, or do not ask them]:WHAT:((respect\:"Wait until they allow it"
ignore\:"Do not ask them"))' \
'--pre-pull=[Pull on each node first what it lacks, before anything is touched\: where the kubelet would pull, everywhere, or nowhere]:WHEN:(auto always never)' \
'--drain=[Take a pod out of its Services before a container of it is stopped, by a label that they select and its owner does not, else by a readiness gate that only kubectl has set, and put it back after, or do not \[default\: auto\]]:HOW:(auto none)' \
'--drain-seconds=[Seconds between a pod'\''s being out of its Services and its restart, for traffic that is on its way \[default\: 2\]]:SECONDS:_default' \
'--order=[In which order pods are taken; an OrderedReady StatefulSet always goes by ordinal]:ORDER:(unready-first name age node)' \
'*--container-order=[Change containers of a pod one after the other in this order, each once the one before is proven and ready; changed ones that are not named come last, together \[default\: all in one patch\]]:NAME:_default' \
'--before-pod=[Run this with sh -c before each pod is touched; a failure stops the rollout. Its environment\: KUBECTL_INPLACE_PHASE, _NAMESPACE, _POD, _POD_UID, _NODE, _WORKLOAD, _CONTAINERS. No lock keeps it\: give it to resume again; it runs at least once]:COMMAND:_default' \
'--after-pod=[The same once a pod is done and back in its Services; both count in the pod'\''s --timeout]:COMMAND:_default' \
'--reason=[Why; recorded in the history, and as kubernetes.io/change-cause of a Deployment]:TEXT:_default' \
'--on-failure=[What to do when a pod fails\: stop, take everything back, or go on with the other pods and workloads]:WHAT:((stop\:"Stop before the next pod"
undo\:"Take everything back"
continue\:"Go on with the other pods, as long as pods may be down\: one that failed counts as down"))' \
'--keep-field-ownership=[Stay owner of the changed fields for server-side apply, so that an apply of another image is a conflict]::BOOL:(true false)' \
'--record=[Write down everything that is decided, and from what, as one JSON object a line\: for a report of a bug]:FILE:_files' \
'--parallel-workloads=[Workloads at once; each keeps to its own budget]:N:_default' \
'--to=[Back to what ran before this update, as kubectl inplace history names it \[default\: the last one\]]:ID:_default' \
'--pin-digest=[Back to the recorded digest, not only to the tag]::BOOL:(true false)' \
'-o+[Output format; json is one object a line]:FORMAT:((text\:"For a person"
json\:"For a script\: one document for a plan, one object a line for a rollout"))' \
'--output=[Output format; json is one object a line]:FORMAT:((text\:"For a person"
json\:"For a script\: one document for a plan, one object a line for a rollout"))' \
'-y+[Do not ask; required where there is no terminal]::BOOL:(true false)' \
'--yes=[Do not ask; required where there is no terminal]::BOOL:(true false)' \
'--dry-run=[client\: plan without asking the server about the patches; server\: plan as usual. Neither changes anything]::MODE:((none\:"Do it"
client\:"Only plan, without asking the server about the patches"
server\:"Only plan"))' \
'--field-manager=[Name of the writer in the objects'\'' managed fields]:NAME:_default' \
'-n+[Namespace]:NAME:_default' \
'--namespace=[Namespace]:NAME:_default' \
'--kubeconfig=[The kubeconfig to use]:FILE:_files' \
'--context=[Context of the kubeconfig]:NAME:_default' \
'--cluster=[Cluster of the kubeconfig]:NAME:_default' \
'--user=[User of the kubeconfig]:NAME:_default' \
'-s+[Address of the API server]:URL:_default' \
'--server=[Address of the API server]:URL:_default' \
'--token=[Bearer token]:TOKEN:_default' \
'--certificate-authority=[Certificate file of the server'\''s authority]:FILE:_files' \
'--client-certificate=[Client certificate file]:FILE:_files' \
'--client-key=[Client key file]:FILE:_files' \
'--insecure-skip-tls-verify=[Do not check the server'\''s certificate]::BOOL:(true false)' \
'--tls-server-name=[Name that the server'\''s certificate must have]:NAME:_default' \
'--as=[User to impersonate]:USER:_default' \
'*--as-group=[Group to impersonate; repeatable]:GROUP:_default' \
'--as-uid=[UID to impersonate]:UID:_default' \
'*--as-user-extra=[Extra of the impersonated user; repeatable]:KEY=VALUE:_default' \
'--request-timeout=[How long one request may take, repetitions included; 0 is no limit]:DURATION:_default' \
'--disable-compression=[Ask the server not to compress its answers]::BOOL:(true false)' \
'--warnings-as-errors=[End with an error if the server warned]::BOOL:(true false)' \
'--color=[Colours]:WHEN:((auto\:"On a terminal that can, unless \`NO_COLOR\` is set"
always\:"Always"
never\:"Never"))' \
'-q+[Show results and errors only]::BOOL:(true false)' \
'--quiet=[Show results and errors only]::BOOL:(true false)' \
'-v+[Log level\: 6 shows requests, 8 more]:LEVEL:_default' \
'--v=[Log level\: 6 shows requests, 8 more]:LEVEL:_default' \
'-h[Print help (see more with '\''--help'\'')]' \
'--help[Print help (see more with '\''--help'\'')]' \
'*::words -- Workloads as TYPE/NAME, TYPE NAME or TYPE with -l, then images as CONTAINER=IMAGE. IMAGE may be \:TAG or @DIGEST, which keep the repository:_default' \
&& ret=0
;;
(follow)
_arguments "${_arguments_options[@]}" : \
'*--image=[The same as CONTAINER=IMAGE among the words]:CONTAINER=IMAGE:_default' \
'--all-containers=[Let '\''*=IMAGE'\'' stand for every container]::BOOL:(true false)' \
'*-f+[Manifests whose workloads are meant\: files, folders, or - for standard input]:FILE:_files' \
'*--filename=[Manifests whose workloads are meant\: files, folders, or - for standard input]:FILE:_files' \
'-R+[Read folders with their subfolders]::BOOL:(true false)' \
'--recursive=[Read folders with their subfolders]::BOOL:(true false)' \
'-l+[Label selector of the workloads]:SELECTOR:_default' \
'--selector=[Label selector of the workloads]:SELECTOR:_default' \
'-A+[In all namespaces; with -l]::BOOL:(true false)' \
'--all-namespaces=[In all namespaces; with -l]::BOOL:(true false)' \
'--min-ready-seconds=[Seconds that a pod must stay ready \[default\: the owner'\''s own; 5 without a readiness probe\]]:SECONDS:_default' \
'--timeout=[How long to wait for each pod, such as 90s or 10m \[default\: 5m and its termination grace\]]:DURATION:_default' \
'--total-timeout=[How long everything may take \[default\: no limit\]]:DURATION:_default' \
'-o+[Output format; json is one object a line]:FORMAT:((text\:"For a person"
json\:"For a script\: one document for a plan, one object a line for a rollout"))' \
'--output=[Output format; json is one object a line]:FORMAT:((text\:"For a person"
json\:"For a script\: one document for a plan, one object a line for a rollout"))' \
'--record=[Write down everything that is decided, and from what, as one JSON object a line\: for a report of a bug]:FILE:_files' \
'-n+[Namespace]:NAME:_default' \
'--namespace=[Namespace]:NAME:_default' \
'--kubeconfig=[The kubeconfig to use]:FILE:_files' \
'--context=[Context of the kubeconfig]:NAME:_default' \
'--cluster=[Cluster of the kubeconfig]:NAME:_default' \
'--user=[User of the kubeconfig]:NAME:_default' \
'-s+[Address of the API server]:URL:_default' \
'--server=[Address of the API server]:URL:_default' \
'--token=[Bearer token]:TOKEN:_default' \
'--certificate-authority=[Certificate file of the server'\''s authority]:FILE:_files' \
'--client-certificate=[Client certificate file]:FILE:_files' \
'--client-key=[Client key file]:FILE:_files' \
'--insecure-skip-tls-verify=[Do not check the server'\''s certificate]::BOOL:(true false)' \
'--tls-server-name=[Name that the server'\''s certificate must have]:NAME:_default' \
'--as=[User to impersonate]:USER:_default' \
'*--as-group=[Group to impersonate; repeatable]:GROUP:_default' \
'--as-uid=[UID to impersonate]:UID:_default' \
'*--as-user-extra=[Extra of the impersonated user; repeatable]:KEY=VALUE:_default' \
'--request-timeout=[How long one request may take, repetitions included; 0 is no limit]:DURATION:_default' \
'--disable-compression=[Ask the server not to compress its answers]::BOOL:(true false)' \
'--warnings-as-errors=[End with an error if the server warned]::BOOL:(true false)' \
'--color=[Colours]:WHEN:((auto\:"On a terminal that can, unless \`NO_COLOR\` is set"
always\:"Always"
never\:"Never"))' \
'-q+[Show results and errors only]::BOOL:(true false)' \
'--quiet=[Show results and errors only]::BOOL:(true false)' \
'-v+[Log level\: 6 shows requests, 8 more]:LEVEL:_default' \
'--v=[Log level\: 6 shows requests, 8 more]:LEVEL:_default' \
'-h[Print help (see more with '\''--help'\'')]' \
'--help[Print help (see more with '\''--help'\'')]' \
'*::words -- Workloads as TYPE/NAME, TYPE NAME or TYPE with -l, then images as CONTAINER=IMAGE. IMAGE may be \:TAG or @DIGEST, which keep the repository:_default' \
&& ret=0
;;
(watch)
_arguments "${_arguments_options[@]}" : \
'*--image=[The same as CONTAINER=IMAGE among the words]:CONTAINER=IMAGE:_default' \
'--all-containers=[Let '\''*=IMAGE'\'' stand for every container]::BOOL:(true false)' \
'*-f+[Manifests whose workloads are meant\: files, folders, or - for standard input]:FILE:_files' \
'*--filename=[Manifests whose workloads are meant\: files, folders, or - for standard input]:FILE:_files' \
'-R+[Read folders with their subfolders]::BOOL:(true false)' \
'--recursive=[Read folders with their subfolders]::BOOL:(true false)' \
'-l+[Label selector of the workloads]:SELECTOR:_default' \
'--selector=[Label selector of the workloads]:SELECTOR:_default' \
'-A+[In all namespaces; with -l]::BOOL:(true false)' \
'--all-namespaces=[In all namespaces; with -l]::BOOL:(true false)' \
'--min-ready-seconds=[Seconds that a pod must stay ready \[default\: the owner'\''s own; 5 without a readiness probe\]]:SECONDS:_default' \
'--timeout=[How long to wait for each pod, such as 90s or 10m \[default\: 5m and its termination grace\]]:DURATION:_default' \
'--total-timeout=[How long everything may take \[default\: no limit\]]:DURATION:_default' \
'-o+[Output format; json is one object a line]:FORMAT:((text\:"For a person"
json\:"For a script\: one document for a plan, one object a line for a rollout"))' \
'--output=[Output format; json is one object a line]:FORMAT:((text\:"For a person"
json\:"For a script\: one document for a plan, one object a line for a rollout"))' \
'--record=[Write down everything that is decided, and from what, as one JSON object a line\: for a report of a bug]:FILE:_files' \
'-n+[Namespace]:NAME:_default' \
'--namespace=[Namespace]:NAME:_default' \
'--kubeconfig=[The kubeconfig to use]:FILE:_files' \
'--context=[Context of the kubeconfig]:NAME:_default' \
'--cluster=[Cluster of the kubeconfig]:NAME:_default' \
'--user=[User of the kubeconfig]:NAME:_default' \
'-s+[Address of the API server]:URL:_default' \
'--server=[Address of the API server]:URL:_default' \
'--token=[Bearer token]:TOKEN:_default' \
'--certificate-authority=[Certificate file of the server'\''s authority]:FILE:_files' \
'--client-certificate=[Client certificate file]:FILE:_files' \
'--client-key=[Client key file]:FILE:_files' \
'--insecure-skip-tls-verify=[Do not check the server'\''s certificate]::BOOL:(true false)' \
'--tls-server-name=[Name that the server'\''s certificate must have]:NAME:_default' \
'--as=[User to impersonate]:USER:_default' \
'*--as-group=[Group to impersonate; repeatable]:GROUP:_default' \
'--as-uid=[UID to impersonate]:UID:_default' \
'*--as-user-extra=[Extra of the impersonated user; repeatable]:KEY=VALUE:_default' \
'--request-timeout=[How long one request may take, repetitions included; 0 is no limit]:DURATION:_default' \
'--disable-compression=[Ask the server not to compress its answers]::BOOL:(true false)' \
'--warnings-as-errors=[End with an error if the server warned]::BOOL:(true false)' \
'--color=[Colours]:WHEN:((auto\:"On a terminal that can, unless \`NO_COLOR\` is set"
always\:"Always"
never\:"Never"))' \
'-q+[Show results and errors only]::BOOL:(true false)' \
'--quiet=[Show results and errors only]::BOOL:(true false)' \
'-v+[Log level\: 6 shows requests, 8 more]:LEVEL:_default' \
'--v=[Log level\: 6 shows requests, 8 more]:LEVEL:_default' \
'-h[Print help (see more with '\''--help'\'')]' \
'--help[Print help (see more with '\''--help'\'')]' \
'*::words -- Workloads as TYPE/NAME, TYPE NAME or TYPE with -l, then images as CONTAINER=IMAGE. IMAGE may be \:TAG or @DIGEST, which keep the repository:_default' \
&& ret=0
;;
(status)
_arguments "${_arguments_options[@]}" : \
'*-f+[Manifests whose workloads are meant\: files, folders, or - for standard input]:FILE:_files' \
'*--filename=[Manifests whose workloads are meant\: files, folders, or - for standard input]:FILE:_files' \
'-R+[Read folders with their subfolders]::BOOL:(true false)' \
'--recursive=[Read folders with their subfolders]::BOOL:(true false)' \
'-l+[Label selector of the workloads]:SELECTOR:_default' \
'--selector=[Label selector of the workloads]:SELECTOR:_default' \
'-A+[In all namespaces]::BOOL:(true false)' \
'--all-namespaces=[In all namespaces]::BOOL:(true false)' \
'-w+[Show it again whenever it changes, until it is interrupted]::BOOL:(true false)' \
'--watch=[Show it again whenever it changes, until it is interrupted]::BOOL:(true false)' \
'-o+[Output format; wide also has restarts, nodes, digests and uids, name the workloads, one a line]:FORMAT:((text\:"For a person"
wide\:"The text, and what an expert asks for; of a plan alone"
json\:"For a script\: one document for a plan, one object a line for a rollout"
yaml\:"The JSON document as YAML; of a plan alone"
name\:"The pods that would change, one a line as \`pod/NAME\`; of a plan alone"))' \
'--output=[Output format; wide also has restarts, nodes, digests and uids, name the workloads, one a line]:FORMAT:((text\:"For a person"
wide\:"The text, and what an expert asks for; of a plan alone"
json\:"For a script\: one document for a plan, one object a line for a rollout"
yaml\:"The JSON document as YAML; of a plan alone"
name\:"The pods that would change, one a line as \`pod/NAME\`; of a plan alone"))' \
'-n+[Namespace]:NAME:_default' \
'--namespace=[Namespace]:NAME:_default' \
'--kubeconfig=[The kubeconfig to use]:FILE:_files' \
'--context=[Context of the kubeconfig]:NAME:_default' \
'--cluster=[Cluster of the kubeconfig]:NAME:_default' \
'--user=[User of the kubeconfig]:NAME:_default' \
'-s+[Address of the API server]:URL:_default' \
'--server=[Address of the API server]:URL:_default' \
'--token=[Bearer token]:TOKEN:_default' \
'--certificate-authority=[Certificate file of the server'\''s authority]:FILE:_files' \
'--client-certificate=[Client certificate file]:FILE:_files' \
'--client-key=[Client key file]:FILE:_files' \
'--insecure-skip-tls-verify=[Do not check the server'\''s certificate]::BOOL:(true false)' \
'--tls-server-name=[Name that the server'\''s certificate must have]:NAME:_default' \
'--as=[User to impersonate]:USER:_default' \
'*--as-group=[Group to impersonate; repeatable]:GROUP:_default' \
'--as-uid=[UID to impersonate]:UID:_default' \
'*--as-user-extra=[Extra of the impersonated user; repeatable]:KEY=VALUE:_default' \
'--request-timeout=[How long one request may take, repetitions included; 0 is no limit]:DURATION:_default' \
'--disable-compression=[Ask the server not to compress its answers]::BOOL:(true false)' \
'--warnings-as-errors=[End with an error if the server warned]::BOOL:(true false)' \
'--color=[Colours]:WHEN:((auto\:"On a terminal that can, unless \`NO_COLOR\` is set"
always\:"Always"
never\:"Never"))' \
'-q+[Show results and errors only]::BOOL:(true false)' \
'--quiet=[Show results and errors only]::BOOL:(true false)' \
'-v+[Log level\: 6 shows requests, 8 more]:LEVEL:_default' \
'--v=[Log level\: 6 shows requests, 8 more]:LEVEL:_default' \
'-h[Print help (see more with '\''--help'\'')]' \
'--help[Print help (see more with '\''--help'\'')]' \
'*::words -- Workloads as TYPE/NAME, TYPE NAME or TYPE with -l:_default' \
&& ret=0
;;
(history)
_arguments "${_arguments_options[@]}" : \
'*-f+[Manifests whose workloads are meant\: files, folders, or - for standard input]:FILE:_files' \
'*--filename=[Manifests whose workloads are meant\: files, folders, or - for standard input]:FILE:_files' \
'-R+[Read folders with their subfolders]::BOOL:(true false)' \
'--recursive=[Read folders with their subfolders]::BOOL:(true false)' \
'-l+[Label selector of the workloads]:SELECTOR:_default' \
'--selector=[Label selector of the workloads]:SELECTOR:_default' \
'-A+[In all namespaces]::BOOL:(true false)' \
'--all-namespaces=[In all namespaces]::BOOL:(true false)' \
'-o+[Output format]:FORMAT:((text\:"For a person"
json\:"For a script\: one document for a plan, one object a line for a rollout"))' \
'--output=[Output format]:FORMAT:((text\:"For a person"
json\:"For a script\: one document for a plan, one object a line for a rollout"))' \
'-n+[Namespace]:NAME:_default' \
'--namespace=[Namespace]:NAME:_default' \
'--kubeconfig=[The kubeconfig to use]:FILE:_files' \
'--context=[Context of the kubeconfig]:NAME:_default' \
'--cluster=[Cluster of the kubeconfig]:NAME:_default' \
'--user=[User of the kubeconfig]:NAME:_default' \
'-s+[Address of the API server]:URL:_default' \
'--server=[Address of the API server]:URL:_default' \
'--token=[Bearer token]:TOKEN:_default' \
'--certificate-authority=[Certificate file of the server'\''s authority]:FILE:_files' \
'--client-certificate=[Client certificate file]:FILE:_files' \
'--client-key=[Client key file]:FILE:_files' \
'--insecure-skip-tls-verify=[Do not check the server'\''s certificate]::BOOL:(true false)' \
'--tls-server-name=[Name that the server'\''s certificate must have]:NAME:_default' \
'--as=[User to impersonate]:USER:_default' \
'*--as-group=[Group to impersonate; repeatable]:GROUP:_default' \
'--as-uid=[UID to impersonate]:UID:_default' \
'*--as-user-extra=[Extra of the impersonated user; repeatable]:KEY=VALUE:_default' \
'--request-timeout=[How long one request may take, repetitions included; 0 is no limit]:DURATION:_default' \
'--disable-compression=[Ask the server not to compress its answers]::BOOL:(true false)' \
'--warnings-as-errors=[End with an error if the server warned]::BOOL:(true false)' \
'--color=[Colours]:WHEN:((auto\:"On a terminal that can, unless \`NO_COLOR\` is set"
always\:"Always"
never\:"Never"))' \
'-q+[Show results and errors only]::BOOL:(true false)' \
'--quiet=[Show results and errors only]::BOOL:(true false)' \
'-v+[Log level\: 6 shows requests, 8 more]:LEVEL:_default' \
'--v=[Log level\: 6 shows requests, 8 more]:LEVEL:_default' \
'-h[Print help (see more with '\''--help'\'')]' \
'--help[Print help (see more with '\''--help'\'')]' \
'*::words -- Workloads as TYPE/NAME, TYPE NAME or TYPE with -l:_default' \
&& ret=0
;;
(hash)
_arguments "${_arguments_options[@]}" : \
'*--image=[The same as CONTAINER=IMAGE among the words]:CONTAINER=IMAGE:_default' \
'--all-containers=[Let '\''*=IMAGE'\'' stand for every container]::BOOL:(true false)' \
'*-f+[Manifests whose workloads are meant\: files, folders, or - for standard input]:FILE:_files' \
'*--filename=[Manifests whose workloads are meant\: files, folders, or - for standard input]:FILE:_files' \
'-R+[Read folders with their subfolders]::BOOL:(true false)' \
'--recursive=[Read folders with their subfolders]::BOOL:(true false)' \
'-l+[Label selector of the workloads]:SELECTOR:_default' \
'--selector=[Label selector of the workloads]:SELECTOR:_default' \
'-A+[In all namespaces; with -l]::BOOL:(true false)' \
'--all-namespaces=[In all namespaces; with -l]::BOOL:(true false)' \
'--kubelet-version=[Version of the kubelet, such as 1.29 \[default\: that of the pod'\''s node, else 1.32 or newer\]]:VERSION:_default' \
'-o+[Output format]:FORMAT:((text\:"A table for a person"
json\:"One document for a script"))' \
'--output=[Output format]:FORMAT:((text\:"A table for a person"
json\:"One document for a script"))' \
'-n+[Namespace]:NAME:_default' \
'--namespace=[Namespace]:NAME:_default' \
'--kubeconfig=[The kubeconfig to use]:FILE:_files' \
'--context=[Context of the kubeconfig]:NAME:_default' \
'--cluster=[Cluster of the kubeconfig]:NAME:_default' \
'--user=[User of the kubeconfig]:NAME:_default' \
'-s+[Address of the API server]:URL:_default' \
'--server=[Address of the API server]:URL:_default' \
'--token=[Bearer token]:TOKEN:_default' \
'--certificate-authority=[Certificate file of the server'\''s authority]:FILE:_files' \
'--client-certificate=[Client certificate file]:FILE:_files' \
'--client-key=[Client key file]:FILE:_files' \
'--insecure-skip-tls-verify=[Do not check the server'\''s certificate]::BOOL:(true false)' \
'--tls-server-name=[Name that the server'\''s certificate must have]:NAME:_default' \
'--as=[User to impersonate]:USER:_default' \
'*--as-group=[Group to impersonate; repeatable]:GROUP:_default' \
'--as-uid=[UID to impersonate]:UID:_default' \
'*--as-user-extra=[Extra of the impersonated user; repeatable]:KEY=VALUE:_default' \
'--request-timeout=[How long one request may take, repetitions included; 0 is no limit]:DURATION:_default' \
'--disable-compression=[Ask the server not to compress its answers]::BOOL:(true false)' \
'--warnings-as-errors=[End with an error if the server warned]::BOOL:(true false)' \
'--color=[Colours]:WHEN:((auto\:"On a terminal that can, unless \`NO_COLOR\` is set"
always\:"Always"
never\:"Never"))' \
'-q+[Show results and errors only]::BOOL:(true false)' \
'--quiet=[Show results and errors only]::BOOL:(true false)' \
'-v+[Log level\: 6 shows requests, 8 more]:LEVEL:_default' \
'--v=[Log level\: 6 shows requests, 8 more]:LEVEL:_default' \
'-h[Print help (see more with '\''--help'\'')]' \
'--help[Print help (see more with '\''--help'\'')]' \
'*::words -- Workloads as TYPE/NAME, TYPE NAME or TYPE with -l, then images as CONTAINER=IMAGE. IMAGE may be \:TAG or @DIGEST, which keep the repository:_default' \
&& ret=0
;;
(rbac)
_arguments "${_arguments_options[@]}" : \
'--pods-only=[For pods alone\: the owner'\''s template is left as it is]::BOOL:(true false)' \
'--check=[Ask the server whether you may, in the namespace; exit with 3 if something required is missing]::BOOL:(true false)' \
'--optional=[With what is optional too\: without it an answer is weaker, or a flag does not work]::BOOL:(true false)' \
'-A+[For all namespaces\: a ClusterRole]::BOOL:(true false)' \
'--all-namespaces=[For all namespaces\: a ClusterRole]::BOOL:(true false)' \
'-o+[Output format; text is YAML with comments, or a table with --check]:FORMAT:((text\:"For a person"
json\:"For a script\: one document for a plan, one object a line for a rollout"))' \
'--output=[Output format; text is YAML with comments, or a table with --check]:FORMAT:((text\:"For a person"
json\:"For a script\: one document for a plan, one object a line for a rollout"))' \
'-n+[Namespace]:NAME:_default' \
'--namespace=[Namespace]:NAME:_default' \
'--kubeconfig=[The kubeconfig to use]:FILE:_files' \
'--context=[Context of the kubeconfig]:NAME:_default' \
'--cluster=[Cluster of the kubeconfig]:NAME:_default' \
'--user=[User of the kubeconfig]:NAME:_default' \
'-s+[Address of the API server]:URL:_default' \
'--server=[Address of the API server]:URL:_default' \
'--token=[Bearer token]:TOKEN:_default' \
'--certificate-authority=[Certificate file of the server'\''s authority]:FILE:_files' \
'--client-certificate=[Client certificate file]:FILE:_files' \
'--client-key=[Client key file]:FILE:_files' \
'--insecure-skip-tls-verify=[Do not check the server'\''s certificate]::BOOL:(true false)' \
'--tls-server-name=[Name that the server'\''s certificate must have]:NAME:_default' \
'--as=[User to impersonate]:USER:_default' \
'*--as-group=[Group to impersonate; repeatable]:GROUP:_default' \
'--as-uid=[UID to impersonate]:UID:_default' \
'*--as-user-extra=[Extra of the impersonated user; repeatable]:KEY=VALUE:_default' \
'--request-timeout=[How long one request may take, repetitions included; 0 is no limit]:DURATION:_default' \
'--disable-compression=[Ask the server not to compress its answers]::BOOL:(true false)' \
'--warnings-as-errors=[End with an error if the server warned]::BOOL:(true false)' \
'--color=[Colours]:WHEN:((auto\:"On a terminal that can, unless \`NO_COLOR\` is set"
always\:"Always"
never\:"Never"))' \
'-q+[Show results and errors only]::BOOL:(true false)' \
'--quiet=[Show results and errors only]::BOOL:(true false)' \
'-v+[Log level\: 6 shows requests, 8 more]:LEVEL:_default' \
'--v=[Log level\: 6 shows requests, 8 more]:LEVEL:_default' \
'-h[Print help (see more with '\''--help'\'')]' \
'--help[Print help (see more with '\''--help'\'')]' \
':command -- The command that is to be allowed:(plan diff apply follow status history undo resume abort restart hash)' \
'::kind -- The kind of workloads:(deployment statefulset daemonset replicaset pod all)' \
&& ret=0
;;
(explain)
_arguments "${_arguments_options[@]}" : \
'-n+[Namespace]:NAME:_default' \
'--namespace=[Namespace]:NAME:_default' \
'--kubeconfig=[The kubeconfig to use]:FILE:_files' \
'--context=[Context of the kubeconfig]:NAME:_default' \
'--cluster=[Cluster of the kubeconfig]:NAME:_default' \
'--user=[User of the kubeconfig]:NAME:_default' \
'-s+[Address of the API server]:URL:_default' \
'--server=[Address of the API server]:URL:_default' \
'--token=[Bearer token]:TOKEN:_default' \
'--certificate-authority=[Certificate file of the server'\''s authority]:FILE:_files' \
'--client-certificate=[Client certificate file]:FILE:_files' \
'--client-key=[Client key file]:FILE:_files' \
'--insecure-skip-tls-verify=[Do not check the server'\''s certificate]::BOOL:(true false)' \
'--tls-server-name=[Name that the server'\''s certificate must have]:NAME:_default' \
'--as=[User to impersonate]:USER:_default' \
'*--as-group=[Group to impersonate; repeatable]:GROUP:_default' \
'--as-uid=[UID to impersonate]:UID:_default' \
'*--as-user-extra=[Extra of the impersonated user; repeatable]:KEY=VALUE:_default' \
'--request-timeout=[How long one request may take, repetitions included; 0 is no limit]:DURATION:_default' \
'--disable-compression=[Ask the server not to compress its answers]::BOOL:(true false)' \
'--warnings-as-errors=[End with an error if the server warned]::BOOL:(true false)' \
'--color=[Colours]:WHEN:((auto\:"On a terminal that can, unless \`NO_COLOR\` is set"
always\:"Always"
never\:"Never"))' \
'-q+[Show results and errors only]::BOOL:(true false)' \
'--quiet=[Show results and errors only]::BOOL:(true false)' \
'-v+[Log level\: 6 shows requests, 8 more]:LEVEL:_default' \
'--v=[Log level\: 6 shows requests, 8 more]:LEVEL:_default' \
'-h[Print help (see more with '\''--help'\'')]' \
'--help[Print help (see more with '\''--help'\'')]' \
'::code -- The code, as a plan shows it; upper and lower case are alike:_default' \
&& ret=0
;;
(completion)
_arguments "${_arguments_options[@]}" : \
'-n+[Namespace]:NAME:_default' \
'--namespace=[Namespace]:NAME:_default' \
'--kubeconfig=[The kubeconfig to use]:FILE:_files' \
'--context=[Context of the kubeconfig]:NAME:_default' \
'--cluster=[Cluster of the kubeconfig]:NAME:_default' \
'--user=[User of the kubeconfig]:NAME:_default' \
'-s+[Address of the API server]:URL:_default' \
'--server=[Address of the API server]:URL:_default' \
'--token=[Bearer token]:TOKEN:_default' \
'--certificate-authority=[Certificate file of the server'\''s authority]:FILE:_files' \
'--client-certificate=[Client certificate file]:FILE:_files' \
'--client-key=[Client key file]:FILE:_files' \
'--insecure-skip-tls-verify=[Do not check the server'\''s certificate]::BOOL:(true false)' \
'--tls-server-name=[Name that the server'\''s certificate must have]:NAME:_default' \
'--as=[User to impersonate]:USER:_default' \
'*--as-group=[Group to impersonate; repeatable]:GROUP:_default' \
'--as-uid=[UID to impersonate]:UID:_default' \
'*--as-user-extra=[Extra of the impersonated user; repeatable]:KEY=VALUE:_default' \
'--request-timeout=[How long one request may take, repetitions included; 0 is no limit]:DURATION:_default' \
'--disable-compression=[Ask the server not to compress its answers]::BOOL:(true false)' \
'--warnings-as-errors=[End with an error if the server warned]::BOOL:(true false)' \
'--color=[Colours]:WHEN:((auto\:"On a terminal that can, unless \`NO_COLOR\` is set"
always\:"Always"
never\:"Never"))' \
'-q+[Show results and errors only]::BOOL:(true false)' \
'--quiet=[Show results and errors only]::BOOL:(true false)' \
'-v+[Log level\: 6 shows requests, 8 more]:LEVEL:_default' \
'--v=[Log level\: 6 shows requests, 8 more]:LEVEL:_default' \
'()--install[Link this program as kubectl_complete-inplace beside itself, where kubectl looks for it]' \
'-h[Print help (see more with '\''--help'\'')]' \
'--help[Print help (see more with '\''--help'\'')]' \
'::shell -- The shell whose script is printed:((bash\:"GNU Bash"
zsh\:"Z shell"
fish\:"fish"))' \
&& ret=0
;;
(version)
_arguments "${_arguments_options[@]}" : \
'--client=[Do not ask the server]::BOOL:(true false)' \
'-o+[Output format]:FORMAT:((text\:"For a person"
json\:"For a script\: one document for a plan, one object a line for a rollout"))' \
'--output=[Output format]:FORMAT:((text\:"For a person"
json\:"For a script\: one document for a plan, one object a line for a rollout"))' \
'-n+[Namespace]:NAME:_default' \
'--namespace=[Namespace]:NAME:_default' \
'--kubeconfig=[The kubeconfig to use]:FILE:_files' \
'--context=[Context of the kubeconfig]:NAME:_default' \
'--cluster=[Cluster of the kubeconfig]:NAME:_default' \
'--user=[User of the kubeconfig]:NAME:_default' \
'-s+[Address of the API server]:URL:_default' \
'--server=[Address of the API server]:URL:_default' \
'--token=[Bearer token]:TOKEN:_default' \
'--certificate-authority=[Certificate file of the server'\''s authority]:FILE:_files' \
'--client-certificate=[Client certificate file]:FILE:_files' \
'--client-key=[Client key file]:FILE:_files' \
'--insecure-skip-tls-verify=[Do not check the server'\''s certificate]::BOOL:(true false)' \
'--tls-server-name=[Name that the server'\''s certificate must have]:NAME:_default' \
'--as=[User to impersonate]:USER:_default' \
'*--as-group=[Group to impersonate; repeatable]:GROUP:_default' \
'--as-uid=[UID to impersonate]:UID:_default' \
'*--as-user-extra=[Extra of the impersonated user; repeatable]:KEY=VALUE:_default' \
'--request-timeout=[How long one request may take, repetitions included; 0 is no limit]:DURATION:_default' \
'--disable-compression=[Ask the server not to compress its answers]::BOOL:(true false)' \
'--warnings-as-errors=[End with an error if the server warned]::BOOL:(true false)' \
'--color=[Colours]:WHEN:((auto\:"On a terminal that can, unless \`NO_COLOR\` is set"
always\:"Always"
never\:"Never"))' \
'-q+[Show results and errors only]::BOOL:(true false)' \
'--quiet=[Show results and errors only]::BOOL:(true false)' \
'-v+[Log level\: 6 shows requests, 8 more]:LEVEL:_default' \
'--v=[Log level\: 6 shows requests, 8 more]:LEVEL:_default' \
'-h[Print help (see more with '\''--help'\'')]' \
'--help[Print help (see more with '\''--help'\'')]' \
&& ret=0
;;
(__complete)
_arguments "${_arguments_options[@]}" : \
'-n+[Namespace]:NAME:_default' \
'--namespace=[Namespace]:NAME:_default' \
'--kubeconfig=[The kubeconfig to use]:FILE:_files' \
'--context=[Context of the kubeconfig]:NAME:_default' \
'--cluster=[Cluster of the kubeconfig]:NAME:_default' \
'--user=[User of the kubeconfig]:NAME:_default' \
'-s+[Address of the API server]:URL:_default' \
'--server=[Address of the API server]:URL:_default' \
'--token=[Bearer token]:TOKEN:_default' \
'--certificate-authority=[Certificate file of the server'\''s authority]:FILE:_files' \
'--client-certificate=[Client certificate file]:FILE:_files' \
'--client-key=[Client key file]:FILE:_files' \
'--insecure-skip-tls-verify=[Do not check the server'\''s certificate]::BOOL:(true false)' \
'--tls-server-name=[Name that the server'\''s certificate must have]:NAME:_default' \
'--as=[User to impersonate]:USER:_default' \
'*--as-group=[Group to impersonate; repeatable]:GROUP:_default' \
'--as-uid=[UID to impersonate]:UID:_default' \
'*--as-user-extra=[Extra of the impersonated user; repeatable]:KEY=VALUE:_default' \
'--request-timeout=[How long one request may take, repetitions included; 0 is no limit]:DURATION:_default' \
'--disable-compression=[Ask the server not to compress its answers]::BOOL:(true false)' \
'--warnings-as-errors=[End with an error if the server warned]::BOOL:(true false)' \
'--color=[Colours]:WHEN:((auto\:"On a terminal that can, unless \`NO_COLOR\` is set"
always\:"Always"
never\:"Never"))' \
'-q+[Show results and errors only]::BOOL:(true false)' \
'--quiet=[Show results and errors only]::BOOL:(true false)' \
'-v+[Log level\: 6 shows requests, 8 more]:LEVEL:_default' \
'--v=[Log level\: 6 shows requests, 8 more]:LEVEL:_default' \
'-h[Print help (see more with '\''--help'\'')]' \
'--help[Print help (see more with '\''--help'\'')]' \
'*::words -- The words after the plugin'\''s name; the last one is being typed:_default' \
&& ret=0
;;
(help)
_arguments "${_arguments_options[@]}" : \
":: :_kubectl-inplace__subcmd__help_commands" \
"*::: :->help" \
&& ret=0

    case $state in
    (help)
        words=($line[1] "${words[@]}")
        (( CURRENT += 1 ))
        curcontext="${curcontext%:*:*}:kubectl-inplace-help-command-$line[1]:"
        case $line[1] in
            (plan)
_arguments "${_arguments_options[@]}" : \
&& ret=0
;;
(diff)
_arguments "${_arguments_options[@]}" : \
&& ret=0
;;
(apply)
_arguments "${_arguments_options[@]}" : \
&& ret=0
;;
(restart)
_arguments "${_arguments_options[@]}" : \
&& ret=0
;;
(resume)
_arguments "${_arguments_options[@]}" : \
&& ret=0
;;
(abort)
_arguments "${_arguments_options[@]}" : \
&& ret=0
;;
(undo)
_arguments "${_arguments_options[@]}" : \
&& ret=0
;;
(follow)
_arguments "${_arguments_options[@]}" : \
&& ret=0
;;
(status)
_arguments "${_arguments_options[@]}" : \
&& ret=0
;;
(history)
_arguments "${_arguments_options[@]}" : \
&& ret=0
;;
(hash)
_arguments "${_arguments_options[@]}" : \
&& ret=0
;;
(rbac)
_arguments "${_arguments_options[@]}" : \
&& ret=0
;;
(explain)
_arguments "${_arguments_options[@]}" : \
&& ret=0
;;
(completion)
_arguments "${_arguments_options[@]}" : \
&& ret=0
;;
(version)
_arguments "${_arguments_options[@]}" : \
&& ret=0
;;
(__complete)
_arguments "${_arguments_options[@]}" : \
&& ret=0
;;
(help)
_arguments "${_arguments_options[@]}" : \
&& ret=0
;;
        esac
    ;;
esac
;;
        esac
    ;;
esac
}

(( $+functions[_kubectl-inplace_commands] )) ||
_kubectl-inplace_commands() {
    local commands; commands=(
'plan:Say what would happen to each pod and container, what blocks it and why. Changes nothing' \
'diff:Show the change as a diff, only what a person means, each field marked with what it does to the pods. Changes nothing' \
'apply:Plan, ask, patch the pods, and follow them until they are ready again' \
'restart:Restart containers in place with the very bits that they run\: the digest is pinned, the template stays' \
'resume:Go on with a rollout that was stopped, or whose run was killed, at any point' \
'abort:Take a rollout back that was stopped, or whose run was killed, at any point\: template, strategy, pause and pods' \
'undo:Go back to the images recorded before the last update in place' \
'follow:Watch an update, this program'\''s or anybody'\''s, until the pods are ready again. Changes nothing' \
'watch:Watch an update, this program'\''s or anybody'\''s, until the pods are ready again. Changes nothing' \
'status:Show what runs, what is asked, and what is on its way, failed, drifted from the template or held. Changes nothing' \
'history:List the in-place updates of a workload\: when, who, from, to, why, how they ended. Changes nothing' \
'hash:Compute the kubelet'\''s container hashes\: would it restart a container? Changes nothing' \
'rbac:Print the least Role that a command needs, or ask the server whether you have it. Changes nothing' \
'explain:Say what a reason or warning means, why it is so, and what to do. Alone\: list them all' \
'completion:Print a shell'\''s completion script, or make completion work through kubectl' \
'version:Print the version of this program, and of the server' \
'__complete:Answer kubectl'\''s completion requests' \
'help:Print this message or the help of the given subcommand(s)' \
    )
    _describe -t commands 'kubectl-inplace commands' commands "$@"
}
(( $+functions[_kubectl-inplace__subcmd____complete_commands] )) ||
_kubectl-inplace__subcmd____complete_commands() {
    local commands; commands=()
    _describe -t commands 'kubectl-inplace __complete commands' commands "$@"
}
(( $+functions[_kubectl-inplace__subcmd__abort_commands] )) ||
_kubectl-inplace__subcmd__abort_commands() {
    local commands; commands=()
    _describe -t commands 'kubectl-inplace abort commands' commands "$@"
}
(( $+functions[_kubectl-inplace__subcmd__apply_commands] )) ||
_kubectl-inplace__subcmd__apply_commands() {
    local commands; commands=()
    _describe -t commands 'kubectl-inplace apply commands' commands "$@"
}
(( $+functions[_kubectl-inplace__subcmd__completion_commands] )) ||
_kubectl-inplace__subcmd__completion_commands() {
    local commands; commands=()
    _describe -t commands 'kubectl-inplace completion commands' commands "$@"
}
(( $+functions[_kubectl-inplace__subcmd__diff_commands] )) ||
_kubectl-inplace__subcmd__diff_commands() {
    local commands; commands=()
    _describe -t commands 'kubectl-inplace diff commands' commands "$@"
}
(( $+functions[_kubectl-inplace__subcmd__explain_commands] )) ||
_kubectl-inplace__subcmd__explain_commands() {
    local commands; commands=()
    _describe -t commands 'kubectl-inplace explain commands' commands "$@"
}
(( $+functions[_kubectl-inplace__subcmd__follow_commands] )) ||
_kubectl-inplace__subcmd__follow_commands() {
    local commands; commands=()
    _describe -t commands 'kubectl-inplace follow commands' commands "$@"
}
(( $+functions[_kubectl-inplace__subcmd__hash_commands] )) ||
_kubectl-inplace__subcmd__hash_commands() {
    local commands; commands=()
    _describe -t commands 'kubectl-inplace hash commands' commands "$@"
}
(( $+functions[_kubectl-inplace__subcmd__help_commands] )) ||
_kubectl-inplace__subcmd__help_commands() {
    local commands; commands=(
'plan:Say what would happen to each pod and container, what blocks it and why. Changes nothing' \
'diff:Show the change as a diff, only what a person means, each field marked with what it does to the pods. Changes nothing' \
'apply:Plan, ask, patch the pods, and follow them until they are ready again' \
'restart:Restart containers in place with the very bits that they run\: the digest is pinned, the template stays' \
'resume:Go on with a rollout that was stopped, or whose run was killed, at any point' \
'abort:Take a rollout back that was stopped, or whose run was killed, at any point\: template, strategy, pause and pods' \
'undo:Go back to the images recorded before the last update in place' \
'follow:Watch an update, this program'\''s or anybody'\''s, until the pods are ready again. Changes nothing' \
'status:Show what runs, what is asked, and what is on its way, failed, drifted from the template or held. Changes nothing' \
'history:List the in-place updates of a workload\: when, who, from, to, why, how they ended. Changes nothing' \
'hash:Compute the kubelet'\''s container hashes\: would it restart a container? Changes nothing' \
'rbac:Print the least Role that a command needs, or ask the server whether you have it. Changes nothing' \
'explain:Say what a reason or warning means, why it is so, and what to do. Alone\: list them all' \
'completion:Print a shell'\''s completion script, or make completion work through kubectl' \
'version:Print the version of this program, and of the server' \
'__complete:Answer kubectl'\''s completion requests' \
'help:Print this message or the help of the given subcommand(s)' \
    )
    _describe -t commands 'kubectl-inplace help commands' commands "$@"
}
(( $+functions[_kubectl-inplace__subcmd__help__subcmd____complete_commands] )) ||
_kubectl-inplace__subcmd__help__subcmd____complete_commands() {
    local commands; commands=()
    _describe -t commands 'kubectl-inplace help __complete commands' commands "$@"
}
(( $+functions[_kubectl-inplace__subcmd__help__subcmd__abort_commands] )) ||
_kubectl-inplace__subcmd__help__subcmd__abort_commands() {
    local commands; commands=()
    _describe -t commands 'kubectl-inplace help abort commands' commands "$@"
}
(( $+functions[_kubectl-inplace__subcmd__help__subcmd__apply_commands] )) ||
_kubectl-inplace__subcmd__help__subcmd__apply_commands() {
    local commands; commands=()
    _describe -t commands 'kubectl-inplace help apply commands' commands "$@"
}
(( $+functions[_kubectl-inplace__subcmd__help__subcmd__completion_commands] )) ||
_kubectl-inplace__subcmd__help__subcmd__completion_commands() {
    local commands; commands=()
    _describe -t commands 'kubectl-inplace help completion commands' commands "$@"
}
(( $+functions[_kubectl-inplace__subcmd__help__subcmd__diff_commands] )) ||
_kubectl-inplace__subcmd__help__subcmd__diff_commands() {
    local commands; commands=()
    _describe -t commands 'kubectl-inplace help diff commands' commands "$@"
}
(( $+functions[_kubectl-inplace__subcmd__help__subcmd__explain_commands] )) ||
_kubectl-inplace__subcmd__help__subcmd__explain_commands() {
    local commands; commands=()
    _describe -t commands 'kubectl-inplace help explain commands' commands "$@"
}
(( $+functions[_kubectl-inplace__subcmd__help__subcmd__follow_commands] )) ||
_kubectl-inplace__subcmd__help__subcmd__follow_commands() {
    local commands; commands=()
    _describe -t commands 'kubectl-inplace help follow commands' commands "$@"
}
(( $+functions[_kubectl-inplace__subcmd__help__subcmd__hash_commands] )) ||
_kubectl-inplace__subcmd__help__subcmd__hash_commands() {
    local commands; commands=()
    _describe -t commands 'kubectl-inplace help hash commands' commands "$@"
}
(( $+functions[_kubectl-inplace__subcmd__help__subcmd__help_commands] )) ||
_kubectl-inplace__subcmd__help__subcmd__help_commands() {
    local commands; commands=()
    _describe -t commands 'kubectl-inplace help help commands' commands "$@"
}
(( $+functions[_kubectl-inplace__subcmd__help__subcmd__history_commands] )) ||
_kubectl-inplace__subcmd__help__subcmd__history_commands() {
    local commands; commands=()
    _describe -t commands 'kubectl-inplace help history commands' commands "$@"
}
(( $+functions[_kubectl-inplace__subcmd__help__subcmd__plan_commands] )) ||
_kubectl-inplace__subcmd__help__subcmd__plan_commands() {
    local commands; commands=()
    _describe -t commands 'kubectl-inplace help plan commands' commands "$@"
}
(( $+functions[_kubectl-inplace__subcmd__help__subcmd__rbac_commands] )) ||
_kubectl-inplace__subcmd__help__subcmd__rbac_commands() {
    local commands; commands=()
    _describe -t commands 'kubectl-inplace help rbac commands' commands "$@"
}
(( $+functions[_kubectl-inplace__subcmd__help__subcmd__restart_commands] )) ||
_kubectl-inplace__subcmd__help__subcmd__restart_commands() {
    local commands; commands=()
    _describe -t commands 'kubectl-inplace help restart commands' commands "$@"
}
(( $+functions[_kubectl-inplace__subcmd__help__subcmd__resume_commands] )) ||
_kubectl-inplace__subcmd__help__subcmd__resume_commands() {
    local commands; commands=()
    _describe -t commands 'kubectl-inplace help resume commands' commands "$@"
}
(( $+functions[_kubectl-inplace__subcmd__help__subcmd__status_commands] )) ||
_kubectl-inplace__subcmd__help__subcmd__status_commands() {
    local commands; commands=()
    _describe -t commands 'kubectl-inplace help status commands' commands "$@"
}
(( $+functions[_kubectl-inplace__subcmd__help__subcmd__undo_commands] )) ||
_kubectl-inplace__subcmd__help__subcmd__undo_commands() {
    local commands; commands=()
    _describe -t commands 'kubectl-inplace help undo commands' commands "$@"
}
(( $+functions[_kubectl-inplace__subcmd__help__subcmd__version_commands] )) ||
_kubectl-inplace__subcmd__help__subcmd__version_commands() {
    local commands; commands=()
    _describe -t commands 'kubectl-inplace help version commands' commands "$@"
}
(( $+functions[_kubectl-inplace__subcmd__history_commands] )) ||
_kubectl-inplace__subcmd__history_commands() {
    local commands; commands=()
    _describe -t commands 'kubectl-inplace history commands' commands "$@"
}
(( $+functions[_kubectl-inplace__subcmd__plan_commands] )) ||
_kubectl-inplace__subcmd__plan_commands() {
    local commands; commands=()
    _describe -t commands 'kubectl-inplace plan commands' commands "$@"
}
(( $+functions[_kubectl-inplace__subcmd__rbac_commands] )) ||
_kubectl-inplace__subcmd__rbac_commands() {
    local commands; commands=()
    _describe -t commands 'kubectl-inplace rbac commands' commands "$@"
}
(( $+functions[_kubectl-inplace__subcmd__restart_commands] )) ||
_kubectl-inplace__subcmd__restart_commands() {
    local commands; commands=()
    _describe -t commands 'kubectl-inplace restart commands' commands "$@"
}
(( $+functions[_kubectl-inplace__subcmd__resume_commands] )) ||
_kubectl-inplace__subcmd__resume_commands() {
    local commands; commands=()
    _describe -t commands 'kubectl-inplace resume commands' commands "$@"
}
(( $+functions[_kubectl-inplace__subcmd__status_commands] )) ||
_kubectl-inplace__subcmd__status_commands() {
    local commands; commands=()
    _describe -t commands 'kubectl-inplace status commands' commands "$@"
}
(( $+functions[_kubectl-inplace__subcmd__undo_commands] )) ||
_kubectl-inplace__subcmd__undo_commands() {
    local commands; commands=()
    _describe -t commands 'kubectl-inplace undo commands' commands "$@"
}
(( $+functions[_kubectl-inplace__subcmd__version_commands] )) ||
_kubectl-inplace__subcmd__version_commands() {
    local commands; commands=()
    _describe -t commands 'kubectl-inplace version commands' commands "$@"
}

if [ "$funcstack[1]" = "_kubectl-inplace" ]; then
    _kubectl-inplace "$@"
else
    compdef _kubectl-inplace kubectl-inplace
fi
