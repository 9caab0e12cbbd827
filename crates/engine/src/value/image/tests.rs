//! The tables of `distribution/reference` (`reference_test.go`, `normalize_test.go`, `regexp_test.go`), and what is ours.

use proptest::prelude::*;

use super::*;

const SHA256: &str = "sha256:ffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff";

fn sha512() -> String {
    format!("sha512:{}", "f".repeat(128))
}

fn parse(written: &str) -> ImageReference {
    ImageReference::parse(written).unwrap_or_else(|error| panic!("{written:?}: {error}"))
}

#[test]
fn parts_of_references() {
    let long = "a/".repeat(127) + "a";
    let hexadecimal = "1a3f5e7d9c1b3a5f7e9d1c3b5a7f9e1d3c5b7a9f1e3d5d7c9b1a3f5e7d9c1b3a";
    for (name, domain, path) in [
        ("test_com", "docker.io", "library/test_com"),
        ("test.com", "docker.io", "library/test.com"),
        ("test.com/repo", "test.com", "repo"),
        ("test:5000/repo", "test:5000", "repo"),
        ("lowercase", "docker.io", "library/lowercase"),
        (long.as_str(), "docker.io", long.as_str()),
        ("sub-dom1.foo.com/bar/baz/quux", "sub-dom1.foo.com", "bar/baz/quux"),
        ("b.gcr.io/test.example.com/my-app", "b.gcr.io", "test.example.com/my-app"),
        ("xn--n3h.com/myimage", "xn--n3h.com", "myimage"),
        ("foo_bar.com", "docker.io", "library/foo_bar.com"),
        ("foo/foo_bar.com", "docker.io", "foo/foo_bar.com"),
        ("foo_bar.com/x", "foo_bar.com", "x"),
        ("192.168.1.1", "docker.io", "library/192.168.1.1"),
        ("192.168.1.1/repo", "192.168.1.1", "repo"),
        ("192.168.1.1:5000/repo", "192.168.1.1:5000", "repo"),
        ("[2001:db8::1]/repo", "[2001:db8::1]", "repo"),
        ("[2001:db8:1:2:3:4:5:6]/repo", "[2001:db8:1:2:3:4:5:6]", "repo"),
        ("[2001:db8::1]:5000/repo", "[2001:db8::1]:5000", "repo"),
        ("[2001:db8::]:5000/repo", "[2001:db8::]:5000", "repo"),
        ("[::1]:5000/x", "[::1]:5000", "x"),
        ("[fc00::1]:5000/docker/docker", "[fc00::1]:5000", "docker/docker"),
        ("docker/docker", "docker.io", "docker/docker"),
        ("library/debian", "docker.io", "library/debian"),
        ("docker.io/debian", "docker.io", "library/debian"),
        ("docker.io/library/debian", "docker.io", "library/debian"),
        ("index.docker.io/debian", "docker.io", "library/debian"),
        ("index.docker.io/docker/docker", "docker.io", "docker/docker"),
        ("localhost/debian", "localhost", "debian"),
        ("localhost:5000/debian", "localhost:5000", "debian"),
        ("LOCALDOMAIN/library/debian", "LOCALDOMAIN", "library/debian"),
        ("Docker/docker", "Docker", "docker"),
        ("Uppercase/lowercase", "Uppercase", "lowercase"),
        ("docker-rules/docker---x", "docker.io", "docker-rules/docker---x"),
        ("dock__er/d", "docker.io", "dock__er/d"),
        ("d/t", "docker.io", "d/t"),
    ] {
        for (tag, digest) in [
            (Some("tag"), None),
            (None, None),
            (Some("5000"), None),
            (Some("Upper_Case.1-2"), Some(SHA256.to_owned())),
            (None, Some(SHA256.to_owned())),
            (Some("_"), Some(sha512())),
        ] {
            let written = assemble(name, tag, digest.as_deref());
            let reference = parse(&written);
            assert_eq!((reference.domain(), reference.path()), (domain, path), "{written}");
            assert_eq!((reference.tag(), reference.digest()), (tag, digest.as_deref()), "{written}");
            assert_eq!(reference.as_written(), written);
            assert_eq!(reference.name_as_written(), name, "{written}");
        }
    }
    assert_eq!(parse(&format!("docker.io/{hexadecimal}")).path(), format!("library/{hexadecimal}"));
    assert_eq!(parse(&format!("{hexadecimal}:v1")).path(), format!("library/{hexadecimal}"));
    assert_eq!(parse(&format!("{hexadecimal}00")).path(), format!("library/{hexadecimal}00"));
    assert_eq!(parse(&format!("x:{}", "a".repeat(128))).tag(), Some("a".repeat(128).as_str()));
    assert_eq!(parse(&format!("example.com/{}", "a".repeat(255))).path().len(), 255);
    assert_eq!(parse(&format!("x@sha384:{}", "0".repeat(96))).digest().map(str::len), Some(103));
}

