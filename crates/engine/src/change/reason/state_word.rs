//! The words in which `plan`, a rollout, `status` and `history` give a state, and what each means.
//!
//! Every word that a document's schema lists as a state is here: a test of `tests/it/schemas.rs` holds that.

use super::other_word::OTHER_WORDS;
use super::word::{StateWord, word};
use crate::value::suggest;

const POD: &str = "the state of a pod, in status";
const CONTAINER: &str = "the state of a container, in status";
const IMAGE: &str = "the state of a container's image compared with the one that is asked for, in status";
const OWNER: &str = "the state of a workload's controller, in status";
const ROLLOUT: &str = "the state of a rollout that holds a workload, in status and history";
const RUN: &str = "the state of the run that carries a rollout out, in status";
const RESIZE: &str = "the state of a pod's resize, in status";
const PHASE: &str = "the state of a pod, during a rollout";
const UPDATE: &str = "the state of an update, in history";
const VERDICT: &str = "the state of a workload, in a plan";
const POD_VERDICT: &str = "the state of a pod, in a plan";

const WAIT: &str = "wait: kubectl inplace follow TYPE/NAME says when it is done";
const GO_ON: &str = "resume or abort it, with the commands that status shows";

/// Every word; one with several meanings is listed several times.
pub const STATE_WORDS: &[StateWord] = &[
    // The state of a pod: the first of these that is so.
    word("terminating", POD, "it is being deleted", ""),
    word("terminating", OWNER, "the workload is being deleted", ""),
    word("finished", POD, "it has completed, and its containers are not started again", ""),
    word(
        "failed",
        POD,
        "one of its containers has failed",
        "see the container's reason, then undo or set another image",
    ),
    word(
        "failed",
        CONTAINER,
        "it does not start, or does not stay, and nothing but another patch, or what the reason names, heals it",
        "see its reason: kubectl inplace explain REASON",
    ),
    word("updating", POD, "one of its containers does not run yet what the pod asks for", WAIT),
    word("updating", CONTAINER, "its image was changed, and the kubelet has not started it with that image yet", WAIT),
    word(
        "notReady",
        POD,
        "it is not ready: a container is not, or a readiness gate is off",
        "kubectl describe pod says which",
    ),
    word(
        "justRestarted",
        POD,
        "it is ready, but a container of it has ended since it was changed and runs again for less than 20 seconds",
        "look again in a moment, and at the log of the run before: kubectl logs --previous",
    ),
    word("resizing", POD, "it asks for other cpu or memory, and the kubelet has not given them to it yet", WAIT),
    word("deferred", POD, "its resize waits until there is room on its node", "make room on the node, or ask for less"),
    word(
        "justRestarted",
        CONTAINER,
        "it has ended since it was changed and runs again for less than 20 seconds, so that whether it stays is not known",
        "look again in a moment, and at the log of the run before: kubectl logs --previous",
    ),
    word(
        "pending",
        POD,
        "the rollout that holds the workload has not come to this pod yet",
        "nothing while the rollout is running; else resume or abort it",
    ),
    word(
        "pending",
        IMAGE,
        "the rollout that holds the workload has not come to this pod yet",
        "nothing while the rollout is running; else resume or abort it",
    ),
    word(
        "older",
        POD,
        "it was made from an older template, or the workload's controller is about to replace it",
        "let the controller finish: kubectl rollout status",
    ),
    word(
        "older",
        IMAGE,
        "the pod was made from an older template or is on its way out, or the workload's controller is about to replace it",
        "let the controller finish: kubectl rollout status",
    ),
    word(
        "drifted",
        POD,
        "it asks for another image than the template, or for other cpu or memory",
        "make it durable with apply, or go back with undo",
    ),
    word(
        "drifted",
        IMAGE,
        "the pod asks for another image than the template, and nothing is going to change that",
        "make it durable with apply, or go back with undo",
    ),
    word(
        "unverified",
        POD,
        "it is ready, but one look cannot tell whether a container runs the image that is asked for",
        "restart the container in place to be sure",
    ),
    word(
        "unverified",
        CONTAINER,
        "it runs, and one look cannot tell whether of the image that is asked for",
        "restart it in place to be sure",
    ),
    word("unverified", PHASE, "it is ready, but nothing proves yet that the container is another one", WAIT),
    word("ready", POD, "it is ready and runs what is asked for", ""),
    word("ready", CONTAINER, "it runs, and its probes pass", ""),
    // A container.
    word("running", CONTAINER, "it runs, and is not ready", "kubectl describe pod says which probe fails"),
    word(
        "starting",
        CONTAINER,
        "it does not run yet, or not again yet; its image has not changed, or has run before",
        "",
    ),
    word("ended", CONTAINER, "it has ended, as a plain init container does", ""),
    // An image.
    word("same", IMAGE, "they are the same", ""),
    word("pinned", IMAGE, "it is the same tag, held at the digest that runs: a restart in place has done that", ""),
    word("rewritten", IMAGE, "admission makes it of the template's image when a pod is created: no drift", ""),
    word("injected", IMAGE, "the template has no such container: it was injected when the pod was made", ""),
    word("own", IMAGE, "the pod has no owner, and is its own template", ""),
    // A workload's controller.
    word(
        "notObserved",
        OWNER,
        "it has not observed the latest spec",
        "wait a moment; if it stays so, look at the controller manager",
    ),
    word("rollingOut", OWNER, "it is replacing pods", "wait: kubectl rollout status"),
    word(
        "paused",
        OWNER,
        "somebody has paused its rollouts",
        "if nobody needs the pause, kubectl rollout resume; it replaces every pod that does not have the template, see status",
    ),
    word(
        "onDelete",
        OWNER,
        "its update strategy is OnDelete, so that pods get a new template only when they are re-created",
        "",
    ),
    word(
        "leftRevision",
        OWNER,
        "a ReplicaSet without pods is left of a rollout that was rolled back, in kubectl rollout history",
        "delete it: kubectl inplace abort TYPE/NAME",
    ),
    word(
        "disruptionBudget",
        OWNER,
        "a PodDisruptionBudget allows none of the pods to be down that the rollout has still to restart",
        "see why in its message; resume --disruption-budget=ignore goes on without asking it",
    ),
    word("stuck", OWNER, "it reports that it is not progressing", "see its reason and message"),
    // A rollout, and its active run.
    word(
        "running",
        ROLLOUT,
        "a run is at work on it, or was killed",
        "see whether its run is alive; if it is not, resume or abort",
    ),
    word("stopped", ROLLOUT, "it ended before it was complete", GO_ON),
    word("paused", ROLLOUT, "it stopped where it was asked to", GO_ON),
    word("ended", RUN, "it has ended", GO_ON),
    word(
        "alive",
        RUN,
        "it has given a sign of life within 30 seconds",
        "leave it alone, or take over with resume --take-over",
    ),
    word("gone", RUN, "its process has ended", GO_ON),
    word("silent", RUN, "there was no sign of life for more than 30 seconds: it is probably gone", GO_ON),
    word(
        "stalled",
        RUN,
        "its process is there, on this machine, and it gave no sign of life for more than 30 seconds: it is stopped, or stuck",
        GO_ON,
    ),
    word("unknown", RUN, "it is not known whether it is active", "ask whoever began it"),
    // A pod during a rollout.
    word("waiting", PHASE, "it is not its turn yet", ""),
    word("hook", PHASE, "the command of --before-pod or --after-pod runs", ""),
    word("next", PHASE, "it is taken, and its containers are patched next", ""),
    word("draining", PHASE, "it is being taken out of its Services", ""),
    word("patched", PHASE, "the patch was sent, or accepted and not observed yet", ""),
    word("resizing", PHASE, "it asks for other cpu or memory, and the kubelet is at work on it", ""),
    word(
        "resizeDeferred",
        PHASE,
        "its node has no room for the resize now, and the kubelet tries again by itself",
        "make room on the node, or ask for less",
    ),
    word(
        "resizeLeft",
        PHASE,
        "everything but its resize is done, and that is left to the kubelet (--deferred=leave)",
        "make room on the node",
    ),
    word("restarting", PHASE, "it asks for the new image, and the container from before, or none, is there", ""),
    word("starting", PHASE, "the new container runs, and the pod is not ready yet", ""),
    word("stabilizing", PHASE, "it is ready, and must stay so for --min-ready-seconds", ""),
    word("rejoining", PHASE, "it is verified, and is being added back to its Services", ""),
    word("done", PHASE, "it is verified and ready", ""),
    word("failing", PHASE, "a container of it has failed", "see its reason: kubectl inplace explain REASON"),
    word(
        "conflict",
        PHASE,
        "another client has changed meanwhile what this changes",
        "see who, in its managedFields, then plan again",
    ),
    word(
        "gone",
        PHASE,
        "it was deleted, is being deleted, was relabelled so that the selector no longer selects it, or has another controller",
        "",
    ),
    // An update of the past.
    word("ended", UPDATE, "it has ended; the outcome says how", ""),
    word("inProgress", UPDATE, "it still holds the workload", GO_ON),
    word("unrecorded", UPDATE, "its lock or its history was removed: how it ended is not recorded", ""),
    word("podsOnly", UPDATE, "it changed pods alone; how it ended is not recorded", ""),
    // A plan.
    word("inPlace", VERDICT, "the change can be made in place", ""),
    word("inPlaceByController", VERDICT, "the workload's own controller makes the change in place", ""),
    word("nothingToDo", VERDICT, "every pod already runs it", ""),
    word("notEligible", VERDICT, "something cannot be done in place: the reasons say what", "see each reason's hint"),
    word("update", POD_VERDICT, "it would be updated", ""),
    word("inProgress", POD_VERDICT, "it asks for the image already, and that is not verified yet", WAIT),
    word("upToDate", POD_VERDICT, "it already runs it", ""),
    word("blocked", POD_VERDICT, "something blocks the update: the reasons say what", "see each reason's hint"),
    word(
        "skipped",
        POD_VERDICT,
        "it is left out: it was not asked for, is below the partition, is being deleted, or has ended",
        "",
    ),
    // A resize.
    word("inProgress", RESIZE, "the kubelet is at work on it", WAIT),
    word(
        "deferred",
        RESIZE,
        "its node has no room for it now, and the kubelet tries again by itself",
        "make room on the node, or ask for less",
    ),
    word("infeasible", RESIZE, "its node can never give that much", "ask for less"),
];

