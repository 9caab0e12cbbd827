//! Leaves defaults out of two objects at once, so that what is left is what the user wrote.
//!
//! Promise: filling in the defaults again gives the same two objects, and no difference between the two is lost: a
//! field goes only where both have its default, or one has it and the other has nothing in its place.
//!
//! Not done here: what admission adds, and whatever the server sets by itself.

use serde_json::{Map, Value};

use super::Defaults;
use super::table::{Constant, Rule, Type};
use crate::value::image::ImageReference;

impl Defaults {
    /// Leaves out the defaults that two states of one object share. Both must have been filled in by [`Defaults::fill`].
    pub fn leave_out(self, before: &mut Value, after: &mut Value) {
        values(Some(before), Some(after), self.0);
    }
}

fn values(before: Option<&mut Value>, after: Option<&mut Value>, of: &Type) {
    match (before, after) {
        (Some(Value::Array(before)), Some(Value::Array(after))) => pairs(before, after, of),
        (Some(Value::Array(list)), _) | (_, Some(Value::Array(list))) => {
            list.iter_mut().for_each(|element| values(Some(element), None, of));
        }
        (before, after) => {
            let (before, after) = (before.and_then(Value::as_object_mut), after.and_then(Value::as_object_mut));
            maps(&mut Sides { before, after }, of);
        }
    }
}

/// Elements of one name belong together; without names, those of one place.
fn pairs(before: &mut [Value], after: &mut [Value], of: &Type) {
    let name = |value: &Value| value.get("name").and_then(Value::as_str).map(str::to_owned);
    let partner = |index: usize, element: &Value, others: &[Value]| match name(element) {
        Some(wanted) => others.iter().position(|other| name(other).as_deref() == Some(&wanted)),
        None => (index < others.len()).then_some(index),
    };
    let mut met = vec![false; after.len()];
    for (index, element) in before.iter_mut().enumerate() {
        let found = partner(index, element, after).filter(|found| met.get(*found) == Some(&false));
        if let Some(flag) = found.and_then(|found| met.get_mut(found)) {
            *flag = true;
        }
        values(Some(element), found.and_then(|found| after.get_mut(found)), of);
    }
    for (element, _) in after.iter_mut().zip(met).filter(|(_, met)| !met) {
        values(None, Some(element), of);
    }
}

/// One map before and after, where there is one.
struct Sides<'m> {
    before: Option<&'m mut Map<String, Value>>,
    after: Option<&'m mut Map<String, Value>>,
}

impl Sides<'_> {
    fn descend(&mut self, name: &str, of: &Type) {
        let before = self.before.as_deref_mut().and_then(|map| map.get_mut(name));
        let after = self.after.as_deref_mut().and_then(|map| map.get_mut(name));
        values(before, after, of);
    }

    /// Takes a field out of both, unless that would hide a difference.
    fn take_out(&mut self, name: &str, is_default: impl Fn(&Value, &Map<String, Value>) -> bool) {
        let of = |side: Option<&Map<String, Value>>| {
            side.and_then(|map| map.get(name).map(|value| (value.clone(), is_default(value, map))))
        };
        let removable = match (of(self.before.as_deref()), of(self.after.as_deref())) {
            (None, None) => false,
            (Some((_, default)), None) | (None, Some((_, default))) => default,
            (Some((before, is)), Some((after, was))) => is && was && before == after,
        };
        if removable {
            for map in [self.before.as_deref_mut(), self.after.as_deref_mut()].into_iter().flatten() {
                map.shift_remove(name);
            }
        }
    }
}

fn maps(sides: &mut Sides<'_>, of: &Type) {
    for (name, of) in of.fields {
        sides.descend(name, of);
    }
    for rule in of.rules {
        match *rule {
            Rule::PullPolicy { policy, image } => sides.take_out(policy, |value, map| {
                let image = map.get(image).and_then(Value::as_str).unwrap_or_default();
                let latest = ImageReference::parse(image).is_ok_and(|image| image.has_latest_tag());
                value == if latest { "Always" } else { "IfNotPresent" }
            }),
            Rule::RollingUpdate | Rule::RollingUpdateUnlessNamed => sides.take_out("rollingUpdate", |value, map| {
                let empty = value.as_object().is_some_and(Map::is_empty);
                empty && map.get("type").is_none_or(|name| name == "RollingUpdate")
            }),
            Rule::ServiceAccount => {
                sides.take_out("serviceAccount", |value, map| map.get("serviceAccountName") == Some(value));
            }
            Rule::PodOnly => sides.descend("spec", &SERVICE_LINKS),
            // These add nothing that the user did not mean.
            Rule::EmptyVolume | Rule::Quantities(_) | Rule::Quantity(_) => {}
        }
    }
    for (name, default) in of.defaults {
        sides.take_out(name, |value, _| match default {
            Constant::Text(text) => value == text,
            Constant::Integer(number) => value == number,
            Constant::Boolean(truth) => value == truth,
            Constant::Map => value.as_object().is_some_and(Map::is_empty),
        });
    }
}

