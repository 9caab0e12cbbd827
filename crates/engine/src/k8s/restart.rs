//! `restart`: one container again with exactly the same image, by an image string that differs from the present one and
//! pins the digest that runs.
//!
//! The kubelet restarts a container only when its image's text changes (`computePodActions`, pkg/kubelet/kuberuntime), and a
//! runtime ignores the tag beside a digest (`ParseDockerRef` of containerd). So `repo:tag@digest` and `repo@digest` take
//! turns. The repository is always the one that the pod's spec writes. Whether the registry still has the digest under it is
//! not known here: a runtime may show the digest that it got from another repository. Pre-pull finds out before the kill.
//!
//! The kubelet's crash back-off goes by container name and image text, so a text that is written again soon meets it
//! (`plan/back_off.rs`).

use crate::value::image::{ImageError, ImageReference, repo_digest};

/// Replaces the tag where neither the pod nor its template has one; it is never requested from a registry.
const NO_TAG: &str = "restarted";

/// Returns the image that restarts a container with the image that it runs: never the present text.
///
/// `image` is the one of the pod's spec, `image_id` the status's. `template` is the image of the owner's template, if
/// there is an owner: from it comes the tag where the pod's own image has lost it to an earlier restart. An image that
/// has a digest already keeps that one: it is what the kubelet would run after any other restart as well.
/// Else why what runs cannot be pinned: the image is malformed, or the status has no digest that a registry knows.
pub fn pinned_image(image: &str, image_id: &str, template: Option<&str>) -> Result<String, String> {
    let malformed = |reason: ImageError| format!("its image {image:?} is malformed: {reason}");
    let present = ImageReference::parse(image).map_err(malformed)?;
    let pinned = match (present.digest(), present.tag()) {
        (None, _) => present.with_digest(running(image_id)?),
        (Some(digest), Some(_)) => present.with_digest_alone(digest),
        (Some(digest), None) => {
            let template = template.and_then(|template| ImageReference::parse(template).ok());
            let of_the_same = template.filter(|template| template.repository() == present.repository());
            let tag = of_the_same.as_ref().and_then(|template| match (template.tag(), template.digest()) {
                (None, None) => Some("latest"),
                (tag, _) => tag,
            });
            let tag = tag.unwrap_or(NO_TAG);
            present.with_tag(tag).and_then(|tagged| tagged.with_digest(digest))
        }
    };
    pinned.map(|pinned| pinned.as_written().to_owned()).map_err(malformed)
}

fn running(image_id: &str) -> Result<&str, String> {
    if image_id.is_empty() {
        return Err("it has no container yet whose digest could be asked for".to_owned());
    }
    // An image that was built or loaded on the node.
    repo_digest(image_id).ok_or_else(|| {
        format!("no registry's digest is known of what it runs (imageID {image_id:?}), so the same content cannot be asked for")
    })
}

/// Returns whether a pod's image, which differs from its template's, only pins what the template asks for: it was restarted,
/// it has not drifted.
///
/// The digest must be the one that runs, as far as the runtime reports it. `before` is the image that the pod's own
/// record noted: where the pinned text has no tag it is the only witness that the digest belongs to the template's tag,
/// and not to the one that the template had earlier. Without it the image counts as pinned.
pub fn is_pinned(template: &str, image: &str, image_id: &str, before: Option<&str>) -> bool {
    let (Ok(wanted), Ok(present)) = (ImageReference::parse(template), ImageReference::parse(image)) else {
        return false;
    };
    let Some(digest) = present.digest() else { return false };
    let runs = repo_digest(image_id).is_none_or(|running| running == digest);
    let before = before
        .and_then(|before| ImageReference::parse(before).ok())
        .filter(|before| before.repository() == present.repository());
    let tag = present.tag().or_else(|| before.as_ref().and_then(ImageReference::tag)).filter(|tag| *tag != NO_TAG);
    let is_its_tag = tag.is_none_or(|tag| tag == wanted.tag().unwrap_or("latest"));
    let is_its_digest = wanted.digest().map_or(is_its_tag, |wanted| wanted == digest);
    template != image && wanted.repository() == present.repository() && runs && is_its_digest
}

#[cfg(test)]
mod tests {
    use super::*;

    fn digest(digit: char) -> String {
        format!("sha256:{}", digit.to_string().repeat(64))
    }

