use super::*;

#[test]
fn a_kind_is_found_by_any_of_its_words() {
    for (word, kind) in [
        ("deploy", Some(WorkloadKind::Deployment)),
        ("Deployments", Some(WorkloadKind::Deployment)),
        ("deployment.apps", Some(WorkloadKind::Deployment)),
        ("deployments.v1.apps", Some(WorkloadKind::Deployment)),
        ("deployments.v1", None),
        ("deployment.extensions", None),
        ("STS", Some(WorkloadKind::StatefulSet)),
        ("ds", Some(WorkloadKind::DaemonSet)),
        ("rs", Some(WorkloadKind::ReplicaSet)),
        ("po", Some(WorkloadKind::Pod)),
        ("pod.v1", Some(WorkloadKind::Pod)),
        ("clone", Some(WorkloadKind::CloneSet)),
        ("asts", Some(WorkloadKind::AdvancedStatefulSet)),
        ("statefulset.apps.kruise.io", Some(WorkloadKind::AdvancedStatefulSet)),
        ("statefulsets.v1beta1.apps.kruise.io", Some(WorkloadKind::AdvancedStatefulSet)),
        ("statefulset.apps", Some(WorkloadKind::StatefulSet)),
        ("daemonsets.apps.kruise.io", Some(WorkloadKind::AdvancedDaemonSet)),
        ("rollout", Some(WorkloadKind::Rollout)),
        ("rollout.argoproj.io", Some(WorkloadKind::Rollout)),
        ("sidecarsets.apps.kruise.io", Some(WorkloadKind::SidecarSet)),
        ("job", None),
        ("", None),
    ] {
        assert_eq!(WorkloadKind::from_word(word), kind, "{word}");
    }
}

#[test]
fn a_spec_stands_under_its_own_name() {
    for kind in WorkloadKind::ALL {
        assert!(format!("{kind:?}").ends_with(kind.spec().kind), "{kind:?}");
        let selects = kind.has_template() || kind.is_sidecar_set();
        assert_eq!(selects, kind.selector_pointer().is_some(), "{kind}");
    }
}

#[test]
fn what_users_write_is_what_no_controller_makes() {
    let written: Vec<WorkloadKind> = WorkloadKind::written_by_users().collect();
    assert_eq!(written, [WorkloadKind::Deployment, WorkloadKind::StatefulSet, WorkloadKind::DaemonSet]);
    assert_eq!(REPLICA_SETS.made_by(), Some(WorkloadKind::Deployment));
    assert_eq!(PODS.made_by(), None);
    let mut selecting: Vec<WorkloadKind> = WorkloadKind::selecting().collect();
    selecting.sort();
    let with_selector = WorkloadKind::built_in().filter(|kind| kind.selector_pointer().is_some());
    assert_eq!(selecting, with_selector.collect::<Vec<_>>());
}

#[test]
fn a_kind_that_is_misspelt_is_distinguished_from_one_that_is_another_clients() {
    for (api_version, kind, meant) in [
        ("apps/v1", "Deploymnet", Some(WorkloadKind::Deployment)),
        ("apps/v1", "statefulset", Some(WorkloadKind::StatefulSet)),
        ("apps/v2", "Deployment", Some(WorkloadKind::Deployment)),
        ("v1", "pod", Some(WorkloadKind::Pod)),
        ("apps/v1", "Deployment", None),
        ("apps/v1", "ControllerRevision", None),
        ("v1", "Node", None),
        ("v1", "Service", None),
        ("argoproj.io/v1alpha1", "Rollout", None),
        ("acme.example/v1", "Deployment", None),
    ] {
        assert_eq!(WorkloadKind::meant(api_version, kind), meant, "{api_version} {kind}");
    }
}

#[test]
fn namesakes_are_told_apart_by_their_group() {
    for (api_version, kind, found) in [
        ("apps/v1", "StatefulSet", Some(WorkloadKind::StatefulSet)),
        ("apps.kruise.io/v1beta1", "StatefulSet", Some(WorkloadKind::AdvancedStatefulSet)),
        ("apps.kruise.io/v1alpha1", "StatefulSet", None),
        ("apps.kruise.io/v1alpha1", "DaemonSet", Some(WorkloadKind::AdvancedDaemonSet)),
        ("argoproj.io/v1alpha1", "Rollout", Some(WorkloadKind::Rollout)),
        ("v1", "Pod", Some(WorkloadKind::Pod)),
    ] {
        assert_eq!(WorkloadKind::from_manifest(api_version, kind), found, "{api_version} {kind}");
    }
    assert_eq!(
        WorkloadKind::of_owner("apps.kruise.io/v1alpha1", "StatefulSet"),
        Some(WorkloadKind::AdvancedStatefulSet)
    );
}
