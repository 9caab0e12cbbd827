//! How the fields of pods and of the workloads merge and what the API server fills in, as one table.
//!
//! How lists merge is what the struct tags `patchStrategy` and `patchMergeKey` of Kubernetes 1.36 say (`k8s.io/api` core/v1
//! and apps/v1, `k8s.io/apimachinery` meta/v1). Defaults are those of `pkg/apis/core/v1/defaults.go`,
//! `pkg/apis/apps/v1/defaults.go` and both `zz_generated.defaults.go`; what is left out where it is zero follows from the
//! `omitempty` tags of fields that are no pointers. A field that no row names stays unchanged, and merges as Kubernetes'
//! default: maps key by key, lists as a whole.

use std::collections::BTreeMap;
use std::sync::LazyLock;

/// A row begins with the name of a type; more of its fields follow in indented lines. A field is written as:
///
/// | | |
/// |---|---|
/// | `name[key]` | a list that merges by this key; `name[]` is a set |
/// | `name!` | what the newer map or element lacks is cleared (`retainKeys`) |
/// | `name?` | left out where it is zero or empty |
/// | `name~`, `name*` | a quantity; a map of them, rounded up to thousandths |
/// | `name:Type` | a map, or a list of maps, of this type |
/// | `name=value` | filled in where it is missing: a number, `true`, `{}` or text |
/// | `=@byTagOf/name` | `Always` where the image that this field holds has the tag `latest`, else `IfNotPresent` |
/// | `=@alias/name` | an old name of this field: both have its value |
/// | `=@ifRolling`, `=@ifUntyped` | `{}` where the strategy's `type` is `RollingUpdate` or none; where none is given |
/// | `=@ifAlone` | `{}` where nothing but a name is given |
/// | `+Type` | the fields of a type above; those that follow take the place of their namesakes |
///
/// The merge key of `ports` is the port alone, though two protocols may share one: server-side apply knows better
/// (`listMapKeys`), the strategic merge does not. Volumes of types that no release supports any more are still stored.
const TABLE: &str = "
ObjectMeta name? generateName? namespace? selfLink? uid? resourceVersion? generation? labels? annotations?
  ownerReferences[uid] finalizers[]
LabelSelector matchLabels?
Selecting labelSelector:LabelSelector
Named name?
Conditions conditions[type]
Resources limits?* requests?*

HTTPGet path?=/ host? scheme?=HTTP
TCPSocket host?
GRPC service=''
Handler httpGet:HTTPGet tcpSocket:TCPSocket
Probe +Handler initialDelaySeconds? timeoutSeconds?=1 periodSeconds?=10 successThreshold?=1 failureThreshold?=3 grpc:GRPC
Lifecycle postStart:Handler preStop:Handler
FieldRef apiVersion?=v1
ResourceFieldRef containerName? divisor~='0'
FileKeyRef optional=false
FieldSource fieldRef:FieldRef resourceFieldRef:ResourceFieldRef
EnvSource +FieldSource fileKeyRef:FileKeyRef
Env value? valueFrom:EnvSource
EnvFrom prefix?
Port name? hostPort? protocol?=TCP hostIP?
VolumeMount readOnly? subPath? subPathExpr?
SELinuxOptions user? role? type? level?
SecurityContext seLinuxOptions:SELinuxOptions
Container image? workingDir? stdin? stdinOnce? tty? targetContainerName? imagePullPolicy?=@byTagOf/image
  terminationMessagePath?=/dev/termination-log terminationMessagePolicy?=File resources:Resources={}
  ports[containerPort]:Port env[name]:Env envFrom:EnvFrom volumeMounts[mountPath]:VolumeMount volumeDevices[devicePath]
  livenessProbe:Probe readinessProbe:Probe startupProbe:Probe lifecycle:Lifecycle securityContext:SecurityContext

