use serde_json::json;

use super::*;
use engine::value::hint::Hint;

fn request(resource: &str, name: &str, subresource: Option<&str>) -> RequestDescription {
    let (namespace, name) = (Some("prod".to_owned()), Some(name.to_owned()));
    let subresource = subresource.map(str::to_owned);
    RequestDescription { subresource, namespace, name, ..RequestDescription::new(AccessVerb::Patch, resource) }
}

fn sorted(status: &serde_json::Value) -> ClusterError {
    let what = request("pods", "web-0", Some("resize"));
    let status = serde_json::from_value(status.clone()).unwrap();
    ClusterError::from_kube(kube::Error::Api(Box::new(status)), &what)
}

#[test]
fn what_the_server_says() {
    let rbac = r#"pods "web-0" is forbidden: User "jane" cannot patch resource "pods/resize" in API group "" in the namespace "prod""#;
    let quota = r#"pods "web-0" is forbidden: exceeded quota: small"#;
    let webhook = r#"admission webhook "check.example.com" denied the request: no latest"#;
    let policy = "deployments.apps \"web\" is forbidden: ValidatingAdmissionPolicy 'tags' with binding 'all' denied request: no latest";
    let bare = "the server rejected our request due to an error in our request";
    let guard = "the server did not take the patch, most likely because the object has changed since it was read";
    let cases = [
        (json!({"code": 403, "reason": "Forbidden", "message": rbac}), "Forbidden", rbac),
        (json!({"code": 403, "reason": "Forbidden", "message": quota}), "AdmissionDenied", quota),
        (json!({"code": 400, "reason": "BadRequest", "message": webhook}), "AdmissionDenied", webhook),
        (json!({"code": 422, "reason": "Invalid", "message": policy}), "AdmissionDenied", policy),
        (
            json!({"code": 404, "reason": "NotFound", "message": "x", "details": {"name": "web-0", "kind": "pods"}}),
            "NotFound",
            "pods \"web-0\" not found",
        ),
        (
            json!({"code": 404, "reason": "NotFound", "message": "x", "details": {"name": "prod", "kind": "namespaces"}}),
            "NotFound",
            "namespaces \"prod\" not found",
        ),
        (
            json!({"code": 404, "reason": "NotFound", "message": "the server could not find the requested resource", "details": {}}),
            "UnknownResource",
            "the server doesn't have a resource type \"pods/resize\"",
        ),
        (
            json!({"code": 404, "reason": "Failed to parse error data", "message": "404 page not found"}),
            "UnknownResource",
            "the server doesn't have a resource type \"pods/resize\"",
        ),
        (
            json!({"code": 401, "reason": "Unauthorized", "message": "x"}),
            "Unauthorized",
            "You must be logged in to the server (Unauthorized)",
        ),
        (json!({"code": 409, "reason": "Conflict", "message": "modified"}), "Conflict", "modified"),
        (
            json!({"code": 409, "reason": "AlreadyExists", "message": "x", "details": {"name": "a", "kind": "pods"}}),
            "AlreadyExists",
            "pods \"a\" already exists",
        ),
        (
            json!({"code": 410, "reason": "Expired", "message": "too old"}),
            "Gone",
            "the requested version of the list is gone: too old",
        ),
        (
            json!({"code": 429, "reason": "TooManyRequests", "message": "x", "details": {"retryAfterSeconds": 7}}),
            "Throttled",
            "the server is busy and asked to try again in 7 s",
        ),
        (json!({"code": 422, "reason": "Invalid", "message": bare, "details": {}}), "Invalid", guard),
        (json!({"code": 504, "reason": "Timeout", "message": "etcd"}), "TimedOut", "the server timed out: etcd"),
        (
            json!({"code": 503, "reason": "ServiceUnavailable", "message": "down"}),
            "ServerFailed",
            "the server failed (503): down",
        ),
        (
            json!({"code": 415, "reason": "UnsupportedMediaType", "message": "no"}),
            "Rejected",
            "the server refused the request (415): no",
        ),
        (
            json!({"code": 502, "reason": "Failed to parse error data", "message": "\n<html>bad gateway\nmore"}),
            "ServerFailed",
            "the server failed (502): <html>bad gateway",
        ),
    ];
    for (status, kind, text) in cases {
        let error = sorted(&status);
        let debug = format!("{error:?}");
        assert!(debug.starts_with(kind), "{status}: {debug}");
        assert_eq!(error.to_string(), text);
    }
}