#[test]
#[expect(clippy::too_many_lines, reason = "a table")]
fn malformed_references() {
    let too_long =
        ["domain.x/".to_owned() + &"a".repeat(256), "a".repeat(248), "foo_bar.com/".to_owned() + &"a".repeat(244)];
    for written in too_long {
        assert_eq!(
            ImageReference::parse(&written).unwrap_err().to_string(),
            "repository name has 256 characters, which is more than 255",
            "{written}"
        );
    }
    for (written, message) in [
        ("", "image is empty"),
        (" nginx", "image has leading or trailing whitespace"),
        ("nginx\n", "image has leading or trailing whitespace"),
        (" ", "image has leading or trailing whitespace"),
        (&"a".repeat(64), "image is 64 hexadecimal digits, which is an image ID and not a name"),
        ("https://github.com/docker/docker", "image begins with a URL scheme, which a reference does not have"),
        (":justtag", "repository \"\" is empty or has an empty component"),
        ("docker/", "repository \"docker/\" is empty or has an empty component"),
        ("docker///docker", "repository \"docker///docker\" is empty or has an empty component"),
        ("docker.io/docker//docker", "repository \"docker//docker\" is empty or has an empty component"),
        ("/docker", "repository \"/docker\" is empty or has an empty component"),
        ("Uppercase:tag", "repository \"Uppercase\" has upper-case letters"),
        ("docker/Docker", "repository \"docker/Docker\" has upper-case letters"),
        ("test:5000/Uppercase/lowercase:tag", "repository \"Uppercase/lowercase\" has upper-case letters"),
        ("nginx:", "tag \"\" is empty"),
        ("nginx:-v1", "tag \"-v1\" begins with '-' and not with a letter, a digit or '_'"),
        ("nginx:.v1", "tag \".v1\" begins with '.' and not with a letter, a digit or '_'"),
        ("nginx:v1+2", "tag \"v1+2\" has '+', which is no letter, digit, '_', '.' or '-'"),
        ("nginx:v1:2", "tag \"v1:2\" has ':', which is no letter, digit, '_', '.' or '-'"),
        ("a/b:\u{1b}[31m", "tag \"\\u{1b}[31m\" has '\\u{1b}', which is no letter, digit, '_', '.' or '-'"),
        ("x@", "digest \"\" is not of the form sha256:<hexadecimal>"),
        ("x@sha256", "digest \"sha256\" is not of the form sha256:<hexadecimal>"),
        ("x@sha256:", "digest \"sha256:\" has 0 hexadecimal digits and not 64"),
        ("x@sha256:ff", "digest \"sha256:ff\" has 2 hexadecimal digits and not 64"),
        ("x@sha512:ff", "digest \"sha512:ff\" has 2 hexadecimal digits and not 128"),
        ("x@sha256:fF", "digest \"sha256:fF\" has 'F', which is no lower-case hexadecimal digit"),
        ("x@md5:ff", "digest \"md5:ff\" has an algorithm other than sha256, sha384 and sha512"),
        ("x@sha256:ff@sha256:ff", "digest \"sha256:ff@sha256:ff\" has '@', which is no lower-case hexadecimal digit"),
    ] {
        let error = ImageReference::parse(written).expect_err(written);
        assert_eq!(error.to_string(), message, "{written}");
    }
    let long = ImageReference::parse(&format!("x:{}", "a".repeat(129))).unwrap_err().to_string();
    assert!(long.starts_with("tag ") && long.ends_with(" has more than 128 characters"), "{long}");
    for written in [
        "-docker.io/docker/docker",
        "docker.io-/docker",
        "[fc00::1]",
        "[fc00::1]:5000",
        "fc00::1:5000/debian",
        "[fe80::1%eth0]:5000/debian",
        "[2001:db8:3:4::192.0.2.33]:5000/debian",
        "[::1]x/x",
        "[::1]:/x",
        "a.b:/x",
        "a.b:5x/x",
        "a..b/x",
        ".a/x",
        "a._b.c/x",
        "nginx:v1/x",
        "a@b.c/d",
        "é.com/x",
        "É/x",
    ] {
        let error = ImageReference::parse(written).expect_err(written).to_string();
        let is_component = !written.contains('/') && error.starts_with("repository component ");
        assert!(error.starts_with("registry ") || is_component, "{written}: {error}");
    }
    for written in [
        "-docker",
        "-docker/docker",
        "docker-/docker",
        "____/____",
        "_docker/_docker",
        "x/dock..er",
        "x/dock_.er",
        "x/dock-.er",
        "x/dock___er",
        "aa/asdf$$^/aa",
        "a/é",
        "a b",
        "a.b/c d",
        "x/.",
        "[]/x",
        "x/a-",
        "４/x",
    ] {
        let error = ImageReference::parse(written).expect_err(written).to_string();
        assert!(error.starts_with("repository component "), "{written}: {error}");
    }
}

