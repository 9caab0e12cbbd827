//! What a request is authenticated with.

use http::HeaderValue;
use jiff::Timestamp;

use super::{KubeconfigError, usable};

/// What authenticates requests. Has no `Debug`: it is secret.
#[derive(Clone, Default)]
pub(super) struct Credential {
    /// The `Authorization` header.
    pub(super) authorization: Option<HeaderValue>,
    /// Client certificate and key in PEM, in the place of the kubeconfig's.
    pub(super) certificate: Option<(String, String)>,
    /// When another is to be got.
    pub(super) renew: Option<Timestamp>,
    /// Until when it is good; what has no end is good for ever.
    pub(super) expires: Option<Timestamp>,
}

/// The header of a token, which came from this field.
pub(super) fn bearer(field: &'static str, token: &str) -> Result<HeaderValue, KubeconfigError> {
    usable::header(field, &format!("Bearer {token}"))
}
