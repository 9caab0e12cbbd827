//! From a connection to an answer: the log of requests, the faults, the work.

use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, PoisonError};
use std::time::Duration;

use super::faults::{self, Effect};
use super::http::{Answer, Connection, Request};
use super::logs::Follow;
use super::resource::Target;
use super::state::Logged;
use super::verbs::{self, Call};
use super::watch::Watch;
use super::{Shared, controllers, discovery, kubelet, status};
use crate::{clock, tls};

/// Accepts connections until the server stops.
pub(super) fn accept(shared: &Arc<Shared>, listener: &TcpListener) {
    let mut number = 0_u64;
    for stream in listener.incoming() {
        if shared.lock().stopped {
            return;
        }
        let Ok(stream) = stream else { continue };
        let Ok(twin) = stream.try_clone() else { continue };
        let mut connections = shared.connections.lock().unwrap_or_else(PoisonError::into_inner);
        number += 1;
        connections.insert(number, twin);
        drop(connections);
        let shared = Arc::clone(shared);
        std::thread::spawn(move || {
            converse(&shared, stream);
            shared.connections.lock().unwrap_or_else(PoisonError::into_inner).remove(&number);
        });
    }
}

/// Runs the kubelet's steps and the controllers when they are due.
pub(super) fn run_cluster(shared: &Shared) {
    let mut state = shared.lock();
    while !state.stopped {
        let worked = kubelet::run_due(&mut state, clock::now()) | controllers::run_due(&mut state, clock::now());
        if worked {
            // What was written may be something to do for the others.
            shared.changed.notify_all();
            // Steps may be due faster than a busy machine takes them: requests have their turn between.
            state = shared.wait(state, Duration::from_millis(1));
            continue;
        }
        let due = [state.kubelet.next_due(), state.controllers.next_due()].into_iter().flatten().min();
        let rest = due.map_or(Duration::from_secs(1), |due| due.saturating_duration_since(clock::now()));
        state = shared.wait(state, rest.max(Duration::from_millis(1)));
    }
}

/// What becomes of a request.
enum Reply {
    Answer(Answer),
    Watch(Watch),
    Follow(Follow),
    None,
    Close,
}

/// Serves one connection. An I/O error means that the client has gone, which is its right.
fn converse(shared: &Shared, stream: TcpStream) {
    drop(stream.set_nodelay(true));
    let twin = stream.try_clone();
    let Ok(accepted) = tls::accept(stream) else { return };
    let mut connection = Connection::new(accepted.stream);
    while let Ok(Some(request)) = connection.read_request() {
        let going_on = match reply(shared, &request) {
            Reply::Answer(answer) => {
                let date = clock::http_date(shared.lock().seconds_ahead);
                connection.send(&answer.with_header("Date", &date)).is_ok()
            }
            Reply::Watch(watch) => watch.run(shared, &mut connection).is_ok(),
            Reply::Follow(follow) => follow.run(shared, &mut connection).is_ok(),
            Reply::None => true,
            Reply::Close => false,
        };
        if !going_on || request.header("connection").is_some_and(|value| value.eq_ignore_ascii_case("close")) {
            break;
        }
    }
    // The list of connections holds another handle, so that dropping ours would not close the socket.
    if let Ok(twin) = twin {
        drop(twin.shutdown(std::net::Shutdown::Both));
    }
}

fn reply(shared: &Shared, request: &Request) -> Reply {
    let mut state = shared.lock();
    if !state.whole {
        state.requests.push(Logged::new(request));
    }
    if let Some(answer) = discovery::answer(&state, request) {
        return Reply::Answer(answer);
    }
    let is_there = |target: &Target| state.has_kruise || target.resource.group != "apps.kruise.io";
    let Some(target) = Target::parse(&request.path).filter(is_there) else {
        let served = request.path.starts_with("/api/v1/") || request.path.starts_with("/apis/apps/v1/");
        let message = "the server could not find the requested resource";
        return Reply::Answer(if served {
            status::failure(404, "NotFound", message, serde_json::json!({}))
        } else {
            Answer::text(404, "404 page not found\n")
        });
    };
    let verb = Call::verb_of(request, &target);
    let effects = state.faults.due(verb, &target, request.is_dry_run());
    drop(state);
    let mut headers = Vec::new();
    for effect in &effects {
        match effect {
            Effect::Delay(delay) => clock::sleep(*delay),
            Effect::First(work) => work(&mut shared.lock()),
            Effect::Warn(text) => headers.push(("Warning".to_owned(), format!("299 - \"{}\"", escape(text)))),
            Effect::NoAnswer => return Reply::None,
            Effect::CloseBefore => return Reply::Close,
            Effect::Forbid
            | Effect::Throttle(_)
            | Effect::Unavailable
            | Effect::TimeOutAfterwards
            | Effect::LateAnswer(_)
            | Effect::CloseAfterwards
            | Effect::Deny { .. }
            | Effect::CutWatch(_)
            | Effect::Expire
            | Effect::Answer(_) => {}
        }
    }
    shared.changed.notify_all();
    if let Some(mut answer) = effects.iter().find_map(|effect| faults::answer_instead(effect, verb, &target)) {
        answer.headers.extend(headers);
        return Reply::Answer(answer);
    }
    let reply = carry_out(shared, &Call { verb, target, request }, &effects, headers);
    for effect in &effects {
        if let Effect::LateAnswer(delay) = effect {
            clock::sleep(*delay);
        }
    }
    reply
}

/// Does the work, or opens the watch, with the effects that come afterwards.
fn carry_out(shared: &Shared, call: &Call<'_>, effects: &[Effect], headers: Vec<(String, String)>) -> Reply {
    if call.verb == "watch" {
        let mut watch = match call.selector() {
            Ok(selector) => Watch::new(call.request, &call.target, selector, headers),
            Err(answer) => return Reply::Answer(answer),
        };
        for effect in effects {
            if let Effect::CutWatch(events) = effect {
                watch.cut_after(*events);
            } else if matches!(effect, Effect::Expire) {
                watch.expire();
            }
        }
        return Reply::Watch(watch);
    }
    let follows = call.request.parameter("follow").is_some_and(|value| value == "true");
    if call.target.subresource == "log" && follows {
        return Follow::new(&shared.lock(), call).map_or_else(Reply::Answer, Reply::Follow);
    }
    let mut answer = verbs::execute(&mut shared.lock(), call).unwrap_or_else(|refusal| refusal);
    shared.changed.notify_all();
    if effects.iter().any(|effect| matches!(effect, Effect::CloseAfterwards)) {
        return Reply::Close;
    }
    if effects.iter().any(|effect| matches!(effect, Effect::TimeOutAfterwards)) {
        answer = faults::timed_out();
    }
    answer.headers.extend(headers);
    Reply::Answer(answer)
}

/// Escapes the text of a warning as a quoted string (RFC 7230).
fn escape(text: &str) -> String {
    text.replace('\\', "\\\\").replace('"', "\\\"")
}
