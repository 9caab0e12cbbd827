//! `status`: shows the state of workloads and their pods, once or whenever it changes; `history`: lists their updates.
#![expect(clippy::disallowed_methods, reason = "waits between two looks, and knows how long one took")]

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::io;
use std::pin::pin;
use std::time::Duration;

use futures::StreamExt;
use futures::future::{Either, select};
use serde_json::Value;
use tokio::time::Instant;

use super::Shell;
use super::sidecar_set;
use super::targets::{self, Asked};
use crate::cli::{GlobalArgs, HistoryArgs, StatusArgs, TargetArgs};
use crate::cluster::{Cluster, Nodes};
use crate::error::{CommandError, Result};
use crate::render::{self, HistoryContext, Redrawn, StatusContext, StatusFormat, Style};
use crate::signals::Signals;
use engine::k8s::names::{Uid, WorkloadRef};
use engine::plan::updates::{WorkloadUpdates, updates};
use engine::plan::{AdmittedPod, Snapshot};
use engine::rollout::Stop;
use engine::state::outcome::EndResult;
use engine::status::{WorkloadStatus, status, waits_for_budgets};
use engine::value::hint::Hint;

const PAUSE: Duration = Duration::from_secs(1);

/// A read that took long is expensive for the server: the pause is this many times as long.
const REST: u32 = 4;

/// Workloads of an overview that are read once more, at most: a cluster that is down as a whole has more to say.
const MOST_READ_AGAIN: usize = 50;

struct Query<'a> {
    /// `None` is every workload.
    asked: Option<Asked>,
    words: TargetArgs,
    global: &'a GlobalArgs,
    cluster: Cluster,
    output: StatusFormat,
    /// What the server makes of a template, by `metadata.generation`: it is asked once, however often `--watch` looks.
    made: RefCell<BTreeMap<(Uid, Option<i64>), AdmittedPod>>,
}

struct Read {
    workloads: Vec<WorkloadStatus>,
    not_read: Vec<String>,
    /// Pods of this program's that pull images.
    pulling: Vec<Hint>,
    /// What was named and is not there, beside what is.
    missing: Vec<CommandError>,
}

pub(super) async fn run(args: &StatusArgs, global: &GlobalArgs, shell: &mut Shell) -> Result<EndResult> {
    let words = TargetArgs::from(&args.targets);
    // All of no type are those of an overview.
    let picks = words.pick.selector.is_some() || words.pick.field_selector.is_some();
    let named = !words.words.is_empty() || words.pick.has_manifests() || picks;
    let asked = if named { Some(targets::read_without_images(&words, shell).await?) } else { None };
    let cluster = shell.connect(global).await?;
    let query = Query { asked, words, global, cluster, output: args.output, made: RefCell::default() };
    if args.watch {
        return watch(&query, shell).await;
    }
    let read = query.read().await?;
    shell.print(&query.shown(&read, shell.terminal.stdout, shell)?)?;
    if read.workloads.is_empty() {
        targets::note_nothing((!query.words.pick.all_namespaces).then(|| query.cluster.namespace()), shell);
    }
    for note in query.notes(&read, shell) {
        shell.note(&note);
    }
    if let Some(result) = read.missing.iter().map(|error| shell.tell_error(error)).last() {
        return Ok(result);
    }
    let is_unknown = !read.not_read.is_empty() || read.workloads.iter().any(|workload| !workload.not_read.is_empty());
    Ok(match args.exit_code {
        true if read.workloads.iter().any(WorkloadStatus::is_notable) => EndResult::Changes,
        true if is_unknown => EndResult::Error,
        true | false => EndResult::Complete,
    })
}

