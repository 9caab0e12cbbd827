//! Who imports whom, held against the sources; and that nothing is forgotten.
#![expect(clippy::disallowed_methods, reason = "reads the sources")]

use std::fs;
use std::path::{Path, PathBuf};

/// A module, and the words that its sources may not contain.
const FENCES: &[(&str, &[&str])] = &[
    (
        "src/engine",
        &[
            "kube::",
            "k8s_openapi",
            "tokio",
            "clap::",
            "anyhow",
            "futures::",
            "async fn",
            ".await",
            "std::fs",
            "std::env",
            "std::io",
            "std::net",
            "std::process",
            "std::thread",
            "Instant",
            "SystemTime",
            "Timestamp::now",
            "println!",
            "crate::cluster",
            "crate::render",
            "crate::manifest",
            "crate::commands",
            "crate::cli",
            "crate::drive",
            "crate::error",
        ],
    ),
    (
        "src/manifest",
        &[
            "kube::",
            "tokio",
            "clap::",
            "crate::cluster",
            "crate::render",
            "crate::commands",
            "crate::cli",
            "crate::drive",
        ],
    ),
    ("src/cluster", &["clap::", "crate::render", "crate::commands", "crate::cli", "crate::drive", "crate::manifest"]),
    (
        "src/render",
        &[
            "kube::",
            "k8s_openapi",
            "tokio",
            "crate::cluster",
            "crate::commands",
            "crate::cli",
            "crate::drive",
            "crate::manifest",
            "println!",
        ],
    ),
    (
        "src/drive.rs",
        &[
            "kube::",
            "clap::",
            "crate::commands",
            "crate::cli",
            "crate::manifest",
            "render::Lines",
            "render::Live",
            "render::JsonLines",
        ],
    ),
    (
        "src/hook.rs",
        &["kube::", "clap::", "crate::cluster", "crate::render", "crate::commands", "crate::cli", "crate::drive"],
    ),
    (
        "src/record.rs",
        &["kube::", "tokio", "crate::cluster", "crate::render", "crate::commands", "crate::cli", "crate::drive"],
    ),
    (
        "src/record",
        &["kube::", "tokio", "crate::cluster", "crate::render", "crate::commands", "crate::cli", "crate::drive"],
    ),
    ("src/cli.rs", &["kube::", "tokio", "crate::cluster", "crate::commands", "crate::drive", "crate::manifest"]),
    ("src/commands", &["kube::", "k8s_openapi"]),
    ("src/main.rs", &["kube::", "crate::"]),
];

fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
}

fn sources(place: &Path) -> Vec<PathBuf> {
    if place.is_file() {
        return vec![place.to_owned()];
    }
    let mut found: Vec<PathBuf> =
        fs::read_dir(place).into_iter().flatten().flatten().flat_map(|entry| sources(&entry.path())).collect();
    found.retain(|path| path.extension().is_some_and(|extension| extension == "rs"));
    found.sort();
    found
}

/// The code of a source: no comments, and nothing from the first `#[cfg(test)] mod` on.
fn code(source: &str) -> String {
    let code = source.split("#[cfg(test)]\nmod ").next().unwrap_or_default();
    code.lines().filter(|line| !line.trim_start().starts_with("//")).collect::<Vec<_>>().join("\n")
}

fn is_test(path: &Path) -> bool {
    path.file_name().is_some_and(|name| name == "tests.rs" || name == "fixtures.rs")
        || path.components().any(|part| part.as_os_str() == "simulation" || part.as_os_str() == "tests")
}

/// Returns the forbidden words that a source contains.
fn trespasses(source: &str, forbidden: &[&'static str]) -> Vec<&'static str> {
    let code = code(source);
    forbidden.iter().filter(|word| code.contains(**word)).copied().collect()
}

#[test]
fn no_module_imports_what_it_may_not() {
    let mut found = Vec::new();
    for (place, forbidden) in FENCES {
        let files = sources(&root().join(place));
        assert!(!files.is_empty(), "{place} is gone: the fence guards nothing");
        for file in files.into_iter().filter(|file| !is_test(file)) {
            let source = fs::read_to_string(&file).expect("a source can be read");
            found.extend(trespasses(&source, forbidden).into_iter().map(|word| format!("{}: {word}", file.display())));
        }
    }
    assert!(found.is_empty(), "{found:#?}");
}

#[test]
fn the_fence_bites() {
    assert_eq!(trespasses("use tokio::time;\n// kube::Client\nfn x() {}", &["tokio", "kube::"]), ["tokio"]);
    assert_eq!(trespasses("fn x() {}\n#[cfg(test)]\nmod tests { use std::fs; }", &["std::fs"]), [""; 0]);
}

#[test]
fn only_one_place_selects() {
    let selecting: Vec<PathBuf> = sources(&root().join("src"))
        .into_iter()
        .filter(|file| fs::read_to_string(file).is_ok_and(|source| code(&source).contains("select! {")))
        .collect();
    assert_eq!(selecting, [root().join("src/drive.rs")]);
}

#[test]
fn every_test_file_is_run() {
    for (main, folder) in [("tests/it/main.rs", "tests/it"), ("tests/real/main.rs", "tests/real")] {
        let main = fs::read_to_string(root().join(main)).expect("the list of modules can be read");
        for entry in fs::read_dir(root().join(folder)).expect("the folder can be read").flatten() {
            let name = entry.path().file_stem().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
            assert!(name == "main" || main.contains(&format!("mod {name};")), "{folder}/{name} is in no binary");
        }
    }
}

#[test]
fn the_sources_stay_small() {
    let long: Vec<String> = sources(&root().join("src"))
        .into_iter()
        .filter_map(|file| {
            let lines = fs::read_to_string(&file).ok()?.lines().count();
            (lines > 600).then(|| format!("{}: {lines} lines", file.display()))
        })
        .collect();
    assert!(long.is_empty(), "{long:#?}");
}
