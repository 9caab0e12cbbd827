#![expect(clippy::disallowed_types, reason = "tries the client over a socket")]

use http::Request;
use kube::Client;
use serde_json::Value;
use tokio::sync::mpsc::{UnboundedReceiver, unbounded_channel};

mod properties;

use super::{
    fixtures::{Answer, Folder, Server},
    *,
};
use crate::cluster::error::{ClusterError, RequestDescription, Unreached};
use engine::k8s::permissions::AccessVerb;

const PODS: &str = "/api/v1/pods";
const POD: &str = "/api/v1/namespaces/prod/pods/web-0";

/// What the kubeconfig says of a server whose certificate does not matter.
const INSECURE: &str = ", insecure-skip-tls-verify: true";

struct Setup {
    folder: Folder,
    options: ConnectOptions,
    environment: Environment,
    notices: UnboundedReceiver<ServerNotice>,
}

/// A kubeconfig for one server, with the given fields of cluster and user.
fn setup(server: &str, cluster: &str, user: &str) -> Setup {
    let folder = Folder::new();
    let text = format!(
        "clusters:\n- name: c\n  cluster: {{server: \"{server}\"{cluster}}}\nusers:\n- name: u\n  user: {{{user}}}\n\
         contexts:\n- name: a\n  context: {{cluster: c, user: u, namespace: prod}}\ncurrent-context: a\n"
    );
    let path = folder.write("config", &text);
    let environment = Environment { kubeconfig: Some(path.into_os_string()), ..Environment::default() };
    let (sender, notices) = unbounded_channel();
    let options = ConnectOptions { notices: Some(sender), ..ConnectOptions::default() };
    Setup { folder, options, environment, notices }
}

impl Setup {
    async fn connect(&self) -> Result<crate::cluster::Cluster, ClusterError> {
        let mut limits = Limits::new(self.options.flags.request_timeout);
        limits.backoff = Duration::from_millis(1);
        connect_with(&self.options, &self.environment, limits).await
    }

    fn notices(&mut self) -> Vec<ServerNotice> {
        std::iter::from_fn(|| self.notices.try_recv().ok()).collect()
    }
}

async fn ask(client: &Client, verb: AccessVerb, path: &str) -> Result<Value, ClusterError> {
    let (method, body) = match verb {
        AccessVerb::Patch => ("PATCH", b"{}".to_vec()),
        AccessVerb::Get | AccessVerb::List | AccessVerb::Watch | AccessVerb::Create | AccessVerb::Delete => {
            ("GET", Vec::new())
        }
    };
    let request = Request::builder().method(method).uri(path).body(body).unwrap();
    client
        .request(request)
        .await
        .map_err(|error| ClusterError::from_kube(error, &RequestDescription::new(verb, "pods")))
}

fn plugin_user(command: &std::path::Path) -> String {
    format!(
        "exec: {{apiVersion: client.authentication.k8s.io/v1, command: \"{}\", interactiveMode: IfAvailable}}",
        command.display()
    )
}

/// A plugin that counts its runs in the file `runs` and gives the tokens `t1`, `t2` ...
fn counting_plugin(folder: &Folder, more: &str) -> PathBuf {
    let runs = folder.path().join("runs").display().to_string();
    let script = format!(
        "echo run >> '{runs}'\nn=$(wc -l < '{runs}' | tr -d ' ')\ncat > '{runs}.stdin'\necho \"chatter\" >&2\n\
         echo '{{\"apiVersion\": \"client.authentication.k8s.io/v1\", \"kind\": \"ExecCredential\", \"status\": {{\"token\": \"t'$n'\"{more}}}}}'"
    );
    folder.script("plugin", &script)
}

fn tokens(server: &Server) -> Vec<String> {
    server.received().iter().map(|request| request.header("authorization")).collect()
}

