//! Whatever a kubeconfig, a flag, a token file or a plugin holds: an answer or an error, never a panic, and no secret in it.

use proptest::prelude::*;
use proptest::sample::select;
use serde_json::json;

use super::super::fixtures::tls;
use super::*;

/// What no error may show. Every secret has it in it.
const SECRET: &str = "s3cr3t";

/// Texts that were trouble somewhere, and any others.
fn text() -> impl Strategy<Value = String> {
    let known = [
        "",
        " ",
        "\n",
        "abc\n",
        "a\r\nb",
        "\0",
        "\t",
        "\u{7f}",
        "ü",
        "\u{1f511}",
        "\u{feff}",
        "\u{2028}",
        ":",
        "@",
        "a:b@",
        "%",
        "%zz",
        "%00",
        "/",
        "..",
        ".",
        "~",
        "?",
        "#",
        "://",
        "http://",
        "https://[::1",
        "[::1]:99999",
        "null",
        "-1",
        "a b",
        "*.test",
        "a..b",
        "-----BEGIN CERTIFICATE-----",
        "-----BEGIN PRIVATE KEY-----\n-----END PRIVATE KEY-----",
    ];
    let characters =
        proptest::collection::vec(any::<char>(), 0..8).prop_map(|characters| characters.into_iter().collect());
    let long = select(vec![100_usize, 20_000, 65_500, 70_000]).prop_map(|length| "a".repeat(length));
    prop_oneof![6 => select(known.map(str::to_owned).to_vec()), 4 => characters, 1 => long]
}

/// A place in the kubeconfig, a flag or a variable, and how a text gets there.
const PLACES: [(&str, &str); 40] = [
    ("/clusters/0/cluster/server", "{}"),
    ("/clusters/0/cluster/server", "https://{}@$SERVER"),
    ("/clusters/0/cluster/server", "https://$SERVER/{}"),
    ("/clusters/0/cluster/server", "http://$SERVER{}"),
    ("/clusters/0/cluster/tls-server-name", "{}"),
    ("/clusters/0/cluster/certificate-authority", "no-such-directory/{}"),
    ("/clusters/0/cluster/certificate-authority-data", "{}"),
    ("/clusters/0/cluster/proxy-url", "{}"),
    ("/clusters/0/cluster/proxy-url", "http://s3cr3t{}@$SERVER"),
    ("/clusters/0/cluster/proxy-url", "socks5://s3cr3t{}@$SERVER"),
    ("/users/0/user/token", "s3cr3t{}"),
    ("/users/0/user/tokenFile", "no-such-directory/{}"),
    ("/users/0/user/username", "{}"),
    ("/users/0/user/password", "s3cr3t{}"),
    ("/users/0/user/client-certificate-data", "{}"),
    ("/users/0/user/client-key-data", "s3cr3t{}"),
    ("/users/0/user/as", "{}"),
    ("/users/0/user/as-uid", "{}"),
    ("/users/0/user/as-groups/0", "{}"),
    ("/users/0/user/as-user-extra/scope/0", "{}"),
    ("/users/0/user/exec/command", "no-such-directory/{}"),
    ("/users/0/user/exec/args/0", "s3cr3t{}"),
    ("/users/0/user/exec/env/0/name", "{}"),
    ("/users/0/user/exec/env/0/value", "s3cr3t{}"),
    ("/users/0/user/exec/apiVersion", "{}"),
    ("/users/0/user/exec/interactiveMode", "{}"),
    ("/users/0/user/exec/installHint", "{}"),
    ("/users/0/user/auth-provider/name", "{}"),
    ("/users/0/user/auth-provider/config/id-token", "s3cr3t{}"),
    ("/users/0/name", "{}"),
    ("/contexts/0/context/namespace", "{}"),
    ("/current-context", "{}"),
    ("token file", "s3cr3t{}"),
    ("--token", "s3cr3t{}"),
    ("--as", "{}"),
    ("--as-user-extra", "{}=a"),
    ("--server", "https://{}@$SERVER"),
    ("--tls-server-name", "{}"),
    ("HTTPS_PROXY", "{}"),
    ("NO_PROXY", "{}"),
];

/// Ways to authenticate, each of which reaches other code.
fn users() -> Vec<Value> {
    let encoded = |pem: &str| entries::base64(pem.as_bytes());
    vec![
        json!({"token": "s3cr3t"}),
        json!({"tokenFile": "token"}),
        json!({"username": "jane", "password": "s3cr3t"}),
        json!({"client-certificate-data": encoded(tls::CERTIFICATE), "client-key-data": encoded(tls::KEY)}),
        json!({"exec": {"command": "/bin/echo", "args": [""], "env": [{"name": "A", "value": ""}], "apiVersion": "client.authentication.k8s.io/v1", "interactiveMode": "Never"}}),
        // The payload is {"exp": 4102444800}.
        json!({"auth-provider": {"name": "oidc", "config": {"id-token": "a.eyJleHAiOjQxMDI0NDQ4MDB9.s3cr3t"}}}),
    ]
}

/// Puts a text where it belongs; a place below a missing one is left alone.
fn put(place: &str, text: String, config: &mut Value, setup: &mut Setup) {
    let flags = &mut setup.options.flags;
    match place {
        "token file" => drop(setup.folder.write("token", &text)),
        "--token" => flags.token = Some(text),
        "--as" => flags.as_user = Some(text),
        "--as-user-extra" => flags.as_user_extra = vec![text],
        "--server" => flags.server = Some(text),
        "--tls-server-name" => flags.tls_server_name = Some(text),
        "HTTPS_PROXY" => setup.environment.https_proxy = Some(text),
        "NO_PROXY" => setup.environment.no_proxy = Some(text),
        path => {
            let (parent, field) = path.rsplit_once('/').unwrap();
            match config.pointer_mut(parent) {
                Some(Value::Object(fields)) => drop(fields.insert(field.to_owned(), text.into())),
                Some(Value::Array(items)) => items[0] = text.into(),
                _ => {}
            }
        }
    }
}

