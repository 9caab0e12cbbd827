//! Bodies in protobuf, which the typed clients of kubectl send (`kubectl create deployment`, `drain`, `auth can-i`).
//!
//! Only the messages that kubectl builds itself: whatever else it sends is JSON. A field that is not in the table and has a
//! value makes the body unreadable, so that nothing is lost in silence.

use serde_json::{Map, Value, json};

use super::base64;

/// Message, then NUMBER:NAME:TYPE of each field (`generated.proto`). Types: `s` text, `i` number, `b` true or false, another
/// message; a capital letter where the default is a value of its own; `*` a list; `%` a map (`%s` text, `%y` bytes, `%q`
/// quantities).
const MESSAGES: &str = "
Namespace 1:metadata:ObjectMeta
ConfigMap 1:metadata:ObjectMeta 2:data:%s 3:binaryData:%y 4:immutable:B
Secret 1:metadata:ObjectMeta 2:data:%y 3:type:s 4:stringData:%s 5:immutable:B
ServiceAccount 1:metadata:ObjectMeta
Service 1:metadata:ObjectMeta 2:spec:ServiceSpec
ServiceSpec 1:ports:*ServicePort 2:selector:%s 3:clusterIP:s 4:type:s 5:externalIPs:*s 7:sessionAffinity:s 10:externalName:s
ServicePort 1:name:s 2:protocol:s 3:port:i 4:targetPort:IntOrString 5:nodePort:i
Deployment 1:metadata:ObjectMeta 2:spec:DeploymentSpec
DeploymentSpec 1:replicas:I 2:selector:LabelSelector 3:template:PodTemplateSpec 5:minReadySeconds:i 7:paused:b
PodTemplateSpec 1:metadata:ObjectMeta 2:spec:PodSpec
PodSpec 2:containers:*Container 3:restartPolicy:s 6:dnsPolicy:s 8:serviceAccountName:s
Container 1:name:s 2:image:s 3:command:*s 4:args:*s 6:ports:*ContainerPort 7:env:*EnvVar 8:resources:ResourceRequirements
ContainerPort 1:name:s 2:hostPort:i 3:containerPort:i 4:protocol:s
EnvVar 1:name:s 2:value:s
ResourceRequirements 1:limits:%q 2:requests:%q
PodDisruptionBudget 1:metadata:ObjectMeta 2:spec:PodDisruptionBudgetSpec
PodDisruptionBudgetSpec 1:minAvailable:IntOrString 2:selector:LabelSelector 3:maxUnavailable:IntOrString
ObjectMeta 1:name:s 2:generateName:s 3:namespace:s 5:uid:s 6:resourceVersion:s 11:labels:%s 12:annotations:%s 14:finalizers:*s
LabelSelector 1:matchLabels:%s 2:matchExpressions:*LabelSelectorRequirement
LabelSelectorRequirement 1:key:s 2:operator:s 3:values:*s
Eviction 1:metadata:ObjectMeta 2:deleteOptions:DeleteOptions
DeleteOptions 1:gracePeriodSeconds:I 2:preconditions:Preconditions 4:propagationPolicy:s 5:dryRun:*s
Preconditions 1:uid:s 2:resourceVersion:s
SelfSubjectReview 1:metadata:ObjectMeta
SelfSubjectAccessReview 1:metadata:ObjectMeta 2:spec:SelfSubjectAccessReviewSpec
SelfSubjectAccessReviewSpec 1:resourceAttributes:ResourceAttributes 2:nonResourceAttributes:NonResourceAttributes
ResourceAttributes 1:namespace:s 2:verb:s 3:group:s 4:version:s 5:resource:s 6:subresource:s 7:name:s
NonResourceAttributes 1:path:s 2:verb:s
SelfSubjectRulesReview 1:metadata:ObjectMeta 2:spec:SelfSubjectRulesReviewSpec
SelfSubjectRulesReviewSpec 1:namespace:s
IntOrString 1:type:i 2:intVal:I 3:strVal:s
Unknown 1:typeMeta:TypeMeta 2:raw:y 3:contentEncoding:s 4:contentType:s
TypeMeta 1:apiVersion:s 2:kind:s
";

/// What every body begins with.
const MAGIC: &[u8] = b"k8s\0";

/// Reads a body; `None` if it has a message or a field that is not known here.
pub(super) fn decode(body: &[u8]) -> Option<Value> {
    let mut raw: &[u8] = &[];
    let mut kind = Value::Null;
    for field in fields(body.strip_prefix(MAGIC)?)? {
        match field {
            (1, Wire::Bytes(bytes)) => kind = message("TypeMeta", bytes)?,
            (2, Wire::Bytes(bytes)) => raw = bytes,
            _ => {}
        }
    }
    let mut object = message(kind["kind"].as_str()?, raw)?;
    object["apiVersion"] = kind["apiVersion"].clone();
    object["kind"] = kind["kind"].clone();
    Some(object)
}

/// A value as it is sent.
#[derive(Clone, Copy)]
enum Wire<'b> {
    Number(u64),
    Bytes(&'b [u8]),
}

fn varint(bytes: &mut &[u8]) -> Option<u64> {
    let mut number = 0;
    for shift in (0..64).step_by(7) {
        let (byte, rest) = bytes.split_first()?;
        *bytes = rest;
        number |= u64::from(byte & 0x7f) << shift;
        if byte & 0x80 == 0 {
            return Some(number);
        }
    }
    None
}

