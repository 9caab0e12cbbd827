//! The grammar of `distribution/reference` (`regexp.go`), part by part, without regular expressions.

use super::{DigestFault, ImageError, TagFault};

/// The longest repository name, the registry not counted (`RepositoryNameTotalLengthMax`).
pub(super) const NAME_LIMIT: usize = 255;
/// The longest tag.
pub(super) const TAG_LIMIT: usize = 128;

/// Says whether the text is an image ID: 64 lower-case hexadecimal digits.
pub(super) fn is_identifier(text: &str) -> bool {
    text.len() == 64 && text.chars().all(is_lower_hex)
}

fn is_lower_hex(c: char) -> bool {
    matches!(c, '0'..='9' | 'a'..='f')
}

/// Checks registry and path of a repository.
pub(super) fn check_repository(domain: &str, path: &str) -> Result<(), ImageError> {
    // The second half is a quirk of Go's expression: what is no host may still be the first component of a path.
    if !(is_domain(domain) || is_path_component(domain)) {
        return Err(ImageError::Registry { registry: domain.to_owned() });
    }
    if path.chars().any(char::is_uppercase) {
        return Err(ImageError::UppercaseRepository { path: path.to_owned() });
    }
    for component in path.split('/') {
        if component.is_empty() {
            return Err(ImageError::EmptyComponent { path: path.to_owned() });
        }
        if !is_path_component(component) {
            return Err(ImageError::Component { component: component.to_owned() });
        }
    }
    Ok(())
}

/// Checks the length of a path; a registry that is no host counts as part of it.
pub(super) fn check_length(domain: &str, path: &str) -> Result<(), ImageError> {
    let length = if is_domain(domain) { path.len() } else { domain.len() + 1 + path.len() };
    if length > NAME_LIMIT { Err(ImageError::NameTooLong { length }) } else { Ok(()) }
}

/// Checks a tag: `[\w][\w.-]{0,127}`.
pub(super) fn check_tag(tag: &str) -> Result<(), ImageError> {
    let is_word = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let fault = match tag.chars().next() {
        None => Some(TagFault::Empty),
        Some(first) if matches!(first, '.' | '-') => Some(TagFault::First(first)),
        Some(_) => match tag.chars().find(|c| !(is_word(*c) || matches!(c, '.' | '-'))) {
            Some(character) => Some(TagFault::Character(character)),
            None if tag.len() > TAG_LIMIT => Some(TagFault::TooLong),
            None => None,
        },
    };
    fault.map_or(Ok(()), |fault| Err(ImageError::Tag { tag: tag.to_owned(), fault }))
}

/// Checks a digest, algorithm and length included (`Digest.Validate` of `opencontainers/go-digest`).
pub(super) fn check_digest(digest: &str) -> Result<(), ImageError> {
    digest_fault(digest).map_or(Ok(()), |fault| Err(ImageError::Digest { digest: digest.to_owned(), fault }))
}

fn digest_fault(digest: &str) -> Option<DigestFault> {
    let Some((algorithm, encoded)) = digest.split_once(':') else {
        return Some(DigestFault::NoAlgorithm);
    };
    let wanted = match algorithm {
        "sha256" => 64,
        "sha384" => 96,
        "sha512" => 128,
        _ => return Some(DigestFault::Algorithm),
    };
    match encoded.chars().find(|c| !is_lower_hex(*c)) {
        Some(character) => Some(DigestFault::Character(character)),
        None if encoded.len() != wanted => Some(DigestFault::Length { found: encoded.len(), wanted }),
        None => None,
    }
}

/// Says whether the text is a host with an optional port.
fn is_domain(text: &str) -> bool {
    let (host, port) = match text.strip_prefix('[').and_then(|rest| rest.split_once(']')) {
        Some((address, rest)) => {
            let digits = |c: char| c.is_ascii_hexdigit() || c == ':';
            if address.is_empty() || !address.chars().all(digits) {
                return false;
            }
            match rest.strip_prefix(':') {
                Some(port) => (None, Some(port)),
                None if rest.is_empty() => (None, None),
                None => return false,
            }
        }
        None => match text.split_once(':') {
            Some((host, port)) => (Some(host), Some(port)),
            None => (Some(text), None),
        },
    };
    host.is_none_or(|host| host.split('.').all(is_domain_component))
        && port.is_none_or(|port| !port.is_empty() && port.bytes().all(|b| b.is_ascii_digit()))
}

fn is_domain_component(text: &str) -> bool {
    !text.is_empty()
        && !text.starts_with('-')
        && !text.ends_with('-')
        && text.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-')
}

/// Says whether the text is runs of lower-case letters and digits with a separator between each two.
fn is_path_component(text: &str) -> bool {
    let is_alphanumeric = |c: char| matches!(c, 'a'..='z' | '0'..='9');
    text.starts_with(is_alphanumeric)
        && text.ends_with(is_alphanumeric)
        && text
            .split(is_alphanumeric)
            .all(|separator| matches!(separator, "" | "." | "_" | "__") || separator.bytes().all(|b| b == b'-'))
}
