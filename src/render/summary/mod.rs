//! The end of a rollout as text for the terminal: what was done, what was not, what it cost, and what to do next.
//!
//! Promise: it claims no more than the outcome shows. For a rollout that was only followed it does not say that this
//! program updated anything, nor that nothing else restarted.

mod next_steps;

use std::collections::BTreeMap;
use std::io;

use engine::change::FieldEffect;
use engine::k8s::names::{ContainerName, PodKey};
use engine::report::failure_report::LATE;
use engine::report::progress::{Stage, UpdatePhase};
use engine::report::proof::{InPods, Proof, Spread};
use engine::report::{FieldValue, NewPods, NotReady, Outcome, PodEnd};
use engine::rollout::{Goal, Mode, PodGoal};
use engine::state::outcome::EndResult;
use engine::value::hint::Hint;

use super::run::{NextSteps, Reported, Run, proof};
use super::style::{Meaning, Style};
use super::workloads::{Course, Tally};
use super::{Out, failure_report, words};

const NAMED_PODS: usize = 5;

pub fn end(goal: &Goal, next: &NextSteps, outcome: &Outcome, style: &Style, out: Out<'_>) -> io::Result<()> {
    let run = Run::of(goal, next);
    write(Reported { run: Some(&run), ..Reported::default() }, outcome, style, out)
}

pub(super) fn write(reported: Reported<'_>, outcome: &Outcome, style: &Style, out: Out<'_>) -> io::Result<()> {
    let name = words::workload(style, &outcome.workload);
    let (tally, proof) = (Tally::of(outcome), proof(reported.run, outcome));
    let ending = Ending { reported, outcome, style, tally, proof, name };
    words::in_lines(style, out, |out| ending.write(out))
}

struct Ending<'a> {
    reported: Reported<'a>,
    outcome: &'a Outcome,
    style: &'a Style,
    tally: Tally,
    proof: Proof,
    name: String,
}

