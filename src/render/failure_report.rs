//! The failure report as text for the terminal: for each pod that failed, what it is, what was seen of it, its last log
//! lines, and the newest events. Pods that failed alike are described once, with the events of one of them.

use super::Out;
use std::collections::BTreeSet;
use std::io;

use engine::k8s::events::Event;
use engine::k8s::failure::Failure;
use engine::report::failure_report::{FailedPod, FailureReport, Instance, Log, Moment};
use engine::report::progress::Stage;

use super::run::Reported;
use super::run::Run;
use super::style::{Meaning, Style};
use super::words;

pub(super) fn write(reported: Reported<'_>, report: &FailureReport, style: &Style, out: Out<'_>) -> io::Result<()> {
    writeln!(out)?;
    for (_, alike) in words::said_once(report.pods.iter().map(|pod| (pod, said_of(pod)))) {
        let Some((pod, alike)) = alike.split_first() else { continue };
        let name = |pod: &FailedPod| words::pod(style, &report.workload, &pod.pod);
        heading((pod, alike), name, style, out)?;
        let one = (!alike.is_empty()).then(|| name(pod));
        if reported.is_gone {
            time_line(reported.run, pod, one.as_deref(), style, out)?;
        }
        if let Some(log) = &pod.log {
            log_lines(log, style, out)?;
        }
        let news: Vec<&Event> =
            pod.events.iter().filter(|event| !says(&event.message, pod.reason.as_str(), &pod.message)).collect();
        events(&news, one.as_deref(), style, out)?;
        for what in &pod.not_read {
            writeln!(out, "  could not be read: {}", style.show(what))?;
        }
        writeln!(out)?;
    }
    match report.left_out {
        0 => Ok(()),
        left => writeln!(out, "and {} failed\n", words::count(left, "more pod")),
    }
}

/// What is said of a pod besides its name, its node, and what was seen of it.
fn said_of(pod: &FailedPod) -> impl PartialEq + use<'_> {
    // The kubelet names the pod in its words.
    let message = pod.message.replace(&pod.pod.name, "").replace(pod.pod.uid.as_str(), "");
    let ended = (pod.exit_code, pod.signal, pod.restarts_since_update, pod.restarts, &pod.failed_before);
    (&pod.container, &pod.image, &pod.reason, &pod.log, ended, message, &pod.not_read)
}

fn heading(
    (pod, alike): (&FailedPod, &[&FailedPod]),
    name: impl Fn(&FailedPod) -> String,
    style: &Style,
    out: Out<'_>,
) -> io::Result<()> {
    let pods = || std::iter::once(pod).chain(alike.iter().copied());
    let names: Vec<String> = pods().map(|pod| style.paint(Meaning::Heading, &name(pod))).collect();
    let container = pod.container.as_ref().map(|name| format!(", container {}", style.show(name.as_str())));
    let image = pod.image.as_ref().map(|image| format!(" ({})", style.show(image)));
    let nodes: BTreeSet<String> = pods().filter_map(|pod| pod.node.as_ref()).map(|node| style.show(node)).collect();
    let nodes: Vec<String> = nodes.into_iter().collect();
    let node = if nodes.is_empty() { String::new() } else { format!(", on {}", nodes.join(", ")) };
    let [container, image] = [container, image].map(Option::unwrap_or_default);
    writeln!(out, "{}{container}{image}{node}", names.join(", "))?;
    let failure = Failure {
        container: None,
        reason: pod.reason.clone(),
        message: pod.message.clone(),
        exit_code: pod.exit_code,
        stays_down: false,
    };
    let mut facts = words::failure(style, &failure);
    if let Some(signal) = pod.signal {
        facts.push_str(&format!("; signal {signal}"));
    }
    // That it was not is no news of a container that does not start.
    if let Some(restarts) =
        words::restarts(pod.restarts_since_update, pod.restarts).filter(|_| pod.restarts_since_update != Some(0))
    {
        facts.push_str(&format!("; {restarts}"));
    }
    if let Some(before) = &pod.failed_before {
        facts.push_str(&format!("; not running before the update either ({})", style.show(before)));
    }
    writeln!(out, "  {}", style.paint(Meaning::Failing, &facts))
}