ClaimSpec volumeName? volumeMode=Filesystem resources:Resources={} selector:LabelSelector
ClaimStatus phase?=Pending
Claim apiVersion=v1 kind=PersistentVolumeClaim metadata:ObjectMeta={} spec:ClaimSpec={} status:ClaimStatus={}
ClaimTemplate metadata:ObjectMeta={} spec:ClaimSpec
EmptyDir medium? sizeLimit~
HostPath type=''
Secret secretName? defaultMode=420
ConfigMap name? defaultMode=420
DownwardAPIProjection items:FieldSource
DownwardAPI +DownwardAPIProjection defaultMode=420
ServiceAccountToken audience? expirationSeconds=3600
Source downwardAPI:DownwardAPIProjection serviceAccountToken:ServiceAccountToken clusterTrustBundle:Selecting
Projected defaultMode=420 sources:Source
Image reference? pullPolicy?=@byTagOf/reference
Ephemeral volumeClaimTemplate:ClaimTemplate
CSI volumeAttributes? nodePublishSecretRef:Named
ReadOnly readOnly?
ISCSI iscsiInterface?=default fsType? readOnly? chapAuthDiscovery? chapAuthSession? secretRef:Named
Disk fsType? readOnly?
PartitionedDisk +Disk partition?
AzureDisk cachingMode=ReadWrite fsType=ext4 kind=Shared readOnly=false
CephFS path? user? secretFile? readOnly? secretRef:Named
Cinder +Disk secretRef:Named
Flex +Cinder options?
GitRepo revision? directory?
PhotonDisk fsType?
Quobyte readOnly? user? group? tenant?
RBD fsType? pool?=rbd user?=admin keyring?=/etc/ceph/keyring readOnly? secretRef:Named
ScaleIO sslEnabled? protectionDomain? storagePool? storageMode?=ThinProvisioned volumeName? fsType?=xfs readOnly?
  secretRef:Named
StorageOS volumeName? volumeNamespace? fsType? readOnly? secretRef:Named
Vsphere fsType? storagePolicyName? storagePolicyID?
Volume emptyDir:EmptyDir=@ifAlone hostPath:HostPath secret:Secret configMap:ConfigMap downwardAPI:DownwardAPI
  projected:Projected persistentVolumeClaim:ReadOnly image:Image ephemeral:Ephemeral csi:CSI nfs:ReadOnly iscsi:ISCSI fc:Disk
  awsElasticBlockStore:PartitionedDisk azureDisk:AzureDisk azureFile:ReadOnly cephfs:CephFS cinder:Cinder
  flexVolume:Flex gcePersistentDisk:PartitionedDisk gitRepo:GitRepo glusterfs:ReadOnly photonPersistentDisk:PhotonDisk
  portworxVolume:Disk quobyte:Quobyte rbd:RBD scaleIO:ScaleIO storageos:StorageOS vsphereVolume:Vsphere

Toleration key? operator? value? effect?
DNSConfig options:Named
AffinityTerm +Selecting namespaceSelector:LabelSelector
WeightedTerm podAffinityTerm:AffinityTerm
PodAffinity requiredDuringSchedulingIgnoredDuringExecution:AffinityTerm
  preferredDuringSchedulingIgnoredDuringExecution:WeightedTerm
Affinity podAffinity:PodAffinity podAntiAffinity:PodAffinity
PodSpec serviceAccountName? serviceAccount?=@alias/serviceAccountName nodeName? hostNetwork? hostPID? hostIPC? hostname?
  subdomain? priorityClassName? nodeSelector? overhead?* dnsPolicy?=ClusterFirst restartPolicy?=Always
  securityContext:SecurityContext={} terminationGracePeriodSeconds=30 schedulerName?=default-scheduler
  containers[name]:Container initContainers[name]:Container ephemeralContainers[name]:Container volumes[name]!:Volume
  resources:Resources tolerations:Toleration imagePullSecrets[name]:Named hostAliases[ip]
  topologySpreadConstraints[topologyKey]:Selecting schedulingGates[name] resourceClaims[name]! dnsConfig:DNSConfig
  affinity:Affinity
PodSpecOfPod +PodSpec enableServiceLinks=true
PodStatus +Conditions hostIPs[ip] podIPs[ip] resourceClaimStatuses[name]!
Pod metadata:ObjectMeta spec:PodSpecOfPod status:PodStatus
PodTemplateSpec metadata:ObjectMeta={} spec:PodSpec={}
PodTemplate metadata:ObjectMeta template:PodTemplateSpec

DeploymentRollingUpdate maxUnavailable=25% maxSurge=25%
DeploymentStrategy rollingUpdate:DeploymentRollingUpdate=@ifRolling type?=RollingUpdate
DeploymentSpec minReadySeconds? paused? replicas=1 strategy!:DeploymentStrategy={} revisionHistoryLimit=10
  progressDeadlineSeconds=600 selector:LabelSelector template:PodTemplateSpec
