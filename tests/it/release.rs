//! The scripts `release` and `install.sh`, with a stand-in for the binaries: what a release holds, that the same files give the
//! same bytes in any folder, and that nothing is installed that is not what the checksums say. `tests/run release` builds.
#![expect(clippy::disallowed_methods, reason = "runs the scripts, and reads what they write")]

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::LazyLock;

use serde_json::Value;

use crate::support::pages::{command_blocks, pages};
use crate::support::run::Folder;

const PLATFORMS: [&str; 5] = ["linux_amd64", "linux_arm64", "windows_amd64", "darwin_amd64", "darwin_arm64"];
/// Those whose crates exist wherever the tests were built on Linux: a bill of materials needs no network for them.
const LINUX: [&str; 2] = ["linux_amd64", "linux_arm64"];
/// In place of a binary: it says how it was called.
const STAND_IN: &str = "#!/bin/sh\necho \"stand-in $*\"\n";
const VERSION: &str = concat!("v", env!("CARGO_PKG_VERSION"));

fn shell(folder: &Path, script: &str) -> Output {
    let mut command = Command::new("/bin/sh");
    command.args(["-c", script]).current_dir(folder);
    command.env("SOURCE_DATE_EPOCH", "1770000000").env("KUBECTL_INPLACE_COMMIT", "0123456789ab");
    command.output().expect("a shell runs")
}

#[track_caller]
fn good(folder: &Path, script: &str) -> String {
    let output = shell(folder, script);
    assert!(output.status.success(), "{script}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).expect("it is text")
}

/// Without one there is no image with a shell.
fn has_busybox() -> bool {
    Path::new("/bin/busybox").exists()
}

/// A copy of the tree as far as the script needs it, and the release that is made there.
fn made(name: &str, mask: &str) -> (Folder, PathBuf) {
    let folder = Folder::new();
    let (tree, root) = (folder.path().join(name), env!("CARGO_MANIFEST_DIR"));
    let files = "Cargo.toml Cargo.lock LICENSE README.md release install.sh krew-manifest.yaml packaging completions man src crates";
    let mut with = LINUX.map(|platform| format!("--with {platform}=stand-in")).join(" ");
    if has_busybox() {
        with.push_str(" --busybox linux_amd64=stand-in --busybox linux_arm64=stand-in");
    }
    fs::create_dir_all(&tree).expect("the folder can be written");
    fs::write(tree.join("stand-in"), STAND_IN).expect("the folder can be written");
    good(
        &tree,
        &format!(
            "umask {mask} && (cd '{root}' && tar -cf - {files}) | tar -xof - --no-same-permissions -m && mkdir -p tests/it tests/real tests/bench && touch tests/it/main.rs tests/real/main.rs tests/bench/main.rs && ./release {with} --out made"
        ),
    );
    (folder, tree.join("made"))
}

/// One release for all tests.
static RELEASE: LazyLock<(Folder, PathBuf)> = LazyLock::new(|| made("one", "022"));

fn dist() -> &'static Path {
    &RELEASE.1
}

fn read(name: &str) -> String {
    fs::read_to_string(dist().join(name)).unwrap_or_else(|error| panic!("{name}: {error}"))
}

#[test]
fn the_same_files_give_the_same_release_in_any_folder() {
    let (_folder, other) = made("another-folder", "077");
    let sums = fs::read_to_string(other.join("SHA256SUMS")).expect("it was written");
    assert_eq!(sums, read("SHA256SUMS"));
    good(dist(), "sha256sum --check --quiet SHA256SUMS");
    let listed: BTreeSet<&str> = sums.lines().map(|line| &line[66..]).collect();
    let files = fs::read_dir(dist()).expect("the folder is there").flatten();
    let there: BTreeSet<String> = files.map(|file| file.file_name().to_string_lossy().into_owned()).collect();
    assert_eq!(there.iter().map(String::as_str).filter(|name| *name != "SHA256SUMS").collect::<BTreeSet<_>>(), listed);
}