#[test]
fn normalised_and_familiar() {
    for (written, normalised, familiar) in [
        ("docker.io/index.docker.io/app:v1", "docker.io/index.docker.io/app:v1", "docker.io/index.docker.io/app:v1"),
        ("docker.io/my.team/app:v1", "docker.io/my.team/app:v1", "docker.io/my.team/app:v1"),
        ("nginx", "docker.io/library/nginx:latest", "nginx"),
        ("nginx:1.27", "docker.io/library/nginx:1.27", "nginx:1.27"),
        ("index.docker.io/library/ubuntu-12.04-base:1", "docker.io/library/ubuntu-12.04-base:1", "ubuntu-12.04-base:1"),
        ("docker.io/foo", "docker.io/library/foo:latest", "foo"),
        ("library/foo/bar", "docker.io/library/foo/bar:latest", "library/foo/bar"),
        ("docker.io/library/foo/bar", "docker.io/library/foo/bar:latest", "library/foo/bar"),
        ("index.docker.io/fooo/bar", "docker.io/fooo/bar:latest", "fooo/bar"),
        ("other/library", "docker.io/other/library:latest", "other/library"),
        ("127.0.0.1:8000/private/moonbase:x", "127.0.0.1:8000/private/moonbase:x", "127.0.0.1:8000/private/moonbase:x"),
        ("example.com/library/x", "example.com/library/x:latest", "example.com/library/x"),
        ("localhost/fooo", "localhost/fooo:latest", "localhost/fooo"),
        ("FOO/bar", "FOO/bar:latest", "FOO/bar"),
    ] {
        let reference = parse(written);
        assert_eq!(reference.normalised(), normalised, "{written}");
        assert_eq!(reference.familiar(), familiar, "{written}");
        let digest = format!("{written}@{SHA256}");
        assert_eq!(parse(&digest).familiar(), format!("{familiar}@{SHA256}"));
    }
    let image_id_alone = format!("docker.io/library/{}", "a".repeat(64));
    assert_eq!(parse(&image_id_alone).familiar(), image_id_alone);
    assert_eq!(parse(&format!("nginx@{SHA256}")).normalised(), format!("docker.io/library/nginx@{SHA256}"));
    assert_eq!(parse(&format!("nginx:1@{SHA256}")).normalised(), format!("docker.io/library/nginx:1@{SHA256}"));
}

