//! The API server and the controller-manager are gone for a while in the middle of durable rollouts: they finish.
//!
//! These tests take away what all others rest on: they run alone, one after the other.

use std::thread::sleep;
use std::time::Duration;

use crate::resize_among_others::{self, RESOURCES};
use crate::support::{Alone, Api, Fields, Kind, Namespace, Owner, Running, restarted};

/// How long a server is away: longer than any request's first repetitions.
const AWAY: Duration = Duration::from_secs(3);

/// What is asked for, when the server goes, and what is to be in the end, beside a template and pods that say the same.
struct Change {
    asked: &'static [&'static str],
    under_way: &'static str,
    is_done: fn(&Owner<'_>, &str),
}

const IMAGE: Change = Change {
    asked: &["c1=:v2"],
    under_way: "c1 restarting",
    is_done: |owner, context| {
        assert_eq!(owner.tag("c1"), "side:v2");
        assert_eq!(restarted(&owner.before, &owner.pods()).len(), owner.before.len(), "{context}");
    },
};

/// The first pod is done in no time: the server is away while the second is waited for, or asked.
const RESIZE: Change = Change {
    asked: &["-c", "c1", "--requests", "cpu=30m"],
    under_way: "done after",
    is_done: |owner, context| {
        resize_among_others::is_whole(owner, "30m", context);
        resize_among_others::same_containers(owner, context);
    },
};

/// Starts a rollout of each kind, takes the server away while the first pods are in progress, and brings it back.
fn taken_away(server: &str, what: &str, change: &Change) {
    let Some(alone) = Alone::wait() else { return };
    let api = Api::open();
    let kinds = [Kind::Deployment, Kind::StatefulSet, Kind::DaemonSet];
    let namespaces = kinds.map(|kind| Namespace::beside(&alone, &format!("{what}-{server}-{}", kind.word())));
    let owner = |(namespace, kind)| Owner::with((namespace, &api), kind, (2, 2), Fields::Container(RESOURCES));
    let owners: Vec<Owner<'_>> = namespaces.iter().zip(kinds).map(owner).collect();
    let mut running: Vec<Running> = namespaces
        .iter()
        .zip(&owners)
        .map(|(namespace, owner)| {
            let arguments = ["--yes", "--min-ready-seconds", "1", "--timeout", "90s"];
            namespace.inplace_spawn(&[["apply", &owner.reference()].as_slice(), change.asked, &arguments].concat())
        })
        .collect();
    running.iter_mut().for_each(|running| running.wait_for(change.under_way));
    let stopped = alone.stop(server);
    sleep(AWAY);
    drop(stopped);
    for (running, owner) in running.into_iter().zip(&owners) {
        let output = running.wait();
        assert_eq!(output.code, 0, "{output:#?}");
        owner.wait_settled_or(&format!("{output:#?}"));
        (change.is_done)(owner, &format!("{output:#?}"));
    }
}

#[test]
fn rollouts_finish_without_the_controllers_for_a_while() {
    taken_away("controller-manager", "image", &IMAGE);
}

#[test]
fn rollouts_finish_without_the_api_server_for_a_while() {
    taken_away("apiserver", "image", &IMAGE);
}

#[test]
fn resizes_finish_without_the_api_server_for_a_while() {
    taken_away("apiserver", "resize", &RESIZE);
}
