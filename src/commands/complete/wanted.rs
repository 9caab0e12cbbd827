//! What is being typed, by the words before it.

use clap::{Arg, Command, CommandFactory, ValueHint};

use crate::cli::{Cli, Line, named_flag};
use engine::kinds::WorkloadKind;

#[derive(Debug, PartialEq, Eq)]
pub(super) struct Wanted {
    /// The text before it in the same word: `--namespace=`, `deploy/`, `app,`.
    pub(super) before: String,
    pub(super) what: What,
}

/// What only the shell, the kubeconfig, the cluster or the engine knows.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum What {
    File,
    Context,
    Cluster,
    User,
    Namespace,
    Code,
    Kind,
    Workload(WorkloadKind),
    /// A container of the targets, for an image: `side=`. What has begun to be typed may also be something else.
    ContainerOfImage(Option<Box<Self>>),
    /// A container of the targets, the image of one, one of their pods.
    Container,
    Image(String),
    Pod,
    /// A node of their pods; any where there is no target.
    Node,
    Update,
}

/// Returns what is wanted, by the words after the plugin's name; `None` where the command line itself knows the candidates.
pub(super) fn wanted(words: &[String]) -> Option<Wanted> {
    let (typed, before) = words.split_last()?;
    let root = Cli::command();
    let line = Line::read(before, &root);
    if let Some(flag) = line.pending {
        let what = of_value(flag, typed)?;
        return Some(Wanted { before: items_before(flag, typed).to_owned(), what });
    }
    if typed.starts_with('-') {
        let (flag, value) = if line.is_escaped { None } else { named_flag(typed, &line.flags(&root)) }?;
        let value = value?;
        let what = of_value(flag, value)?;
        let name = typed.strip_suffix(value).unwrap_or_default();
        return Some(Wanted { before: format!("{name}{}", items_before(flag, value)), what });
    }
    let (name, words) = line.words.split_first()?;
    of_word(root.find_subcommand(name)?, words, typed)
}

/// Returns the text before the item of a list, or before the image of a container, that is being typed.
fn items_before<'w>(flag: &Arg, value: &'w str) -> &'w str {
    if flag.get_id() == "image" {
        return value.find('=').map_or("", |at| &value[..=at]);
    }
    let delimiter = flag.get_value_delimiter().and_then(|delimiter| value.rfind(delimiter));
    delimiter.map_or("", |at| &value[..=at])
}

fn of_value(flag: &Arg, value: &str) -> Option<What> {
    match flag.get_id().as_str() {
        "context" => Some(What::Context),
        "cluster" => Some(What::Cluster),
        "user" => Some(What::User),
        "namespace" => Some(What::Namespace),
        "container" | "container_order" => Some(What::Container),
        "image" => Some(image(value).map_or(What::ContainerOfImage(None), What::Image)),
        "pods" => Some(What::Pod),
        "node" => Some(What::Node),
        "to" => Some(What::Update),
        _ => matches!(flag.get_value_hint(), ValueHint::FilePath | ValueHint::AnyPath).then_some(What::File),
    }
}

fn image(typed: &str) -> Option<String> {
    typed.split_once('=').map(|(container, _)| container.to_owned())
}

/// Returns what a word is that is no flag's, after those of its command.
fn of_word(command: &Command, words: &[&str], typed: &str) -> Option<Wanted> {
    let plain = |what| Some(Wanted { before: String::new(), what });
    if command.get_name() == "explain" {
        return if words.is_empty() { plain(What::Code) } else { None };
    }
    // Those that take workloads have the words for them.
    let takes = |id: &str| command.get_arguments().any(|argument| argument.get_id() == id);
    if !takes("words") || command.is_hide_set() {
        return None;
    }
    if takes("image")
        && let Some(container) = image(typed)
    {
        return Some(Wanted { before: format!("{container}="), what: What::Image(container) });
    }
    if let Some((kind, _)) = typed.split_once('/') {
        return Some(Wanted { before: format!("{kind}/"), what: What::Workload(kind_of(kind)?) });
    }
    let mut targets = words.iter().filter(|word| !word.contains('='));
    let Some(first) = targets.next() else { return plain(What::Kind) };
    let other = if first.contains('/') { What::Kind } else { What::Workload(kind_of(first)?) };
    let is_named = first.contains('/') || targets.next().is_some();
    plain(if takes("image") && is_named { What::ContainerOfImage(Some(Box::new(other))) } else { other })
}

