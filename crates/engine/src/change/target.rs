//! The workloads and images on the command line, in `kubectl set image`'s grammar.

use std::collections::BTreeMap;

use crate::change::asked_resources::AskedResources;
use crate::k8s::names::ContainerName;
use crate::k8s::pod::ContainerList;
use crate::kinds::WorkloadKind;
use crate::value::image::{ImageArgument, ImageError};
use crate::value::suggest;

#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Request {
    /// Workloads by kind and name, in the order given.
    pub named: Vec<(WorkloadKind, String)>,
    pub selected: Vec<WorkloadKind>,
    pub images: Images,
}

/// What the user wants of containers: images, cpu and memory.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Images {
    pub by_container: BTreeMap<ContainerName, ImageArgument>,
    /// `'*=IMAGE'`: of every container that is not named.
    pub all: Option<ImageArgument>,
    pub resources: AskedResources,
}

impl Images {
    /// `'*=IMAGE'` means the containers, as in `kubectl set image`, and no init container.
    pub fn of(&self, list: ContainerList, name: &ContainerName) -> Option<&ImageArgument> {
        let all = self.all.as_ref().filter(|_| list == ContainerList::Containers);
        self.by_container.get(name).or(all)
    }

    pub fn is_empty(&self) -> bool {
        self.by_container.is_empty() && self.all.is_none() && self.resources.is_empty()
    }
}

/// Which workloads a command is about where no name is given.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unnamed {
    /// None: names are required.
    None,
    /// Those of a selector, or all that there are: a name beside it is wrong.
    Picked,
    OfType,
}

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum TargetError {
    #[error("unsupported kind {word:?}; supported: {}{}", known(), suggested(suggestion.as_deref()))]
    UnknownKind { word: String, suggestion: Option<String> },
    #[error("{word} was given without a name: write {word}/NAME, or give -l SELECTOR or --all")]
    NameMissing { word: String },
    #[error(
        "{word:?} is not TYPE/NAME as the other words are: write all targets as TYPE/NAME, or one TYPE and its names"
    )]
    MixedForms { word: String },
    #[error("-l, --field-selector and --all cannot be combined with a name ({word})")]
    NameAndSelector { word: String },
    #[error("{word:?} is not of the form TYPE/NAME")]
    Malformed { word: String },
    #[error("{word:?} is neither TYPE/NAME nor CONTAINER=IMAGE; did you mean {suggestion}?")]
    EqualsMissing { word: String, suggestion: String },
    /// `side = :v2`, `side :v2`: blanks around the equals sign, or in its place.
    #[error("{:?} has {}; did you mean {meant}?", words.join(" "), blanks_where(words))]
    Blanks { words: Vec<String>, meant: String },
    /// A tag without its colon, or a digest without its at sign: as an image it would be another repository.
    #[error(
        "{container}={image} is an image of another repository; did you mean {container}={sign}{image}? Say {container}=docker.io/library/{image} for that repository"
    )]
    SignMissing { container: String, image: String, sign: char },
    #[error("the image for container {container} is not a valid image reference: {source}")]
    Image { container: String, source: ImageError },
    #[error("two images were given for container {container}")]
    ImageTwice { container: String },
    #[error("'*' stands for every container of the pod, injected ones too; say --all-containers if you mean it")]
    AllContainers,
    #[error("{word:?} is not of the form CONTAINER=IMAGE")]
    NotAnImage { word: String },
}

impl TargetError {
    /// Returns the words that are wrong, and the one that was probably meant in their place; `None` where that is not known.
    #[expect(clippy::wildcard_enum_match_arm, reason = "what was meant by the others is not known")]
    pub fn correction(&self) -> Option<(Vec<String>, String)> {
        let of = |word: &str, meant: String| Some((vec![word.to_owned()], meant));
        match self {
            Self::UnknownKind { word, suggestion } => of(word, suggestion.clone()?),
            Self::EqualsMissing { word, suggestion } if !suggestion.starts_with(UNKNOWN_CONTAINER) => {
                of(word, suggestion.clone())
            }
            Self::SignMissing { container, image, sign } => {
                of(&format!("{container}={image}"), format!("{container}={sign}{image}"))
            }
            Self::Blanks { words, meant } => Some((words.clone(), meant.clone())),
            _ => None,
        }
    }
}

/// Stands for a container whose name nobody knows.
const UNKNOWN_CONTAINER: &str = "CONTAINER=";

