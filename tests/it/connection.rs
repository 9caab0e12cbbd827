//! The way to the server: kubeconfig, flags, credential plugins, and what is never shown.

use std::net::TcpListener;
use std::time::Duration;

use serde_json::{Value, json};

use crate::support::api_server::{ApiServer, Effect, When};
use crate::support::clock;
use crate::support::run::Binary;
use crate::support::scene::{APPLY, run, typed, web};

const PLAN: &str = "plan deploy/web side=acme/side:v2";

fn words(line: &str) -> impl Iterator<Item = &str> {
    line.split_whitespace()
}

/// A kubeconfig for the server whose user is this. Without TLS no credential would be sent.
fn kubeconfig(server: &ApiServer, user: &Value) -> String {
    let mut config = server.kubeconfig();
    let address = format!("https://{}", server.address());
    config["clusters"][0]["cluster"] = json!({"server": address, "insecure-skip-tls-verify": true});
    config["users"][0]["user"] = user.clone();
    config.to_string()
}

#[test]
fn without_a_kubeconfig_it_says_what_is_missing() {
    for line in [PLAN, APPLY, "follow deploy/web"] {
        let output = Binary::alone(words(line)).run().ends_with(1);
        assert!(
            output.stderr.starts_with("error: ") && output.stderr.contains("kubeconfig"),
            "{line}\n{}",
            output.block()
        );
        assert_eq!(output.stdout, "");
    }
    Binary::alone(words(PLAN)).env("KUBECONFIG", "/nowhere/config").run().ends_with(1).says("/nowhere/config");
    let given = Binary::alone(words(&format!("{PLAN} --kubeconfig missing.yaml"))).run().ends_with(1);
    given.says("missing.yaml");
    let broken = Binary::alone(words(&format!("{PLAN} --kubeconfig bad.yaml"))).file("bad.yaml", "a: [1").run();
    broken.ends_with(1).says("bad.yaml");
}

#[test]
fn names_that_the_kubeconfig_does_not_have_are_reported() {
    let server = web();
    for (flag, texts) in [
        ("--context=nope", ["nope", "context"]),
        ("--cluster=nope", ["nope", "cluster"]),
        ("--user=nope", ["nope", "user"]),
        ("--request-timeout=soon", ["--request-timeout", "soon"]),
    ] {
        let output = run(&server, &format!("{PLAN} {flag}")).ends_with(1);
        assert!(texts.iter().all(|text| output.stderr.contains(text)), "{flag}\n{}", output.block());
    }
    assert!(server.requests().is_empty());
}

#[test]
fn a_server_that_is_not_there_is_named() {
    let server = web();
    let config = server.kubeconfig().to_string();
    let address = server.address().to_string();
    drop(server);
    let output = Binary::alone(words(PLAN)).file("config", &config).env("KUBECONFIG", "config").run().ends_with(1);
    assert!(output.stderr.contains(&address), "{}", output.stderr);
    assert!(!output.stderr.contains("panicked") && output.stdout.is_empty());
}

#[test]
fn a_request_takes_no_longer_than_it_may() {
    let server = web();
    server.fault(When::verb("get").of("deployments"), Effect::Delay(Duration::from_secs(20)));
    let began = clock::now();
    let output = run(&server, &format!("{PLAN} --request-timeout 500ms")).ends_with(1);
    assert!(clock::now().duration_since(began) < Duration::from_secs(5), "{}", output.stderr);
    output.says("500ms");
    assert!(server.writes().is_empty());
}

/// A laptop that sleeps: its own silence is not the server's.
#[test]
fn a_silent_server_is_reported_and_a_process_that_slept_is_not_taken_for_one() {
    for sleeps in [false, true] {
        let server = web();
        server.fault(When::verb("get").of("deployments"), Effect::Delay(Duration::from_secs(7)));
        let running = typed(&server, PLAN).spawn();
        clock::sleep(Duration::from_millis(1500));
        if sleeps {
            running.signal("STOP");
            clock::sleep(Duration::from_secs(5));
            running.signal("CONT");
        }
        let output = running.wait();
        assert_eq!(output.code, Some(0), "{output:?}");
        assert_eq!(output.stderr.contains("has not answered for 5s"), !sleeps, "{output:?}");
    }
}

#[test]
fn a_watch_outlives_the_limit_of_a_request() {
    let server = web();
    server.kubelet(crate::support::api_server::Times { restart: Duration::from_millis(700), ..Default::default() });
    let output = run(&server, &format!("{APPLY} --request-timeout 500ms")).ends_with(0);
    output.omits("the watch broke");
}

const MANIFEST: &str = "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: web}\nspec:\n  template:\n    spec:\n      \
                        containers:\n      - {name: side, image: \"acme/side:v2\", env: [{name: SECRET, value: in-the-manifest}]}\n";

