//! What Kubernetes 1.36 fills in and leaves out, type by type, as data.
//!
//! Defaults are those of `pkg/apis/core/v1/defaults.go`, `pkg/apis/apps/v1/defaults.go` and both
//! `zz_generated.defaults.go`; what is left out where it is zero follows from the `omitempty` tags of fields that are
//! no pointers. A field that no table names stays unchanged.

/// A default value.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Constant {
    Text(&'static str),
    Integer(i64),
    Boolean(bool),
    Map,
}

/// What a single constant cannot say. Carried out before the defaults of the same type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Rule {
    /// This field is `Always` where the image, named by the second field, has the tag `latest`, else `IfNotPresent`.
    PullPolicy { policy: &'static str, image: &'static str },
    /// A volume without a source is an `emptyDir`.
    EmptyVolume,
    /// `rollingUpdate` is set where the strategy is one, or none is named.
    RollingUpdate,
    /// `rollingUpdate` is set where no strategy is named.
    RollingUpdateUnlessNamed,
    /// These fields are maps of quantities, or quantities: rounded up to thousandths and in canonical form.
    Quantities(&'static [&'static str]),
    /// This field is a quantity: in canonical form.
    Quantity(&'static str),
    /// `serviceAccount` is an old name of `serviceAccountName`.
    ServiceAccount,
    /// What pods get and templates do not: requests from limits, host ports of the host network, service links.
    PodOnly,
}

/// What is filled into and left out of one type.
#[derive(Debug)]
pub(crate) struct Type {
    /// Scalars that are left out where zero, and maps where empty.
    pub(crate) omitted: &'static [&'static str],
    pub(crate) rules: &'static [Rule],
    pub(crate) defaults: &'static [(&'static str, Constant)],
    /// Fields that are maps or lists of maps, with the type of the map.
    pub(crate) fields: &'static [(&'static str, &'static Self)],
}

mod volume;

use self::volume::VOLUME;
use Constant::{Boolean, Integer, Map, Text};

/// Nothing is done.
pub(crate) const NONE: Type = Type { omitted: &[], rules: &[], defaults: &[], fields: &[] };

pub(super) static POD: Type =
    Type { rules: &[Rule::PodOnly], fields: &[("metadata", &OBJECT_META), ("spec", &POD_SPEC)], ..NONE };

pub(super) static POD_TEMPLATE: Type = Type {
    defaults: &[("metadata", Map), ("spec", Map)],
    fields: &[("metadata", &OBJECT_META), ("spec", &POD_SPEC)],
    ..NONE
};

pub(super) static POD_TEMPLATE_OBJECT: Type =
    Type { fields: &[("metadata", &OBJECT_META), ("template", &POD_TEMPLATE)], ..NONE };

pub(super) static DEPLOYMENT: Type = Type {
    fields: &[
        ("metadata", &OBJECT_META),
        (
            "spec",
            &Type {
                omitted: &["minReadySeconds", "paused"],
                defaults: &[
                    ("replicas", Integer(1)),
                    ("strategy", Map),
                    ("revisionHistoryLimit", Integer(10)),
                    ("progressDeadlineSeconds", Integer(600)),
                ],
                fields: &[
                    ("selector", &LABEL_SELECTOR),
                    ("template", &POD_TEMPLATE),
                    (
                        "strategy",
                        &Type {
                            omitted: &["type"],
                            rules: &[Rule::RollingUpdate],
                            defaults: &[("type", Text("RollingUpdate"))],
                            fields: &[(
                                "rollingUpdate",
                                &Type {
                                    defaults: &[("maxUnavailable", Text("25%")), ("maxSurge", Text("25%"))],
                                    ..NONE
                                },
                            )],
                        },
                    ),
                ],
                ..NONE
            },
        ),
    ],
    ..NONE
};

pub(super) static DAEMON_SET: Type = Type {
    fields: &[
        ("metadata", &OBJECT_META),
        (
            "spec",
            &Type {
                omitted: &["minReadySeconds"],
                defaults: &[("updateStrategy", Map), ("revisionHistoryLimit", Integer(10))],
                fields: &[
                    ("selector", &LABEL_SELECTOR),
                    ("template", &POD_TEMPLATE),
                    (
                        "updateStrategy",
                        &Type {
                            omitted: &["type"],
                            rules: &[Rule::RollingUpdate],
                            defaults: &[("type", Text("RollingUpdate"))],
                            fields: &[(
                                "rollingUpdate",
                                &Type { defaults: &[("maxUnavailable", Integer(1)), ("maxSurge", Integer(0))], ..NONE },
                            )],
                        },
                    ),
                ],
                ..NONE
            },
        ),
    ],
    ..NONE
};

