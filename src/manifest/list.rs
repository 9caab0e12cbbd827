//! Lists to the objects in them.

use serde_json::{Map, Value};

use engine::plan::outline::Outline;
use engine::value::api_schema::type_name;

use super::MAX_DEPTH;
use super::error::ManifestError;
use super::packed::{Item, Packer};
use super::place::Place;
use super::source::Source;

/// Takes the object, or those of the list that it is: a `kind` that ends in `List` with `items`. Items of such a list
/// as `PodList` may leave out their type, which then follows from the list's, as in `unstructured_list.go` of
/// apimachinery. Lists in lists are expanded too, which kubectl refuses.
///
/// `items` are the document's own, as JSON; those of a list in a list, or those that a merge gave, are still in the value.
pub(super) fn expand(
    value: Value,
    items: Vec<Item>,
    source: &Source,
    packer: &mut Packer,
) -> Result<(), ManifestError> {
    expand_at((value, None), items, (source, ""), 0, packer)
}

fn expand_at(
    (value, outline): (Value, Option<Outline>),
    packed: Vec<Item>,
    (source, item): (&Source, &str),
    depth: usize,
    packer: &mut Packer,
) -> Result<(), ManifestError> {
    let place = || Place { source: source.clone(), item: item.to_owned() };
    if depth > MAX_DEPTH {
        return Err(ManifestError::ListTooDeep { place: Box::new(place()) });
    }
    let Value::Object(mut fields) = value else {
        return Err(ManifestError::NotAnObject { place: Box::new(place()), found: type_name(&value) });
    };
    let Some(list) = ListType::of(&fields) else {
        // The items of what is no list: a field of a custom resource.
        if !packed.is_empty() {
            fields.insert("items".to_owned(), packed.into_iter().map(Item::into_part).collect());
        }
        return packer.take(Value::Object(fields), outline, place);
    };
    let items = match fields.swap_remove("items") {
        Some(Value::Array(items)) => items,
        Some(Value::Null) | None => Vec::new(),
        Some(other) => {
            return Err(ManifestError::WrongType {
                place: Box::new(place()),
                field: "items",
                found: type_name(&other),
                expected: "an array",
                hint: "",
            });
        }
    };
    drop(fields);
    let separator = if item.is_empty() { "" } else { "." };
    let items = items.into_iter().map(|item| (item, None));
    for (index, (mut value, outline)) in packed.into_iter().map(Item::unpacked).chain(items).enumerate() {
        list.complete(&mut value);
        let place = format!("{item}{separator}items[{index}]");
        expand_at((value, outline), Vec::new(), (source, &place), depth + 1, packer)?;
    }
    Ok(())
}

/// What a list says of its items.
struct ListType {
    /// `apiVersion` and `kind` of items that have none; not for the kind `List`, which is of anything.
    of_items: Option<(Value, Value)>,
}

impl ListType {
    fn of(fields: &Map<String, Value>) -> Option<Self> {
        let kind = fields.get("kind")?.as_str()?;
        let of_item = kind.strip_suffix("List")?;
        let version = fields.get("apiVersion").filter(|version| version.is_string());
        if of_item.is_empty() {
            return Some(Self { of_items: None });
        }
        // A kind of its own may end so too, as `IPAllowList`; then it is an object.
        matches!(fields.get("items")?, Value::Array(_) | Value::Null)
            .then(|| Self { of_items: version.map(|version| (version.clone(), Value::from(of_item))) })
    }

    fn complete(&self, item: &mut Value) {
        let (Some((version, kind)), Value::Object(fields)) = (&self.of_items, item) else { return };
        if !fields.contains_key("kind") && !fields.contains_key("apiVersion") {
            fields.insert("apiVersion".to_owned(), version.clone());
            fields.insert("kind".to_owned(), kind.clone());
        }
    }
}
