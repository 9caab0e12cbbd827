//! The kubelet's container hash: two specs of equal hash are the same container to the kubelet, another hash restarts it.
//!
//! Promise: byte for byte what `HashContainer` of the kubelet gives (`pkg/kubelet/container/helpers.go`), for every kubelet
//! from 1.16 on. The kubelet keeps the value in the annotation `io.kubernetes.container.hash` of the container *in the
//! container runtime*; the Kubernetes API does not show it, so it can only be computed.
//!
//! Not in here: `hashWithoutResources` of the alpha gate `InPlacePodVerticalScaling` in 1.27 to 1.30 (take `resources` away
//! and compute the ordinary hash to get it), kubelets before 1.16 (they hashed the Go struct's debug text), and defaulting:
//! the container must be the one that the API server stored, defaults filled in and quantities in canonical form.

#[cfg(test)]
mod tests;

use std::collections::BTreeMap;

use serde_json::Value;

use crate::merge::is_zero;
use crate::value::kubelet_version::KubeletVersion;

/// The structs of `staging/src/k8s.io/api/core/v1/types.go` from 1.16 to 1.30: one a line, its fields with their Go types
/// in Go's order. `!`: without `omitempty`. `@27`: 1.27 brought the field; all others are older than 1.16.
///
/// In these versions fields were only ever added: none was reordered, removed or given another tag. What came with 1.31 or
/// later is absent: no kubelet that hashes the whole container knows it. Adding a field here changes hashes that kubelets
/// have stored; do it only if a released `types.go` has it.
const STRUCTS: &str = "\
NameAndImage: image! string, name! string
Container: name! string, image string, command []string, args []string, workingDir string, ports []ContainerPort, \
    envFrom []EnvFromSource, env []EnvVar, resources ResourceRequirements, resizePolicy []ContainerResizePolicy @27, \
    restartPolicy *string @28, volumeMounts []VolumeMount, volumeDevices []VolumeDevice, livenessProbe *Probe, \
    readinessProbe *Probe, startupProbe *Probe, lifecycle *Lifecycle, terminationMessagePath string, \
    terminationMessagePolicy string, imagePullPolicy string, securityContext *SecurityContext, stdin bool, \
    stdinOnce bool, tty bool
ContainerPort: name string, hostPort int, containerPort! int, protocol string, hostIP string
EnvFromSource: prefix string, configMapRef *EnvSource, secretRef *EnvSource
EnvSource: name string, optional *bool
EnvVar: name! string, value string, valueFrom *EnvVarSource
EnvVarSource: fieldRef *ObjectFieldSelector, resourceFieldRef *ResourceFieldSelector, configMapKeyRef *KeySelector, \
    secretKeyRef *KeySelector
ObjectFieldSelector: apiVersion string, fieldPath! string
ResourceFieldSelector: containerName string, resource! string, divisor Quantity
KeySelector: name string, key! string, optional *bool
ResourceRequirements: limits ResourceList, requests ResourceList, claims []ResourceClaim @26
ResourceClaim: name! string
ContainerResizePolicy: resourceName! string, restartPolicy! string
VolumeMount: name! string, readOnly bool, recursiveReadOnly *string @30, mountPath! string, subPath string, \
    mountPropagation *string, subPathExpr string
VolumeDevice: name! string, devicePath! string
Probe: exec *ExecAction, httpGet *HTTPGetAction, tcpSocket *TCPSocketAction, grpc *GRPCAction @23, \
    initialDelaySeconds int, timeoutSeconds int, periodSeconds int, successThreshold int, failureThreshold int, \
    terminationGracePeriodSeconds *int @21
Lifecycle: postStart *LifecycleHandler, preStop *LifecycleHandler
LifecycleHandler: exec *ExecAction, httpGet *HTTPGetAction, tcpSocket *TCPSocketAction, sleep *SleepAction @29
ExecAction: command []string
HTTPGetAction: path string, port! IntOrString, host string, scheme string, httpHeaders []HTTPHeader
HTTPHeader: name! string, value! string
TCPSocketAction: port! IntOrString, host string
GRPCAction: port! int, service! *string
SleepAction: seconds! int
SecurityContext: capabilities *Capabilities, privileged *bool, seLinuxOptions *SELinuxOptions, \
    windowsOptions *WindowsSecurityContextOptions, runAsUser *int, runAsGroup *int, runAsNonRoot *bool, \
    readOnlyRootFilesystem *bool, allowPrivilegeEscalation *bool, procMount *string, \
    seccompProfile *SecurityProfile @19, appArmorProfile *SecurityProfile @30
Capabilities: add []string, drop []string
SELinuxOptions: user string, role string, type string, level string
WindowsSecurityContextOptions: gmsaCredentialSpecName *string, gmsaCredentialSpec *string, runAsUserName *string, \
    hostProcess *bool @22
SecurityProfile: type! string, localhostProfile *string";