/// Replaces every wrong word by the meant one; a kind also where a name follows it.
pub fn corrected(words: &[String], (wrong, meant): &(Vec<String>, String)) -> Vec<String> {
    let mut corrected = Vec::new();
    let mut rest = words;
    while let Some((first, others)) = rest.split_first() {
        if let Some(after) = rest.strip_prefix(wrong.as_slice()).filter(|_| !wrong.is_empty()) {
            corrected.push(meant.clone());
            rest = after;
            continue;
        }
        let name = wrong.first().and_then(|kind| first.strip_prefix(kind.as_str())?.strip_prefix('/'));
        corrected.push(name.map_or_else(|| first.clone(), |name| format!("{meant}/{name}")));
        rest = others;
    }
    corrected
}

fn blanks_where(words: &[String]) -> &'static str {
    let has_sign = words.iter().any(|word| word.contains('='));
    if has_sign { "blanks around the equals sign" } else { "a blank in place of the equals sign" }
}

fn known() -> String {
    WorkloadKind::ALL.into_iter().map(|kind| kind.spec().singular).collect::<Vec<_>>().join(", ")
}

fn suggested(suggestion: Option<&str>) -> String {
    suggestion.map(|meant| format!(" (did you mean {meant}?)")).unwrap_or_default()
}

/// Reads the words after the command and the values of `--image`.
///
/// A word with an equals sign is an image, any other a target: names and kinds have none.
pub fn parse(
    words: &[String],
    image_flags: &[String],
    unnamed: Unnamed,
    all_containers: bool,
) -> Result<Request, TargetError> {
    if let Some(error) = blanks(words) {
        return Err(error);
    }
    let (images, targets): (Vec<&String>, Vec<&String>) = words.iter().partition(|word| word.contains('='));
    if let Some(word) = targets.iter().find(|word| word.contains([':', '@'])) {
        return Err(blank_for_sign(&targets, word).unwrap_or_else(|| equals_missing(word)));
    }
    let mut request = Request::default();
    for word in images.into_iter().chain(image_flags) {
        image(word, all_containers, &mut request.images)?;
    }
    let picks = unnamed == Unnamed::Picked;
    match targets.split_first() {
        None if picks => request.selected.extend(WorkloadKind::written_by_users()),
        None => {}
        Some((first, _)) if first.contains('/') => {
            for (at, &word) in targets.iter().enumerate() {
                let without_type = || blank_before_tag(word, targets.get(at + 1).copied());
                let (kind, name) = word.split_once('/').ok_or_else(without_type)?;
                if kind.is_empty() || name.is_empty() || name.contains('/') {
                    return Err(TargetError::Malformed { word: word.clone() });
                }
                request.named.push((self::kind(kind)?, name.to_owned()));
            }
        }
        Some((first, names)) => {
            let kinds = first.split(',').map(kind).collect::<Result<Vec<_>, _>>()?;
            match names.first() {
                Some(word) if picks => return Err(TargetError::NameAndSelector { word: (*word).clone() }),
                None if unnamed == Unnamed::None => return Err(TargetError::NameMissing { word: (*first).clone() }),
                Some(_) | None => {}
            }
            if let Some(word) = names.iter().find(|name| name.contains('/')) {
                return Err(TargetError::MixedForms { word: (*word).clone() });
            }
            if names.is_empty() {
                request.selected = kinds;
            } else {
                request.named =
                    names.iter().flat_map(|name| kinds.iter().map(|kind| (*kind, (*name).clone()))).collect();
            }
        }
    }
    if picks && let Some((_, name)) = request.named.first() {
        return Err(TargetError::NameAndSelector { word: name.clone() });
    }
    let mut seen = std::collections::BTreeSet::new();
    request.named.retain(|target| seen.insert(target.clone()));
    Ok(request)
}

/// `side = :v2`, `side= :v2`, `side =:v2`.
fn blanks(words: &[String]) -> Option<TargetError> {
    let is_part = |word: &&String| !word.contains(['=', '/']);
    let found = words.iter().enumerate().find_map(|(at, word)| {
        let before = at.checked_sub(1).and_then(|before| words.get(before)).filter(is_part).map(|_| at - 1);
        let after = words.get(at + 1).filter(|after| !after.contains('=')).map(|_| at + 1);
        match word.split_once('=')? {
            ("", "") => Some((before?, after?)),
            ("", _) => Some((before?, at)),
            (_, "") => Some((at, after?)),
            _ => None,
        }
    });
    let words = words.get(found?.0..=found?.1)?.to_vec();
    let meant = words.concat();
    let meant = match meant.split_once('=') {
        Some((container, image)) if container.ends_with([':', '@']) => sign_before_equals(container, image)?,
        Some((container, image)) => {
            let sign = sign_missing(image).map(String::from).unwrap_or_default();
            format!("{container}={sign}{image}")
        }
        None => meant,
    };
    Some(TargetError::Blanks { words, meant })
}