#[test]
fn an_archive_has_binary_licence_completions_and_manual_pages() {
    for platform in LINUX {
        let list = good(dist(), &format!("tar -tvzf kubectl-inplace_{VERSION}_{platform}.tar.gz"));
        for file in [
            "./kubectl-inplace",
            "./LICENSE",
            "./README.md",
            "./completions/kubectl_complete-inplace",
            "./completions/inplace.ps1",
            "./man/kubectl-inplace-apply.1",
        ] {
            assert!(list.lines().any(|line| line.ends_with(&format!(" {file}"))), "{platform}: {file} in\n{list}");
        }
        assert!(list.lines().all(|line| line.contains(" 0/0 ")), "{list}");
        let binary = list.lines().find(|line| line.contains("./kubectl-inplace")).expect("the binary");
        assert!(binary.starts_with("-rwxr-xr-x"), "{binary}");
    }
}

#[test]
fn a_debian_package_puts_everything_in_its_place() {
    if shell(dist(), "command -v dpkg-deb").status.success() {
        let deb = format!("kubectl-inplace_{}_amd64.deb", env!("CARGO_PKG_VERSION"));
        let list = good(dist(), &format!("dpkg-deb --contents {deb}"));
        for file in [
            "./usr/bin/kubectl-inplace",
            "./usr/bin/kubectl_complete-inplace",
            "./usr/share/man/man1/kubectl-inplace.1.gz",
        ] {
            assert!(list.lines().any(|line| line.ends_with(&format!(" {file}"))), "{file} in\n{list}");
        }
        let control = good(dist(), &format!("dpkg-deb --field {deb}"));
        assert!(control.contains("Architecture: amd64") && control.contains("Package: kubectl-inplace"), "{control}");
    }
}

#[test]
fn the_bill_of_materials_has_what_the_binary_is_built_from_and_nothing_else() {
    let bill: Value = serde_json::from_str(&read(&format!("kubectl-inplace_{VERSION}.cdx.json"))).expect("it is JSON");
    assert_eq!((&bill["bomFormat"], &bill["specVersion"]), (&Value::from("CycloneDX"), &Value::from("1.5")));
    assert_eq!(bill["metadata"]["component"]["name"], "kubectl-inplace");
    let components = bill["components"].as_array().expect("a list");
    let has = |name: &str| components.iter().any(|component| component["name"] == name);
    assert!(has("kube") && has("ring") && has("clap"), "{}", components.len());
    // What only tests need.
    assert!(!has("proptest") && !has("clap_mangen"));
    let known: BTreeSet<&str> = components.iter().filter_map(|component| component["bom-ref"].as_str()).collect();
    for component in components {
        assert!(component["licenses"][0]["expression"].is_string(), "{component}");
        // A crate of this repository comes with its source.
        let sum = (component["name"] != "kubectl-inplace-engine").then_some(64);
        assert_eq!(component["hashes"][0]["content"].as_str().map(str::len), sum, "{component}");
    }
    for dependency in bill["dependencies"].as_array().expect("a list") {
        let on = dependency["dependsOn"].as_array().expect("a list");
        assert!(on.iter().filter_map(Value::as_str).all(|on| known.contains(on)), "{dependency}");
    }
}

#[test]
fn the_images_are_an_oci_layout() {
    let folder = Folder::new();
    let archive = dist().join(format!("kubectl-inplace_{VERSION}_image.tar"));
    good(folder.path(), &format!("tar -xf '{}'", archive.display()));
    let blob = |descriptor: &Value| {
        let digest = descriptor["digest"].as_str().expect("a digest").replace("sha256:", "");
        let path = folder.path().join("blobs/sha256").join(&digest);
        let sum = good(folder.path(), &format!("sha256sum '{}'", path.display()));
        assert!(sum.starts_with(&digest), "{sum}");
        let bytes = fs::read(path).expect("the blob is there");
        assert_eq!(descriptor["size"], bytes.len());
        bytes
    };
    let json = |descriptor: &Value| serde_json::from_slice::<Value>(&blob(descriptor)).expect("it is JSON");
    let index: Value = serde_json::from_str(&folder.read("index.json").expect("an index")).expect("it is JSON");
    let tags: Vec<&Value> = index["manifests"].as_array().expect("a list").iter().collect();
    assert_eq!(tags[0]["annotations"]["org.opencontainers.image.ref.name"], VERSION);
    assert_eq!(tags.len(), if has_busybox() { 2 } else { 1 });
    for tag in tags {
        let mut platforms = BTreeSet::new();
        let has_shell = tag["annotations"]["org.opencontainers.image.ref.name"] != VERSION;
        for descriptor in json(tag)["manifests"].as_array().expect("a list") {
            let manifest = json(descriptor);
            let config = json(&manifest["config"]);
            assert_eq!(config["config"]["Entrypoint"][0], "/usr/local/bin/kubectl-inplace");
            assert_eq!(config["config"]["User"], "65532");
            platforms.insert(config["architecture"].as_str().expect("a word").to_owned());
            fs::write(folder.path().join("layer"), blob(&manifest["layers"][0])).expect("the folder can be written");
            let files = good(folder.path(), "tar -tzf layer");
            assert!(files.lines().any(|file| file == "usr/local/bin/kubectl-inplace"), "{files}");
            assert_eq!(files.lines().any(|file| file == "bin/sh"), has_shell, "{files}");
        }
        assert_eq!(platforms, ["amd64", "arm64"].map(str::to_owned).into());
    }
}

