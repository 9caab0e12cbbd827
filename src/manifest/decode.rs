//! Bytes to text.

use super::MAX_INPUT_BYTES;
use super::error::{EncodingProblem, ManifestError};

/// Decodes UTF-8, with or without a byte order mark, and UTF-16 with one, as kubectl's YAML library does. The mark of UTF-8
/// stays. Unlike there, UTF-16 may hold several documents, and what is not valid is an error instead of U+FFFD.
pub(super) fn decode(name: &str, bytes: Vec<u8>) -> Result<String, ManifestError> {
    let text = match bytes.as_slice() {
        [0xff, 0xfe, units @ ..] => utf16(units, u16::from_le_bytes),
        [0xfe, 0xff, units @ ..] => utf16(units, u16::from_be_bytes),
        _ => utf8(bytes),
    };
    let fail = |(problem, offset)| ManifestError::Encoding { name: name.to_owned(), problem, offset };
    let text = text.map_err(fail)?;
    // UTF-16 may be half as long again in UTF-8.
    if text.len() > MAX_INPUT_BYTES {
        return Err(ManifestError::TooLarge { name: name.to_owned() });
    }
    Ok(text)
}

fn utf8(bytes: Vec<u8>) -> Result<String, (EncodingProblem, usize)> {
    // NUL first: UTF-16 without its mark is full of them, and "NUL" says more than "not UTF-8" about a binary file.
    let nul = bytes.iter().position(|byte| *byte == 0);
    match (nul, String::from_utf8(bytes).map_err(|error| error.utf8_error().valid_up_to())) {
        (None, Ok(text)) => Ok(text),
        (Some(nul), Err(invalid)) if nul < invalid => Err((EncodingProblem::Nul, nul)),
        (_, Err(invalid)) => Err((EncodingProblem::Utf8, invalid)),
        (Some(nul), Ok(_)) => Err((EncodingProblem::Nul, nul)),
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
