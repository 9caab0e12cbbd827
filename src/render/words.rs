//! Words that every renderer shares: counts, durations, and what a pod's phase is called.

use super::Out;
use std::io::{self, Write};
use std::time::Duration;

use unicode_width::UnicodeWidthStr;

use super::columns;
use super::style::{Meaning, Style};
use engine::change::reason::Reason;
use engine::k8s::failure::Failure;
use engine::k8s::names::{ContainerName, PodKey, WorkloadRef};
use engine::plan::WorkloadPlan;
use engine::report::hand_over::HandOver;
use engine::report::progress::{NOT_SCHEDULED, Stage, UpdatePhase};
use engine::rollout::{ContainerGoal, PodGoal};
use engine::state::hook::HookPhase;
use engine::state::outcome::EndResult;
use engine::value::duration;
use engine::value::hint::Hint;
use engine::value::image::ImagePair;

pub(super) use engine::value::count::count;

/// Returns things by what is said of them, in the order in which it was said first: the same is said once of all.
pub(super) fn said_once<N, T: PartialEq>(things: impl Iterator<Item = (N, T)>) -> Vec<(T, Vec<N>)> {
    let mut said: Vec<(T, Vec<N>)> = Vec::new();
    for (thing, what) in things {
        match said.iter_mut().find(|(known, _)| *known == what) {
            Some((_, things)) => things.push(thing),
            None => said.push((what, vec![thing])),
        }
    }
    said
}

/// Says how often a container was started again since an update, or where that is not counted, in all.
pub(super) fn restarts(since_update: Option<u64>, in_all: Option<i64>) -> Option<String> {
    let times = |times: u64| if times == 1 { "once".to_owned() } else { format!("{times} times") };
    let in_all = in_all.and_then(|times| u64::try_from(times).ok()).filter(|times| *times > 0);
    let in_all = || Some(format!("restarted {} in all", times(in_all?)));
    since_update
        .filter(|since| *since > 0)
        .map(|since| format!("restarted {} since the update", times(since)))
        .or_else(in_all)
}

/// Returns `4.1 s`, `2 min 5 s`, `1 h 3 min`.
pub(super) fn duration(duration: Duration) -> String {
    let tenths = (duration.as_millis() + 50) / 100;
    if tenths < 600 {
        return format!("{}.{} s", tenths / 10, tenths % 10);
    }
    whole_seconds(u64::try_from((duration.as_millis() + 500) / 1000).unwrap_or(u64::MAX))
}

/// Returns `40 s`, `2 min 5 s`, `1 h 3 min`.
pub(super) fn whole_seconds(seconds: u64) -> String {
    let (hours, minutes, rest) = (seconds / 3600, seconds / 60 % 60, seconds % 60);
    match (hours, minutes, rest) {
        (0, 0, _) => format!("{rest} s"),
        (0, _, 0) => format!("{minutes} min"),
        (0, _, _) => format!("{minutes} min {rest} s"),
        (_, 0, _) => format!("{hours} h"),
        (_, _, _) => format!("{hours} h {minutes} min"),
    }
}

pub(super) fn clock(time: &str) -> &str {
    time.get(11..19).unwrap_or(time)
}

/// Returns how long ago it was, as kubectl shows ages; the time itself where that is not known, or by clocks that differ.
pub(super) fn age(since: &str, now: &str) -> String {
    duration::ago(since, now).map_or_else(|| since.to_owned(), duration::human)
}

pub(super) fn from_seconds(seconds: f64) -> Duration {
    Duration::try_from_secs_f64(seconds).unwrap_or_default()
}

pub(super) fn sentence(text: &str) -> String {
    if text.ends_with(['.', '?', '!']) { text.to_owned() } else { format!("{text}.") }
}

/// Writes sentences, indented, and broken between words where the terminal is narrow.
pub(super) fn paragraph(text: &str, style: &Style, out: Out<'_>) -> io::Result<()> {
    writeln!(out, "{}", flowing(&format!("  {text}"), 2, style))
}

