//! What is generated stands in the tree and is compared here: `UPDATE=1 cargo test --test it generated` writes it anew.
#![expect(clippy::disallowed_methods, reason = "reads and writes files of the tree, and one environment variable")]

use std::fs;
use std::path::PathBuf;

use clap::CommandFactory;
use kubectl_inplace::cli::Cli;
use kubectl_inplace::render::{reasons, tables};

fn path(name: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join(name)
}

/// Compares a file with what it should be, or writes it.
fn assert_file(name: &str, expected: &str) {
    let path = path(name);
    if std::env::var_os("UPDATE").is_some() {
        fs::write(&path, expected).expect("a file of the tree can be written");
    }
    let found = fs::read_to_string(&path).unwrap_or_default();
    assert!(found == expected, "{name} is out of date: UPDATE=1 cargo test --test it generated");
}

/// Compares the part of the README between two markers.
fn assert_readme(part: &str, expected: &str) {
    let readme = fs::read_to_string(path("README.md")).expect("README.md can be read");
    let (begin, end) = (format!("<!-- {part} -->\n"), format!("<!-- end of {part} -->"));
    let (before, rest) = readme.split_once(&begin).unwrap_or_else(|| panic!("README.md has no {begin:?}"));
    let (_, after) = rest.split_once(&end).unwrap_or_else(|| panic!("README.md has no {end:?}"));
    assert_file("README.md", &format!("{before}{begin}{}\n{end}{after}", expected.trim_end()));
}

#[test]
fn the_readme_has_the_tables_of_the_code() {
    assert_readme("exit codes", &tables::exit_codes());
    assert_readme("commands", &commands());
    assert_readme("reasons", &reasons::reasons());
    assert_readme("warnings", &reasons::warnings());
    assert_readme("fields of codes", &crate::render::fields_of_codes());
}

fn commands() -> String {
    let mut table = String::from("| command | what it does |\n|---|---|\n");
    for command in Cli::command().get_subcommands().filter(|command| !command.is_hide_set()) {
        let about = command.get_about().map(ToString::to_string).unwrap_or_default();
        table.push_str(&format!("| `{}` | {} |\n", command.get_name(), about.replace('|', "\\|")));
    }
    table
}

/// The platforms of a release: Rust's target, and krew's os and arch.
const PLATFORMS: [(&str, &str, &str); 5] = [
    ("x86_64-unknown-linux-musl", "linux", "amd64"),
    ("aarch64-unknown-linux-musl", "linux", "arm64"),
    ("x86_64-apple-darwin", "darwin", "amd64"),
    ("aarch64-apple-darwin", "darwin", "arm64"),
    ("x86_64-pc-windows-msvc", "windows", "amd64"),
];

/// The manifest as krew's index wants it; the release fills in the digests.
fn krew_manifest() -> String {
    let version = env!("CARGO_PKG_VERSION");
    let releases = "https://github.com/kubectl-inplace/kubectl-inplace/releases/download";
    let mut manifest = format!(
        "apiVersion: krew.googlecontainertools.github.com/v1alpha2\nkind: Plugin\nmetadata:\n  name: inplace\nspec:\n  version: v{version}\n  homepage: https://github.com/kubectl-inplace/kubectl-inplace\n  shortDescription: Change container images without replacing pods\n  description: |\n    Changes the images of running containers without replacing their pods, on\n    stock Kubernetes, with no operator and no agent on the nodes. It computes\n    whether a change can be done in place, shows it, does it safely, follows the\n    pods until they are ready again, and proves what happened.\n  caveats: |\n    To complete commands and flags, run once:\n      kubectl inplace completion --install\n  platforms:\n"
    );
    for (target, os, arch) in PLATFORMS {
        let exe = if os == "windows" { ".exe" } else { "" };
        manifest.push_str(&format!(
            "  - selector:\n      matchLabels:\n        os: {os}\n        arch: {arch}\n    uri: {releases}/v{version}/kubectl-inplace-v{version}-{target}.tar.gz\n    sha256: \"{}\"\n    bin: kubectl-inplace{exe}\n",
            "0".repeat(64)
        ));
    }
    manifest
}

#[test]
fn the_krew_manifest_is_up_to_date_and_valid() {
    assert_file("krew-manifest.yaml", &krew_manifest());
    let parsed =
        kubectl_inplace::manifest::parse("krew-manifest.yaml", krew_manifest().as_bytes()).expect("it is YAML");
    let plugin = &parsed.first().expect("one document").object;
    let text =
        |pointer: &str| plugin.pointer(pointer).and_then(serde_json::Value::as_str).unwrap_or_default().to_owned();
    // krew's rules: internal/index/validation/validate.go, and the index's review bot.
    assert!(text("/metadata/name").chars().all(|c| c.is_ascii_alphanumeric() || c == '-' || c == '_'));
    assert!(text("/spec/version").starts_with('v'));
    assert!(text("/spec/shortDescription").len() <= 50 && !text("/spec/shortDescription").contains('\n'));
    assert!(text("/spec/description").lines().all(|line| line.len() <= 80));
    let platforms = plugin.pointer("/spec/platforms").and_then(serde_json::Value::as_array).expect("platforms");
    let mut selectors = std::collections::BTreeSet::new();
    for platform in platforms {
        let text = |pointer: &str| {
            platform.pointer(pointer).and_then(serde_json::Value::as_str).unwrap_or_default().to_owned()
        };
        assert!(
            selectors.insert((text("/selector/matchLabels/os"), text("/selector/matchLabels/arch"))),
            "two platforms match the same pair"
        );
        assert_eq!(text("/sha256").len(), 64);
        assert!(text("/uri").starts_with("https://") && text("/uri").ends_with(".tar.gz"));
        assert_eq!(text("/selector/matchLabels/os") == "windows", text("/bin").ends_with(".exe"));
    }
}
