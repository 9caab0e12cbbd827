//! Image references: what a container's `image` names, and what the user may write for one.
//!
//! Promise: accepts exactly the texts that the kubelet accepts (`ParseNormalizedNamed` of `distribution/reference`, called by
//! `pkg/util/parsers/parsers.go`) and gives them the same parts. The API server takes any text without surrounding
//! whitespace; the kubelet reports `InvalidImageName` only after it has killed the old container. So a bad name is
//! found here, in time.
//!
//! Not in here: registries. Whether an image exists is never asked.

mod grammar;
#[cfg(test)]
mod tests;

use std::fmt;
use std::str::FromStr;

/// The registry of names that begin with none.
const DEFAULT_DOMAIN: &str = "docker.io";
/// Another name of [`DEFAULT_DOMAIN`], from the first days of Docker Hub.
const LEGACY_DEFAULT_DOMAIN: &str = "index.docker.io";
/// The namespace of one-word names at [`DEFAULT_DOMAIN`].
const OFFICIAL_PREFIX: &str = "library/";
/// The tag of references that have neither tag nor digest.
const DEFAULT_TAG: &str = "latest";

/// Holds a well-formed image reference: the text as it was written, and its parts.
///
/// The text is kept because the kubelet hashes it: `nginx` and `docker.io/library/nginx:latest` are the same image, and going
/// from one to the other restarts the container.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct ImageReference {
    written: String,
    domain: String,
    path: String,
    tag: Option<String>,
    digest: Option<String>,
}

/// Returns whether two references are the same text once they are written out in full.
pub fn is_same(a: &str, b: &str) -> bool {
    let normalised = |image: &str| ImageReference::parse(image).map(|image| image.normalised()).ok();
    a == b || normalised(a).is_some_and(|a| normalised(b) == Some(a))
}

impl ImageReference {
    /// Reads a reference such as `nginx`, `acme/side:1.27.2` or `[::1]:5000/app:v1@sha256:...`.
    pub fn parse(written: &str) -> Result<Self, ImageError> {
        if written.is_empty() {
            return ImageError::of("image is empty");
        }
        if written.trim() != written {
            return Err(ImageError::SurroundingWhitespace);
        }
        if grammar::is_identifier(written) {
            return ImageError::of("image is 64 hexadecimal digits, which is an image ID and not a name");
        }
        if written.contains("://") {
            return ImageError::of("image begins with a URL scheme, which a reference does not have");
        }
        let (domain, remainder) = split_domain(written);
        let (name, digest) = match remainder.split_once('@') {
            Some((name, digest)) => (name, Some(digest)),
            None => (remainder, None),
        };
        let (path, tag) = match name.split_once(':') {
            Some((path, tag)) => (path, Some(tag)),
            None => (name, None),
        };
        let domain = domain.unwrap_or(DEFAULT_DOMAIN);
        grammar::check_repository(domain, path)?;
        // One-word names, at Docker Hub only.
        let path = if domain == DEFAULT_DOMAIN && !path.contains('/') {
            format!("{OFFICIAL_PREFIX}{path}")
        } else {
            path.to_owned()
        };
        grammar::check_length(domain, &path)?;
        tag.map_or(Ok(()), grammar::check_tag)?;
        digest.map_or(Ok(()), grammar::check_digest)?;
        Ok(Self {
            written: written.to_owned(),
            domain: domain.to_owned(),
            path,
            tag: tag.map(str::to_owned),
            digest: digest.map(str::to_owned),
        })
    }

    pub fn as_written(&self) -> &str {
        &self.written
    }

    /// Returns the registry's host with its port, `docker.io` where none was written.
    ///
    /// Go gives no domain to names such as `foo_bar.com/x`, whose host is none by its grammar; container runtimes take the
    /// first component for the host all the same, and so does this.
    pub fn domain(&self) -> &str {
        &self.domain
    }

    pub fn path(&self) -> &str {
        &self.path
    }

    pub fn tag(&self) -> Option<&str> {
        self.tag.as_deref()
    }

    /// Returns the digest that was written, as `algorithm:hexadecimal`.
    pub fn digest(&self) -> Option<&str> {
        self.digest.as_deref()
    }

    /// Returns domain and path: `docker.io/library/nginx`.
    pub fn repository(&self) -> String {
        format!("{}/{}", self.domain, self.path)
    }

    /// Returns the full form: the repository, with the tag (`latest` where there is neither tag nor digest) and the digest.
    pub fn normalised(&self) -> String {
        let tag = self.tag().or(self.digest.is_none().then_some(DEFAULT_TAG));
        assemble(&self.repository(), tag, self.digest())
    }