/// Before a line that [`in_lines`] keeps whole. Foreign text is escaped, so that it never has it.
const WHOLE: char = '\u{1}';

/// Writes a line that is not broken where the terminal ends: a table's.
pub(super) fn whole_line(line: &str, style: &Style, out: Out<'_>) -> io::Result<()> {
    match style.width {
        Some(_) => writeln!(out, "{WHOLE}{line}"),
        None => writeln!(out, "{line}"),
    }
}

/// Writes text for people: where the terminal is narrow, lines are broken between words, and go on below their text.
pub(super) fn in_lines(
    style: &Style,
    out: Out<'_>,
    write: impl FnOnce(&mut dyn Write) -> io::Result<()>,
) -> io::Result<()> {
    if style.width.is_none() {
        return write(out);
    }
    let mut text = Vec::new();
    write(&mut text)?;
    for line in String::from_utf8_lossy(&text).lines() {
        if let Some(whole) = line.strip_prefix(WHOLE) {
            writeln!(out, "{whole}")?;
            continue;
        }
        let shown = line.trim_start_matches(' ');
        // The output of a container is kept unchanged.
        let is_log = shown.starts_with("| ");
        let line = if is_log { line.to_owned() } else { flowing(line, line.len() - shown.len() + 2, style) };
        writeln!(out, "{line}")?;
    }
    Ok(())
}

/// Returns the text in lines that the terminal does not break, all but the first after `hang` blanks. Blanks at its
/// beginning and colours stay. A command stays whole, on a line of its own where it has to: what is copied from the
/// screen must not end halfway.
pub fn flowing(text: &str, hang: usize, style: &Style) -> String {
    let Some(width) = style.width.map(usize::from) else { return text.to_owned() };
    let words = text.trim_start_matches(' ');
    let own = text.len() - words.len();
    let mut flowing = " ".repeat(own);
    let (mut used, mut blanks) = (own, 0);
    for (index, word) in unbroken(words).into_iter().enumerate() {
        let columns = columns_of(&word);
        blanks += usize::from(index > 0);
        if columns == 0 {
            // One blank more between two words, and none at the end of a line.
        } else if index == 0 || used + blanks + columns <= width {
            flowing.push_str(&" ".repeat(blanks));
            used += std::mem::take(&mut blanks) + columns;
        } else {
            blanks = 0;
            flowing.push('\n');
            flowing.push_str(&" ".repeat(hang));
            used = hang + columns;
        }
        flowing.push_str(&word);
    }
    flowing
}

/// Whether two words are read as one: a number and its unit, and a code and its number.
fn are_one(last: &str, word: &str) -> bool {
    let (last, word) = (without_colour(last), without_colour(word));
    let last = last.rsplit(' ').next().unwrap_or_default();
    let is_unit = matches!(word.trim_end_matches(|mark: char| !mark.is_alphanumeric()), "s" | "ms" | "min" | "h");
    is_unit && last.ends_with(|digit: char| digit.is_ascii_digit())
        || last == "code" && word.starts_with(|digit: char| digit.is_ascii_digit())
}

/// Returns the words of a text, a command after a colon or in parentheses as one.
pub(super) fn unbroken(text: &str) -> Vec<String> {
    let mut words: Vec<String> = Vec::new();
    let (mut to_the_end, mut in_parentheses) = (false, false);
    for word in text.split(' ') {
        match words.last_mut() {
            Some(last) if to_the_end || in_parentheses || are_one(last, word) => {
                last.push(' ');
                last.push_str(word);
            }
            last => {
                to_the_end = word == "kubectl" && last.is_some_and(|last| without_colour(last).ends_with(':'));
                in_parentheses = word.starts_with("(kubectl");
                words.push(word.to_owned());
            }
        }
        in_parentheses &= !word.contains(')');
    }
    words
}