pub(super) static STATEFUL_SET: Type = Type {
    fields: &[
        ("metadata", &OBJECT_META),
        (
            "spec",
            &Type {
                omitted: &["minReadySeconds", "podManagementPolicy"],
                defaults: &[
                    ("podManagementPolicy", Text("OrderedReady")),
                    ("updateStrategy", Map),
                    ("persistentVolumeClaimRetentionPolicy", Map),
                    ("replicas", Integer(1)),
                    ("revisionHistoryLimit", Integer(10)),
                    ("serviceName", Text("")),
                ],
                fields: &[
                    ("selector", &LABEL_SELECTOR),
                    ("template", &POD_TEMPLATE),
                    ("volumeClaimTemplates", &PERSISTENT_VOLUME_CLAIM),
                    (
                        "updateStrategy",
                        &Type {
                            omitted: &["type"],
                            rules: &[Rule::RollingUpdateUnlessNamed],
                            defaults: &[("type", Text("RollingUpdate"))],
                            fields: &[("rollingUpdate", &Type { defaults: &[("partition", Integer(0))], ..NONE })],
                        },
                    ),
                    (
                        "persistentVolumeClaimRetentionPolicy",
                        &Type {
                            omitted: &["whenDeleted", "whenScaled"],
                            defaults: &[("whenDeleted", Text("Retain")), ("whenScaled", Text("Retain"))],
                            ..NONE
                        },
                    ),
                ],
                ..NONE
            },
        ),
    ],
    ..NONE
};

pub(super) static REPLICA_SET: Type = Type {
    fields: &[
        ("metadata", &OBJECT_META),
        (
            "spec",
            &Type {
                omitted: &["minReadySeconds"],
                defaults: &[("replicas", Integer(1))],
                fields: &[("selector", &LABEL_SELECTOR), ("template", &POD_TEMPLATE)],
                ..NONE
            },
        ),
    ],
    ..NONE
};

pub(crate) static OBJECT_META: Type = Type {
    omitted: &[
        "name",
        "generateName",
        "namespace",
        "selfLink",
        "uid",
        "resourceVersion",
        "generation",
        "labels",
        "annotations",
    ],
    ..NONE
};

pub(crate) static LABEL_SELECTOR: Type = Type { omitted: &["matchLabels"], ..NONE };

static PERSISTENT_VOLUME_CLAIM: Type = Type {
    defaults: &[
        ("apiVersion", Text("v1")),
        ("kind", Text("PersistentVolumeClaim")),
        ("metadata", Map),
        ("spec", Map),
        ("status", Map),
    ],
    fields: &[
        ("metadata", &OBJECT_META),
        ("spec", &PERSISTENT_VOLUME_CLAIM_SPEC),
        ("status", &Type { omitted: &["phase"], defaults: &[("phase", Text("Pending"))], ..NONE }),
    ],
    ..NONE
};

pub(crate) static PERSISTENT_VOLUME_CLAIM_SPEC: Type = Type {
    omitted: &["volumeName"],
    defaults: &[("volumeMode", Text("Filesystem")), ("resources", Map)],
    fields: &[("resources", &RESOURCES), ("selector", &LABEL_SELECTOR)],
    ..NONE
};

static RESOURCES: Type =
    Type { omitted: &["limits", "requests"], rules: &[Rule::Quantities(&["limits", "requests"])], ..NONE };

pub(crate) static POD_SPEC: Type = Type {
    omitted: &[
        "restartPolicy",
        "dnsPolicy",
        "serviceAccountName",
        "serviceAccount",
        "nodeName",
        "hostNetwork",
        "hostPID",
        "hostIPC",
        "hostname",
        "subdomain",
        "schedulerName",
        "priorityClassName",
        "nodeSelector",
        "overhead",
    ],
    rules: &[Rule::ServiceAccount, Rule::Quantities(&["overhead"])],
    defaults: &[
        ("dnsPolicy", Text("ClusterFirst")),
        ("restartPolicy", Text("Always")),
        ("securityContext", Map),
        ("terminationGracePeriodSeconds", Integer(30)),
        ("schedulerName", Text("default-scheduler")),
    ],
    fields: &pod_spec_fields(&CONTAINER, &CONTAINER),
};

/// The fields of a pod's spec, with the types of its containers and of all others.
pub(crate) const fn pod_spec_fields(
    containers: &'static Type,
    others: &'static Type,
) -> [(&'static str, &'static Type); 11] {
    [
        ("containers", containers),
        ("initContainers", others),
        ("ephemeralContainers", others),
        ("volumes", &VOLUME),
        ("securityContext", &SECURITY_CONTEXT),
        ("resources", &RESOURCES),
        ("tolerations", &TOLERATION),
        ("imagePullSecrets", &NAMED),
        ("topologySpreadConstraints", &TOPOLOGY_SPREAD_CONSTRAINT),
        ("dnsConfig", &DNS_CONFIG),
        ("affinity", &AFFINITY),
    ]
}

static TOLERATION: Type = Type { omitted: &["key", "operator", "value", "effect"], ..NONE };