fn time_line(run: Option<&Run>, pod: &FailedPod, name: Option<&str>, style: &Style, out: Out<'_>) -> io::Result<()> {
    // How it ended is shown above.
    let is_before = |moment: &&Moment| moment.phase.stage() != Stage::Failed;
    let seen: Vec<&Moment> = pod.time_line.iter().filter(is_before).collect();
    if seen.is_empty() {
        return Ok(());
    }
    writeln!(out, "  what was seen of {}:", name.unwrap_or("it"))?;
    let mut run = run.map(Run::at_the_start);
    for moment in seen {
        run.iter_mut().for_each(|run| run.heard(&pod.pod, &moment.phase));
        let (_, text) = words::phase(style, &moment.phase, run.as_ref().and_then(|run| run.step(&pod.pod)));
        let seconds = format!("{}.{}s", moment.at.as_secs(), moment.at.subsec_millis() / 100);
        writeln!(out, "    {seconds:>7}  {text}")?;
    }
    Ok(())
}

fn log_lines(log: &Log, style: &Style, out: Out<'_>) -> io::Result<()> {
    let whose = match log.instance {
        Instance::Previous => "the container that ended",
        Instance::Current => "the container",
    };
    match log.lines.len() {
        0 => writeln!(out, "  the log of {whose} is empty"),
        number => {
            writeln!(out, "  the last {} of the log of {whose}:", words::count(number, "line"))?;
            log.lines.iter().try_for_each(|line| writeln!(out, "    | {}", style.show(line)))
        }
    }
}

/// Whether an event is the failure once more: the kubelet writes an event of what it shows in the pod's status.
fn says(event: &str, reason: &str, message: &str) -> bool {
    let is_in = |text: &str| !text.is_empty() && (message.contains(text) || text == reason);
    // As "Failed to pull image "...": CAUSE", and "Error: REASON".
    let cause = event.split_once(": ").map_or("", |(_, cause)| cause);
    // As "OOMKilled: back-off ...".
    let reported = message.split_once(": ").map_or(message, |(_, reported)| reported);
    is_in(event) || is_in(cause) || !reported.is_empty() && event.contains(reported)
}

fn events(events: &[&Event], name: Option<&str>, style: &Style, out: Out<'_>) -> io::Result<()> {
    if events.is_empty() {
        return Ok(());
    }
    match name {
        Some(name) => writeln!(out, "  the newest events of {name}:")?,
        None => writeln!(out, "  its newest events:")?,
    }
    for event in events {
        // The time alone: the date is today's.
        let time_of_day =
            |time: &str| -> String { time.split_once('T').map_or(time, |(_, time)| time).chars().take(8).collect() };
        let since = event.first_time.as_deref().map(|first| format!(" since {}", style.show(&time_of_day(first))));
        let since = since.unwrap_or_default();
        let often = if event.count > 1 { format!(" (x{}{since})", event.count) } else { String::new() };
        let time = time_of_day(&event.time);
        let meaning = if event.kind == "Warning" { Meaning::Waiting } else { Meaning::Plain };
        let text = format!("{}{often}: {}", style.show(&event.reason), style.show(&event.message));
        writeln!(out, "    {}  {}", style.show(&time), style.paint(meaning, &text))?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_failure_is_said_once() {
        let cause = "rpc error: code = NotFound desc = registry.example/side:v9: not found";
        for (event, is_reported) in [
            (format!("Failed to pull image \"registry.example/side:v9\": {cause}"), true),
            ("Error: ErrImagePull".to_owned(), true),
            ("Stopping container side".to_owned(), false),
            (String::new(), false),
        ] {
            assert_eq!(says(&event, "ErrImagePull", cause), is_reported, "{event}");
            assert!(!says(&event, "TimedOut", "") || event.is_empty(), "nothing was told: {event}");
        }
    }
}
