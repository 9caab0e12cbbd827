//! What cannot be done in place, or not now.

use super::place::{ONE, Place, Sample, TWO};
use super::{Situation, cannot, done};
use crate::support::Kind;

const V2: &[(&str, &str)] = &[("c1", "side:v2")];

const BURSTABLE: &str = "resources: {requests: {cpu: 10m, memory: 16Mi}, limits: {memory: 64Mi}}";

fn plan(place: &Place<'_>) -> String {
    place.line("apply WEB c1=:v2 --min-ready-seconds 0")
}

fn changed(place: &Place<'_>, from: &str, to: &str) -> String {
    place.manifest("web.yaml", from, to);
    place.line("apply -f web.yaml --min-ready-seconds 0")
}

pub(super) const REFUSED: &[Situation] = &[
    cannot("qos-class", ONE, |place| place.line("apply WEB -c c1 --requests cpu=10m"), 3, &["QosClassChanges"]),
    cannot(
        "replaced-template",
        ONE,
        |place| changed(place, "terminationGracePeriodSeconds: 1", "terminationGracePeriodSeconds: 3"),
        3,
        &["TemplateFieldNotInPlace", "which replaces the pods"],
    ),
    cannot(
        "node-too-small",
        Sample::WithFields(Kind::Deployment, 1, BURSTABLE),
        |place| place.line("apply WEB -c c1 --requests cpu=9999"),
        3,
        &["AdmissionRefused", "enough allocatable resources"],
    ),
    cannot(
        "quota",
        Sample::WithFields(Kind::Deployment, 1, BURSTABLE),
        |place| {
            place.kubectl("create quota small --hard=requests.cpu=50m");
            place.line("apply WEB -c c1 --requests cpu=200m")
        },
        3,
        &["AdmissionRefused", "failed quota"],
    ),
    done("a-pod-of-an-owner", ONE, |place| place.line(&format!("apply {} c1=:v2", place.a_pod())), V2),
];

pub(super) const OBSTACLES: &[Situation] = &[
    done(
        "paused",
        ONE,
        |place| {
            place.kubectl("rollout pause WEB");
            plan(place)
        },
        V2,
    ),
    cannot(
        "scaled-to-none",
        ONE,
        |place| {
            place.kubectl("scale WEB --replicas=0");
            place.namespace.wait_pods("app=web", <[_]>::is_empty);
            plan(place)
        },
        3,
        &["NoPods"],
    ),
    Situation {
        replaces: true,
        ..done(
            "rolling-out",
            TWO,
            |place| {
                place.kubectl("set image WEB c2=REGISTRY/side:v2");
                plan(place)
            },
            V2,
        )
    },
    cannot(
        "stuck-rollout",
        Sample::WithSpec(Kind::Deployment, 1, "  progressDeadlineSeconds: 2\n"),
        |place| {
            place.kubectl("set image WEB c2=REGISTRY/side:nope");
            place.namespace.wait_pods("app=web", |pods| pods.len() > 1);
            plan(place)
        },
        3,
        &["OwnerRollingOut"],
    ),
    cannot(
        "budget",
        TWO,
        |place| {
            place.kubectl("create poddisruptionbudget strict --selector=app=web --min-available=2");
            plan(place)
        },
        3,
        &["DisruptionBudgetBlocks"],
    ),
    cannot(
        "stale-plan",
        TWO,
        |place| {
            place.run("plan WEB c1=:v2 --out FOLDER/web.plan", 0);
            place.kubectl(&format!("set image {} c2=REGISTRY/side:v2", place.a_pod()));
            "kubectl inplace apply --plan web.plan".into()
        },
        6,
        &["PlanStale"],
    ),
];