static NAMED: Type = Type { omitted: &["name"], ..NONE };

static TOPOLOGY_SPREAD_CONSTRAINT: Type = Type { fields: &[("labelSelector", &LABEL_SELECTOR)], ..NONE };

static DNS_CONFIG: Type = Type { fields: &[("options", &NAMED)], ..NONE };

static AFFINITY: Type = Type { fields: &[("podAffinity", &POD_AFFINITY), ("podAntiAffinity", &POD_AFFINITY)], ..NONE };

/// Of a pod and of a container.
static SECURITY_CONTEXT: Type =
    Type { fields: &[("seLinuxOptions", &Type { omitted: &["user", "role", "type", "level"], ..NONE })], ..NONE };

static POD_AFFINITY: Type = Type {
    fields: &[
        ("requiredDuringSchedulingIgnoredDuringExecution", &POD_AFFINITY_TERM),
        (
            "preferredDuringSchedulingIgnoredDuringExecution",
            &Type { fields: &[("podAffinityTerm", &POD_AFFINITY_TERM)], ..NONE },
        ),
    ],
    ..NONE
};

static POD_AFFINITY_TERM: Type =
    Type { fields: &[("labelSelector", &LABEL_SELECTOR), ("namespaceSelector", &LABEL_SELECTOR)], ..NONE };

pub(crate) static CONTAINER: Type = Type {
    omitted: &[
        "image",
        "workingDir",
        "terminationMessagePath",
        "terminationMessagePolicy",
        "imagePullPolicy",
        "stdin",
        "stdinOnce",
        "tty",
        "targetContainerName",
    ],
    rules: &[Rule::PullPolicy { policy: "imagePullPolicy", image: "image" }],
    defaults: &[
        ("terminationMessagePath", Text("/dev/termination-log")),
        ("terminationMessagePolicy", Text("File")),
        ("resources", Map),
    ],
    fields: &container_fields(&PROBE),
};

/// The fields of a container, with the type of its probes.
pub(crate) const fn container_fields(probe: &'static Type) -> [(&'static str, &'static Type); 10] {
    [
        ("ports", &PORT),
        ("env", &ENV),
        ("envFrom", &ENV_FROM),
        ("resources", &RESOURCES),
        ("volumeMounts", &VOLUME_MOUNT),
        ("livenessProbe", probe),
        ("readinessProbe", probe),
        ("startupProbe", probe),
        ("lifecycle", &LIFECYCLE),
        ("securityContext", &SECURITY_CONTEXT),
    ]
}

static PORT: Type =
    Type { omitted: &["name", "hostPort", "protocol", "hostIP"], defaults: &[("protocol", Text("TCP"))], ..NONE };

static ENV_FROM: Type = Type { omitted: &["prefix"], ..NONE };

static VOLUME_MOUNT: Type = Type { omitted: &["readOnly", "subPath", "subPathExpr"], ..NONE };

static LIFECYCLE: Type = Type { fields: &[("postStart", &HANDLER), ("preStop", &HANDLER)], ..NONE };

static ENV: Type = Type {
    omitted: &["value"],
    fields: &[(
        "valueFrom",
        &Type {
            fields: &[
                ("fieldRef", &FIELD_REF),
                ("resourceFieldRef", &RESOURCE_FIELD_REF),
                ("fileKeyRef", &Type { defaults: &[("optional", Boolean(false))], ..NONE }),
            ],
            ..NONE
        },
    )],
    ..NONE
};

static FIELD_REF: Type = Type { omitted: &["apiVersion"], defaults: &[("apiVersion", Text("v1"))], ..NONE };

static RESOURCE_FIELD_REF: Type = Type {
    omitted: &["containerName"],
    rules: &[Rule::Quantity("divisor")],
    defaults: &[("divisor", Text("0"))],
    ..NONE
};

pub(crate) static PROBE: Type = Type {
    omitted: &["initialDelaySeconds", "timeoutSeconds", "periodSeconds", "successThreshold", "failureThreshold"],
    defaults: &[
        ("timeoutSeconds", Integer(1)),
        ("periodSeconds", Integer(10)),
        ("successThreshold", Integer(1)),
        ("failureThreshold", Integer(3)),
    ],
    fields: &[
        ("httpGet", &HTTP_GET),
        ("tcpSocket", &TCP_SOCKET),
        ("grpc", &Type { defaults: &[("service", Text(""))], ..NONE }),
    ],
    ..NONE
};

static HANDLER: Type = Type { fields: &[("httpGet", &HTTP_GET), ("tcpSocket", &TCP_SOCKET)], ..NONE };

pub(crate) static HTTP_GET: Type =
    Type { omitted: &["path", "host", "scheme"], defaults: &[("path", Text("/")), ("scheme", Text("HTTP"))], ..NONE };

pub(crate) static TCP_SOCKET: Type = Type { omitted: &["host"], ..NONE };