pub(super) fn kind_of(word: &str) -> Option<WorkloadKind> {
    WorkloadKind::from_word(word)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_words_say_what_is_wanted() {
        use WorkloadKind::{DaemonSet, Deployment, Pod};
        let some = |before: &str, what| Some(Wanted { before: before.to_owned(), what });
        let workload = |kind, before: &str| some(before, What::Workload(kind));
        let image_or = |what| some("", What::ContainerOfImage(Some(Box::new(what))));
        let cases = [
            ("apply deploy/", workload(Deployment, "deploy/")),
            ("plan -n prod Deployments.apps/we", workload(Deployment, "Deployments.apps/")),
            ("plan -n=prod deploy/we", workload(Deployment, "deploy/")),
            ("apply ds ", workload(DaemonSet, "")),
            ("watch po we", workload(Pod, "")),
            ("apply deploy/web side=acme/side:v2 pod/", workload(Pod, "pod/")),
            ("apply -- deploy/w", workload(Deployment, "deploy/")),
            ("-n prod apply --pods-only --yes deploy/w", workload(Deployment, "deploy/")),
            ("apply --max-unavailable 2 deploy/", workload(Deployment, "deploy/")),
            ("apply nonsense/", None),
            ("apply ", some("", What::Kind)),
            ("apply dep", some("", What::Kind)),
            ("apply deploy/web ", image_or(What::Kind)),
            ("apply deploy/web si", image_or(What::Kind)),
            ("apply deploy web ", image_or(What::Workload(Deployment))),
            ("apply deploy/web app=:2 ", image_or(What::Kind)),
            ("apply deploy/web side=acme/s", some("side=", What::Image("side".into()))),
            ("status deploy/web ", some("", What::Kind)),
            ("status deploy web ", workload(Deployment, "")),
            ("apply deploy/web --image ", some("", What::ContainerOfImage(None))),
            ("apply deploy/web --image=si", some("--image=", What::ContainerOfImage(None))),
            ("apply deploy/web --image side=acme/s", some("side=", What::Image("side".into()))),
            ("apply deploy/web --image=side=", some("--image=side=", What::Image("side".into()))),
            ("restart deploy/web -c ", some("", What::Container)),
            ("restart deploy/web -capp,s", some("-capp,", What::Container)),
            ("restart deploy/web --container=", some("--container=", What::Container)),
            ("apply deploy/web --container-order app,", some("app,", What::Container)),
            ("apply deploy/web --pods web-1,", some("web-1,", What::Pod)),
            ("apply deploy/web --node ", some("", What::Node)),
            ("undo deploy/web --to ", some("", What::Update)),
            ("explain ", some("", What::Code)),
            ("explain Temp", some("", What::Code)),
            ("explain NoPods ", None),
            ("plan -n ", some("", What::Namespace)),
            ("plan -An ", some("", What::Namespace)),
            ("plan --namespace pro", some("", What::Namespace)),
            ("plan --namespace=pro", some("--namespace=", What::Namespace)),
            ("-n ", some("", What::Namespace)),
            ("--context ", some("", What::Context)),
            ("status --context=ar", some("--context=", What::Context)),
            ("status --cluster ", some("", What::Cluster)),
            ("status --user ", some("", What::User)),
            ("plan -f ", some("", What::File)),
            ("plan -k ", some("", What::File)),
            ("apply --plan ", some("", What::File)),
            ("plan --filename=we", some("--filename=", What::File)),
            ("plan -f=we", some("-f=", What::File)),
            ("plan --timeout ", None),
            ("plan -o ", None),
            ("plan --det", None),
            ("plan -- --det", None),
            ("version ", None),
            ("rbac ", None),
            ("rbac apply ", None),
            ("", None),
            ("--", None),
            ("pl", None),
        ];
        for (line, expected) in cases {
            let words: Vec<String> = line.split(' ').map(str::to_owned).collect();
            assert_eq!(wanted(&words), expected, "{line:?}");
        }
    }
}
