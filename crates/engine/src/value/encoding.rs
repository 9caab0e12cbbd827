//! Bytes of files to text.

/// Decodes UTF-8, with or without a byte order mark, and UTF-16 with one, as kubectl's YAML library does. The mark of UTF-8
/// stays. Unlike there, UTF-16 may hold several documents, and what is not valid is an error instead of U+FFFD.
pub fn decode(bytes: Vec<u8>) -> Result<String, String> {
    match bytes.as_slice() {
        [0xff, 0xfe, units @ ..] => utf16(units, u16::from_le_bytes),
        [0xfe, 0xff, units @ ..] => utf16(units, u16::from_be_bytes),
        _ => {
            String::from_utf8(bytes).map_err(|error| format!("not UTF-8 at byte {}", error.utf8_error().valid_up_to()))
        }
    }
}

fn utf16(bytes: &[u8], unit: fn([u8; 2]) -> u16) -> Result<String, String> {
    let (pairs, rest) = bytes.as_chunks::<2>();
    let text = char::decode_utf16(pairs.iter().map(|pair| unit(*pair))).collect::<Result<String, _>>();
    let text = text.ok().filter(|_| rest.is_empty());
    text.ok_or_else(|| "not UTF-16, though it begins with its byte order mark".to_owned())
}