Deployment metadata:ObjectMeta spec:DeploymentSpec status:Conditions
DaemonSetRollingUpdate maxUnavailable=1 maxSurge=0
DaemonSetUpdateStrategy rollingUpdate:DaemonSetRollingUpdate=@ifRolling type?=RollingUpdate
DaemonSetSpec minReadySeconds? updateStrategy:DaemonSetUpdateStrategy={} revisionHistoryLimit=10 selector:LabelSelector
  template:PodTemplateSpec
DaemonSet metadata:ObjectMeta spec:DaemonSetSpec status:Conditions
StatefulSetRollingUpdate partition=0
StatefulSetUpdateStrategy rollingUpdate:StatefulSetRollingUpdate=@ifUntyped type?=RollingUpdate
ClaimRetentionPolicy whenDeleted?=Retain whenScaled?=Retain
StatefulSetSpec minReadySeconds? podManagementPolicy?=OrderedReady updateStrategy:StatefulSetUpdateStrategy={}
  persistentVolumeClaimRetentionPolicy:ClaimRetentionPolicy={} replicas=1 revisionHistoryLimit=10 serviceName=''
  selector:LabelSelector template:PodTemplateSpec volumeClaimTemplates:Claim
StatefulSet metadata:ObjectMeta spec:StatefulSetSpec status:Conditions
ReplicaSetSpec minReadySeconds? replicas=1 selector:LabelSelector template:PodTemplateSpec
ReplicaSet metadata:ObjectMeta spec:ReplicaSetSpec status:Conditions

KruiseProbe +Probe grpc
KruiseContainer +Container livenessProbe:KruiseProbe readinessProbe:KruiseProbe startupProbe:KruiseProbe
KruiseMainContainer +KruiseContainer imagePullPolicy?=Always
KruisePodSpec +PodSpec containers:KruiseMainContainer initContainers:KruiseContainer ephemeralContainers:KruiseContainer
KruiseTemplate metadata:ObjectMeta={} spec:KruisePodSpec={}
CloneSetClaim spec:ClaimSpec
CloneSetUpdateStrategy type?=ReCreate paused? partition=0 maxUnavailable=20% maxSurge=0
CloneSetScaleStrategy disablePVCReuse?
CloneSetSpec minReadySeconds? replicas=1 revisionHistoryLimit=10 updateStrategy:CloneSetUpdateStrategy={}
  selector:LabelSelector template:KruiseTemplate volumeClaimTemplates:CloneSetClaim scaleStrategy:CloneSetScaleStrategy
CloneSet metadata:ObjectMeta spec:CloneSetSpec
KruiseStatefulSetRollingUpdate partition=0 maxUnavailable=1 podUpdatePolicy?=ReCreate paused? minReadySeconds=0
KruiseStatefulSetUpdateStrategy rollingUpdate:KruiseStatefulSetRollingUpdate=@ifRolling type?=RollingUpdate
KruiseStatefulSetSpec podManagementPolicy?=OrderedReady updateStrategy:KruiseStatefulSetUpdateStrategy={} replicas=1
  revisionHistoryLimit=10 serviceName? selector:LabelSelector template:KruiseTemplate volumeClaimTemplates:CloneSetClaim
KruiseStatefulSet metadata:ObjectMeta spec:KruiseStatefulSetSpec
KruiseDaemonSetRollingUpdate rollingUpdateType?=Standard
KruiseDaemonSetUpdateStrategy rollingUpdate:KruiseDaemonSetRollingUpdate=@ifRolling type?=RollingUpdate
KruiseDaemonSetSpec burstReplicas=250 updateStrategy:KruiseDaemonSetUpdateStrategy={} minReadySeconds?
  revisionHistoryLimit=10 selector:LabelSelector
