//! What a run has left behind: killed, paused, its lock removed.

use super::place::{ONE, Place, Sample, TWO};
use super::{Situation, done};
use crate::support::{Kind, Moment};

const V1: &[(&str, &str)] = &[("c1", "side:v1")];
const V2: &[(&str, &str)] = &[("c1", "side:v2")];

/// Without a pod that pulls, the first write is the owner's wherever the image is.
fn killed(place: &Place<'_>, number: usize, moment: Moment) {
    let reference = place.reference();
    let apply = ["apply", &reference, "c1=:v2", "--yes", "--min-ready-seconds", "0", "--pre-pull", "never"];
    place.killed(&apply, number, moment);
}

fn canary(place: &Place<'_>) {
    place.run("apply WEB c1=:v2 --canary 1 --min-ready-seconds 0 --yes", 0);
}

pub(super) const KILLED: &[Situation] = &[
    done(
        "killed-at-first",
        TWO,
        |place| {
            killed(place, 1, Moment::After);
            place.line("status")
        },
        V2,
    ),
    done(
        "killed-while-it-pulls",
        ONE,
        |place| {
            let apply = ["apply", "deployment/web", "c1=:v2", "--yes", "--pre-pull", "always"];
            place.killed(&apply, 1, Moment::After);
            place.line("status")
        },
        V1,
    ),
    done(
        "killed-at-a-revision",
        TWO,
        |place| {
            killed(place, 3, Moment::Before);
            place.line("apply WEB c1=:v2 --min-ready-seconds 0")
        },
        V2,
    ),
    done(
        "killed-at-a-pod",
        TWO,
        |place| {
            killed(place, 5, Moment::After);
            place.line("plan WEB c2=:v2 --min-ready-seconds 0")
        },
        V2,
    ),
    done(
        "killed-and-undone",
        TWO,
        |place| {
            killed(place, 5, Moment::After);
            place.line("undo WEB --min-ready-seconds 0")
        },
        V1,
    ),
    done(
        "killed-statefulset",
        Sample::Owner(Kind::StatefulSet, 2),
        |place| {
            killed(place, 2, Moment::After);
            place.line("status WEB")
        },
        V2,
    ),
    done(
        "killed-daemonset",
        Sample::Owner(Kind::DaemonSet, 1),
        |place| {
            killed(place, 2, Moment::Before);
            place.line("status WEB")
        },
        V2,
    ),
];

pub(super) const LOCKED: &[Situation] = &[
    done(
        "paused-by-canary",
        TWO,
        |place| {
            canary(place);
            place.line("restart WEB -c c2 --min-ready-seconds 0")
        },
        V2,
    ),
    done(
        "lock-removed",
        TWO,
        |place| {
            canary(place);
            place.kubectl("annotate WEB kubectl-inplace.io/rollout-");
            place.line("status")
        },
        V2,
    ),
    done(
        "lock-removed-in-pause",
        TWO,
        |place| {
            killed(place, 2, Moment::After);
            place.kubectl("annotate WEB kubectl-inplace.io/rollout-");
            place.line("status")
        },
        V2,
    ),
    done(
        "lock-unreadable",
        Sample::Owner(Kind::StatefulSet, 2),
        |place| {
            canary(place);
            place.kubectl("annotate --overwrite WEB kubectl-inplace.io/rollout=garbage");
            place.line("plan WEB c2=:v2 --min-ready-seconds 0")
        },
        V2,
    ),
    done(
        "another-run-at-work",
        TWO,
        |place| {
            place.start("apply WEB c1=:v2 --yes --min-ready-seconds 2");
            place.line("apply WEB c2=:v2")
        },
        &[("c1", "side:v2"), ("c2", "side:v2")],
    ),
    done(
        "resume-while-at-work",
        ONE,
        |place| {
            place.start("apply WEB c1=:v2 --yes --min-ready-seconds 3");
            place.line("resume WEB")
        },
        V2,
    ),
];