    #[test]
    fn the_text_changes_and_the_bits_do_not() {
        let (one, two) = (digest('1'), digest('2'));
        let id = format!("docker.io/acme/side@{one}");
        let template = format!("acme/side@{one}");
        for (image, image_id, template, expected) in [
            ("acme/side:1".to_owned(), id.clone(), None, format!("acme/side:1@{one}")),
            ("acme/side".into(), id.clone(), None, format!("acme/side@{one}")),
            (format!("acme/side:1@{one}"), id.clone(), None, format!("acme/side@{one}")),
            (format!("acme/side@{one}"), id.clone(), Some("acme/side:1"), format!("acme/side:1@{one}")),
            (format!("acme/side@{one}"), id.clone(), Some("docker.io/acme/side:1"), format!("acme/side:1@{one}")),
            (format!("acme/side@{one}"), id.clone(), Some("other/side:1"), format!("acme/side:restarted@{one}")),
            (format!("acme/side@{one}"), id.clone(), Some("acme/side"), format!("acme/side:latest@{one}")),
            (format!("acme/side@{one}"), id.clone(), Some(&template), format!("acme/side:restarted@{one}")),
            (format!("acme/side@{one}"), id.clone(), None, format!("acme/side:restarted@{one}")),
            (format!("acme/side:restarted@{one}"), id, None, format!("acme/side@{one}")),
            // Two manifests of one image: the runtime may show either.
            (format!("acme/side:1@{one}"), format!("acme/side@{two}"), None, format!("acme/side@{one}")),
            // The same bits by way of another repository: the spec's own is written.
            ("acme/side:1".into(), format!("mirror.test/side@{two}"), None, format!("acme/side:1@{two}")),
            (
                "localhost:5000/side:1".into(),
                format!("docker-pullable://x@{two}"),
                None,
                format!("localhost:5000/side:1@{two}"),
            ),
        ] {
            let pinned = pinned_image(&image, &image_id, template).unwrap();
            assert_eq!(pinned, expected, "{image} {image_id}");
            assert_ne!(pinned, image);
        }
    }

    #[test]
    fn every_further_restart_writes_another_text() {
        let one = digest('1');
        let (template, id) = ("acme/side:1", format!("acme/side@{one}"));
        let mut image = template.to_owned();
        for _ in 0..5 {
            let next = pinned_image(&image, &id, Some(template)).unwrap();
            assert_ne!(next, image);
            assert!(is_pinned(template, &next, &id, Some(&image)), "{next}");
            image = next;
        }
    }

    #[test]
    fn what_cannot_be_pinned_says_why() {
        for (image, image_id, message) in [
            ("acme/side:1", String::new(), "it has no container yet whose digest could be asked for".to_owned()),
            (
                "acme/side:1",
                "sha256:1".into(),
                "no registry's digest is known of what it runs (imageID \"sha256:1\"), so the same content cannot be asked for"
                    .into(),
            ),
            (
                "UPPER",
                digest('1'),
                "its image \"UPPER\" is malformed: repository \"UPPER\" has upper-case letters".into(),
            ),
        ] {
            assert_eq!(pinned_image(image, &image_id, None).unwrap_err(), message);
        }
    }

    #[test]
    fn a_restarted_pod_is_pinned_and_not_drifted() {
        let (one, two) = (digest('1'), digest('2'));
        let id = format!("docker.io/acme/side@{one}");
        let template = "acme/side:1";
        for (template, image, image_id, before, expected) in [
            (template, format!("acme/side:1@{one}"), id.clone(), None, true),
            (template, format!("acme/side@{one}"), id.clone(), None, true),
            (template, format!("acme/side@{one}"), id.clone(), Some("acme/side:1"), true),
            (template, format!("docker.io/acme/side@{one}"), id.clone(), None, true),
            (template, format!("acme/side:restarted@{one}"), id.clone(), None, true),
            ("acme/side", format!("acme/side@{one}"), id.clone(), None, true),
            ("acme/side", format!("acme/side:latest@{one}"), id.clone(), None, true),
            // The runtime reports no digest: nothing contradicts it.
            (template, format!("acme/side@{one}"), String::new(), None, true),
            // Not pinned at all.
            (template, template.to_owned(), id.clone(), None, false),
            (template, "acme/side:2".into(), id.clone(), None, false),
            // Of another tag, repository or digest.
            (template, format!("acme/side:2@{one}"), id.clone(), None, false),
            (template, format!("acme/side@{one}"), id.clone(), Some("acme/side:2"), false),
            (template, format!("acme/other:1@{one}"), id.clone(), None, false),
            (template, format!("acme/side:1@{two}"), id.clone(), None, false),
            (template, "no image".into(), id.clone(), None, false),
        ] {
            assert_eq!(is_pinned(template, &image, &image_id, before), expected, "{template} {image} {before:?}");
        }
        let both = format!("acme/side:1@{one}");
        assert!(is_pinned(&both, &format!("acme/side@{one}"), &id, None));
        assert!(!is_pinned(&both, &format!("acme/side@{two}"), &format!("x@{two}"), None));
        assert!(!is_pinned(&both, &both, &id, None), "the same text is no difference");
    }
}
