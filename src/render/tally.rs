//! How many pods of a rollout ended where, and in words.

use serde::Serialize;

use engine::report::Outcome;
use engine::report::progress::{PodProgress, Stage};

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Tally {
    /// Done, and patched by this run.
    pub(super) updated: usize,
    /// Done without a patch of this run.
    pub(super) up_to_date: usize,
    /// Patched, and neither done nor failed.
    pub(super) in_progress: usize,
    /// Left to the kubelet, which has put it off.
    pub(super) left_to_kubelet: usize,
    /// Followed, not done, and nobody has changed it.
    #[serde(skip)]
    pub(super) unchanged: usize,
    pub(super) failed: usize,
    pub(super) conflict: usize,
    pub(super) gone: usize,
    /// In documents it follows what else is said of pods that are gone.
    #[serde(skip)]
    pub(super) not_started: usize,
    /// This run changed them, however they ended.
    #[serde(skip)]
    pub(super) patched: usize,
}

/// What a run does with its pods.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Course {
    Forward,
    Back,
    Followed,
}

impl Tally {
    pub(super) fn of(outcome: &Outcome) -> Self {
        let mut tally = Self::default();
        for pod in &outcome.pods {
            tally.patched += usize::from(pod.patched);
            let counter = match (pod.phase.stage(), pod.patched) {
                (Stage::Done, true) => &mut tally.updated,
                (Stage::Done, false) => &mut tally.up_to_date,
                (Stage::Left, _) => &mut tally.left_to_kubelet,
                (Stage::Failed, _) => &mut tally.failed,
                (Stage::Lost, _)
                    if matches!(pod.phase, PodProgress::Conflict { .. } | PodProgress::Overtaken { .. }) =>
                {
                    &mut tally.conflict
                }
                (Stage::Lost, _) => &mut tally.gone,
                (Stage::Waiting | Stage::InProgress, false) if pod.phase.is_before_any_change() => {
                    &mut tally.not_started
                }
                (Stage::InProgress, false) if pod.unchanged => &mut tally.unchanged,
                (Stage::Waiting | Stage::InProgress, _) => &mut tally.in_progress,
            };
            *counter += 1;
        }
        tally
    }

    /// Says what there is of it; of pods that are only followed, or go back, in other words.
    pub(super) fn words(&self, course: Course) -> String {
        let (updated, up_to_date, not_started) = match course {
            Course::Forward => ("updated", "up to date", "not started"),
            Course::Back => ("taken back", "as before", "not taken back"),
            Course::Followed => ("done", "done", "waiting"),
        };
        let counts = [
            (self.updated, updated),
            (self.up_to_date, up_to_date),
            (self.in_progress, "in progress"),
            (self.unchanged, "unchanged"),
            (self.left_to_kubelet, "left to the kubelet"),
            (self.failed, "failed"),
            (self.conflict, "changed outside this run"),
            (self.gone, "gone"),
            (self.not_started, not_started),
        ];
        let counts = counts.into_iter().filter(|(number, _)| *number > 0);
        counts.map(|(number, word)| format!("{number} {word}")).collect::<Vec<_>>().join(", ")
    }
}