#[test]
fn krews_manifest_names_the_archives_by_their_digests() {
    let folder = Folder::new();
    let archives = PLATFORMS.map(|platform| format!("kubectl-inplace_{VERSION}_{platform}.tar.gz"));
    archives.iter().for_each(|archive| drop(folder.write(archive, archive)));
    let render = format!(
        "'{root}/packaging/krew.py' '{root}/krew-manifest.yaml' {VERSION} .",
        root = env!("CARGO_MANIFEST_DIR")
    );
    let text = good(folder.path(), &format!("python3 {render} {}", archives.join(" ")));
    let parsed = kubectl_inplace::manifest::parse("inplace.yaml", text.as_bytes()).expect("it is YAML");
    let plugin = &parsed.first().expect("one document").object;
    let text =
        |value: &Value, pointer: &str| value.pointer(pointer).and_then(Value::as_str).unwrap_or_default().to_owned();
    // krew's rules: internal/index/validation/validate.go, and the index's review bot.
    assert_eq!(text(plugin, "/metadata/name"), "inplace");
    assert_eq!(text(plugin, "/spec/version"), VERSION);
    assert!(text(plugin, "/spec/shortDescription").len() <= 50);
    assert!(text(plugin, "/spec/description").lines().all(|line| line.len() <= 80));
    let sums = good(folder.path(), "sha256sum *.tar.gz");
    let platforms = plugin.pointer("/spec/platforms").and_then(Value::as_array).expect("platforms");
    let mut found = BTreeSet::new();
    for platform in platforms {
        let (os, arch) = (text(platform, "/selector/matchLabels/os"), text(platform, "/selector/matchLabels/arch"));
        let uri = text(platform, "/uri");
        let archive = uri.rsplit('/').next().expect("a file");
        assert_eq!(
            uri,
            format!("https://github.com/kubectl-inplace/kubectl-inplace/releases/download/{VERSION}/{archive}")
        );
        assert!(sums.contains(&format!("{}  {archive}\n", text(platform, "/sha256"))), "{platform}");
        assert_eq!(os == "windows", text(platform, "/bin").ends_with(".exe"));
        assert!(archive.ends_with(&format!("_{os}_{arch}.tar.gz")), "{archive}");
        found.insert(format!("{os}_{arch}"));
    }
    assert_eq!(found, PLATFORMS.map(str::to_owned).into());
}

#[test]
fn what_was_not_built_is_left_out_and_said() {
    let folder = Folder::new();
    fs::write(folder.path().join("stand-in"), STAND_IN).expect("the folder can be written");
    let (root, here) = (env!("CARGO_MANIFEST_DIR"), folder.path().display());
    let output =
        shell(folder.path(), &format!("'{root}/release' --with linux_amd64='{here}/stand-in' --out '{here}/made'"));
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success(), "{said}");
    assert!(said.contains("windows_amd64 is not in this release"), "{said}");
    assert!(folder.read("made/SHA256SUMS").is_some_and(|sums| sums.lines().count() >= 5), "{said}");
    let manifest = folder.read("made/inplace.yaml").expect("it was written");
    assert!(manifest.contains("linux_amd64") && !manifest.contains("windows"), "{manifest}");
}

