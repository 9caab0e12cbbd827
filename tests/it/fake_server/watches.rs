//! Lists and watches.

use std::time::Duration;

use serde_json::{Value, json};

use super::*;
use crate::support::api_server::{Effect, When};

#[test]
fn a_list_and_the_watch_from_it_miss_nothing() {
    let server = quiet_pod();
    let list = get(&server, PODS);
    assert_eq!(list.body["kind"], "PodList");
    assert_eq!(list.body["items"][0]["kind"], Value::Null, "items of a list carry no kind");
    let from = list.body["metadata"]["resourceVersion"].as_str().expect("a list has a resourceVersion").to_owned();
    patch(&server, "p", JSON_PATCH, &image_patch("acme/app:v2"));
    server.insert(Workload::pod("q").container("app", "acme/q:v1").objects());

    let mut watch = Watching::open(&server, &format!("resourceVersion={from}"));
    patch(&server, "p", JSON_PATCH, &image_patch("acme/app:v3"));
    server.delete("pods", "q");
    let seen: Vec<String> = (0..4).map(|_| watch.line()).collect();
    assert_eq!(seen, ["MODIFIED p acme/app:v2", "ADDED q acme/q:v1", "MODIFIED p acme/app:v3", "DELETED q acme/q:v1"]);
}

#[test]
fn selectors_choose_and_a_pod_that_leaves_the_selection_is_deleted_for_the_watch() {
    let server = quiet_pod();
    server.insert(
        Workload::pod("q")
            .container("app", "acme/q:v1")
            .template(|t| t["metadata"]["labels"]["tier"] = "x".into())
            .objects(),
    );
    let names = |query: &str| -> Vec<String> {
        let got = get(&server, &format!("{PODS}?{query}"));
        let items = got.body["items"].as_array().cloned().unwrap_or_default();
        items.iter().map(|item| item["metadata"]["name"].as_str().unwrap_or_default().to_owned()).collect()
    };
    let cases: [(&str, &[&str]); 12] = [
        ("labelSelector=app%3Dp", &["p"]),
        ("labelSelector=app==p", &["p"]),
        ("labelSelector=app!=p", &["q"]),
        ("labelSelector=app%20in%20(p,q)", &["p", "q"]),
        ("labelSelector=app+notin+(p)", &["q"]),
        ("labelSelector=tier", &["q"]),
        ("labelSelector=!tier", &["p"]),
        ("labelSelector=tier,app=p", &[]),
        ("fieldSelector=metadata.name=q", &["q"]),
        ("fieldSelector=metadata.name!=q", &["p"]),
        ("fieldSelector=spec.nodeName=node-a", &["p", "q"]),
        ("resourceVersion=0", &["p", "q"]),
    ];
    for (query, wanted) in cases {
        assert_eq!(names(query), wanted, "{query}");
    }
    assert_eq!(get(&server, &format!("{PODS}?labelSelector=a%20b")).code, 400);
    assert_eq!(get(&server, &format!("{PODS}?fieldSelector=foo%3Dbar")).message(), "field label not supported: foo");

    let page = get(&server, &format!("{PODS}?limit=1"));
    assert_eq!(page.body["metadata"]["remainingItemCount"], 1);
    let token = page.body["metadata"]["continue"].as_str().expect("there is more").to_owned();
    assert_eq!(names(&format!("limit=1&continue={token}")), ["q"]);
    server.compact();
    server.edit("pods", "p", |pod| pod["metadata"]["labels"]["x"] = "y".into());
    server.compact();
    assert_eq!(get(&server, &format!("{PODS}?limit=1&continue={token}")).body["reason"], "Expired");

    let mut watch = Watching::open(&server, "labelSelector=tier%3Dx&resourceVersion=0");
    assert_eq!(watch.line(), "ADDED q acme/q:v1");
    patch(&server, "q", MERGE, &json!({"metadata": {"labels": {"tier": null}}}));
    assert_eq!(watch.line(), "DELETED q acme/q:v1");
    patch(&server, "q", MERGE, &json!({"metadata": {"labels": {"tier": "x"}}}));
    assert_eq!(watch.line(), "ADDED q acme/q:v1");
}

#[test]
fn watches_expire_bookmark_time_out_and_break_off() {
    let server = quiet_pod();
    server.change(|state| state.bookmark_every = Duration::from_millis(10));
    let revision = || get(&server, PODS).body["metadata"]["resourceVersion"].as_str().unwrap_or_default().to_owned();
    let old = revision();
    patch(&server, "p", JSON_PATCH, &image_patch("acme/app:v2"));

    let mut watch =
        Watching::open(&server, &format!("resourceVersion={}&allowWatchBookmarks=true&timeoutSeconds=1", revision()));
    let event = watch.next().expect("a bookmark comes");
    assert_eq!(
        (&event["type"], &event["object"]["metadata"]["resourceVersion"]),
        (&json!("BOOKMARK"), &json!(revision()))
    );
    while watch.next().is_some_and(|event| event["type"] == "BOOKMARK") {}

    let mut watch =
        Watching::open(&server, "sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true");
    assert_eq!(watch.next().expect("the pod comes")["type"], "ADDED");
    let end = watch.next().expect("the end of the list is marked");
    assert_eq!(end["object"]["metadata"]["annotations"]["k8s.io/initial-events-end"], "true");

    server.compact();
    let mut watch = Watching::open(&server, &format!("resourceVersion={old}"));
    let event = watch.next().expect("an error comes");
    assert_eq!((&event["type"], &event["object"]["code"]), (&json!("ERROR"), &json!(410)));
    let message = event["object"]["message"].as_str().unwrap_or_default();
    assert!(message.starts_with(&format!("too old resource version: {old} (")), "{message}");
    assert_eq!(watch.next(), None);

    server.fault(When::verb("watch").of("pods").times(1), Effect::CutWatch(1));
    let mut watch = Watching::open(&server, "resourceVersion=0");
    assert_eq!(watch.line(), "ADDED p acme/app:v2");
    assert_eq!(watch.next(), Some(Value::Null), "the stream breaks off");
    server.fault(When::verb("watch").times(1), Effect::Expire);
    let mut watch = Watching::open(&server, &format!("resourceVersion={}", revision()));
    assert_eq!(watch.next().expect("an error comes")["object"]["code"], 410);
    let mut watch = Watching::open(&server, "resourceVersion=0");
    assert_eq!(watch.line(), "ADDED p acme/app:v2");
    server.drop_connections();
    assert_eq!(watch.next(), Some(Value::Null));
}