#[test]
fn which_references_ask_for_the_same() {
    let digest = format!("nginx@{SHA256}");
    let other = format!("nginx@{}", SHA256.replace('f', "e"));
    let both = format!("docker.io/nginx:1@{SHA256}");
    for (a, b, same) in [
        ("nginx", "docker.io/library/nginx:latest", true),
        ("nginx", "index.docker.io/nginx", true),
        ("nginx:1", "nginx:2", false),
        ("nginx:1", "library/nginx:1", true),
        ("nginx:1", "acme/nginx:1", false),
        ("nginx:1", "example.com/library/nginx:1", false),
        (&digest, &both, true),
        (&digest, &other, false),
        ("nginx:1", &both, false),
    ] {
        assert_eq!(same_image(&parse(a), &parse(b)), same, "{a} {b}");
        assert_eq!(same_image(&parse(b), &parse(a)), same, "{b} {a}");
    }
}

#[test]
fn facts_about_tags() {
    for (written, latest) in [
        ("nginx".to_owned(), true),
        ("nginx:latest".to_owned(), true),
        ("nginx:1".to_owned(), false),
        (format!("nginx:1@{SHA256}"), false),
        (format!("nginx@{SHA256}"), false),
        (format!("nginx:latest@{SHA256}"), true),
    ] {
        let reference = parse(&written);
        assert_eq!(reference.has_latest_tag(), latest, "{written}");
    }
}

#[test]
fn another_tag_or_digest() {
    let other = SHA256.replace('f', "0");
    for (name, tag, digest) in
        [("nginx", None, None), ("[::1]:5000/x", Some("1"), None), ("index.docker.io/a/b", Some("1"), Some(SHA256))]
    {
        let reference = parse(&assemble(name, tag, digest));
        assert_eq!(reference.with_tag("2").unwrap().as_written(), format!("{name}:2"));
        assert_eq!(reference.with_digest(&other).unwrap().as_written(), assemble(name, tag, Some(&other)));
        assert_eq!(reference.with_digest_alone(&other).unwrap().as_written(), format!("{name}@{other}"));
        for bad in ["", "-x", "a/b", "a@b"] {
            assert!(reference.with_tag(bad).unwrap_err().to_string().starts_with("tag "), "{bad}");
            assert!(reference.with_digest(bad).unwrap_err().to_string().starts_with("digest "), "{bad}");
            assert!(reference.with_digest_alone(bad).unwrap_err().to_string().starts_with("digest "), "{bad}");
        }
    }
}

#[test]
fn arguments_and_what_they_make_of_the_present_image() {
    let pinned = format!("index.docker.io/acme/side:1@{SHA256}");
    let digest = format!("@{SHA256}");
    let both = format!(":2.0@{SHA256}");
    for (argument, present, wanted) in [
        ("nginx", "no image at all", "nginx".to_owned()),
        ("index.docker.io/nginx", "nginx", "index.docker.io/nginx".to_owned()),
        (":2", "acme/side:1", "acme/side:2".to_owned()),
        (":2", "acme/side", "acme/side:2".to_owned()),
        (":2", &pinned, "index.docker.io/acme/side:2".to_owned()),
        (&digest, "acme/side:1", format!("acme/side{digest}")),
        (&digest, &pinned, format!("index.docker.io/acme/side{digest}")),
        (&digest, "localhost:5000/side", format!("localhost:5000/side{digest}")),
        (&both, "acme/side:1", format!("acme/side:2.0{digest}")),
        (&both, &pinned, format!("index.docker.io/acme/side:2.0{digest}")),
        (&both, "localhost:5000/side", format!("localhost:5000/side:2.0{digest}")),
    ] {
        let parsed = ImageArgument::parse(argument).unwrap();
        assert_eq!(parsed.to_string(), argument);
        assert_eq!(parsed.resolve(present), Ok(wanted), "{argument} {present}");
    }
    for argument in [":2", &digest, &both] {
        let error = ImageArgument::parse(argument).unwrap().resolve("UPPER").unwrap_err();
        let message =
            "the present image \"UPPER\" has no repository to keep: repository \"UPPER\" has upper-case letters";
        assert_eq!(error.to_string(), message);
    }
    for (argument, message) in [
        ("", "image is empty"),
        (":", "tag \"\" is empty"),
        (": 2", "tag \" 2\" has ' ', which is no letter, digit, '_', '.' or '-'"),
        ("@", "digest \"\" is not of the form sha256:<hexadecimal>"),
        (":2@", "digest \"\" is not of the form sha256:<hexadecimal>"),
        (":@sha256:ff", "tag \"\" is empty"),
        (":2@sha256:ff", "digest \"sha256:ff\" has 2 hexadecimal digits and not 64"),
        ("@sha256:ff:2", "digest \"sha256:ff:2\" has ':', which is no lower-case hexadecimal digit"),
        ("Nginx", "repository \"Nginx\" has upper-case letters"),
    ] {
        assert_eq!(ImageArgument::parse(argument).unwrap_err().to_string(), message, "{argument}");
    }
}

