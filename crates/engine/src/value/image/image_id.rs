//! The `imageID` of a container's status: what the runtime says it runs.

use super::grammar;

/// Returns the digest under which a registry knows the image, as `sha256:...`, if the `imageID` has it.
///
/// containerd and CRI-O write `repo@sha256:...`, dockershim wrote `docker-pullable://repo@sha256:...`. A bare `sha256:...`
/// or bare hexadecimal is the digest of the image's configuration: no registry serves anything under it (kubernetes#95968).
pub fn repo_digest(image_id: &str) -> Option<&str> {
    let (_, digest) = image_id.rsplit_once('@')?;
    grammar::check_digest(digest).ok().map(|()| digest)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_registrys_digest_counts() {
        let digest = format!("sha256:{}", "a".repeat(64));
        for (image_id, expected) in [
            (format!("docker.io/library/nginx@{digest}"), Some(digest.as_str())),
            (format!("127.0.0.1:5000/app@{digest}"), Some(digest.as_str())),
            (format!("docker-pullable://acme/app@{digest}"), Some(digest.as_str())),
            (digest.clone(), None),
            (format!("docker://{digest}"), None),
            ("a".repeat(64), None),
            (String::new(), None),
            ("acme/app@sha256:short".into(), None),
            ("acme/app@".into(), None),
        ] {
            assert_eq!(repo_digest(&image_id), expected, "{image_id}");
        }
    }
}
