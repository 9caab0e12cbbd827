//! What goes well, forward and back.

use super::place::{ONE, Place, Sample, TWO};
use super::{Situation, done};
use crate::support::Kind;

const V2: &[(&str, &str)] = &[("c1", "side:v2"), ("c2", "side:v1")];

const BURSTABLE: &str = "resources: {requests: {cpu: 10m, memory: 16Mi}, limits: {memory: 64Mi}}";

fn plan(place: &Place<'_>) -> String {
    place.line("plan WEB c1=:v2 --min-ready-seconds 0")
}

pub(super) const WELL: &[Situation] = &[
    done("deployment", TWO, plan, V2),
    done("statefulset", Sample::Owner(Kind::StatefulSet, 2), plan, V2),
    done("daemonset", Sample::Owner(Kind::DaemonSet, 1), plan, V2),
    done("replicaset", Sample::Owner(Kind::ReplicaSet, 2), plan, V2),
    done("pod", Sample::Pod, |place| place.line("plan WEB side=:v2 --min-ready-seconds 0"), &[("side", "side:v2")]),
    done(
        "resize",
        Sample::WithFields(Kind::Deployment, 1, BURSTABLE),
        |place| place.line("plan WEB -c c1 --requests cpu=20m"),
        &[("c1", "side:v1")],
    ),
];

pub(super) const OTHER_WAYS: &[Situation] = &[
    done(
        "init-container",
        Sample::WithPod(
            Kind::Deployment,
            1,
            "initContainers: [{name: setup, image: 'REGISTRY/side:v1', command: [sh, -c, 'exit 0']}]",
        ),
        |place| place.line("apply WEB setup=:v2"),
        &[("setup", "side:v2"), ("c1", "side:v1")],
    ),
    Situation {
        regrets: true,
        ..done("regretted", ONE, |place| place.line("apply WEB c1=:v2 --min-ready-seconds 0"), &[("c1", "side:v1")])
    },
    done("canary", TWO, |place| place.line("apply WEB c1=:v2 --canary 1 --min-ready-seconds 0"), V2),
    done("nothing-to-do", ONE, |place| place.line("plan WEB c1=:v1"), &[("c1", "side:v1")]),
    done("saved-plan", ONE, |place| place.line("plan WEB c1=:v2 --min-ready-seconds 0 --out web.plan"), V2),
    done(
        "piped-manifest",
        ONE,
        |place| {
            // As the printed line asks for it.
            place.manifest("manifest.yaml", "side:v1", "side:v2");
            format!("cat manifest.yaml | {}", place.line("plan --min-ready-seconds 0 -f -"))
        },
        V2,
    ),
    done(
        "offline",
        ONE,
        |place| {
            place.manifest("old.yaml", "terminationGracePeriodSeconds: 1", "terminationGracePeriodSeconds: 1 ");
            place.manifest("new.yaml", "side:v1", "side:v2");
            place.line("plan --against old.yaml -f new.yaml")
        },
        &[("c1", "side:v1")],
    ),
];
