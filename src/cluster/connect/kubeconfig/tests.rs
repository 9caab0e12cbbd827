use std::ffi::OsString;
use std::path::{Path, PathBuf};

use super::*;
use crate::cluster::connect::fixtures::Folder;

/// A kubeconfig with one context `NAME`, of cluster `NAME` and user `NAME`.
fn kubeconfig(name: &str, more: &str) -> String {
    format!(
        "apiVersion: v1\nkind: Config\n\
         clusters:\n- name: {name}\n  cluster: {{server: \"https://{name}.test:6443\", certificate-authority: ca/{name}.pem}}\n\
         users:\n- name: {name}\n  user: {{token: secret-{name}}}\n\
         contexts:\n- name: {name}\n  context: {{cluster: {name}, user: {name}, namespace: space-{name}}}\n{more}"
    )
}

fn listed(paths: &[PathBuf]) -> OsString {
    std::env::join_paths(paths).unwrap()
}

fn of_list(list: OsString) -> Environment {
    Environment { kubeconfig: Some(list), ..Environment::default() }
}

fn server(selected: &Selected) -> String {
    selected.cluster.server.value().unwrap_or_default()
}

fn told<T>(result: Result<T, ClusterError>) -> Result<(), String> {
    result.map(drop).map_err(|error| error.to_string())
}

#[test]
fn a_list_skips_missing_files_and_empty_elements_and_the_first_wins() {
    let folder = Folder::new();
    let one = folder.write("one", &kubeconfig("one", "current-context: one\n"));
    let two = folder.write("sub/two", &kubeconfig("two", "current-context: two\n"));
    let missing = folder.path().join("missing");
    let empty = folder.write("empty", "");
    let cases = [
        (vec![missing.clone(), one.clone()], "https://one.test:6443"),
        (vec![PathBuf::new(), one.clone(), PathBuf::new(), two.clone()], "https://one.test:6443"),
        (vec![two.clone(), one.clone()], "https://two.test:6443"),
        (vec![empty, missing.clone(), two.clone()], "https://two.test:6443"),
    ];
    for (paths, expected) in cases {
        let selected = select(&ConnectionArgs::default(), &of_list(listed(&paths))).unwrap();
        assert_eq!(server(&selected), expected, "{paths:?}");
    }
    let options = ConnectionArgs { context: Some("two".to_owned()), ..ConnectionArgs::default() };
    let selected = select(&options, &of_list(listed(&[one, missing, two]))).unwrap();
    assert_eq!((server(&selected).as_str(), selected.namespace.as_str()), ("https://two.test:6443", "space-two"));
    assert_eq!(selected.context.as_deref(), Some("two"));
    let authority = folder.path().join("sub").join("ca/two.pem");
    assert_eq!(selected.cluster.certificate_authority.value().map(PathBuf::from), Some(authority));
}

#[test]
fn a_command_with_a_slash_is_relative_to_its_file() {
    let folder = Folder::new();
    let of = |command: &str| {
        let text = kubeconfig("one", "current-context: one\n")
            .replace("token: secret-one", &format!("exec: {{command: \"{command}\"}}"));
        let path = folder.write("sub/config", &text);
        let selected = select(&ConnectionArgs::default(), &of_list(path.into_os_string())).unwrap();
        selected.user.exec.and_then(|exec| exec.command.value())
    };
    assert_eq!(of("plugin").as_deref(), Some("plugin"));
    assert_eq!(of("/bin/plugin").as_deref(), Some("/bin/plugin"));
    assert_eq!(of("bin/plugin").map(PathBuf::from), Some(folder.path().join("sub/bin/plugin")));
}

#[test]
fn lists_that_lead_nowhere() {
    let folder = Folder::new();
    let missing = folder.path().join("missing");
    let good = folder.write("good", &kubeconfig("good", "current-context: good\n"));
    let broken = folder.write("broken", "users:\n- name: a\n  user: {token: [secret-value]}\n");
    let select = |paths: &[PathBuf]| told(select(&ConnectionArgs::default(), &of_list(listed(paths))));
    assert_eq!(
        select(&[missing.clone(), missing.clone()]),
        Err(format!("no kubeconfig found (looked for {0}, {0}), and not running in a pod", missing.display()))
    );
    assert_eq!(
        select(&[good.clone(), folder.path().to_owned()]),
        Err(format!("the kubeconfig {} is a directory", folder.path().display()))
    );
    assert_eq!(
        select(&[good.clone(), broken.clone()]),
        Err(format!("{} is not a valid kubeconfig (users[0])", broken.display()))
    );
    let broken = folder.write("broken", "users:\n- name: a\n  user: {token: secret-value]}\n");
    let error = select(&[good, broken.clone()]).unwrap_err();
    assert!(error.starts_with(&format!("{} is not a valid kubeconfig (line 3, ", broken.display())), "{error}");
    assert!(!error.contains("secret"), "{error}");
}