impl Ending<'_> {
    fn write(&self, out: Out<'_>) -> io::Result<()> {
        self.heading(out)?;
        if let Some(report) = self.reported.failure {
            failure_report::write(self.reported, report, self.style, out)?;
        }
        self.deciding_pods(out)?;
        self.unplanned(out)?;
        self.not_ready(out)?;
        if !self.outcome.result.is_done() {
            self.all_pods(out)?;
            self.standing(out)?;
        } else if self.outcome.result != EndResult::NothingToDo {
            self.times(out)?;
        }
        if let Some(found) = &self.outcome.hand_over {
            words::hand_over(&self.outcome.workload, found, Hint::to_string, (self.style, out))?;
        }
        self.next_steps(out)
    }

    fn pod(&self, pod: &PodKey) -> String {
        words::pod(self.style, &self.outcome.workload, pod)
    }

    fn is_durable(&self) -> bool {
        self.reported.run.is_some_and(|run| run.mode == Mode::Durable)
    }

    fn follows(&self) -> bool {
        self.reported.run.is_some_and(|run| run.mode == Mode::Follow)
    }

    fn course(&self) -> Course {
        match self.reported.run {
            _ if self.follows() => Course::Followed,
            Some(run) if run.is_back => Course::Back,
            Some(_) | None => Course::Forward,
        }
    }

    /// What was followed is gone, and the reason says who replaces it.
    fn is_replaced(&self) -> bool {
        self.outcome.why.is_some() && self.tally.gone > 0
    }

    fn heading(&self, out: Out<'_>) -> io::Result<()> {
        let (name, after) = (&self.name, format!("after {}", self.seconds()));
        let no_more = if self.tally.not_started == 0 { "" } else { self.acts(" No further pod is touched.") };
        let (word, rest) = match self.outcome.result {
            EndResult::Complete => return self.complete(out),
            EndResult::Left => ("Left", format!("to the next apply: {name}.")),
            EndResult::NothingToDo => ("Nothing to do:", format!("every pod of {name} runs it already.")),
            EndResult::Aborted => ("Rolled back:", format!("{name}, {after}.{}{}", self.others(), self.restarted())),
            EndResult::Paused => ("Paused", format!("{after}: {name}.")),
            EndResult::Error => ("Ended with an error", format!("{after}: {name}.")),
            EndResult::Changes => ("Changes:", format!("{name}.")),
            EndResult::NotEligible => ("Not eligible:", format!("{name} cannot be changed in place.")),
            EndResult::Failed => ("Failed", format!("{after}: {name}.{no_more}")),
            EndResult::TimedOut => ("Timed out", format!("{after}: {name}.")),
            EndResult::Deferred => ("Deferred", format!("{after}: {name}.{}", self.deferred())),
            EndResult::Superseded => {
                // What has changed no pod and holds the workload no longer was not cut short.
                let has_changed = self.tally.patched > 0 || self.reported.run.is_some_and(|run| run.continues);
                let is_cut = has_changed || self.outcome.held || self.outcome.nothing_changed || !self.is_durable();
                // Where the owner is the reason, the next line says it.
                let what = if self.outcome.why.is_some() { "" } else { " Its pods changed since the plan." };
                let alone = self.acts(" No further changes by this run.");
                match is_cut {
                    true => ("Stopped", format!("{after}: {name}.{what}{alone}")),
                    false => ("Ended", format!("{after}: {name}.")),
                }
            }
            EndResult::Interrupted => ("Interrupted", format!("{after} (Ctrl-C): {name}.{}", self.goes_on())),
            EndResult::Terminated => ("Interrupted", format!("{after} (terminated): {name}.{}", self.goes_on())),
        };
        writeln!(out, "{} {rest}", self.style.paint(words::meaning(self.outcome.result), word))?;
        self.why(out)
    }

    fn why(&self, out: Out<'_>) -> io::Result<()> {
        match &self.outcome.why {
            Some(why) => writeln!(out, "  {}", words::sentence(&self.style.show(why))),
            None => Ok(()),
        }
    }

    /// A sentence that is true only of a run that acts.
    fn acts(&self, sentence: &'static str) -> &'static str {
        if self.follows() { "" } else { sentence }
    }

    /// What a node put off: left to its kubelet, or ended because of it.
    fn deferred(&self) -> String {
        match self.tally.left_to_kubelet {
            0 => " A node has no room for it now.".to_owned(),
            1 => " 1 pod keeps what it has until the kubelet resizes it, which it goes on trying by itself.".to_owned(),
            left => format!(
                " {left} pods keep what they have until the kubelets resize them, which they go on trying by themselves."
            ),
        }
    }

    fn goes_on(&self) -> &'static str {
        if self.follows() {
            " Only the watching has ended."
        } else if self.tally.in_progress > 0 {
            " No further changes by this run; pods already patched will finish restarting."
        } else {
            " No further changes by this run."
        }
    }

    fn complete(&self, out: Out<'_>) -> io::Result<()> {
        if self.follows() {
            let what = self.followed_to_the_end();
            return writeln!(out, "{} {}{what}", self.style.paint(Meaning::Ok, "Complete:"), self.name);
        }
        let pods = |number| words::count(number, "pod");
        let already = match self.tally.up_to_date {
            0 => String::new(),
            number => format!(" {} had been patched before.", pods(number)),
        };
        let (others, changed) = (self.others(), self.changed());
        let is_none = changed == 0 && self.tally.updated == self.outcome.pods.len();
        let none = if is_none { " No pod had to change." } else { "" };
        let word = match changed {
            0 if is_none || !others.is_empty() => "Complete".to_owned(),
            number => format!("Updated {} in place", pods(number)),
        };
        let (word, seconds) = (self.style.paint(Meaning::Ok, &word), self.seconds());
        writeln!(out, "{word} in {seconds}.{none}{already}{others}{}", self.restarted())?;
        self.why(out)
    }

    fn followed_to_the_end(&self) -> String {
        let all = self.outcome.pods.iter().filter(|pod| !pod.replaced).count();
        let (pods, seconds) = (words::count(all, "pod"), self.seconds());
        let is_updated = |pod: &&PodEnd| pod.containers.iter().any(|end| end.changed);
        let updated = self.outcome.done().filter(is_updated).count();
        if self.outcome.pods.is_empty() {
            return " has no pod to wait for.".to_owned();
        } else if updated == 0 {
            return format!(": {pods} ready, no container restarted by an update in place (watched for {seconds}).");
        }
        let (which, whose) = match all > updated {
            true => (format!("ready, {updated} of them updated"), "last updated container"),
            false => ("updated and ready".to_owned(), "last container"),
        };
        let changed = self.outcome.done().flat_map(|pod| pod.containers.iter().filter(|end| end.changed));
        let last = changed.filter_map(|end| end.times.running_since.as_deref()).max();
        let last = last.map(|at| format!(", the {whose} started at {}", self.style.show(at))).unwrap_or_default();
        format!(": {pods} {which}{last} (watched for {seconds}).{}", self.restarted())
    }

    fn seconds(&self) -> String {
        words::duration(words::from_seconds(self.outcome.seconds))
    }

    /// How many pods this run has changed: a label that names the revision is no change of a pod.
    fn changed(&self) -> usize {
        let is_for_later = |goal: &PodGoal| {
            goal.containers.is_empty() && goal.fields.rows().iter().all(|row| row.effect == FieldEffect::LaterPods)
        };
        // A pod that nothing is wanted of is not among those that the run began with.
        let is_nothing = |pod: &&PodEnd| {
            let is_it = self.reported.run.is_some_and(|run| run.pod(&pod.pod).is_none_or(is_for_later));
            is_it && !pod.containers.iter().any(|end| end.changed)
        };
        let relabelled = self.outcome.done().filter(|pod| pod.patched).filter(is_nothing).count();
        self.tally.updated.saturating_sub(relabelled)
    }

    /// How many pods this run had not seen done when another run of the same rollout closed it.
    fn finished_by_others(&self) -> usize {
        let is_closed = self.outcome.result.is_done() && !self.follows();
        if is_closed { self.tally.in_progress + self.tally.not_started } else { 0 }
    }

    /// What another run of the rollout did; begins with a blank.
    fn others(&self) -> String {
        let pods = |number| words::count(number, "pod");
        let is_unfinished = |pod: &&PodEnd| matches!(pod.phase.stage(), Stage::Waiting | Stage::InProgress);
        let ours = self.outcome.pods.iter().filter(|pod| pod.patched).filter(is_unfinished).count();
        match (self.finished_by_others(), ours) {
            (0, _) => String::new(),
            (number, 0) => format!(" Another run of this rollout finished {}.", pods(number)),
            (number, ours) => {
                format!(" Another run of this rollout finished {}; {ours} of them this run had patched.", pods(number))
            }
        }
    }

    /// Which containers restarted in how many pods; begins with a blank.
    fn restarted(&self) -> String {
        let planned = &self.proof.restarted_as_planned;
        let (restarted, others) = (self.in_pods(planned), self.finished_by_others());
        let restarted = match (restarted.is_empty(), others) {
            (true, 0) => "nothing".into(),
            (true, _) => "not seen to its end by this run".into(),
            (false, _) => restarted,
        };
        let twice: usize = planned.values().map(|it| it.restarts.unwrap_or(0).saturating_sub(it.pods)).sum();
        let restarted = if twice == 0 { restarted } else { format!("{restarted} ({twice} of them twice)") };
        if self.follows() {
            return format!(" Updated in place: {restarted}.");
        }
        let unplanned = self.in_pods(&self.proof.restarted_not_planned);
        let others = if unplanned.is_empty() {
            // This run does not know what an earlier run of the rollout has seen.
            let when = if self.tally.up_to_date > 0 || others > 0 { " in this run" } else { "" };
            let as_before = self.as_before();
            let but =
                if as_before.is_empty() { as_before } else { format!(" but what crashed before, too: {as_before}") };
            format!("nothing else restarted{when}{but}")
        } else {
            format!("NOT planned, but restarted: {unplanned}")
        };
        let gone = match self.tally.gone {
            0 => "pods replaced: 0".to_owned(),
            gone => format!("pods that left meanwhile: {gone}"),
        };
        let containers = self.in_pods(&self.proof.resized);
        let as_a_whole = match self.proof.resized_as_a_whole {
            0 => String::new(),
            count => format!("{} as a whole", words::count(count, "pod")),
        };
        let resized: Vec<String> = [containers, as_a_whole].into_iter().filter(|part| !part.is_empty()).collect();
        let resized = if resized.is_empty() { String::new() } else { format!(" Resized: {}.", resized.join(", ")) };
        format!("{resized} Restarted as planned: {restarted}; {others}; {gone}.")
    }

    /// The containers without a planned change that crashed before the update, too.
    fn as_before(&self) -> String {
        let mut counts: BTreeMap<ContainerName, InPods> = BTreeMap::new();
        for container in self.outcome.pods.iter().flat_map(|pod| &pod.as_before) {
            let new = || InPods { container: container.clone(), pods: 0, restarts: None };
            counts.entry(container.clone()).or_insert_with(new).pods += 1;
        }
        self.in_pods(&counts)
    }

    fn in_pods(&self, counts: &BTreeMap<ContainerName, InPods>) -> String {
        let of =
            |it: &InPods| format!("{} in {}", self.style.show(it.container.as_str()), words::count(it.pods, "pod"));
        counts.values().map(of).collect::<Vec<_>>().join(", ")
    }

    fn deciding_pods(&self, out: Out<'_>) -> io::Result<()> {
        let result = self.outcome.result;
        let is_cut_short = matches!(result, EndResult::TimedOut | EndResult::Interrupted | EndResult::Terminated);
        let decides = |pod: &&PodEnd| {
            let stage = pod.phase.stage();
            let waits = matches!(pod.phase, UpdatePhase::Resizing { deferred_by: Some(_), .. });
            result == EndResult::Failed && stage == Stage::Failed
                || result == EndResult::Superseded && stage == Stage::Lost
                || result == EndResult::Deferred && (waits || stage == Stage::Left)
                || is_cut_short && (pod.is_in_progress() || self.waits_for_somebody(pod))
        };
        // What the report says of a pod is not said again; of one that was late it may know no more than that.
        let is_reported = |end: &&PodEnd| {
            let Some(report) = self.reported.failure else { return false };
            let has_failed = end.phase.stage() == Stage::Failed;
            let of_pod = report.pods.iter().find(|pod| pod.pod == end.pod);
            of_pod.map_or(has_failed && report.left_out > 0, |pod| has_failed || pod.reason != LATE)
        };
        let pods: Vec<&PodEnd> = self.outcome.pods.iter().filter(decides).filter(|end| !is_reported(end)).collect();
        let ends = pods.iter().take(NAMED_PODS).map(|end| {
            let goal = self.reported.run.and_then(|run| run.pod(&end.pod));
            let text = match self.waits_for_somebody(end) {
                true => (Meaning::Waiting, self.waited_for(end)),
                false => words::phase(self.style, &end.phase, goal),
            };
            (self.pod(&end.pod), text)
        });
        for ((meaning, text), pods) in words::said_once(ends) {
            writeln!(out, "  {}  {}", pods.join(", "), self.style.paint(meaning, &text))?;
        }
        self.and_more(pods.len(), out)
    }

    /// A run that only follows gives no pod its turn: what waits, waits for somebody else.
    fn waits_for_somebody(&self, pod: &PodEnd) -> bool {
        self.follows() && matches!(pod.phase, UpdatePhase::Waiting)
    }

    fn waited_for(&self, end: &PodEnd) -> String {
        let wanted = end.containers.iter().filter_map(|container| {
            let to = container.to.as_ref()?;
            Some(format!("{} to be set to {}", self.style.show(container.container.as_str()), self.style.show(to)))
        });
        let goal = self.reported.run.and_then(|run| run.pod(&end.pod));
        let rows = goal.into_iter().flat_map(|goal| goal.fields.rows());
        let fields = rows.map(|row| match row.after {
            Some(after) => format!("{} to be set to {}", self.style.show(&row.what), self.style.show(&after)),
            None => format!("{} to be removed", self.style.show(&row.what)),
        });
        let wanted: Vec<String> = wanted.chain(fields).collect();
        if wanted.is_empty() {
            return "not seen yet".into();
        }
        format!("waits for {}", words::first_of(wanted.into_iter(), 4))
    }

    fn unplanned(&self, out: Out<'_>) -> io::Result<()> {
        let pods = self.outcome.pods.iter().filter(|end| !end.unplanned.is_empty());
        let pods: Vec<_> = pods.map(|end| (&end.pod, self.restarted_otherwise(end))).collect();
        self.each_of(Meaning::Failing, &pods, out)
    }

    fn not_ready(&self, out: Out<'_>) -> io::Result<()> {
        let pods = self.outcome.pods.iter().filter_map(|end| {
            let NotReady { container, reason } = end.not_ready.as_ref()?;
            let why = if reason.is_empty() { String::new() } else { format!(" ({reason})") };
            Some((&end.pod, self.style.show(&format!("done, but {container} is not ready{why}"))))
        });
        self.each_of(Meaning::Waiting, &pods.collect::<Vec<_>>(), out)
    }

    fn each_of(&self, meaning: Meaning, pods: &[(&PodKey, String)], out: Out<'_>) -> io::Result<()> {
        for (pod, text) in pods.iter().take(NAMED_PODS) {
            writeln!(out, "  {}  {}", self.pod(pod), self.style.paint(meaning, text))?;
        }
        self.and_more(pods.len(), out)
    }

    /// What restarted in a pod without a plan, and what restarted more often than planned.
    fn restarted_otherwise(&self, end: &PodEnd) -> String {
        let again: BTreeMap<_, _> =
            end.containers.iter().filter_map(|end| Some((&end.container, end.again.as_ref()?))).collect();
        let others = end.unplanned.iter().filter(|name| !again.contains_key(name));
        let others: Vec<String> = others.map(|name| self.style.show(name.as_str())).collect();
        let others = (!others.is_empty()).then(|| format!("{} restarted, which was not planned", others.join(", ")));
        let again = again.into_iter().map(|(name, again)| {
            let (times, last) = match again.times {
                1 => ("once".to_owned(), ""),
                times => (format!("{times} times"), "the last time with "),
            };
            let code = again.exit_code.map(|code| format!(" ({last}exit code {code})")).unwrap_or_default();
            format!("{} restarted {times} more than planned{code}", self.style.show(name.as_str()))
        });
        others.into_iter().chain(again).collect::<Vec<_>>().join("; ")
    }

    fn and_more(&self, pods: usize, out: Out<'_>) -> io::Result<()> {
        match pods.saturating_sub(NAMED_PODS) {
            0 => Ok(()),
            left => writeln!(out, "  and {}", words::count(left, "more pod")),
        }
    }

    fn all_pods(&self, out: Out<'_>) -> io::Result<()> {
        let counts = self.tally.words(self.course());
        if counts.is_empty() {
            return Ok(());
        }
        writeln!(out, "Pods: {counts}.")?;
        if self.outcome.result != EndResult::Superseded {
            return Ok(());
        }
        // Of a patch that nothing of the pod shows yet, the server may have refused what was sent.
        let by_us = self.outcome.pods.iter().filter(|pod| pod.patched);
        let (sent, changed): (Vec<_>, Vec<_>) = by_us.partition(|pod| pod.phase == UpdatePhase::Patched);
        let groups =
            [("Changed by this run", changed), ("Patched by this run, and not known whether the server took it", sent)];
        for (what, pods) in groups.iter().filter(|(_, pods)| !pods.is_empty()) {
            let names = pods.iter().map(|pod| self.pod(&pod.pod));
            writeln!(out, "{what}: {}.", words::first_of(names, NAMED_PODS))?;
        }
        Ok(())
    }

    /// What the template asks for, which every new pod gets, and how many pods ask for which image.
    fn standing(&self, out: Out<'_>) -> io::Result<()> {
        let Some(run) = self.reported.run.filter(|run| run.mode != Mode::Follow) else { return Ok(()) };
        for standing in &self.outcome.standing {
            let name = self.style.show(standing.container.as_str());
            let template = match (&standing.template, run.mode) {
                (Some(image), _) => self.template(image, &standing.new_pods),
                (None, Mode::Durable) if self.outcome.nothing_changed => "this run did not change the template".into(),
                (None, Mode::Durable) => "what the template asks for was not read after the last write".into(),
                (None, Mode::PodsOnly | Mode::Follow) => "the template is unchanged, and new pods get its image".into(),
            };
            let template = if !self.outcome.workload.kind.has_template() { String::new() } else { template + "; " };
            let pods = standing.pods.iter().map(|of_image| {
                let unready = of_image.pods.saturating_sub(of_image.ready);
                let unready = if unready == 0 { String::new() } else { format!(" ({unready} not ready)") };
                format!("{}{unready} with {}", words::count(of_image.pods, "pod"), self.style.show(&of_image.image))
            });
            let going = (standing.going > 0).then(|| format!("{} being deleted", words::count(standing.going, "pod")));
            let pods = pods.chain(going).collect::<Vec<_>>().join(", ");
            let pods = if pods.is_empty() { "no pod".into() } else { pods };
            writeln!(out, "{name}: {template}{pods}.")?;
        }
        self.standing_fields(out)
    }

    fn standing_fields(&self, out: Out<'_>) -> io::Result<()> {
        for field in &self.outcome.standing_fields {
            let template = match &field.template {
                FieldValue::Unread if self.outcome.nothing_changed => "this run did not change the template".into(),
                FieldValue::Unread => "what the template asks for was not read after the last write".into(),
                FieldValue::Absent => self.template("none", &field.new_pods),
                FieldValue::Is(value) => self.template(value, &field.new_pods),
            };
            let wanted = match &field.wanted {
                FieldValue::Is(value) => self.style.show(value),
                FieldValue::Absent | FieldValue::Unread => "none".into(),
            };
            let lack = field.lack.filter(|lack| *lack > 0).map(|lack| format!(", {lack} not yet")).unwrap_or_default();
            let pods = field.have.map(|have| format!("; {} with {wanted}{lack}", words::count(have, "pod")));
            writeln!(out, "{}: {template}{}.", self.style.show(&field.what), pods.unwrap_or_default())?;
        }
        Ok(())
    }

    fn template(&self, image: &str, new_pods: &NewPods) -> String {
        let image = self.style.show(image);
        match new_pods {
            NewPods::AsTemplate => format!("the template, and so every new pod, has {image}"),
            NewPods::Is(own) => format!("the template has {image}, but a new pod still gets {}", self.style.show(own)),
            NewPods::Without => format!("the template has {image}, but a new pod still gets none"),
            NewPods::Unknown => format!("the template has {image}"),
        }
    }

    /// Writes a line for each pod that left, and one for each container of which a time is known.
    fn times(&self, out: Out<'_>) -> io::Result<()> {
        let (proof, style) = (&self.proof, self.style);
        for left in proof.replaced.iter().take(NAMED_PODS) {
            writeln!(out, "  {}  gone: {}", self.pod(&left.pod), style.show(&left.message))?;
        }
        if let left @ 1.. = proof.replaced.len().saturating_sub(NAMED_PODS) {
            writeln!(out, "  and {} gone", words::count(left, "more pod"))?;
        }
        for times in proof.times.values() {
            let part = |what: &str, spread: Option<Spread>| spread.map(|spread| format!("{what}{}", range(spread)));
            let unknown = Some(times.down_unknown).filter(|pods| *pods > 0);
            let unknown = unknown.map(|pods| format!("not known of {}", words::count(pods, "pod")));
            let head = if times.down_seconds.is_some() || unknown.is_some() { "Downtime" } else { "Times" };
            let ready = part("from start to ready ", times.ready_seconds.filter(|ready| ready.max > 0.0));
            let parts = [part("", times.down_seconds), unknown, ready, part("pull ", times.pull_seconds)];
            let parts: Vec<String> = parts.into_iter().flatten().collect();
            if !parts.is_empty() {
                let name = style.show(times.container.as_str());
                writeln!(out, "{head} per pod ({name}): {}.", parts.join("; "))?;
            }
        }
        Ok(())
    }
}