/// What [`Rule::PodOnly`] adds to every pod's spec.
static SERVICE_LINKS: Type =
    Type { omitted: &[], rules: &[], defaults: &[("enableServiceLinks", Constant::Boolean(true))], fields: &[] };

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn deployment(spec: &Value) -> Value {
        json!({"metadata": {"name": "web"}, "spec": spec})
    }

    /// Fills in both, leaves the defaults out again, and checks the promise.
    fn left(of: Defaults, before: &Value, after: &Value) -> (Value, Value) {
        let (filled_before, filled_after) = (of.fill(before), of.fill(after));
        let (mut before, mut after) = (filled_before.clone(), filled_after.clone());
        of.leave_out(&mut before, &mut after);
        assert_eq!(filled_before == filled_after, before == after);
        assert_eq!(of.fill(&before), filled_before);
        assert_eq!(of.fill(&after), filled_after);
        (before, after)
    }

    #[test]
    fn what_is_left_is_what_was_written() {
        let written = deployment(&json!({
            "selector": {"matchLabels": {"app": "web"}},
            "template": {"metadata": {"labels": {"app": "web"}}, "spec": {
                "containers": [{"name": "app", "image": "app", "ports": [{"containerPort": 80}],
                    "readinessProbe": {"httpGet": {"port": 80}}}],
                "volumes": [{"name": "v", "emptyDir": {}}, {"name": "c", "configMap": {"name": "x"}}],
                "serviceAccountName": "me"}}}));
        assert_eq!(left(Defaults::DEPLOYMENT, &written, &written), (written.clone(), written));
        let pod = json!({"metadata": {"name": "p"}, "spec": {"containers": [{"name": "a", "image": "a:1"}]}});
        assert_eq!(left(Defaults::POD, &pod, &pod), (pod.clone(), pod));
    }

    #[test]
    fn a_default_that_was_or_becomes_another_value_is_shown_on_both_sides() {
        let container = |policy: Option<&str>, image: &str| {
            let mut container = json!({"name": "a", "image": image});
            if let Some(policy) = policy {
                container["imagePullPolicy"] = policy.into();
            }
            json!({"spec": {"containers": [container]}})
        };
        let policies = |before: &Value, after: &Value| {
            let (before, after) = left(Defaults::POD, before, after);
            [before, after].map(|pod| pod["spec"]["containers"][0]["imagePullPolicy"].clone())
        };
        let (always, present) = (json!("Always"), json!("IfNotPresent"));
        assert_eq!(policies(&container(None, "a:1"), &container(None, "a:2")), [Value::Null, Value::Null]);
        assert_eq!(
            policies(&container(None, "a:1"), &container(Some("Always"), "a:1")),
            [present.clone(), always.clone()]
        );
        // Each is the default of its image, and yet they differ.
        assert_eq!(policies(&container(None, "a"), &container(None, "a:1")), [always, present]);

        let (before, after) = left(Defaults::DEPLOYMENT, &deployment(&json!({"replicas": 3})), &deployment(&json!({})));
        assert_eq!((&before["spec"]["replicas"], &after["spec"]["replicas"]), (&json!(3), &json!(1)));
    }

    #[test]
    fn a_strategy_that_goes_takes_its_defaults_along() {
        let rolling = deployment(&json!({"strategy": {"rollingUpdate": {"maxSurge": "25%"}}}));
        let (before, after) =
            left(Defaults::DEPLOYMENT, &rolling, &deployment(&json!({"strategy": {"type": "Recreate"}})));
        assert_eq!(before["spec"]["strategy"], json!({"type": "RollingUpdate"}));
        assert_eq!(after["spec"]["strategy"], json!({"type": "Recreate"}));
    }

    #[test]
    fn an_added_container_comes_without_defaults() {
        let one = json!({"spec": {"containers": [{"name": "a", "image": "a:1"}]}});
        let two = json!({"spec": {"containers": [{"name": "b", "image": "b:1"}, {"name": "a", "image": "a:1"}]}});
        assert_eq!(left(Defaults::POD, &one, &two), (one.clone(), two.clone()));
        assert_eq!(left(Defaults::POD, &two, &one), (two, one));
    }
}
