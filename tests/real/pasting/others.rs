//! What others have done to pods and templates, before and in the middle of a rollout.

use super::place::{ONE, Place, Sample, TWO};
use super::{Situation, done};
use crate::support::{Kind, container_status, is_ready};

const V1: &[(&str, &str)] = &[("c1", "side:v1")];
const V2: &[(&str, &str)] = &[("c1", "side:v2")];

fn canary(place: &Place<'_>) {
    place.run("apply WEB c1=:v2 --canary 1 --min-ready-seconds 0 --yes", 0);
}

const fn replaced(situation: Situation) -> Situation {
    Situation { replaces: true, ..situation }
}

pub(super) const WRITERS: &[Situation] = &[
    done(
        "drifted",
        TWO,
        |place| {
            place.kubectl(&format!("set image {} c1=REGISTRY/side:v2", place.a_pod()));
            // A pod that is being updated is left to the run that updates it.
            place.namespace.wait_pods("app=web", |pods| {
                pods.iter().any(|pod| container_status(pod, "c1")["restartCount"] == 1) && pods.iter().all(is_ready)
            });
            place.line("status")
        },
        V1,
    ),
    done(
        "pods-only",
        Sample::Owner(Kind::StatefulSet, 1),
        |place| {
            place.run("apply WEB c1=:v2 --pods-only --yes --min-ready-seconds 0", 0);
            place.line("status WEB")
        },
        V1,
    ),
    replaced(done(
        "set-image-in-the-middle",
        TWO,
        |place| {
            canary(place);
            place.kubectl("set image WEB c2=REGISTRY/side:v2");
            place.line("status")
        },
        &[("c2", "side:v2")],
    )),
    replaced(done(
        "set-env-in-the-middle",
        TWO,
        |place| {
            canary(place);
            place.kubectl("set env WEB A=b");
            place.line("resume WEB --min-ready-seconds 0")
        },
        &[],
    )),
    replaced(done(
        "restarted-in-the-middle",
        Sample::Owner(Kind::StatefulSet, 2),
        |place| {
            canary(place);
            place.kubectl("rollout restart WEB");
            place.line("status WEB")
        },
        V2,
    )),
    replaced(done(
        "deleted-pod",
        ONE,
        |place| {
            place.run("apply WEB c1=:v2 --pods-only --yes --min-ready-seconds 0", 0);
            place.kubectl(&format!("delete {}", place.a_pod()));
            place.namespace.wait_ready("app=web", 1);
            place.line("undo WEB --min-ready-seconds 0")
        },
        V1,
    )),
];