#[test]
fn two_images_side_by_side() {
    let digest = format!("acme/side:1@{SHA256}");
    for (from, to, expected) in [
        ("acme/side:1.27.1", "acme/side:1.27.2", Some(("acme/side", "1.27.1", "1.27.2"))),
        ("docker.io/acme/side:1", "acme/side:2", Some(("acme/side", "1", "2"))),
        ("nginx", "nginx:1", Some(("nginx", "latest", "1"))),
        ("nginx:1", "nginx:1", Some(("nginx", "1", "1"))),
        ("acme/side:1", &digest, Some(("acme/side", "1", &digest["acme/side:".len()..]))),
        ("nginx", "nginx:latest", None),
        ("nginx:1", "docker.io/nginx:1", None),
        ("nginx:1", "acme/nginx:1", None),
        ("nginx:1", "NGINX:1", None),
    ] {
        let pair = match expected {
            Some((repository, from, to)) => {
                ImagePair { repository: Some(repository.to_owned()), from: from.to_owned(), to: to.to_owned() }
            }
            None => ImagePair { repository: None, from: from.to_owned(), to: to.to_owned() },
        };
        assert_eq!(display_short(from, to), pair, "{from} {to}");
    }
    let pinned = display_short(&format!("a@{SHA256}"), "a:1");
    assert_eq!((pinned.from.as_str(), pinned.to.as_str()), (format!("@{SHA256}").as_str(), "1"));
}

proptest! {
    /// Whatever is typed: no panic, and what is accepted is stable under normalising.
    #[test]
    fn any_text(text in prop_oneof![any::<String>(), r"[a-zA-Z0-9.:/@_\-\[\] é]{0,40}"]) {
        if let Ok(reference) = ImageReference::parse(&text) {
            prop_assert_eq!(reference.to_string(), text.clone());
            let normalised = parse(&reference.normalised());
            prop_assert!(same_image(&reference, &normalised));
            prop_assert_eq!(normalised.normalised(), reference.normalised());
        }
        if let Ok(argument) = ImageArgument::parse(&text) {
            prop_assert_eq!(argument.to_string(), text.clone());
            let wanted = argument.resolve("acme/side:1").unwrap();
            prop_assert!(ImageReference::parse(&wanted).is_ok());
        }
        let _ = display_short(&text, "nginx");
    }

    #[test]
    fn well_formed_text(
        name in r"((localhost|[a-z0-9]{1,3}\.[A-Z]{2}|\[::1\])(:[0-9]{1,5})?/)?[a-z0-9]{1,3}((\.|_|__|-{1,3}|/)[a-z0-9]{1,3}){0,3}",
        tag in proptest::option::of(r"[A-Za-z0-9_][A-Za-z0-9_.\-]{0,127}"),
        digest in proptest::option::of("sha256:[0-9a-f]{64}"),
    ) {
        let written = assemble(&name, tag.as_deref(), digest.as_deref());
        let reference = parse(&written);
        prop_assert_eq!(reference.tag(), tag.as_deref());
        prop_assert_eq!(reference.digest(), digest.as_deref());
        prop_assert_eq!(reference.name_as_written(), name.as_str());
        let familiar = parse(&reference.familiar());
        prop_assert_eq!(familiar.normalised(), reference.normalised());
        prop_assert!(same_image(&familiar, &reference));
    }
}

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
