//! What the user may write after `CONTAINER=`.

use std::fmt;
use std::str::FromStr;

use super::{ImageError, ImageReference, grammar};

/// Names the wanted image: by itself, or by what changes of the present one.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum ImageArgument {
    /// A whole reference. It is sent as it was written and never normalised, since the kubelet hashes the text.
    Whole(ImageReference),
    /// `:TAG` keeps the repository of the present image as it is written there; a digest goes away.
    Tag(String),
    /// `@DIGEST` keeps the repository of the present image as it is written there; **the tag is dropped**, since
    /// nothing says that it belongs to that digest. A user who wants both writes the whole reference.
    Digest(String),
}

impl ImageArgument {
    /// Reads `REFERENCE`, `:TAG` or `@DIGEST`.
    ///
    /// # Errors
    ///
    /// Says which part is malformed, and why.
    pub fn parse(written: &str) -> Result<Self, ImageError> {
        if let Some(tag) = written.strip_prefix(':') {
            grammar::check_tag(tag)?;
            Ok(Self::Tag(tag.to_owned()))
        } else if let Some(digest) = written.strip_prefix('@') {
            grammar::check_digest(digest)?;
            Ok(Self::Digest(digest.to_owned()))
        } else {
            ImageReference::parse(written).map(Self::Whole)
        }
    }

    /// Returns the image to write into the container whose image is `present` now.
    ///
    /// # Errors
    ///
    /// [`ImageError::Present`] when a repository is to be kept and `present` is no reference.
    pub fn resolve(&self, present: &str) -> Result<String, ImageError> {
        let present_reference = || {
            ImageReference::parse(present)
                .map_err(|reason| ImageError::Present { image: present.to_owned(), reason: Box::new(reason) })
        };
        let wanted = match self {
            Self::Whole(reference) => return Ok(reference.as_written().to_owned()),
            Self::Tag(tag) => present_reference()?.with_tag(tag)?,
            Self::Digest(digest) => present_reference()?.with_digest_alone(digest)?,
        };
        Ok(wanted.as_written().to_owned())
    }
}

impl fmt::Display for ImageArgument {
    /// Writes the argument as it was written.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Whole(reference) => reference.fmt(f),
            Self::Tag(tag) => write!(f, ":{tag}"),
            Self::Digest(digest) => write!(f, "@{digest}"),
        }
    }
}

impl FromStr for ImageArgument {
    type Err = ImageError;

    fn from_str(written: &str) -> Result<Self, Self::Err> {
        Self::parse(written)
    }
}
