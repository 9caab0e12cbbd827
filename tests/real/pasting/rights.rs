//! Callers without permission, and those that do not even reach the server.

use super::place::ONE;
use super::{Situation, cannot, done};

const V1: &[(&str, &str)] = &[("c1", "side:v1")];
const V2: &[(&str, &str)] = &[("c1", "side:v2")];

const fn given(situation: Situation) -> Situation {
    Situation { account: true, ..situation }
}

pub(super) const SERVER: &[Situation] = &[
    Situation {
        session: "unset KUBECONFIG",
        ..cannot(
            "no-kubeconfig",
            ONE,
            |place| place.line("plan WEB c1=:v2"),
            1,
            &["no kubeconfig found", "set KUBECONFIG"],
        )
    },
    cannot("unreachable", ONE, |place| place.line("plan WEB c1=:v2 --server https://127.0.0.1:1"), 1, &["127.0.0.1:1"]),
    cannot(
        "slip-context",
        ONE,
        |place| place.line("plan WEB c1=:v2 --context nope"),
        1,
        &["context \"nope\" does not exist"],
    ),
    Situation {
        session: "export KUBECONFIG=nowhere.yaml",
        ..cannot("kubeconfig-missing", ONE, |place| place.line("status"), 1, &["nowhere.yaml"])
    },
];

pub(super) const PERMISSIONS: &[Situation] = &[
    cannot(
        "no-rights",
        ONE,
        |place| place.as_bot("plan WEB c1=:v2"),
        1,
        &["Error from server (Forbidden)", "cannot get resource"],
    ),
    given(done(
        "reads-only-plan",
        ONE,
        |place| {
            place.reads_only();
            place.as_bot("plan WEB c1=:v2 --min-ready-seconds 0")
        },
        V2,
    )),
    given(done(
        "reads-only-apply",
        ONE,
        |place| {
            place.reads_only();
            place.as_bot("apply WEB c1=:v2 --min-ready-seconds 0")
        },
        V2,
    )),
    given(done(
        "rbac-check",
        ONE,
        |place| {
            place.reads_only();
            place.as_bot("rbac apply deployment --check")
        },
        V1,
    )),
];
