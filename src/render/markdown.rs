//! The plan as a comment for a pull request, in the Markdown that GitHub, GitLab and others share.
//!
//! Promise: nothing that comes from a manifest or the cluster is Markdown, HTML, a mention, a link or a line of its own
//! ([`code`], [`prose`]); colour is not the only carrier of a verdict; the comment is not longer than a host takes.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::io;

use super::style::Style;
use super::{Out, columns, containers, offline, preview, words};
use engine::change::reason::Reason;
use engine::plan::{Plan, PodPlan, PodVerdict, Verdict, WorkloadPlan};
use engine::state::outcome::EndResult;

/// GitHub refuses a comment of more than 65536 characters.
const MAX_BYTES: usize = 60_000;
/// The bytes of what was not looked at: names may be long.
const MAX_SKIPPED_BYTES: usize = 10_000;
const MAX_ITEMS: usize = 100;

#[expect(clippy::wildcard_enum_match_arm, reason = "else there is nothing to do: a plan ends in no other way")]
pub(super) fn plan(plan: &Plan, out: Out<'_>) -> io::Result<()> {
    let is_refused = plan.workloads.iter().any(|workload| workload.verdict == Verdict::NotEligible);
    let (mark, result) = match plan.result() {
        EndResult::NotEligible if !is_refused => ("❌", "not everything was checked"),
        EndResult::NotEligible => ("❌", "not everything can be done in place"),
        EndResult::Changes => ("✅", "everything can be done in place"),
        EndResult::Superseded => ("❌", "the plan does not fit the cluster any more"),
        _ => match plan.skipped.is_empty() {
            true => ("✅", "nothing to do"),
            false => ("✅", "nothing to do in what was checked"),
        },
    };
    let skipped = not_checked(plan);
    let mut text = format!("## {mark} kubectl inplace plan: {result}\n");
    for (index, workload) in plan.workloads.iter().enumerate() {
        let section = section(workload);
        if text.len() + section.len() + skipped.len() > MAX_BYTES {
            let left = words::count(plan.workloads.len() - index, "more workload");
            text.push_str(&format!("\n{left} left out of this comment; `-o json` has everything.\n"));
            break;
        }
        text.push_str(&section);
    }
    text.push_str(&skipped);
    out.write_all(text.as_bytes())
}

fn not_checked(plan: &Plan) -> String {
    if plan.skipped.is_empty() {
        return String::new();
    }
    let mut text = "\n### ⚠️ Not checked\n\n| object | change | why |\n|---|---|---|\n".to_owned();
    for (index, object) in plan.skipped.iter().enumerate() {
        let place = match object.namespace.as_str() {
            "" => String::new(),
            namespace => format!(" in {}", code(namespace)),
        };
        let (change, why) = (object.change.words().unwrap_or("not compared"), object.why.sentence());
        let name = code(&object.resource());
        let row = format!("| {name}{place} | {change} | {} |\n", prose(&why));
        if index == MAX_ITEMS || text.len() + row.len() > MAX_SKIPPED_BYTES {
            let left = words::count(plan.skipped.len() - index, "more object");
            // Writing to a String does not fail.
            let _ = writeln!(text, "\n{left}; `-o json` has them all.");
            break;
        }
        text.push_str(&row);
    }
    text
}