/// Looks again and again until a signal comes. What cannot be read for a while is said once; what was named and is gone,
/// or may not be read, ends it.
async fn watch(query: &Query<'_>, shell: &Shell) -> Result<EndResult> {
    let mut signals = Signals::listen()?;
    let (in_place, separator) = match query.output {
        StatusFormat::Text | StatusFormat::Wide => (true, "\n"),
        StatusFormat::Yaml => (false, "---\n"),
        StatusFormat::Json | StatusFormat::Name => (false, ""),
    };
    let mut shown = Redrawn::new(in_place, separator);
    let mut said: Vec<String> = Vec::new();
    let mut has_shown = false;
    loop {
        let began = Instant::now();
        let read = match unless_stopped(&mut signals, query.read()).await {
            Ok(read) => read,
            Err(stop) => return Ok(leave(&mut shown, stop)),
        };
        let notes = match read {
            Ok(mut read) => {
                let text = query.shown(&read, shown.style(shell.terminal.stdout), shell)?;
                shown.show(&text, &mut io::stdout().lock())?;
                has_shown = true;
                if let Some(last) = read.missing.pop() {
                    shown.leave(&mut io::stdout().lock());
                    for error in &read.missing {
                        shell.tell_error(error);
                    }
                    return Err(last);
                }
                query.notes(&read, shell)
            }
            Err(error) if has_shown && error.may_pass => vec![format!("{}; looking again", error.message)],
            Err(error) => {
                shown.leave(&mut io::stdout().lock());
                return Err(error);
            }
        };
        for note in notes.iter().filter(|note| !said.contains(note)) {
            shown.aside(|| shell.note(note));
        }
        said = notes;
        let pause = PAUSE.max(began.elapsed() * REST);
        if let Err(stop) = unless_stopped(&mut signals, tokio::time::sleep(pause)).await {
            return Ok(leave(&mut shown, stop));
        }
    }
}

fn leave(shown: &mut Redrawn, stop: Stop) -> EndResult {
    shown.leave(&mut io::stdout().lock());
    stop.result()
}

/// Does something to its end unless a signal comes before.
async fn unless_stopped<T>(signals: &mut Signals, work: impl Future<Output = T>) -> Result<T, Stop> {
    match select(pin!(work), pin!(signals.next())).await {
        Either::Left((done, _)) => Ok(done),
        Either::Right((stop, _)) => Err(stop),
    }
}