#[test]
fn a_bare_422_is_a_failed_test_and_one_with_causes_is_not() {
    let bare = "the server rejected our request due to an error in our request";
    let cause = json!({"reason": "FieldValueForbidden", "message": "no", "field": "spec"});
    let cases = [
        (json!({"code": 422, "reason": "Invalid", "message": bare, "details": {}}), true),
        (json!({"code": 422, "reason": "Invalid", "message": bare, "details": {"causes": [cause]}}), false),
        (json!({"code": 422, "reason": "Invalid", "message": "Pod \"a\" is invalid"}), false),
    ];
    for (status, expected) in cases {
        let error = sorted(&status);
        let ClusterError::Invalid { is_bare_test_failure, .. } = error else { panic!("{status}") };
        assert_eq!(is_bare_test_failure, expected, "{status}");
        let means = "the object has changed since it was read";
        assert_eq!(error.to_string().contains(means), expected, "the server's words say nothing: {error}");
    }
}

#[test]
fn what_may_have_been_done() {
    let unreachable = ClusterError::Unreachable { server: String::new(), why: Unreached::Refused };
    let lost = ClusterError::ConnectionLost { why: String::new() };
    let cases = [
        (unreachable, false),
        (lost, true),
        (ClusterError::TimedOut { after: None, message: String::new() }, true),
        (sorted(&json!({"code": 500, "message": "x"})), true),
        (sorted(&json!({"code": 503, "message": "x"})), true),
        (sorted(&json!({"code": 429, "message": "x"})), false),
        (sorted(&json!({"code": 409, "message": "x"})), false),
        (sorted(&json!({"code": 400, "message": "x"})), false),
    ];
    for (error, expected) in cases {
        assert_eq!(error.may_have_been_done(), expected, "{error:?}");
    }
}

#[test]
fn our_own_errors_come_through_kube_unchanged() {
    let what = RequestDescription::new(AccessVerb::Get, "pods");
    let ours = ClusterError::TimedOut { after: Some(Duration::from_secs(1)), message: String::new() };
    let error = kube::Error::Service(Box::new(ours.clone()));
    assert_eq!(ClusterError::from_kube(error, &what), ours);
    let broken = serde_json::from_str::<serde_json::Value>("{").unwrap_err();
    let unreadable = ClusterError::from_kube(kube::Error::SerdeError(broken), &what);
    assert_eq!(
        unreadable.to_string(),
        "the server's answer to get pods could not be read: EOF while parsing an object at line 1 column 1"
    );
}

#[test]
fn the_permission_is_asked_for_with_exactly_the_verb() {
    let cases = [
        (RequestDescription::new(AccessVerb::List, "pods"), "kubectl auth can-i list pods --all-namespaces"),
        (request("deployments.apps", "web", None), "kubectl auth can-i patch deployments.apps/web --namespace=prod"),
        (request("pods", "a", Some("resize")), "kubectl auth can-i patch pods/a --subresource=resize --namespace=prod"),
    ];
    for (request, expected) in cases {
        assert_eq!(Hint::default().command(request.can_i()).to_string(), expected);
    }
}

#[test]
fn a_certificate_out_of_its_time_may_be_the_clock_of_this_machine() {
    let hint = |why: &str| {
        let error = ClusterError::Unreachable { server: "s:1".into(), why: Unreached::Certificate(why.into()) };
        error.hints().first().map(ToString::to_string).unwrap_or_default()
    };
    for late in ["certificate not valid yet: verification time 1", "certificate expired: verification time 3"] {
        assert!(hint(&format!("invalid peer certificate: {late}")).starts_with("check the clock"), "{late}");
    }
    assert!(hint("invalid peer certificate: UnknownIssuer").contains("certificate-authority"));
}
