//! The kinds that the fake serves, and what a path means.

/// One kind as discovery lists it.
#[derive(Debug)]
pub struct Resource {
    pub group: &'static str,
    pub version: &'static str,
    pub plural: &'static str,
    pub kind: &'static str,
    pub short_names: &'static [&'static str],
    pub namespaced: bool,
    /// Subresources beside the object itself.
    pub subresources: &'static [&'static str],
}

const fn core(
    plural: &'static str,
    kind: &'static str,
    short_names: &'static [&'static str],
    namespaced: bool,
    subresources: &'static [&'static str],
) -> Resource {
    Resource { group: "", version: "v1", plural, kind, short_names, namespaced, subresources }
}

const fn grouped(
    group: &'static str,
    version: &'static str,
    plural: &'static str,
    kind: &'static str,
    short_names: &'static [&'static str],
    subresources: &'static [&'static str],
) -> Resource {
    Resource { group, version, plural, kind, short_names, namespaced: true, subresources }
}

/// Every kind that the fake serves, in the order of discovery.
pub(crate) static RESOURCES: &[Resource] = &[
    core("configmaps", "ConfigMap", &["cm"], true, &[]),
    core("events", "Event", &["ev"], true, &[]),
    core("limitranges", "LimitRange", &["limits"], true, &[]),
    core("namespaces", "Namespace", &["ns"], false, &["status"]),
    core("nodes", "Node", &["no"], false, &["status"]),
    core("persistentvolumeclaims", "PersistentVolumeClaim", &["pvc"], true, &["status"]),
    core("pods", "Pod", &["po"], true, &["eviction", "log", "resize", "status"]),
    core("replicationcontrollers", "ReplicationController", &["rc"], true, &["status"]),
    core("resourcequotas", "ResourceQuota", &["quota"], true, &["status"]),
    core("secrets", "Secret", &[], true, &[]),
    core("serviceaccounts", "ServiceAccount", &["sa"], true, &[]),
    core("services", "Service", &["svc"], true, &["status"]),
    grouped("apps", "v1", "controllerrevisions", "ControllerRevision", &[], &[]),
    grouped("apps", "v1", "daemonsets", "DaemonSet", &["ds"], &["status"]),
    grouped("apps", "v1", "deployments", "Deployment", &["deploy"], &["status"]),
    grouped("apps", "v1", "replicasets", "ReplicaSet", &["rs"], &["status"]),
    grouped("apps", "v1", "statefulsets", "StatefulSet", &["sts"], &["status"]),
    grouped("autoscaling", "v2", "horizontalpodautoscalers", "HorizontalPodAutoscaler", &["hpa"], &["status"]),
    grouped("batch", "v1", "cronjobs", "CronJob", &["cj"], &["status"]),
    grouped("batch", "v1", "jobs", "Job", &[], &["status"]),
    grouped("discovery.k8s.io", "v1", "endpointslices", "EndpointSlice", &[], &[]),
    grouped("policy", "v1", "poddisruptionbudgets", "PodDisruptionBudget", &["pdb"], &["status"]),
];

impl Resource {
    /// Returns the kind with this `apiVersion` and `kind`.
    pub fn of_kind(api_version: &str, kind: &str) -> Option<&'static Self> {
        RESOURCES.iter().find(|resource| resource.kind == kind && resource.api_version() == api_version)
    }

    /// Returns the kind with this plural name, whatever its group.
    pub fn of_plural(plural: &str) -> Option<&'static Self> {
        RESOURCES.iter().find(|resource| resource.plural == plural)
    }

    /// Returns `v1` or `apps/v1`.
    pub fn api_version(&self) -> String {
        if self.group.is_empty() { self.version.to_owned() } else { format!("{}/{}", self.group, self.version) }
    }

    /// Returns the name as error messages give it: `pods`, `deployments.apps`.
    pub fn qualified(&self) -> String {
        if self.group.is_empty() { self.plural.to_owned() } else { format!("{}.{}", self.plural, self.group) }
    }
}

/// What a path points at.
#[derive(Debug, Clone)]
pub struct Target {
    pub resource: &'static Resource,
    /// Empty for cluster-scoped kinds, and for a list over all namespaces.
    pub namespace: String,
    /// Empty for a collection.
    pub name: String,
    pub subresource: String,
}

impl Target {
    /// Reads `/api/v1/...` and `/apis/GROUP/VERSION/...`; `None` if no kind is meant.
    pub fn parse(path: &str) -> Option<Self> {
        let mut words: Vec<&str> = path.split('/').filter(|word| !word.is_empty()).collect();
        let (group, version) = match *words.first()? {
            "api" if words.len() > 2 => ("", words.drain(..2).next_back()?),
            "apis" if words.len() > 3 => {
                let head: Vec<&str> = words.drain(..3).collect();
                (*head.get(1)?, *head.get(2)?)
            }
            _ => return None,
        };
        let mut namespace = "";
        if words.first() == Some(&"namespaces") && words.len() > 2 {
            namespace = words.drain(..2).next_back()?;
        }
        let resource = RESOURCES.iter().find(|resource| {
            (resource.group, resource.version, Some(&resource.plural)) == (group, version, words.first())
        })?;
        let word = |index: usize| words.get(index).copied().unwrap_or_default().to_owned();
        (words.len() <= 3).then(|| Self {
            resource,
            namespace: namespace.to_owned(),
            name: word(1),
            subresource: word(2),
        })
    }

    /// Returns `pods`, or `pods/status` with a subresource.
    pub fn resource_name(&self) -> String {
        if self.subresource.is_empty() {
            self.resource.plural.to_owned()
        } else {
            format!("{}/{}", self.resource.plural, self.subresource)
        }
    }
}