fn section(plan: &WorkloadPlan) -> String {
    let mut text = String::new();
    let namespace = &plan.workload.namespace;
    let place = if namespace.is_empty() { String::new() } else { format!(" in {}", code(namespace)) };
    let (mark, verdict) = match plan.verdict {
        Verdict::InPlace if plan.restarts_all_ready() => ("✅", "in place, no other pod serves meanwhile"),
        Verdict::InPlace => ("✅", "in place"),
        Verdict::InPlaceByController => ("✅", "in place, by its own controller"),
        Verdict::NothingToDo => ("✅", "nothing to do"),
        Verdict::NotEligible => ("❌", "not in place"),
    };
    // Writing to a String does not fail, here and below.
    let _ = writeln!(text, "\n### {mark} {}{place}: {verdict}", code(&plan.workload.to_string()));
    if plan.verdict == Verdict::NothingToDo && plan.is_offline() {
        let _ = writeln!(text, "\n{}", offline::nothing(plan, &code(&plan.workload.to_string())));
    }
    reasons(plan, &mut text);
    let is_refused = plan.verdict == Verdict::NotEligible;
    if !is_refused {
        owner(plan, &mut text);
    }
    container_table(plan, &mut text);
    for line in containers::order_lines(plan) {
        let _ = writeln!(text, "\n{}", prose(&line));
    }
    changed_fields(plan, &mut text);
    if words::pods_not_listed(plan) {
        text.push_str("\nThe pods could not be listed.\n");
    } else if !plan.is_offline() && !is_refused {
        let number = |verdict| plan.count(verdict);
        let _ = writeln!(
            text,
            "\n{}: {} to update in place, {} unchanged, {} blocked.",
            words::count(plan.pods.len(), "pod"),
            number(PodVerdict::Update) + number(PodVerdict::InProgress),
            number(PodVerdict::AlreadyThere),
            number(PodVerdict::Blocked)
        );
    }
    if let Some(found) = &plan.hand_over {
        let _ = writeln!(text, "\n**Hand-over**: {}", prose(&words::sentence(&found.sentence())));
    }
    missing_permissions(plan, &mut text);
    warnings(plan, &mut text);
    text
}

fn missing_permissions(plan: &WorkloadPlan, text: &mut String) {
    if plan.missing_permissions.is_empty() {
        return;
    }
    text.push_str("\n**Missing permissions**: whoever made this plan is not allowed to apply it.\n\n");
    for reason in plan.missing_permissions.iter().take(MAX_ITEMS) {
        let _ = writeln!(text, "- {}: {}", code(reason.code()), prose(&words::sentence(&reason.sentence())));
    }
}

fn owner(plan: &WorkloadPlan, text: &mut String) {
    if plan.is_offline() {
        return;
    }
    let Some(durable) = &plan.durable else {
        if plan.pods_only {
            text.push_str("\nPods only: the owner stays as it is.\n");
        }
        return;
    };
    let revision = match (&durable.rollout.outgoing, durable.revision) {
        (Some(outgoing), Some(revision)) => format!(", revision {} to {revision}", outgoing.revision),
        (_, _) => String::new(),
    };
    let _ = writeln!(text, "\nDurable: the owner's template changes too{revision}.");
    if plan.verdict == Verdict::InPlace {
        if let Some(replaced) = &durable.takes_over {
            let _ = writeln!(text, "\n{}", prose(&preview::replaced_sentence(replaced, None, &Style::PLAIN)));
        }
        text.push('\n');
        for (index, step) in durable.steps(plan.workload.kind).iter().enumerate() {
            let _ = writeln!(text, "{}. {}", index + 1, prose(step));
        }
    }
}

fn container_table(plan: &WorkloadPlan, text: &mut String) {
    if plan.containers.is_empty() {
        return;
    }
    let _ = writeln!(text, "\n| {} |\n|---|---|---|---|", containers::HEADS.join(" | "));
    let is_refused = plan.verdict == Verdict::NotEligible;
    let image = |image: Option<&str>, none: &str| image.map_or_else(|| none.to_owned(), code);
    for row in containers::rows(plan).into_iter().take(MAX_ITEMS) {
        let (from, to) = (image(row.from, containers::NOT_KNOWN), image(row.to, "(unchanged)"));
        // What is refused has none.
        let effect = if is_refused && row.to.is_some() { "(refused)" } else { row.effect };
        let _ = writeln!(text, "| {}{} | {from} | {to} | {effect} |", code(row.container), row.list);
    }
    more(plan.containers.len(), "container", text);
}

