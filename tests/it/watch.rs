//! What the program does when its watch does not hold.

use serde_json::json;

use crate::support::api_server::{ApiServer, Effect, When};
use crate::support::builders::Workload;
use crate::support::run::Binary;

fn server() -> ApiServer {
    ApiServer::with(Workload::pod("alone").namespace("default").container("app", "acme/app:1").objects())
}

#[test]
fn a_watch_that_never_opens_is_tried_again_with_growing_pauses() {
    let server = server();
    server.fault(When::verb("watch").of("pods"), Effect::Unavailable);
    let arguments = ["follow", "pod/alone", "--min-ready-seconds", "86400", "--total-timeout", "3s"];
    let output = Binary::against(&server, arguments).run();
    assert_eq!(output.code, Some(5), "{output:?}");
    assert!(output.stderr.contains("the watch broke"), "{output:?}");
    let is_watch = |query: &[(String, String)]| query.iter().any(|(key, _)| key == "watch");
    let watches = server.requests().into_iter().filter(|logged| is_watch(&logged.query)).count();
    // At 0, 0.25, 0.75, 1.75 s and so on, although each list before it works; a layer below repeats each a few times.
    assert!((2..=20).contains(&watches), "{watches} tries in three seconds");
}

#[test]
fn a_caller_that_may_not_watch_gets_an_error_before_anything_is_changed() {
    let server = server();
    server.fault(When::verb("watch").of("pods"), Effect::Forbid);
    let follow = Binary::against(&server, ["follow", "pod/alone"]).run();
    assert_eq!(follow.code, Some(1), "{follow:?}");
    assert!(follow.stderr.contains("cannot watch resource \"pods\""), "{follow:?}");
    let apply = Binary::against(&server, ["apply", "pod/alone", "app=:2", "--yes"]).run();
    assert_eq!(apply.code, Some(3), "{apply:?}");
    assert!(apply.stdout.contains("PermissionMissing") && apply.stdout.contains("watch pods"), "{apply:?}");
    assert_eq!(
        server.objects("pods").first().map(|pod| pod["spec"]["containers"][0]["image"].clone()),
        Some(json!("acme/app:1"))
    );
}
