//! An update that took the place of one that had failed, and was cut short itself: back is where the first of them began, and
//! one that goes there anyway is finished.

use super::faults::kill_at;
use super::{KINDS, Kind, Scene, Write, side_by_side};

const FIRST_POD: Write = Write::new("patch", "pods", 0);

/// Writes of the second update, of each kind.
fn moments(of_deployment: &[Write]) -> Vec<(Kind, Write)> {
    let of = |kind: Kind| match kind.plural {
        "deployments" => [of_deployment, &[FIRST_POD]].concat(),
        _ => vec![FIRST_POD],
    };
    KINDS.into_iter().flat_map(|kind| of(kind).into_iter().map(move |write| (kind, write))).collect()
}

/// The image cannot be pulled in the first pod.
fn failed(kind: Kind) -> Scene {
    let scene = Scene::new(kind);
    scene.run("apply", "side=acme/side:missing --pre-pull=never").ends_with(4);
    scene
}

/// Kept in the history, in the ReplicaSet, unpaused.
const STEPS: [Write; 3] = [
    Write::new("patch", "replicasets", 0),
    Write::new("patch", "replicasets", 1),
    Write::new("patch", "deployments", 1),
];

#[test]
fn one_that_goes_back_to_the_beginning_is_finished_by_abort() {
    side_by_side(moments(&STEPS), |(kind, write)| {
        let scene = failed(kind);
        kill_at(&scene, write, scene.typed("apply", "side=acme/side:v1 --pre-pull=never"));
        let what = format!("{} {write:?}", kind.typed);
        let output = scene.run("abort", "--pre-pull=never").ends_with(0);
        output.omits("another client").says("this update brings back what was there before");
        scene.is_settled("acme/side:v1", &what);
        scene.run("undo", "").prints("No changes").ends_with(0);
        scene.is_settled("acme/side:v1", &what);
    });
}

/// Its ReplicaSet may have what the first of them had brought, all the while.
#[test]
fn one_with_a_third_image_is_taken_back_though_the_way_back_is_cut_short_too() {
    let steps = [Write::new("create", "replicasets", 0), Write::new("patch", "replicasets", 0), STEPS[2]];
    side_by_side(moments(&steps), |(kind, write)| {
        let scene = failed(kind);
        kill_at(&scene, write, scene.typed("apply", "side=acme/side:v2 --pre-pull=never"));
        let again = if kind.plural == "deployments" { STEPS[0] } else { FIRST_POD };
        kill_at(&scene, again, scene.typed("abort", "--pre-pull=never"));
        scene.run("abort", "--pre-pull=never").ends_with(0).omits("another client");
        scene.is_settled("acme/side:v1", &format!("{} {write:?}", kind.typed));
    });
}

/// A rollout that has ended leaves nothing to finish or to take back, whoever pauses the owner since.
#[test]
fn after_an_update_that_is_complete_nothing_is_left() {
    side_by_side(KINDS.to_vec(), |kind| {
        let scene = Scene::new(kind);
        scene.apply("acme/side:v2").ends_with(0);
        scene
            .run("abort", "--take-over")
            .ends_with(0)
            .says(&format!("Roll back what is complete: kubectl inplace undo {}/w ", scene.singular()))
            .says("no rollout of kubectl-inplace is in progress or unfinished");
        scene
            .run("resume", "--take-over")
            .ends_with(0)
            .says("no rollout of kubectl-inplace is in progress or unfinished");
        scene.is_settled("acme/side:v2", kind.typed);
        if kind.plural == "deployments" {
            scene.server.edit(kind.plural, "w", |owner| owner["spec"]["paused"] = true.into());
            super::ways_out::status(&scene).omits("held back").omits("--take-over");
        }
    });
}

/// What an update before has restarted is none of what this one has.
#[test]
fn a_container_that_was_not_reached_has_not_restarted() {
    side_by_side(KINDS.to_vec(), |kind| {
        let scene = Scene::new(kind);
        scene.run("apply", "app=acme/app:v3").ends_with(0);
        scene.run("undo", "").ends_with(0);
        let more = "side=acme/side:missing app=acme/app:v2 --container-order side,app --pre-pull=never";
        scene.run("apply", more).ends_with(4);
        scene.run("abort", "--pre-pull=never").ends_with(0).prints("side in 1 pod").omits("app in").omits("(app)");
        scene.is_settled("acme/side:v1", kind.typed);
    });
}