#[tokio::test]
async fn who_asks() {
    let server = Server::start(vec![Answer::json(200, "{}")]);
    let mut setup = setup(&server.url(), INSECURE, "token: secret");
    setup.options.flags.as_user = Some("jane".to_owned());
    setup.options.flags.as_group = vec!["dev".to_owned(), "ops".to_owned()];
    setup.options.flags.as_uid = Some("7".to_owned());
    setup.options.flags.as_user_extra = vec!["example.com/scope=a=b".to_owned(), "example.com/scope=c".to_owned()];
    let connection = setup.connect().await.unwrap();
    assert_eq!((connection.namespace.as_str(), connection.context.as_deref()), ("prod", Some("a")));
    assert_eq!(connection.server, server.url());
    ask(&connection.client, AccessVerb::List, PODS).await.unwrap();
    let received = server.received();
    let header = |name: &str| received[0].header(name);
    assert!(header("user-agent").starts_with(concat!("kubectl-inplace/", env!("CARGO_PKG_VERSION"), " (")));
    assert_eq!(header("authorization"), "Bearer secret");
    assert_eq!(header("impersonate-user"), "jane");
    assert_eq!(header("impersonate-group"), "dev,ops");
    assert_eq!(header("impersonate-uid"), "7");
    assert_eq!(header("impersonate-extra-example.com%2fscope"), "a=b,c");
    assert_eq!(header("accept-encoding"), "gzip");
}

#[tokio::test]
async fn flags_beat_the_kubeconfig() {
    let server = Server::start(vec![Answer::json(200, "{}")]);
    let folder = Folder::new();
    let plugin = counting_plugin(&folder, "");
    let mut setup = setup("https://elsewhere.test", ", tls-server-name: x.test", &plugin_user(&plugin));
    setup.options.flags.server = Some(server.url());
    setup.options.flags.insecure_skip_tls_verify = true;
    setup.options.flags.token = Some("given".to_owned());
    setup.options.flags.namespace = Some("other".to_owned());
    setup.options.flags.disable_compression = true;
    let connection = setup.connect().await.unwrap();
    ask(&connection.client, AccessVerb::List, PODS).await.unwrap();
    assert_eq!(connection.namespace, "other");
    assert_eq!(tokens(&server), ["Bearer given"]);
    assert_eq!(server.received()[0].header("accept-encoding"), "");
    assert_eq!(folder.read("runs"), "", "a token beats the plugin");
}

#[tokio::test]
async fn a_name_and_a_password_beat_the_kubeconfig() {
    let server = Server::start(vec![Answer::json(200, "{}")]);
    let folder = Folder::new();
    let plugin = counting_plugin(&folder, "");
    let mut setup = setup(&server.url(), INSECURE, &plugin_user(&plugin));
    setup.options.flags.username = Some("jane".to_owned());
    setup.options.flags.password = Some("hunter2".to_owned());
    let connection = setup.connect().await.unwrap();
    ask(&connection.client, AccessVerb::List, PODS).await.unwrap();
    assert_eq!(tokens(&server), ["Basic amFuZTpodW50ZXIy"]);
    assert_eq!(folder.read("runs"), "");
}

#[tokio::test]
async fn a_plugin_runs_once_and_hears_nothing() {
    let server = Server::start(vec![Answer::json(200, "{}")]);
    let folder = Folder::new();
    let plugin = counting_plugin(&folder, ", \"expirationTimestamp\": \"2999-01-01T00:00:00Z\"");
    let mut setup = setup(&server.url(), INSECURE, &plugin_user(&plugin));
    let connection = setup.connect().await.unwrap();
    for verb in [AccessVerb::List, AccessVerb::Patch, AccessVerb::List] {
        ask(&connection.client, verb, PODS).await.unwrap();
    }
    assert_eq!(folder.read("runs"), "run\n");
    assert_eq!(folder.read("runs.stdin"), "");
    assert_eq!(tokens(&server), ["Bearer t1"; 3]);
    assert_eq!(setup.notices(), [], "its standard error is not ours");
}

#[tokio::test]
async fn a_plugin_that_may_ask_is_heard() {
    let server = Server::start(vec![Answer::json(200, "{}")]);
    let folder = Folder::new();
    // Reads nothing: the standard input of a test is nobody's to consume.
    let answer =
        r#"{"apiVersion": "client.authentication.k8s.io/v1", "kind": "ExecCredential", "status": {"token": "t"}}"#;
    let plugin = folder.script("plugin", &format!("echo 'enter code 123' >&2\necho '{answer}'"));
    let mut setup = setup(&server.url(), INSECURE, &plugin_user(&plugin));
    setup.options.standard_input_is_terminal = true;
    setup.connect().await.unwrap();
    assert_eq!(setup.notices(), [ServerNotice::CredentialPlugin("enter code 123".to_owned())]);
}

