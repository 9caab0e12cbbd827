//! The API server and the controller-manager are gone for a while in the middle of a durable rollout: it finishes.
//!
//! These tests take away what all others rest on: they run alone, one after the other.

use std::thread::sleep;
use std::time::Duration;

use crate::support::{Alone, Kind, Namespace, Owner, restarted};

/// How long a server is away: longer than any request's first repetitions.
const AWAY: Duration = Duration::from_secs(4);

/// Starts a rollout, takes the server away while the first pod is under way, and brings it back.
fn taken_away(name: &str, server: &str, kind: Kind) {
    let Some(alone) = Alone::wait() else { return };
    let namespace = Namespace::beside(&alone, name);
    let gate = crate::support::Gate::open();
    let owner = Owner::new(&namespace, &gate.api, kind, (3, 2), "");
    let reference = owner.reference();
    let mut running = namespace.inplace_spawn(&[
        "apply",
        &reference,
        "c1=:v2",
        "--yes",
        "--min-ready-seconds",
        "1",
        "--timeout",
        "90s",
    ]);
    running.wait_for("c1 restarting");
    let stopped = alone.stop(server);
    sleep(AWAY);
    drop(stopped);
    let output = running.wait();
    assert_eq!(output.code, 0, "{output:#?}");
    owner.wait_settled_or(&format!("{output:#?}"));
    assert_eq!(owner.tag("c1"), "side:v2");
    assert_eq!(restarted(&owner.before, &owner.pods()).len(), 3, "{output:#?}");
}

#[test]
fn a_deployment_finishes_without_its_controller_for_a_while() {
    taken_away("away-controller-d", "controller-manager", Kind::Deployment);
}

#[test]
fn a_stateful_set_finishes_without_its_controller_for_a_while() {
    taken_away("away-controller-s", "controller-manager", Kind::StatefulSet);
}

#[test]
fn a_deployment_finishes_without_the_api_server_for_a_while() {
    taken_away("away-apiserver-d", "apiserver", Kind::Deployment);
}

#[test]
fn a_stateful_set_finishes_without_the_api_server_for_a_while() {
    taken_away("away-apiserver-s", "apiserver", Kind::StatefulSet);
}
