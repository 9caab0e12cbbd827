//! Two images side by side, the common repository said once.

use super::{ImageReference, assemble};

/// Holds what to show of a change from one image to another.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ImagePair {
    /// The repository of both in its familiar form (`acme/side`), or `None` where they differ or nothing else would.
    pub repository: Option<String>,
    /// Where there is a common repository: the tag, `@digest`, or `tag@digest` of the first image. Else its whole text.
    pub from: String,
    /// The same of the second image.
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
        (None, None) => super::DEFAULT_TAG.to_owned(),
        (tag, digest) => assemble(tag.unwrap_or_default(), None, digest),
    }
}
