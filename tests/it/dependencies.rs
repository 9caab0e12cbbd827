//! What `deny.toml` says of the dependencies, held without cargo-deny: licences, one TLS, no source but crates.io; and that
//! none asks for a newer Rust than this package does. Advisories need their database: `tests/run deny`.
#![expect(clippy::disallowed_methods, reason = "reads Cargo.lock, and asks cargo")]

use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;

use serde_json::Value;

const CRATES_IO: &str = "registry+https://github.com/rust-lang/crates.io-index";

fn read(path: &str) -> String {
    std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join(path))
        .unwrap_or_else(|error| panic!("{path}: {error}"))
}

/// A list of `deny.toml`, one quoted text a line.
fn list(section: &str, name: &str) -> Vec<String> {
    let text = read("deny.toml");
    let (_, rest) = text.split_once(&format!("\n[{section}]\n")).unwrap_or_else(|| panic!("no [{section}]"));
    let rest = rest.split("\n[").next().unwrap_or_default();
    let (_, rest) = rest.split_once(&format!("{name} = [\n")).unwrap_or_else(|| panic!("no {name} in [{section}]"));
    let (items, _) = rest.split_once("\n]").expect("it ends");
    items.lines().map(|line| line.trim().trim_matches(['"', ',']).to_owned()).collect()
}

/// The names, versions and sources in `Cargo.lock`, for every platform there is.
fn locked() -> Vec<(String, String, Option<String>)> {
    let text = read("Cargo.lock");
    let packages = text.split("[[package]]").skip(1).map(|package| {
        let field = |name: &str| {
            let line = package.lines().find_map(|line| line.strip_prefix(&format!("{name} = ")));
            line.map(|value| value.trim_matches('"').to_owned())
        };
        (field("name").expect("a name"), field("version").expect("a version"), field("source"))
    });
    packages.collect()
}

/// The packages that this platform is built from, as cargo lists them.
fn packages() -> Vec<Value> {
    let cargo = |arguments: &[&str]| {
        let output = Command::new(env!("CARGO")).args(arguments).current_dir(env!("CARGO_MANIFEST_DIR")).output();
        let output = output.expect("cargo is there");
        assert!(output.status.success(), "cargo {arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).expect("cargo writes text")
    };
    let version = cargo(&["-vV"]);
    let host = version.lines().find_map(|line| line.strip_prefix("host: ")).expect("cargo says its host");
    let reported = cargo(&["metadata", "--locked", "--offline", "--format-version=1", "--filter-platform", host]);
    let reported: Value = serde_json::from_str(&reported).expect("cargo writes JSON");
    reported["packages"].as_array().expect("a list").clone()
}

fn name(package: &Value) -> &str {
    package["name"].as_str().expect("a name")
}

/// The crates that a reader who knows the project's purpose looks for first.
#[test]
fn a_crate_that_is_left_out_is_named_with_the_reason() {
    let (manifest, readme) = (read("Cargo.toml") + &read("crates/engine/Cargo.toml"), read("README.md"));
    for name in
        ["clap", "kube", "k8s-openapi", "tokio", "serde_yaml", "json-patch", "comfy-table", "indicatif", "dialoguer"]
    {
        let is_used = manifest.lines().any(|line| line.starts_with(&format!("{name} = ")));
        assert!(is_used || readme.split_whitespace().any(|word| word == name), "{name}");
    }
}

/// Whether one may choose licences out of an expression (SPDX; a slash is an old "OR") that are all allowed.
fn is_allowed(expression: &str, allowed: &[String]) -> bool {
    let spaced = expression.replace('/', " OR ").replace('(', " ( ").replace(')', " ) ").replace(" WITH ", "_WITH_");
    let words: Vec<String> = spaced.split_whitespace().map(|word| word.replace("_WITH_", " WITH ")).collect();
    let (is, rest) = any_of(&words, allowed);
    is && rest.is_empty()
}

fn any_of<'w>(words: &'w [String], allowed: &[String]) -> (bool, &'w [String]) {
    let (mut is, mut rest) = all_of(words, allowed);
    while let Some((_, after)) = rest.split_first().filter(|(word, _)| *word == "OR") {
        let (also, after) = all_of(after, allowed);
        (is, rest) = (is | also, after);
    }
    (is, rest)
}