fn changed_fields(plan: &WorkloadPlan, text: &mut String) {
    let rows = plan.fields.rows();
    if rows.is_empty() {
        return;
    }
    text.push_str("\n| field | from | to | effect |\n|---|---|---|---|\n");
    let value = |value: &Option<String>| value.as_deref().map_or_else(|| "(none)".to_owned(), code);
    for row in rows.iter().take(MAX_ITEMS) {
        let (from, to) = (value(&row.before), value(&row.after));
        let _ =
            writeln!(text, "| {} | {from} | {to} | {} |", code(&row.path), prose(&columns::effect(row, &Style::PLAIN)));
    }
    more(rows.len(), "changed value", text);
}

fn reasons(plan: &WorkloadPlan, text: &mut String) {
    let of_pods = |pod: &PodPlan| pod.verdict == PodVerdict::Blocked;
    let of_pods = plan
        .pods
        .iter()
        .filter(|pod| of_pods(pod))
        .flat_map(|pod| pod.reasons.iter().map(move |reason| (Some(pod), reason)));
    let all: Vec<(Option<&PodPlan>, &Reason)> = plan.reasons.iter().map(|it| (None, it)).chain(of_pods).collect();
    if all.is_empty() {
        return;
    }
    text.push_str("\n**Blocked by:**\n\n");
    let mut hints = BTreeSet::new();
    for (pod, reason) in all.iter().take(MAX_ITEMS) {
        let pod = pod.map(|pod| format!("{}: ", code(&pod.pod.to_string()))).unwrap_or_default();
        let path = reason.path().map(|path| format!("{} ", code(&path))).unwrap_or_default();
        let sentence = prose(&words::sentence(&reason.sentence()));
        let _ = writeln!(text, "- {pod}{path}**{}**: {sentence}", reason.code());
        let hint = reason.hint_for(&plan.workload).to_string();
        if hints.insert(hint.clone()) {
            let _ = writeln!(text, "  *Hint: {}*", prose(&hint));
        }
    }
    more(all.len(), "reason", text);
}

fn warnings(plan: &WorkloadPlan, text: &mut String) {
    if plan.warnings.is_empty() {
        return;
    }
    let _ = writeln!(text, "\n<details><summary>{}</summary>\n", words::count(plan.warnings.len(), "warning"));
    for warning in plan.warnings.iter().take(MAX_ITEMS) {
        let _ = writeln!(text, "- **{}**: {}", warning.code(), prose(&words::sentence(&warning.sentence())));
    }
    more(plan.warnings.len(), "warning", text);
    text.push_str("\n</details>\n");
}

fn more(number: usize, noun: &str, text: &mut String) {
    if number > MAX_ITEMS {
        let left = words::count(number - MAX_ITEMS, &format!("more {noun}"));
        let _ = writeln!(text, "\n{left}; `-o json` has them all.");
    }
}

/// Returns a name or path as code, exact to a reader: as a code span where its characters are plain there, else as HTML
/// with every other character as a reference. Git hosts expand no mentions in either.
fn code(name: &str) -> String {
    let shown = Style::PLAIN.show(name);
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "-_./:@=,+[]()#*{}".contains(c);
    if !shown.is_empty() && shown.chars().all(is_plain) {
        return format!("`{shown}`");
    }
    format!("<code>{}</code>", referenced(&shown, |c| c.is_alphanumeric() || " -/".contains(c)))
}

/// Returns a sentence in which nothing is markup, a link, a shortcode or a mention.
fn prose(sentence: &str) -> String {
    // A colon before a blank ends a clause; any other may be part of an address or a shortcode.
    let clauses: Vec<String> = unlinked(&Style::PLAIN.show(sentence))
        .split(": ")
        .map(|clause| referenced(clause, |c| c.is_alphanumeric() || " -.,;()[]/%'\"?=".contains(c)))
        .collect();
    // A character that takes no room keeps hosts from seeing a name, a number or an address there.
    let text = clauses.join(": ").replace("](", "]&#40;");
    text.replace("&#64;", "&#64;&#8203;").replace("&#35;", "&#35;&#8203;").replace("www.", "www&#8203;.")
}