    /// Returns the short form that Docker shows: without `docker.io/` and `library/`; tag and digest as they were written.
    pub fn familiar(&self) -> String {
        assemble(&self.familiar_repository(), self.tag(), self.digest())
    }

    fn familiar_repository(&self) -> String {
        if self.domain != DEFAULT_DOMAIN {
            return self.repository();
        }
        match self.path.strip_prefix(OFFICIAL_PREFIX) {
            // Alone, it would be an image ID.
            Some(name) if grammar::is_identifier(name) => self.repository(),
            Some(name) if !name.contains('/') => name.to_owned(),
            // Alone, a path such as `my.team/app` would be one of another registry.
            _ if split_domain(&self.path) != (None, self.path.as_str()) => self.repository(),
            _ => self.path.clone(),
        }
    }

    /// Returns the text as it was written up to tag and digest: `nginx` for `nginx:1.27`.
    pub fn name_as_written(&self) -> &str {
        let digest = self.digest.as_ref().map_or(0, |digest| digest.len() + 1);
        let tag = self.tag.as_ref().map_or(0, |tag| tag.len() + 1);
        self.written.get(..self.written.len().saturating_sub(digest + tag)).unwrap_or(&self.written)
    }

    /// Says whether the tag is `latest`, written or implied. A digest beside a written `latest` changes nothing: the API
    /// server's default for `imagePullPolicy` goes by the tag (`SetDefaults_Container`).
    pub fn has_latest_tag(&self) -> bool {
        match self.tag() {
            Some(tag) => tag == DEFAULT_TAG,
            None => self.digest.is_none(),
        }
    }

    /// Returns the same name as written with another tag. A digest goes away: beside it, a runtime ignores the tag.
    pub fn with_tag(&self, tag: &str) -> Result<Self, ImageError> {
        self.with_version(Some(tag), None)
    }

    /// Returns the same name and tag as written with a digest, `repo:tag@digest`: what runs, and what it was called.
    pub fn with_digest(&self, digest: &str) -> Result<Self, ImageError> {
        self.with_version(self.tag(), Some(digest))
    }

    /// Returns the same name as written with a digest and without a tag, `repo@digest`.
    pub fn with_digest_alone(&self, digest: &str) -> Result<Self, ImageError> {
        self.with_version(None, Some(digest))
    }

    /// Returns the same name as written with exactly this tag and digest.
    fn with_version(&self, tag: Option<&str>, digest: Option<&str>) -> Result<Self, ImageError> {
        tag.map_or(Ok(()), grammar::check_tag)?;
        digest.map_or(Ok(()), grammar::check_digest)?;
        Self::parse(&assemble(self.name_as_written(), tag, digest))
    }
}

impl fmt::Display for ImageReference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.written)
    }
}

/// Says whether two references ask a runtime for the same thing: the same repository, and the same digest or, where neither
/// has one, the same tag (`ParseDockerRef` drops a tag beside a digest).
///
/// `false` does not mean other bits: a tag and a digest may well name the same image.
pub fn same_image(a: &ImageReference, b: &ImageReference) -> bool {
    let tags = || a.tag().unwrap_or(DEFAULT_TAG) == b.tag().unwrap_or(DEFAULT_TAG);
    a.domain == b.domain
        && a.path == b.path
        && match (a.digest(), b.digest()) {
            (Some(a), Some(b)) => a == b,
            (None, None) => tags(),
            (Some(_), None) | (None, Some(_)) => false,
        }
}

/// Names the wanted image: by itself, or by what changes of the present one.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum ImageArgument {
    /// A whole reference. It is sent as it was written and never normalised, since the kubelet hashes the text.
    Whole(ImageReference),
    /// `:TAG`, `@DIGEST` or `:TAG@DIGEST` keeps the repository of the present image as it is written there. A part that is
    /// not given **goes away**: nothing says that the present tag belongs to another digest.
    Version { tag: Option<String>, digest: Option<String> },
}

impl ImageArgument {
    /// Reads `REFERENCE`, `:TAG`, `@DIGEST` or `:TAG@DIGEST`.
    pub fn parse(written: &str) -> Result<Self, ImageError> {
        if !written.starts_with([':', '@']) {
            return ImageReference::parse(written).map(Self::Whole);
        }
        let (before, digest) = written.split_once('@').map_or((written, None), |(tag, digest)| (tag, Some(digest)));
        let tag = before.strip_prefix(':');
        tag.map_or(Ok(()), grammar::check_tag)?;
        digest.map_or(Ok(()), grammar::check_digest)?;
        Ok(Self::Version { tag: tag.map(str::to_owned), digest: digest.map(str::to_owned) })
    }