fn all_of<'w>(words: &'w [String], allowed: &[String]) -> (bool, &'w [String]) {
    let (mut is, mut rest) = one(words, allowed);
    while let Some((_, after)) = rest.split_first().filter(|(word, _)| *word == "AND") {
        let (also, after) = one(after, allowed);
        (is, rest) = (is & also, after);
    }
    (is, rest)
}

fn one<'w>(words: &'w [String], allowed: &[String]) -> (bool, &'w [String]) {
    match words.split_first() {
        Some((open, inner)) if open == "(" => {
            let (is, rest) = any_of(inner, allowed);
            match rest.split_first() {
                Some((close, rest)) if close == ")" => (is, rest),
                Some(_) | None => (false, &[]),
            }
        }
        Some((licence, rest)) => (allowed.contains(licence), rest),
        None => (false, &[]),
    }
}

#[test]
fn every_licence_is_allowed() {
    let allowed = list("licenses", "allow");
    let packages = packages();
    assert!(packages.len() > 100, "cargo tells {} packages", packages.len());
    let licence = |package: &Value| package["license"].as_str().unwrap_or("none").to_owned();
    let refused = packages.iter().filter(|package| !is_allowed(&licence(package), &allowed));
    let refused: Vec<String> = refused.map(|package| format!("{}: {}", name(package), licence(package))).collect();
    assert!(refused.is_empty(), "{refused:#?}");
    let is_used = |one: &&String| packages.iter().any(|package| licence(package).contains(one.as_str()));
    let unused: Vec<&String> = allowed.iter().filter(|one| !is_used(one)).collect();
    assert!(unused.is_empty(), "nobody needs them: {unused:?}");
}

#[test]
fn expressions_of_licences_are_understood() {
    let allowed = ["MIT", "Apache-2.0", "Apache-2.0 WITH LLVM-exception"].map(str::to_owned);
    for good in
        ["MIT", "GPL-3.0 OR MIT", "MIT/GPL-3.0", "(GPL-3.0 OR MIT) AND Apache-2.0", "Apache-2.0 WITH LLVM-exception"]
    {
        assert!(is_allowed(good, &allowed), "{good}");
    }
    for bad in ["", "GPL-3.0", "GPL-3.0 AND MIT", "MIT AND (GPL-3.0 OR ISC)", "MIT WITH X", "(MIT", "MIT MIT", "none"] {
        assert!(!is_allowed(bad, &allowed), "{bad}");
    }
}

#[test]
fn there_is_one_tls_and_no_source_but_crates_io() {
    let (banned, locked) = (list("bans", "deny"), locked());
    let found: Vec<_> = locked.iter().filter(|(name, _, _)| banned.contains(name)).collect();
    assert!(found.is_empty(), "{found:?}");
    for needed in ["rustls", "ring"] {
        assert!(locked.iter().any(|(name, _, _)| name == needed), "{needed} is gone: what is the TLS now?");
    }
    let elsewhere = locked.iter().filter(|(name, _, source)| match source {
        Some(source) => source != CRATES_IO,
        None => ![env!("CARGO_PKG_NAME"), "kubectl-inplace-engine", "testkit"].contains(&name.as_str()),
    });
    assert_eq!(elsewhere.collect::<Vec<_>>(), [] as [&(String, String, Option<String>); 0]);
}

#[test]
fn no_other_crate_is_there_twice() {
    let mut versions: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for (name, version, _) in locked() {
        versions.entry(name).or_default().push(version);
    }
    let twice: Vec<String> =
        versions.into_iter().filter(|(_, versions)| versions.len() > 1).map(|(name, _)| name).collect();
    assert_eq!(twice, list("bans", "skip"), "`skip` of deny.toml says which");
}

/// `rust-version` of Cargo.toml is a promise to everybody who builds it: `tests/run msrv` builds with exactly that
/// Rust.
#[test]
fn no_dependency_asks_for_a_newer_rust() {
    let number = |text: &str| -> Vec<u32> { text.split('.').map(|part| part.parse().expect("a version")).collect() };
    let ours = number(env!("CARGO_PKG_RUST_VERSION"));
    let (mut newer, mut reported) = (Vec::new(), 0);
    for package in packages() {
        let Some(version) = package["rust_version"].as_str() else { continue };
        reported += 1;
        let theirs = number(version);
        if theirs.get(..2) > ours.get(..2) {
            newer.push(format!("{} asks for {version}", name(&package)));
        }
    }
    assert!(newer.is_empty(), "{newer:#?}");
    assert!(reported > 50, "only {reported} say what they need");
}