/// The text without the colours that were painted here: what was not written here has none.
pub(super) fn without_colour(text: &str) -> String {
    let mut parts = text.split('\u{1b}');
    let plain = parts.next().unwrap_or_default().to_owned();
    parts.fold(plain, |plain, part| plain + part.split_once('m').map_or("", |(_, rest)| rest))
}

fn columns_of(text: &str) -> usize {
    without_colour(text).width()
}

/// Returns whether a plan knows of no pods because the caller may not list them: another thing than none.
pub(super) fn pods_not_listed(plan: &WorkloadPlan) -> bool {
    let is_list_of_pods = |reason: &Reason| matches!(reason, Reason::PermissionMissing { verb, resource, .. } if verb == "list" && resource == "pods");
    plan.pods.is_empty() && plan.reasons.iter().any(is_list_of_pods)
}

pub(super) fn workload(style: &Style, workload: &WorkloadRef) -> String {
    style.show(&workload.to_string())
}

/// Returns a pod as it is named in a sentence about its workload.
pub(super) fn pod(style: &Style, workload: &WorkloadRef, pod: &PodKey) -> String {
    match workload.kind.spec().cluster_wide {
        true => style.show(&format!("{pod} ({})", pod.namespace)),
        false => style.show(&pod.to_string()),
    }
}

/// Returns a pod's name; of a workload that is in no namespace, with its own.
pub(super) fn pod_name(style: &Style, workload: &WorkloadRef, pod: &PodKey) -> String {
    match workload.kind.spec().cluster_wide {
        true => style.show(&format!("{}/{}", pod.namespace, pod.name)),
        false => style.show(&pod.name),
    }
}

/// Returns the namespace of an object as it follows its name; nothing where there is none.
pub(super) fn in_namespace(style: &Style, namespace: &str, (before, after): (&str, &str)) -> String {
    if namespace.is_empty() { String::new() } else { format!("{before}namespace {}{after}", style.show(namespace)) }
}

/// Returns `side: acme/side 1.27.1 -> 1.27.2`, escaped; both images whole where the repository changes.
pub(super) fn image_change(style: &Style, container: &ContainerName, pair: &ImagePair) -> String {
    let repository = pair.repository.as_ref().map(|name| format!("{} ", style.show(name))).unwrap_or_default();
    format!("{}: {repository}{} -> {}", style.show(container.as_str()), style.show(&pair.from), style.show(&pair.to))
}

/// Returns `side: 1.27.1 -> 1.27.2`, escaped; both images whole where the repository changes.
pub(super) fn version_change(style: &Style, container: &ContainerName, pair: &ImagePair) -> String {
    image_change(style, container, &ImagePair { repository: None, ..pair.clone() })
}

/// Returns the first items, comma-separated, and how many are left out.
pub(super) fn first_of(items: impl ExactSizeIterator<Item = String>, shown: usize) -> String {
    let left = items.len().saturating_sub(shown);
    let mut items: Vec<String> = items.take(shown).collect();
    if left > 0 {
        items.push(format!("and {left} more"));
    }
    items.join(", ")
}

/// Returns the containers that a phase is about, with what is wanted of them: of those that it names, and of those that the
/// rollout changes, only such as have not what is wanted already.
pub(super) fn changing<'a>(
    phase: &'a UpdatePhase,
    goal: &'a PodGoal,
) -> impl Iterator<Item = (&'a ContainerName, &'a ContainerGoal)> {
    let named = phase.late();
    let is_named = |name: &ContainerName| named.is_empty() || named.contains(name);
    let is_reported = |goal: &ContainerGoal| goal.to.is_some() || goal.by_resize || goal.asks.is_some();
    let wanted = || goal.containers.iter().filter(move |(name, goal)| is_named(name) && is_reported(goal));
    let has_it = |goal: &ContainerGoal| goal.from == goal.to && !goal.by_resize && goal.asks.is_none();
    let all_have_it = wanted().all(|(_, goal)| has_it(goal));
    wanted().filter(move |(_, goal)| all_have_it || !has_it(goal))
}

