//! Go's `json.Marshal` of `v1.Container` and the structs below it.
//!
//! Promise: field order, `omitempty`, sorted maps and escaping of strings as Go does them. Not a general JSON writer.

use std::collections::BTreeMap;

use serde_json::Value;

use crate::value::kubelet_version::KubeletVersion;

/// The structs of `staging/src/k8s.io/api/core/v1/types.go` from 1.16 to 1.30: one a line, its fields with their Go types
/// in Go's order. `!`: without `omitempty`. `@27`: 1.27 brought the field; all others are older than 1.16.
///
/// In these versions fields were only ever added: none was reordered, removed or given another tag. What came with 1.31 or
/// later is absent: no kubelet that hashes the whole container knows it. Adding a field here changes hashes that kubelets
/// have stored; do it only if a released `types.go` has it.
pub(super) const STRUCTS: &str = "\
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

/// Writes JSON as one kubelet's build of Go does.
#[derive(Debug, Clone, Copy)]
pub(super) struct GoJson {
    /// The minor version of the kubelet: which fields it knows.
    minor: u32,
    /// Go 1.22 began to write backspace and form feed as `\b` and `\f`.
    short_escapes: bool,
}

impl GoJson {
    pub(super) fn of_kubelet(kubelet: KubeletVersion) -> Self {
        // Assumption: 1.30 is the first minor built with Go 1.22. Late patch releases of 1.27 to 1.29 moved to it too;
        // only a backspace or form feed inside a string would show it.
        Self { minor: kubelet.minor(), short_escapes: kubelet.at_least(1, 30) }
    }

    /// A value of a Go type as JSON; an absent one, or one of a type that the API does not allow, is the zero value.
    pub(super) fn text(self, go_type: &str, value: Option<&Value>) -> String {
        let value = value.filter(|value| fits(go_type, value));
        if let Some(element) = go_type.strip_prefix("[]") {
            let elements = value.and_then(Value::as_array).into_iter().flatten();
            let elements: Vec<String> = elements.map(|value| self.text(element, Some(value))).collect();
            return format!("[{}]", elements.join(","));
        }
        if let Some(fields) = fields(go_type) {
            let fields: Vec<String> = fields.split(", ").filter_map(|field| self.field(field, value)).collect();
            return format!("{{{}}}", fields.join(","));
        }
        match (go_type, value) {
            ("ResourceList", quantities) => {
                // Go sorts the keys of a map by their bytes.
                let sorted: BTreeMap<_, _> = quantities.and_then(Value::as_object).into_iter().flatten().collect();
                let quantity = |(name, value): (&String, &Value)| {
                    format!("{}:{}", self.string(name), self.text("Quantity", Some(value)))
                };
                let quantities: Vec<String> = sorted.into_iter().map(quantity).collect();
                format!("{{{}}}", quantities.join(","))
            }
            (_, Some(Value::String(text))) => self.string(text),
            (_, Some(value)) => value.to_string(),
            ("string", None) => "\"\"".to_owned(),
            ("Quantity", None) => "\"0\"".to_owned(),
            ("bool", None) => "false".to_owned(),
            (_, None) => "0".to_owned(),
        }
    }

    /// A field of a line of [`STRUCTS`]; `None` where Go leaves it out: of a pointer an absent one, of anything else but a
    /// struct, for which `omitempty` means nothing, its zero value.
    fn field(self, field: &str, object: Option<&Value>) -> Option<String> {
        let mut words = field.split(' ');
        let (tag, go_type) = (words.next()?, words.next()?);
        let since = words.next().and_then(|since| since.strip_prefix('@')?.parse::<u32>().ok());
        let (name, value_type) = (tag.trim_end_matches('!'), go_type.trim_start_matches('*'));
        let given = object.and_then(|object| object.get(name)).filter(|given| fits(value_type, given));
        let is_pointer = go_type.starts_with('*');
        let is_empty = if is_pointer { given.is_none() } else { !is_struct(value_type) && given.is_none_or(is_zero) };
        if is_empty && !tag.ends_with('!') || since.is_some_and(|since| since > self.minor) {
            return None;
        }
        let value = if is_pointer && given.is_none() { "null".to_owned() } else { self.text(value_type, given) };
        Some(format!("\"{name}\":{value}"))
    }

    /// A string as `encoding/json` writes it, with its default HTML escaping.
    fn string(self, text: &str) -> String {
        let mut out = String::from('"');
        for c in text.chars() {
            match c {
                '"' => out.push_str("\\\""),
                '\\' => out.push_str("\\\\"),
                '\n' => out.push_str("\\n"),
                '\r' => out.push_str("\\r"),
                '\t' => out.push_str("\\t"),
                '\u{8}' if self.short_escapes => out.push_str("\\b"),
                '\u{c}' if self.short_escapes => out.push_str("\\f"),
                '\0'..='\u{1f}' | '<' | '>' | '&' | '\u{2028}' | '\u{2029}' => {
                    out.push_str(&format!("\\u{:04x}", u32::from(c)));
                }
                c => out.push(c),
            }
        }
        out + "\""
    }
}

/// The fields of a struct; `None` of what [`STRUCTS`] does not have, such as `string`.
pub(super) fn fields(name: &str) -> Option<&'static str> {
    STRUCTS.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(": "))
}

fn is_struct(go_type: &str) -> bool {
    go_type == "Quantity" || fields(go_type).is_some()
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

fn is_zero(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::Bool(given) => !given,
        Value::Number(number) => number.as_i64() == Some(0),
        Value::String(text) => text.is_empty(),
        Value::Array(list) => list.is_empty(),
        Value::Object(map) => map.is_empty(),
    }
}