/// Connects, and asks for something where the server is ours; returns what an error says.
async fn tried(setup: &Setup, address: &str) -> String {
    let connection = match setup.connect().await {
        Ok(connection) => connection,
        Err(error) => return format!("{error} {:?}", error.hints()),
    };
    if !connection.server.contains(address) {
        return connection.server;
    }
    match ask(&connection.client, AccessVerb::List, POD).await {
        Ok(_) => String::new(),
        Err(error) => format!("{error} {:?}", error.hints()),
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(400) })]

    #[test]
    fn no_text_makes_a_connection_panic(
        user in select(users()),
        texts in proptest::collection::vec((select(PLACES.to_vec()), text()), 1..4),
    ) {
        let server = Server::start(vec![Answer::json(200, "{}")]);
        let mut config = json!({
            "clusters": [{"name": "c", "cluster": {"server": server.url(), "insecure-skip-tls-verify": true}}],
            "users": [{"name": "u", "user": user}],
            "contexts": [{"name": "a", "context": {"cluster": "c", "user": "u"}}],
            "current-context": "a",
        });
        config["users"][0]["user"]["as-groups"] = json!(["dev"]);
        config["users"][0]["user"]["as-user-extra"] = json!({"scope": ["a"]});
        config["users"][0]["user"]["as"] = json!("jane");
        let mut setup = setup("", "", "");
        setup.options.flags.request_timeout = Some(Duration::from_millis(500));
        setup.folder.write("token", "s3cr3t\n");
        for ((place, form), text) in texts {
            let text = form.replace("{}", &text).replace("$SERVER", &server.address);
            put(place, text, &mut config, &mut setup);
        }
        setup.folder.write("config", &config.to_string());
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        let said = runtime.block_on(tried(&setup, &server.address));
        prop_assert!(!said.contains(SECRET), "{said}\n{config}");
    }

    #[test]
    fn no_text_is_a_kubeconfig_that_panics(text in text(), at in 0_usize..300, cut in any::<bool>()) {
        let mut setup = setup("http://127.0.0.1:1", "", "token: s3cr3t, as-groups: [a]");
        let mut config = setup.folder.read("config");
        let at = config.char_indices().map(|(at, _)| at).nth(at).unwrap_or(config.len());
        if cut {
            config.truncate(at);
        }
        config.insert_str(at.min(config.len()), &text);
        setup.folder.write("config", &config);
        setup.options.flags.server = Some("http://127.0.0.1:1".to_owned());
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        let said = runtime.block_on(setup.connect()).err().map(|error| error.to_string()).unwrap_or_default();
        prop_assert!(!said.contains(SECRET), "{said}\n{config}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(40) })]

    #[test]
    fn no_answer_of_a_plugin_panics(token in text(), certificate in text(), key in text(), time in text(), which in 0..4) {
        let server = Server::start(vec![Answer::json(200, "{}")]);
        let mut status = json!({"token": format!("{SECRET}{token}")});
        match which {
            0 => {}
            1 => status["expirationTimestamp"] = time.into(),
            _ => {
                status["clientCertificateData"] = format!("{}{certificate}", tls::CERTIFICATE).into();
                status["clientKeyData"] = if which == 2 { key } else { format!("{}{key}", tls::KEY) }.into();
            }
        }
        let answer = json!({"apiVersion": "client.authentication.k8s.io/v1", "kind": "ExecCredential", "status": status});
        let exec = "exec: {apiVersion: client.authentication.k8s.io/v1, command: /bin/cat, args: [\"$ANSWER\"], interactiveMode: Never}";
        let folder = Folder::new();
        let answer = folder.write("answer", &answer.to_string()).display().to_string();
        let setup = setup(&server.url(), INSECURE, &exec.replace("$ANSWER", &answer));
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        let said = runtime.block_on(tried(&setup, &server.address));
        prop_assert!(!said.contains(SECRET), "{said}");
    }
}

#[tokio::test]
async fn more_headers_than_there_may_be() {
    let server = Server::start(vec![Answer::json(200, "{}")]);
    for (field, groups, extras) in [("as-groups", 40_000, 1), ("as-user-extra", 1, 40_000)] {
        let mut setup = setup(&server.url(), INSECURE, "token: secret");
        setup.options.flags.as_user = Some("jane".to_owned());
        setup.options.flags.as_group = vec!["dev".to_owned(); groups];
        setup.options.flags.as_user_extra = (0..extras).map(|number| format!("key-{number}=a")).collect();
        let said = tried(&setup, &server.address).await;
        assert!(said.starts_with(&format!("{field} is not usable: ")), "{said}");
    }
}

#[tokio::test]
async fn an_address_that_is_too_long() {
    let server = Server::start(vec![Answer::json(200, "{}")]);
    let setup = setup(&format!("{}/{}", server.url(), "a".repeat(65_000)), INSECURE, "token: secret");
    let connection = setup.connect().await.unwrap();
    let error = ask(&connection.client, AccessVerb::List, &format!("{POD}?a={}", "b".repeat(600))).await.unwrap_err();
    assert!(matches!(&error, ClusterError::NotSent { .. }), "{error:?}");
    assert!(server.received().is_empty());
}
