//! The certificate authorities of a cluster: PEM to what kube wants (DER).

use super::KubeconfigError;
use super::base64::decode;
use super::entries::{Cluster, Pem};

const BEGIN: &str = "-----BEGIN CERTIFICATE-----";
const END: &str = "-----END CERTIFICATE-----";

/// Reads the cluster's certificate authorities; `None` is the system's trust, or none is asked for.
pub(super) fn authorities(cluster: &Cluster) -> Result<Option<Vec<Vec<u8>>>, KubeconfigError> {
    let Some(Pem(pem)) = &*cluster.certificate_authority_data else { return Ok(None) };
    let bad = |field, why: &str| Err(KubeconfigError::BadData { field, why: why.to_owned() });
    if cluster.insecure_skip_tls_verify.is_some() {
        return bad(
            "insecure-skip-tls-verify",
            "a certificate-authority is given as well, and only one of both is allowed",
        );
    }
    match certificates(&String::from_utf8_lossy(pem)) {
        found if found.is_empty() => bad("certificate-authority", "it holds no PEM certificate"),
        found => Ok(Some(found)),
    }
}

/// Takes the certificates out of PEM text; damaged ones are left out, as in Go's `AppendCertsFromPEM`.
fn certificates(pem: &str) -> Vec<Vec<u8>> {
    let blocks = pem.split(BEGIN).skip(1);
    blocks.filter_map(|block| block.split_once(END).and_then(|(body, _)| decode(body))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pem_text() {
        let one = format!("{BEGIN}\nAAEC\n{END}\n");
        let cases = [
            (one.clone(), vec![vec![0, 1, 2]]),
            (format!("a comment\n{one}\r\n{BEGIN}\r\nAw\r\n==\r\n{END}"), vec![vec![0, 1, 2], vec![3]]),
            (String::new(), Vec::new()),
            (format!("{BEGIN}\nAAEC\n"), Vec::new()),
            (format!("{BEGIN}\n*\n{END}{one}"), vec![vec![0, 1, 2]]),
        ];
        for (pem, expected) in cases {
            assert_eq!(certificates(&pem), expected, "{pem}");
        }
    }
}
