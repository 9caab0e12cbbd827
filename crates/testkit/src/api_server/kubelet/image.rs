//! How an image behaves, by its tag, and what the runtime calls it.

use crate::sandbox::REGISTRY;

/// What happens when a container is started from an image.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Behaviour {
    /// Any other tag: runs, and becomes ready.
    Runs,
    /// `slow`: as above, later.
    Slow,
    /// `missing` or `nope`: the registry has no such tag.
    Missing,
    /// `denied`: the registry asks for credentials.
    Denied,
    /// `flaky`: the registry cannot be reached at first.
    Flaky,
    /// `crash`: runs, ends with exit code 3, again and again.
    Crash,
    /// `never-ready`: runs, and its probe never passes.
    NeverReady,
    /// Upper-case letters in the repository.
    InvalidName,
}

/// Returns with what a container ends that is told to: those of the sandbox handle SIGTERM.
pub(crate) fn end(image: &str) -> (u64, &'static str) {
    if image.starts_with(REGISTRY) { (0, "Completed") } else { (143, "Error") }
}

/// Returns the behaviour of an image.
pub(super) fn behaviour(image: &str) -> Behaviour {
    let (repository, tag) = split(image);
    let path = repository.split_once('/').map_or(repository, |(_, path)| path);
    if path.chars().any(char::is_uppercase) {
        return Behaviour::InvalidName;
    }
    match tag {
        "slow" => Behaviour::Slow,
        "missing" | "nope" => Behaviour::Missing,
        "denied" => Behaviour::Denied,
        "flaky" => Behaviour::Flaky,
        "crash" => Behaviour::Crash,
        "never-ready" => Behaviour::NeverReady,
        _ => Behaviour::Runs,
    }
}

/// Splits into repository and tag (`latest` if there is none); a digest is cut off.
fn split(image: &str) -> (&str, &str) {
    let name = image.split_once('@').map_or(image, |(name, _)| name);
    match name.rsplit_once(':') {
        Some((repository, tag)) if !tag.contains('/') => (repository, tag),
        _ => (name, "latest"),
    }
}

/// Returns the name as containerd reports it: with registry and tag.
pub fn normalised(image: &str) -> String {
    let (repository, tag) = split(image);
    let repository = match repository.split_once('/') {
        None => format!("docker.io/library/{repository}"),
        Some((host, _)) if host.contains(['.', ':']) || host == "localhost" => repository.to_owned(),
        Some(_) => format!("docker.io/{repository}"),
    };
    format!("{repository}:{tag}")
}

/// Returns `REPOSITORY@sha256:...`; a tag that ends in `-again` is another name of the tag without it.
pub fn image_id(image: &str) -> String {
    let normalised = normalised(image);
    let repository = normalised.rsplit_once(':').map_or(normalised.as_str(), |(repository, _)| repository);
    match image.split_once('@') {
        Some((_, digest)) => format!("{repository}@{digest}"),
        None => format!("{repository}@sha256:{}", hex64(normalised.trim_end_matches("-again"))),
    }
}

/// The same on one node: the tag `moving` is another image on each.
pub(super) fn image_id_on(image: &str, node: &str) -> String {
    if split(image).1 == "moving" { image_id(&format!("{image}-{node}")) } else { image_id(image) }
}

/// Returns 64 hex digits that depend on a text and nothing else.
pub fn hex64(text: &str) -> String {
    let digest = |seed: u64| {
        text.bytes().fold(0xcbf2_9ce4_8422_2325 ^ seed.wrapping_mul(0x9e37_79b9_7f4a_7c15), |hash, byte| {
            (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3).rotate_left(5)
        })
    };
    (1..=4).map(|seed| format!("{:016x}", digest(seed))).collect()
}

/// Returns the waiting reason and message of a start that did not get as far as a container.
pub(super) fn failure(image: &str, behaviour: Behaviour) -> Option<(&'static str, String)> {
    let name = normalised(image);
    let (host, path) = name.split_once('/').unwrap_or((&name, ""));
    let pull = format!("failed to pull and unpack image \"{name}\": failed to resolve reference \"{name}\":");
    let message = match behaviour {
        Behaviour::Missing => format!("rpc error: code = NotFound desc = {pull} {name}: not found"),
        Behaviour::Denied => format!(
            "rpc error: code = Unknown desc = {pull} pull access denied, repository does not exist or may require \
             authorization: server message: insufficient_scope: authorization failed"
        ),
        Behaviour::Flaky => {
            let (repository, tag) = split(path);
            format!(
                "rpc error: code = Unknown desc = {pull} failed to do request: Head \
                 \"https://{host}/v2/{repository}/manifests/{tag}\": dial tcp 192.0.2.9:443: connect: connection refused"
            )
        }
        Behaviour::InvalidName => {
            let (repository, _) = split(path);
            let why = format!("invalid reference format: repository name ({repository}) must be lowercase");
            return Some((
                "InvalidImageName",
                format!("Failed to apply default image tag \"{image}\": couldn't parse image name \"{image}\": {why}"),
            ));
        }
        Behaviour::Runs | Behaviour::Slow | Behaviour::Crash | Behaviour::NeverReady => return None,
    };
    Some(("ErrImagePull", message))
}