/// Computes the hash that a kubelet gives to `container`, one element of a pod's `spec.containers` or
/// `spec.initContainers`, as the kubelet writes it: lower-case hexadecimal without padding. `None` below 1.16, where the
/// hash depended on the kubelet's very build.
///
/// Kubelets from 1.31 on hash nothing but name and image (`pickFieldsToHash`), those before it every field of the container
/// that they know. Fields that the kubelet does not know are left out, as its decoder drops them. A value of a type that
/// the API does not allow counts as absent.
pub fn container_hash(kubelet: KubeletVersion, container: &Value) -> Option<String> {
    let go_type = if kubelet.at_least(1, 31) { "NameAndImage" } else { "Container" };
    let json = go_json(kubelet, go_type, Some(container));
    kubelet.at_least(1, 16).then(|| format!("{:x}", fnv1a_of_spew(json.as_bytes())))
}

/// Returns FNV-1a (32 bit) over the text that spew's `%#v` makes of a byte slice: `([]uint8)[123 34 105]`
/// (`DeepHashObject` in `pkg/util/hash/hash.go`).
fn fnv1a_of_spew(bytes: &[u8]) -> u32 {
    let bytes: Vec<String> = bytes.iter().map(u8::to_string).collect();
    let text = format!("([]uint8)[{}]", bytes.join(" "));
    text.bytes().fold(0x811c_9dc5, |hash: u32, byte| (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193))
}

/// Returns Go's `json.Marshal` of a value of a Go type.
fn go_json(kubelet: KubeletVersion, go_type: &str, value: Option<&Value>) -> String {
    let json = as_go_escapes(&go_value(kubelet, go_type, value).to_string());
    // Go 1.22 began to write backspace and form feed as `\b` and `\f`. Assumption: 1.30 is the first minor built with it. Late
    // patch releases of 1.27 to 1.29 moved to it too; only such a character inside a string would show it.
    if kubelet.at_least(1, 30) {
        return json;
    }
    let parts = json.split(r"\\").map(|part| part.replace(r"\b", r"\u0008").replace(r"\f", r"\u000c"));
    parts.collect::<Vec<_>>().join(r"\\")
}

/// Returns a value with the fields that Go writes, in Go's order; an absent one, or one of a type that the API does not
/// allow, is the zero value.
fn go_value(kubelet: KubeletVersion, go_type: &str, value: Option<&Value>) -> Value {
    let value = value.filter(|value| fits(go_type, value));
    if let Some(element) = go_type.strip_prefix("[]") {
        let elements = value.and_then(Value::as_array).into_iter().flatten();
        return elements.map(|value| go_value(kubelet, element, Some(value))).collect();
    }
    if let Some(fields) = fields(go_type) {
        return fields.split(", ").filter_map(|written| field(kubelet, written, value)).collect();
    }
    match (go_type, value) {
        ("ResourceList", quantities) => {
            // Go sorts the keys of a map by their bytes.
            let sorted: BTreeMap<_, _> = quantities.and_then(Value::as_object).into_iter().flatten().collect();
            let quantity = |value| go_value(kubelet, "Quantity", Some(value));
            sorted.into_iter().map(|(name, value)| (name.as_str(), quantity(value))).collect()
        }
        (_, Some(value)) => value.clone(),
        ("string", None) => "".into(),
        ("Quantity", None) => "0".into(),
        ("bool", None) => false.into(),
        (_, None) => 0.into(),
    }
}

/// A field of a line of [`STRUCTS`] and its value; `None` where Go leaves it out: of a pointer an absent one, of anything
/// else but a struct, for which `omitempty` means nothing, its zero value.
fn field<'f>(kubelet: KubeletVersion, field: &'f str, object: Option<&Value>) -> Option<(&'f str, Value)> {
    let mut words = field.split(' ');
    let (tag, go_type) = (words.next()?, words.next()?);
    let since = words.next().and_then(|since| since.strip_prefix('@')?.parse::<u32>().ok());
    let (name, value_type) = (tag.trim_end_matches('!'), go_type.trim_start_matches('*'));
    let given = object.and_then(|object| object.get(name)).filter(|given| fits(value_type, given));
    let (is_pointer, is_struct) = (go_type.starts_with('*'), value_type == "Quantity" || fields(value_type).is_some());
    let is_empty = if is_pointer { given.is_none() } else { !is_struct && given.is_none_or(is_zero) };
    if is_empty && !tag.ends_with('!') || since.is_some_and(|since| !kubelet.at_least(1, since)) {
        return None;
    }
    let is_null = is_pointer && given.is_none();
    Some((name, if is_null { Value::Null } else { go_value(kubelet, value_type, given) }))
}

/// Returns JSON with what Go's `encoding/json` escapes beyond the rest, by default for HTML. Outside of strings JSON has none
/// of it.
pub fn as_go_escapes(json: &str) -> String {
    let escaped = |text: String, c: char| text.replace(c, &format!("\\u{:04x}", u32::from(c)));
    ['<', '>', '&', '\u{2028}', '\u{2029}'].into_iter().fold(json.to_owned(), escaped)
}

/// The fields of a struct; `None` of what [`STRUCTS`] does not have, such as `string`.
fn fields(name: &str) -> Option<&'static str> {
    STRUCTS.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(": "))
}

/// Says whether a JSON value is one that the API allows for a Go type.
fn fits(go_type: &str, value: &Value) -> bool {
    match go_type {
        "string" | "Quantity" => value.is_string(),
        "bool" => value.is_boolean(),
        "int" => value.is_i64(),
        "IntOrString" => value.is_string() || value.is_i64(),
        _ if go_type.starts_with("[]") => value.is_array(),
        _ => value.is_object(),
    }
}