#[test]
fn what_an_earlier_release_has_left_is_not_in_this_one() {
    let folder = Folder::new();
    fs::write(folder.path().join("stand-in"), STAND_IN).expect("the folder can be written");
    let old = "kubectl-inplace_v0.0.9_linux_amd64.tar.gz";
    for name in [old, "kubectl-inplace_v0.0.9_notes.tar.gz", "notes.txt"] {
        folder.write(&format!("made/{name}"), "old");
    }
    good(&folder.path().join("made"), &format!("sha256sum {old} notes.txt >SHA256SUMS"));
    let (root, here) = (env!("CARGO_MANIFEST_DIR"), folder.path().display());
    good(folder.path(), &format!("'{root}/release' --with linux_amd64='{here}/stand-in' --out '{here}/made'"));
    let sums = folder.read("made/SHA256SUMS").expect("it was written");
    assert!(sums.contains(VERSION) && !sums.contains("v0.0.9") && !sums.contains("notes"), "{sums}");
    assert_eq!(folder.read(&format!("made/{old}")), None);
    // What no release has written is somebody's.
    assert!(
        folder.read("made/notes.txt").is_some() && folder.read("made/kubectl-inplace_v0.0.9_notes.tar.gz").is_some()
    );
}

/// The address of the project is written once, in Cargo.toml; what must repeat it does.
#[test]
fn the_address_of_the_project_is_the_same_everywhere() {
    let home = env!("CARGO_PKG_REPOSITORY");
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let file = |name: &str| fs::read_to_string(root.join(name)).expect("a file of the tree can be read");
    assert!(file("install.sh").contains(&format!("\nrepository={home}\n")));
    let manifest = file("krew-manifest.yaml");
    assert!(manifest.contains(&format!("homepage: {home}\n")));
    let others =
        manifest.lines().filter(|line| line.contains("https://") && !line.contains(&format!("{home}/releases/")));
    assert_eq!(others.count(), 1, "{manifest}");
}

/// Runs `install.sh` of the release with a home of its own.
fn install(home: &Path, arguments: &str) -> Output {
    shell(home, &format!("HOME='{}' '{}/install.sh' {arguments}", home.display(), dist().display()))
}

#[test]
#[cfg(target_os = "linux")]
fn the_installer_puts_plugin_and_completion_where_it_is_asked_to() {
    let home = Folder::new();
    let output = install(home.path(), &format!("--from '{}' --to bin", dist().display()));
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(output.status.success(), "{output:?}");
    assert!(said.starts_with("stand-in version --client\n") && said.contains("bin is not on the PATH"), "{said}");
    assert_eq!(home.read("bin/kubectl-inplace").as_deref(), Some(STAND_IN));
    assert!(home.read("bin/kubectl_complete-inplace").is_some_and(|text| text.starts_with("#!/bin/sh")));
    let again = install(home.path(), &format!("--from '{}' --to bin --version {VERSION}", dist().display()));
    assert!(again.status.success(), "{again:?}");
    let other = install(home.path(), &format!("--from '{}' --to bin --version v9.9.9", dist().display()));
    assert!(!other.status.success() && String::from_utf8_lossy(&other.stderr).contains("no archive for"), "{other:?}");
}

/// A user with the files of a release needs no address; with only the script, the script says what to give it.
#[test]
#[cfg(target_os = "linux")]
fn the_installer_takes_the_files_beside_it_or_says_how_to_name_them() {
    let home = Folder::new();
    let output = install(home.path(), "--to bin");
    assert!(output.status.success() && home.read("bin/kubectl-inplace").is_some(), "{output:?}");

    let alone = Folder::new();
    alone.write("curl", "#!/bin/sh\necho 'curl: (6) Could not resolve host' >&2\nexit 6\n");
    good(alone.path(), &format!("chmod 755 curl && cp '{}/install.sh' .", dist().display()));
    for (arguments, address) in [("", "releases/latest/download"), ("--version v0.1.0", "releases/download/v0.1.0")] {
        let output = shell(alone.path(), &format!("PATH=$PWD:$PATH; export PATH; sh install.sh {arguments} --to bin"));
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        let expected = format!(
            "install.sh: cannot get {}/{address}/SHA256SUMS (curl: (6) Could not resolve host): say with --from FOLDER or --from URL where the files of a release are\n",
            env!("CARGO_PKG_REPOSITORY")
        );
        assert_eq!((output.status.code(), said), (Some(1), expected));
        assert_eq!(alone.read("bin/kubectl-inplace"), None);
    }
}