    /// Returns the image to write into the container whose image is `present` now: a repository is only kept of a reference.
    pub fn resolve(&self, present: &str) -> Result<String, ImageError> {
        let (tag, digest) = match self {
            Self::Whole(reference) => return Ok(reference.as_written().to_owned()),
            Self::Version { tag, digest } => (tag.as_deref(), digest.as_deref()),
        };
        let nothing_to_keep = |reason| {
            ImageError::Malformed(format!("the present image {present:?} has no repository to keep: {reason}"))
        };
        let present = ImageReference::parse(present).map_err(nothing_to_keep)?;
        Ok(present.with_version(tag, digest)?.as_written().to_owned())
    }
}

impl fmt::Display for ImageArgument {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Whole(reference) => reference.fmt(f),
            Self::Version { tag, digest } => f.write_str(&assemble("", tag.as_deref(), digest.as_deref())),
        }
    }
}

impl FromStr for ImageArgument {
    type Err = ImageError;

    fn from_str(written: &str) -> Result<Self, Self::Err> {
        Self::parse(written)
    }
}

/// Returns the digest under which a registry knows the image, as `sha256:...`, if the `imageID` has it.
///
/// containerd and CRI-O write `repo@sha256:...`, dockershim wrote `docker-pullable://repo@sha256:...`. A bare `sha256:...`
/// or bare hexadecimal is the digest of the image's configuration: no registry serves anything under it (kubernetes#95968).
pub fn repo_digest(image_id: &str) -> Option<&str> {
    let (_, digest) = image_id.rsplit_once('@')?;
    grammar::check_digest(digest).ok().map(|()| digest)
}

/// Holds what to show of a change from one image to another.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ImagePair {
    /// The repository of both in its familiar form (`acme/side`), or `None` where they differ or nothing else would.
    pub repository: Option<String>,
    /// Where there is a common repository: the tag, `@digest`, or `tag@digest` of the first image. Else its whole text.
    pub from: String,
    pub to: String,
}

/// Returns how to show two images side by side: `acme/side`, `1.27.1`, `1.27.2`.
///
/// Both stay whole if a repository changes (that should be seen), if one is no reference, or if they differ in nothing but
/// how the repository is written.
pub fn display_short(from: &str, to: &str) -> ImagePair {
    let whole = || ImagePair { repository: None, from: from.to_owned(), to: to.to_owned() };
    let (Ok(first), Ok(second)) = (ImageReference::parse(from), ImageReference::parse(to)) else {
        return whole();
    };
    let (from, to) = (version(&first), version(&second));
    if first.repository() != second.repository() || (from == to && first != second) {
        return whole();
    }
    ImagePair { repository: Some(first.familiar_repository()), from, to }
}

/// Returns tag and digest of a reference; `latest` where it has neither.
fn version(reference: &ImageReference) -> String {
    match (reference.tag(), reference.digest()) {
        (None, None) => DEFAULT_TAG.to_owned(),
        (tag, digest) => assemble(tag.unwrap_or_default(), None, digest),
    }
}

/// Splits off the registry (`splitDockerDomain`): the part before the first slash, if it looks like a host.
fn split_domain(written: &str) -> (Option<&str>, &str) {
    match written.split_once('/') {
        Some((LEGACY_DEFAULT_DOMAIN, remainder)) => (None, remainder),
        // An upper-case namespace is not allowed, so that it must be a host.
        Some((first, remainder))
            if first == "localhost" || first.contains(['.', ':']) || first.chars().any(char::is_uppercase) =>
        {
            (Some(first), remainder)
        }
        _ => (None, written),
    }
}

fn assemble(name: &str, tag: Option<&str>, digest: Option<&str>) -> String {
    let mut text = name.to_owned();
    for (mark, part) in [(':', tag), ('@', digest)] {
        if let Some(part) = part {
            text.push(mark);
            text.push_str(part);
        }
    }
    text
}

/// Which part of an image reference is malformed, and why: one clause.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ImageError {
    /// The API server refuses this too.
    #[error("image has leading or trailing whitespace")]
    SurroundingWhitespace,
    #[error("{0}")]
    Malformed(String),
}

impl ImageError {
    fn of<T>(what: impl Into<String>) -> Result<T, Self> {
        Err(Self::Malformed(what.into()))
    }
}
