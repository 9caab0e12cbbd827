//! The volumes of a pod, in-tree ones that no release supports any more among them: their fields are still stored.

use super::Constant::{self, Boolean, Integer, Map, Text};
use super::{
    FIELD_REF, LABEL_SELECTOR, NONE, OBJECT_META, PERSISTENT_VOLUME_CLAIM_SPEC, RESOURCE_FIELD_REF, Rule, Type,
};

pub(super) static VOLUME: Type = Type {
    rules: &[Rule::EmptyVolume],
    fields: &[
        ("emptyDir", &Type { omitted: &["medium"], rules: &[Rule::Quantity("sizeLimit")], ..NONE }),
        ("hostPath", &Type { defaults: &[("type", Text(""))], ..NONE }),
        ("secret", &Type { omitted: &["secretName"], defaults: FILE_MODE, ..NONE }),
        ("configMap", &Type { omitted: &["name"], defaults: FILE_MODE, ..NONE }),
        ("downwardAPI", &Type { defaults: FILE_MODE, fields: &[("items", &DOWNWARD_API_ITEM)], ..NONE }),
        ("projected", &PROJECTED),
        ("persistentVolumeClaim", &Type { omitted: &["readOnly"], ..NONE }),
        (
            "image",
            &Type {
                omitted: &["reference", "pullPolicy"],
                rules: &[Rule::PullPolicy { policy: "pullPolicy", image: "reference" }],
                ..NONE
            },
        ),
        (
            "ephemeral",
            &Type {
                fields: &[(
                    "volumeClaimTemplate",
                    &Type {
                        defaults: &[("metadata", Map)],
                        fields: &[("metadata", &OBJECT_META), ("spec", &PERSISTENT_VOLUME_CLAIM_SPEC)],
                        ..NONE
                    },
                )],
                ..NONE
            },
        ),
        (
            "csi",
            &Type { omitted: &["volumeAttributes"], fields: &[("nodePublishSecretRef", &SECRET_REFERENCE)], ..NONE },
        ),
        ("nfs", &Type { omitted: &["readOnly"], ..NONE }),
        (
            "iscsi",
            &Type {
                omitted: &["iscsiInterface", "fsType", "readOnly", "chapAuthDiscovery", "chapAuthSession"],
                defaults: &[("iscsiInterface", Text("default"))],
                fields: SECRET,
                ..NONE
            },
        ),
        ("fc", &Type { omitted: &["fsType", "readOnly"], ..NONE }),
        ("awsElasticBlockStore", &Type { omitted: &["fsType", "partition", "readOnly"], ..NONE }),
        ("azureDisk", &AZURE_DISK),
        ("azureFile", &Type { omitted: &["readOnly"], ..NONE }),
        ("cephfs", &Type { omitted: &["path", "user", "secretFile", "readOnly"], fields: SECRET, ..NONE }),
        ("cinder", &Type { omitted: &["fsType", "readOnly"], fields: SECRET, ..NONE }),
        ("flexVolume", &Type { omitted: &["fsType", "readOnly", "options"], fields: SECRET, ..NONE }),
        ("gcePersistentDisk", &Type { omitted: &["fsType", "partition", "readOnly"], ..NONE }),
        ("gitRepo", &Type { omitted: &["revision", "directory"], ..NONE }),
        ("glusterfs", &Type { omitted: &["readOnly"], ..NONE }),
        ("photonPersistentDisk", &Type { omitted: &["fsType"], ..NONE }),
        ("portworxVolume", &Type { omitted: &["fsType", "readOnly"], ..NONE }),
        ("quobyte", &Type { omitted: &["readOnly", "user", "group", "tenant"], ..NONE }),
        ("rbd", &RBD),
        ("scaleIO", &SCALE_IO),
        (
            "storageos",
            &Type { omitted: &["volumeName", "volumeNamespace", "fsType", "readOnly"], fields: SECRET, ..NONE },
        ),
        ("vsphereVolume", &Type { omitted: &["fsType", "storagePolicyName", "storagePolicyID"], ..NONE }),
    ],
    ..NONE
};

static SECRET_REFERENCE: Type = Type { omitted: &["name"], ..NONE };

const SECRET: &[(&str, &Type)] = &[("secretRef", &SECRET_REFERENCE)];

static AZURE_DISK: Type = Type {
    defaults: &[
        ("cachingMode", Text("ReadWrite")),
        ("fsType", Text("ext4")),
        ("kind", Text("Shared")),
        ("readOnly", Boolean(false)),
    ],
    ..NONE
};

static RBD: Type = Type {
    omitted: &["fsType", "pool", "user", "keyring", "readOnly"],
    defaults: &[("pool", Text("rbd")), ("user", Text("admin")), ("keyring", Text("/etc/ceph/keyring"))],
    fields: SECRET,
    ..NONE
};

static SCALE_IO: Type = Type {
    omitted: &["sslEnabled", "protectionDomain", "storagePool", "storageMode", "volumeName", "fsType", "readOnly"],
    defaults: &[("storageMode", Text("ThinProvisioned")), ("fsType", Text("xfs"))],
    fields: SECRET,
    ..NONE
};

const FILE_MODE: &[(&str, Constant)] = &[("defaultMode", Integer(0o644))];

static DOWNWARD_API_ITEM: Type =
    Type { fields: &[("fieldRef", &FIELD_REF), ("resourceFieldRef", &RESOURCE_FIELD_REF)], ..NONE };

static PROJECTED: Type = Type {
    defaults: FILE_MODE,
    fields: &[(
        "sources",
        &Type {
            fields: &[
                ("downwardAPI", &Type { fields: &[("items", &DOWNWARD_API_ITEM)], ..NONE }),
                (
                    "serviceAccountToken",
                    &Type { omitted: &["audience"], defaults: &[("expirationSeconds", Integer(3600))], ..NONE },
                ),
                ("clusterTrustBundle", &Type { fields: &[("labelSelector", &LABEL_SELECTOR)], ..NONE }),
            ],
            ..NONE
        },
    )],
    ..NONE
};