#[test]
fn a_manifest_is_no_kubeconfig() {
    let folder = Folder::new();
    let good = folder.write("good", &kubeconfig("good", "current-context: good\n"));
    let manifest = folder.write("web.yaml", "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: web}\n");
    let given =
        ConnectionArgs { kubeconfig: Some(manifest.to_string_lossy().into_owned()), ..ConnectionArgs::default() };
    let expected = select(&given, &Environment::default()).map(|_| ()).unwrap_err();
    let of_lists = [vec![manifest.clone()], vec![good, manifest]];
    for paths in of_lists {
        let error = select(&ConnectionArgs::default(), &of_list(listed(&paths))).map(|_| ()).unwrap_err();
        assert_eq!(error, expected);
        assert!(error.to_string().contains(
            "web.yaml is no kubeconfig: it is of the kind \"Deployment\" (apiVersion \"apps/v1\"), not Config"
        ));
    }
}

#[test]
fn without_any_kubeconfig_the_message_says_where_it_looked() {
    let folder = Folder::new();
    let environment = Environment { home: Some(folder.path().to_owned()), ..Environment::default() };
    let error = select(&ConnectionArgs::default(), &environment).map(|_| ()).unwrap_err();
    let expected = format!(
        "no kubeconfig found (looked for {}), and not running in a pod",
        folder.path().join(".kube/config").display()
    );
    assert_eq!(error.to_string(), expected);
    assert!(!error.hints().is_empty());
    let options = ConnectionArgs { server: Some("api.test".to_owned()), ..ConnectionArgs::default() };
    assert!(select(&options, &environment).is_ok(), "--server alone is enough");
}

#[test]
fn one_file_given_must_exist_and_is_not_merged() {
    let folder = Folder::new();
    let one = folder.write("one", &kubeconfig("one", "current-context: one\n"));
    let missing = folder.path().join("missing");
    let given = |path: &Path| ConnectionArgs {
        kubeconfig: Some(path.to_string_lossy().into_owned()),
        ..ConnectionArgs::default()
    };
    let environment = of_list(one.clone().into_os_string());
    let gone = format!("the kubeconfig {} does not exist", missing.display());
    assert_eq!(told(select(&given(&missing), &environment)), Err(gone));
    let empty = folder.write("empty", "");
    let nothing = format!("the kubeconfig {} names no cluster, no user and no context", empty.display());
    assert_eq!(told(select(&given(&empty), &environment)), Err(nothing.clone()));
    let alone = told(select(&ConnectionArgs::default(), &of_list(listed(&[missing, empty]))));
    assert_eq!(alone, Err(nothing));
    assert_eq!(server(&select(&given(&one), &Environment::default()).unwrap()), "https://one.test:6443");
}

#[test]
fn names_that_do_not_exist() {
    let folder = Folder::new();
    let one = folder.write("one", &kubeconfig("one", ""));
    let environment = of_list(one.into_os_string());
    let of = |context: &str, cluster: &str, user: &str| {
        let given = |name: &str| (!name.is_empty()).then(|| name.to_owned());
        let options = ConnectionArgs {
            context: given(context),
            cluster: given(cluster),
            user: given(user),
            ..ConnectionArgs::default()
        };
        select(&options, &environment).map(|_| ())
    };
    let refused = |error: &str| Err(error.to_owned());
    assert_eq!(told(of("", "", "")), refused("the kubeconfig sets no current-context"));
    assert_eq!(told(of("other", "", "")), refused("context \"other\" does not exist"));
    assert_eq!(told(of("one", "other", "")), refused("cluster \"other\" does not exist"));
    assert_eq!(told(of("one", "", "other")), refused("user \"other\" does not exist"));
    assert_eq!(of("", "one", ""), Ok(()));
    assert_eq!(of("", "", "").unwrap_err().hints().len(), 2, "how to choose one, and which there are");
    assert_eq!(of("other", "", "").unwrap_err().hints(), ["known: one".into()]);
}

