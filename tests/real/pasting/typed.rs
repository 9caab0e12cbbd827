//! What was typed with a slip, or not as it is meant.

use super::place::{ONE, Sample};
use super::{Situation, cannot, done};
use crate::support::Kind;

const V2: &[(&str, &str)] = &[("c1", "side:v2"), ("c2", "side:v1")];

pub(super) const SLIPS: &[Situation] = &[
    done("slip-command", ONE, |place| place.line("aply WEB c1=:v2 --min-ready-seconds 0"), V2),
    done(
        "other-tools-word",
        ONE,
        |place| {
            place.run("apply WEB c1=:v2 --min-ready-seconds 0 --yes", 0);
            place.line("rollback WEB --min-ready-seconds 0")
        },
        &[("c1", "side:v1")],
    ),
    done("slip-flag", ONE, |place| place.line("apply WEB c1=:v2 --min-redy-seconds 0"), V2),
    done("slip-container", ONE, |place| place.line("plan WEB c11=:v2 --min-ready-seconds 0"), V2),
    done("slip-kind", ONE, |place| place.line("plan deploymnt/web c1=:v2 --min-ready-seconds 0"), V2),
    done(
        "slip-name",
        Sample::Owner(Kind::StatefulSet, 1),
        |place| place.line("plan sts/wbe c1=:v2 --min-ready-seconds 0"),
        V2,
    ),
    done("no-type", ONE, |place| place.line("plan web c1=:v2 --min-ready-seconds 0"), V2),
    done("no-equals-sign", ONE, |place| place.line("plan WEB c1:v2 --min-ready-seconds 0"), V2),
    done("no-colon", ONE, |place| place.line("plan WEB c1=v2 --min-ready-seconds 0"), V2),
];

pub(super) const WRONG: &[Situation] = &[
    cannot(
        "slip-namespace",
        ONE,
        |place| format!("{}x", place.line("plan WEB c1=:v2")),
        1,
        &["Error from server (NotFound): namespaces", "not found"],
    ),
    cannot(
        "slip-image",
        ONE,
        |place| place.line("apply WEB c1=REGISTRY/sdie:v2"),
        4,
        &["REGISTRY/sdie:v2", "not found", "This run changed nothing"],
    ),
    cannot("no-image", ONE, |place| place.line("plan WEB"), 1, &["no image was given"]),
    cannot("empty-image", ONE, |place| place.line("plan WEB c1="), 1, &["image is empty"]),
    cannot("no-container", ONE, |place| place.line("restart WEB"), 1, &["none was named: c1, c2", "-c CONTAINER"]),
    cannot("no-such-pod", ONE, |place| place.line("apply WEB c1=:v2 --pods-only --pods nope"), 3, &["PodNotFound"]),
    cannot("undo-nothing", ONE, |place| place.line("undo WEB"), 1, &["no update in place is recorded"]),
    done("resume-nothing", ONE, |place| place.line("resume WEB"), &[("c1", "side:v1")]),
    cannot("not-a-kind", ONE, |place| place.line("plan service/web c1=:v2"), 1, &["kind"]),
];