#[tokio::test]
async fn an_expiring_credential_is_replaced_before_it_is_used() {
    let server = Server::start(vec![Answer::json(200, "{}")]);
    let folder = Folder::new();
    let plugin = counting_plugin(&folder, ", \"expirationTimestamp\": \"2000-01-01T00:00:00Z\"");
    let setup = setup(&server.url(), INSECURE, &plugin_user(&plugin));
    let connection = setup.connect().await.unwrap();
    ask(&connection.client, AccessVerb::List, PODS).await.unwrap();
    ask(&connection.client, AccessVerb::Patch, POD).await.unwrap();
    assert_eq!(tokens(&server), ["Bearer t2", "Bearer t3"]);
}

#[tokio::test]
async fn after_a_401_reads_are_repeated_and_writes_are_not() {
    let unauthorized = || Answer::json(401, r#"{"kind": "Status", "code": 401, "reason": "Unauthorized"}"#);
    let ok = || Answer::json(200, "{}");
    let folder = Folder::new();
    let plugin = counting_plugin(&folder, "");
    let server = Server::start(vec![unauthorized(), ok(), unauthorized(), ok()]);
    let setup = setup(&server.url(), INSECURE, &plugin_user(&plugin));
    let connection = setup.connect().await.unwrap();
    ask(&connection.client, AccessVerb::List, PODS).await.unwrap();
    assert_eq!(ask(&connection.client, AccessVerb::Patch, POD).await, Err(ClusterError::Unauthorized));
    ask(&connection.client, AccessVerb::Patch, POD).await.unwrap();
    assert_eq!(tokens(&server), ["Bearer t1", "Bearer t2", "Bearer t2", "Bearer t3"]);
    let server = Server::start(vec![unauthorized()]);
    let mut setup = self::setup(&server.url(), INSECURE, &plugin_user(&plugin));
    let connection = setup.connect().await.unwrap();
    assert_eq!(ask(&connection.client, AccessVerb::List, PODS).await, Err(ClusterError::Unauthorized));
    assert_eq!(server.received().len(), 2, "bounded");
    assert_eq!(setup.notices(), []);
}

#[tokio::test]
async fn kubectls_policy_for_plugins_holds() {
    let server = Server::start(vec![Answer::json(200, "{}")]);
    let folder = Folder::new();
    let plugin = counting_plugin(&folder, "");
    let path = plugin.display();
    let cases = [
        ("credentialPluginPolicy: AllowAll".to_owned(), true),
        ("aliases: []".to_owned(), true),
        ("credentialPluginPolicy: DenyAll".to_owned(), false),
        (format!("credentialPluginPolicy: Allowlist\ncredentialPluginAllowlist:\n- name: {path}"), true),
        (format!("credentialPluginPolicy: Allowlist\ncredentialPluginAllowlist:\n- command: {path}"), true),
        ("credentialPluginPolicy: Allowlist\ncredentialPluginAllowlist:\n- name: plugin".to_owned(), true),
        ("credentialPluginPolicy: Allowlist\ncredentialPluginAllowlist:\n- name: other".to_owned(), false),
        ("credentialPluginPolicy: Allowlist".to_owned(), false),
        ("credentialPluginPolicy: Perhaps".to_owned(), false),
        ("credentialPluginPolicy: [".to_owned(), false),
    ];
    for (text, allowed) in cases {
        let mut setup = setup(&server.url(), INSECURE, &plugin_user(&plugin));
        setup.folder.write("home/.kube/kuberc", &text);
        setup.environment.home = Some(setup.folder.path().join("home"));
        setup.environment.path = Some(folder.path().as_os_str().to_owned());
        assert_eq!(setup.connect().await.is_ok(), allowed, "{text}");
        setup.environment.kuberc = Some("off".into());
        assert!(setup.connect().await.is_ok(), "{text}");
    }
}

#[tokio::test]
async fn what_is_sent_again() {
    use AccessVerb::{List, Patch};
    let unavailable = || Answer::json(503, "{}");
    let cases = [
        // (verb, answers, requests that arrive, succeeds)
        (List, vec![unavailable(), unavailable(), Answer::json(200, "{}")], 3, true),
        (List, vec![unavailable()], 3, false),
        (List, vec![Answer::Close, Answer::json(200, "{}")], 2, true),
        (List, vec![Answer::CloseInBody, Answer::json(200, "{}")], 2, true),
        (List, vec![Answer::with(429, "Retry-After: 0"), Answer::json(200, "{}")], 2, true),
        (List, vec![Answer::with(429, "Retry-After: 3600"), Answer::json(200, "{}")], 1, false),
        (List, vec![Answer::json(404, "{}")], 1, false),
        (Patch, vec![Answer::with(429, "Retry-After: 0"), Answer::json(200, "{}")], 2, true),
        (Patch, vec![Answer::with(429, "Retry-After: 0")], 10, false),
        (Patch, vec![Answer::json(429, "{}"), Answer::json(200, "{}")], 1, false),
        (Patch, vec![Answer::with(503, "Retry-After: 0"), Answer::json(200, "{}")], 1, false),
        (Patch, vec![Answer::json(504, "{}"), Answer::json(200, "{}")], 1, false),
        (Patch, vec![Answer::Close, Answer::json(200, "{}")], 1, false),
        (Patch, vec![Answer::CloseInBody, Answer::json(200, "{}")], 1, false),
    ];
    for (at, (verb, answers, arrive, succeeds)) in cases.into_iter().enumerate() {
        let server = Server::start(answers);
        let mut setup = setup(&server.url(), INSECURE, "token: secret");
        let connection = setup.connect().await.unwrap();
        let result = ask(&connection.client, verb, POD).await;
        assert_eq!(result.is_ok(), succeeds, "case {at}: {result:?}");
        assert_eq!(server.received().len(), arrive, "case {at}");
        assert_eq!(setup.notices().len(), arrive - 1, "case {at}: every repetition is reported");
    }
}

#[tokio::test]
async fn a_lost_write_may_have_been_done_and_a_refused_one_was_not() {
    let server = Server::start(vec![Answer::Close]);
    let mut setup = setup(&server.url(), INSECURE, "token: secret");
    let connection = setup.connect().await.unwrap();
    let lost = ask(&connection.client, AccessVerb::Patch, POD).await.unwrap_err();
    assert!(matches!(lost, ClusterError::ConnectionLost { .. }), "{lost:?}");
    assert!(lost.may_have_been_done());
    assert_eq!(setup.notices(), []);

    let nobody = Server::nobody();
    let mut setup = self::setup(&format!("https://{nobody}"), INSECURE, "token: secret");
    let connection = setup.connect().await.unwrap();
    let refused = ask(&connection.client, AccessVerb::Patch, POD).await.unwrap_err();
    assert_eq!(
        refused.to_string(),
        format!("the connection to the server {nobody} was refused - did you specify the right host or port?")
    );
    assert!(!refused.may_have_been_done());
    assert_eq!(setup.notices().len(), 2);
}

#[tokio::test]
async fn a_password_in_the_servers_address_is_not_shown() {
    let nobody = Server::nobody();
    let setup = setup(&format!("http://user:hidden@{nobody}"), "", "token: secret");
    let connection = setup.connect().await.unwrap();
    assert_eq!(connection.server, format!("http://{nobody}"));
    let refused = ask(&connection.client, AccessVerb::Patch, POD).await.unwrap_err();
    assert!(!refused.to_string().contains("hidden"), "{refused}");
}

#[tokio::test]
async fn a_server_that_is_no_tls_server() {
    let server = Server::without_tls(vec![Answer::json(400, "{}")]);
    let setup = setup(&server.url(), INSECURE, "token: secret");
    let connection = setup.connect().await.unwrap();
    let error = ask(&connection.client, AccessVerb::Patch, POD).await.unwrap_err();
    assert!(matches!(&error, ClusterError::Unreachable { why: Unreached::Certificate(_), .. }), "{error:?}");
    let text = error.to_string();
    assert_eq!(text, format!("no TLS connection to the server {}: it does not speak TLS (https)", server.address));
}

#[tokio::test]
async fn a_host_without_an_address() {
    let setup = setup("http://no-such-host.invalid", "", "token: secret");
    let connection = setup.connect().await.unwrap();
    let error = ask(&connection.client, AccessVerb::Patch, POD).await.unwrap_err();
    let ClusterError::Unreachable { server, why: Unreached::UnknownHost(why) } = &error else { panic!("{error:?}") };
    assert_eq!(server, "no-such-host.invalid");
    assert_eq!(why.matches("failed to lookup").count(), 1, "told once: {why}");
}

#[tokio::test]
async fn no_answer_in_time() {
    for answer in [Answer::Hang, Answer::Stream("{}")] {
        let server = Server::start(vec![answer]);
        let mut setup = setup(&server.url(), INSECURE, "token: secret");
        setup.options.flags.request_timeout = Some(Duration::from_millis(250));
        let connection = setup.connect().await.unwrap();
        let error = ask(&connection.client, AccessVerb::Patch, POD).await.unwrap_err();
        assert_eq!(
            error.to_string(),
            "request canceled: the server did not answer within 250ms (Client.Timeout exceeded)"
        );
        assert!(error.may_have_been_done());
        assert!(server.received().len() <= 1, "not repeated");
    }
}

#[tokio::test]
async fn a_watch_has_no_limit_and_is_not_held_back() {
    use futures::{AsyncBufReadExt, StreamExt};
    let server = Server::start(vec![Answer::Stream("{\"type\": \"BOOKMARK\"}")]);
    let mut setup = setup(&server.url(), INSECURE, "token: secret");
    setup.options.flags.request_timeout = Some(Duration::from_millis(250));
    let connection = setup.connect().await.unwrap();
    let request = Request::get(format!("{PODS}?watch=true")).body(Vec::new()).unwrap();
    let stream = connection.client.request_stream(request).await.unwrap();
    let lines: Vec<String> = std::pin::pin!(stream).lines().map(Result::unwrap).collect().await;
    assert_eq!(lines, ["{\"type\": \"BOOKMARK\"}"; 2]);
}

#[tokio::test]
async fn warnings_are_reported_once() {
    let server = Server::start(vec![Answer::with(200, r#"Warning: 299 - "say \"no\" to v1beta1""#)]);
    let mut setup = setup(&server.url(), INSECURE, "token: secret");
    let connection = setup.connect().await.unwrap();
    for _ in 0..3 {
        ask(&connection.client, AccessVerb::List, PODS).await.unwrap();
    }
    assert_eq!(setup.notices(), [ServerNotice::Warning("say \"no\" to v1beta1".to_owned())]);
    assert_eq!(connection.warnings.texts(), ["say \"no\" to v1beta1"]);
}

#[tokio::test]
async fn the_clusters_proxy_is_asked_for_the_server() {
    let proxy = Server::start(vec![Answer::json(502, "")]);
    let proxy_url = format!(", proxy-url: \"http://me:pa%40ss@{}\", insecure-skip-tls-verify: true", proxy.address);
    let mut setup = setup("https://api.test:6443", &proxy_url, "token: secret");
    setup.environment.no_proxy = Some("a,,api.test,::/x".to_owned());
    let connection = setup.connect().await.unwrap();
    let error = ask(&connection.client, AccessVerb::Patch, POD).await.unwrap_err();
    assert!(matches!(error, ClusterError::Unreachable { .. }), "{error:?}");
    let received = proxy.received();
    assert_eq!(received[0].line, "CONNECT api.test:6443 HTTP/1.1");
    assert!(received[0].header("proxy-authorization").starts_with("Basic "));
    assert_eq!(received[0].header("authorization"), "", "the token is not the proxy's");
}

#[tokio::test]
async fn keys_that_cannot_be_used() {
    let folder = Folder::new();
    let bad = folder.write("bad.pem", "no PEM");
    let mut setup = setup("https://a.test", "", "");
    setup.options.flags.client_certificate = Some(bad.display().to_string());
    setup.options.flags.client_key = Some(bad.display().to_string());
    let error = setup.connect().await.err().unwrap();
    assert!(error.to_string().starts_with("client-certificate is not usable: "), "{error}");
    let damaged = "-----BEGIN CERTIFICATE-----\n*\n-----END CERTIFICATE-----\n-----BEGIN PRIVATE KEY-----\nAAEC\n-----END PRIVATE KEY-----\n";
    setup.folder.write("damaged.pem", damaged);
    let damaged = Some(setup.folder.path().join("damaged.pem").display().to_string());
    (setup.options.flags.client_certificate, setup.options.flags.client_key) = (damaged.clone(), damaged);
    let error = setup.connect().await.err().unwrap();
    assert!(error.to_string().starts_with("the connection cannot be set up: "), "{error}");
    setup.options.flags.client_key = Some("no/such/key".to_owned());
    let error = setup.connect().await.err().unwrap();
    assert!(error.to_string().contains("no/such/key"), "{error}");
    let mut setup = self::setup("https://a.test", "", "tokenFile: no/such/token");
    setup.options.flags.client_certificate = None;
    let error = setup.connect().await.err().unwrap();
    assert!(error.to_string().starts_with("no credentials: "), "{error}");
}
