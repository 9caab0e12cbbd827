//! The sandbox as a program, and as a server that nothing stops.

mod support;

use std::io::{Read, Write};
use std::net::TcpStream;
use std::process::Command;
use std::time::Duration;

use support::{Sandbox, directory, program};
use testkit::clock;

fn fails(arguments: &[&str]) -> String {
    let output = program().args(arguments).output().expect("the sandbox starts");
    assert_eq!((output.status.code(), &*output.stdout), (Some(1), &b""[..]), "{arguments:?}");
    String::from_utf8_lossy(&output.stderr).into_owned()
}

#[test]
fn two_run_at_once_and_a_taken_port_is_one_line() {
    let (one, two) = (Sandbox::start(), Sandbox::start());
    assert_ne!(one.address(), two.address());
    assert!(one.line.starts_with("The simulated cluster is ready."), "{:?}", one.line);
    assert!(one.line.contains(&one.home.join("config").display().to_string()), "{:?}", one.line);
    let address = one.address();
    let port = address.rsplit_once(':').map(|(_, port)| port).unwrap_or_default();
    let text = fails(&["--kubeconfig", "never-written", "--port", port]);
    assert!(text.starts_with(&format!("error: cannot listen on 127.0.0.1:{port}: ")), "{text}");
    assert_eq!(text.lines().count(), 1);
}

#[test]
fn a_wrong_command_line_is_one_line() {
    let missing = directory().join("none").join("config");
    for (arguments, wanted) in [
        (vec![], "error: --kubeconfig FILE is required"),
        (vec!["--kubeconfig"], "error: --kubeconfig needs a value"),
        (vec!["--port", "x"], "error: --port needs a port number, not \"x\""),
        (vec!["--what"], "error: unknown argument \"--what\""),
        (vec!["--kubeconfig", missing.to_str().unwrap_or_default()], "error: cannot write "),
    ] {
        let text = fails(&arguments);
        assert!(text.starts_with(wanted), "{arguments:?}: {text}");
        assert_eq!(text.lines().count(), 1);
    }
    let help = program().arg("--help").output().expect("the sandbox starts");
    let help = String::from_utf8_lossy(&help.stdout).into_owned();
    assert!(help.contains("--until-stdin-closes") && help.lines().all(|line| line.len() <= 80), "{help}");
}

#[test]
fn it_stops_when_its_input_closes_and_when_it_is_told_to() {
    let mut sandbox = Sandbox::start();
    drop(sandbox.child.stdin.take());
    assert!(sandbox.child.wait().expect("it ends").success());
    for signal in ["-INT", "-TERM"] {
        let mut sandbox = Sandbox::start();
        let sent = Command::new("kill").args([signal, &sandbox.child.id().to_string()]).status();
        assert!(sent.expect("kill starts").success());
        clock::eventually("its end", || sandbox.child.try_wait().ok().flatten());
    }
}

fn ask(address: &str, request: &str) -> String {
    let mut stream = TcpStream::connect(address).expect("it listens");
    stream.set_read_timeout(Some(Duration::from_secs(5))).expect("a time");
    stream.write_all(request.as_bytes()).expect("it is sent");
    let mut answer = Vec::new();
    // What came before the time is over is the answer.
    drop(stream.read_to_end(&mut answer));
    String::from_utf8_lossy(&answer).into_owned()
}

fn with(method: &str, path: &str, content_type: &str, body: &str) -> String {
    let length = body.len();
    format!(
        "{method} {path} HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Type: {content_type}\r\nContent-Length: {length}\r\n\r\n{body}"
    )
}

