use super::table::Subject;
use super::*;

fn asked(command: ClusterCommand, kind: WorkloadKind, pods_only: bool) -> Asked {
    Asked { command, kinds: vec![kind], pods_only }
}

/// One line a resource: `deployments.apps get,patch`.
fn reported(asked: &Asked, need: Need) -> Vec<String> {
    let rules = rules(&asked.permissions());
    let of_need = rules.iter().filter(|rule| rule.need == need);
    let line = |rule: &RoleRule| {
        let verbs: Vec<&str> = rule.verbs.iter().map(|(verb, _)| verb.word()).collect();
        format!("{} {}", rule.resource, verbs.join(","))
    };
    of_need.map(line).collect()
}

const PODS: &str = "pods get,list,watch,patch";

#[test]
fn what_each_command_requires() {
    use ClusterCommand as C;
    use WorkloadKind as K;
    let durable: [(C, K, &[&str]); 29] = [
        (C::Plan, K::Deployment, &["deployments.apps get", "pods list", "replicasets.apps list"]),
        (C::Plan, K::StatefulSet, &["statefulsets.apps get", "pods list", "controllerrevisions.apps list"]),
        (C::Plan, K::Pod, &["pods get"]),
        (C::Diff, K::Deployment, &["deployments.apps get,patch"]),
        (C::Diff, K::Pod, &["pods get"]),
        (C::Apply, K::Deployment, &["deployments.apps get,patch", PODS, "replicasets.apps list,create,patch"]),
        (C::Apply, K::StatefulSet, &["statefulsets.apps get,patch", PODS, "controllerrevisions.apps list"]),
        (C::Apply, K::DaemonSet, &["daemonsets.apps get,patch", PODS, "controllerrevisions.apps list"]),
        (C::Apply, K::ReplicaSet, &["replicasets.apps get,patch", PODS]),
        (C::Apply, K::Pod, &[PODS]),
        (C::Follow, K::Deployment, &["deployments.apps get", "pods list,watch", "replicasets.apps list"]),
        (C::Follow, K::DaemonSet, &["daemonsets.apps get", "pods list,watch"]),
        (C::Follow, K::Pod, &["pods get,list,watch"]),
        (C::Status, K::Deployment, &["deployments.apps get", "pods list", "replicasets.apps list"]),
        (C::Status, K::StatefulSet, &["statefulsets.apps get", "pods list"]),
        (C::Status, K::Pod, &["pods get"]),
        (C::History, K::Deployment, &["deployments.apps get", "replicasets.apps list"]),
        (C::History, K::StatefulSet, &["statefulsets.apps get"]),
        (C::History, K::Pod, &["pods get"]),
        (C::Undo, K::Deployment, &["deployments.apps get,patch", PODS, "replicasets.apps list,create,patch"]),
        (C::Undo, K::Pod, &[PODS]),
        (C::Resume, K::Deployment, &["deployments.apps get,patch", PODS, "replicasets.apps list,create,patch"]),
        (C::Resume, K::StatefulSet, &["statefulsets.apps get,patch", PODS, "controllerrevisions.apps list"]),
        (C::Abort, K::Deployment, &["deployments.apps get,patch", PODS, "replicasets.apps list,patch,delete"]),
        (C::Abort, K::DaemonSet, &["daemonsets.apps get,patch", PODS, "controllerrevisions.apps list"]),
        (C::Restart, K::Deployment, &["deployments.apps get", PODS, "replicasets.apps list"]),
        (C::Restart, K::Pod, &[PODS]),
        (C::Hash, K::Deployment, &["deployments.apps get"]),
        (C::Hash, K::Pod, &["pods get"]),
    ];
    for (command, kind, expected) in durable {
        assert_eq!(reported(&asked(command, kind, false), Need::Required), expected, "{} {kind}", command.word());
    }
    let pods_only: [(C, K, &[&str]); 6] = [
        (C::Plan, K::Deployment, &["deployments.apps get", "pods list", "replicasets.apps list"]),
        (C::Apply, K::Deployment, &["deployments.apps get", PODS, "replicasets.apps list"]),
        (C::Apply, K::StatefulSet, &["statefulsets.apps get", PODS]),
        (C::Apply, K::ReplicaSet, &["replicasets.apps get", PODS]),
        (C::Apply, K::Pod, &[PODS]),
        (C::Undo, K::DaemonSet, &["daemonsets.apps get", PODS]),
    ];
    for (command, kind, expected) in pods_only {
        let reported = reported(&asked(command, kind, true), Need::Required);
        assert_eq!(reported, expected, "{} {kind} --pods-only", command.word());
    }
}