/// `deploy/web side :v2`, `deploy web side v2@sha256:00`: before the version is a word that no target needs.
fn blank_for_sign(targets: &[&String], word: &str) -> Option<TargetError> {
    let sign = match word.starts_with([':', '@']) {
        true => String::new(),
        false => sign_missing(word)?.into(),
    };
    let before = targets.iter().position(|target| *target == word)?.checked_sub(1)?;
    let needed = if targets.first()?.contains('/') { 1 } else { 2 };
    let container = targets.get(before).filter(|container| before >= needed && !container.contains(['/', ':', '@']))?;
    let words = vec![(*container).clone(), word.to_owned()];
    Some(TargetError::Blanks { words, meant: format!("{container}={sign}{word}") })
}

/// `deploy/web side v2`, or a word that is no target and no image by itself.
fn blank_before_tag(word: &str, next: Option<&String>) -> TargetError {
    match next.and_then(|next| Some((next, sign_missing(next)?))) {
        Some((part, sign)) => {
            TargetError::Blanks { words: vec![word.to_owned(), part.clone()], meant: format!("{word}={sign}{part}") }
        }
        None => TargetError::MixedForms { word: word.to_owned() },
    }
}

/// No kind and no name has a colon or an at sign: `side:v2`, `acme/side:v2`, `:v2`.
fn equals_missing(word: &str) -> TargetError {
    let suggestion = match word.find([':', '@']).map(|at| word.split_at(at)) {
        Some((container, rest)) if !container.is_empty() && !container.contains(['/', '.']) => {
            format!("{container}={rest}")
        }
        Some(_) | None => format!("{UNKNOWN_CONTAINER}{word}"),
    };
    TargetError::EqualsMissing { word: word.to_owned(), suggestion }
}

/// `side:=v2`, `side@=sha256:00`: the sign that begins a tag or a digest is before the equals sign.
fn sign_before_equals(container: &str, image: &str) -> Option<String> {
    let name = container.trim_end_matches([':', '@']);
    let sign = container.get(name.len()..)?.chars().next()?;
    let is_word = |text: &str| !text.is_empty() && !text.contains([':', '@', '/']);
    let tag = image.split_once('@').map_or(image, |(tag, _)| tag);
    let is_part = if sign == ':' { is_word(tag) } else { sign_missing(image) == Some('@') };
    let meant = if is_part { format!("{name}={sign}{image}") } else { format!("{name}={image}") };
    (is_word(name) && !image.is_empty()).then_some(meant)
}

/// The sign that is missing before what is written as versions are, and has nothing that belongs to a repository: a tag,
/// also with a digest, or a digest.
fn sign_missing(image: &str) -> Option<char> {
    if ["sha256:", "sha384:", "sha512:"].iter().any(|algorithm| image.starts_with(algorithm)) {
        return Some('@');
    }
    let tag = image.split_once('@').map_or(image, |(tag, _)| tag);
    let version = tag.strip_prefix(['v', 'V']).unwrap_or(tag);
    (!tag.contains(['/', ':']) && version.starts_with(|c: char| c.is_ascii_digit())).then_some(':')
}

fn kind(word: &str) -> Result<WorkloadKind, TargetError> {
    WorkloadKind::from_word(word).ok_or_else(|| {
        let words = WorkloadKind::ALL.into_iter().flat_map(|kind| {
            let spec = kind.spec();
            [spec.singular, spec.plural].into_iter().chain(spec.short_names.iter().copied())
        });
        TargetError::UnknownKind { word: word.to_owned(), suggestion: suggest::closest(word, words).map(str::to_owned) }
    })
}

