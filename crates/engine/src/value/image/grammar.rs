//! The grammar of `distribution/reference` (`regexp.go`), part by part, without regular expressions.

use super::ImageError;

/// The longest repository name, the registry not counted (`RepositoryNameTotalLengthMax`).
const NAME_LIMIT: usize = 255;
const TAG_LIMIT: usize = 128;

/// Says whether the text is an image ID: 64 lower-case hexadecimal digits.
pub(super) fn is_identifier(text: &str) -> bool {
    text.len() == 64 && text.chars().all(is_lower_hex)
}

fn is_lower_hex(c: char) -> bool {
    matches!(c, '0'..='9' | 'a'..='f')
}

pub(super) fn check_repository(domain: &str, path: &str) -> Result<(), ImageError> {
    // The second half is a quirk of Go's expression: what is no host may still be the first component of a path.
    if !(is_domain(domain) || is_path_component(domain)) {
        return ImageError::of(format!("registry {domain:?} is no host name or address with an optional port"));
    }
    if path.chars().any(char::is_uppercase) {
        return ImageError::of(format!("repository {path:?} has upper-case letters"));
    }
    for component in path.split('/') {
        if component.is_empty() {
            return ImageError::of(format!("repository {path:?} is empty or has an empty component"));
        }
        if !is_path_component(component) {
            return ImageError::of(format!(
                "repository component {component:?} is not letters and digits joined by one '.', one or two '_', or '-'"
            ));
        }
    }
    Ok(())
}

/// Checks the length of a path; a registry that is no host counts as part of it.
pub(super) fn check_length(domain: &str, path: &str) -> Result<(), ImageError> {
    let length = if is_domain(domain) { path.len() } else { domain.len() + 1 + path.len() };
    if length <= NAME_LIMIT {
        return Ok(());
    }
    ImageError::of(format!("repository name has {length} characters, which is more than {NAME_LIMIT}"))
}

/// Checks a tag: `[\w][\w.-]{0,127}`.
pub(super) fn check_tag(tag: &str) -> Result<(), ImageError> {
    let is_word = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let fault = match tag.chars().next() {
        None => "is empty".to_owned(),
        Some(first @ ('.' | '-')) => format!("begins with {first:?} and not with a letter, a digit or '_'"),
        Some(_) => match tag.chars().find(|c| !(is_word(*c) || matches!(c, '.' | '-'))) {
            Some(character) => format!("has {character:?}, which is no letter, digit, '_', '.' or '-'"),
            None if tag.len() > TAG_LIMIT => format!("has more than {TAG_LIMIT} characters"),
            None => return Ok(()),
        },
    };
    ImageError::of(format!("tag {tag:?} {fault}"))
}

/// Checks a digest, algorithm and length included (`Digest.Validate` of `opencontainers/go-digest`).
pub(super) fn check_digest(digest: &str) -> Result<(), ImageError> {
    let fault = |what: &str| ImageError::of(format!("digest {digest:?} {what}"));
    let Some((algorithm, encoded)) = digest.split_once(':') else {
        return fault("is not of the form sha256:<hexadecimal>");
    };
    let wanted = match algorithm {
        "sha256" => 64,
        "sha384" => 96,
        "sha512" => 128,
        // The kubelet knows no other.
        _ => return fault("has an algorithm other than sha256, sha384 and sha512"),
    };
    match encoded.chars().find(|c| !is_lower_hex(*c)) {
        Some(character) => fault(&format!("has {character:?}, which is no lower-case hexadecimal digit")),
        None if encoded.len() != wanted => fault(&format!("has {} hexadecimal digits and not {wanted}", encoded.len())),
        None => Ok(()),
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
