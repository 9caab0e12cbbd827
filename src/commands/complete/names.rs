//! Names that only the kubeconfig, the cluster or the engine knows.
//!
//! Promise: nothing is written, no credential plugin asks, and what fails or takes longer than [`TIMEOUT`] is no candidate.

use std::collections::BTreeMap;
use std::time::Duration;

use clap::Parser;

use super::wanted::{Wanted, What, kind_of};
use super::{NO_FILES, NO_FILES_NO_BLANK};
use crate::cli::{Cli, Command, TargetArgs, resolved, root};
use crate::cluster::{Cluster, Nodes};
use crate::commands::Shell;
use crate::commands::reference;
use crate::commands::targets::{self, Asked};
use engine::change::target;
use engine::k8s::pod::Pod;
use engine::k8s::workload::Workload;
use engine::kinds::WorkloadKind;
use engine::plan::Snapshot;
use engine::plan::updates::updates;
use engine::status::template_containers;
use engine::value::image::ImageReference;

/// How long names are waited for: with what else a shell does, the user waits two seconds at most after the tab key.
const TIMEOUT: Duration = Duration::from_millis(1700);

/// Candidates and what is said of them, and whether something follows in the same word.
#[derive(Default)]
struct Names {
    described: BTreeMap<String, String>,
    goes_on: bool,
}

impl Names {
    fn of(names: impl IntoIterator<Item = String>) -> Self {
        Self { described: names.into_iter().map(|name| (name, String::new())).collect(), goes_on: false }
    }

    fn begun(names: impl IntoIterator<Item = String>) -> Self {
        Self { goes_on: true, ..Self::of(names) }
    }

    /// Keeps those that begin as what is typed: upper and lower case are alike.
    fn fitting(mut self, typed: &str) -> Self {
        let typed = typed.to_lowercase();
        self.described.retain(|name, _| name.to_lowercase().starts_with(&typed));
        self
    }

    fn answer(&self, before: &str) -> String {
        let line = |(name, help): (&String, &String)| match help.is_empty() {
            true => format!("{before}{name}\n"),
            false => format!("{before}{name}\t{help}\n"),
        };
        let lines: String = self.described.iter().map(line).collect();
        format!("{lines}{}\n", if self.goes_on { NO_FILES_NO_BLANK } else { NO_FILES })
    }
}

pub(super) async fn candidates(wanted: &Wanted, words: &[String], shell: &mut Shell) -> String {
    let (typed, before) = words.split_last().map_or(("", &[][..]), |(typed, before)| (typed.as_str(), before));
    // In `--namespace=pr` and `deploy/we` only the end is the name.
    let part = typed.get(wanted.before.len()..).unwrap_or_default();
    let names = if wanted.what == What::Code {
        codes()
    } else if wanted.what == What::Kind {
        kinds(part)
    } else {
        let question = Question { before, listed: &wanted.before, typed: part };
        tokio::time::timeout(TIMEOUT, question.ask(&wanted.what, shell)).await.ok().flatten().unwrap_or_default()
    };
    names.fitting(part).answer(&wanted.before)
}

fn codes() -> Names {
    let codes = reference::every_code().into_iter().map(|known| (known.code, known.summary.to_owned()));
    let states = reference::every_word().into_iter().map(|known| (known.word, known.meaning.to_owned()));
    let ends = reference::ends().into_iter().flat_map(|end| {
        let meaning = end.meaning.replace('`', "");
        [(end.exit_code, format!("exit code: {meaning}")), (end.word, meaning)]
    });
    // Several ends have the exit code 0.
    let mut described: BTreeMap<String, String> = BTreeMap::new();
    for (code, summary) in codes.chain(states).chain(ends) {
        let is_known = described.keys().any(|known| known.eq_ignore_ascii_case(code));
        if !is_known {
            described.insert(code.to_owned(), summary);
        }
    }
    Names { described, goes_on: false }
}