/// Returns `0.4-2.5s`: both ends in one unit, rounded alike, which the end that is not zero and smaller decides.
fn range(Spread { min, max, .. }: Spread) -> String {
    // The API has whole seconds.
    if max == 0.0 {
        return "less than 1s".to_owned();
    }
    let least = if min > 0.0 { min } else { max };
    let has_tenths = [min, max].iter().any(|seconds| !format!("{seconds:.1}").ends_with(".0"));
    let (unit, factor, digits) =
        if max < 1.0 { ("ms", 1000.0, 0) } else { ("s", 1.0, usize::from(least < 10.0 && has_tenths)) };
    let [min, max] = [min, max].map(|seconds| format!("{:.digits$}", seconds * factor));
    if min == max { format!("{max}{unit}") } else { format!("{min}-{max}{unit}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_range_says_both_ends() {
        for (min, max, expected) in [
            (0.0, 0.0, "less than 1s"),
            (0.5, 0.5, "500ms"),
            (0.025, 0.1, "25-100ms"),
            (0.4, 2.5, "0.4-2.5s"),
            (0.0, 2.0, "0-2s"),
            (1.0, 2.0, "1-2s"),
            (1.5, 12.7, "1.5-12.7s"),
            (12.1, 12.9, "12-13s"),
            (45.0, 185.0, "45-185s"),
            (61.0, 720.0, "61-720s"),
        ] {
            assert_eq!(range(Spread { min, max, pods: 3 }), expected);
        }
    }
}