#[test]
fn a_credential_plugin_never_reads_the_manifest() {
    let server = web();
    let credential = json!({"apiVersion": "client.authentication.k8s.io/v1", "kind": "ExecCredential", "status": {"token": "from-the-plugin"}});
    let script = format!("cat > seen; echo \"please open the page\" >&2; echo '{credential}'");
    for mode in ["IfAvailable", "Never"] {
        let exec = json!({"exec": {"apiVersion": "client.authentication.k8s.io/v1", "command": "/bin/sh", "args": ["-c", script], "interactiveMode": mode}});
        let binary = Binary::alone(words("plan -f - -v 9"))
            .file("config", &kubeconfig(&server, &exec))
            .env("KUBECONFIG", "config");
        let output = binary.stdin(MANIFEST.as_bytes()).run().ends_with(0);
        assert_eq!(output.folder.read("seen").as_deref(), Some(""), "{mode}: the plugin's stdin is empty");
        let output = output.prints("deployment/web");
        output.omits("from-the-plugin").omits("in-the-manifest");
    }
    let exec = json!({"exec": {"apiVersion": "client.authentication.k8s.io/v1", "command": "/bin/sh", "args": ["-c", script], "interactiveMode": "Always"}});
    let binary =
        Binary::alone(words("plan -f -")).file("config", &kubeconfig(&server, &exec)).env("KUBECONFIG", "config");
    let output = binary.stdin(MANIFEST.as_bytes()).run().ends_with(1);
    assert_eq!(output.folder.read("seen"), None, "it is not even started");
}

#[test]
fn a_credential_plugin_that_fails_is_reported_in_its_own_words() {
    let server = web();
    for (script, text) in
        [("echo 'log in first' >&2; exit 3", "log in first"), ("echo nonsense", "sh"), ("exit 0", "sh")]
    {
        let exec = json!({"exec": {"apiVersion": "client.authentication.k8s.io/v1", "command": "/bin/sh", "args": ["-c", script], "interactiveMode": "Never"}});
        let binary = Binary::alone(words(PLAN)).file("config", &kubeconfig(&server, &exec)).env("KUBECONFIG", "config");
        binary.run().ends_with(1).says(text);
    }
    assert!(server.requests().is_empty());
}

#[test]
fn traces_show_requests_and_never_a_credential() {
    let server = web();
    let users =
        [json!({"token": "very-secret-token"}), json!({"username": "jane", "password": "very-secret-password"})];
    for user in users {
        for level in ["6", "8", "9", "10"] {
            let binary =
                Binary::alone(words(&format!("{PLAN} -v {level}"))).file("config", &kubeconfig(&server, &user));
            let output = binary.env("KUBECONFIG", "config").run().ends_with(0);
            let output =
                output.says("GET").says("/apis/apps/v1/namespaces/default/deployments/web").says("PATCH").says("200");
            // The path of the access review is no header.
            let lower =
                output.stderr.to_lowercase().replace("authorization.k8s.io", "").replace("authorization: ***", "");
            for secret in ["very-secret", "authorization", "bearer", "amfuztp2zxj5"] {
                assert!(!lower.contains(secret), "{secret} at -v {level}\n{}", output.stderr);
            }
        }
    }
    let flag = run(&server, &format!("{PLAN} --token very-secret-token --v=9")).ends_with(0);
    flag.omits("very-secret-token").prints("--token ...");
    run(&server, PLAN).ends_with(0).omits("GET");
}

#[test]
fn a_server_that_does_not_know_the_caller_is_reported() {
    let server = web();
    let unauthorized = json!({"kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Failure", "message": "Unauthorized", "reason": "Unauthorized", "code": 401});
    server.fault(When::default(), Effect::Answer(crate::support::api_server::Answer::json(401, unauthorized)));
    run(&server, PLAN).ends_with(1).says("error: You must be logged in to the server (Unauthorized)");
}

#[test]
fn what_the_cluster_says_cannot_move_the_cursor() {
    let server = web();
    server.fault(
        When::verb("get").of("deployments"),
        Effect::Deny { webhook: "w".into(), message: "no\u{1b}[2J\u{7}\r\nerror: fake".into(), code: 400 },
    );
    let output = typed(&server, PLAN).run().ends_with(1);
    assert!(
        !output.stderr.contains('\u{1b}') && !output.stderr.contains('\u{7}') && !output.stderr.contains('\r'),
        "{:?}",
        output.stderr
    );
    assert!(!output.stderr.lines().any(|line| line.starts_with("error: fake")), "{}", output.stderr);
}

