//! What the user may write after `CONTAINER=`.

use std::fmt;
use std::str::FromStr;

use super::{ImageError, ImageReference, assemble, grammar};

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
    ///
    /// # Errors
    ///
    /// Says which part is malformed, and why.
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

    /// Returns the image to write into the container whose image is `present` now.
    ///
    /// # Errors
    ///
    /// [`ImageError::Present`] when a repository is to be kept and `present` is no reference.
    pub fn resolve(&self, present: &str) -> Result<String, ImageError> {
        let (tag, digest) = match self {
            Self::Whole(reference) => return Ok(reference.as_written().to_owned()),
            Self::Version { tag, digest } => (tag.as_deref(), digest.as_deref()),
        };
        let present = ImageReference::parse(present)
            .map_err(|reason| ImageError::Present { image: present.to_owned(), reason: Box::new(reason) })?;
        Ok(present.with_version(tag, digest)?.as_written().to_owned())
    }
}

impl fmt::Display for ImageArgument {
    /// Writes the argument as it was written.
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
