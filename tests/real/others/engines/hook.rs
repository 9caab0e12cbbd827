//! Copies of `examples/gitops`, and the image that their Job runs.

use std::env;
use std::fs;
use std::path::Path;
use std::process::Command;
use std::sync::OnceLock;

use serde_json::{Value, json};

use crate::pages::Place;
use crate::support::registry;

/// Pushes files as one layer, and returns the digest.
pub(super) fn push(name: &str, files: &[(&str, String)]) -> String {
    let folder = env::temp_dir().join(name.replace([':', '/'], "-"));
    let files = files.iter().map(|(path, text)| {
        let file = folder.join(path);
        fs::create_dir_all(file.parent().expect("it is in the folder")).expect("the temporary folder can be written");
        fs::write(&file, text).expect("the temporary folder can be written");
        format!("{path}={}", file.display())
    });
    let digest = push_files(name, &files.collect::<Vec<_>>());
    fs::remove_dir_all(folder).expect("it is still there");
    digest
}

fn push_files(name: &str, files: &[String]) -> String {
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/cluster/push.py");
    let output = Command::new("python3").args([script, registry(), name]).args(files).output().expect("Python runs");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8_lossy(&output.stdout).trim().to_owned()
}

/// The digest of an image that runs the binary under test, with the libraries that it loads.
pub(super) fn image_under_test() -> &'static str {
    static DIGEST: OnceLock<String> = OnceLock::new();
    DIGEST.get_or_init(|| {
        let binary = env!("CARGO_BIN_EXE_kubectl-inplace");
        let said = Command::new("ldd").arg(binary).output().expect("ldd runs");
        let said = String::from_utf8_lossy(&said.stdout).into_owned();
        let libraries = said.split_whitespace().filter(|word| word.starts_with('/'));
        let files = libraries.map(|path| format!("{}={path}", path.trim_start_matches('/')));
        let files: Vec<String> = std::iter::once(format!("kubectl-inplace={binary}")).chain(files).collect();
        push_files("inplace/under-test:latest", &files)
    })
}

/// A copy of an example whose Job goes first, for the tests' cluster, which has no addresses of Services: the Job finds the
/// API server on the node.
pub(super) struct Hook {
    pub(super) place: Place,
}

impl Hook {
    /// `more` are arguments of its program.
    pub(super) fn of(name: &str, kustomization: &str, more: &[&str]) -> Self {
        let hook = Self { place: example(name) };
        let text = hook.read(kustomization);
        let image = format!("newName: {}/inplace/under-test", registry());
        let text = text.replace("newName: ghcr.io/kubectl-inplace/kubectl-inplace", &image);
        let text = text.replace("newTag: v0.1.0", &format!("digest: {}", image_under_test()));
        assert!(text.contains(&image) && text.contains("digest: "), "{text}");
        let server = hook.place.namespace.kubectl(&["config", "view", "-o", "jsonpath={.clusters[0].cluster.server}"]);
        let (host, port) = server.trim_start_matches("https://").split_once(':').expect("a port");
        let variable = |name: &str, value: &str| json!({"name": name, "value": value});
        // The image has no certificates of authorities, and a client without any is none, whatever it talks to.
        let authority = variable("SSL_CERT_FILE", "/var/run/secrets/kubernetes.io/serviceaccount/ca.crt");
        let mut env = vec![variable("KUBERNETES_SERVICE_HOST", host), variable("KUBERNETES_SERVICE_PORT", port)];
        env.extend((!more.is_empty()).then_some(authority));
        let add = |path: &str, value: Value| json!({"op": "add", "path": format!("/spec/template/spec/{path}"), "value": value});
        let mut patch = vec![add("hostNetwork", json!(true)), add("containers/0/env", json!(env))];
        patch.extend(more.iter().map(|argument| add("containers/0/args/-", json!(argument))));
        let patches = json!([{"target": {"kind": "Job"}, "patch": Value::from(patch).to_string()}]);
        hook.write(kustomization, &format!("{text}patches: {patches}\n"));
        hook
    }

    pub(super) fn path(&self, file: &str) -> String {
        self.place.folder.join(file).to_str().expect("a path of ours is text").to_owned()
    }

    pub(super) fn read(&self, file: &str) -> String {
        fs::read_to_string(self.path(file)).expect("the example can be read")
    }

    pub(super) fn write(&self, file: &str, text: &str) {
        fs::write(self.path(file), text).expect("the copy can be written");
    }

    /// Writes the example's manifest with the tests' images, of the tags v1, and these changes.
    pub(super) fn write_manifest(&self, file: &str, changes: &[(&str, &str)]) {
        let name = file.split('/').next().unwrap_or_default();
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("examples/gitops");
        let text = fs::read_to_string(folder.join(file)).expect("the example can be read");
        let images = [("app", "registry.k8s.io/e2e-test-images/agnhost:2.53"), ("side", "registry.k8s.io/pause:3.9")];
        let ours = images.iter().fold(text, |text, (image, public)| {
            assert!(text.contains(public), "{name}: {text}");
            text.replace(public, &format!("{}/{image}:v1", registry()))
        });
        let changed = changes.iter().fold(ours, |text, (from, to)| {
            assert!(text.contains(from), "{from}: {text}");
            text.replace(from, to)
        });
        self.write(file, &changed);
    }

    pub(super) fn assert_account_is_enough(&self) {
        let account = format!("system:serviceaccount:{}:inplace", self.place.namespace.name());
        let check = self.place.namespace.inplace(&["rbac", "apply", "deployment", "--check", "--as", &account]);
        assert_eq!(check.code, 0, "{check:#?}");
    }
}

/// A place with a copy of an example of `examples/gitops`.
pub(super) fn example(name: &str) -> Place {
    let place = Place::new();
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("examples/gitops").join(name);
    copy(&folder, &place.folder.join(name));
    place
}

fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).expect("the temporary folder can be written");
    for entry in fs::read_dir(from).expect("the example can be read").flatten() {
        let to = to.join(entry.file_name());
        if entry.path().is_dir() {
            copy(&entry.path(), &to);
        } else {
            fs::copy(entry.path(), to).expect("the example can be copied");
        }
    }
}
