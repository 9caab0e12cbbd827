//! Rollouts that fail, and what the reader finds printed then.

use super::place::{ONE, Sample, TWO};
use super::{Situation, cannot, done};
use crate::support::Kind;

const V1: &[(&str, &str)] = &[("c1", "side:v1")];
const V2: &[(&str, &str)] = &[("c1", "side:v2")];

/// `side:v3` never becomes ready.
const PROBE: &str = "readinessProbe: {exec: {command: [sh, -c, '[ $VERSION != side-v3 ]']}, periodSeconds: 1}";

pub(super) const FAILED: &[Situation] = &[
    cannot(
        "missing-image",
        ONE,
        |place| place.line("apply WEB c1=:nope"),
        4,
        &["not found", "This run changed nothing"],
    ),
    done("missing-image-unseen", TWO, |place| place.line("apply WEB c1=:nope --pre-pull never"), V1),
    done(
        "missing-image-resumed",
        TWO,
        |place| {
            place.run("apply WEB c1=:nope --pre-pull never --yes", 4);
            place.line("resume WEB")
        },
        V1,
    ),
    done("crash", ONE, |place| place.line("apply WEB c1=REGISTRY/app:crash --min-ready-seconds 15"), V1),
    done(
        "not-ready",
        Sample::WithFields(Kind::Deployment, 1, PROBE),
        |place| {
            place.run("apply WEB c1=:v3 --total-timeout 15s --min-ready-seconds 0 --yes", 5);
            place.line("abort WEB --min-ready-seconds 0")
        },
        V1,
    ),
    done("too-little-time", ONE, |place| place.line("apply WEB c1=:v2 --timeout 8s --min-ready-seconds 20"), V2),
    cannot(
        "undone-at-once",
        Sample::Owner(Kind::StatefulSet, 1),
        |place| place.line("apply WEB c1=:nope --pre-pull never --on-failure undo"),
        4,
        &["not found"],
    ),
    done(
        "found-failed",
        Sample::Owner(Kind::DaemonSet, 1),
        |place| {
            place.run("apply WEB c1=:nope --pre-pull never --yes", 4);
            place.line("status")
        },
        V1,
    ),
    done(
        "failed-pods-only",
        Sample::Pod,
        |place| place.line("apply WEB side=:nope --pre-pull never"),
        &[("side", "side:v1")],
    ),
];
