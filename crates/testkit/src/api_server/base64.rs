//! Bytes as the API writes them.

const LETTERS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

/// Returns bytes in base64, padded.
pub(super) fn encode(bytes: &[u8]) -> String {
    let letter = |bits: u32| char::from(LETTERS[(bits & 63) as usize]);
    let mut text = String::new();
    for chunk in bytes.chunks(3) {
        let byte = |index: usize| u32::from(chunk.get(index).copied().unwrap_or(0));
        let bits = byte(0) << 16 | byte(1) << 8 | byte(2);
        let letters = [letter(bits >> 18), letter(bits >> 12), letter(bits >> 6), letter(bits)];
        text.extend(letters.iter().take(chunk.len() + 1));
        text.extend(std::iter::repeat_n('=', 3 - chunk.len()));
    }
    text
}

#[cfg(test)]
mod tests {
    #[test]
    fn texts_are_kept_as_base64() {
        for (text, wanted) in [("", ""), ("a", "YQ=="), ("ab", "YWI="), ("abc", "YWJj"), ("abcd?>", "YWJjZD8+")] {
            assert_eq!(super::encode(text.as_bytes()), wanted, "{text}");
        }
    }
}