/// Brings a word into the form in which words are compared: `not ready` is `notReady`.
fn key(text: &str) -> String {
    text.chars().filter(char::is_ascii_alphanumeric).map(|c| c.to_ascii_lowercase()).collect()
}

/// Every word that is neither a code nor an exit code.
pub fn every_word() -> impl Iterator<Item = &'static StateWord> {
    STATE_WORDS.iter().chain(OTHER_WORDS)
}

/// Returns what a word means in each place, in the spelling of the terminal or of a document.
pub fn state_words(text: &str) -> Vec<StateWord> {
    let spoken = SPOKEN.iter().find(|(spoken, _)| key(spoken) == key(text));
    let word = key(spoken.map_or(text, |(_, word)| word));
    every_word().filter(|known| key(known.word) == word).copied().collect()
}

/// What screens say in other words than documents.
const SPOKEN: [(&str, &str); 11] = [
    ("restarts in place", "restart"),
    ("no restart", "inPlace"),
    ("rollout in progress", "inProgress"),
    ("NOT in place", "notEligible"),
    ("running, not ready", "notReady"),
    ("ready, unverified", "unverified"),
    ("running, unverified", "unverified"),
    ("of an older revision", "older"),
    ("drifted from the template", "drifted"),
    ("rewritten by admission", "rewritten"),
    ("resize deferred by the node", "deferred"),
];