/// Kinds of workloads; somebody who typed a short name goes on with it.
fn kinds(typed: &str) -> Names {
    let kinds = WorkloadKind::ALL.into_iter().map(|kind| format!("{}/", kind.spec().singular));
    Names::begun(kinds.chain(kind_of(typed).map(|_| format!("{typed}/"))))
}

/// What is in Kubernetes' names, images and kubeconfigs, and means nothing to a shell into which it would be typed.
fn is_plain(text: &str) -> bool {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "-._:/@+".contains(c);
    !text.is_empty() && !text.starts_with('-') && text.chars().all(is_plain)
}

/// Something that the kubeconfig or the cluster is asked.
struct Question<'w> {
    before: &'w [String],
    /// The text before it in the same word.
    listed: &'w str,
    typed: &'w str,
}

impl Question<'_> {
    async fn ask(&self, what: &What, shell: &mut Shell) -> Option<Names> {
        let line = self.parsed()?;
        shell.ask_in_silence();
        let names = match what {
            What::Context => Names::of(shell.kubeconfig_names(&line.global).contexts),
            What::Cluster => Names::of(shell.kubeconfig_names(&line.global).clusters),
            What::User => Names::of(shell.kubeconfig_names(&line.global).users),
            What::Namespace => Names::of(shell.connect(&line.global).await.ok()?.namespace_names().await.ok()?),
            What::Workload(kind) => {
                let cluster = shell.connect(&line.global).await.ok()?;
                Names::of(cluster.workload_names(*kind, cluster.namespace()).await.ok()?)
            }
            What::ContainerOfImage(other) => return self.containers_of_images(other.as_deref(), &line, shell).await,
            What::Image(_) => return self.images_of(what, &line, shell).await,
            What::Container | What::Pod | What::Node | What::Update => {
                of_targets(what, &line, &shell.connect(&line.global).await.ok()?).await?
            }
            // Nothing that is asked here.
            What::File | What::Code | What::Kind => Names::default(),
        };
        Some(self.sifted(names))
    }

    /// `side=`, unless the container has its image already; of what has begun to be typed also something else.
    async fn containers_of_images(&self, other: Option<&What>, line: &Cli, shell: &mut Shell) -> Option<Names> {
        let cluster = shell.connect(&line.global).await.ok()?;
        let names = of_targets(&What::Container, line, &cluster).await.unwrap_or_default();
        let mut names = self.sifted(names).fitting(self.typed);
        names.described = names.described.into_iter().map(|(name, help)| (format!("{name}="), help)).collect();
        names.described.retain(|name, _| !self.before.iter().any(|word| word.starts_with(name.as_str())));
        names.goes_on = true;
        match other {
            None => Some(names),
            Some(_) if self.typed.is_empty() || !names.described.is_empty() => Some(names),
            Some(What::Workload(kind)) => {
                let found = cluster.workload_names(*kind, cluster.namespace()).await.ok()?;
                Some(self.sifted(Names::of(found)))
            }
            Some(_) => Some(kinds(self.typed)),
        }
    }

    /// The repository with its colon, as another tag is what is wanted; once that is typed, the image.
    async fn images_of(&self, what: &What, line: &Cli, shell: &mut Shell) -> Option<Names> {
        let images = of_targets(what, line, &shell.connect(&line.global).await.ok()?).await?.described.into_keys();
        let images: Vec<String> = images.filter(|image| is_plain(image)).collect();
        let repository = |image: &str| Some(ImageReference::parse(image).ok()?.name_as_written().to_owned());
        if images.iter().filter_map(|image| repository(image)).any(|repository| self.typed.starts_with(&repository)) {
            return Some(Names::of(images));
        }
        // What goes on and does not end with a colon gets a second candidate from kubectl's completion for fish.
        let described = images.into_iter().filter_map(|image| Some((format!("{}:", repository(&image)?), image)));
        Some(Names { described: described.collect(), goes_on: true })
    }

    /// Reads the words before. What does not parse leads to no cluster for certain.
    fn parsed(&self) -> Option<Cli> {
        let program = std::iter::once("kubectl-inplace".to_owned());
        let words: Vec<String> = program.chain(self.before.iter().cloned()).collect();
        let words = resolved(root(), &words);
        // The flag whose value is being typed has none yet.
        let without_last = words.split_last().map_or(&[][..], |(_, rest)| rest);
        Cli::try_parse_from(&words).or_else(|_| Cli::try_parse_from(without_last)).ok()
    }

    /// Leaves out what is no name, and names that are in the words already.
    fn sifted(&self, mut names: Names) -> Names {
        let is_given =
            |name: &String| self.before.contains(name) || self.listed.split(['=', ',']).any(|item| item == name);
        names.described.retain(|name, _| is_plain(name) && !is_given(name));
        for help in names.described.values_mut().filter(|help| !is_plain(help)) {
            help.clear();
        }
        names
    }
}

