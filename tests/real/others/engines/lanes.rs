//! Random changes of a manifest, as many workloads side by side, on simulated pods or on those of a real node.
//!
//! `OTHERS_CHANGES=60` for as many of them, `OTHERS_SEED` for others, and `OTHERS_NODE=node-1` for pods that a kubelet runs.

use std::env;

use serde_json::{Value, json};

use super::super::forecast::{change, number, workload};
use super::Engine;
use crate::hand_over::{first, next_apply, state};
use crate::support::{Api, Kind, Namespace, Random, SimulatedNode, registry, side_by_side};

/// A Deployment of three pods with all that a random change changes.
fn deployment(nodes: &[&str]) -> Value {
    let mut object = workload(Kind::CloneSet, nodes);
    (object["apiVersion"], object["kind"]) = ("apps/v1".into(), "Deployment".into());
    // The tests' images have a shell, and no more.
    let nothing = json!(["sh", "-c", ":"]);
    let pods = &mut object["spec"]["template"]["spec"];
    pods["initContainers"][0]["command"] = nothing.clone();
    pods["containers"][0]["readinessProbe"] = json!({"exec": {"command": nothing}});
    let spec = object["spec"].as_object_mut().expect("there is one");
    spec.shift_remove("updateStrategy");
    spec.insert("strategy".into(), json!({"rollingUpdate": {"maxSurge": 3, "maxUnavailable": "100%"}}));
    object
}

/// How the changes of a lane ended: in place, left, and without going first; of what is edited: the same template, another
/// one, and a conflict.
type Tally = [usize; 3];

/// What somebody does by hand: kubectl is then the manager of a field.
fn edit(namespace: &Namespace, random: &mut Random) {
    let image = format!("{}/side:v{}", registry(), 1 + random.below(3));
    let template = match random.below(3) {
        0 => json!({"metadata": {"annotations": {"by-hand": random.below(3).to_string()}}}),
        1 => json!({"metadata": {"labels": {"free": random.below(3).to_string()}}}),
        _ => json!({"spec": {"containers": [{"name": "side", "image": image}]}}),
    };
    let patch = json!({"spec": {"template": template}}).to_string();
    let manager = random.pick(&["--field-manager=kubectl-edit", "--field-manager=someone"]);
    namespace.kubectl(&["patch", "deployment/web", manager, "-p", &patch]);
}

/// What an engine does with a change of a workload that somebody has edited is as was foretold, a conflict too.
fn edited_lane<E: Engine>(
    namespace: &Namespace,
    engine: &E,
    nodes: &[&str],
    (name, seed, changes): (&str, u64, u64),
) -> Tally {
    let (mut random, mut object, mut tally) = (Random::new(seed), deployment(nodes), Tally::default());
    engine.apply(namespace, &object.to_string());
    for index in 0..changes {
        let ways = change(&mut object, &mut random);
        let manifest = object.to_string();
        state(namespace);
        edit(namespace, &mut random);
        state(namespace);
        let went = if random.one_in(2) { None } else { Some(first(namespace, &manifest)) };
        let foretold = next_apply(namespace, &manifest);
        let between = state(namespace);
        let is_done = engine.apply_unless_conflict(namespace, &manifest);
        let after = state(namespace);
        let context =
            format!("{name}, OTHERS_SEED={seed}, edited change {index}, {ways:?}: {foretold}\n{went:#?}\n{manifest}");
        assert_eq!(foretold["result"] != "conflict", is_done, "{context}");
        assert!(!is_done || (foretold["result"] == "unchanged") == (between.0 == after.0), "{context}");
        assert!(between.0 != after.0 || between.1 == after.1, "{context}");
        let at = if !is_done { 2 } else { usize::from(between.0 != after.0) };
        tally[at] += 1;
        if !is_done {
            let released = namespace.inplace(&["release-fields", "deployment/web", "--yes"]);
            assert_eq!(released.code, 0, "{context}\n{released:#?}");
            engine.apply(namespace, &manifest);
        }
    }
    tally
}

