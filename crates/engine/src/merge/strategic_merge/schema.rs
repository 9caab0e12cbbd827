//! How each field of a pod and of the workloads merges, as data.
//!
//! The tables hold what the struct tags `patchStrategy` and `patchMergeKey` of Kubernetes 1.36 say (`k8s.io/api` core/v1
//! and apps/v1, `k8s.io/apimachinery` meta/v1). A field that no table names merges as Kubernetes' default: maps key by
//! key, lists as a whole.

/// How a list merges with another one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ListMerge {
    /// The newer list replaces the older one (no tag, the default).
    Atomic,
    /// A set of scalars: what is new is added (`patchStrategy:"merge"` without a merge key).
    Set,
    /// A list of maps, matched by this field (`patchStrategy:"merge"` with `patchMergeKey`).
    ByKey(&'static str),
}

/// What the schema says about one field.
#[derive(Clone, Copy, Debug)]
pub struct Rule {
    /// How the field merges where it is a list.
    pub list: ListMerge,
    /// Whether the keys that the newer map (or list element) lacks are cleared (`patchStrategy:"retainKeys"`).
    pub retain_keys: bool,
    /// The rules of the fields below: of the map itself, or of each element of the list.
    pub below: Schema,
}

/// The merge rules of the fields of one type.
#[derive(Clone, Copy, Debug)]
pub struct Schema(&'static [Field]);

#[derive(Clone, Copy, Debug)]
struct Field {
    name: &'static str,
    rule: Rule,
}

impl Schema {
    /// Merges maps key by key and replaces every list: the rules of a type without tags.
    pub const PLAIN: Self = Self(&[]);
    /// `v1.Pod`.
    pub const POD: Self = Self(&[
        map("metadata", OBJECT_META),
        map("spec", POD_SPEC),
        map(
            "status",
            Self(&[
                by_key("conditions", "type", Self::PLAIN),
                by_key("hostIPs", "ip", Self::PLAIN),
                by_key("podIPs", "ip", Self::PLAIN),
                retaining(by_key("resourceClaimStatuses", "name", Self::PLAIN)),
            ]),
        ),
    ]);
    /// `v1.PodTemplateSpec`.
    pub const POD_TEMPLATE: Self = Self(&[map("metadata", OBJECT_META), map("spec", POD_SPEC)]);
    /// `v1.PodTemplate`, the object that holds a template of its own.
    pub const POD_TEMPLATE_OBJECT: Self = Self(&[map("metadata", OBJECT_META), map("template", Self::POD_TEMPLATE)]);
    /// `apps/v1.Deployment`.
    pub const DEPLOYMENT: Self = Self(&[
        map("metadata", OBJECT_META),
        map("spec", Self(&[map("template", Self::POD_TEMPLATE), retaining(map("strategy", Self::PLAIN))])),
        map("status", CONDITIONS),
    ]);
    /// `apps/v1.StatefulSet`; its `volumeClaimTemplates` have no tag and are replaced as a whole.
    pub const STATEFUL_SET: Self = TEMPLATED;
    /// `apps/v1.DaemonSet`.
    pub const DAEMON_SET: Self = TEMPLATED;
    /// `apps/v1.ReplicaSet`.
    pub const REPLICA_SET: Self = TEMPLATED;

    /// Returns the fields of this type that have a rule of their own or below them.
    pub fn fields(self) -> impl Iterator<Item = (&'static str, Rule)> {
        self.0.iter().map(|field| (field.name, field.rule))
    }

    /// Looks up the rule of a field of this type; unknown fields get the default rule.
    pub fn field(self, name: &str) -> Rule {
        self.0
            .iter()
            .find(|field| field.name == name)
            .map_or(Rule { list: ListMerge::Atomic, retain_keys: false, below: Self::PLAIN }, |field| field.rule)
    }
}

const fn map(name: &'static str, below: Schema) -> Field {
    Field { name, rule: Rule { list: ListMerge::Atomic, retain_keys: false, below } }
}

const fn by_key(name: &'static str, key: &'static str, below: Schema) -> Field {
    Field { name, rule: Rule { list: ListMerge::ByKey(key), retain_keys: false, below } }
}

const fn set(name: &'static str) -> Field {
    Field { name, rule: Rule { list: ListMerge::Set, retain_keys: false, below: Schema::PLAIN } }
}

const fn retaining(field: Field) -> Field {
    Field { name: field.name, rule: Rule { list: field.rule.list, retain_keys: true, below: field.rule.below } }
}

const OBJECT_META: Schema = Schema(&[by_key("ownerReferences", "uid", Schema::PLAIN), set("finalizers")]);

const CONDITIONS: Schema = Schema(&[by_key("conditions", "type", Schema::PLAIN)]);

const TEMPLATED: Schema = Schema(&[
    map("metadata", OBJECT_META),
    map("spec", Schema(&[map("template", Schema::POD_TEMPLATE)])),
    map("status", CONDITIONS),
]);

const POD_SPEC: Schema = Schema(&[
    by_key("containers", "name", CONTAINER),
    by_key("initContainers", "name", CONTAINER),
    by_key("ephemeralContainers", "name", CONTAINER),
    retaining(by_key("volumes", "name", VOLUME)),
    by_key("imagePullSecrets", "name", Schema::PLAIN),
    by_key("hostAliases", "ip", Schema::PLAIN),
    by_key("topologySpreadConstraints", "topologyKey", Schema::PLAIN),
    by_key("schedulingGates", "name", Schema::PLAIN),
    retaining(by_key("resourceClaims", "name", Schema::PLAIN)),
]);

/// `v1.Volume`: only the claim that an ephemeral volume makes has tags.
const VOLUME: Schema =
    Schema(&[map("ephemeral", Schema(&[map("volumeClaimTemplate", Schema(&[map("metadata", OBJECT_META)]))]))]);

/// `v1.Container` and `v1.EphemeralContainerCommon`, whose tags are the same. The merge key of `ports` is the port alone,
/// though two protocols may share one: server-side apply knows better (`listMapKeys`), the strategic merge does not.
const CONTAINER: Schema = Schema(&[
    by_key("ports", "containerPort", Schema::PLAIN),
    by_key("env", "name", Schema::PLAIN),
    by_key("volumeMounts", "mountPath", Schema::PLAIN),
    by_key("volumeDevices", "devicePath", Schema::PLAIN),
]);