#[test]
fn without_a_kubeconfig_a_server_is_enough_but_no_name_exists() {
    let of = |flag: &str| {
        let mut options = ConnectionArgs { server: Some("http://a.test".into()), ..ConnectionArgs::default() };
        let name = Some("other".to_owned());
        match flag {
            "context" => options.context = name,
            "cluster" => options.cluster = name,
            "user" => options.user = name,
            _ => {}
        }
        select(&options, &Environment::default()).map(|_| ())
    };
    assert_eq!(of(""), Ok(()));
    for flag in ["context", "cluster", "user"] {
        let error = of(flag).unwrap_err();
        assert_eq!(error.to_string(), format!("{flag} \"other\" does not exist"));
        assert_eq!(error.hints(), [], "none is known");
    }
}

#[test]
fn a_user_that_only_the_context_names_may_be_missing_but_it_is_said() {
    let folder = Folder::new();
    let text = "clusters:\n- name: a\n  cluster: {server: \"http://a.test\"}\n\
                contexts:\n- name: a\n  context: {cluster: a, user: gone}\ncurrent-context: a\n";
    let path = folder.write("config", text);
    let selected = select(&ConnectionArgs::default(), &of_list(path.into_os_string())).unwrap();
    assert_eq!(selected.warnings, ["the kubeconfig has no user \"gone\"; connecting without credentials"]);
}

#[test]
fn within_a_pod() {
    let folder = Folder::new();
    folder.write("account/token", "secret");
    folder.write("account/ca.crt", "pem");
    folder.write("account/namespace", "prod\n");
    let mut environment = Environment {
        service_host: Some("fd00::1".to_owned()),
        service_port: Some("6443".to_owned()),
        service_account: Some(folder.path().join("account")),
        ..Environment::default()
    };
    let selected = select(&ConnectionArgs::default(), &environment).unwrap();
    assert_eq!((server(&selected).as_str(), selected.namespace.as_str()), ("https://[fd00::1]:6443", "prod"));
    assert_eq!(selected.context, None);
    let config = folder.write("config", &kubeconfig("one", "current-context: one\n"));
    environment.kubeconfig = Some(config.into_os_string());
    let selected = select(&ConnectionArgs::default(), &environment).unwrap();
    assert_eq!(server(&selected), "https://one.test:6443", "a kubeconfig wins");
    let config =
        folder.write("without", &kubeconfig("one", "current-context: one\n").replace(", namespace: space-one", ""));
    environment.kubeconfig = Some(config.into_os_string());
    assert_eq!(select(&ConnectionArgs::default(), &environment).unwrap().namespace, "prod", "the default is the pod's");
    environment.pod_namespace = Some("of-the-pod".to_owned());
    assert_eq!(select(&ConnectionArgs::default(), &environment).unwrap().namespace, "of-the-pod");
    environment.kubeconfig = None;
    let elsewhere = ConnectionArgs { server: Some("https://b.test".to_owned()), ..ConnectionArgs::default() };
    assert!(
        select(&elsewhere, &environment).unwrap().user.token_file.is_none(),
        "the token is for the pod's own server"
    );
    environment.service_account = Some(folder.path().join("elsewhere"));
    assert!(select(&ConnectionArgs::default(), &environment).is_err(), "no token is mounted");
}

#[test]
fn addresses_of_servers() {
    let cases = [
        ("https://api.test:6443", Ok("https://api.test:6443/")),
        ("api.test:8080", Ok("http://api.test:8080/")),
        ("api.test:8080/path", Err(())),
        ("https://rancher.test/k8s/clusters/c-1", Ok("https://rancher.test/k8s/clusters/c-1")),
        ("ftp://api.test", Err(())),
        ("https://", Err(())),
        ("", Err(())),
    ];
    for (server, expected) in cases {
        let cluster = Cluster { server: Text::new(Some(server.to_owned())), ..Cluster::default() };
        let uri = server_uri(&Selected { cluster, ..Selected::default() }).map(|uri| uri.to_string()).map_err(|_| ());
        assert_eq!(uri, expected.map(str::to_owned), "{server}");
    }
}