#[test]
fn the_clients_version_is_reported_without_a_server() {
    for flags in ["", " --server http://127.0.0.1:1"] {
        let words = format!("version{flags}");
        let output = Binary::alone(words.split_whitespace()).run().ends_with(1);
        output.prints("Client Version: v").prints("\nServer Version: unknown\n");
        let output = Binary::alone(format!("{words} -o json").split_whitespace()).run().ends_with(1);
        assert!(output.json()["clientVersion"].is_string() && output.json()["serverVersion"].is_null());
    }
}

#[test]
fn a_server_that_hangs_keeps_nobody_from_the_clients_version() {
    // It takes the connection, and nobody reads from it.
    let silent = TcpListener::bind("127.0.0.1:0").expect("a port");
    let address = silent.local_addr().expect("an address");
    let began = clock::now();
    let line = format!("version --server http://{address}");
    let output = Binary::alone(words(&line)).run().ends_with(1);
    output.prints("Client Version: v").prints("\nServer Version: unknown\n").says("5s");
    assert!(clock::now().duration_since(began) < Duration::from_secs(30));
}

#[test]
fn what_is_traced_has_no_credential() {
    let server = web();
    let secrets = ["hunter2-token", "aHVudGVyMi1jZXJ0", "aHVudGVyMi1rZXk"];
    let user = json!({"token": "hunter2-token"});
    let trace = |level: &str, line: &str| {
        let line = format!("{line} -v {level} --kubeconfig config");
        let output = typed(&server, &line).file("config", &kubeconfig(&server, &user)).run().ends_with(0);
        assert!(secrets.iter().all(|secret| !output.stderr.contains(secret)), "{}", output.stderr);
        output.stderr
    };
    let (line, six) = ("status deploy/web", trace("6", "status deploy/web"));
    let requests = |text: &str| text.lines().filter(|line| line.contains(": request method=GET path=")).count();
    assert!(requests(&six) > 1 && six.lines().all(|line| line.contains(": request method=GET")), "{six}");
    assert!(six.contains("?labelSelector=") && six.contains("status=200"), "{six}");
    let seven = trace("7", line);
    assert!(seven.contains("authorization: ***") && seven.contains("user-agent: kubectl-inplace/"), "{seven}");
    assert!(!seven.contains("response"), "{seven}");
    let eight = trace("8", line);
    for part in
        ["response headers", "content-type: application/json", "response body", "body={\"apiVersion\":", "[truncated "]
    {
        assert!(eight.contains(part), "{part}: {eight}");
    }
    let sent = trace("8", "plan deploy/web side=:v2");
    assert!(sent.contains("request body") && sent.contains("acme/side:v2"), "{sent}");
    assert!(trace("10", line).len() > eight.len());
    // A password, and a certificate that is none: its text is not shown either.
    let line = format!("{PLAN} --username jane --password hunter2-token -v 9");
    let output = run(&server, &line);
    assert!(!output.stderr.contains("hunter2") && !output.stdout.contains("hunter2"), "{}", output.block());
    let user = json!({"client-certificate-data": "aHVudGVyMi1jZXJ0", "client-key-data": "aHVudGVyMi1rZXk="});
    let config = kubeconfig(&server, &user);
    let output = typed(&server, "status -v 9 --kubeconfig config").file("config", &config).run();
    assert!(!output.stderr.contains("aHVudGVyMi") && !output.stderr.contains("hunter2"), "{}", output.block());
}

#[test]
fn kubectls_global_flags_are_obeyed_ignored_or_refused() {
    let server = web();
    for flags in [
        "--kuberc=off",
        "--cache-dir=x --log-flush-frequency=1s --profile=none --profile-output=x --vmodule=a=1",
        "--match-server-version=false --chunk-size=0 --show-managed-fields=false --subresource=",
        "--username jane --password secret",
        "--username jane",
    ] {
        run(&server, &format!("status deploy/web {flags}")).ends_with(0);
    }
    for (flags, why) in [
        ("--match-server-version", "--match-server-version is not supported: "),
        ("--profile=cpu", "--profile is not supported: "),
        ("--show-managed-fields", "--show-managed-fields is not supported: "),
        ("--subresource=status", "--subresource is not supported: "),
        ("--chunk-size=many", "invalid value 'many'"),
        ("--password secret", "password is not usable: it needs a username"),
        ("--username jane --token y", "token is not usable: a username and a password are given as well"),
    ] {
        run(&server, &format!("status deploy/web {flags}")).ends_with(1).says(why);
    }
    let options = Binary::alone(["options"]).run().ends_with(0);
    for flag in ["--username", "--password", "--kuberc", "--vmodule", "--cache-dir", "--chunk-size", "--subresource"] {
        assert!(options.stdout.contains(flag), "{flag}: {}", options.stdout);
    }
}
