//! The ten commands of `docs/getting-started.md`: on the sandbox and on a real cluster they print the same, but for times and
//! generated names.

use super::transcript::{self, Part};

/// All that a command prints.
const WHOLE: &[Part] = &[];

/// Each block has one command, which ends with this code, and of which these parts are shown.
pub(crate) const SCENES: [(&str, i32, &[Part]); 10] = [
    ("first-status", 0, WHOLE),
    ("first-plan", 0, &[("deployment/web", "restarts in place"), ("No pod is replaced", "")]),
    ("first-apply", 0, &[("set the template", "")]),
    ("first-look", 0, WHOLE),
    ("first-history", 0, WHOLE),
    ("first-resize", 0, &[("deployment/web", "requests.cpu"), ("none of which", "")]),
    ("first-undo", 0, &[("note:", "requests.cpu"), ("Updated", "")]),
    ("first-failure", 4, &[("patch sent", "Failed after"), ("ErrImagePull: rpc", "ErrImagePull: rpc"), ("Pods:", "")]),
    ("first-trouble", 0, &[("deployment/web", "Resume"), ("POD", "side")]),
    ("first-abort", 0, &[("deployment/web: abort", "Pods:"), ("Rolled back", "")]),
];

/// Runs the commands one after the other, and compares what they print with the page. `run` types a line, and returns its exit
/// code and all that it prints; `names` are read in place of others.
pub(crate) fn check(run: impl Fn(&str) -> (i32, String), names: &[(&str, &str)]) {
    for (name, code, parts) in SCENES {
        let commands = transcript::commands(name);
        let [command] = commands.as_slice() else { panic!("{name} has one command: {commands:?}") };
        let (ended, printed) = run(command);
        assert_eq!(ended, code, "{command}: {printed}");
        transcript::check(name, &[transcript::shown(&printed, names, parts)]);
    }
}
