//! The API server and the controller-manager are gone for a while in the middle of durable rollouts: they finish.
//!
//! These tests take away what all others rest on: they run alone, one after the other.

use std::thread::sleep;
use std::time::Duration;

use crate::support::{Alone, Api, Kind, Namespace, Owner, Running, restarted};

/// How long a server is away: longer than any request's first repetitions.
const AWAY: Duration = Duration::from_secs(3);

/// Starts a rollout of each kind, takes the server away while the first pods are under way, and brings it back.
fn taken_away(server: &str) {
    let Some(alone) = Alone::wait() else { return };
    let api = Api::open();
    let kinds = [Kind::Deployment, Kind::StatefulSet, Kind::DaemonSet];
    let namespaces = kinds.map(|kind| Namespace::beside(&alone, &format!("away-{server}-{}", kind.word())));
    let owners: Vec<Owner<'_>> =
        namespaces.iter().zip(kinds).map(|(namespace, kind)| Owner::new(namespace, &api, kind, (2, 2), "")).collect();
    let mut running: Vec<Running> = namespaces
        .iter()
        .zip(&owners)
        .map(|(namespace, owner)| {
            let arguments = ["c1=:v2", "--yes", "--min-ready-seconds", "1", "--timeout", "90s"];
            namespace.inplace_spawn(&[["apply", &owner.reference()].as_slice(), &arguments].concat())
        })
        .collect();
    running.iter_mut().for_each(|running| running.wait_for("c1 restarting"));
    let stopped = alone.stop(server);
    sleep(AWAY);
    drop(stopped);
    for (running, owner) in running.into_iter().zip(&owners) {
        let output = running.wait();
        assert_eq!(output.code, 0, "{output:#?}");
        owner.wait_settled_or(&format!("{output:#?}"));
        assert_eq!(owner.tag("c1"), "side:v2");
        assert_eq!(restarted(&owner.before, &owner.pods()).len(), owner.before.len(), "{output:#?}");
    }
}

#[test]
fn rollouts_finish_without_the_controllers_for_a_while() {
    taken_away("controller-manager");
}

#[test]
fn rollouts_finish_without_the_api_server_for_a_while() {
    taken_away("apiserver");
}