KruiseDaemonSet metadata:ObjectMeta spec:KruiseDaemonSetSpec
";

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ListMerge {
    /// The newer list replaces the older one (no tag, the default).
    Atomic,
    /// A set of scalars: what is new is added (`patchStrategy:"merge"` without a merge key).
    Set,
    /// A list of maps, matched by this field (`patchStrategy:"merge"` with `patchMergeKey`).
    ByKey(&'static str),
}

#[derive(Clone, Copy, Debug)]
pub struct Field {
    pub name: &'static str,
    pub list: ListMerge,
    /// The keys that the newer map (or list element) lacks are cleared (`patchStrategy:"retainKeys"`).
    pub retain_keys: bool,
    /// It is left out where it is zero or empty.
    pub left_out: bool,
    pub is_quantity: bool,
    pub has_quantities: bool,
    /// What it has where it is missing, as it is written in the table.
    pub default: Option<&'static str>,
    /// The fields below: of the map itself, or of each element of the list.
    pub below: Schema,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Schema(&'static str);

impl Schema {
    /// Merges maps key by key and replaces every list, and fills in nothing.
    pub const PLAIN: Self = Self("");
    pub const POD: Self = Self("Pod");
    /// `v1.PodTemplateSpec`, such as a Deployment's `spec.template`.
    pub const POD_TEMPLATE: Self = Self("PodTemplateSpec");
    /// Returns what the table has of a kind; nothing of one that it does not name.
    pub const fn named(kind: &'static str) -> Self {
        Self(kind)
    }

    pub fn fields(self) -> &'static [Field] {
        TYPES.get(self.0).map_or(&[], Vec::as_slice)
    }

    /// Looks up a field of this type; what the table does not name merges by default.
    pub fn field(self, name: &str) -> Field {
        self.fields().iter().find(|field| field.name == name).copied().unwrap_or_else(|| Field::parse(""))
    }
}

static TYPES: LazyLock<BTreeMap<&'static str, Vec<Field>>> = LazyLock::new(|| {
    let mut types: BTreeMap<&str, Vec<Field>> = BTreeMap::new();
    let mut of = "";
    for line in TABLE.lines() {
        let mut words = line.split_whitespace();
        if !line.starts_with(' ') {
            of = words.next().unwrap_or_default();
        }
        let mut fields = types.remove(of).unwrap_or_default();
        for word in words {
            if let Some(base) = word.strip_prefix('+') {
                fields.extend(types.get(base).into_iter().flatten());
            } else {
                let field = Field::parse(word);
                fields.retain(|known| known.name != field.name);
                fields.push(field);
            }
        }
        types.insert(of, fields);
    }
    types
});

impl Field {
    /// An object of this type, which is a field of none.
    pub(super) fn whole(below: Schema) -> Self {
        Self { below, ..Self::parse("") }
    }

    fn parse(word: &'static str) -> Self {
        let (word, default) = word.split_once('=').map_or((word, None), |(word, text)| (word, Some(text)));
        let (word, below) = word.split_once(':').unwrap_or((word, ""));
        let (name, marks) = word.split_at(word.find(['[', '!', '?', '~', '*']).unwrap_or(word.len()));
        let list = match marks.strip_prefix('[').and_then(|rest| rest.split(']').next()) {
            None => ListMerge::Atomic,
            Some("") => ListMerge::Set,
            Some(key) => ListMerge::ByKey(key),
        };
        let [retain_keys, left_out, is_quantity, has_quantities] = ['!', '?', '~', '*'].map(|it| marks.contains(it));
        Self { name, list, retain_keys, left_out, is_quantity, has_quantities, default, below: Schema(below) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_has_a_row_for_every_type_and_every_kind() {
        for kind in ["Pod", "PodTemplate", "Deployment", "StatefulSet", "DaemonSet", "ReplicaSet", "CloneSet"] {
            assert!(!Schema::named(kind).fields().is_empty(), "{kind}");
        }
        for field in TYPES.values().flatten().filter(|field| field.below != Schema::PLAIN) {
            assert!(!field.below.fields().is_empty(), "{field:?}");
        }
    }

    #[test]
    fn a_field_is_read_as_it_is_written() {
        let field = Field::parse("volumes[name]!:Volume");
        assert_eq!((field.name, field.list, field.below), ("volumes", ListMerge::ByKey("name"), Schema("Volume")));
        assert!(field.retain_keys && !field.left_out && !field.is_quantity);
        let field = Field::parse("divisor?~='0'");
        assert!(field.left_out && field.is_quantity && !field.has_quantities);
        assert_eq!((field.name, field.default), ("divisor", Some("'0'")));
    }
}