#[test]
#[expect(clippy::too_many_lines, reason = "a table")]
fn what_each_command_can_do_without() {
    use ClusterCommand as C;
    use WorkloadKind as K;
    const AROUND: [&str; 2] = ["poddisruptionbudgets.policy list", "horizontalpodautoscalers.autoscaling list"];
    const REVIEW: &str = "selfsubjectaccessreviews.authorization.k8s.io create";
    const SERVICES: [&str; 2] = ["services list", "endpointslices.discovery.k8s.io list"];
    const POLICIES: &str = "networkpolicies.networking.k8s.io list";
    // Whatever else selects pods; what a row above has already is named there.
    let selecting = |kinds: &[&str]| -> Vec<String> { kinds.iter().map(|kind| format!("{kind}.apps list")).collect() };
    let rollout = |first: &[&str], kinds: &[&str]| {
        let mut all: Vec<String> = first.iter().map(|line| (*line).to_owned()).collect();
        all.extend(AROUND.iter().chain(&["events list"]).chain(&SERVICES).map(|line| (*line).to_owned()));
        all.push("pods/status patch".to_owned());
        all.extend(selecting(kinds));
        all.extend([POLICIES, "nodes get,list", REVIEW].map(str::to_owned));
        all.push("selfsubjectreviews.authentication.k8s.io create".to_owned());
        all
    };
    let lines = |lines: &[&str]| lines.iter().map(|line| (*line).to_owned()).collect::<Vec<_>>();
    let cases = [
        (
            C::Apply,
            K::Pod,
            false,
            rollout(&["pods create,delete"], &["deployments", "replicasets", "statefulsets", "daemonsets"]),
        ),
        (
            C::Apply,
            K::Deployment,
            false,
            rollout(
                &["deployments.apps list", "pods create,delete", "replicasets.apps delete"],
                &["statefulsets", "daemonsets"],
            ),
        ),
        (
            C::Apply,
            K::Deployment,
            true,
            rollout(&["deployments.apps list,patch", "pods create,delete"], &["statefulsets", "daemonsets"]),
        ),
        (
            C::Apply,
            K::StatefulSet,
            false,
            rollout(
                &["statefulsets.apps list", "pods create,delete", "controllerrevisions.apps delete"],
                &["deployments", "replicasets", "daemonsets"],
            ),
        ),
        (
            C::Restart,
            K::DaemonSet,
            false,
            rollout(
                &[
                    "daemonsets.apps list",
                    "pods create,delete",
                    "containerrecreaterequests.apps.kruise.io list,create,delete",
                    "controllerrevisions.apps list",
                ],
                &["deployments", "replicasets", "statefulsets"],
            ),
        ),
        (
            C::Abort,
            K::DaemonSet,
            false,
            rollout(
                &["daemonsets.apps list", "pods create,delete", "controllerrevisions.apps delete"],
                &["deployments", "replicasets", "statefulsets"],
            ),
        ),
        (
            C::Apply,
            K::ReplicaSet,
            false,
            rollout(
                &["replicasets.apps list", "pods create,delete", "deployments.apps get,list"],
                &["statefulsets", "daemonsets"],
            ),
        ),
        (C::Plan, K::Pod, false, {
            let mut all = lines(&["pods list,create,patch", AROUND[0], AROUND[1], SERVICES[0], SERVICES[1]]);
            all.extend(selecting(&["deployments", "replicasets", "statefulsets", "daemonsets"]));
            all.extend(lines(&[POLICIES, "nodes get,list", REVIEW]));
            all
        }),
        (C::Follow, K::Pod, false, lines(&["events list", "nodes get,list", REVIEW])),
        (C::Status, K::StatefulSet, false, {
            lines(&[
                "statefulsets.apps list",
                "pods watch",
                "controllerrevisions.apps list",
                "poddisruptionbudgets.policy list",
            ])
        }),
        (C::History, K::DaemonSet, false, {
            lines(&["daemonsets.apps list", "pods list", "controllerrevisions.apps list"])
        }),
        (C::Diff, K::Pod, false, lines(&["pods list"])),
        (C::Hash, K::Pod, false, lines(&["pods list", "nodes get"])),
        (C::Hash, K::DaemonSet, false, lines(&["daemonsets.apps list"])),
    ];
    for (command, kind, pods_only, mut expected) in cases {
        // A restart changes neither cpu nor memory.
        let resizes = ["pods create,delete", "pods list,create,patch"];
        let place = expected.iter().position(|line| resizes.contains(&line.as_str())).filter(|_| command != C::Restart);
        if let Some(place) = place {
            expected.insert(place + 1, "pods/resize patch".to_owned());
        }
        let nodes = expected.iter().position(|line| line == "nodes get,list");
        if let Some(place) = nodes.filter(|_| matches!(command, C::Plan | C::Apply | C::Undo)) {
            expected.insert(place + 1, "verticalpodautoscalers.autoscaling.k8s.io list".to_owned());
            if command != C::Undo && !pods_only {
                expected.splice(place + 2..place + 2, lines(&["configmaps get", "secrets get"]));
            }
        }
        assert_eq!(reported(&asked(command, kind, pods_only), Need::Optional), expected, "{} {kind}", command.word());
    }
}

