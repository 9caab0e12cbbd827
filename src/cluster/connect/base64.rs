//! Base64, as Kubernetes' own bytes are written.

use k8s_openapi::ByteString;

/// Decodes base64, whatever its line breaks.
pub(super) fn decode(text: &str) -> Option<Vec<u8>> {
    let text: String = text.chars().filter(|character| !character.is_ascii_whitespace()).collect();
    serde_json::from_value::<ByteString>(text.into()).ok().map(|bytes| bytes.0)
}

pub(super) fn encode(bytes: &[u8]) -> Option<String> {
    match serde_json::to_value(ByteString(bytes.to_vec())) {
        Ok(serde_json::Value::String(encoded)) => Some(encoded),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn base64_both_ways() {
        let encoded = encode(b"some PEM").unwrap();
        assert_eq!(decode(&encoded), Some(b"some PEM".to_vec()));
    }
}