/// Asks for something of the targets; `None` where they cannot be had.
async fn of_targets(what: &What, line: &Cli, cluster: &Cluster) -> Option<Names> {
    let targets = targets_of(line.command.as_ref()?)?;
    let picked = targets::unnamed(&targets);
    let request = target::parse(&targets.words, &[], picked, targets.all_containers).ok()?;
    if request.named.is_empty() && request.selected.is_empty() {
        return if *what == What::Node { cluster.node_names().await.ok().map(Names::of) } else { None };
    }
    let found = targets::find_any(Asked::Words(Box::new(request)), &targets, &line.global, cluster).await.ok()?;
    let workloads: Vec<Workload> = found.into_iter().map(|(workload, _)| workload).collect();
    let containers = || workloads.iter().flat_map(containers);
    let described = if let What::Image(container) = what {
        let images = containers().filter(|(name, _)| name == container);
        images.map(|(_, image)| (image, String::new())).collect()
    } else if *what == What::Container {
        containers().collect()
    } else {
        let lives = targets::read_side_by_side(cluster, workloads, Nodes::Nowhere).await.ok()?;
        lives.iter().flat_map(|live| of_live(what, live)).collect()
    };
    Some(Names { described, goes_on: false })
}

/// Returns what a workload has of pods, of their nodes, or of updates.
fn of_live(what: &What, live: &Snapshot) -> Vec<(String, String)> {
    let pods = live.pods.iter();
    if *what == What::Update {
        let updates = updates(live).updates.into_iter();
        return updates.map(|update| (update.id.as_str().to_owned(), update.began.unwrap_or_default())).collect();
    }
    let node = |pod: &Pod| (pod.spec.node_name.clone(), String::new());
    let name = |pod: &Pod| (pod.key.name.clone(), pod.spec.node_name.clone());
    if *what == What::Node { pods.map(node).collect() } else { pods.map(name).collect() }
}

/// Returns the containers of a workload's template with their images, init containers included: sidecars are among them.
fn containers(workload: &Workload) -> Vec<(String, String)> {
    let containers = template_containers(workload.template()).into_iter();
    containers.map(|one| (one.container.as_str().to_owned(), one.image)).collect()
}

#[expect(clippy::wildcard_enum_match_arm, reason = "the others have none")]
fn targets_of(command: &Command) -> Option<TargetArgs> {
    match command {
        Command::Plan(args) => Some(args.change.targets.clone()),
        Command::Diff(args) => Some(args.change.targets.clone()),
        Command::Apply(args) => Some(args.change.targets.clone()),
        Command::Hash(args) => Some(args.targets.clone()),
        Command::Restart(args) => Some((&args.targets).into()),
        Command::Resume(args) => Some((&args.targets).into()),
        Command::Abort(args) => Some((&args.resume.targets).into()),
        Command::Undo(args) => Some((&args.targets).into()),
        Command::Follow(args) => Some(args.targets.clone()),
        Command::Status(args) => Some((&args.targets).into()),
        Command::History(args) => Some((&args.targets).into()),
        _ => None,
    }
}