impl Query<'_> {
    fn shown(&self, read: &Read, style: Style, shell: &Shell) -> io::Result<String> {
        let mut text = Vec::new();
        let invocation = shell.invocation(&self.cluster);
        let commands = |status: &WorkloadStatus| invocation.next_commands(&status.next, &status.workload, None);
        let now = shell.clock(&self.cluster);
        let context = StatusContext {
            asked_for: self.asked.is_some(),
            namespace: (!self.words.pick.all_namespaces).then(|| self.cluster.namespace()),
            not_read: &read.not_read,
            now: &now,
            commands: &commands,
        };
        render::status(self.output, &read.workloads, &context, &style, &mut text)?;
        Ok(String::from_utf8_lossy(&text).into_owned())
    }

    fn notes(&self, read: &Read, shell: &Shell) -> Vec<String> {
        let is_in_the_text = matches!(self.output, StatusFormat::Text | StatusFormat::Wide);
        let aside = read.not_read.iter().filter(|_| !is_in_the_text).cloned();
        aside.chain(read.pulling.iter().map(|hint| shell.with_flags(hint))).collect()
    }

    async fn read(&self) -> Result<Read> {
        let Some(asked) = &self.asked else {
            let namespace = (!self.words.pick.all_namespaces).then(|| self.cluster.namespace());
            let overview = self.cluster.overview(namespace).await?;
            if let (true, Some(forbidden)) = (overview.workloads.is_empty(), overview.forbidden) {
                // What may not be listed is not known to be empty.
                return Err(forbidden.into());
            }
            let mut lives = overview.workloads;
            self.read_budgets(&mut lives).await;
            let workloads = self.closer(&lives).await;
            let (not_read, pulling) = (overview.not_read, overview.pulling);
            return Ok(Read { workloads, not_read, pulling, missing: Vec::new() });
        };
        let there = targets::find_there(asked.clone(), &self.words, self.global, &self.cluster);
        let (workloads, missing) = there.await?;
        let mut lives = targets::read_side_by_side(&self.cluster, workloads, Nodes::Nowhere).await?;
        self.read_budgets(&mut lives).await;
        let references: Vec<&WorkloadRef> = lives.iter().map(|live| &live.workload.reference).collect();
        let pulling = self.cluster.pulling_for(&references).await;
        Ok(Read { workloads: self.states(&mut lives).await, not_read: Vec::new(), pulling, missing })
    }

    /// Reads the budgets that unfinished rollouts may wait for, once a namespace, as far as the caller may list them.
    async fn read_budgets(&self, lives: &mut [Snapshot]) {
        let mut read: BTreeMap<String, Result<Vec<Value>, String>> = BTreeMap::new();
        for live in lives.iter_mut().filter(|live| waits_for_budgets(&live.workload)) {
            let namespace = &live.workload.reference.namespace;
            if !read.contains_key(namespace) {
                let budgets = self.cluster.budgets(namespace).await.map_err(|error| error.to_string());
                read.insert(namespace.clone(), budgets);
            }
            match read.get(namespace) {
                Some(Ok(budgets)) => live.surroundings.budgets.clone_from(budgets),
                Some(Err(error)) => live.not_read.push(format!(
                    "the PodDisruptionBudgets could not be read ({error}), so it is not known whether the rollout waits for one"
                )),
                None => {}
            }
        }
    }

    async fn states(&self, lives: &mut [Snapshot]) -> Vec<WorkloadStatus> {
        let state = async |live: &mut Snapshot| {
            let workload = &live.workload;
            let generation = workload.object.pointer("/metadata/generation").and_then(Value::as_i64);
            let template = (workload.uid.clone(), generation);
            live.surroundings.made = self.made.borrow().get(&template).cloned().unwrap_or_default();
            let found = self.cluster.status(live).await;
            self.made.borrow_mut().insert(template, live.surroundings.made.clone());
            found
        };
        futures::stream::iter(lives.iter_mut().map(state)).buffered(targets::AT_ONCE).collect().await
    }

    /// Returns the state of the workloads of an overview. The overview has only the names of revisions: where a
    /// workload is notable and no rollout is seen, a rollout whose lock was removed may be left, which revisions show.
    async fn closer(&self, workloads: &[Snapshot]) -> Vec<WorkloadStatus> {
        let seen = workloads.iter().map(|live| {
            let seen = status(live);
            let may_be_held = seen.is_notable() && seen.lock == Ok(None) && live.workload.reference.kind.has_template();
            (live, seen, may_be_held)
        });
        let seen: Vec<_> = seen.collect();
        let may_be_held = seen.iter().filter(|(.., may_be_held)| *may_be_held).map(|(live, ..)| *live);
        let again = may_be_held.take(MOST_READ_AGAIN).map(|live| live.workload.clone()).collect();
        // A caller that may not read them has the overview.
        let mut again = targets::read_side_by_side(&self.cluster, again, Nodes::Nowhere).await.unwrap_or_default();
        let mut again = self.states(&mut again).await.into_iter();
        let closer = |(_, seen, may_be_held): (&Snapshot, WorkloadStatus, bool)| {
            if may_be_held { again.next().unwrap_or(seen) } else { seen }
        };
        seen.into_iter().map(closer).collect()
    }
}

pub(super) async fn history(args: &HistoryArgs, global: &GlobalArgs, shell: &mut Shell) -> Result<EndResult> {
    let words = TargetArgs::from(&args.targets);
    let asked = targets::read_without_images(&words, shell).await?;
    let cluster = shell.connect(global).await?;
    let (workloads, missing) = targets::find_there(asked, &words, global, &cluster).await?;
    sidecar_set::refuse(workloads.iter().map(|workload| workload.reference.kind))?;
    let lives = targets::read_side_by_side(&cluster, workloads, Nodes::Nowhere).await?;
    if lives.is_empty() {
        targets::note_nothing((!words.pick.all_namespaces).then(|| cluster.namespace()), shell);
    }
    let found: Vec<WorkloadUpdates> = lives.iter().map(updates).collect();
    let now = shell.clock(&cluster);
    let invocation = shell.invocation(&cluster);
    let commands = |updates: &WorkloadUpdates| {
        let live = lives.iter().find(|live| live.workload.reference == updates.workload);
        live.map(|live| invocation.next_commands(&status(live).next, &updates.workload, None)).unwrap_or_default()
    };
    let context = HistoryContext { now: &now, commands: &commands };
    render::history(args.output, &found, &context, &shell.terminal.stdout, &mut io::stdout().lock())?;
    Ok(missing.iter().map(|error| shell.tell_error(error)).last().unwrap_or(EndResult::Complete))
}
