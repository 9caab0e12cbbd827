//! Go's `json.Marshal` of `v1.Container` and the structs below it.
//!
//! Promise: field order, `omitempty`, sorted maps and escaping of strings as Go does them. Not a general JSON writer.

use std::fmt::Write as _;

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

/// A field of a line of [`STRUCTS`].
pub(super) struct Field {
    pub(super) name: &'static str,
    /// The Go type without `*`.
    pub(super) shape: &'static str,
    is_pointer: bool,
    omits_empty: bool,
    since: u32,
}

/// The fields of a struct; `None` of what [`STRUCTS`] does not have, such as `string`.
pub(super) fn fields(name: &str) -> Option<impl Iterator<Item = Field>> {
    let line = STRUCTS.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(": "))?;
    Some(line.split(", ").filter_map(|field| {
        let mut words = field.split_whitespace();
        let (name, go_type) = (words.next()?, words.next()?);
        let since = words.next().and_then(|since| since.strip_prefix('@')?.parse().ok());
        Some(Field {
            name: name.trim_end_matches('!'),
            shape: go_type.trim_start_matches('*'),
            is_pointer: go_type.starts_with('*'),
            omits_empty: !name.ends_with('!'),
            since: since.unwrap_or(16),
        })
    }))
}

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

    /// A value of a Go type as JSON; an absent one is the zero value of the type.
    pub(super) fn text(self, shape: &str, value: Option<&Value>) -> String {
        let mut out = String::new();
        self.write(&mut out, shape, value);
        out
    }

    fn write(self, out: &mut String, shape: &str, value: Option<&Value>) {
        let value = value.filter(|value| fits(shape, value));
        if let Some(element) = shape.strip_prefix("[]") {
            let values = value.and_then(Value::as_array).into_iter().flatten();
            separated(out, ['[', ']'], values, |out, value| self.write(out, element, Some(value)));
            return;
        }
        match shape {
            "bool" => out.push_str(if value == Some(&Value::Bool(true)) { "true" } else { "false" }),
            "ResourceList" => {
                let mut quantities: Vec<_> = value.and_then(Value::as_object).into_iter().flatten().collect();
                // Go sorts the keys of a map by their bytes.
                quantities.sort_unstable_by_key(|(name, _)| *name);
                separated(out, ['{', '}'], quantities, |out, (name, quantity)| {
                    self.write_string(out, name);
                    out.push(':');
                    self.write(out, "Quantity", Some(quantity));
                });
            }
            _ => match (fields(shape), value) {
                (Some(fields), value) => {
                    let written = fields.filter_map(|field| self.field(&field, value));
                    separated(out, ['{', '}'], written, |out, field| out.push_str(&field));
                }
                (None, Some(Value::String(text))) => self.write_string(out, text),
                (None, Some(number)) => out.push_str(&number.to_string()),
                (None, None) => out.push_str(match shape {
                    "string" => "\"\"",
                    "Quantity" => "\"0\"",
                    _ => "0",
                }),
            },
        }
    }

    /// A field with its name; `None` where Go leaves it out: of a pointer an absent one, of anything else but a struct, for
    /// which `omitempty` means nothing, its zero value.
    fn field(self, field: &Field, object: Option<&Value>) -> Option<String> {
        let given = object.and_then(|object| object.get(field.name)).filter(|given| fits(field.shape, given));
        let is_struct = field.shape == "Quantity" || fields(field.shape).is_some();
        let is_empty = if field.is_pointer { given.is_none() } else { !is_struct && given.is_none_or(is_zero) };
        if field.since > self.minor || field.omits_empty && is_empty {
            return None;
        }
        let null = field.is_pointer && given.is_none();
        let value = if null { "null".to_owned() } else { self.text(field.shape, given) };
        Some(format!("\"{}\":{value}", field.name))
    }

    /// Writes a string as `encoding/json` does with its default HTML escaping.
    fn write_string(self, out: &mut String, text: &str) {
        out.push('"');
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
                    // Writing to a String cannot fail.
                    let _ = write!(out, "\\u{:04x}", u32::from(c));
                }
                c => out.push(c),
            }
        }
        out.push('"');
    }
}

fn separated<T>(
    out: &mut String,
    [open, close]: [char; 2],
    items: impl IntoIterator<Item = T>,
    write: impl Fn(&mut String, T),
) {
    out.push(open);
    for (index, item) in items.into_iter().enumerate() {
        if index > 0 {
            out.push(',');
        }
        write(out, item);
    }
    out.push(close);
}

/// Says whether a JSON value is one that the API allows for a Go type.
fn fits(shape: &str, value: &Value) -> bool {
    match shape {
        "string" | "Quantity" => value.is_string(),
        "bool" => value.is_boolean(),
        "int" => value.is_i64(),
        "IntOrString" => value.is_string() || value.is_i64(),
        _ if shape.starts_with("[]") => value.is_array(),
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