/// Returns the same, comma-separated. What is only followed names none.
fn containers(style: &Style, phase: &UpdatePhase, goal: Option<&PodGoal>) -> String {
    let changing = goal.into_iter().flat_map(|goal| changing(phase, goal)).map(|(name, _)| name);
    let own = phase.late();
    let mut names: Vec<&ContainerName> = changing.collect();
    if names.is_empty() {
        names = own.iter().collect();
    }
    first_of(names.into_iter().map(|name| style.show(name.as_str())), 4)
}

/// Returns `side requests.cpu`, and the kubelet's words to be put at the end.
fn resized(style: &Style, why: &Option<String>, goal: Option<&PodGoal>) -> (String, String) {
    let fields = goal.map(|goal| columns::names(&goal.fields.of_resize(), style).join(", ")).unwrap_or_default();
    (fields, why.as_ref().map(|why| format!(": {}", style.show(why))).unwrap_or_default())
}

fn put_off(style: &Style, (how, node): (&str, &str), why: &Option<String>, goal: Option<&PodGoal>) -> String {
    let (fields, why) = resized(style, why, goal);
    let of = if fields.is_empty() { String::new() } else { format!(" of {fields}") };
    format!("resize{of} {how} node {}{why}", style.show(node))
}

/// Returns the words of a phase, after the pod's name. `goal` has the containers.
pub(super) fn phase(style: &Style, phase: &UpdatePhase, goal: Option<&PodGoal>) -> (Meaning, String) {
    let meaning = match phase.stage() {
        Stage::Waiting => Meaning::Quiet,
        Stage::InProgress | Stage::Left => Meaning::Waiting,
        Stage::Done => Meaning::Ok,
        Stage::Failed | Stage::Lost => Meaning::Failing,
    };
    (meaning, said_of_phase(style, phase, goal))
}

fn said_of_phase(style: &Style, phase: &UpdatePhase, goal: Option<&PodGoal>) -> String {
    let containers = containers(style, phase, goal);
    let with = |text: &str| if containers.is_empty() { text.to_owned() } else { format!("{containers} {text}") };
    match phase {
        UpdatePhase::Waiting => "pending".into(),
        UpdatePhase::Hook { hook } => format!("the command of {} runs", hook.flag()),
        UpdatePhase::Next { containers } => {
            let own = || containers.iter().map(|name| style.show(name.as_str())).collect();
            let of_pod = || goal.map(|goal| columns::names(&goal.fields.of_resize(), style)).unwrap_or_default();
            let names: Vec<String> = if containers.is_empty() { of_pod() } else { own() };
            format!("next: {}", first_of(names.into_iter(), 4))
        }
        UpdatePhase::Draining { services } if services.is_empty() => {
            "removed from its Services; waiting for requests in flight".into()
        }
        UpdatePhase::Draining { services } => format!("draining from {}", self::services(style, services)),
        UpdatePhase::RejoiningService { services } if services.is_empty() => "being added back to its Services".into(),
        UpdatePhase::RejoiningService { services } => {
            format!("verified; adding back to {}", self::services(style, services))
        }
        UpdatePhase::Patched => patched(style, goal),
        UpdatePhase::Restarting { until: Some(until), .. } => {
            let held = format!("held by the kubelet's back-off at least until {} UTC", style.show(clock(until)));
            if containers.is_empty() { held } else { format!("{containers}: {held}") }
        }
        UpdatePhase::Restarting { waiting: None, .. } => with("restarting"),
        UpdatePhase::Restarting { waiting: Some(why), .. } if why.starts_with(NOT_SCHEDULED) => style.show(why),
        UpdatePhase::Restarting { waiting: Some(why), .. } => format!("{}: {}", with("restarting"), style.show(why)),
        UpdatePhase::Resizing { why, deferred_by: None } => {
            let (fields, why) = resized(style, why, goal);
            format!("{}{why}", format!("resizing {fields}").trim_end())
        }
        UpdatePhase::Resizing { why, deferred_by: Some(node) } => put_off(style, ("deferred by", node), why, goal),
        UpdatePhase::Left { why, node } => put_off(style, ("left to the kubelet of", node), why, goal),
        UpdatePhase::Starting { containers } if containers.is_empty() => {
            format!("{}, the pod is not ready yet", with("started"))
        }
        UpdatePhase::Starting { .. } => format!("{}, not ready yet", with("started")),
        UpdatePhase::Stabilizing { hold_seconds } => {
            format!("ready, stabilizing for {}", whole_seconds(u64::from(*hold_seconds)))
        }
        UpdatePhase::Unverified { why, .. } => format!("{}: {}", with("not verified yet"), style.show(why)),
        UpdatePhase::Done => "done".into(),
        UpdatePhase::Failing(failure) => format!("FAILED: {}", self::failure(style, failure)),
        UpdatePhase::Conflict { container, image } => {
            let (container, image) = (style.show(container.as_str()), style.show(image));
            format!("CONFLICT: another client, or admission, set {container} to {image}")
        }
        UpdatePhase::Overtaken { why } => format!("CONFLICT: {}", style.show(why)),
        UpdatePhase::Gone { why } => format!("GONE: {}", style.show(why)),
    }
}

