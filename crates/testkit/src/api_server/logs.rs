//! The log subresource of a pod, and what follows one.

use std::io;
use std::time::Duration;

use serde_json::Value;

use super::http::{Answer, Connection, Request};
use super::kubelet::Line;
use super::store::Key;
use super::verbs::Call;
use super::{Shared, State, status};
use crate::clock;
use crate::controllers::fields::{name, uid};

/// What a request asks of a log.
struct Query {
    container: String,
    previous: bool,
    timestamps: bool,
    tail: Option<usize>,
    since: Option<i64>,
}

impl Query {
    fn new(request: &Request, pod: &Value) -> Self {
        let is_set = |name: &str| request.parameter(name).is_some_and(|value| value == "true");
        let first = pod.pointer("/spec/containers/0/name").and_then(Value::as_str).unwrap_or_default();
        let since = request.parameter("sinceTime").map(clock::seconds_since);
        Self {
            container: request.parameter("container").unwrap_or(first).to_owned(),
            previous: is_set("previous"),
            timestamps: is_set("timestamps"),
            tail: request.parameter("tailLines").and_then(|lines| lines.parse().ok()),
            since: since.or_else(|| request.parameter("sinceSeconds").and_then(|seconds| seconds.parse().ok())),
        }
    }

    fn written(&self, lines: &[Line]) -> String {
        let recent: Vec<&Line> = lines
            .iter()
            .filter(|line| self.since.is_none_or(|since| clock::seconds_since(&line.at) <= since))
            .collect();
        let skipped = self.tail.map_or(0, |tail| recent.len().saturating_sub(tail));
        let text = recent.into_iter().skip(skipped).map(|line| {
            if self.timestamps { format!("{} {}\n", line.at, line.text) } else { format!("{}\n", line.text) }
        });
        text.collect()
    }
}

/// The log of a container: what a test has set, else what the kubelet has.
pub(super) fn answer(state: &State, call: &Call<'_>) -> Result<Answer, Answer> {
    let pod = call.live(state)?;
    let query = Query::new(call.request, &pod);
    if let Some(text) = state.logs.get(&(call.target.name.clone(), query.container.clone())) {
        return Ok(Answer::text(200, text));
    }
    if !state.whole {
        return Ok(Answer::text(200, ""));
    }
    if call.request.parameter("container").is_none_or(str::is_empty) {
        names_one(&pod)?;
    }
    let (_, lines) = lines(state, &pod, &query)?;
    Ok(Answer::text(200, &query.written(lines)))
}

fn names_one(pod: &Value) -> Result<(), Answer> {
    let names = |list: &str| -> Vec<&str> {
        pod["spec"][list].as_array().into_iter().flatten().filter_map(|one| one["name"].as_str()).collect()
    };
    let (all, inits) = (names("containers"), names("initContainers"));
    if all.len() + inits.len() == 1 {
        return Ok(());
    }
    let mut message =
        format!("a container name must be specified for pod {}, choose one of: [{}]", name(pod), all.join(" "));
    if !inits.is_empty() {
        message.push_str(&format!(" or one of the init containers: [{}]", inits.join(" ")));
    }
    Err(status::bad_request(&message))
}

fn lines<'s>(state: &'s State, pod: &Value, query: &Query) -> Result<(u64, &'s [Line]), Answer> {
    let (container, pod_name) = (&query.container, name(pod));
    let is_its =
        |list: &str| pod["spec"][list].as_array().into_iter().flatten().any(|one| one["name"] == container.as_str());
    if !is_its("containers") && !is_its("initContainers") {
        return Err(status::bad_request(&format!("container {container} is not valid for pod {pod_name}")));
    }
    let found = state.kubelet.log(uid(pod), container, query.previous).filter(|(_, lines)| !lines.is_empty());
    found.ok_or_else(|| {
        if query.previous {
            let message = format!("previous terminated container \"{container}\" in pod \"{pod_name}\" not found");
            return status::bad_request(&message);
        }
        let lists = ["containerStatuses", "initContainerStatuses"].into_iter();
        let mut statuses = lists.flat_map(|list| pod["status"][list].as_array().into_iter().flatten());
        let of = statuses.find(|status| status["name"] == container.as_str());
        let reason = of.and_then(|status| status["state"]["waiting"]["reason"].as_str()).unwrap_or("PodInitializing");
        let why = match reason {
            "ErrImagePull" | "ImagePullBackOff" => "trying and failing to pull image",
            "InvalidImageName" => "invalid image name",
            other => other,
        };
        status::bad_request(&format!("container \"{container}\" in pod \"{pod_name}\" is waiting to start: {why}"))
    })
}

/// A log that is followed.
pub(super) struct Follow {
    key: Key,
    uid: String,
    query: Query,
}

impl Follow {
    /// Reads the request; the error is the answer of one that cannot be followed.
    pub(super) fn new(state: &State, call: &Call<'_>) -> Result<Self, Answer> {
        answer(state, call)?;
        let pod = call.live(state)?;
        Ok(Self { key: call.key(), uid: uid(&pod).to_owned(), query: Query::new(call.request, &pod) })
    }

    /// Sends the log until its container has another one, the pod is gone, the client goes away, or the server stops.
    pub(super) fn run(mut self, shared: &Shared, connection: &mut Connection) -> io::Result<()> {
        connection.start_text()?;
        let (mut start, mut sent) = (None, 0);
        loop {
            let state = shared.lock();
            let pod = state.store.get(&self.key).filter(|pod| uid(pod) == self.uid);
            let log = pod.and_then(|pod| lines(&state, pod, &self.query).ok());
            let Some((number, lines)) =
                log.filter(|(number, _)| !state.stopped && start.is_none_or(|start| start == *number))
            else {
                drop(state);
                return connection.end_chunks();
            };
            start = Some(number);
            let text = self.query.written(lines.get(sent..).unwrap_or_default());
            sent = lines.len();
            self.query.tail = None;
            if text.is_empty() {
                drop(shared.wait(state, Duration::from_secs(1)));
            } else {
                drop(state);
                connection.send_text(&text)?;
            }
        }
    }
}
