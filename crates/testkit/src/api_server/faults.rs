//! What may go wrong, switched on per test: a [`When`] that says which requests, and an [`Effect`] that says what.

use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value, json};

use super::http::Answer;
use super::resource::{Resource, Target};
use super::{State, status};

/// Which requests an effect applies to; a field that is not set matches anything.
#[derive(Debug, Clone, Default)]
pub struct When {
    verb: Option<String>,
    resource: Option<String>,
    namespace: Option<String>,
    name: Option<String>,
    dry_run: Option<bool>,
    skip: usize,
    times: Option<usize>,
}

impl When {
    /// Requests of one verb: `get`, `list`, `watch`, `create`, `patch`, `delete`.
    pub fn verb(verb: &str) -> Self {
        Self { verb: Some(verb.to_owned()), ..Self::default() }
    }

    /// Only of this resource: `pods`, `pods/status`, `deployments`.
    pub fn of(mut self, resource: &str) -> Self {
        self.resource = Some(resource.to_owned());
        self
    }

    /// Only of the object of this name.
    pub fn named(mut self, name: &str) -> Self {
        self.name = Some(name.to_owned());
        self
    }

    /// Only in this namespace.
    pub fn in_namespace(mut self, namespace: &str) -> Self {
        self.namespace = Some(namespace.to_owned());
        self
    }

    /// Only requests that change something: no dry runs.
    pub fn for_real(mut self) -> Self {
        self.dry_run = Some(false);
        self
    }

    /// Only dry runs.
    pub fn dry_run(mut self) -> Self {
        self.dry_run = Some(true);
        self
    }

    /// Lets the first `count` matching requests pass.
    pub fn after(mut self, count: usize) -> Self {
        self.skip = count;
        self
    }

    /// Applies `count` times, then never again.
    pub fn times(mut self, count: usize) -> Self {
        self.times = Some(count);
        self
    }

    fn covers(&self, verb: &str, target: &Target, dry_run: bool) -> bool {
        let is = |wanted: &Option<String>, found: &str| wanted.as_deref().is_none_or(|wanted| wanted == found);
        is(&self.verb, verb)
            && is(&self.resource, &target.resource_name())
            && is(&self.namespace, &target.namespace)
            && is(&self.name, &target.name)
            && self.dry_run.is_none_or(|wanted| wanted == dry_run)
    }

    /// Counts a request that matches; returns whether the effect is due.
    fn strikes(&mut self, verb: &str, target: &Target, dry_run: bool) -> bool {
        if !self.covers(verb, target, dry_run) || self.times == Some(0) {
            return false;
        }
        if self.skip > 0 {
            self.skip -= 1;
            return false;
        }
        self.times = self.times.map(|left| left - 1);
        true
    }
}

/// What happens to a request.
#[derive(Clone)]
pub enum Effect {
    /// 403 of the authorizer; `SelfSubjectAccessReview` says the same.
    Forbid,
    /// 429, with `Retry-After` in seconds or without.
    Throttle(Option<u32>),
    /// 503.
    Unavailable,
    /// 504, after the request was carried out.
    TimeOutAfterwards,
    /// Nothing is done, and no answer comes: the client waits for it until it is killed.
    NoAnswer,
    /// The connection is closed without an answer; nothing was done.
    CloseBefore,
    /// The connection is closed without an answer; the request was carried out.
    CloseAfterwards,
    /// The request is late, and so is its answer.
    Delay(Duration),
    /// The answer alone is late.
    LateAnswer(Duration),
    /// An admission webhook denies: its name, its message, its code (400 if it gave none).
    Deny { webhook: String, message: String, code: u16 },
    /// A `Warning:` header is added.
    Warn(String),
    /// Somebody else writes first.
    First(Arc<dyn Fn(&mut State) + Send + Sync>),
    /// A watch is closed in the middle of its stream after this many events.
    CutWatch(usize),
    /// A watch answers that its resourceVersion is too old.
    Expire,
    /// Any other answer.
    Answer(Answer),
}

impl Effect {
    /// Sets the image of a container first, as another writer would.
    pub fn foreign_image(pod: &str, container: &str, image: &str) -> Self {
        let (pod, container, image) = (pod.to_owned(), container.to_owned(), image.to_owned());
        Self::First(Arc::new(move |state| {
            let (container, image) = (container.clone(), image.clone());
            state.edit("pods", &pod, "somebody-else", |object| {
                for list in ["containers", "initContainers"] {
                    let containers = object["spec"].get_mut(list).and_then(Value::as_array_mut);
                    for one in containers.into_iter().flatten() {
                        if one["name"] == container.as_str() {
                            one["image"] = image.as_str().into();
                        }
                    }
                }
            });
        }))
    }