fn fields(mut bytes: &[u8]) -> Option<Vec<(u64, Wire<'_>)>> {
    let mut fields = Vec::new();
    while !bytes.is_empty() {
        let tag = varint(&mut bytes)?;
        let value = match tag & 7 {
            0 => Wire::Number(varint(&mut bytes)?),
            2 => {
                let length = usize::try_from(varint(&mut bytes)?).ok()?;
                let (value, rest) = bytes.split_at_checked(length)?;
                bytes = rest;
                Wire::Bytes(value)
            }
            _ => return None,
        };
        fields.push((tag >> 3, value));
    }
    Some(fields)
}

fn is_empty(value: &Value) -> bool {
    value == &json!("") || value.as_object().is_some_and(Map::is_empty)
}

fn message(name: &str, bytes: &[u8]) -> Option<Value> {
    let line = MESSAGES.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(' '))?;
    let known: Vec<(u64, &str, &str)> = line
        .split(' ')
        .filter_map(|field| {
            let mut words = field.split(':');
            Some((words.next()?.parse().ok()?, words.next()?, words.next()?))
        })
        .collect();
    let mut object = Map::new();
    for (number, wire) in fields(bytes)? {
        let Some((_, field, kind)) = known.iter().find(|(known, _, _)| *known == number) else {
            // What is not set is sent all the same: as nothing, as 0, or as messages of these alone.
            if is_default(wire) {
                continue;
            }
            return None;
        };
        if let Some(kind) = kind.strip_prefix('*') {
            let value = single(kind, wire)?;
            let list = object.entry(*field).or_insert_with(|| json!([]));
            list.as_array_mut()?.push(value);
        } else if let Some(kind) = kind.strip_prefix('%') {
            let (key, value) = entry(kind, wire)?;
            object.entry(*field).or_insert_with(|| json!({})).as_object_mut()?.insert(key, value);
        } else {
            let value = single(kind, wire)?;
            let is_default =
                is_empty(&value) || *kind == "i" && value == json!(0) || *kind == "b" && value == json!(false);
            if !is_default {
                object.insert((*field).to_owned(), value);
            }
        }
    }
    if name != "IntOrString" {
        return Some(Value::Object(object));
    }
    let text = object.get("strVal").filter(|_| object.contains_key("type"));
    text.or_else(|| object.get("intVal")).cloned()
}

fn is_default(wire: Wire<'_>) -> bool {
    match wire {
        Wire::Number(number) => number == 0,
        Wire::Bytes(bytes) => fields(bytes).is_some_and(|all| all.iter().all(|(_, wire)| is_default(*wire))),
    }
}

/// A value that stands alone, or as one of a list.
fn single(kind: &str, wire: Wire<'_>) -> Option<Value> {
    match (kind, wire) {
        ("s", Wire::Bytes(bytes)) => Some(json!(std::str::from_utf8(bytes).ok()?)),
        ("y", Wire::Bytes(bytes)) => Some(json!(base64::encode(bytes))),
        ("i" | "I", Wire::Number(number)) => Some(json!(number.cast_signed())),
        ("b" | "B", Wire::Number(number)) => Some(json!(number != 0)),
        // A quantity is a message of its text.
        ("q", Wire::Bytes(bytes)) => single("s", fields(bytes)?.first()?.1),
        (name, Wire::Bytes(bytes)) => message(name, bytes),
        (_, Wire::Number(_)) => None,
    }
}

/// An entry of a map: key and value are the fields 1 and 2.
fn entry(kind: &str, wire: Wire<'_>) -> Option<(String, Value)> {
    let Wire::Bytes(bytes) = wire else { return None };
    let (mut key, mut value) = (String::new(), json!(""));
    for (number, wire) in fields(bytes)? {
        match number {
            1 => single("s", wire)?.as_str()?.clone_into(&mut key),
            _ => value = single(kind, wire)?,
        }
    }
    Some((key, value))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::decode;

    fn field(number: u8, bytes: &[u8]) -> Vec<u8> {
        [&[number << 3 | 2, u8::try_from(bytes.len()).expect("short")], bytes].concat()
    }

    fn body(kind: &str, raw: &[u8]) -> Vec<u8> {
        let type_meta = [field(1, b"v1"), field(2, kind.as_bytes())].concat();
        [b"k8s\0".to_vec(), field(1, &type_meta), field(2, raw), field(3, b""), field(4, b"")].concat()
    }

    #[test]
    fn what_is_known_is_read_and_nothing_is_lost() {
        let label = [field(1, b"a"), field(2, b"b")].concat();
        let metadata = |more: &[u8]| field(1, &[&field(1, b"two"), &field(11, &label), &field(3, b""), more].concat());
        let namespace =
            json!({"metadata": {"name": "two", "labels": {"a": "b"}}, "apiVersion": "v1", "kind": "Namespace"});
        assert_eq!(decode(&body("Namespace", &metadata(&field(8, b"")))), Some(namespace));
        let secret = [metadata(b""), field(2, &[field(1, b"key"), field(2, b"abc")].concat())].concat();
        assert_eq!(decode(&body("Secret", &secret)).unwrap_or_default()["data"], json!({"key": "YWJj"}));
        for unreadable in [
            body("Namespace", &metadata(&field(13, b"x"))),
            body("Job", &metadata(b"")),
            body("Namespace", b"\x0a\xff"),
            body("Namespace", b"\xff"),
            b"k8s\0".to_vec(),
            b"{}".to_vec(),
        ] {
            assert_eq!(decode(&unreadable), None, "{unreadable:?}");
        }
    }
}
