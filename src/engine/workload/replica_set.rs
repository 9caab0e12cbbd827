//! ReplicaSet (kube-controller-manager `pkg/controller/replicaset`): never replaces a pod because its template changed.

use super::KindFacts;

pub(super) const FACTS: KindFacts = KindFacts {
    kind: "ReplicaSet",
    group: "apps",
    version: "v1",
    plural: "replicasets",
    singular: "replicaset",
    short_names: &["rs"],
};