    /// Deletes an object first, at once and without grace.
    pub fn delete_first(resource: &str, name: &str) -> Self {
        let (resource, name) = (resource.to_owned(), name.to_owned());
        Self::First(Arc::new(move |state| {
            state.delete(&resource, &name);
        }))
    }
}

/// The effects that are switched on.
#[derive(Default)]
pub struct Faults {
    rules: Vec<(When, Effect)>,
}

impl Faults {
    /// Switches an effect on.
    pub fn add(&mut self, when: When, effect: Effect) {
        self.rules.push((when, effect));
    }

    /// Switches everything off.
    pub fn clear(&mut self) {
        self.rules.clear();
    }

    /// Returns the effects due for a request, and counts them.
    pub fn due(&mut self, verb: &str, target: &Target, dry_run: bool) -> Vec<Effect> {
        let rules = self.rules.iter_mut();
        rules.filter_map(|(when, effect)| when.strikes(verb, target, dry_run).then(|| effect.clone())).collect()
    }

    /// Tells whether the authorizer allows a request now, without counting it: what it will refuse only later, it allows.
    pub fn allows(&self, verb: &str, target: &Target) -> bool {
        !self.rules.iter().any(|(when, effect)| {
            matches!(effect, Effect::Forbid)
                && when.times != Some(0)
                && when.skip == 0
                && when.covers(verb, target, false)
        })
    }
}

/// The user that the fake takes everybody for.
pub const USER: &str = "jane";

/// 403 of the authorizer, word for word.
pub(crate) fn forbidden(verb: &str, target: &Target) -> Answer {
    let resource: &Resource = target.resource;
    let object = if target.name.is_empty() { String::new() } else { format!(" \"{}\"", target.name) };
    let scope = if target.namespace.is_empty() {
        "at the cluster scope".to_owned()
    } else {
        format!("in the namespace \"{}\"", target.namespace)
    };
    let message = format!(
        "{}{object} is forbidden: User \"{USER}\" cannot {verb} resource \"{}\" in API group \"{}\" {scope}",
        resource.qualified(),
        target.resource_name(),
        resource.group
    );
    status::failure(403, "Forbidden", &message, status::details(resource, resource.plural, &target.name))
}

/// Returns the answer that an effect gives in place of the work; `None` if the work is to be done.
pub(crate) fn answer_instead(effect: &Effect, verb: &str, target: &Target) -> Option<Answer> {
    match effect {
        Effect::Forbid => Some(forbidden(verb, target)),
        Effect::Throttle(after) => {
            let details = after.map_or_else(|| json!({}), |seconds| json!({"retryAfterSeconds": seconds}));
            let message = "the server has received too many requests and has asked us to try again later";
            let answer = status::failure(429, "TooManyRequests", message, details);
            Some(match after {
                Some(seconds) => answer.with_header("Retry-After", &seconds.to_string()),
                None => answer,
            })
        }
        Effect::Unavailable => {
            let message = "the server is currently unable to handle the request";
            Some(status::failure(503, "ServiceUnavailable", message, Value::Null))
        }
        Effect::Deny { webhook, message, code } => {
            let reason = if *code == 403 { "Forbidden" } else { "BadRequest" };
            let message = format!("admission webhook \"{webhook}\" denied the request: {message}");
            Some(status::failure(*code, reason, &message, Value::Null))
        }
        Effect::Expire if verb == "watch" => None,
        Effect::Expire => Some(status::expired("The provided continue parameter is too old")),
        Effect::Answer(answer) => Some(answer.clone()),
        Effect::TimeOutAfterwards
        | Effect::LateAnswer(_)
        | Effect::NoAnswer
        | Effect::CloseBefore
        | Effect::CloseAfterwards
        | Effect::Delay(_)
        | Effect::Warn(_)
        | Effect::First(_)
        | Effect::CutWatch(_) => None,
    }
}

/// Replaces the answer of work that was done.
pub(crate) fn timed_out() -> Answer {
    let message = "Timeout: request did not complete within the allotted timeout";
    status::failure(504, "Timeout", message, json!({}))
}
