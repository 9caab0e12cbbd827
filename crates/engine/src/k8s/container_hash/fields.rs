//! `v1.Container` and the structs below it as tables, in the order of their Go fields, each with the minor version that
//! brought it (`staging/src/k8s.io/api/core/v1/types.go` of 1.16 to 1.30).
//!
//! From 1.16 to 1.30 fields were only ever added: none was reordered, removed or given another tag. What came with 1.31
//! or later is absent: no kubelet that hashes the whole container knows it. Adding a field here changes hashes that
//! kubelets have stored; do it only if a released `types.go` has it.

use serde_json::Value;

/// Names the type of a field, as far as its JSON is concerned.
#[derive(Debug)]
pub(super) enum Shape {
    Text,
    Boolean,
    Integer,
    /// `intstr.IntOrString`; its zero is the number 0.
    IntOrString,
    /// `resource.Quantity`; its zero is `"0"`.
    Quantity,
    /// `ResourceList`
    Quantities,
    List(&'static Self),
    Object(&'static [Field]),
}

impl Shape {
    /// Says whether a JSON value is one that the API allows here.
    pub(super) fn fits(&self, value: &Value) -> bool {
        match self {
            Self::Text | Self::Quantity => value.is_string(),
            Self::Boolean => value.is_boolean(),
            Self::Integer => value.is_i64(),
            Self::IntOrString => value.is_string() || value.is_i64(),
            Self::List(_) => value.is_array(),
            Self::Quantities | Self::Object(_) => value.is_object(),
        }
    }
}

/// Names when Go writes a field.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Presence {
    /// No `omitempty`, or a struct, for which `omitempty` means nothing.
    Always,
    /// `omitempty` on a value, list or map: left out when zero.
    NonZero,
    /// `omitempty` on a pointer: written when given, even when what it points to is zero.
    Given,
    /// A pointer without `omitempty`: `null` when not given.
    Nullable,
}

/// One field of a Go struct.
#[derive(Debug)]
pub(super) struct Field {
    pub(super) name: &'static str,
    pub(super) shape: Shape,
    pub(super) presence: Presence,
    /// The first minor version that knows the field; 16 for all that are older.
    pub(super) since: u32,
}

impl Field {
    const fn since(self, minor: u32) -> Self {
        Self { name: self.name, shape: self.shape, presence: self.presence, since: minor }
    }
}

const fn always(name: &'static str, shape: Shape) -> Field {
    Field { name, shape, presence: Presence::Always, since: 16 }
}

const fn non_zero(name: &'static str, shape: Shape) -> Field {
    Field { name, shape, presence: Presence::NonZero, since: 16 }
}

const fn given(name: &'static str, shape: Shape) -> Field {
    Field { name, shape, presence: Presence::Given, since: 16 }
}

/// What kubelets from 1.31 on hash: a map, so sorted by key, and both keys always there.
pub(super) const NAME_AND_IMAGE: &[Field] = &[always("image", Shape::Text), always("name", Shape::Text)];

/// `v1.Container`
pub(super) const CONTAINER: &[Field] = &[
    always("name", Shape::Text),
    non_zero("image", Shape::Text),
    non_zero("command", Shape::List(&Shape::Text)),
    non_zero("args", Shape::List(&Shape::Text)),
    non_zero("workingDir", Shape::Text),
    non_zero("ports", Shape::List(&Shape::Object(CONTAINER_PORT))),
    non_zero("envFrom", Shape::List(&Shape::Object(ENV_FROM_SOURCE))),
    non_zero("env", Shape::List(&Shape::Object(ENV_VAR))),
    always("resources", Shape::Object(RESOURCE_REQUIREMENTS)),
    non_zero("resizePolicy", Shape::List(&Shape::Object(CONTAINER_RESIZE_POLICY))).since(27),
    given("restartPolicy", Shape::Text).since(28),
    non_zero("volumeMounts", Shape::List(&Shape::Object(VOLUME_MOUNT))),
    non_zero("volumeDevices", Shape::List(&Shape::Object(VOLUME_DEVICE))),
    given("livenessProbe", Shape::Object(PROBE)),
    given("readinessProbe", Shape::Object(PROBE)),
    given("startupProbe", Shape::Object(PROBE)),
    given("lifecycle", Shape::Object(LIFECYCLE)),
    non_zero("terminationMessagePath", Shape::Text),
    non_zero("terminationMessagePolicy", Shape::Text),
    non_zero("imagePullPolicy", Shape::Text),
    given("securityContext", Shape::Object(SECURITY_CONTEXT)),
    non_zero("stdin", Shape::Boolean),
    non_zero("stdinOnce", Shape::Boolean),
    non_zero("tty", Shape::Boolean),
];

const CONTAINER_PORT: &[Field] = &[
    non_zero("name", Shape::Text),
    non_zero("hostPort", Shape::Integer),
    always("containerPort", Shape::Integer),
    non_zero("protocol", Shape::Text),
    non_zero("hostIP", Shape::Text),
];

const ENV_FROM_SOURCE: &[Field] = &[
    non_zero("prefix", Shape::Text),
    given("configMapRef", Shape::Object(ENV_SOURCE)),
    given("secretRef", Shape::Object(ENV_SOURCE)),
];

/// `ConfigMapEnvSource` and `SecretEnvSource`
const ENV_SOURCE: &[Field] = &[non_zero("name", Shape::Text), given("optional", Shape::Boolean)];

const ENV_VAR: &[Field] =
    &[always("name", Shape::Text), non_zero("value", Shape::Text), given("valueFrom", Shape::Object(ENV_VAR_SOURCE))];

const ENV_VAR_SOURCE: &[Field] = &[
    given("fieldRef", Shape::Object(OBJECT_FIELD_SELECTOR)),
    given("resourceFieldRef", Shape::Object(RESOURCE_FIELD_SELECTOR)),
    given("configMapKeyRef", Shape::Object(KEY_SELECTOR)),
    given("secretKeyRef", Shape::Object(KEY_SELECTOR)),
];

const OBJECT_FIELD_SELECTOR: &[Field] = &[non_zero("apiVersion", Shape::Text), always("fieldPath", Shape::Text)];

const RESOURCE_FIELD_SELECTOR: &[Field] = &[
    non_zero("containerName", Shape::Text),
    always("resource", Shape::Text),
    // Tagged `omitempty`, but a struct.
    always("divisor", Shape::Quantity),
];

/// `ConfigMapKeySelector` and `SecretKeySelector`
const KEY_SELECTOR: &[Field] =
    &[non_zero("name", Shape::Text), always("key", Shape::Text), given("optional", Shape::Boolean)];

const RESOURCE_REQUIREMENTS: &[Field] = &[
    non_zero("limits", Shape::Quantities),
    non_zero("requests", Shape::Quantities),
    non_zero("claims", Shape::List(&Shape::Object(RESOURCE_CLAIM))).since(26),
];

const RESOURCE_CLAIM: &[Field] = &[always("name", Shape::Text)];

const CONTAINER_RESIZE_POLICY: &[Field] = &[always("resourceName", Shape::Text), always("restartPolicy", Shape::Text)];

const VOLUME_MOUNT: &[Field] = &[
    always("name", Shape::Text),
    non_zero("readOnly", Shape::Boolean),
    given("recursiveReadOnly", Shape::Text).since(30),
    always("mountPath", Shape::Text),
    non_zero("subPath", Shape::Text),
    given("mountPropagation", Shape::Text),
    non_zero("subPathExpr", Shape::Text),
];

const VOLUME_DEVICE: &[Field] = &[always("name", Shape::Text), always("devicePath", Shape::Text)];

const PROBE: &[Field] = &[
    given("exec", Shape::Object(EXEC_ACTION)),
    given("httpGet", Shape::Object(HTTP_GET_ACTION)),
    given("tcpSocket", Shape::Object(TCP_SOCKET_ACTION)),
    given("grpc", Shape::Object(GRPC_ACTION)).since(23),
    non_zero("initialDelaySeconds", Shape::Integer),
    non_zero("timeoutSeconds", Shape::Integer),
    non_zero("periodSeconds", Shape::Integer),
    non_zero("successThreshold", Shape::Integer),
    non_zero("failureThreshold", Shape::Integer),
    given("terminationGracePeriodSeconds", Shape::Integer).since(21),
];

const LIFECYCLE: &[Field] =
    &[given("postStart", Shape::Object(LIFECYCLE_HANDLER)), given("preStop", Shape::Object(LIFECYCLE_HANDLER))];

const LIFECYCLE_HANDLER: &[Field] = &[
    given("exec", Shape::Object(EXEC_ACTION)),
    given("httpGet", Shape::Object(HTTP_GET_ACTION)),
    given("tcpSocket", Shape::Object(TCP_SOCKET_ACTION)),
    given("sleep", Shape::Object(SLEEP_ACTION)).since(29),
];

const EXEC_ACTION: &[Field] = &[non_zero("command", Shape::List(&Shape::Text))];

const HTTP_GET_ACTION: &[Field] = &[
    non_zero("path", Shape::Text),
    always("port", Shape::IntOrString),
    non_zero("host", Shape::Text),
    non_zero("scheme", Shape::Text),
    non_zero("httpHeaders", Shape::List(&Shape::Object(HTTP_HEADER))),
];

const HTTP_HEADER: &[Field] = &[always("name", Shape::Text), always("value", Shape::Text)];

const TCP_SOCKET_ACTION: &[Field] = &[always("port", Shape::IntOrString), non_zero("host", Shape::Text)];

const GRPC_ACTION: &[Field] = &[
    always("port", Shape::Integer),
    Field { name: "service", shape: Shape::Text, presence: Presence::Nullable, since: 23 },
];

const SLEEP_ACTION: &[Field] = &[always("seconds", Shape::Integer)];

const SECURITY_CONTEXT: &[Field] = &[
    given("capabilities", Shape::Object(CAPABILITIES)),
    given("privileged", Shape::Boolean),
    given("seLinuxOptions", Shape::Object(SE_LINUX_OPTIONS)),
    given("windowsOptions", Shape::Object(WINDOWS_SECURITY_CONTEXT_OPTIONS)),
    given("runAsUser", Shape::Integer),
    given("runAsGroup", Shape::Integer),
    given("runAsNonRoot", Shape::Boolean),
    given("readOnlyRootFilesystem", Shape::Boolean),
    given("allowPrivilegeEscalation", Shape::Boolean),
    given("procMount", Shape::Text),
    given("seccompProfile", Shape::Object(SECURITY_PROFILE)).since(19),
    given("appArmorProfile", Shape::Object(SECURITY_PROFILE)).since(30),
];

const CAPABILITIES: &[Field] =
    &[non_zero("add", Shape::List(&Shape::Text)), non_zero("drop", Shape::List(&Shape::Text))];

const SE_LINUX_OPTIONS: &[Field] = &[
    non_zero("user", Shape::Text),
    non_zero("role", Shape::Text),
    non_zero("type", Shape::Text),
    non_zero("level", Shape::Text),
];

const WINDOWS_SECURITY_CONTEXT_OPTIONS: &[Field] = &[
    given("gmsaCredentialSpecName", Shape::Text),
    given("gmsaCredentialSpec", Shape::Text),
    given("runAsUserName", Shape::Text),
    given("hostProcess", Shape::Boolean).since(22),
];

/// `SeccompProfile` and `AppArmorProfile`
const SECURITY_PROFILE: &[Field] = &[always("type", Shape::Text), given("localhostProfile", Shape::Text)];
