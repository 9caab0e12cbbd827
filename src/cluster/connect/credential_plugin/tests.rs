use super::*;
use crate::cluster::connect::entries::{Extension, Field, Flag, Pem, Text, Variable};
use crate::cluster::connect::fixtures::{Folder, tls};

const V1: &str = "client.authentication.k8s.io/v1";

fn text(text: &str) -> Text {
    Text::new(Some(text.to_owned()))
}

fn exec(command: &Path) -> Exec {
    Exec {
        api_version: text(V1),
        command: text(&command.to_string_lossy()),
        interactive_mode: text("Never"),
        ..Exec::default()
    }
}

async fn run(exec: Exec, cluster: &Cluster) -> Result<Credential, ClusterError> {
    let plugin = CredentialPlugin::new(exec, cluster, &ConnectOptions::default())?;
    plugin.run(&Warnings::new(None)).await
}

fn answer(status: &str) -> String {
    format!(r#"echo '{{"apiVersion": "{V1}", "kind": "ExecCredential", "status": {status}}}'"#)
}

#[tokio::test]
async fn what_a_plugin_gets() {
    let folder = Folder::new();
    let heard = folder.path().join("heard").display().to_string();
    let script = format!(
        "cat > '{heard}'.stdin\necho \"$1 $EXTRA $KUBERNETES_EXEC_INFO\" > '{heard}'\n{}",
        answer(r#"{"token": "t"}"#)
    );
    let mut exec = exec(&folder.script("plugin", &script));
    exec.args = Some(vec!["--first".to_owned()]);
    exec.env = Some(vec![Variable { name: text("EXTRA"), value: text("extra") }]);
    exec.provide_cluster_info = Field::new(Some(Flag(true)));
    let extension = |name: &str| Extension { name: text(name), extension: json!({"audience": name}) };
    let cluster = Cluster {
        server: text("https://a.test"),
        certificate_authority_data: Field::new(Some(Pem(b"abc".to_vec()))),
        extensions: Some(vec![extension("other"), extension(EXTENSION)]),
        ..Cluster::default()
    };
    let credential = run(exec, &cluster).await.ok().unwrap();
    assert_eq!(credential.authorization.unwrap(), "Bearer t");
    assert_eq!(
        folder.read("heard").trim(),
        format!(
            r#"--first extra {{"kind":"ExecCredential","apiVersion":"{V1}","spec":{{"interactive":false,"cluster":{{"server":"https://a.test","certificate-authority-data":"YWJj","config":{{"audience":"{EXTENSION}"}}}}}}}}"#
        )
    );
    assert_eq!(folder.read("heard.stdin"), "");
}

#[tokio::test]
async fn answers_that_are_no_credential_are_not_quoted() {
    let beta = answer(r#"{"token": "secret"}"#).replace("/v1\"", "/v1beta1\"");
    let cases = [
        ("echo 'secret'".to_owned(), "its 7 bytes of output are no ExecCredential object"),
        (beta, "the kubeconfig asks for apiVersion"),
        (answer("null"), "its answer has no status"),
        (answer("{}"), "neither a token nor a client certificate"),
        (answer(r#"{"clientKeyData": "secret"}"#), "only one of client certificate and key"),
        (answer(r#"{"token": "secret", "expirationTimestamp": "soon"}"#), "no RFC 3339 time"),
        (answer(r#"{"token": "secret\\u0007"}"#), "character that no header may have"),
        (answer(r#"{"clientCertificateData": "secret", "clientKeyData": "secret"}"#), "no PEM certificate"),
        (r#"echo '{"kind": "Secret", "data": "secret"}'"#.to_owned(), "its output is no ExecCredential object"),
        ("echo 'login expired' >&2; exit 3".to_owned(), "failed (exit status: 3): login expired"),
        ("echo 'login expired' >&2; echo x".to_owned(), "ExecCredential object: login expired"),
    ];
    for (script, expected) in cases {
        let folder = Folder::new();
        let error = run(exec(&folder.script("plugin", &script)), &Cluster::default()).await.err().unwrap();
        let text = error.to_string();
        assert!(text.contains(expected), "{script}: {text}");
        assert!(!text.contains("secret"), "{text}");
        assert!(!error.may_have_been_done());
    }
}

#[tokio::test]
async fn answers_in_yaml_and_with_a_certificate() {
    let folder = Folder::new();
    let lines = |pem: &str| pem.replace('\n', "\n    ");
    let (certificate, key) = (lines(tls::CERTIFICATE), lines(tls::KEY));
    let script = format!(
        "cat <<END\napiVersion: {V1}\nkind: ExecCredential\nstatus:\n  expirationTimestamp: 2026-11-21T10:00:00Z\n  clientCertificateData: |\n    {certificate}\n  clientKeyData: |\n    {key}\nEND"
    );
    let credential = run(exec(&folder.script("plugin", &script)), &Cluster::default()).await.ok().unwrap();
    assert!(credential.authorization.is_none());
    assert_eq!(credential.certificate, Some((tls::CERTIFICATE.to_owned(), tls::KEY.to_owned())));
    assert_eq!(credential.expires.map(|time| time.to_string()).as_deref(), Some("2026-11-21T10:00:00Z"));
}

#[tokio::test]
async fn a_missing_command_shows_the_install_hint() {
    let mut missing = exec(Path::new("no-such-plugin-anywhere"));
    missing.install_hint = text("brew install it\n");
    let error = run(missing, &Cluster::default()).await.err().unwrap();
    assert_eq!(error.to_string(), "the credential plugin no-such-plugin-anywhere was not found");
    assert_eq!(error.hints(), ["brew install it".into()]);
}

#[test]
fn when_a_plugin_may_ask() {
    // (mode, standard input was read, is a terminal, may ask)
    let cases = [
        ("Never", false, true, Some(false)),
        ("IfAvailable", false, true, Some(true)),
        ("IfAvailable", true, true, Some(false)),
        ("IfAvailable", false, false, Some(false)),
        ("Always", false, true, Some(true)),
        ("Always", true, true, None),
        ("Always", false, false, None),
        ("", false, true, None),
    ];
    for (mode, read, terminal, expected) in cases {
        let options = ConnectOptions {
            standard_input_was_read: read,
            standard_input_is_terminal: terminal,
            ..ConnectOptions::default()
        };
        assert_eq!(interactive("plugin", mode, &options).ok(), expected, "{mode} {read} {terminal}");
    }
}

#[test]
fn versions_that_are_gone() {
    for version in [None, Some("client.authentication.k8s.io/v1alpha1")] {
        let mut old = exec(Path::new("plugin"));
        old.api_version = Text::new(version.map(str::to_owned));
        let error = CredentialPlugin::new(old, &Cluster::default(), &ConnectOptions::default()).err().unwrap();
        assert!(matches!(error, ClusterError::CredentialPlugin { .. }), "{error}");
        assert!(error.to_string().contains("is configured with apiVersion"), "{error}");
    }
}
