# Print an optspec for argparse to handle cmd's options that are independent of any subcommand.
function __fish_kubectl_inplace_global_optspecs
    string join \n n/namespace= kubeconfig= context= cluster= user= s/server= token= certificate-authority= client-certificate= client-key= insecure-skip-tls-verify= tls-server-name= as= as-group= as-uid= as-user-extra= request-timeout= disable-compression= warnings-as-errors= color= q/quiet= v/v= version h/help
end

function __fish_kubectl_inplace_needs_command
    # Figure out if the current invocation already has a command.
    set -l cmd (commandline -opc)
    set -e cmd[1]
    argparse -s (__fish_kubectl_inplace_global_optspecs) -- $cmd 2>/dev/null
    or return
    if set -q argv[1]
        # Also print the command, so this can be used to figure out what it is.
        echo $argv[1]
        return 1
    end
    return 0
end

function __fish_kubectl_inplace_using_subcommand
    set -l cmd (__fish_kubectl_inplace_needs_command)
    test -z "$cmd"
    and return 1
    contains -- $cmd[1] $argv
end

complete -c kubectl-inplace -n "__fish_kubectl_inplace_needs_command" -s n -l namespace -d 'Namespace' -r
complete -c kubectl-inplace -n "__fish_kubectl_inplace_needs_command" -l kubeconfig -d 'The kubeconfig to use' -r -F
complete -c kubectl-inplace -n "__fish_kubectl_inplace_needs_command" -l context -d 'Context of the kubeconfig' -r
complete -c kubectl-inplace -n "__fish_kubectl_inplace_needs_command" -l cluster -d 'Cluster of the kubeconfig' -r
complete -c kubectl-inplace -n "__fish_kubectl_inplace_needs_command" -l user -d 'User of the kubeconfig' -r
complete -c kubectl-inplace -n "__fish_kubectl_inplace_needs_command" -s s -l server -d 'Address of the API server' -r
complete -c kubectl-inplace -n "__fish_kubectl_inplace_needs_command" -l token -d 'Bearer token' -r
complete -c kubectl-inplace -n "__fish_kubectl_inplace_needs_command" -l certificate-authority -d 'Certificate file of the server\'s authority' -r -F
complete -c kubectl-inplace -n "__fish_kubectl_inplace_needs_command" -l client-certificate -d 'Client certificate file' -r -F
complete -c kubectl-inplace -n "__fish_kubectl_inplace_needs_command" -l client-key -d 'Client key file' -r -F
complete -c kubectl-inplace -n "__fish_kubectl_inplace_needs_command" -l insecure-skip-tls-verify -d 'Do not check the server\'s certificate' -r -f -a "true\t''
false\t''"
complete -c kubectl-inplace -n "__fish_kubectl_inplace_needs_command" -l tls-server-name -d 'Name that the server\'s certificate must have' -r
complete -c kubectl-inplace -n "__fish_kubectl_inplace_needs_command" -l as -d 'User to impersonate' -r
complete -c kubectl-inplace -n "__fish_kubectl_inplace_needs_command" -l as-group -d 'Group to impersonate; repeatable' -r
complete -c kubectl-inplace -n "__fish_kubectl_inplace_needs_command" -l as-uid -d 'UID to impersonate' -r
complete -c kubectl-inplace -n "__fish_kubectl_inplace_needs_command" -l as-user-extra -d 'Extra of the impersonated user; repeatable' -r
complete -c kubectl-inplace -n "__fish_kubectl_inplace_needs_command" -l request-timeout -d 'How long one request may take, repetitions included; 0 is no limit' -r
complete -c kubectl-inplace -n "__fish_kubectl_inplace_needs_command" -l disable-compression -d 'Ask the server not to compress its answers' -r -f -a "true\t''
false\t''"
complete -c kubectl-inplace -n "__fish_kubectl_inplace_needs_command" -l warnings-as-errors -d 'End with an error if the server warned' -r -f -a "true\t''
false\t''"
complete -c kubectl-inplace -n "__fish_kubectl_inplace_needs_command" -l color -d 'Colours' -r -f -a "auto\t'On a terminal that can, unless `NO_COLOR` is set'
always\t'Always'
never\t'Never'"
complete -c kubectl-inplace -n "__fish_kubectl_inplace_needs_command" -s q -l quiet -d 'Show results and errors only' -r -f -a "true\t''
false\t''"
complete -c kubectl-inplace -n "__fish_kubectl_inplace_needs_command" -s v -l v -d 'Log level: 6 shows requests, 8 more' -r
complete -c kubectl-inplace -n "__fish_kubectl_inplace_needs_command" -l version -d 'Print the version'
complete -c kubectl-inplace -n "__fish_kubectl_inplace_needs_command" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c kubectl-inplace -n "__fish_kubectl_inplace_needs_command" -f -a "plan" -d 'Say what would happen to each pod and container, what blocks it and why. Changes nothing'
complete -c kubectl-inplace -n "__fish_kubectl_inplace_needs_command" -f -a "diff" -d 'Show the change as a diff, only what a person means, each field marked with what it does to the pods. Changes nothing'
complete -c kubectl-inplace -n "__fish_kubectl_inplace_needs_command" -f -a "apply" -d 'Plan, ask, patch the pods, and follow them until they are ready again'
complete -c kubectl-inplace -n "__fish_kubectl_inplace_needs_command" -f -a "restart" -d 'Restart containers in place with the very bits that they run: the digest is pinned, the template stays'
complete -c kubectl-inplace -n "__fish_kubectl_inplace_needs_command" -f -a "resume" -d 'Go on with a rollout that was stopped, or whose run was killed, at any point'
complete -c kubectl-inplace -n "__fish_kubectl_inplace_needs_command" -f -a "abort" -d 'Take a rollout back that was stopped, or whose run was killed, at any point: template, strategy, pause and pods'
complete -c kubectl-inplace -n "__fish_kubectl_inplace_needs_command" -f -a "undo" -d 'Go back to the images recorded before the last update in place'
complete -c kubectl-inplace -n "__fish_kubectl_inplace_needs_command" -f -a "follow" -d 'Watch an update, this program\'s or anybody\'s, until the pods are ready again. Changes nothing'
complete -c kubectl-inplace -n "__fish_kubectl_inplace_needs_command" -f -a "watch" -d 'Watch an update, this program\'s or anybody\'s, until the pods are ready again. Changes nothing'
complete -c kubectl-inplace -n "__fish_kubectl_inplace_needs_command" -f -a "status" -d 'Show what runs, what is asked, and what is on its way, failed, drifted from the template or held. Changes nothing'
complete -c kubectl-inplace -n "__fish_kubectl_inplace_needs_command" -f -a "history" -d 'List the in-place updates of a workload: when, who, from, to, why, how they ended. Changes nothing'
complete -c kubectl-inplace -n "__fish_kubectl_inplace_needs_command" -f -a "hash" -d 'Compute the kubelet\'s container hashes: would it restart a container? Changes nothing'
complete -c kubectl-inplace -n "__fish_kubectl_inplace_needs_command" -f -a "rbac" -d 'Print the least Role that a command needs, or ask the server whether you have it. Changes nothing'
complete -c kubectl-inplace -n "__fish_kubectl_inplace_needs_command" -f -a "explain" -d 'Say what a reason or warning means, why it is so, and what to do. Alone: list them all'
complete -c kubectl-inplace -n "__fish_kubectl_inplace_needs_command" -f -a "completion" -d 'Print a shell\'s completion script, or make completion work through kubectl'
complete -c kubectl-inplace -n "__fish_kubectl_inplace_needs_command" -f -a "version" -d 'Print the version of this program, and of the server'
complete -c kubectl-inplace -n "__fish_kubectl_inplace_needs_command" -f -a "__complete" -d 'Answer kubectl\'s completion requests'
complete -c kubectl-inplace -n "__fish_kubectl_inplace_needs_command" -f -a "help" -d 'Print this message or the help of the given subcommand(s)'
complete -c kubectl-inplace -n "__fish_kubectl_inplace_using_subcommand plan" -l image -d 'The same as CONTAINER=IMAGE among the words' -r
complete -c kubectl-inplace -n "__fish_kubectl_inplace_using_subcommand plan" -l all-containers -d 'Let \'*=IMAGE\' stand for every container' -r -f -a "true\t''
false\t''"
complete -c kubectl-inplace -n "__fish_kubectl_inplace_using_subcommand plan" -s f -l filename -d 'Manifests whose workloads are meant: files, folders, or - for standard input' -r -F
complete -c kubectl-inplace -n "__fish_kubectl_inplace_using_subcommand plan" -s R -l recursive -d 'Read folders with their subfolders' -r -f -a "true\t''
false\t''"
complete -c kubectl-inplace -n "__fish_kubectl_inplace_using_subcommand plan" -s l -l selector -d 'Label selector of the workloads' -r
complete -c kubectl-inplace -n "__fish_kubectl_inplace_using_subcommand plan" -s A -l all-namespaces -d 'In all namespaces; with -l' -r -f -a "true\t''
false\t''"
complete -c kubectl-inplace -n "__fish_kubectl_inplace_using_subcommand plan" -l max-unavailable -d 'Pods down at once, a number or a percentage [default: the owner\'s own, else 1]' -r
complete -c kubectl-inplace -n "__fish_kubectl_inplace_using_subcommand plan" -l min-ready-seconds -d 'Seconds that a pod must stay ready before the next one is taken [default: the owner\'s own; 5 for the first pod without a readiness probe]' -r
complete -c kubectl-inplace -n "__fish_kubectl_inplace_using_subcommand plan" -l timeout -d 'How long one pod may take, such as 90s or 10m [default: 5m and its termination grace]' -r
complete -c kubectl-inplace -n "__fish_kubectl_inplace_using_subcommand plan" -l total-timeout -d 'How long everything may take [default: no limit]' -r
complete -c kubectl-inplace -n "__fish_kubectl_inplace_using_subcommand plan" -l pods-only -d 'Patch the pods and leave the owner\'s template: pods made later get the template\'s image' -r -f -a "true\t''
false\t''"
complete -c kubectl-inplace -n "__fish_kubectl_inplace_using_subcommand plan" -l take-over -d 'Go on in place of a run that still holds the workload' -r -f -a "true\t''
false\t''"
complete -c kubectl-inplace -n "__fish_kubectl_inplace_using_subcommand plan" -l canary -d 'Stop after the first pods, a number or a percentage, and say how to go on; on a terminal ask' -r
complete -c kubectl-inplace -n "__fish_kubectl_inplace_using_subcommand plan" -l pause-after -d 'Stop after every so many pods, and say how to go on; on a terminal ask' -r
complete -c kubectl-inplace -n "__fish_kubectl_inplace_using_subcommand plan" -l partition -d 'Only the pods of a StatefulSet from this ordinal on; a durable rollout takes the StatefulSet\'s own' -r
complete -c kubectl-inplace -n "__fish_kubectl_inplace_using_subcommand plan" -l pods -d 'Only these pods, separated by commas' -r
complete -c kubectl-inplace -n "__fish_kubectl_inplace_using_subcommand plan" -l node -d 'Only the pods on this node' -r
complete -c kubectl-inplace -n "__fish_kubectl_inplace_using_subcommand plan" -l disruption-budget -d 'Wait until the PodDisruptionBudgets allow a pod to be taken down, or do not ask them' -r -f -a "respect\t'Wait until they allow it'
ignore\t'Do not ask them'"
complete -c kubectl-inplace -n "__fish_kubectl_inplace_using_subcommand plan" -l pre-pull -d 'Pull on each node first what it lacks, before anything is touched: where the kubelet would pull, everywhere, or nowhere' -r -f -a "auto\t''
always\t''
never\t''"
complete -c kubectl-inplace -n "__fish_kubectl_inplace_using_subcommand plan" -l drain -d 'Take a pod out of its Services before a container of it is stopped, by a label that they select and its owner does not, else by a readiness gate that only kubectl has set, and put it back after, or do not [default: auto]' -r -f -a "auto\t''
none\t''"
complete -c kubectl-inplace -n "__fish_kubectl_inplace_using_subcommand plan" -l drain-seconds -d 'Seconds between a pod\'s being out of its Services and its restart, for traffic that is on its way [default: 2]' -r
complete -c kubectl-inplace -n "__fish_kubectl_inplace_using_subcommand plan" -l order -d 'In which order pods are taken; an OrderedReady StatefulSet always goes by ordinal' -r -f -a "unready-first\t''
name\t''
age\t''
node\t''"
complete -c kubectl-inplace -n "__fish_kubectl_inplace_using_subcommand plan" -l container-order -d 'Change containers of a pod one after the other in this order, each once the one before is proven and ready; changed ones that are not named come last, together [default: all in one patch]' -r
complete -c kubectl-inplace -n "__fish_kubectl_inplace_using_subcommand plan" -l before-pod -d 'Run this with sh -c before each pod is touched; a failure stops the rollout. Its environment: KUBECTL_INPLACE_PHASE, _NAMESPACE, _POD, _POD_UID, _NODE, _WORKLOAD, _CONTAINERS. No lock keeps it: give it to resume again; it runs at least once' -r
complete -c kubectl-inplace -n "__fish_kubectl_inplace_using_subcommand plan" -l after-pod -d 'The same once a pod is done and back in its Services; both count in the pod\'s --timeout' -r
complete -c kubectl-inplace -n "__fish_kubectl_inplace_using_subcommand plan" -l against -d 'Compare -f with these older manifests, with no cluster at all: files, folders, or - for standard input' -r -F
complete -c kubectl-inplace -n "__fish_kubectl_inplace_using_subcommand plan" -s o -l output -d 'Output format; wide is text with what an expert asks for, name the pods that would change, markdown a comment for a pull request' -r -f -a "text\t'For a person'
wide\t'The text, and what an expert asks for; of a plan alone'
json\t'For a script: one document for a plan, one object a line for a rollout'
yaml\t'The JSON document as YAML; of a plan alone'
name\t'The pods that would change, one a line as `pod/NAME`; of a plan alone'
markdown\t'For a pull request\'s comment; of a plan alone'"
complete -c kubectl-inplace -n "__fish_kubectl_inplace_using_subcommand plan" -l detailed-exitcode -d 'Exit with 0 for nothing to do, 2 for changes that are all in place, 3 for anything else' -r -f -a "true\t''
false\t''"
complete -c kubectl-inplace -n "__fish_kubectl_inplace_using_subcommand plan" -l out -d 'Save the plan, for apply --plan FILE' -r -F
complete -c kubectl-inplace -n "__fish_kubectl_inplace_using_subcommand plan" -l field-manager -d 'Name of the writer in the objects\' managed fields' -r
complete -c kubectl-inplace -n "__fish_kubectl_inplace_using_subcommand plan" -s n -l namespace -d 'Namespace' -r
complete -c kubectl-inplace -n "__fish_kubectl_inplace_using_subcommand plan" -l kubeconfig -d 'The kubeconfig to use' -r -F
complete -c kubectl-inplace -n "__fish_kubectl_inplace_using_subcommand plan" -l context -d 'Context of the kubeconfig' -r
complete -c kubectl-inplace -n "__fish_kubectl_inplace_using_subcommand plan" -l cluster -d 'Cluster of the kubeconfig' -r
complete -c kubectl-inplace -n "__fish_kubectl_inplace_using_subcommand plan" -l user -d 'User of the kubeconfig' -r
complete -c kubectl-inplace -n "__fish_kubectl_inplace_using_subcommand plan" -s s -l server -d 'Address of the API server' -r
complete -c kubectl-inplace -n "__fish_kubectl_inplace_using_subcommand plan" -l token -d 'Bearer token' -r
complete -c kubectl-inplace -n "__fish_kubectl_inplace_using_subcommand plan" -l certificate-authority -d 'Certificate file of the server\'s authority' -r -F
complete -c kubectl-inplace -n "__fish_kubectl_inplace_using_subcommand plan" -l client-certificate -d 'Client certificate file' -r -F
complete -c kubectl-inplace -n "__fish_kubectl_inplace_using_subcommand plan" -l client-key -d 'Client key file' -r -F
complete -c kubectl-inplace -n "__fish_kubectl_inplace_using_subcommand plan" -l insecure-skip-tls-verify -d 'Do not check the server\'s certificate' -r -f -a "true\t''
false\t''"
complete -c kubectl-inplace -n "__fish_kubectl_inplace_using_subcommand plan" -l tls-server-name -d 'Name that the server\'s certificate must have' -r
complete -c kubectl-inplace -n "__fish_kubectl_inplace_using_subcommand plan" -l as -d 'User to impersonate' -r
complete -c kubectl-inplace -n "__fish_kubectl_inplace_using_subcommand plan" -l as-group -d 'Group to impersonate; repeatable' -r
complete -c kubectl-inplace -n "__fish_kubectl_inplace_using_subcommand plan" -l as-uid -d 'UID to impersonate' -r
complete -c kubectl-inplace -n "__fish_kubectl_inplace_using_subcommand plan" -l as-user-extra -d 'Extra of the impersonated user; repeatable' -r
complete -c kubectl-inplace -n "__fish_kubectl_inplace_using_subcommand plan" -l request-timeout -d 'How long one request may take, repetitions included; 0 is no limit' -r
complete -c kubectl-inplace -n "__fish_kubectl_inplace_using_subcommand plan" -l disable-compression -d 'Ask the server not to compress its answers' -r -f -a "true\t''
false\t''"
complete -c kubectl-inplace -n "__fish_kubectl_inplace_using_subcommand plan" -l warnings-as-errors -d 'End with an error if the server warned' -r -f -a "true\t''
false\t''"
complete -c kubectl-inplace -n "__fish_kubectl_inplace_using_subcommand plan" -l color -d 'Colours' -r -f -a "auto\t'On a terminal that can, unless `NO_COLOR` is set'
always\t'Always'
never\t'Never'"
complete -c kubectl-inplace -n "__fish_kubectl_inplace_using_subcommand plan" -s q -l quiet -d 'Show results and errors only' -r -f -a "true\t''
false\t''"
complete -c kubectl-inplace -n "__fish_kubectl_inplace_using_subcommand plan" -s v -l v -d 'Log level: 6 shows requests, 8 more' -r
complete -c kubectl-inplace -n "__fish_kubectl_inplace_using_subcommand plan" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c kubectl-inplace -n "__fish_kubectl_inplace_using_subcommand diff" -l image -d 'The same as CONTAINER=IMAGE among the words' -r
complete -c kubectl-inplace -n "__fish_kubectl_inplace_using_subcommand diff" -l all-containers -d 'Let \'*=IMAGE\' stand for every container' -r -f -a "true\t''
false\t''"
complete -c kubectl-inplace -n "__fish_kubectl_inplace_using_subcommand diff" -s f -l filename -d 'Manifests whose workloads are meant: files, folders, or - for standard input' -r -F
complete -c kubectl-inplace -n "__fish_kubectl_inplace_using_subcommand diff" -s R -l recursive -d 'Read folders with their subfolders' -r -f -a "true\t''
false\t''"
complete -c kubectl-inplace -n "__fish_kubectl_inplace_using_subcommand diff" -s l -l selector -d 'Label selector of the workloads' -r
complete -c kubectl-inplace -n "__fish_kubectl_inplace_using_subcommand diff" -s A -l all-namespaces -d 'In all namespaces; with -l' -r -f -a "true\t''
false\t''"
complete -c kubectl-inplace -n "__fish_kubectl_inplace_using_subcommand diff" -s C -l context-lines -d 'Unchanged lines around each change' -r
complete -c kubectl-inplace -n "__fish_kubectl_inplace_using_subcommand diff" -l field-manager -d 'Name of the writer that the server is asked as' -r
complete -c kubectl-inplace -n "__fish_kubectl_inplace_using_subcommand diff" -s n -l namespace -d 'Namespace' -r
complete -c kubectl-inplace -n "__fish_kubectl_inplace_using_subcommand diff" -l kubeconfig -d 'The kubeconfig to use' -r -F
complete -c kubectl-inplace -n "__fish_kubectl_inplace_using_subcommand diff" -l context -d 'Context of the kubeconfig' -r
complete -c kubectl-inplace -n "__fish_kubectl_inplace_using_subcommand diff" -l cluster -d 'Cluster of the kubeconfig' -r
complete -c kubectl-inplace -n "__fish_kubectl_inplace_using_subcommand diff" -l user -d 'User of the kubeconfig' -r
complete -c kubectl-inplace -n "__fish_kubectl_inplace_using_subcommand diff" -s s -l server -d 'Address of the API server' -r
complete -c kubectl-inplace -n "__fish_kubectl_inplace_using_subcommand diff" -l token -d 'Bearer token' -r
complete -c kubectl-inplace -n "__fish_kubectl_inplace_using_subcommand diff" -l certificate-authority -d 'Certificate file of the server\'s authority' -r -F
complete -c kubectl-inplace -n "__fish_kubectl_inplace_using_subcommand diff" -l client-certificate -d 'Client certificate file' -r -F
complete -c kubectl-inplace -n "__fish_kubectl_inplace_using_subcommand diff" -l client-key -d 'Client key file' -r -F
complete -c kubectl-inplace -n "__fish_kubectl_inplace_using_subcommand diff" -l insecure-skip-tls-verify -d 'Do not check the server\'s certificate' -r -f -a "true\t''
false\t''"
complete -c kubectl-inplace -n "__fish_kubectl_inplace_using_subcommand diff" -l tls-server-name -d 'Name that the server\'s certificate must have' -r
complete -c kubectl-inplace -n "__fish_kubectl_inplace_using_subcommand diff" -l as -d 'User to impersonate' -r
complete -c kubectl-inplace -n "__fish_kubectl_inplace_using_subcommand diff" -l as-group -d 'Group to impersonate; repeatable' -r
complete -c kubectl-inplace -n "__fish_kubectl_inplace_using_subcommand diff" -l as-uid -d 'UID to impersonate' -r
complete -c kubectl-inplace -n "__fish_kubectl_inplace_using_subcommand diff" -l as-user-extra -d 'Extra of the impersonated user; repeatable' -r
complete -c kubectl-inplace -n "__fish_kubectl_inplace_using_subcommand diff" -l request-timeout -d 'How long one request may take, repetitions included; 0 is no limit' -r
complete -c kubectl-inplace -n "__fish_kubectl_inplace_using_subcommand diff" -l disable-compression -d 'Ask the server not to compress its answers' -r -f -a "true\t''
false\t''"
complete -c kubectl-inplace -n "__fish_kubectl_inplace_using_subcommand diff" -l warnings-as-errors -d 'End with an error if the server warned' -r -f -a "true\t''
false\t''"
complete -c kubectl-inplace -n "__fish_kubectl_inplace_using_subcommand diff" -l color -d 'Colours' -r -f -a "auto\t'On a terminal that can, unless `NO_COLOR` is set'
always\t'Always'
never\t'Never'"
complete -c kubectl-inplace -n "__fish_kubectl_inplace_using_subcommand diff" -s q -l quiet -d 'Show results and errors only' -r -f -a "true\t''
false\t''"
complete -c kubectl-inplace -n "__fish_kubectl_inplace_using_subcommand diff" -s v -l v -d 'Log level: 6 shows requests, 8 more' -r
complete -c kubectl-inplace -n "__fish_kubectl_inplace_using_subcommand diff" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c kubectl-inplace -n "__fish_kubectl_inplace_using_subcommand apply" -l image -d 'The same as CONTAINER=IMAGE among the words' -r
complete -c kubectl-inplace -n "__fish_kubectl_inplace_using_subcommand apply" -l all-containers -d 'Let \'*=IMAGE\' stand for every container' -r -f -a "true\t''
false\t''"
complete -c kubectl-inplace -n "__fish_kubectl_inplace_using_subcommand apply" -s f -l filename -d 'Manifests whose workloads are meant: files, folders, or - for standard input' -r -F
complete -c kubectl-inplace -n "__fish_kubectl_inplace_using_subcommand apply" -s R -l recursive -d 'Read folders with their subfolders' -r -f -a "true\t''
false\t''"
complete -c kubectl-inplace -n "__fish_kubectl_inplace_using_subcommand apply" -s l -l selector -d 'Label selector of the workloads' -r
complete -c kubectl-inplace -n "__fish_kubectl_inplace_using_subcommand apply" -s A -l all-namespaces -d 'In all namespaces; with -l' -r -f -a "true\t''
false\t''"
complete -c kubectl-inplace -n "__fish_kubectl_inplace_using_subcommand apply" -l max-unavailable -d 'Pods down at once, a number or a percentage [default: the owner\'s own, else 1]' -r
complete -c kubectl-inplace -n "__fish_kubectl_inplace_using_subcommand apply" -l min-ready-seconds -d 'Seconds that a pod must stay ready before the next one is taken [default: the owner\'s own; 5 for the first pod without a readiness probe]' -r
complete -c kubectl-inplace -n "__fish_kubectl_inplace_using_subcommand apply" -l timeout -d 'How long one pod may take, such as 90s or 10m [default: 5m and its termination grace]' -r
complete -c kubectl-inplace -n "__fish_kubectl_inplace_using_subcommand apply" -l total-timeout -d 'How long everything may take [default: no limit]' -r
complete -c kubectl-inplace -n "__fish_kubectl_inplace_using_subcommand apply" -l pods-only -d 'Patch the pods and leave the owner\'s template: pods made later get the template\'s image' -r -f -a "true\t''
false\t''"
complete -c kubectl-inplace -n "__fish_kubectl_inplace_using_subcommand apply" -l take-over -d 'Go on in place of a run that still holds the workload' -r -f -a "true\t''
false\t''"
complete -c kubectl-inplace -n "__fish_kubectl_inplace_using_subcommand apply" -l canary -d 'Stop after the first pods, a number or a percentage, and say how to go on; on a terminal ask' -r
complete -c kubectl-inplace -n "__fish_kubectl_inplace_using_subcommand apply" -l pause-after -d 'Stop after every so many pods, and say how to go on; on a terminal ask' -r
complete -c kubectl-inplace -n "__fish_kubectl_inplace_using_subcommand apply" -l partition -d 'Only the pods of a StatefulSet from this ordinal on; a durable rollout takes the StatefulSet\'s own' -r
complete -c kubectl-inplace -n "__fish_kubectl_inplace_using_subcommand apply" -l pods -d 'Only these pods, separated by commas' -r
complete -c kubectl-inplace -n "__fish_kubectl_inplace_using_subcommand apply" -l node -d 'Only the pods on this node' -r
complete -c kubectl-inplace -n "__fish_kubectl_inplace_using_subcommand apply" -l disruption-budget -d 'Wait until the PodDisruptionBudgets allow a pod to be taken down, or do not ask them' -r -f -a "respect\t'Wait until they allow it'
ignore\t'Do not ask them'"
complete -c kubectl-inplace -n "__fish_kubectl_inplace_using_subcommand apply" -l pre-pull -d 'Pull on each node first what it lacks, before anything is touched: where the kubelet would pull, everywhere, or nowhere' -r -f -a "auto\t''
always\t''
never\t''"
complete -c kubectl-inplace -n "__fish_kubectl_inplace_using_subcommand apply" -l drain -d 'Take a pod out of its Services before a container of it is stopped, by a label that they select and its owner does not, else by a readiness gate that only kubectl has set, and put it back after, or do not [default: auto]' -r -f -a "auto\t''
none\t''"
complete -c kubectl-inplace -n "__fish_kubectl_inplace_using_subcommand apply" -l drain-seconds -d 'Seconds between a pod\'s being out of its Services and its restart, for traffic that is on its way [default: 2]' -r
complete -c kubectl-inplace -n "__fish_kubectl_inplace_using_subcommand apply" -l order -d 'In which order pods are taken; an OrderedReady StatefulSet always goes by ordinal' -r -f -a "unready-first\t''
name\t''
age\t''
node\t''"
complete -c kubectl-inplace -n "__fish_kubectl_inplace_using_subcommand apply" -l container-order -d 'Change containers of a pod one after the other in this order, each once the one before is proven and ready; changed ones that are not named come last, together [default: all in one patch]' -r
complete -c kubectl-inplace -n "__fish_kubectl_inplace_using_subcommand apply" -l before-pod -d 'Run this with sh -c before each pod is touched; a failure stops the rollout. Its environment: KUBECTL_INPLACE_PHASE, _NAMESPACE, _POD, _POD_UID, _NODE, _WORKLOAD, _CONTAINERS. No lock keeps it: give it to resume again; it runs at least once' -r
complete -c kubectl-inplace -n "__fish_kubectl_inplace_using_subcommand apply" -l after-pod -d 'The same once a pod is done and back in its Services; both count in the pod\'s --timeout' -r
complete -c kubectl-inplace -n "__fish_kubectl_inplace_using_subcommand apply" -l plan -d 'Do exactly what a saved plan says, without asking; refused if anything moved since' -r -F
complete -c kubectl-inplace -n "__fish_kubectl_inplace_using_subcommand apply" -s o -l output -d 'Output format; json is one object a line' -r -f -a "text\t'For a person'
json\t'For a script: one document for a plan, one object a line for a rollout'"
complete -c kubectl-inplace -n "__fish_kubectl_inplace_using_subcommand apply" -s y -l yes -d 'Do not ask; required where there is no terminal' -r -f -a "true\t''
false\t''"
complete -c kubectl-inplace -n "__fish_kubectl_inplace_using_subcommand apply" -l reason -d 'Why; recorded in the history, and as kubernetes.io/change-cause of a Deployment' -r
complete -c kubectl-inplace -n "__fish_kubectl_inplace_using_subcommand apply" -l on-failure -d 'What to do when a pod fails: stop, take everything back, or go on with the other pods and workloads' -r -f -a "stop\t'Stop before the next pod'
undo\t'Take everything back'
continue\t'Go on with the other pods, as long as pods may be down: one that failed counts as down'"
complete -c kubectl-inplace -n "__fish_kubectl_inplace_using_subcommand apply" -l keep-field-ownership -d 'Stay owner of the changed fields for server-side apply, so that an apply of another image is a conflict' -r -f -a "true\t''
false\t''"
complete -c kubectl-inplace -n "__fish_kubectl_inplace_using_subcommand apply" -l record -d 'Write down everything that is decided, and from what, as one JSON object a line: for a report of a bug' -r -F
complete -c kubectl-inplace -n "__fish_kubectl_inplace_using_subcommand apply" -l parallel-workloads -d 'Workloads at once; each keeps to its own budget' -r
complete -c kubectl-inplace -n "__fish_kubectl_inplace_using_subcommand apply" -l dry-run -d 'client: plan without asking the server about the patches; server: plan as usual. Neither changes anything' -r -f -a "none\t'Do it'
client\t'Only plan, without asking the server about the patches'
server\t'Only plan'"
complete -c kubectl-inplace -n "__fish_kubectl_inplace_using_subcommand apply" -l field-manager -d 'Name of the writer in the objects\' managed fields' -r
complete -c kubectl-inplace -n "__fish_kubectl_inplace_using_subcommand apply" -s n -l namespace -d 'Namespace' -r
complete -c kubectl-inplace -n "__fish_kubectl_inplace_using_subcommand apply" -l kubeconfig -d 'The kubeconfig to use' -r -F
complete -c kubectl-inplace -n "__fish_kubectl_inplace_using_subcommand apply" -l context -d 'Context of the kubeconfig' -r
complete -c kubectl-inplace -n "__fish_kubectl_inplace_using_subcommand apply" -l cluster -d 'Cluster of the kubeconfig' -r
complete -c kubectl-inplace -n "__fish_kubectl_inplace_using_subcommand apply" -l user -d 'User of the kubeconfig' -r
complete -c kubectl-inplace -n "__fish_kubectl_inplace_using_subcommand apply" -s s -l server -d 'Address of the API server' -r
complete -c kubectl-inplace -n "__fish_kubectl_inplace_using_subcommand apply" -l token -d 'Bearer token' -r
complete -c kubectl-inplace -n "__fish_kubectl_inplace_using_subcommand apply" -l certificate-authority -d 'Certificate file of the server\'s authority' -r -F
complete -c kubectl-inplace -n "__fish_kubectl_inplace_using_subcommand apply" -l client-certificate -d 'Client certificate file' -r -F
complete -c kubectl-inplace -n "__fish_kubectl_inplace_using_subcommand apply" -l client-key -d 'Client key file' -r -F
complete -c kubectl-inplace -n "__fish_kubectl_inplace_using_subcommand apply" -l insecure-skip-tls-verify -d 'Do not check the server\'s certificate' -r -f -a "true\t''
false\t''"
complete -c kubectl-inplace -n "__fish_kubectl_inplace_using_subcommand apply" -l tls-server-name -d 'Name that the server\'s certificate must have' -r
complete -c kubectl-inplace -n "__fish_kubectl_inplace_using_subcommand apply" -l as -d 'User to impersonate' -r
complete -c kubectl-inplace -n "__fish_kubectl_inplace_using_subcommand apply" -l as-group -d 'Group to impersonate; repeatable' -r
complete -c kubectl-inplace -n "__fish_kubectl_inplace_using_subcommand apply" -l as-uid -d 'UID to impersonate' -r
complete -c kubectl-inplace -n "__fish_kubectl_inplace_using_subcommand apply" -l as-user-extra -d 'Extra of the impersonated user; repeatable' -r
complete -c kubectl-inplace -n "__fish_kubectl_inplace_using_subcommand apply" -l request-timeout -d 'How long one request may take, repetitions included; 0 is no limit' -r
complete -c kubectl-inplace -n "__fish_kubectl_inplace_using_subcommand apply" -l disable-compression -d 'Ask the server not to compress its answers' -r -f -a "true\t''
false\t''"
complete -c kubectl-inplace -n "__fish_kubectl_inplace_using_subcommand apply" -l warnings-as-errors -d 'End with an error if the server warned' -r -f -a "true\t''
false\t''"
complete -c kubectl-inplace -n "__fish_kubectl_inplace_using_subcommand apply" -l color -d 'Colours' -r -f -a "auto\t'On a terminal that can, unless `NO_COLOR` is set'
always\t'Always'
never\t'Never'"
complete -c kubectl-inplace -n "__fish_kubectl_inplace_using_subcommand apply" -s q -l quiet -d 'Show results and errors only' -r -f -a "true\t''
false\t''"
complete -c kubectl-inplace -n "__fish_kubectl_inplace_using_subcommand apply" -s v -l v -d 'Log level: 6 shows requests, 8 more' -r
complete -c kubectl-inplace -n "__fish_kubectl_inplace_using_subcommand apply" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c kubectl-inplace -n "__fish_kubectl_inplace_using_subcommand restart" -l image -d 'The same as CONTAINER=IMAGE among the words' -r
complete -c kubectl-inplace -n "__fish_kubectl_inplace_using_subcommand restart" -l all-containers -d 'Let \'*=IMAGE\' stand for every container' -r -f -a "true\t''
false\t''"
complete -c kubectl-inplace -n "__fish_kubectl_inplace_using_subcommand restart" -s f -l filename -d 'Manifests whose workloads are meant: files, folders, or - for standard input' -r -F
complete -c kubectl-inplace -n "__fish_kubectl_inplace_using_subcommand restart" -s R -l recursive -d 'Read folders with their subfolders' -r -f -a "true\t''
false\t''"
complete -c kubectl-inplace -n "__fish_kubectl_inplace_using_subcommand restart" -s l -l selector -d 'Label selector of the workloads' -r
complete -c kubectl-inplace -n "__fish_kubectl_inplace_using_subcommand restart" -s A -l all-namespaces -d 'In all namespaces; with -l' -r -f -a "true\t''
false\t''"
complete -c kubectl-inplace -n "__fish_kubectl_inplace_using_subcommand restart" -s c -l container -d 'The containers that restart, separated by commas; required unless there is one' -r
complete -c kubectl-inplace -n "__fish_kubectl_inplace_using_subcommand restart" -l max-unavailable -d 'Pods down at once, a number or a percentage [default: the owner\'s own, else 1]' -r
complete -c kubectl-inplace -n "__fish_kubectl_inplace_using_subcommand restart" -l min-ready-seconds -d 'Seconds that a pod must stay ready before the next one is taken [default: the owner\'s own; 5 for the first pod without a readiness probe]' -r
complete -c kubectl-inplace -n "__fish_kubectl_inplace_using_subcommand restart" -l timeout -d 'How long one pod may take, such as 90s or 10m [default: 5m and its termination grace]' -r
complete -c kubectl-inplace -n "__fish_kubectl_inplace_using_subcommand restart" -l total-timeout -d 'How long everything may take [default: no limit]' -r
complete -c kubectl-inplace -n "__fish_kubectl_inplace_using_subcommand restart" -l pods-only -d 'Patch the pods and leave the owner\'s template: pods made later get the template\'s image' -r -f -a "true\t''
false\t''"
complete -c kubectl-inplace -n "__fish_kubectl_inplace_using_subcommand restart" -l take-over -d 'Go on in place of a run that still holds the workload' -r -f -a "true\t''
false\t''"
complete -c kubectl-inplace -n "__fish_kubectl_inplace_using_subcommand restart" -l canary -d 'Stop after the first pods, a number or a percentage, and say how to go on; on a terminal ask' -r
complete -c kubectl-inplace -n "__fish_kubectl_inplace_using_subcommand restart" -l pause-after -d 'Stop after every so many pods, and say how to go on; on a terminal ask' -r
complete -c kubectl-inplace -n "__fish_kubectl_inplace_using_subcommand restart" -l partition -d 'Only the pods of a StatefulSet from this ordinal on; a durable rollout takes the StatefulSet\'s own' -r
complete -c kubectl-inplace -n "__fish_kubectl_inplace_using_subcommand restart" -l pods -d 'Only these pods, separated by commas' -r
complete -c kubectl-inplace -n "__fish_kubectl_inplace_using_subcommand restart" -l node -d 'Only the pods on this node' -r
complete -c kubectl-inplace -n "__fish_kubectl_inplace_using_subcommand restart" -l disruption-budget -d 'Wait until the PodDisruptionBudgets allow a pod to be taken down, or do not ask them' -r -f -a "respect\t'Wait until they allow it'
ignore\t'Do not ask them'"
complete -c kubectl-inplace -n "__fish_kubectl_inplace_using_subcommand restart" -l pre-pull -d 'Pull on each node first what it lacks, before anything is touched: where the kubelet would pull, everywhere, or nowhere' -r -f -a "auto\t''
always\t''
never\t''"
complete -c kubectl-inplace -n "__fish_kubectl_inplace_using_subcommand restart" -l drain -d 'Take a pod out of its Services before a container of it is stopped, by a label that they select and its owner does not, else by a readiness gate that only kubectl has set, and put it back after, or do not [default: auto]' -r -f -a "auto\t''
none\t''"
complete -c kubectl-inplace -n "__fish_kubectl_inplace_using_subcommand restart" -l drain-seconds -d 'Seconds between a pod\'s being out of its Services and its restart, for traffic that is on its way [default: 2]' -r
complete -c kubectl-inplace -n "__fish_kubectl_inplace_using_subcommand restart" -l order -d 'In which order pods are taken; an OrderedReady StatefulSet always goes by ordinal' -r -f -a "unready-first\t''
name\t''
age\t''
node\t''"
complete -c kubectl-inplace -n "__fish_kubectl_inplace_using_subcommand restart" -l container-order -d 'Change containers of a pod one after the other in this order, each once the one before is proven and ready; changed ones that are not named come last, together [default: all in one patch]' -r
complete -c kubectl-inplace -n "__fish_kubectl_inplace_using_subcommand restart" -l before-pod -d 'Run this with sh -c before each pod is touched; a failure stops the rollout. Its environment: KUBECTL_INPLACE_PHASE, _NAMESPACE, _POD, _POD_UID, _NODE, _WORKLOAD, _CONTAINERS. No lock keeps it: give it to resume again; it runs at least once' -r
complete -c kubectl-inplace -n "__fish_kubectl_inplace_using_subcommand restart" -l after-pod -d 'The same once a pod is done and back in its Services; both count in the pod\'s --timeout' -r
complete -c kubectl-inplace -n "__fish_kubectl_inplace_using_subcommand restart" -l reason -d 'Why; recorded in the history, and as kubernetes.io/change-cause of a Deployment' -r
complete -c kubectl-inplace -n "__fish_kubectl_inplace_using_subcommand restart" -l on-failure -d 'What to do when a pod fails: stop, take everything back, or go on with the other pods and workloads' -r -f -a "stop\t'Stop before the next pod'
undo\t'Take everything back'
continue\t'Go on with the other pods, as long as pods may be down: one that failed counts as down'"
complete -c kubectl-inplace -n "__fish_kubectl_inplace_using_subcommand restart" -l keep-field-ownership -d 'Stay owner of the changed fields for server-side apply, so that an apply of another image is a conflict' -r -f -a "true\t''
false\t''"
complete -c kubectl-inplace -n "__fish_kubectl_inplace_using_subcommand restart" -l record -d 'Write down everything that is decided, and from what, as one JSON object a line: for a report of a bug' -r -F
complete -c kubectl-inplace -n "__fish_kubectl_inplace_using_subcommand restart" -l parallel-workloads -d 'Workloads at once; each keeps to its own budget' -r
complete -c kubectl-inplace -n "__fish_kubectl_inplace_using_subcommand restart" -s o -l output -d 'Output format; json is one object a line' -r -f -a "text\t'For a person'
json\t'For a script: one document for a plan, one object a line for a rollout'"
complete -c kubectl-inplace -n "__fish_kubectl_inplace_using_subcommand restart" -s y -l yes -d 'Do not ask; required where there is no terminal' -r -f -a "true\t''
false\t''"
complete -c kubectl-inplace -n "__fish_kubectl_inplace_using_subcommand restart" -l dry-run -d 'client: plan without asking the server about the patches; server: plan as usual. Neither changes anything' -r -f -a "none\t'Do it'
client\t'Only plan, without asking the server about the patches'
server\t'Only plan'"
complete -c kubectl-inplace -n "__fish_kubectl_inplace_using_subcommand restart" -l field-manager -d 'Name of the writer in the objects\' managed fields' -r
complete -c kubectl-inplace -n "__fish_kubectl_inplace_using_subcommand restart" -s n -l namespace -d 'Namespace' -r
complete -c kubectl-inplace -n "__fish_kubectl_inplace_using_subcommand restart" -l kubeconfig -d 'The kubeconfig to use' -r -F
complete -c kubectl-inplace -n "__fish_kubectl_inplace_using_subcommand restart" -l context -d 'Context of the kubeconfig' -r
complete -c kubectl-inplace -n "__fish_kubectl_inplace_using_subcommand restart" -l cluster -d 'Cluster of the kubeconfig' -r
complete -c kubectl-inplace -n "__fish_kubectl_inplace_using_subcommand restart" -l user -d 'User of the kubeconfig' -r
complete -c kubectl-inplace -n "__fish_kubectl_inplace_using_subcommand restart" -s s -l server -d 'Address of the API server' -r
complete -c kubectl-inplace -n "__fish_kubectl_inplace_using_subcommand restart" -l token -d 'Bearer token' -r
complete -c kubectl-inplace -n "__fish_kubectl_inplace_using_subcommand restart" -l certificate-authority -d 'Certificate file of the server\'s authority' -r -F
complete -c kubectl-inplace -n "__fish_kubectl_inplace_using_subcommand restart" -l client-certificate -d 'Client certificate file' -r -F
complete -c kubectl-inplace -n "__fish_kubectl_inplace_using_subcommand restart" -l client-key -d 'Client key file' -r -F
complete -c kubectl-inplace -n "__fish_kubectl_inplace_using_subcommand restart" -l insecure-skip-tls-verify -d 'Do not check the server\'s certificate' -r -f -a "true\t''
false\t''"
complete -c kubectl-inplace -n "__fish_kubectl_inplace_using_subcommand restart" -l tls-server-name -d 'Name that the server\'s certificate must have' -r
complete -c kubectl-inplace -n "__fish_kubectl_inplace_using_subcommand restart" -l as -d 'User to impersonate' -r
complete -c kubectl-inplace -n "__fish_kubectl_inplace_using_subcommand restart" -l as-group -d 'Group to impersonate; repeatable' -r
complete -c kubectl-inplace -n "__fish_kubectl_inplace_using_subcommand restart" -l as-uid -d 'UID to impersonate' -r
complete -c kubectl-inplace -n "__fish_kubectl_inplace_using_subcommand restart" -l as-user-extra -d 'Extra of the impersonated user; repeatable' -r
complete -c kubectl-inplace -n "__fish_kubectl_inplace_using_subcommand restart" -l request-timeout -d 'How long one request may take, repetitions included; 0 is no limit' -r
complete -c kubectl-inplace -n "__fish_kubectl_inplace_using_subcommand restart" -l disable-compression -d 'Ask the server not to compress its answers' -r -f -a "true\t''
false\t''"
complete -c kubectl-inplace -n "__fish_kubectl_inplace_using_subcommand restart" -l warnings-as-errors -d 'End with an error if the server warned' -r -f -a "true\t''
false\t''"
complete -c kubectl-inplace -n "__fish_kubectl_inplace_using_subcommand restart" -l color -d 'Colours' -r -f -a "auto\t'On a terminal that can, unless `NO_COLOR` is set'
always\t'Always'
never\t'Never'"
complete -c kubectl-inplace -n "__fish_kubectl_inplace_using_subcommand restart" -s q -l quiet -d 'Show results and errors only' -r -f -a "true\t''
false\t''"
complete -c kubectl-inplace -n "__fish_kubectl_inplace_using_subcommand restart" -s v -l v -d 'Log level: 6 shows requests, 8 more' -r
complete -c kubectl-inplace -n "__fish_kubectl_inplace_using_subcommand restart" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c kubectl-inplace -n "__fish_kubectl_inplace_using_subcommand resume" -l image -d 'The same as CONTAINER=IMAGE among the words' -r
complete -c kubectl-inplace -n "__fish_kubectl_inplace_using_subcommand resume" -l all-containers -d 'Let \'*=IMAGE\' stand for every container' -r -f -a "true\t''
false\t''"
complete -c kubectl-inplace -n "__fish_kubectl_inplace_using_subcommand resume" -s f -l filename -d 'Manifests whose workloads are meant: files, folders, or - for standard input' -r -F
complete -c kubectl-inplace -n "__fish_kubectl_inplace_using_subcommand resume" -s R -l recursive -d 'Read folders with their subfolders' -r -f -a "true\t''
false\t''"
complete -c kubectl-inplace -n "__fish_kubectl_inplace_using_subcommand resume" -s l -l selector -d 'Label selector of the workloads' -r
complete -c kubectl-inplace -n "__fish_kubectl_inplace_using_subcommand resume" -s A -l all-namespaces -d 'In all namespaces; with -l' -r -f -a "true\t''
false\t''"
complete -c kubectl-inplace -n "__fish_kubectl_inplace_using_subcommand resume" -l max-unavailable -d 'Pods down at once, a number or a percentage [default: the owner\'s own, else 1]' -r
complete -c kubectl-inplace -n "__fish_kubectl_inplace_using_subcommand resume" -l min-ready-seconds -d 'Seconds that a pod must stay ready before the next one is taken [default: the owner\'s own; 5 for the first pod without a readiness probe]' -r
complete -c kubectl-inplace -n "__fish_kubectl_inplace_using_subcommand resume" -l timeout -d 'How long one pod may take, such as 90s or 10m [default: 5m and its termination grace]' -r
complete -c kubectl-inplace -n "__fish_kubectl_inplace_using_subcommand resume" -l total-timeout -d 'How long everything may take [default: no limit]' -r
complete -c kubectl-inplace -n "__fish_kubectl_inplace_using_subcommand resume" -l pods-only -d 'Patch the pods and leave the owner\'s template: pods made later get the template\'s image' -r -f -a "true\t''
false\t''"
complete -c kubectl-inplace -n "__fish_kubectl_inplace_using_subcommand resume" -l take-over -d 'Go on in place of a run that still holds the workload' -r -f -a "true\t''
false\t''"
complete -c kubectl-inplace -n "__fish_kubectl_inplace_using_subcommand resume" -l canary -d 'Stop after the first pods, a number or a percentage, and say how to go on; on a terminal ask' -r
complete -c kubectl-inplace -n "__fish_kubectl_inplace_using_subcommand resume" -l pause-after -d 'Stop after every so many pods, and say how to go on; on a terminal ask' -r
complete -c kubectl-inplace -n "__fish_kubectl_inplace_using_subcommand resume" -l partition -d 'Only the pods of a StatefulSet from this ordinal on; a durable rollout takes the StatefulSet\'s own' -r
complete -c kubectl-inplace -n "__fish_kubectl_inplace_using_subcommand resume" -l pods -d 'Only these pods, separated by commas' -r
complete -c kubectl-inplace -n "__fish_kubectl_inplace_using_subcommand resume" -l node -d 'Only the pods on this node' -r
complete -c kubectl-inplace -n "__fish_kubectl_inplace_using_subcommand resume" -l disruption-budget -d 'Wait until the PodDisruptionBudgets allow a pod to be taken down, or do not ask them' -r -f -a "respect\t'Wait until they allow it'
ignore\t'Do not ask them'"
complete -c kubectl-inplace -n "__fish_kubectl_inplace_using_subcommand resume" -l pre-pull -d 'Pull on each node first what it lacks, before anything is touched: where the kubelet would pull, everywhere, or nowhere' -r -f -a "auto\t''
always\t''
never\t''"
complete -c kubectl-inplace -n "__fish_kubectl_inplace_using_subcommand resume" -l drain -d 'Take a pod out of its Services before a container of it is stopped, by a label that they select and its owner does not, else by a readiness gate that only kubectl has set, and put it back after, or do not [default: auto]' -r -f -a "auto\t''
none\t''"
complete -c kubectl-inplace -n "__fish_kubectl_inplace_using_subcommand resume" -l drain-seconds -d 'Seconds between a pod\'s being out of its Services and its restart, for traffic that is on its way [default: 2]' -r
complete -c kubectl-inplace -n "__fish_kubectl_inplace_using_subcommand resume" -l order -d 'In which order pods are taken; an OrderedReady StatefulSet always goes by ordinal' -r -f -a "unready-first\t''
name\t''
age\t''
node\t''"
complete -c kubectl-inplace -n "__fish_kubectl_inplace_using_subcommand resume" -l container-order -d 'Change containers of a pod one after the other in this order, each once the one before is proven and ready; changed ones that are not named come last, together [default: all in one patch]' -r
complete -c kubectl-inplace -n "__fish_kubectl_inplace_using_subcommand resume" -l before-pod -d 'Run this with sh -c before each pod is touched; a failure stops the rollout. Its environment: KUBECTL_INPLACE_PHASE, _NAMESPACE, _POD, _POD_UID, _NODE, _WORKLOAD, _CONTAINERS. No lock keeps it: give it to resume again; it runs at least once' -r
complete -c kubectl-inplace -n "__fish_kubectl_inplace_using_subcommand resume" -l after-pod -d 'The same once a pod is done and back in its Services; both count in the pod\'s --timeout' -r
complete -c kubectl-inplace -n "__fish_kubectl_inplace_using_subcommand resume" -l reason -d 'Why; recorded in the history, and as kubernetes.io/change-cause of a Deployment' -r
complete -c kubectl-inplace -n "__fish_kubectl_inplace_using_subcommand resume" -l on-failure -d 'What to do when a pod fails: stop, take everything back, or go on with the other pods and workloads' -r -f -a "stop\t'Stop before the next pod'
undo\t'Take everything back'
continue\t'Go on with the other pods, as long as pods may be down: one that failed counts as down'"
complete -c kubectl-inplace -n "__fish_kubectl_inplace_using_subcommand resume" -l keep-field-ownership -d 'Stay owner of the changed fields for server-side apply, so that an apply of another image is a conflict' -r -f -a "true\t''
false\t''"
complete -c kubectl-inplace -n "__fish_kubectl_inplace_using_subcommand resume" -l record -d 'Write down everything that is decided, and from what, as one JSON object a line: for a report of a bug' -r -F
complete -c kubectl-inplace -n "__fish_kubectl_inplace_using_subcommand resume" -l parallel-workloads -d 'Workloads at once; each keeps to its own budget' -r
complete -c kubectl-inplace -n "__fish_kubectl_inplace_using_subcommand resume" -s o -l output -d 'Output format; json is one object a line' -r -f -a "text\t'For a person'
json\t'For a script: one document for a plan, one object a line for a rollout'"
complete -c kubectl-inplace -n "__fish_kubectl_inplace_using_subcommand resume" -s y -l yes -d 'Do not ask; required where there is no terminal' -r -f -a "true\t''
false\t''"
complete -c kubectl-inplace -n "__fish_kubectl_inplace_using_subcommand resume" -l field-manager -d 'Name of the writer in the objects\' managed fields' -r
complete -c kubectl-inplace -n "__fish_kubectl_inplace_using_subcommand resume" -s n -l namespace -d 'Namespace' -r
complete -c kubectl-inplace -n "__fish_kubectl_inplace_using_subcommand resume" -l kubeconfig -d 'The kubeconfig to use' -r -F
complete -c kubectl-inplace -n "__fish_kubectl_inplace_using_subcommand resume" -l context -d 'Context of the kubeconfig' -r
complete -c kubectl-inplace -n "__fish_kubectl_inplace_using_subcommand resume" -l cluster -d 'Cluster of the kubeconfig' -r
complete -c kubectl-inplace -n "__fish_kubectl_inplace_using_subcommand resume" -l user -d 'User of the kubeconfig' -r
complete -c kubectl-inplace -n "__fish_kubectl_inplace_using_subcommand resume" -s s -l server -d 'Address of the API server' -r
complete -c kubectl-inplace -n "__fish_kubectl_inplace_using_subcommand resume" -l token -d 'Bearer token' -r
complete -c kubectl-inplace -n "__fish_kubectl_inplace_using_subcommand resume" -l certificate-authority -d 'Certificate file of the server\'s authority' -r -F
complete -c kubectl-inplace -n "__fish_kubectl_inplace_using_subcommand resume" -l client-certificate -d 'Client certificate file' -r -F
complete -c kubectl-inplace -n "__fish_kubectl_inplace_using_subcommand resume" -l client-key -d 'Client key file' -r -F
complete -c kubectl-inplace -n "__fish_kubectl_inplace_using_subcommand resume" -l insecure-skip-tls-verify -d 'Do not check the server\'s certificate' -r -f -a "true\t''
false\t''"
complete -c kubectl-inplace -n "__fish_kubectl_inplace_using_subcommand resume" -l tls-server-name -d 'Name that the server\'s certificate must have' -r
complete -c kubectl-inplace -n "__fish_kubectl_inplace_using_subcommand resume" -l as -d 'User to impersonate' -r
complete -c kubectl-inplace -n "__fish_kubectl_inplace_using_subcommand resume" -l as-group -d 'Group to impersonate; repeatable' -r
complete -c kubectl-inplace -n "__fish_kubectl_inplace_using_subcommand resume" -l as-uid -d 'UID to impersonate' -r
complete -c kubectl-inplace -n "__fish_kubectl_inplace_using_subcommand resume" -l as-user-extra -d 'Extra of the impersonated user; repeatable' -r
complete -c kubectl-inplace -n "__fish_kubectl_inplace_using_subcommand resume" -l request-timeout -d 'How long one request may take, repetitions included; 0 is no limit' -r
complete -c kubectl-inplace -n "__fish_kubectl_inplace_using_subcommand resume" -l disable-compression -d 'Ask the server not to compress its answers' -r -f -a "true\t''
false\t''"
complete -c kubectl-inplace -n "__fish_kubectl_inplace_using_subcommand resume" -l warnings-as-errors -d 'End with an error if the server warned' -r -f -a "true\t''
false\t''"
complete -c kubectl-inplace -n "__fish_kubectl_inplace_using_subcommand resume" -l color -d 'Colours' -r -f -a "auto\t'On a terminal that can, unless `NO_COLOR` is set'
always\t'Always'
never\t'Never'"
complete -c kubectl-inplace -n "__fish_kubectl_inplace_using_subcommand resume" -s q -l quiet -d 'Show results and errors only' -r -f -a "true\t''
false\t''"
complete -c kubectl-inplace -n "__fish_kubectl_inplace_using_subcommand resume" -s v -l v -d 'Log level: 6 shows requests, 8 more' -r
complete -c kubectl-inplace -n "__fish_kubectl_inplace_using_subcommand resume" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c kubectl-inplace -n "__fish_kubectl_inplace_using_subcommand abort" -l image -d 'The same as CONTAINER=IMAGE among the words' -r
complete -c kubectl-inplace -n "__fish_kubectl_inplace_using_subcommand abort" -l all-containers -d 'Let \'*=IMAGE\' stand for every container' -r -f -a "true\t''
false\t''"
complete -c kubectl-inplace -n "__fish_kubectl_inplace_using_subcommand abort" -s f -l filename -d 'Manifests whose workloads are meant: files, folders, or - for standard input' -r -F
complete -c kubectl-inplace -n "__fish_kubectl_inplace_using_subcommand abort" -s R -l recursive -d 'Read folders with their subfolders' -r -f -a "true\t''
false\t''"
complete -c kubectl-inplace -n "__fish_kubectl_inplace_using_subcommand abort" -s l -l selector -d 'Label selector of the workloads' -r
complete -c kubectl-inplace -n "__fish_kubectl_inplace_using_subcommand abort" -s A -l all-namespaces -d 'In all namespaces; with -l' -r -f -a "true\t''
false\t''"
complete -c kubectl-inplace -n "__fish_kubectl_inplace_using_subcommand abort" -l max-unavailable -d 'Pods down at once, a number or a percentage [default: the owner\'s own, else 1]' -r
complete -c kubectl-inplace -n "__fish_kubectl_inplace_using_subcommand abort" -l min-ready-seconds -d 'Seconds that a pod must stay ready before the next one is taken [default: the owner\'s own; 5 for the first pod without a readiness probe]' -r
complete -c kubectl-inplace -n "__fish_kubectl_inplace_using_subcommand abort" -l timeout -d 'How long one pod may take, such as 90s or 10m [default: 5m and its termination grace]' -r
complete -c kubectl-inplace -n "__fish_kubectl_inplace_using_subcommand abort" -l total-timeout -d 'How long everything may take [default: no limit]' -r
complete -c kubectl-inplace -n "__fish_kubectl_inplace_using_subcommand abort" -l pods-only -d 'Patch the pods and leave the owner\'s template: pods made later get the template\'s image' -r -f -a "true\t''
false\t''"
complete -c kubectl-inplace -n "__fish_kubectl_inplace_using_subcommand abort" -l take-over -d 'Go on in place of a run that still holds the workload' -r -f -a "true\t''
false\t''"
complete -c kubectl-inplace -n "__fish_kubectl_inplace_using_subcommand abort" -l canary -d 'Stop after the first pods, a number or a percentage, and say how to go on; on a terminal ask' -r
complete -c kubectl-inplace -n "__fish_kubectl_inplace_using_subcommand abort" -l pause-after -d 'Stop after every so many pods, and say how to go on; on a terminal ask' -r
complete -c kubectl-inplace -n "__fish_kubectl_inplace_using_subcommand abort" -l partition -d 'Only the pods of a StatefulSet from this ordinal on; a durable rollout takes the StatefulSet\'s own' -r
complete -c kubectl-inplace -n "__fish_kubectl_inplace_using_subcommand abort" -l pods -d 'Only these pods, separated by commas' -r
complete -c kubectl-inplace -n "__fish_kubectl_inplace_using_subcommand abort" -l node -d 'Only the pods on this node' -r
complete -c kubectl-inplace -n "__fish_kubectl_inplace_using_subcommand abort" -l disruption-budget -d 'Wait until the PodDisruptionBudgets allow a pod to be taken down, or do not ask them' -r -f -a "respect\t'Wait until they allow it'
ignore\t'Do not ask them'"
complete -c kubectl-inplace -n "__fish_kubectl_inplace_using_subcommand abort" -l pre-pull -d 'Pull on each node first what it lacks, before anything is touched: where the kubelet would pull, everywhere, or nowhere' -r -f -a "auto\t''
always\t''
never\t''"
complete -c kubectl-inplace -n "__fish_kubectl_inplace_using_subcommand abort" -l drain -d 'Take a pod out of its Services before a container of it is stopped, by a label that they select and its owner does not, else by a readiness gate that only kubectl has set, and put it back after, or do not [default: auto]' -r -f -a "auto\t''
none\t''"
complete -c kubectl-inplace -n "__fish_kubectl_inplace_using_subcommand abort" -l drain-seconds -d 'Seconds between a pod\'s being out of its Services and its restart, for traffic that is on its way [default: 2]' -r
complete -c kubectl-inplace -n "__fish_kubectl_inplace_using_subcommand abort" -l order -d 'In which order pods are taken; an OrderedReady StatefulSet always goes by ordinal' -r -f -a "unready-first\t''
name\t''
age\t''
node\t''"
complete -c kubectl-inplace -n "__fish_kubectl_inplace_using_subcommand abort" -l container-order -d 'Change containers of a pod one after the other in this order, each once the one before is proven and ready; changed ones that are not named come last, together [default: all in one patch]' -r
complete -c kubectl-inplace -n "__fish_kubectl_inplace_using_subcommand abort" -l before-pod -d 'Run this with sh -c before each pod is touched; a failure stops the rollout. Its environment: KUBECTL_INPLACE_PHASE, _NAMESPACE, _POD, _POD_UID, _NODE, _WORKLOAD, _CONTAINERS. No lock keeps it: give it to resume again; it runs at least once' -r
complete -c kubectl-inplace -n "__fish_kubectl_inplace_using_subcommand abort" -l after-pod -d 'The same once a pod is done and back in its Services; both count in the pod\'s --timeout' -r
complete -c kubectl-inplace -n "__fish_kubectl_inplace_using_subcommand abort" -l reason -d 'Why; recorded in the history, and as kubernetes.io/change-cause of a Deployment' -r
complete -c kubectl-inplace -n "__fish_kubectl_inplace_using_subcommand abort" -l on-failure -d 'What to do when a pod fails: stop, take everything back, or go on with the other pods and workloads' -r -f -a "stop\t'Stop before the next pod'
undo\t'Take everything back'
continue\t'Go on with the other pods, as long as pods may be down: one that failed counts as down'"
complete -c kubectl-inplace -n "__fish_kubectl_inplace_using_subcommand abort" -l keep-field-ownership -d 'Stay owner of the changed fields for server-side apply, so that an apply of another image is a conflict' -r -f -a "true\t''
false\t''"
complete -c kubectl-inplace -n "__fish_kubectl_inplace_using_subcommand abort" -l record -d 'Write down everything that is decided, and from what, as one JSON object a line: for a report of a bug' -r -F
complete -c kubectl-inplace -n "__fish_kubectl_inplace_using_subcommand abort" -l parallel-workloads -d 'Workloads at once; each keeps to its own budget' -r
complete -c kubectl-inplace -n "__fish_kubectl_inplace_using_subcommand abort" -s o -l output -d 'Output format; json is one object a line' -r -f -a "text\t'For a person'
json\t'For a script: one document for a plan, one object a line for a rollout'"
complete -c kubectl-inplace -n "__fish_kubectl_inplace_using_subcommand abort" -s y -l yes -d 'Do not ask; required where there is no terminal' -r -f -a "true\t''
false\t''"
complete -c kubectl-inplace -n "__fish_kubectl_inplace_using_subcommand abort" -l field-manager -d 'Name of the writer in the objects\' managed fields' -r
complete -c kubectl-inplace -n "__fish_kubectl_inplace_using_subcommand abort" -s n -l namespace -d 'Namespace' -r
complete -c kubectl-inplace -n "__fish_kubectl_inplace_using_subcommand abort" -l kubeconfig -d 'The kubeconfig to use' -r -F
complete -c kubectl-inplace -n "__fish_kubectl_inplace_using_subcommand abort" -l context -d 'Context of the kubeconfig' -r
complete -c kubectl-inplace -n "__fish_kubectl_inplace_using_subcommand abort" -l cluster -d 'Cluster of the kubeconfig' -r
complete -c kubectl-inplace -n "__fish_kubectl_inplace_using_subcommand abort" -l user -d 'User of the kubeconfig' -r
complete -c kubectl-inplace -n "__fish_kubectl_inplace_using_subcommand abort" -s s -l server -d 'Address of the API server' -r
complete -c kubectl-inplace -n "__fish_kubectl_inplace_using_subcommand abort" -l token -d 'Bearer token' -r
complete -c kubectl-inplace -n "__fish_kubectl_inplace_using_subcommand abort" -l certificate-authority -d 'Certificate file of the server\'s authority' -r -F
complete -c kubectl-inplace -n "__fish_kubectl_inplace_using_subcommand abort" -l client-certificate -d 'Client certificate file' -r -F
complete -c kubectl-inplace -n "__fish_kubectl_inplace_using_subcommand abort" -l client-key -d 'Client key file' -r -F
complete -c kubectl-inplace -n "__fish_kubectl_inplace_using_subcommand abort" -l insecure-skip-tls-verify -d 'Do not check the server\'s certificate' -r -f -a "true\t''
false\t''"
complete -c kubectl-inplace -n "__fish_kubectl_inplace_using_subcommand abort" -l tls-server-name -d 'Name that the server\'s certificate must have' -r
complete -c kubectl-inplace -n "__fish_kubectl_inplace_using_subcommand abort" -l as -d 'User to impersonate' -r
complete -c kubectl-inplace -n "__fish_kubectl_inplace_using_subcommand abort" -l as-group -d 'Group to impersonate; repeatable' -r
complete -c kubectl-inplace -n "__fish_kubectl_inplace_using_subcommand abort" -l as-uid -d 'UID to impersonate' -r
complete -c kubectl-inplace -n "__fish_kubectl_inplace_using_subcommand abort" -l as-user-extra -d 'Extra of the impersonated user; repeatable' -r
complete -c kubectl-inplace -n "__fish_kubectl_inplace_using_subcommand abort" -l request-timeout -d 'How long one request may take, repetitions included; 0 is no limit' -r
complete -c kubectl-inplace -n "__fish_kubectl_inplace_using_subcommand abort" -l disable-compression -d 'Ask the server not to compress its answers' -r -f -a "true\t''
false\t''"
complete -c kubectl-inplace -n "__fish_kubectl_inplace_using_subcommand abort" -l warnings-as-errors -d 'End with an error if the server warned' -r -f -a "true\t''
false\t''"
complete -c kubectl-inplace -n "__fish_kubectl_inplace_using_subcommand abort" -l color -d 'Colours' -r -f -a "auto\t'On a terminal that can, unless `NO_COLOR` is set'
always\t'Always'
never\t'Never'"
complete -c kubectl-inplace -n "__fish_kubectl_inplace_using_subcommand abort" -s q -l quiet -d 'Show results and errors only' -r -f -a "true\t''
false\t''"
complete -c kubectl-inplace -n "__fish_kubectl_inplace_using_subcommand abort" -s v -l v -d 'Log level: 6 shows requests, 8 more' -r
complete -c kubectl-inplace -n "__fish_kubectl_inplace_using_subcommand abort" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c kubectl-inplace -n "__fish_kubectl_inplace_using_subcommand undo" -l image -d 'The same as CONTAINER=IMAGE among the words' -r
complete -c kubectl-inplace -n "__fish_kubectl_inplace_using_subcommand undo" -l all-containers -d 'Let \'*=IMAGE\' stand for every container' -r -f -a "true\t''
false\t''"
complete -c kubectl-inplace -n "__fish_kubectl_inplace_using_subcommand undo" -s f -l filename -d 'Manifests whose workloads are meant: files, folders, or - for standard input' -r -F
complete -c kubectl-inplace -n "__fish_kubectl_inplace_using_subcommand undo" -s R -l recursive -d 'Read folders with their subfolders' -r -f -a "true\t''
false\t''"
complete -c kubectl-inplace -n "__fish_kubectl_inplace_using_subcommand undo" -s l -l selector -d 'Label selector of the workloads' -r
complete -c kubectl-inplace -n "__fish_kubectl_inplace_using_subcommand undo" -s A -l all-namespaces -d 'In all namespaces; with -l' -r -f -a "true\t''
false\t''"
complete -c kubectl-inplace -n "__fish_kubectl_inplace_using_subcommand undo" -l max-unavailable -d 'Pods down at once, a number or a percentage [default: the owner\'s own, else 1]' -r
complete -c kubectl-inplace -n "__fish_kubectl_inplace_using_subcommand undo" -l min-ready-seconds -d 'Seconds that a pod must stay ready before the next one is taken [default: the owner\'s own; 5 for the first pod without a readiness probe]' -r
complete -c kubectl-inplace -n "__fish_kubectl_inplace_using_subcommand undo" -l timeout -d 'How long one pod may take, such as 90s or 10m [default: 5m and its termination grace]' -r
complete -c kubectl-inplace -n "__fish_kubectl_inplace_using_subcommand undo" -l total-timeout -d 'How long everything may take [default: no limit]' -r
complete -c kubectl-inplace -n "__fish_kubectl_inplace_using_subcommand undo" -l pods-only -d 'Patch the pods and leave the owner\'s template: pods made later get the template\'s image' -r -f -a "true\t''
false\t''"
complete -c kubectl-inplace -n "__fish_kubectl_inplace_using_subcommand undo" -l take-over -d 'Go on in place of a run that still holds the workload' -r -f -a "true\t''
false\t''"
complete -c kubectl-inplace -n "__fish_kubectl_inplace_using_subcommand undo" -l canary -d 'Stop after the first pods, a number or a percentage, and say how to go on; on a terminal ask' -r
complete -c kubectl-inplace -n "__fish_kubectl_inplace_using_subcommand undo" -l pause-after -d 'Stop after every so many pods, and say how to go on; on a terminal ask' -r
complete -c kubectl-inplace -n "__fish_kubectl_inplace_using_subcommand undo" -l partition -d 'Only the pods of a StatefulSet from this ordinal on; a durable rollout takes the StatefulSet\'s own' -r
complete -c kubectl-inplace -n "__fish_kubectl_inplace_using_subcommand undo" -l pods -d 'Only these pods, separated by commas' -r
complete -c kubectl-inplace -n "__fish_kubectl_inplace_using_subcommand undo" -l node -d 'Only the pods on this node' -r
complete -c kubectl-inplace -n "__fish_kubectl_inplace_using_subcommand undo" -l disruption-budget -d 'Wait until the PodDisruptionBudgets allow a pod to be taken down, or do not ask them' -r -f -a "respect\t'Wait until they allow it'
ignore\t'Do not ask them'"
complete -c kubectl-inplace -n "__fish_kubectl_inplace_using_subcommand undo" -l pre-pull -d 'Pull on each node first what it lacks, before anything is touched: where the kubelet would pull, everywhere, or nowhere' -r -f -a "auto\t''
always\t''
never\t''"
complete -c kubectl-inplace -n "__fish_kubectl_inplace_using_subcommand undo" -l drain -d 'Take a pod out of its Services before a container of it is stopped, by a label that they select and its owner does not, else by a readiness gate that only kubectl has set, and put it back after, or do not [default: auto]' -r -f -a "auto\t''
none\t''"
complete -c kubectl-inplace -n "__fish_kubectl_inplace_using_subcommand undo" -l drain-seconds -d 'Seconds between a pod\'s being out of its Services and its restart, for traffic that is on its way [default: 2]' -r
complete -c kubectl-inplace -n "__fish_kubectl_inplace_using_subcommand undo" -l order -d 'In which order pods are taken; an OrderedReady StatefulSet always goes by ordinal' -r -f -a "unready-first\t''
name\t''
age\t''
node\t''"
complete -c kubectl-inplace -n "__fish_kubectl_inplace_using_subcommand undo" -l container-order -d 'Change containers of a pod one after the other in this order, each once the one before is proven and ready; changed ones that are not named come last, together [default: all in one patch]' -r
complete -c kubectl-inplace -n "__fish_kubectl_inplace_using_subcommand undo" -l before-pod -d 'Run this with sh -c before each pod is touched; a failure stops the rollout. Its environment: KUBECTL_INPLACE_PHASE, _NAMESPACE, _POD, _POD_UID, _NODE, _WORKLOAD, _CONTAINERS. No lock keeps it: give it to resume again; it runs at least once' -r
complete -c kubectl-inplace -n "__fish_kubectl_inplace_using_subcommand undo" -l after-pod -d 'The same once a pod is done and back in its Services; both count in the pod\'s --timeout' -r
complete -c kubectl-inplace -n "__fish_kubectl_inplace_using_subcommand undo" -l reason -d 'Why; recorded in the history, and as kubernetes.io/change-cause of a Deployment' -r
complete -c kubectl-inplace -n "__fish_kubectl_inplace_using_subcommand undo" -l on-failure -d 'What to do when a pod fails: stop, take everything back, or go on with the other pods and workloads' -r -f -a "stop\t'Stop before the next pod'
undo\t'Take everything back'
continue\t'Go on with the other pods, as long as pods may be down: one that failed counts as down'"
complete -c kubectl-inplace -n "__fish_kubectl_inplace_using_subcommand undo" -l keep-field-ownership -d 'Stay owner of the changed fields for server-side apply, so that an apply of another image is a conflict' -r -f -a "true\t''
false\t''"
complete -c kubectl-inplace -n "__fish_kubectl_inplace_using_subcommand undo" -l record -d 'Write down everything that is decided, and from what, as one JSON object a line: for a report of a bug' -r -F
complete -c kubectl-inplace -n "__fish_kubectl_inplace_using_subcommand undo" -l parallel-workloads -d 'Workloads at once; each keeps to its own budget' -r
complete -c kubectl-inplace -n "__fish_kubectl_inplace_using_subcommand undo" -l to -d 'Back to what ran before this update, as kubectl inplace history names it [default: the last one]' -r
complete -c kubectl-inplace -n "__fish_kubectl_inplace_using_subcommand undo" -l pin-digest -d 'Back to the recorded digest, not only to the tag' -r -f -a "true\t''
false\t''"
complete -c kubectl-inplace -n "__fish_kubectl_inplace_using_subcommand undo" -s o -l output -d 'Output format; json is one object a line' -r -f -a "text\t'For a person'
json\t'For a script: one document for a plan, one object a line for a rollout'"
complete -c kubectl-inplace -n "__fish_kubectl_inplace_using_subcommand undo" -s y -l yes -d 'Do not ask; required where there is no terminal' -r -f -a "true\t''
false\t''"
complete -c kubectl-inplace -n "__fish_kubectl_inplace_using_subcommand undo" -l dry-run -d 'client: plan without asking the server about the patches; server: plan as usual. Neither changes anything' -r -f -a "none\t'Do it'
client\t'Only plan, without asking the server about the patches'
server\t'Only plan'"
complete -c kubectl-inplace -n "__fish_kubectl_inplace_using_subcommand undo" -l field-manager -d 'Name of the writer in the objects\' managed fields' -r
complete -c kubectl-inplace -n "__fish_kubectl_inplace_using_subcommand undo" -s n -l namespace -d 'Namespace' -r
complete -c kubectl-inplace -n "__fish_kubectl_inplace_using_subcommand undo" -l kubeconfig -d 'The kubeconfig to use' -r -F
complete -c kubectl-inplace -n "__fish_kubectl_inplace_using_subcommand undo" -l context -d 'Context of the kubeconfig' -r
complete -c kubectl-inplace -n "__fish_kubectl_inplace_using_subcommand undo" -l cluster -d 'Cluster of the kubeconfig' -r
complete -c kubectl-inplace -n "__fish_kubectl_inplace_using_subcommand undo" -l user -d 'User of the kubeconfig' -r
complete -c kubectl-inplace -n "__fish_kubectl_inplace_using_subcommand undo" -s s -l server -d 'Address of the API server' -r
complete -c kubectl-inplace -n "__fish_kubectl_inplace_using_subcommand undo" -l token -d 'Bearer token' -r
complete -c kubectl-inplace -n "__fish_kubectl_inplace_using_subcommand undo" -l certificate-authority -d 'Certificate file of the server\'s authority' -r -F
complete -c kubectl-inplace -n "__fish_kubectl_inplace_using_subcommand undo" -l client-certificate -d 'Client certificate file' -r -F
complete -c kubectl-inplace -n "__fish_kubectl_inplace_using_subcommand undo" -l client-key -d 'Client key file' -r -F
complete -c kubectl-inplace -n "__fish_kubectl_inplace_using_subcommand undo" -l insecure-skip-tls-verify -d 'Do not check the server\'s certificate' -r -f -a "true\t''
false\t''"
complete -c kubectl-inplace -n "__fish_kubectl_inplace_using_subcommand undo" -l tls-server-name -d 'Name that the server\'s certificate must have' -r
complete -c kubectl-inplace -n "__fish_kubectl_inplace_using_subcommand undo" -l as -d 'User to impersonate' -r
complete -c kubectl-inplace -n "__fish_kubectl_inplace_using_subcommand undo" -l as-group -d 'Group to impersonate; repeatable' -r
complete -c kubectl-inplace -n "__fish_kubectl_inplace_using_subcommand undo" -l as-uid -d 'UID to impersonate' -r
complete -c kubectl-inplace -n "__fish_kubectl_inplace_using_subcommand undo" -l as-user-extra -d 'Extra of the impersonated user; repeatable' -r
complete -c kubectl-inplace -n "__fish_kubectl_inplace_using_subcommand undo" -l request-timeout -d 'How long one request may take, repetitions included; 0 is no limit' -r
complete -c kubectl-inplace -n "__fish_kubectl_inplace_using_subcommand undo" -l disable-compression -d 'Ask the server not to compress its answers' -r -f -a "true\t''
false\t''"
complete -c kubectl-inplace -n "__fish_kubectl_inplace_using_subcommand undo" -l warnings-as-errors -d 'End with an error if the server warned' -r -f -a "true\t''
false\t''"
complete -c kubectl-inplace -n "__fish_kubectl_inplace_using_subcommand undo" -l color -d 'Colours' -r -f -a "auto\t'On a terminal that can, unless `NO_COLOR` is set'
always\t'Always'
never\t'Never'"
complete -c kubectl-inplace -n "__fish_kubectl_inplace_using_subcommand undo" -s q -l quiet -d 'Show results and errors only' -r -f -a "true\t''
false\t''"
complete -c kubectl-inplace -n "__fish_kubectl_inplace_using_subcommand undo" -s v -l v -d 'Log level: 6 shows requests, 8 more' -r
complete -c kubectl-inplace -n "__fish_kubectl_inplace_using_subcommand undo" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c kubectl-inplace -n "__fish_kubectl_inplace_using_subcommand follow" -l image -d 'The same as CONTAINER=IMAGE among the words' -r
complete -c kubectl-inplace -n "__fish_kubectl_inplace_using_subcommand follow" -l all-containers -d 'Let \'*=IMAGE\' stand for every container' -r -f -a "true\t''
false\t''"
complete -c kubectl-inplace -n "__fish_kubectl_inplace_using_subcommand follow" -s f -l filename -d 'Manifests whose workloads are meant: files, folders, or - for standard input' -r -F
complete -c kubectl-inplace -n "__fish_kubectl_inplace_using_subcommand follow" -s R -l recursive -d 'Read folders with their subfolders' -r -f -a "true\t''
false\t''"
complete -c kubectl-inplace -n "__fish_kubectl_inplace_using_subcommand follow" -s l -l selector -d 'Label selector of the workloads' -r
complete -c kubectl-inplace -n "__fish_kubectl_inplace_using_subcommand follow" -s A -l all-namespaces -d 'In all namespaces; with -l' -r -f -a "true\t''
false\t''"
complete -c kubectl-inplace -n "__fish_kubectl_inplace_using_subcommand follow" -l min-ready-seconds -d 'Seconds that a pod must stay ready [default: the owner\'s own; 5 without a readiness probe]' -r
complete -c kubectl-inplace -n "__fish_kubectl_inplace_using_subcommand follow" -l timeout -d 'How long to wait for each pod, such as 90s or 10m [default: 5m and its termination grace]' -r
complete -c kubectl-inplace -n "__fish_kubectl_inplace_using_subcommand follow" -l total-timeout -d 'How long everything may take [default: no limit]' -r
complete -c kubectl-inplace -n "__fish_kubectl_inplace_using_subcommand follow" -s o -l output -d 'Output format; json is one object a line' -r -f -a "text\t'For a person'
json\t'For a script: one document for a plan, one object a line for a rollout'"
complete -c kubectl-inplace -n "__fish_kubectl_inplace_using_subcommand follow" -l record -d 'Write down everything that is decided, and from what, as one JSON object a line: for a report of a bug' -r -F
complete -c kubectl-inplace -n "__fish_kubectl_inplace_using_subcommand follow" -s n -l namespace -d 'Namespace' -r
complete -c kubectl-inplace -n "__fish_kubectl_inplace_using_subcommand follow" -l kubeconfig -d 'The kubeconfig to use' -r -F
complete -c kubectl-inplace -n "__fish_kubectl_inplace_using_subcommand follow" -l context -d 'Context of the kubeconfig' -r
complete -c kubectl-inplace -n "__fish_kubectl_inplace_using_subcommand follow" -l cluster -d 'Cluster of the kubeconfig' -r
complete -c kubectl-inplace -n "__fish_kubectl_inplace_using_subcommand follow" -l user -d 'User of the kubeconfig' -r
complete -c kubectl-inplace -n "__fish_kubectl_inplace_using_subcommand follow" -s s -l server -d 'Address of the API server' -r
complete -c kubectl-inplace -n "__fish_kubectl_inplace_using_subcommand follow" -l token -d 'Bearer token' -r
complete -c kubectl-inplace -n "__fish_kubectl_inplace_using_subcommand follow" -l certificate-authority -d 'Certificate file of the server\'s authority' -r -F
complete -c kubectl-inplace -n "__fish_kubectl_inplace_using_subcommand follow" -l client-certificate -d 'Client certificate file' -r -F
complete -c kubectl-inplace -n "__fish_kubectl_inplace_using_subcommand follow" -l client-key -d 'Client key file' -r -F
complete -c kubectl-inplace -n "__fish_kubectl_inplace_using_subcommand follow" -l insecure-skip-tls-verify -d 'Do not check the server\'s certificate' -r -f -a "true\t''
false\t''"
complete -c kubectl-inplace -n "__fish_kubectl_inplace_using_subcommand follow" -l tls-server-name -d 'Name that the server\'s certificate must have' -r
complete -c kubectl-inplace -n "__fish_kubectl_inplace_using_subcommand follow" -l as -d 'User to impersonate' -r
complete -c kubectl-inplace -n "__fish_kubectl_inplace_using_subcommand follow" -l as-group -d 'Group to impersonate; repeatable' -r
complete -c kubectl-inplace -n "__fish_kubectl_inplace_using_subcommand follow" -l as-uid -d 'UID to impersonate' -r
complete -c kubectl-inplace -n "__fish_kubectl_inplace_using_subcommand follow" -l as-user-extra -d 'Extra of the impersonated user; repeatable' -r
complete -c kubectl-inplace -n "__fish_kubectl_inplace_using_subcommand follow" -l request-timeout -d 'How long one request may take, repetitions included; 0 is no limit' -r
complete -c kubectl-inplace -n "__fish_kubectl_inplace_using_subcommand follow" -l disable-compression -d 'Ask the server not to compress its answers' -r -f -a "true\t''
false\t''"
complete -c kubectl-inplace -n "__fish_kubectl_inplace_using_subcommand follow" -l warnings-as-errors -d 'End with an error if the server warned' -r -f -a "true\t''
false\t''"
complete -c kubectl-inplace -n "__fish_kubectl_inplace_using_subcommand follow" -l color -d 'Colours' -r -f -a "auto\t'On a terminal that can, unless `NO_COLOR` is set'
always\t'Always'
never\t'Never'"
complete -c kubectl-inplace -n "__fish_kubectl_inplace_using_subcommand follow" -s q -l quiet -d 'Show results and errors only' -r -f -a "true\t''
false\t''"
complete -c kubectl-inplace -n "__fish_kubectl_inplace_using_subcommand follow" -s v -l v -d 'Log level: 6 shows requests, 8 more' -r
complete -c kubectl-inplace -n "__fish_kubectl_inplace_using_subcommand follow" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c kubectl-inplace -n "__fish_kubectl_inplace_using_subcommand watch" -l image -d 'The same as CONTAINER=IMAGE among the words' -r
complete -c kubectl-inplace -n "__fish_kubectl_inplace_using_subcommand watch" -l all-containers -d 'Let \'*=IMAGE\' stand for every container' -r -f -a "true\t''
false\t''"
complete -c kubectl-inplace -n "__fish_kubectl_inplace_using_subcommand watch" -s f -l filename -d 'Manifests whose workloads are meant: files, folders, or - for standard input' -r -F
complete -c kubectl-inplace -n "__fish_kubectl_inplace_using_subcommand watch" -s R -l recursive -d 'Read folders with their subfolders' -r -f -a "true\t''
false\t''"
complete -c kubectl-inplace -n "__fish_kubectl_inplace_using_subcommand watch" -s l -l selector -d 'Label selector of the workloads' -r
complete -c kubectl-inplace -n "__fish_kubectl_inplace_using_subcommand watch" -s A -l all-namespaces -d 'In all namespaces; with -l' -r -f -a "true\t''
false\t''"
complete -c kubectl-inplace -n "__fish_kubectl_inplace_using_subcommand watch" -l min-ready-seconds -d 'Seconds that a pod must stay ready [default: the owner\'s own; 5 without a readiness probe]' -r
complete -c kubectl-inplace -n "__fish_kubectl_inplace_using_subcommand watch" -l timeout -d 'How long to wait for each pod, such as 90s or 10m [default: 5m and its termination grace]' -r
complete -c kubectl-inplace -n "__fish_kubectl_inplace_using_subcommand watch" -l total-timeout -d 'How long everything may take [default: no limit]' -r
complete -c kubectl-inplace -n "__fish_kubectl_inplace_using_subcommand watch" -s o -l output -d 'Output format; json is one object a line' -r -f -a "text\t'For a person'
json\t'For a script: one document for a plan, one object a line for a rollout'"
complete -c kubectl-inplace -n "__fish_kubectl_inplace_using_subcommand watch" -l record -d 'Write down everything that is decided, and from what, as one JSON object a line: for a report of a bug' -r -F
complete -c kubectl-inplace -n "__fish_kubectl_inplace_using_subcommand watch" -s n -l namespace -d 'Namespace' -r
complete -c kubectl-inplace -n "__fish_kubectl_inplace_using_subcommand watch" -l kubeconfig -d 'The kubeconfig to use' -r -F
complete -c kubectl-inplace -n "__fish_kubectl_inplace_using_subcommand watch" -l context -d 'Context of the kubeconfig' -r
complete -c kubectl-inplace -n "__fish_kubectl_inplace_using_subcommand watch" -l cluster -d 'Cluster of the kubeconfig' -r
complete -c kubectl-inplace -n "__fish_kubectl_inplace_using_subcommand watch" -l user -d 'User of the kubeconfig' -r
complete -c kubectl-inplace -n "__fish_kubectl_inplace_using_subcommand watch" -s s -l server -d 'Address of the API server' -r
complete -c kubectl-inplace -n "__fish_kubectl_inplace_using_subcommand watch" -l token -d 'Bearer token' -r
complete -c kubectl-inplace -n "__fish_kubectl_inplace_using_subcommand watch" -l certificate-authority -d 'Certificate file of the server\'s authority' -r -F
complete -c kubectl-inplace -n "__fish_kubectl_inplace_using_subcommand watch" -l client-certificate -d 'Client certificate file' -r -F
complete -c kubectl-inplace -n "__fish_kubectl_inplace_using_subcommand watch" -l client-key -d 'Client key file' -r -F
complete -c kubectl-inplace -n "__fish_kubectl_inplace_using_subcommand watch" -l insecure-skip-tls-verify -d 'Do not check the server\'s certificate' -r -f -a "true\t''
false\t''"
complete -c kubectl-inplace -n "__fish_kubectl_inplace_using_subcommand watch" -l tls-server-name -d 'Name that the server\'s certificate must have' -r
complete -c kubectl-inplace -n "__fish_kubectl_inplace_using_subcommand watch" -l as -d 'User to impersonate' -r
complete -c kubectl-inplace -n "__fish_kubectl_inplace_using_subcommand watch" -l as-group -d 'Group to impersonate; repeatable' -r
complete -c kubectl-inplace -n "__fish_kubectl_inplace_using_subcommand watch" -l as-uid -d 'UID to impersonate' -r
complete -c kubectl-inplace -n "__fish_kubectl_inplace_using_subcommand watch" -l as-user-extra -d 'Extra of the impersonated user; repeatable' -r
complete -c kubectl-inplace -n "__fish_kubectl_inplace_using_subcommand watch" -l request-timeout -d 'How long one request may take, repetitions included; 0 is no limit' -r
complete -c kubectl-inplace -n "__fish_kubectl_inplace_using_subcommand watch" -l disable-compression -d 'Ask the server not to compress its answers' -r -f -a "true\t''
false\t''"
complete -c kubectl-inplace -n "__fish_kubectl_inplace_using_subcommand watch" -l warnings-as-errors -d 'End with an error if the server warned' -r -f -a "true\t''
false\t''"
complete -c kubectl-inplace -n "__fish_kubectl_inplace_using_subcommand watch" -l color -d 'Colours' -r -f -a "auto\t'On a terminal that can, unless `NO_COLOR` is set'
always\t'Always'
never\t'Never'"
complete -c kubectl-inplace -n "__fish_kubectl_inplace_using_subcommand watch" -s q -l quiet -d 'Show results and errors only' -r -f -a "true\t''
false\t''"
complete -c kubectl-inplace -n "__fish_kubectl_inplace_using_subcommand watch" -s v -l v -d 'Log level: 6 shows requests, 8 more' -r
complete -c kubectl-inplace -n "__fish_kubectl_inplace_using_subcommand watch" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c kubectl-inplace -n "__fish_kubectl_inplace_using_subcommand status" -s f -l filename -d 'Manifests whose workloads are meant: files, folders, or - for standard input' -r -F
complete -c kubectl-inplace -n "__fish_kubectl_inplace_using_subcommand status" -s R -l recursive -d 'Read folders with their subfolders' -r -f -a "true\t''
false\t''"
complete -c kubectl-inplace -n "__fish_kubectl_inplace_using_subcommand status" -s l -l selector -d 'Label selector of the workloads' -r
complete -c kubectl-inplace -n "__fish_kubectl_inplace_using_subcommand status" -s A -l all-namespaces -d 'In all namespaces' -r -f -a "true\t''
false\t''"
complete -c kubectl-inplace -n "__fish_kubectl_inplace_using_subcommand status" -s w -l watch -d 'Show it again whenever it changes, until it is interrupted' -r -f -a "true\t''
false\t''"
complete -c kubectl-inplace -n "__fish_kubectl_inplace_using_subcommand status" -s o -l output -d 'Output format; wide also has restarts, nodes, digests and uids, name the workloads, one a line' -r -f -a "text\t'For a person'
wide\t'The text, and what an expert asks for; of a plan alone'
json\t'For a script: one document for a plan, one object a line for a rollout'
yaml\t'The JSON document as YAML; of a plan alone'
name\t'The pods that would change, one a line as `pod/NAME`; of a plan alone'"
complete -c kubectl-inplace -n "__fish_kubectl_inplace_using_subcommand status" -s n -l namespace -d 'Namespace' -r
complete -c kubectl-inplace -n "__fish_kubectl_inplace_using_subcommand status" -l kubeconfig -d 'The kubeconfig to use' -r -F
complete -c kubectl-inplace -n "__fish_kubectl_inplace_using_subcommand status" -l context -d 'Context of the kubeconfig' -r
complete -c kubectl-inplace -n "__fish_kubectl_inplace_using_subcommand status" -l cluster -d 'Cluster of the kubeconfig' -r
complete -c kubectl-inplace -n "__fish_kubectl_inplace_using_subcommand status" -l user -d 'User of the kubeconfig' -r
complete -c kubectl-inplace -n "__fish_kubectl_inplace_using_subcommand status" -s s -l server -d 'Address of the API server' -r
complete -c kubectl-inplace -n "__fish_kubectl_inplace_using_subcommand status" -l token -d 'Bearer token' -r
complete -c kubectl-inplace -n "__fish_kubectl_inplace_using_subcommand status" -l certificate-authority -d 'Certificate file of the server\'s authority' -r -F
complete -c kubectl-inplace -n "__fish_kubectl_inplace_using_subcommand status" -l client-certificate -d 'Client certificate file' -r -F
complete -c kubectl-inplace -n "__fish_kubectl_inplace_using_subcommand status" -l client-key -d 'Client key file' -r -F
complete -c kubectl-inplace -n "__fish_kubectl_inplace_using_subcommand status" -l insecure-skip-tls-verify -d 'Do not check the server\'s certificate' -r -f -a "true\t''
false\t''"
complete -c kubectl-inplace -n "__fish_kubectl_inplace_using_subcommand status" -l tls-server-name -d 'Name that the server\'s certificate must have' -r
complete -c kubectl-inplace -n "__fish_kubectl_inplace_using_subcommand status" -l as -d 'User to impersonate' -r
complete -c kubectl-inplace -n "__fish_kubectl_inplace_using_subcommand status" -l as-group -d 'Group to impersonate; repeatable' -r
complete -c kubectl-inplace -n "__fish_kubectl_inplace_using_subcommand status" -l as-uid -d 'UID to impersonate' -r
complete -c kubectl-inplace -n "__fish_kubectl_inplace_using_subcommand status" -l as-user-extra -d 'Extra of the impersonated user; repeatable' -r
complete -c kubectl-inplace -n "__fish_kubectl_inplace_using_subcommand status" -l request-timeout -d 'How long one request may take, repetitions included; 0 is no limit' -r
complete -c kubectl-inplace -n "__fish_kubectl_inplace_using_subcommand status" -l disable-compression -d 'Ask the server not to compress its answers' -r -f -a "true\t''
false\t''"
complete -c kubectl-inplace -n "__fish_kubectl_inplace_using_subcommand status" -l warnings-as-errors -d 'End with an error if the server warned' -r -f -a "true\t''
false\t''"
complete -c kubectl-inplace -n "__fish_kubectl_inplace_using_subcommand status" -l color -d 'Colours' -r -f -a "auto\t'On a terminal that can, unless `NO_COLOR` is set'
always\t'Always'
never\t'Never'"
complete -c kubectl-inplace -n "__fish_kubectl_inplace_using_subcommand status" -s q -l quiet -d 'Show results and errors only' -r -f -a "true\t''
false\t''"
complete -c kubectl-inplace -n "__fish_kubectl_inplace_using_subcommand status" -s v -l v -d 'Log level: 6 shows requests, 8 more' -r
complete -c kubectl-inplace -n "__fish_kubectl_inplace_using_subcommand status" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c kubectl-inplace -n "__fish_kubectl_inplace_using_subcommand history" -s f -l filename -d 'Manifests whose workloads are meant: files, folders, or - for standard input' -r -F
complete -c kubectl-inplace -n "__fish_kubectl_inplace_using_subcommand history" -s R -l recursive -d 'Read folders with their subfolders' -r -f -a "true\t''
false\t''"
complete -c kubectl-inplace -n "__fish_kubectl_inplace_using_subcommand history" -s l -l selector -d 'Label selector of the workloads' -r
complete -c kubectl-inplace -n "__fish_kubectl_inplace_using_subcommand history" -s A -l all-namespaces -d 'In all namespaces' -r -f -a "true\t''
false\t''"
complete -c kubectl-inplace -n "__fish_kubectl_inplace_using_subcommand history" -s o -l output -d 'Output format' -r -f -a "text\t'For a person'
json\t'For a script: one document for a plan, one object a line for a rollout'"
complete -c kubectl-inplace -n "__fish_kubectl_inplace_using_subcommand history" -s n -l namespace -d 'Namespace' -r
complete -c kubectl-inplace -n "__fish_kubectl_inplace_using_subcommand history" -l kubeconfig -d 'The kubeconfig to use' -r -F
complete -c kubectl-inplace -n "__fish_kubectl_inplace_using_subcommand history" -l context -d 'Context of the kubeconfig' -r
complete -c kubectl-inplace -n "__fish_kubectl_inplace_using_subcommand history" -l cluster -d 'Cluster of the kubeconfig' -r
complete -c kubectl-inplace -n "__fish_kubectl_inplace_using_subcommand history" -l user -d 'User of the kubeconfig' -r
complete -c kubectl-inplace -n "__fish_kubectl_inplace_using_subcommand history" -s s -l server -d 'Address of the API server' -r
complete -c kubectl-inplace -n "__fish_kubectl_inplace_using_subcommand history" -l token -d 'Bearer token' -r
complete -c kubectl-inplace -n "__fish_kubectl_inplace_using_subcommand history" -l certificate-authority -d 'Certificate file of the server\'s authority' -r -F
complete -c kubectl-inplace -n "__fish_kubectl_inplace_using_subcommand history" -l client-certificate -d 'Client certificate file' -r -F
complete -c kubectl-inplace -n "__fish_kubectl_inplace_using_subcommand history" -l client-key -d 'Client key file' -r -F
complete -c kubectl-inplace -n "__fish_kubectl_inplace_using_subcommand history" -l insecure-skip-tls-verify -d 'Do not check the server\'s certificate' -r -f -a "true\t''
false\t''"
complete -c kubectl-inplace -n "__fish_kubectl_inplace_using_subcommand history" -l tls-server-name -d 'Name that the server\'s certificate must have' -r
complete -c kubectl-inplace -n "__fish_kubectl_inplace_using_subcommand history" -l as -d 'User to impersonate' -r
complete -c kubectl-inplace -n "__fish_kubectl_inplace_using_subcommand history" -l as-group -d 'Group to impersonate; repeatable' -r
complete -c kubectl-inplace -n "__fish_kubectl_inplace_using_subcommand history" -l as-uid -d 'UID to impersonate' -r
complete -c kubectl-inplace -n "__fish_kubectl_inplace_using_subcommand history" -l as-user-extra -d 'Extra of the impersonated user; repeatable' -r
complete -c kubectl-inplace -n "__fish_kubectl_inplace_using_subcommand history" -l request-timeout -d 'How long one request may take, repetitions included; 0 is no limit' -r
complete -c kubectl-inplace -n "__fish_kubectl_inplace_using_subcommand history" -l disable-compression -d 'Ask the server not to compress its answers' -r -f -a "true\t''
false\t''"
complete -c kubectl-inplace -n "__fish_kubectl_inplace_using_subcommand history" -l warnings-as-errors -d 'End with an error if the server warned' -r -f -a "true\t''
false\t''"
complete -c kubectl-inplace -n "__fish_kubectl_inplace_using_subcommand history" -l color -d 'Colours' -r -f -a "auto\t'On a terminal that can, unless `NO_COLOR` is set'
always\t'Always'
never\t'Never'"
complete -c kubectl-inplace -n "__fish_kubectl_inplace_using_subcommand history" -s q -l quiet -d 'Show results and errors only' -r -f -a "true\t''
false\t''"
complete -c kubectl-inplace -n "__fish_kubectl_inplace_using_subcommand history" -s v -l v -d 'Log level: 6 shows requests, 8 more' -r
complete -c kubectl-inplace -n "__fish_kubectl_inplace_using_subcommand history" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c kubectl-inplace -n "__fish_kubectl_inplace_using_subcommand hash" -l image -d 'The same as CONTAINER=IMAGE among the words' -r
complete -c kubectl-inplace -n "__fish_kubectl_inplace_using_subcommand hash" -l all-containers -d 'Let \'*=IMAGE\' stand for every container' -r -f -a "true\t''
false\t''"
complete -c kubectl-inplace -n "__fish_kubectl_inplace_using_subcommand hash" -s f -l filename -d 'Manifests whose workloads are meant: files, folders, or - for standard input' -r -F
complete -c kubectl-inplace -n "__fish_kubectl_inplace_using_subcommand hash" -s R -l recursive -d 'Read folders with their subfolders' -r -f -a "true\t''
false\t''"
complete -c kubectl-inplace -n "__fish_kubectl_inplace_using_subcommand hash" -s l -l selector -d 'Label selector of the workloads' -r
complete -c kubectl-inplace -n "__fish_kubectl_inplace_using_subcommand hash" -s A -l all-namespaces -d 'In all namespaces; with -l' -r -f -a "true\t''
false\t''"
complete -c kubectl-inplace -n "__fish_kubectl_inplace_using_subcommand hash" -l kubelet-version -d 'Version of the kubelet, such as 1.29 [default: that of the pod\'s node, else 1.32 or newer]' -r
complete -c kubectl-inplace -n "__fish_kubectl_inplace_using_subcommand hash" -s o -l output -d 'Output format' -r -f -a "text\t'A table for a person'
json\t'One document for a script'"
complete -c kubectl-inplace -n "__fish_kubectl_inplace_using_subcommand hash" -s n -l namespace -d 'Namespace' -r
complete -c kubectl-inplace -n "__fish_kubectl_inplace_using_subcommand hash" -l kubeconfig -d 'The kubeconfig to use' -r -F
complete -c kubectl-inplace -n "__fish_kubectl_inplace_using_subcommand hash" -l context -d 'Context of the kubeconfig' -r
complete -c kubectl-inplace -n "__fish_kubectl_inplace_using_subcommand hash" -l cluster -d 'Cluster of the kubeconfig' -r
complete -c kubectl-inplace -n "__fish_kubectl_inplace_using_subcommand hash" -l user -d 'User of the kubeconfig' -r
complete -c kubectl-inplace -n "__fish_kubectl_inplace_using_subcommand hash" -s s -l server -d 'Address of the API server' -r
complete -c kubectl-inplace -n "__fish_kubectl_inplace_using_subcommand hash" -l token -d 'Bearer token' -r
complete -c kubectl-inplace -n "__fish_kubectl_inplace_using_subcommand hash" -l certificate-authority -d 'Certificate file of the server\'s authority' -r -F
complete -c kubectl-inplace -n "__fish_kubectl_inplace_using_subcommand hash" -l client-certificate -d 'Client certificate file' -r -F
complete -c kubectl-inplace -n "__fish_kubectl_inplace_using_subcommand hash" -l client-key -d 'Client key file' -r -F
complete -c kubectl-inplace -n "__fish_kubectl_inplace_using_subcommand hash" -l insecure-skip-tls-verify -d 'Do not check the server\'s certificate' -r -f -a "true\t''
false\t''"
complete -c kubectl-inplace -n "__fish_kubectl_inplace_using_subcommand hash" -l tls-server-name -d 'Name that the server\'s certificate must have' -r
complete -c kubectl-inplace -n "__fish_kubectl_inplace_using_subcommand hash" -l as -d 'User to impersonate' -r
complete -c kubectl-inplace -n "__fish_kubectl_inplace_using_subcommand hash" -l as-group -d 'Group to impersonate; repeatable' -r
complete -c kubectl-inplace -n "__fish_kubectl_inplace_using_subcommand hash" -l as-uid -d 'UID to impersonate' -r
complete -c kubectl-inplace -n "__fish_kubectl_inplace_using_subcommand hash" -l as-user-extra -d 'Extra of the impersonated user; repeatable' -r
complete -c kubectl-inplace -n "__fish_kubectl_inplace_using_subcommand hash" -l request-timeout -d 'How long one request may take, repetitions included; 0 is no limit' -r
complete -c kubectl-inplace -n "__fish_kubectl_inplace_using_subcommand hash" -l disable-compression -d 'Ask the server not to compress its answers' -r -f -a "true\t''
false\t''"
complete -c kubectl-inplace -n "__fish_kubectl_inplace_using_subcommand hash" -l warnings-as-errors -d 'End with an error if the server warned' -r -f -a "true\t''
false\t''"
complete -c kubectl-inplace -n "__fish_kubectl_inplace_using_subcommand hash" -l color -d 'Colours' -r -f -a "auto\t'On a terminal that can, unless `NO_COLOR` is set'
always\t'Always'
never\t'Never'"
complete -c kubectl-inplace -n "__fish_kubectl_inplace_using_subcommand hash" -s q -l quiet -d 'Show results and errors only' -r -f -a "true\t''
false\t''"
complete -c kubectl-inplace -n "__fish_kubectl_inplace_using_subcommand hash" -s v -l v -d 'Log level: 6 shows requests, 8 more' -r
complete -c kubectl-inplace -n "__fish_kubectl_inplace_using_subcommand hash" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c kubectl-inplace -n "__fish_kubectl_inplace_using_subcommand rbac" -l pods-only -d 'For pods alone: the owner\'s template is left as it is' -r -f -a "true\t''
false\t''"
complete -c kubectl-inplace -n "__fish_kubectl_inplace_using_subcommand rbac" -l check -d 'Ask the server whether you may, in the namespace; exit with 3 if something required is missing' -r -f -a "true\t''
false\t''"
complete -c kubectl-inplace -n "__fish_kubectl_inplace_using_subcommand rbac" -l optional -d 'With what is optional too: without it an answer is weaker, or a flag does not work' -r -f -a "true\t''
false\t''"
complete -c kubectl-inplace -n "__fish_kubectl_inplace_using_subcommand rbac" -s A -l all-namespaces -d 'For all namespaces: a ClusterRole' -r -f -a "true\t''
false\t''"
complete -c kubectl-inplace -n "__fish_kubectl_inplace_using_subcommand rbac" -s o -l output -d 'Output format; text is YAML with comments, or a table with --check' -r -f -a "text\t'For a person'
json\t'For a script: one document for a plan, one object a line for a rollout'"
complete -c kubectl-inplace -n "__fish_kubectl_inplace_using_subcommand rbac" -s n -l namespace -d 'Namespace' -r
complete -c kubectl-inplace -n "__fish_kubectl_inplace_using_subcommand rbac" -l kubeconfig -d 'The kubeconfig to use' -r -F
complete -c kubectl-inplace -n "__fish_kubectl_inplace_using_subcommand rbac" -l context -d 'Context of the kubeconfig' -r
complete -c kubectl-inplace -n "__fish_kubectl_inplace_using_subcommand rbac" -l cluster -d 'Cluster of the kubeconfig' -r
complete -c kubectl-inplace -n "__fish_kubectl_inplace_using_subcommand rbac" -l user -d 'User of the kubeconfig' -r
complete -c kubectl-inplace -n "__fish_kubectl_inplace_using_subcommand rbac" -s s -l server -d 'Address of the API server' -r
complete -c kubectl-inplace -n "__fish_kubectl_inplace_using_subcommand rbac" -l token -d 'Bearer token' -r
complete -c kubectl-inplace -n "__fish_kubectl_inplace_using_subcommand rbac" -l certificate-authority -d 'Certificate file of the server\'s authority' -r -F
complete -c kubectl-inplace -n "__fish_kubectl_inplace_using_subcommand rbac" -l client-certificate -d 'Client certificate file' -r -F
complete -c kubectl-inplace -n "__fish_kubectl_inplace_using_subcommand rbac" -l client-key -d 'Client key file' -r -F
complete -c kubectl-inplace -n "__fish_kubectl_inplace_using_subcommand rbac" -l insecure-skip-tls-verify -d 'Do not check the server\'s certificate' -r -f -a "true\t''
false\t''"
complete -c kubectl-inplace -n "__fish_kubectl_inplace_using_subcommand rbac" -l tls-server-name -d 'Name that the server\'s certificate must have' -r
complete -c kubectl-inplace -n "__fish_kubectl_inplace_using_subcommand rbac" -l as -d 'User to impersonate' -r
complete -c kubectl-inplace -n "__fish_kubectl_inplace_using_subcommand rbac" -l as-group -d 'Group to impersonate; repeatable' -r
complete -c kubectl-inplace -n "__fish_kubectl_inplace_using_subcommand rbac" -l as-uid -d 'UID to impersonate' -r
complete -c kubectl-inplace -n "__fish_kubectl_inplace_using_subcommand rbac" -l as-user-extra -d 'Extra of the impersonated user; repeatable' -r
complete -c kubectl-inplace -n "__fish_kubectl_inplace_using_subcommand rbac" -l request-timeout -d 'How long one request may take, repetitions included; 0 is no limit' -r
complete -c kubectl-inplace -n "__fish_kubectl_inplace_using_subcommand rbac" -l disable-compression -d 'Ask the server not to compress its answers' -r -f -a "true\t''
false\t''"
complete -c kubectl-inplace -n "__fish_kubectl_inplace_using_subcommand rbac" -l warnings-as-errors -d 'End with an error if the server warned' -r -f -a "true\t''
false\t''"
complete -c kubectl-inplace -n "__fish_kubectl_inplace_using_subcommand rbac" -l color -d 'Colours' -r -f -a "auto\t'On a terminal that can, unless `NO_COLOR` is set'
always\t'Always'
never\t'Never'"
complete -c kubectl-inplace -n "__fish_kubectl_inplace_using_subcommand rbac" -s q -l quiet -d 'Show results and errors only' -r -f -a "true\t''
false\t''"
complete -c kubectl-inplace -n "__fish_kubectl_inplace_using_subcommand rbac" -s v -l v -d 'Log level: 6 shows requests, 8 more' -r
complete -c kubectl-inplace -n "__fish_kubectl_inplace_using_subcommand rbac" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c kubectl-inplace -n "__fish_kubectl_inplace_using_subcommand explain" -s n -l namespace -d 'Namespace' -r
complete -c kubectl-inplace -n "__fish_kubectl_inplace_using_subcommand explain" -l kubeconfig -d 'The kubeconfig to use' -r -F
complete -c kubectl-inplace -n "__fish_kubectl_inplace_using_subcommand explain" -l context -d 'Context of the kubeconfig' -r
complete -c kubectl-inplace -n "__fish_kubectl_inplace_using_subcommand explain" -l cluster -d 'Cluster of the kubeconfig' -r
complete -c kubectl-inplace -n "__fish_kubectl_inplace_using_subcommand explain" -l user -d 'User of the kubeconfig' -r
complete -c kubectl-inplace -n "__fish_kubectl_inplace_using_subcommand explain" -s s -l server -d 'Address of the API server' -r
complete -c kubectl-inplace -n "__fish_kubectl_inplace_using_subcommand explain" -l token -d 'Bearer token' -r
complete -c kubectl-inplace -n "__fish_kubectl_inplace_using_subcommand explain" -l certificate-authority -d 'Certificate file of the server\'s authority' -r -F
complete -c kubectl-inplace -n "__fish_kubectl_inplace_using_subcommand explain" -l client-certificate -d 'Client certificate file' -r -F
complete -c kubectl-inplace -n "__fish_kubectl_inplace_using_subcommand explain" -l client-key -d 'Client key file' -r -F
complete -c kubectl-inplace -n "__fish_kubectl_inplace_using_subcommand explain" -l insecure-skip-tls-verify -d 'Do not check the server\'s certificate' -r -f -a "true\t''
false\t''"
complete -c kubectl-inplace -n "__fish_kubectl_inplace_using_subcommand explain" -l tls-server-name -d 'Name that the server\'s certificate must have' -r
complete -c kubectl-inplace -n "__fish_kubectl_inplace_using_subcommand explain" -l as -d 'User to impersonate' -r
complete -c kubectl-inplace -n "__fish_kubectl_inplace_using_subcommand explain" -l as-group -d 'Group to impersonate; repeatable' -r
complete -c kubectl-inplace -n "__fish_kubectl_inplace_using_subcommand explain" -l as-uid -d 'UID to impersonate' -r
complete -c kubectl-inplace -n "__fish_kubectl_inplace_using_subcommand explain" -l as-user-extra -d 'Extra of the impersonated user; repeatable' -r
complete -c kubectl-inplace -n "__fish_kubectl_inplace_using_subcommand explain" -l request-timeout -d 'How long one request may take, repetitions included; 0 is no limit' -r
complete -c kubectl-inplace -n "__fish_kubectl_inplace_using_subcommand explain" -l disable-compression -d 'Ask the server not to compress its answers' -r -f -a "true\t''
false\t''"
complete -c kubectl-inplace -n "__fish_kubectl_inplace_using_subcommand explain" -l warnings-as-errors -d 'End with an error if the server warned' -r -f -a "true\t''
false\t''"
complete -c kubectl-inplace -n "__fish_kubectl_inplace_using_subcommand explain" -l color -d 'Colours' -r -f -a "auto\t'On a terminal that can, unless `NO_COLOR` is set'
always\t'Always'
never\t'Never'"
complete -c kubectl-inplace -n "__fish_kubectl_inplace_using_subcommand explain" -s q -l quiet -d 'Show results and errors only' -r -f -a "true\t''
false\t''"
complete -c kubectl-inplace -n "__fish_kubectl_inplace_using_subcommand explain" -s v -l v -d 'Log level: 6 shows requests, 8 more' -r
complete -c kubectl-inplace -n "__fish_kubectl_inplace_using_subcommand explain" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c kubectl-inplace -n "__fish_kubectl_inplace_using_subcommand completion" -s n -l namespace -d 'Namespace' -r
complete -c kubectl-inplace -n "__fish_kubectl_inplace_using_subcommand completion" -l kubeconfig -d 'The kubeconfig to use' -r -F
complete -c kubectl-inplace -n "__fish_kubectl_inplace_using_subcommand completion" -l context -d 'Context of the kubeconfig' -r
complete -c kubectl-inplace -n "__fish_kubectl_inplace_using_subcommand completion" -l cluster -d 'Cluster of the kubeconfig' -r
complete -c kubectl-inplace -n "__fish_kubectl_inplace_using_subcommand completion" -l user -d 'User of the kubeconfig' -r
complete -c kubectl-inplace -n "__fish_kubectl_inplace_using_subcommand completion" -s s -l server -d 'Address of the API server' -r
complete -c kubectl-inplace -n "__fish_kubectl_inplace_using_subcommand completion" -l token -d 'Bearer token' -r
complete -c kubectl-inplace -n "__fish_kubectl_inplace_using_subcommand completion" -l certificate-authority -d 'Certificate file of the server\'s authority' -r -F
complete -c kubectl-inplace -n "__fish_kubectl_inplace_using_subcommand completion" -l client-certificate -d 'Client certificate file' -r -F
complete -c kubectl-inplace -n "__fish_kubectl_inplace_using_subcommand completion" -l client-key -d 'Client key file' -r -F
complete -c kubectl-inplace -n "__fish_kubectl_inplace_using_subcommand completion" -l insecure-skip-tls-verify -d 'Do not check the server\'s certificate' -r -f -a "true\t''
false\t''"
complete -c kubectl-inplace -n "__fish_kubectl_inplace_using_subcommand completion" -l tls-server-name -d 'Name that the server\'s certificate must have' -r
complete -c kubectl-inplace -n "__fish_kubectl_inplace_using_subcommand completion" -l as -d 'User to impersonate' -r
complete -c kubectl-inplace -n "__fish_kubectl_inplace_using_subcommand completion" -l as-group -d 'Group to impersonate; repeatable' -r
complete -c kubectl-inplace -n "__fish_kubectl_inplace_using_subcommand completion" -l as-uid -d 'UID to impersonate' -r
complete -c kubectl-inplace -n "__fish_kubectl_inplace_using_subcommand completion" -l as-user-extra -d 'Extra of the impersonated user; repeatable' -r
complete -c kubectl-inplace -n "__fish_kubectl_inplace_using_subcommand completion" -l request-timeout -d 'How long one request may take, repetitions included; 0 is no limit' -r
complete -c kubectl-inplace -n "__fish_kubectl_inplace_using_subcommand completion" -l disable-compression -d 'Ask the server not to compress its answers' -r -f -a "true\t''
false\t''"
complete -c kubectl-inplace -n "__fish_kubectl_inplace_using_subcommand completion" -l warnings-as-errors -d 'End with an error if the server warned' -r -f -a "true\t''
false\t''"
complete -c kubectl-inplace -n "__fish_kubectl_inplace_using_subcommand completion" -l color -d 'Colours' -r -f -a "auto\t'On a terminal that can, unless `NO_COLOR` is set'
always\t'Always'
never\t'Never'"
complete -c kubectl-inplace -n "__fish_kubectl_inplace_using_subcommand completion" -s q -l quiet -d 'Show results and errors only' -r -f -a "true\t''
false\t''"
complete -c kubectl-inplace -n "__fish_kubectl_inplace_using_subcommand completion" -s v -l v -d 'Log level: 6 shows requests, 8 more' -r
complete -c kubectl-inplace -n "__fish_kubectl_inplace_using_subcommand completion" -l install -d 'Link this program as kubectl_complete-inplace beside itself, where kubectl looks for it'
complete -c kubectl-inplace -n "__fish_kubectl_inplace_using_subcommand completion" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c kubectl-inplace -n "__fish_kubectl_inplace_using_subcommand version" -l client -d 'Do not ask the server' -r -f -a "true\t''
false\t''"
complete -c kubectl-inplace -n "__fish_kubectl_inplace_using_subcommand version" -s o -l output -d 'Output format' -r -f -a "text\t'For a person'
json\t'For a script: one document for a plan, one object a line for a rollout'"
complete -c kubectl-inplace -n "__fish_kubectl_inplace_using_subcommand version" -s n -l namespace -d 'Namespace' -r
complete -c kubectl-inplace -n "__fish_kubectl_inplace_using_subcommand version" -l kubeconfig -d 'The kubeconfig to use' -r -F
complete -c kubectl-inplace -n "__fish_kubectl_inplace_using_subcommand version" -l context -d 'Context of the kubeconfig' -r
complete -c kubectl-inplace -n "__fish_kubectl_inplace_using_subcommand version" -l cluster -d 'Cluster of the kubeconfig' -r
complete -c kubectl-inplace -n "__fish_kubectl_inplace_using_subcommand version" -l user -d 'User of the kubeconfig' -r
complete -c kubectl-inplace -n "__fish_kubectl_inplace_using_subcommand version" -s s -l server -d 'Address of the API server' -r
complete -c kubectl-inplace -n "__fish_kubectl_inplace_using_subcommand version" -l token -d 'Bearer token' -r
complete -c kubectl-inplace -n "__fish_kubectl_inplace_using_subcommand version" -l certificate-authority -d 'Certificate file of the server\'s authority' -r -F
complete -c kubectl-inplace -n "__fish_kubectl_inplace_using_subcommand version" -l client-certificate -d 'Client certificate file' -r -F
complete -c kubectl-inplace -n "__fish_kubectl_inplace_using_subcommand version" -l client-key -d 'Client key file' -r -F
complete -c kubectl-inplace -n "__fish_kubectl_inplace_using_subcommand version" -l insecure-skip-tls-verify -d 'Do not check the server\'s certificate' -r -f -a "true\t''
false\t''"
complete -c kubectl-inplace -n "__fish_kubectl_inplace_using_subcommand version" -l tls-server-name -d 'Name that the server\'s certificate must have' -r
complete -c kubectl-inplace -n "__fish_kubectl_inplace_using_subcommand version" -l as -d 'User to impersonate' -r
complete -c kubectl-inplace -n "__fish_kubectl_inplace_using_subcommand version" -l as-group -d 'Group to impersonate; repeatable' -r
complete -c kubectl-inplace -n "__fish_kubectl_inplace_using_subcommand version" -l as-uid -d 'UID to impersonate' -r
complete -c kubectl-inplace -n "__fish_kubectl_inplace_using_subcommand version" -l as-user-extra -d 'Extra of the impersonated user; repeatable' -r
complete -c kubectl-inplace -n "__fish_kubectl_inplace_using_subcommand version" -l request-timeout -d 'How long one request may take, repetitions included; 0 is no limit' -r
complete -c kubectl-inplace -n "__fish_kubectl_inplace_using_subcommand version" -l disable-compression -d 'Ask the server not to compress its answers' -r -f -a "true\t''
false\t''"
complete -c kubectl-inplace -n "__fish_kubectl_inplace_using_subcommand version" -l warnings-as-errors -d 'End with an error if the server warned' -r -f -a "true\t''
false\t''"
complete -c kubectl-inplace -n "__fish_kubectl_inplace_using_subcommand version" -l color -d 'Colours' -r -f -a "auto\t'On a terminal that can, unless `NO_COLOR` is set'
always\t'Always'
never\t'Never'"
complete -c kubectl-inplace -n "__fish_kubectl_inplace_using_subcommand version" -s q -l quiet -d 'Show results and errors only' -r -f -a "true\t''
false\t''"
complete -c kubectl-inplace -n "__fish_kubectl_inplace_using_subcommand version" -s v -l v -d 'Log level: 6 shows requests, 8 more' -r
complete -c kubectl-inplace -n "__fish_kubectl_inplace_using_subcommand version" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c kubectl-inplace -n "__fish_kubectl_inplace_using_subcommand __complete" -s n -l namespace -d 'Namespace' -r
complete -c kubectl-inplace -n "__fish_kubectl_inplace_using_subcommand __complete" -l kubeconfig -d 'The kubeconfig to use' -r -F
complete -c kubectl-inplace -n "__fish_kubectl_inplace_using_subcommand __complete" -l context -d 'Context of the kubeconfig' -r
complete -c kubectl-inplace -n "__fish_kubectl_inplace_using_subcommand __complete" -l cluster -d 'Cluster of the kubeconfig' -r
complete -c kubectl-inplace -n "__fish_kubectl_inplace_using_subcommand __complete" -l user -d 'User of the kubeconfig' -r
complete -c kubectl-inplace -n "__fish_kubectl_inplace_using_subcommand __complete" -s s -l server -d 'Address of the API server' -r
complete -c kubectl-inplace -n "__fish_kubectl_inplace_using_subcommand __complete" -l token -d 'Bearer token' -r
complete -c kubectl-inplace -n "__fish_kubectl_inplace_using_subcommand __complete" -l certificate-authority -d 'Certificate file of the server\'s authority' -r -F
complete -c kubectl-inplace -n "__fish_kubectl_inplace_using_subcommand __complete" -l client-certificate -d 'Client certificate file' -r -F
complete -c kubectl-inplace -n "__fish_kubectl_inplace_using_subcommand __complete" -l client-key -d 'Client key file' -r -F
complete -c kubectl-inplace -n "__fish_kubectl_inplace_using_subcommand __complete" -l insecure-skip-tls-verify -d 'Do not check the server\'s certificate' -r -f -a "true\t''
false\t''"
complete -c kubectl-inplace -n "__fish_kubectl_inplace_using_subcommand __complete" -l tls-server-name -d 'Name that the server\'s certificate must have' -r
complete -c kubectl-inplace -n "__fish_kubectl_inplace_using_subcommand __complete" -l as -d 'User to impersonate' -r
complete -c kubectl-inplace -n "__fish_kubectl_inplace_using_subcommand __complete" -l as-group -d 'Group to impersonate; repeatable' -r
complete -c kubectl-inplace -n "__fish_kubectl_inplace_using_subcommand __complete" -l as-uid -d 'UID to impersonate' -r
complete -c kubectl-inplace -n "__fish_kubectl_inplace_using_subcommand __complete" -l as-user-extra -d 'Extra of the impersonated user; repeatable' -r
complete -c kubectl-inplace -n "__fish_kubectl_inplace_using_subcommand __complete" -l request-timeout -d 'How long one request may take, repetitions included; 0 is no limit' -r
complete -c kubectl-inplace -n "__fish_kubectl_inplace_using_subcommand __complete" -l disable-compression -d 'Ask the server not to compress its answers' -r -f -a "true\t''
false\t''"
complete -c kubectl-inplace -n "__fish_kubectl_inplace_using_subcommand __complete" -l warnings-as-errors -d 'End with an error if the server warned' -r -f -a "true\t''
false\t''"
complete -c kubectl-inplace -n "__fish_kubectl_inplace_using_subcommand __complete" -l color -d 'Colours' -r -f -a "auto\t'On a terminal that can, unless `NO_COLOR` is set'
always\t'Always'
never\t'Never'"
complete -c kubectl-inplace -n "__fish_kubectl_inplace_using_subcommand __complete" -s q -l quiet -d 'Show results and errors only' -r -f -a "true\t''
false\t''"
complete -c kubectl-inplace -n "__fish_kubectl_inplace_using_subcommand __complete" -s v -l v -d 'Log level: 6 shows requests, 8 more' -r
complete -c kubectl-inplace -n "__fish_kubectl_inplace_using_subcommand __complete" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c kubectl-inplace -n "__fish_kubectl_inplace_using_subcommand help; and not __fish_seen_subcommand_from plan diff apply restart resume abort undo follow status history hash rbac explain completion version __complete help" -f -a "plan" -d 'Say what would happen to each pod and container, what blocks it and why. Changes nothing'
complete -c kubectl-inplace -n "__fish_kubectl_inplace_using_subcommand help; and not __fish_seen_subcommand_from plan diff apply restart resume abort undo follow status history hash rbac explain completion version __complete help" -f -a "diff" -d 'Show the change as a diff, only what a person means, each field marked with what it does to the pods. Changes nothing'
complete -c kubectl-inplace -n "__fish_kubectl_inplace_using_subcommand help; and not __fish_seen_subcommand_from plan diff apply restart resume abort undo follow status history hash rbac explain completion version __complete help" -f -a "apply" -d 'Plan, ask, patch the pods, and follow them until they are ready again'
complete -c kubectl-inplace -n "__fish_kubectl_inplace_using_subcommand help; and not __fish_seen_subcommand_from plan diff apply restart resume abort undo follow status history hash rbac explain completion version __complete help" -f -a "restart" -d 'Restart containers in place with the very bits that they run: the digest is pinned, the template stays'
complete -c kubectl-inplace -n "__fish_kubectl_inplace_using_subcommand help; and not __fish_seen_subcommand_from plan diff apply restart resume abort undo follow status history hash rbac explain completion version __complete help" -f -a "resume" -d 'Go on with a rollout that was stopped, or whose run was killed, at any point'
complete -c kubectl-inplace -n "__fish_kubectl_inplace_using_subcommand help; and not __fish_seen_subcommand_from plan diff apply restart resume abort undo follow status history hash rbac explain completion version __complete help" -f -a "abort" -d 'Take a rollout back that was stopped, or whose run was killed, at any point: template, strategy, pause and pods'
complete -c kubectl-inplace -n "__fish_kubectl_inplace_using_subcommand help; and not __fish_seen_subcommand_from plan diff apply restart resume abort undo follow status history hash rbac explain completion version __complete help" -f -a "undo" -d 'Go back to the images recorded before the last update in place'
complete -c kubectl-inplace -n "__fish_kubectl_inplace_using_subcommand help; and not __fish_seen_subcommand_from plan diff apply restart resume abort undo follow status history hash rbac explain completion version __complete help" -f -a "follow" -d 'Watch an update, this program\'s or anybody\'s, until the pods are ready again. Changes nothing'
complete -c kubectl-inplace -n "__fish_kubectl_inplace_using_subcommand help; and not __fish_seen_subcommand_from plan diff apply restart resume abort undo follow status history hash rbac explain completion version __complete help" -f -a "status" -d 'Show what runs, what is asked, and what is on its way, failed, drifted from the template or held. Changes nothing'
complete -c kubectl-inplace -n "__fish_kubectl_inplace_using_subcommand help; and not __fish_seen_subcommand_from plan diff apply restart resume abort undo follow status history hash rbac explain completion version __complete help" -f -a "history" -d 'List the in-place updates of a workload: when, who, from, to, why, how they ended. Changes nothing'
complete -c kubectl-inplace -n "__fish_kubectl_inplace_using_subcommand help; and not __fish_seen_subcommand_from plan diff apply restart resume abort undo follow status history hash rbac explain completion version __complete help" -f -a "hash" -d 'Compute the kubelet\'s container hashes: would it restart a container? Changes nothing'
complete -c kubectl-inplace -n "__fish_kubectl_inplace_using_subcommand help; and not __fish_seen_subcommand_from plan diff apply restart resume abort undo follow status history hash rbac explain completion version __complete help" -f -a "rbac" -d 'Print the least Role that a command needs, or ask the server whether you have it. Changes nothing'
complete -c kubectl-inplace -n "__fish_kubectl_inplace_using_subcommand help; and not __fish_seen_subcommand_from plan diff apply restart resume abort undo follow status history hash rbac explain completion version __complete help" -f -a "explain" -d 'Say what a reason or warning means, why it is so, and what to do. Alone: list them all'
complete -c kubectl-inplace -n "__fish_kubectl_inplace_using_subcommand help; and not __fish_seen_subcommand_from plan diff apply restart resume abort undo follow status history hash rbac explain completion version __complete help" -f -a "completion" -d 'Print a shell\'s completion script, or make completion work through kubectl'
complete -c kubectl-inplace -n "__fish_kubectl_inplace_using_subcommand help; and not __fish_seen_subcommand_from plan diff apply restart resume abort undo follow status history hash rbac explain completion version __complete help" -f -a "version" -d 'Print the version of this program, and of the server'
complete -c kubectl-inplace -n "__fish_kubectl_inplace_using_subcommand help; and not __fish_seen_subcommand_from plan diff apply restart resume abort undo follow status history hash rbac explain completion version __complete help" -f -a "__complete" -d 'Answer kubectl\'s completion requests'
complete -c kubectl-inplace -n "__fish_kubectl_inplace_using_subcommand help; and not __fish_seen_subcommand_from plan diff apply restart resume abort undo follow status history hash rbac explain completion version __complete help" -f -a "help" -d 'Print this message or the help of the given subcommand(s)'