/// Returns `[web-0 before] text`, escaped: a line of the user's own command.
pub(super) fn hook_line(style: &Style, pod: &PodKey, hook: HookPhase, line: &str) -> String {
    let whose = format!("[{} {}]", style.show(&pod.name), hook.word());
    format!("{} {}", style.paint(Meaning::Quiet, &whose), style.show(line))
}

pub(super) fn services(style: &Style, services: &[String]) -> String {
    first_of(services.iter().map(|service| format!("service/{}", style.show(service))), 4)
}

fn patched(style: &Style, goal: Option<&PodGoal>) -> String {
    let changed = goal.into_iter().flat_map(|goal| &goal.containers).filter(|(_, wanted)| wanted.from != wanted.to);
    let images = changed.filter_map(|(name, wanted)| {
        wanted.to.as_ref().map(|to| format!("{} to {}", style.show(name.as_str()), style.show(to)))
    });
    let images: Vec<String> = images.collect();
    if images.is_empty() { "patch sent".into() } else { format!("patch sent: {}", first_of(images.into_iter(), 4)) }
}

/// Returns `side: CrashLoopBackOff (exit code 3): message`.
pub(super) fn failure(style: &Style, failure: &Failure) -> String {
    let mut text = String::new();
    if let Some(container) = &failure.container {
        text.push_str(&style.show(container.as_str()));
        text.push_str(": ");
    }
    text.push_str(&style.show(&failure.reason));
    if let Some(code) = failure.exit_code {
        text.push_str(&format!(" (exit code {code})"));
    }
    if !failure.message.is_empty() {
        text.push_str(": ");
        text.push_str(&style.show(&failure.message));
    }
    text
}

