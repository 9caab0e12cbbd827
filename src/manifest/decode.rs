//! Bytes to text.

use std::borrow::Cow;

use super::error::{EncodingProblem, ManifestError};

/// Decodes UTF-8, with or without a byte order mark, and UTF-16 with one, as kubectl's YAML library does. The mark is not
/// part of the text. Unlike there, UTF-16 may hold several documents, and what is not valid is an error instead of U+FFFD.
pub(super) fn decode<'a>(name: &str, bytes: &'a [u8]) -> Result<Cow<'a, str>, ManifestError> {
    let fail = |problem, offset| ManifestError::Encoding { name: name.to_owned(), problem, offset };
    let text = match bytes {
        [0xff, 0xfe, units @ ..] => utf16(units, u16::from_le_bytes).map(Cow::Owned),
        [0xfe, 0xff, units @ ..] => utf16(units, u16::from_be_bytes).map(Cow::Owned),
        [0xef, 0xbb, 0xbf, rest @ ..] => {
            utf8(rest).map_err(|(problem, offset)| (problem, offset + 3)).map(Cow::Borrowed)
        }
        _ => utf8(bytes).map(Cow::Borrowed),
    };
    text.map_err(|(problem, offset)| fail(problem, offset))
}

fn utf8(bytes: &[u8]) -> Result<&str, (EncodingProblem, usize)> {
    // NUL first: UTF-16 without its mark is full of them, and "NUL" says more than "not UTF-8" about a binary file.
    let invalid = std::str::from_utf8(bytes).err().map(|error| error.valid_up_to());
    match (bytes.iter().position(|byte| *byte == 0), invalid) {
        (Some(nul), Some(invalid)) if invalid < nul => Err((EncodingProblem::Utf8, invalid)),
        (Some(nul), _) => Err((EncodingProblem::Nul, nul)),
        (None, Some(invalid)) => Err((EncodingProblem::Utf8, invalid)),
        (None, None) => std::str::from_utf8(bytes).map_err(|error| (EncodingProblem::Utf8, error.valid_up_to())),
    }
}

fn utf16(bytes: &[u8], unit: fn([u8; 2]) -> u16) -> Result<String, (EncodingProblem, usize)> {
    let (pairs, rest) = bytes.as_chunks::<2>();
    let mut text = String::with_capacity(bytes.len() / 2);
    let mut offset = 2;
    for character in char::decode_utf16(pairs.iter().map(|pair| unit(*pair))) {
        match character {
            Ok('\0') => return Err((EncodingProblem::Nul, offset)),
            Ok(character) => {
                text.push(character);
                offset += 2 * character.len_utf16();
            }
            Err(_) => return Err((EncodingProblem::Utf16, offset)),
        }
    }
    if rest.is_empty() { Ok(text) } else { Err((EncodingProblem::Utf16, offset)) }
}

/// Refuses what kubectl's YAML library does not read (`is_printable` of its `yamlprivateh.go`: control characters,
/// U+FFFE, U+FFFF), and U+0085, U+2028 and U+2029, which end a line in YAML 1.1 alone. The offset counts bytes of UTF-8.
pub(super) fn require_printable(name: &str, text: &str) -> Result<(), ManifestError> {
    let refused = |character: char| {
        matches!(character,
            '\0'..='\u{8}' | '\u{b}' | '\u{c}' | '\u{e}'..='\u{1f}' | '\u{7f}'..='\u{9f}'
            | '\u{2028}' | '\u{2029}' | '\u{fffe}' | '\u{ffff}')
    };
    match text.char_indices().find(|(_, character)| refused(*character)) {
        None => Ok(()),
        Some((offset, character)) => Err(ManifestError::Encoding {
            name: name.to_owned(),
            problem: EncodingProblem::Character(character),
            offset,
        }),
    }
}
