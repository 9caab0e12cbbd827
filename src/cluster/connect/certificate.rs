//! The certificate authorities of a cluster: PEM, from the kubeconfig or a file, to what kube wants (DER).

#![expect(clippy::disallowed_methods, reason = "reads the certificate authority's file")]

use k8s_openapi::ByteString;
use kube::config::Cluster;

use super::KubeconfigError;

const BEGIN: &str = "-----BEGIN CERTIFICATE-----";
const END: &str = "-----END CERTIFICATE-----";

/// Reads the cluster's certificate authorities; data beats the file, as in client-go. `None` is the system's trust.
pub(super) fn authorities(cluster: &Cluster) -> Result<Option<Vec<Vec<u8>>>, KubeconfigError> {
    if cluster.insecure_skip_tls_verify.unwrap_or(false) {
        return Ok(None);
    }
    let given = |text: &Option<String>| text.clone().filter(|text| !text.is_empty());
    let pem = if let Some(data) = given(&cluster.certificate_authority_data) {
        decode(&data)
            .ok_or(KubeconfigError::BadData { field: "certificate-authority-data", why: "it is not base64" })?
    } else if let Some(path) = given(&cluster.certificate_authority) {
        std::fs::read(&path).map_err(|error| KubeconfigError::BadFile {
            field: "certificate-authority",
            path,
            why: error.to_string(),
        })?
    } else {
        return Ok(None);
    };
    let certificates = certificates(&String::from_utf8_lossy(&pem)).filter(|found| !found.is_empty());
    certificates
        .map(Some)
        .ok_or(KubeconfigError::BadData { field: "certificate-authority", why: "it holds no PEM certificate" })
}

/// Takes the certificates out of PEM text; `None` if one of them is damaged.
fn certificates(pem: &str) -> Option<Vec<Vec<u8>>> {
    let blocks = pem.split(BEGIN).skip(1);
    blocks.map(|block| block.split_once(END).and_then(|(body, _)| decode(body))).collect()
}

/// Decodes base64, whatever its line breaks.
fn decode(text: &str) -> Option<Vec<u8>> {
    let text: String = text.chars().filter(|character| !character.is_ascii_whitespace()).collect();
    serde_json::from_value::<ByteString>(text.into()).ok().map(|bytes| bytes.0)
}

/// Encodes PEM text as kubeconfigs hold it (base64).
pub(super) fn encode(text: &str) -> Option<String> {
    match serde_json::to_value(ByteString(text.as_bytes().to_vec())) {
        Ok(serde_json::Value::String(encoded)) => Some(encoded),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pem_text() {
        let one = format!("{BEGIN}\nAAEC\n{END}\n");
        let cases = [
            (one.clone(), Some(vec![vec![0, 1, 2]])),
            (format!("a comment\n{one}\r\n{BEGIN}\r\nAw\r\n==\r\n{END}"), Some(vec![vec![0, 1, 2], vec![3]])),
            (String::new(), Some(Vec::new())),
            (format!("{BEGIN}\nAAEC\n"), None),
            (format!("{BEGIN}\n*\n{END}"), None),
        ];
        for (pem, expected) in cases {
            assert_eq!(certificates(&pem), expected, "{pem}");
        }
    }

    #[test]
    fn base64_both_ways() {
        let encoded = encode("some PEM").unwrap();
        assert_eq!(decode(&encoded), Some(b"some PEM".to_vec()));
    }

    #[test]
    fn where_authorities_come_from() {
        let data = encode(&format!("{BEGIN}\nAAEC\n{END}\n"));
        let missing = Some("no/such/file".to_owned());
        let both =
            Cluster { certificate_authority_data: data, certificate_authority: missing.clone(), ..Cluster::default() };
        assert_eq!(authorities(&both), Ok(Some(vec![vec![0, 1, 2]])));
        let file = Cluster { certificate_authority: missing, ..Cluster::default() };
        assert!(matches!(authorities(&file), Err(KubeconfigError::BadFile { .. })));
        let insecure = Cluster { insecure_skip_tls_verify: Some(true), ..file };
        assert_eq!(authorities(&insecure), Ok(None));
        assert_eq!(authorities(&Cluster::default()), Ok(None));
        let empty = Cluster { certificate_authority_data: encode("no certificate"), ..Cluster::default() };
        assert!(matches!(authorities(&empty), Err(KubeconfigError::BadData { .. })));
    }
}