#[test]
fn no_request_stops_it() {
    let sandbox = Sandbox::start();
    let address = sandbox.address();
    let (pods, deployments) = ("/api/v1/namespaces/shop/pods", "/apis/apps/v1/namespaces/shop/deployments");
    let (web, db) = (format!("{deployments}/web"), format!("{pods}/db-0"));
    let json = "application/json";
    let json_patch = "application/json-patch+json";
    let strategic = "application/strategic-merge-patch+json";
    let merge = "application/merge-patch+json";
    let table: Vec<(String, &str)> = vec![
        (with("POST", pods, json, "{"), "400"),
        (with("POST", pods, json, "7"), "4"),
        (with("POST", pods, json, "[]"), "4"),
        (with("POST", pods, json, "{\"metadata\":7}"), "4"),
        (with("POST", pods, json, "{\"metadata\":{\"name\":\"x\"},\"spec\":7}"), "4"),
        (with("POST", pods, json, "{\"metadata\":{\"name\":\"x\",\"labels\":7},\"spec\":{\"containers\":[7]}}"), "4"),
        (with("POST", pods, "application/what", "x"), "415"),
        (with("POST", pods, "application/vnd.kubernetes.protobuf", "k8s"), "415"),
        (with("POST", &format!("{pods}/a/b/c"), json, "{}"), "404"),
        (with("PATCH", &web, "text/plain", "{}"), "415"),
        (with("PATCH", &web, json_patch, "[{\"op\":\"remove\",\"path\":\"/spec\"}]"), "422"),
        (with("PATCH", &web, json_patch, "[{\"op\":\"replace\",\"path\":\"\",\"value\":7}]"), "4"),
        (with("PATCH", &web, strategic, "7"), "422"),
        (with("PATCH", &web, merge, "{\"spec\":7}"), "422"),
        (with("PATCH", &web, merge, "{\"spec\":{\"replicas\":\"x\"}}"), "4"),
        (with("PATCH", &web, merge, "{\"spec\":{\"revisionHistoryLimit\":-1}}"), "4"),
        (with("PATCH", &web, merge, "{\"spec\":{\"template\":{\"spec\":{\"containers\":{}}}}}"), "4"),
        (with("PATCH", &web, merge, "{\"metadata\":null}"), "4"),
        (with("PATCH", &db, merge, "{\"spec\":{\"containers\":null}}"), "4"),
        (with("PATCH", &format!("{db}/status"), merge, "{\"status\":7}"), "4"),
        (with("PATCH", &format!("{db}/resize"), merge, "{\"spec\":7}"), "4"),
        (with("PATCH", "/api/v1/nodes/node-1/status", merge, "{\"status\":{\"allocatable\":7}}"), "4"),
        (with("PATCH", &format!("{web}/scale"), merge, "{\"spec\":7}"), "4"),
        (with("PUT", &web, json, "{}"), "4"),
        (with("DELETE", &db, json, "7"), "4"),
        (with("GET", &format!("{pods}?labelSelector=((,=&limit=x&continue=%ff"), json, ""), "400"),
        (
            with("GET", &format!("{pods}?watch=true&resourceVersion=99999999999999999999&timeoutSeconds=1"), json, ""),
            "200",
        ),
        (with("GET", &format!("{db}/log?tailLines=-1&sinceTime=x"), json, ""), "200"),
        (with("WHAT", pods, json, ""), "405"),
        (with("POST", &db, json, "{}"), "405"),
        (with("PUT", pods, json, "{}"), "405"),
        ("\r\n\r\n".to_owned(), ""),
    ];
    for (request, code) in table {
        let answer = ask(&address, &request);
        assert!(answer.starts_with(&format!("HTTP/1.1 {code}")) || code.is_empty(), "{request}\n{answer}");
    }
    clock::sleep(Duration::from_secs(1));
    let answer = ask(&address, &with("GET", pods, json, ""));
    assert_eq!(answer.matches("\"ready\":true").count(), 11, "{answer}");
}

/// Nobody types more than `docs/getting-started.md` says: its first block builds what the demo builds, and starts a cluster.
#[test]
#[expect(clippy::disallowed_methods, reason = "reads the page, and the demo")]
fn the_lines_of_the_tutorial_start_a_cluster() {
    let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let read = |file: &str| std::fs::read_to_string(root.join(file)).expect("it is there");
    let page = read("docs/getting-started.md");
    let lines: Vec<&str> =
        page.lines().skip_while(|line| *line != "```").skip(1).take_while(|line| *line != "```").collect();
    let [build, export, start] = lines.as_slice() else { panic!("three lines: {lines:?}") };
    assert!(read("examples/demo").contains(&build.replace("cargo build", "cargo build --locked")), "{build}");
    let home = directory();
    let target = home.join("target/debug");
    std::fs::create_dir_all(&target).expect("a directory");
    std::os::unix::fs::symlink(env!("CARGO_BIN_EXE_sandbox"), target.join("sandbox")).expect("a link");
    let script =
        format!("{export}\n{start}\nwhile [ ! -s \"$KUBECONFIG\" ]; do sleep 0.1; done; echo \"$KUBECONFIG\"; kill $!");
    let output = Command::new("sh").args(["-c", &script]).current_dir(&home).output().expect("a shell");
    let printed = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(printed.contains(&home.join("target/sandbox.kubeconfig").display().to_string()), "{printed}");
}