#[test]
fn several_kinds_need_what_each_of_them_needs_and_nothing_twice() {
    for command in ClusterCommand::ALL {
        for pods_only in [false, true] {
            let all = Asked { command, kinds: WorkloadKind::ALL.to_vec(), pods_only }.permissions();
            let mut seen = Vec::new();
            for permission in &all {
                let key = (permission.verb, permission.resource);
                assert!(!seen.contains(&key), "{}: {permission} twice", command.word());
                assert!(!permission.reasons.is_empty(), "{permission}");
                seen.push(key);
            }
            for kind in WorkloadKind::ALL {
                for one in asked(command, kind, pods_only).permissions() {
                    let known = all.iter().find(|known| known.verb == one.verb && known.resource == one.resource);
                    assert!(known.is_some_and(|known| known.need <= one.need), "{} {kind}: {one}", command.word());
                }
            }
        }
    }
}

#[test]
fn every_row_is_of_use_and_what_only_looks_asks_for_no_change() {
    for row in ROWS {
        assert!(
            !row.commands.is_empty()
                && WorkloadKind::ALL.into_iter().any(|kind| (row.kinds)(kind))
                && !row.verbs.is_empty(),
            "{row:?}"
        );
        assert!(!row.reason.ends_with('.'), "{}", row.reason);
        if let Subject::Other(resource) = row.subject {
            assert!(!resource.cluster_wide || row.need == Need::Optional, "{resource}: a Role cannot give it");
        }
    }
    for command in [ClusterCommand::Follow, ClusterCommand::Status, ClusterCommand::History, ClusterCommand::Hash] {
        for kind in WorkloadKind::ALL {
            let mut permissions = asked(command, kind, false).permissions();
            permissions.retain(|permission| permission.verb > AccessVerb::Watch);
            let reviews = |permission: &Permission| permission.resource.plural == "selfsubjectaccessreviews";
            assert!(permissions.iter().all(reviews), "{} {kind}: {permissions:?}", command.word());
        }
    }
}

#[test]
fn what_is_required_and_refused_is_missing() {
    let answer = |permission: Permission| {
        let allowed = permission.verb != AccessVerb::Patch && permission.resource.plural != "events";
        AccessAnswer { permission, allowed, message: String::new() }
    };
    let permissions = asked(ClusterCommand::Apply, WorkloadKind::Deployment, false).permissions();
    let answers: Vec<AccessAnswer> = permissions.into_iter().map(answer).collect();
    let missing: Vec<String> = missing(&answers).iter().map(|answer| answer.permission.to_string()).collect();
    assert_eq!(missing, ["patch deployments.apps", "patch pods", "patch replicasets.apps"]);
}
