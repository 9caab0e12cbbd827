//! What pods keep of a way back, said before it begins.

use super::Shell;
use engine::change::{FieldChanges, FieldEffect, Row, resizing};
use engine::plan::LiveWorkload;
use engine::rollout::Goal;

/// Says what goes back in the template alone.
pub(super) fn say_what_pods_keep(live: &LiveWorkload, fields: &FieldChanges, shell: &Shell) {
    let workload = &live.workload.reference;
    let kept: Vec<Row> = fields.rows().into_iter().filter(|row| row.effect == FieldEffect::LaterPods).collect();
    for Row { what, before, after, .. } in &kept {
        let note = match (before, after) {
            (Some(before), Some(after)) => {
                format!("{workload}: pods that have {what} {before} keep it; the template has {after}")
            }
            (_, _) => format!("{workload}: pods that have the {what} keep it; the template no longer has it"),
        };
        shell.note(&note);
    }
    let at_work = || live.pods.iter().find_map(|pod| Some((&pod.key.name, resizing(pod)?)));
    if fields.resources.is_kept_by_pods()
        && let Some((pod, progress)) = at_work()
    {
        let why = progress.why().map_or_else(String::new, |why| format!(": {why}"));
        shell.note(&format!(
            "{workload}: what pods keep is not given to all of them yet, such as pod/{pod}{why}; apply another value (--requests, --limits) to end that"
        ));
    }
}

/// The same where only pods go back, and nothing else records what they had.
pub(super) fn say_what_stays(live: &LiveWorkload, undone: &FieldChanges, shell: &Shell) {
    let rows = undone.reversed().rows().into_iter().filter(|row| row.effect == FieldEffect::LaterPods);
    for Row { what, .. } in rows {
        shell.note(&format!("{}: the {what} stays: it cannot be removed from a running pod", live.workload.reference));
    }
}

/// The same of a way back.
pub(super) fn say_what_goes_back_keeps(live: &LiveWorkload, goal: &Goal, shell: &Shell) {
    if let Some(owner) = &goal.owner {
        say_what_pods_keep(live, &owner.lock.directed().fields, shell);
    }
}