/// What the page says, as it says it, in a folder with the files of a release; what needs krew, apt or cargo is done by
/// `packaging/check`, as far as it can be.
#[test]
#[cfg(target_os = "linux")]
fn the_page_about_installing_says_what_works() {
    let page = pages().into_iter().find(|page| page.path == "docs/install.md").expect("there is that page");
    let here = Folder::new();
    good(here.path(), &format!("mkdir local && cp '{}'/* .", dist().display()));
    let is_run =
        |line: &&String| ["sh ", "sha256sum ", "tar ", "install "].iter().any(|program| line.starts_with(program));
    let lines: Vec<String> = command_blocks(&page).concat().iter().filter(is_run).cloned().collect();
    assert_eq!(lines.len(), 6, "{lines:#?}");
    for line in lines {
        let mut typed = line.replace("v0.1.0", VERSION).replace("/media/mirror", &dist().display().to_string());
        typed = typed.replace("/usr/local/bin", "local").replace("linux_amd64", platform());
        if typed.starts_with("sh ") && !typed.contains("--to") {
            typed.push_str(" --to local");
        }
        good(here.path(), &format!("HOME=$PWD; {typed}"));
    }
    for installed in ["local/kubectl-inplace", "bin/kubectl-inplace", "kubectl-inplace"] {
        assert_eq!(here.read(installed).as_deref(), Some(STAND_IN), "{installed}");
    }
}

#[cfg(target_os = "linux")]
fn platform() -> &'static str {
    if cfg!(target_arch = "aarch64") { "linux_arm64" } else { "linux_amd64" }
}

#[test]
#[cfg(target_os = "linux")]
fn nothing_is_installed_that_the_checksums_do_not_say() {
    let home = Folder::new();
    good(
        home.path(),
        &format!("cp -r '{}' mirror && for f in mirror/*.tar.gz; do echo >>\"$f\"; done", dist().display()),
    );
    let output = install(home.path(), "--from mirror --to bin");
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(!output.status.success() && said.contains("nothing is installed"), "{output:?}");
    assert_eq!(home.read("bin/kubectl-inplace"), None);
}

/// The workflows take actions of one version each, and call the script unchanged.
#[test]
fn the_workflows_pin_what_they_use() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let (mut actions, mut calls) = (0, 0);
    for name in ["release.yml", "krew.yml"] {
        let text = fs::read_to_string(root.join(".github/workflows").join(name)).expect("the workflow can be read");
        for action in text.lines().filter_map(|line| line.trim_start_matches([' ', '-']).strip_prefix("uses: ")) {
            actions += 1;
            let pinned = action.split_once("@v").is_some_and(|(_, version)| version.split('.').count() == 3);
            assert!(pinned || root.join(action).exists(), "{name}: {action}");
        }
        let words = text.split_whitespace().filter(|word| word.starts_with("--") && !word.contains('='));
        for option in words.filter(|option| ["--build-only", "--with", "--out", "--busybox"].contains(option)) {
            calls += 1;
            assert!(
                fs::read_to_string(root.join("release")).is_ok_and(|script| script.contains(&format!("{option})")))
            );
        }
        for platform in PLATFORMS.iter().filter(|_| name == "release.yml") {
            assert!(
                text.contains(&format!("platform: {platform},"))
                    && text.contains(&format!("--with {platform}=binaries/{platform}"))
            );
        }
    }
    assert!(actions >= 8 && calls >= 8, "{actions} {calls}");
    // What a hosted machine lacks is installed before it is needed.
    let release = fs::read_to_string(root.join(".github/workflows/release.yml")).expect("the workflow can be read");
    let steps = fs::read_to_string(root.join("tests/run")).expect("the script can be read");
    let runs: Vec<&str> = release.lines().filter_map(|line| line.trim().strip_prefix("- run: tests/run ")).collect();
    assert!(runs.first().is_some_and(|first| first.starts_with("tools ")), "{runs:?}");
    for step in runs.iter().flat_map(|run| run.split(' ')) {
        assert!(steps.contains(&format!("\nstep_{step}() {{")), "there is no step {step}");
    }
}