fn image(word: &str, all_containers: bool, images: &mut Images) -> Result<(), TargetError> {
    let malformed = || TargetError::NotAnImage { word: word.to_owned() };
    let (container, image) = word.split_once('=').ok_or_else(malformed)?;
    if container.is_empty() {
        return Err(malformed());
    }
    if let Some(suggestion) = sign_before_equals(container, image) {
        return Err(TargetError::EqualsMissing { word: word.to_owned(), suggestion });
    }
    if let Some(sign) = sign_missing(image) {
        return Err(TargetError::SignMissing { container: container.to_owned(), image: image.to_owned(), sign });
    }
    let image =
        ImageArgument::parse(image).map_err(|source| TargetError::Image { container: container.to_owned(), source })?;
    let twice = || TargetError::ImageTwice { container: container.to_owned() };
    if container == "*" {
        if !all_containers {
            return Err(TargetError::AllContainers);
        }
        return match images.all.replace(image) {
            None => Ok(()),
            Some(_) => Err(twice()),
        };
    }
    match images.by_container.insert(container.into(), image) {
        None => Ok(()),
        Some(_) => Err(twice()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(line: &str) -> Vec<String> {
        line.split_whitespace().map(str::to_owned).collect()
    }

    #[test]
    fn the_grammar_is_that_of_kubectl_set_image() {
        use WorkloadKind::{DaemonSet, Deployment, Pod};
        let named = |line| parse(&words(line), &[], Unnamed::None, false).map(|request| request.named);
        let one = |kind, name: &str| (kind, name.to_owned());
        assert_eq!(named("deploy/web side=a:1"), Ok(vec![one(Deployment, "web")]));
        assert_eq!(named("deploy/web side=a:1 ds/log"), Ok(vec![one(Deployment, "web"), one(DaemonSet, "log")]));
        assert_eq!(named("deploy web api web side=a:1"), Ok(vec![one(Deployment, "web"), one(Deployment, "api")]));
        assert_eq!(named("deploy,ds web"), Ok(vec![one(Deployment, "web"), one(DaemonSet, "web")]));
        assert_eq!(named("pod/web-0"), Ok(vec![one(Pod, "web-0")]));
        assert!(matches!(named("deploy/web api"), Err(TargetError::MixedForms { .. })));
        assert!(matches!(named("deploy web ds/api"), Err(TargetError::MixedForms { .. })));
        assert!(matches!(named("deploy/"), Err(TargetError::Malformed { .. })));
        assert!(matches!(named("deploy/a/b"), Err(TargetError::Malformed { .. })));
        assert!(matches!(named("deploy"), Err(TargetError::NameMissing { .. })));
        assert_eq!(
            named("deploymnt/web").unwrap_err().to_string(),
            "unsupported kind \"deploymnt\"; supported: deployment, statefulset, daemonset, replicaset, pod, cloneset, statefulset.apps.kruise.io, daemonset.apps.kruise.io, rollout, sidecarset (did you mean deployment?)"
        );
    }

    #[test]
    fn what_lacks_a_sign_is_reported_with_the_sign() {
        let reported = |line| parse(&words(line), &[], Unnamed::None, false).unwrap_err().to_string();
        for (line, expected) in [
            (
                "web side=:v2",
                "supported: deployment, statefulset, daemonset, replicaset, pod, cloneset, statefulset.apps.kruise.io, daemonset.apps.kruise.io, rollout, sidecarset",
            ),
            ("deploy/web side:=v2", "did you mean side=:v2?"),
            ("deploy/web side:=:v2", "did you mean side=:v2?"),
            ("deploy/web side:=acme/side:v2", "did you mean side=acme/side:v2?"),
            ("deploy/web side@=sha256:00", "did you mean side=@sha256:00?"),
            ("deploy/web side:= v2", "did you mean side=:v2?"),
            ("deploy/web side v2", "\"side v2\" has a blank in place of the equals sign; did you mean side=:v2?"),
            ("deploy/web side 1.27.2 app=:v1", "did you mean side=:1.27.2?"),
            ("deploy/web side", "\"side\" is not TYPE/NAME as the other words are"),
            ("service/web side=:v2", "replicaset, pod"),
            ("service web side=:v2", "replicaset, pod"),
            ("deploy/web side:v2", "did you mean side=:v2?"),
            ("deploy/web side@sha256:00", "did you mean side=@sha256:00?"),
            ("deploy/web acme/side:v2", "did you mean CONTAINER=acme/side:v2?"),
            ("deploy/web :v2", "did you mean CONTAINER=:v2?"),
            ("deploy/web side :v2", "\"side :v2\" has a blank in place of the equals sign; did you mean side=:v2?"),
            ("deploy web side @sha256:00", "did you mean side=@sha256:00?"),
            ("deploy web :v2", "did you mean CONTAINER=:v2?"),
            ("deploy/web side=v2", "did you mean side=:v2?"),
            (
                "deploy/web side=1.27.2",
                "did you mean side=:1.27.2? Say side=docker.io/library/1.27.2 for that repository",
            ),
            ("deploy/web side=v2@sha256:00", "did you mean side=:v2@sha256:00?"),
            ("deploy/web side=sha256:00", "did you mean side=@sha256:00?"),
            ("deploy/web side:=v2@sha256:00", "did you mean side=:v2@sha256:00?"),
            ("deploy/web side:v2@sha256:00", "did you mean side=:v2@sha256:00?"),
            ("deploy/web side v2@sha256:00", "did you mean side=:v2@sha256:00?"),
            ("deploy/web side :v2@sha256:00", "did you mean side=:v2@sha256:00?"),
            ("deploy/web side sha256:00 app=:v1", "did you mean side=@sha256:00?"),
            ("deploy/web side = :v2", "did you mean side=:v2?"),
            ("deploy/web side= acme/side:v2", "did you mean side=acme/side:v2?"),
            ("deploy/web side =v2 app=:1", "did you mean side=:v2?"),
            ("deploy/web =:v2", "is not of the form CONTAINER=IMAGE"),
        ] {
            assert!(reported(line).contains(expected), "{line}: {}", reported(line));
            assert!(!reported(line).contains("deployment/service"), "{line}: {}", reported(line));
        }
        for line in
            ["deploy/web side=v2:latest", "deploy/web side=nginx", "deploy/web side=vault", "deploy/web side=acme/2048"]
        {
            assert!(parse(&words(line), &[], Unnamed::None, false).is_ok(), "{line}");
        }
    }

    #[test]
    fn what_was_meant_stands_where_the_wrong_words_stood() {
        for (line, expected) in [
            ("deploymnt/web side=:v2", "deployment/web side=:v2"),
            ("deploymnt web side=:v2", "deployment web side=:v2"),
            ("deploy/web side:v2", "deploy/web side=:v2"),
            ("deploy/web side=v2 app=:3", "deploy/web side=:v2 app=:3"),
            ("deploy/web side = v2", "deploy/web side=:v2"),
            ("deploy/web side v2 app=:3", "deploy/web side=:v2 app=:3"),
            ("deploy/web side:=v2", "deploy/web side=:v2"),
        ] {
            let error = parse(&words(line), &[], Unnamed::None, false).unwrap_err();
            let correction = error.correction().unwrap_or_default();
            assert_eq!(corrected(&words(line), &correction).join(" "), expected, "{line}");
        }
        assert_eq!(parse(&words("web side=:v2"), &[], Unnamed::None, false).unwrap_err().correction(), None);
        assert_eq!(parse(&words("deploy/web :v2"), &[], Unnamed::None, false).unwrap_err().correction(), None);
    }

    #[test]
    fn a_selector_takes_kinds_without_names() {
        let request = parse(&words("deploy,sts side=a:1"), &[], Unnamed::Picked, false).unwrap();
        assert_eq!(request.selected, [WorkloadKind::Deployment, WorkloadKind::StatefulSet]);
        let request = parse(&words("deploy,sts"), &[], Unnamed::OfType, false).unwrap();
        assert_eq!(request.selected, [WorkloadKind::Deployment, WorkloadKind::StatefulSet]);
        let request = parse(&words("side=a:1"), &[], Unnamed::Picked, false).unwrap();
        let all: Vec<WorkloadKind> = WorkloadKind::written_by_users().collect();
        assert_eq!((request.selected, request.images.by_container.len()), (all, 1));
        assert!(matches!(
            parse(&words("deploy web"), &[], Unnamed::Picked, false),
            Err(TargetError::NameAndSelector { .. })
        ));
        assert!(matches!(
            parse(&words("deploy/web"), &[], Unnamed::Picked, false),
            Err(TargetError::NameAndSelector { .. })
        ));
    }

    #[test]
    fn an_image_is_checked_before_anything_is_read() {
        let images = |line, flags: &[&str], all| {
            parse(&words(line), &flags.iter().map(|flag| (*flag).to_owned()).collect::<Vec<_>>(), Unnamed::None, all)
        };
        assert_eq!(images("deploy/web side=a:1", &["app=:2"], false).unwrap().images.by_container.len(), 2);
        assert!(images("deploy/web *=a:1", &[], true).unwrap().images.all.is_some());
        assert_eq!(images("deploy/web *=a:1", &[], false), Err(TargetError::AllContainers));
        assert!(matches!(images("deploy/web side=", &[], false), Err(TargetError::Image { .. })));
        assert!(matches!(images("deploy/web side=UPPER/Case:1", &[], false), Err(TargetError::Image { .. })));
        assert!(matches!(images("deploy/web =a:1", &[], false), Err(TargetError::NotAnImage { .. })));
        assert!(matches!(images("deploy/web", &["side"], false), Err(TargetError::NotAnImage { .. })));
        assert!(matches!(images("deploy/web side=a:1 side=a:2", &[], false), Err(TargetError::ImageTwice { .. })));
    }
}