/// Says what the next apply of a manifest changes, and what to do about it.
pub(super) fn hand_over(
    workload: &WorkloadRef,
    found: &HandOver,
    hint: impl Fn(&Hint) -> String,
    (style, out): (&Style, Out<'_>),
) -> io::Result<()> {
    let meaning = if found.is_clean() { Meaning::Ok } else { Meaning::Waiting };
    let head = style.paint(meaning, &format!("Hand-over of {}:", self::workload(style, workload)));
    writeln!(out, "{head} {}", sentence(&style.show(&found.sentence())))?;
    match found.hint(workload) {
        Some(way) => writeln!(out, "  hint: {}", style.whole(&hint(&way))),
        None => Ok(()),
    }
}

/// Says how something has ended.
pub(super) fn ended(result: EndResult) -> &'static str {
    match result {
        EndResult::Complete => "complete",
        EndResult::NothingToDo => "up to date",
        EndResult::Left => "left",
        EndResult::Paused => "paused",
        EndResult::Aborted => "rolled back",
        EndResult::Error => "error",
        EndResult::Changes => "changes",
        EndResult::NotEligible => "not eligible",
        EndResult::Failed => "failed",
        EndResult::TimedOut => "timed out",
        EndResult::Deferred => "deferred",
        EndResult::Superseded => "superseded",
        EndResult::Interrupted | EndResult::Terminated => "interrupted",
    }
}

pub(super) fn meaning(result: EndResult) -> Meaning {
    use EndResult::{Changes, Interrupted, Paused, Terminated};
    if result.is_done() {
        Meaning::Ok
    } else if matches!(result, Paused | Changes | Interrupted | Terminated) {
        Meaning::Waiting
    } else {
        Meaning::Failing
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_read_as_people_write_them() {
        for (millis, text) in [
            (0, "0.0 s"),
            (49, "0.0 s"),
            (4_100, "4.1 s"),
            (59_949, "59.9 s"),
            (59_950, "1 min"),
            (125_000, "2 min 5 s"),
            (3_600_000, "1 h"),
            (3_785_000, "1 h 3 min"),
        ] {
            assert_eq!(duration(Duration::from_millis(millis)), text, "{millis}");
        }
        assert_eq!(duration(Duration::MAX), whole_seconds(u64::MAX));
        assert_eq!(whole_seconds(40), "40 s");
        assert_eq!(from_seconds(f64::NAN), Duration::ZERO);
        assert_eq!(from_seconds(-1.0), Duration::ZERO);
    }

    #[test]
    fn lines_break_between_words_and_commands_stay_whole() {
        let style = Style { width: Some(24), color: true, ..Style::PLAIN };
        let red = |text: &str| style.paint(Meaning::Failing, text);
        assert_eq!(flowing("  one two three four five", 4, &style), "  one two three four\n    five");
        assert_eq!(flowing("one two three  four  five six", 2, &style), "one two three  four\n  five six");
        assert_eq!(
            flowing(&format!("{} one two three", red("error:")), 2, &style),
            format!("{} one two three", red("error:"))
        );
        assert_eq!(
            flowing("a-word-that-is-longer-than-a-line and more", 2, &style),
            "a-word-that-is-longer-than-a-line\n  and more"
        );
        let hint = "  hint: watch it with: kubectl rollout status deployment/web";
        assert_eq!(flowing(hint, 4, &style), "  hint: watch it with:\n    kubectl rollout status deployment/web");
        assert_eq!(flowing(hint, 4, &Style::PLAIN), hint, "nobody looks at columns");
        let label = format!("{} kubectl inplace resume deployment/web", red("Resume it:"));
        assert_eq!(flowing(&label, 2, &style), label.replace(" kubectl", "\n  kubectl"));
        let in_parentheses = "resume it (kubectl inplace resume web), or not";
        assert_eq!(flowing(in_parentheses, 2, &style), "resume it\n  (kubectl inplace resume web),\n  or not");
    }

    #[test]
    fn one_is_one_and_all_else_are_many() {
        assert_eq!([0, 1, 2].map(|number| count(number, "pod")), ["0 pods", "1 pod", "2 pods"]);
    }

    #[test]
    fn lists_end_where_nobody_reads_on() {
        let names = |number: usize| (0..number).map(|index| index.to_string()).collect::<Vec<_>>().into_iter();
        assert_eq!(first_of(names(2), 3), "0, 1");
        assert_eq!(first_of(names(5), 3), "0, 1, 2, and 2 more");
        assert_eq!(first_of(names(0), 3), "");
    }
}