const NO_ROOM: char = '\u{200b}';

/// Hosts take as many hexadecimal digits in a row for a commit.
const COMMIT: usize = 7;

/// Returns the text without words that hosts make links of: `GH-1` is an issue, hexadecimal digits are a commit.
fn unlinked(text: &str) -> String {
    let mut written = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find(|c: char| c.is_ascii_alphanumeric()) {
        let (before, from) = rest.split_at(at);
        let (word, after) = from.split_at(from.find(|c: char| !c.is_ascii_alphanumeric()).unwrap_or(from.len()));
        written.push_str(before);
        let is_commit = word.len() >= COMMIT && word.chars().all(|c| c.is_ascii_hexdigit());
        for (index, character) in word.chars().enumerate() {
            if is_commit && index > 0 && index % (COMMIT - 1) == 0 {
                written.push(NO_ROOM);
            }
            written.push(character);
        }
        rest = after;
        let is_number = |rest: &str| rest.starts_with(|c: char| c.is_ascii_digit());
        if let Some(number) =
            rest.strip_prefix('-').filter(|number| word.eq_ignore_ascii_case("gh") && is_number(number))
        {
            written.push('-');
            written.push(NO_ROOM);
            rest = number;
        }
    }
    written.push_str(rest);
    written
}

/// Returns the text with every character but the plain ones as a character reference.
fn referenced(text: &str, is_plain: impl Fn(char) -> bool) -> String {
    let mut written = String::with_capacity(text.len());
    for character in text.chars() {
        if is_plain(character) {
            written.push(character);
        } else {
            let _ = write!(written, "&#{};", u32::from(character));
        }
    }
    written
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn names_and_sentences_are_no_markup() {
        let codes = [
            ("acme/side:1.2@sha256:ab", "`acme/side:1.2@sha256:ab`"),
            ("spec.containers[app].env", "`spec.containers[app].env`"),
            ("", "<code></code>"),
            ("a`b", "<code>a&#96;b</code>"),
            ("a|b\\", "<code>a&#124;b&#92;</code>"),
            ("</code><img src=x>", "<code>&#60;/code&#62;&#60;img src&#61;x&#62;</code>"),
            ("a\n## b", "<code>a / &#35;&#35; b</code>"),
        ];
        for (name, expected) in codes {
            assert_eq!(code(name), expected);
        }
        let sentences = [
            ("there is no container x; there are a, b", "there is no container x; there are a, b"),
            ("the server says: ask @team", "the server says: ask &#64;&#8203;team"),
            (
                "[x](http://y) <b> *c* _d_ `e` |f|",
                "[x]&#40;http&#58;//y) &#60;b&#62; &#42;c&#42; &#95;d&#95; &#96;e&#96; &#124;f&#124;",
            ),
            ("GH-1 and gh-22, graph-1", "GH-&#8203;1 and gh-&#8203;22, graph-1"),
            ("6b867cfc99 abcdef deadbeef", "6b867c&#8203;fc99 abcdef deadbe&#8203;ef"),
            (":tada: #12 www.x.y", "&#58;tada: &#35;&#8203;12 www&#8203;.x.y"),
        ];
        for (sentence, expected) in sentences {
            assert_eq!(prose(sentence), expected);
        }
    }

    proptest! {
        #[test]
        fn no_text_is_markup(text in any::<String>()) {
            for written in [code(&text), prose(&text)] {
                let inner = written.strip_prefix("<code>").and_then(|rest| rest.strip_suffix("</code>"));
                let inner = inner.or_else(|| written.strip_prefix('`').and_then(|rest| rest.strip_suffix('`')));
                let inner = inner.unwrap_or(&written);
                prop_assert!(!inner.contains(['<', '>', '|', '`', '\\', '\n', '\r']), "{written}");
            }
            let prose = prose(&text);
            prop_assert!(!prose.contains(['*', '_', '@', '~', '$', '!', '^']) && !prose.contains("]("), "{prose}");
        }
    }
}
