//! Puts images from the command line into a pod spec, as the patch of a template or pod would.

use serde_json::Value;

use crate::change::asked_resources::{each_container, missing};
use crate::change::reason::Reason;
use crate::change::target::Images;

/// Sets the images, cpu and memory of a pod spec, raw as the API has it, and leaves everything else unchanged.
/// Returns every name that no container has ([`Reason::ContainerNotFound`]), and every image whose repository was to be kept
/// though the present one is no reference ([`Reason::ImageMalformed`]). All other images are replaced all the same.
pub fn put(spec: &mut Value, images: &Images) -> Result<(), Vec<Reason>> {
    let mut reasons = images.resources.put(spec).err().unwrap_or_default();
    let known = each_container(spec, |list, name, container| {
        let Some(argument) = images.of(list, name) else { return };
        let present = container.get("image").and_then(Value::as_str).unwrap_or_default();
        match (argument.resolve(present), container.as_object_mut()) {
            (Ok(image), Some(container)) => drop(container.insert("image".into(), image.into())),
            (Ok(_), None) => {}
            (Err(error), _) => reasons.push(Reason::ImageMalformed {
                container: name.clone(),
                list,
                image: argument.to_string(),
                why: error.to_string(),
            }),
        }
    });
    reasons.extend(missing(images.by_container.keys(), &known));
    if reasons.is_empty() { Ok(()) } else { Err(reasons) }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::change::target;

    fn images(words: &[&str]) -> Images {
        let words: Vec<String> = words.iter().map(|word| (*word).to_owned()).collect();
        target::parse(&words, &[], target::Unnamed::None, true).unwrap().images
    }

    fn spec() -> Value {
        json!({"containers": [{"name": "app", "image": "app:1", "env": []}, {"name": "odd", "image": " "}],
            "initContainers": [{"name": "init", "image": "init:1"}]})
    }

    #[test]
    fn images_are_replaced_where_they_were_meant() {
        let mut changed = spec();
        put(&mut changed, &images(&["app=:2", "init=acme/init:3"])).unwrap();
        assert_eq!(changed.pointer("/containers/0"), Some(&json!({"name": "app", "image": "app:2", "env": []})));
        assert_eq!(changed.pointer("/initContainers/0/image"), Some(&json!("acme/init:3")));
        let mut changed = spec();
        put(&mut changed, &images(&["*=all:1", "app=:2"])).unwrap();
        let images = ["/containers/0/image", "/containers/1/image", "/initContainers/0/image"];
        assert_eq!(
            images.map(|at| changed.pointer(at).cloned().unwrap()),
            [json!("app:2"), json!("all:1"), json!("init:1")]
        );
    }

    #[test]
    fn everything_that_is_wrong_is_reported_at_once() {
        let reasons = put(&mut spec(), &images(&["apq=a:1", "odd=:2"])).unwrap_err();
        assert_eq!(reasons.iter().map(Reason::code).collect::<Vec<_>>(), ["ImageMalformed", "ContainerNotFound"]);
        assert!(
            matches!(&reasons[1], Reason::ContainerNotFound { suggestion: Some(name), .. } if name.as_str() == "app")
        );
        for spec in [Value::Null, json!([]), json!({"containers": {"name": "app"}}), json!({"containers": [1, null]})] {
            assert!(put(&mut spec.clone(), &images(&["app=a:1", "*=b:1"])).is_err(), "{spec}");
        }
    }
}
