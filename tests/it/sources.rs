//! Manifests that are built or fetched: `-k`, and `-f` with an address.

use std::io::{BufRead, BufReader, Write};
use std::net::TcpListener;
use std::os::unix::fs::PermissionsExt;
use std::thread;

use crate::support::builders::Workload;
use crate::support::run::{Folder, Output};
use crate::support::scene::{server_with, two_containers, typed, web};

const MANIFEST: &str = "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: web}\nspec:\n  selector: {matchLabels: {app: web}}\n  \
     template:\n    metadata: {labels: {app: web}}\n    spec:\n      containers:\n      - {name: app, image: \"acme/app:v1\"}\n      \
     - {name: side, image: \"acme/side:v2\"}\n";

const PLAN: &str = "plan -k overlay";

/// Builds with this in the place of the kubectl that called the program.
fn built_by(line: &str, script: &str) -> Output {
    let folder = Folder::new();
    let kubectl = folder.write("other-kubectl", &format!("#!/bin/sh\n{script}\n"));
    let mut mode = kubectl.metadata().expect("just written").permissions();
    mode.set_mode(0o755);
    std::fs::set_permissions(&kubectl, mode).expect("just written");
    let server = server_with(["web", "other"].map(|name| two_containers(Workload::deployment(name))));
    let binary = typed(&server, line).file("built.yaml", MANIFEST);
    binary.env("KUBECTL_PATH", &kubectl.display().to_string()).env("PATH", "/usr/bin:/bin").run()
}

#[test]
fn a_kustomization_is_built_by_the_kubectl_that_called() {
    built_by(PLAN, "test \"$1 $2\" = 'kustomize overlay' && cat built.yaml")
        .ends_with(0)
        .prints("deployment/web can be updated in place")
        .prints("Next: kubectl inplace apply -k overlay");
    // It names workloads as -f does: the namespace has another one.
    let names = built_by("status -k overlay -o name", "cat built.yaml").ends_with(0);
    assert_eq!(names.stdout, "deployment.apps/web\n");
    built_by(PLAN, "echo 'error: no such folder' >&2; exit 1")
        .ends_with(1)
        .says("error: kubectl kustomize \"overlay\" failed: no such folder\n");
    built_by(PLAN, "exit 3").ends_with(1).says("kubectl kustomize \"overlay\" failed: exit status: 3\n");
    let server = web();
    typed(&server, "plan -k overlay")
        .env("KUBECTL_PATH", "/none/kubectl")
        .run()
        .ends_with(1)
        .says("-k needs kubectl, and /none/kubectl could not be run");
}

/// Answers one request with each of these.
fn answering(answers: &[(&'static str, &'static str)]) -> (String, thread::JoinHandle<()>) {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let address = format!("http://{}/web.yaml", listener.local_addr().expect("bound"));
    let answers = answers.to_vec();
    let serving = thread::spawn(move || {
        for (status, body) in answers {
            let (mut stream, _) = listener.accept().expect("a request");
            let lines = BufReader::new(stream.try_clone().expect("a stream")).lines();
            lines.map_while(Result::ok).take_while(|line| !line.is_empty()).for_each(drop);
            let length = body.len();
            write!(stream, "HTTP/1.1 {status}\r\ncontent-length: {length}\r\nconnection: close\r\n\r\n{body}")
                .expect("it is read");
        }
    });
    (address, serving)
}

#[test]
fn an_address_is_asked_three_times_as_by_kubectl() {
    let busy = ("503 Service Unavailable", "");
    for (answers, code, reported) in [
        (vec![busy, busy, ("200 OK", MANIFEST)], 0, "deployment/web can be updated in place"),
        (vec![busy, busy, busy], 1, "503"),
        (vec![("404 Not Found", "")], 1, "404"),
    ] {
        let (address, serving) = answering(&answers);
        let output = typed(&web(), &format!("plan -f {address}")).run().ends_with(code);
        assert!(output.stdout.contains(reported) || output.stderr.contains(reported), "{}", output.block());
        // No more and no fewer were asked for: else it would wait for another, or the address be gone.
        serving.join().expect("each was asked for");
    }
}
