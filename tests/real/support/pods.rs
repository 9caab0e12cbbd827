//! What a pod's JSON says about its containers.

use std::collections::BTreeMap;
use std::io::{Read as _, Write as _};
use std::net::TcpStream;

use serde_json::Value;

/// Whether the pod's Ready condition is True and it is not about to end.
pub(crate) fn is_ready(pod: &Value) -> bool {
    let conditions = pod["status"]["conditions"].as_array().into_iter().flatten();
    pod["metadata"]["deletionTimestamp"].is_null()
        && conditions.into_iter().any(|condition| condition["type"] == "Ready" && condition["status"] == "True")
}

/// Returns the statuses of the pod's containers, init containers (and so sidecars) first.
fn container_statuses(pod: &Value) -> impl Iterator<Item = &Value> {
    ["initContainerStatuses", "containerStatuses"]
        .into_iter()
        .flat_map(|list| pod["status"][list].as_array().into_iter().flatten())
}

/// Returns the status of one container of the pod; a missing one fails the test.
pub(crate) fn container_status<'a>(pod: &'a Value, name: &str) -> &'a Value {
    container_statuses(pod)
        .find(|status| status["name"] == name)
        .unwrap_or_else(|| panic!("no container {name} in {}", pod["status"]))
}

/// Each pod with its containers: what a restart or another pod would change.
pub(crate) fn running(pods: &[Value]) -> Vec<(Value, Vec<(Value, Value)>)> {
    let of = |pod: &Value| {
        let statuses = pod["status"]["containerStatuses"].as_array().cloned().unwrap_or_default();
        let containers = statuses.iter().map(|one| (one["containerID"].clone(), one["restartCount"].clone())).collect();
        (pod["metadata"]["uid"].clone(), containers)
    };
    pods.iter().map(of).collect()
}

/// Returns the pod's name.
pub(crate) fn name(pod: &Value) -> &str {
    pod["metadata"]["name"].as_str().unwrap_or_else(|| panic!("no name: {pod}"))
}

/// Returns the image that the pod's spec asks for, without the registry, such as `side:v1`.
pub(crate) fn image<'a>(pod: &'a Value, container: &str) -> &'a str {
    let lists = ["initContainers", "containers"].into_iter();
    let image = lists
        .flat_map(|list| pod["spec"][list].as_array().into_iter().flatten())
        .find(|each| each["name"] == container)
        .and_then(|each| each["image"].as_str())
        .unwrap_or_else(|| panic!("no container {container} in {}", pod["spec"]));
    image.rsplit_once('/').map_or(image, |(_, image)| image)
}

/// Returns what each pod's spec asks for in one container, in the order of the pods.
pub(crate) fn images<'a>(pods: &'a [Value], container: &str) -> Vec<&'a str> {
    pods.iter().map(|pod| image(pod, container)).collect()
}

/// Returns whether each container runs the image that the pod asks for: by its digest, since a status may show any name of it.
pub(super) fn runs_what_it_asks_for(pod: &Value) -> bool {
    let asked =
        |name: &Value| pod["spec"]["containers"].as_array()?.iter().find(|it| it["name"] == *name)?["image"].as_str();
    pod["status"]["containerStatuses"].as_array().into_iter().flatten().all(|status| {
        let text = |key: &str| status[key].as_str().unwrap_or_default();
        let is_of =
            |asked: &str| text("image") == asked || digest(asked).is_some_and(|it| text("imageID").ends_with(&it));
        asked(&status["name"]).is_some_and(is_of)
    })
}

/// The digest that the registry knows a tag by.
fn digest(image: &str) -> Option<String> {
    const KINDS: &str = "application/vnd.oci.image.manifest.v1+json, application/vnd.oci.image.index.v1+json, \
        application/vnd.docker.distribution.manifest.v2+json";
    let (registry, (repository, tag)) =
        image.split_once('/').and_then(|(host, rest)| Some((host, rest.rsplit_once(':')?)))?;
    let mut stream = TcpStream::connect(registry).ok()?;
    write!(stream, "HEAD /v2/{repository}/manifests/{tag} HTTP/1.0\r\nAccept: {KINDS}\r\n\r\n").ok()?;
    let mut answer = String::new();
    stream.read_to_string(&mut answer).ok()?;
    let of_digest =
        |line: &str| line.to_lowercase().strip_prefix("docker-content-digest:").map(|it| it.trim().to_owned());
    answer.lines().find_map(of_digest)
}

/// Returns the containers with another containerID than before, each as `pod/container`, in the order of `before`.
///
/// Panics unless both lists hold the same pods (name, uid, node and IP): then something was replaced.
pub(crate) fn restarted(before: &[Value], after: &[Value]) -> Vec<String> {
    assert_eq!(identities(before), identities(after), "the pods are not the same ones");
    let mut restarted = Vec::new();
    for (old, new) in before.iter().zip(after) {
        for status in container_statuses(old) {
            let name = status["name"].as_str().unwrap_or_default();
            if container_status(new, name)["containerID"] != status["containerID"] {
                restarted.push(format!("{}/{name}", old["metadata"]["name"].as_str().unwrap_or_default()));
            }
        }
    }
    restarted
}

fn identities(pods: &[Value]) -> BTreeMap<&str, [&Value; 3]> {
    pods.iter()
        .map(|pod| {
            let name = pod["metadata"]["name"].as_str().unwrap_or_default();
            (name, [&pod["metadata"]["uid"], &pod["spec"]["nodeName"], &pod["status"]["podIP"]])
        })
        .collect()
}