/// Returns the word that may have been meant.
pub fn nearest_state(text: &str) -> Option<&'static str> {
    let keys: Vec<String> = every_word().map(|known| key(known.word)).collect();
    let nearest = suggest::closest(&key(text), keys.iter().map(String::as_str))?;
    every_word().map(|known| known.word).find(|word| key(word) == nearest)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_word_is_found_as_documents_and_as_screens_write_it() {
        for text in ["notReady", "not ready", "NOTREADY", "not-ready"] {
            assert_eq!(state_words(text).iter().map(|known| known.word).collect::<Vec<_>>(), ["notReady"], "{text}");
        }
        assert_eq!(state_words("pending").len(), 2);
        for (spoken, word) in SPOKEN {
            assert!(!state_words(spoken).is_empty() && state_words(spoken) == state_words(word), "{spoken}");
        }
        assert_eq!(nearest_state("pendng"), Some("pending"));
        assert_eq!(nearest_state("weather"), None);
    }

    #[test]
    fn no_word_stands_twice_for_the_same() {
        let mut seen = std::collections::BTreeSet::new();
        for known in every_word() {
            assert!(seen.insert((known.word, known.of)), "{} of {}", known.word, known.of);
            assert!(!known.meaning.ends_with('.') && !known.remedy.ends_with('.'), "{}", known.word);
        }
    }
}