/// Whatever the change: once it went first, the engine changes nothing and replaces no pod; what it does of the others is as
/// was foretold.
fn lane<E: Engine>(
    namespace: &Namespace,
    engine: &E,
    nodes: &[&str],
    (name, seed, changes): (&str, u64, u64),
) -> Tally {
    let (mut random, mut object, mut tally) = (Random::new(seed), deployment(nodes), Tally::default());
    assert_eq!(first(namespace, &object.to_string()).0, "absent");
    engine.apply(namespace, &object.to_string());
    for index in 0..changes {
        let ways = change(&mut object, &mut random);
        let manifest = object.to_string();
        let before = state(namespace);
        // Some reach the engine alone: of them too it is foretold.
        let went = if random.one_in(5) { None } else { Some(first(namespace, &manifest)) };
        let foretold = next_apply(namespace, &manifest);
        let between = state(namespace);
        engine.apply(namespace, &manifest);
        let after = state(namespace);
        let context =
            format!("{name}, OTHERS_SEED={seed}, change {index}, {ways:?}: {foretold}\n{went:#?}\n{manifest}");
        assert_eq!(before.1, between.1, "{context}");
        assert_eq!(foretold["result"] == "unchanged", between.0 == after.0, "{context}");
        assert!(between.0 != after.0 || between.1 == after.1, "{context}");
        match went.map(|(handed_over, _)| handed_over) {
            Some(word) if word == "inPlace" => {
                assert_eq!(between, after, "{context}");
                tally[0] += 1;
            }
            Some(word) => {
                assert_eq!((word.as_str(), &before), (Some("left"), &between), "{context}");
                tally[1] += 1;
            }
            None => tally[2] += 1,
        }
    }
    tally
}

pub(super) fn random_changes<E: Engine>(name: &str, engine: impl Fn(&Namespace) -> E + Sync) {
    let [in_place, left, alone] = in_lanes(name, engine, lane);
    eprintln!("{name}: {in_place} in place, {left} left, {alone} without going first");
    assert!(in_place > 0 && left > 0);
}

pub(super) fn random_changes_of_what_is_edited<E: Engine>(name: &str, engine: impl Fn(&Namespace) -> E + Sync) {
    let [same, changed, conflicts] = in_lanes(name, engine, edited_lane);
    eprintln!("{name}, edited: {same} templates the same, {changed} changed, {conflicts} conflicts");
    assert!(same > 0 && changed > 0);
}

type Lane<E> = fn(&Namespace, &E, &[&str], (&str, u64, u64)) -> Tally;

/// On simulated pods, or on those of a real node.
fn in_lanes<E: Engine>(name: &str, engine: impl Fn(&Namespace) -> E + Sync, lane: Lane<E>) -> Tally {
    const LANES: u64 = 3;
    let api = Api::open();
    let (changes, seed) = (number("OTHERS_CHANGES").unwrap_or(12), number("OTHERS_SEED").unwrap_or(1));
    let here = Namespace::new(&format!("engine-{name}"));
    let real = env::var("OTHERS_NODE").ok();
    let start = |number: usize| SimulatedNode::start(&api, &format!("{}-{number}", here.name()), "v1.36.3");
    let simulated: Vec<_> = if real.is_some() { Vec::new() } else { (1..=2).filter_map(start).collect() };
    let nodes: Vec<&str> = simulated.iter().map(SimulatedNode::name).chain(real.as_deref()).collect();
    let tallies = side_by_side(usize::try_from(LANES).unwrap_or(1), 0..LANES, |number| {
        let namespace = Namespace::new(&format!("engine-{name}-{number}"));
        let engine = engine(&namespace);
        lane(&namespace, &engine, &nodes, (name, seed + number, changes.div_ceil(LANES)))
    });
    [0, 1, 2].map(|at| tallies.iter().map(|tally| tally[at]).sum())
}
