//! The kinds that the fake serves, and what a path means.

/// One kind as discovery lists it.
#[derive(Debug, Clone, Copy)]
pub struct Resource {
    pub group: &'static str,
    pub version: &'static str,
    pub plural: &'static str,
    pub kind: &'static str,
    pub short_names: &'static [&'static str],
    pub namespaced: bool,
    /// Subresources beside the object itself.
    pub subresources: &'static [&'static str],
    /// Nothing works on it here: a whole cluster shows that there is none, and takes none.
    pub inert: bool,
}

const fn core(
    plural: &'static str,
    kind: &'static str,
    short_names: &'static [&'static str],
    subresources: &'static [&'static str],
) -> Resource {
    Resource { group: "", version: "v1", plural, kind, short_names, namespaced: true, subresources, inert: false }
}

const fn grouped(
    (group, version): (&'static str, &'static str),
    plural: &'static str,
    kind: &'static str,
    short_names: &'static [&'static str],
    subresources: &'static [&'static str],
) -> Resource {
    Resource { group, version, plural, kind, short_names, namespaced: true, subresources, inert: false }
}

const fn cluster_wide(resource: Resource) -> Resource {
    Resource { namespaced: false, ..resource }
}

const fn inert(resource: Resource) -> Resource {
    Resource { inert: true, ..resource }
}

const STATUS: &[&str] = &["status"];
const SCALED: &[&str] = &["scale", "status"];
const APPS: (&str, &str) = ("apps", "v1");

/// Every kind that is served, in the order of discovery.
pub(crate) static RESOURCES: &[Resource] = &[
    core("configmaps", "ConfigMap", &["cm"], &[]),
    core("events", "Event", &["ev"], &[]),
    inert(core("limitranges", "LimitRange", &["limits"], &[])),
    cluster_wide(core("namespaces", "Namespace", &["ns"], STATUS)),
    cluster_wide(core("nodes", "Node", &["no"], STATUS)),
    inert(core("persistentvolumeclaims", "PersistentVolumeClaim", &["pvc"], STATUS)),
    core("pods", "Pod", &["po"], &["eviction", "log", "resize", "status"]),
    inert(core("replicationcontrollers", "ReplicationController", &["rc"], SCALED)),
    inert(core("resourcequotas", "ResourceQuota", &["quota"], STATUS)),
    core("secrets", "Secret", &[], &[]),
    core("serviceaccounts", "ServiceAccount", &["sa"], &[]),
    core("services", "Service", &["svc"], STATUS),
    grouped(APPS, "controllerrevisions", "ControllerRevision", &[], &[]),
    grouped(APPS, "daemonsets", "DaemonSet", &["ds"], STATUS),
    grouped(APPS, "deployments", "Deployment", &["deploy"], SCALED),
    grouped(APPS, "replicasets", "ReplicaSet", &["rs"], SCALED),
    grouped(APPS, "statefulsets", "StatefulSet", &["sts"], SCALED),
    inert(grouped(("autoscaling", "v2"), "horizontalpodautoscalers", "HorizontalPodAutoscaler", &["hpa"], STATUS)),
    inert(grouped(("batch", "v1"), "cronjobs", "CronJob", &["cj"], STATUS)),
    inert(grouped(("batch", "v1"), "jobs", "Job", &[], STATUS)),
    grouped(("discovery.k8s.io", "v1"), "endpointslices", "EndpointSlice", &[], &[]),
    grouped(("policy", "v1"), "poddisruptionbudgets", "PodDisruptionBudget", &["pdb"], STATUS),
];

/// OpenKruise's, which a server has once it is installed, and does not list.
static RECREATE_REQUESTS: Resource =
    grouped(("apps.kruise.io", "v1alpha1"), "containerrecreaterequests", "ContainerRecreateRequest", &["crr"], STATUS);

fn every() -> impl Iterator<Item = &'static Resource> {
    RESOURCES.iter().chain([&RECREATE_REQUESTS])
}

/// What `kubectl get all` shows.
const ALL: &[&str] = &[
    "cronjobs",
    "daemonsets",
    "deployments",
    "horizontalpodautoscalers",
    "jobs",
    "pods",
    "replicasets",
    "replicationcontrollers",
    "services",
    "statefulsets",
];

const READ: &[&str] = &["get", "list", "watch"];
const VERBS: &[&str] = &["create", "delete", "deletecollection", "get", "list", "patch", "update", "watch"];

impl Resource {
    /// Returns the kind with this `apiVersion` and `kind`.
    pub fn of_kind(api_version: &str, kind: &str) -> Option<&'static Self> {
        every().find(|resource| resource.kind == kind && resource.api_version() == api_version)
    }

    /// Returns the kind with this plural name, whatever its group.
    pub fn of_plural(plural: &str) -> Option<&'static Self> {
        every().find(|resource| resource.plural == plural)
    }

    /// Returns what may be done with it.
    pub fn verbs(&self, whole: bool) -> &'static [&'static str] {
        if self.inert && whole { READ } else { VERBS }
    }

    /// Returns what it is listed under together with others.
    pub fn categories(&self) -> &'static [&'static str] {
        if ALL.contains(&self.plural) { &["all"] } else { &[] }
    }

    /// Returns group, version and kind of what a subresource is written as.
    pub fn kind_of(&self, subresource: &str) -> (&'static str, &'static str, &'static str) {
        match subresource {
            "eviction" => ("policy", "v1", "Eviction"),
            "scale" => ("autoscaling", "v1", "Scale"),
            _ => (self.group, self.version, self.kind),
        }
    }

    /// Returns what may be done with a subresource.
    pub fn verbs_of(&self, subresource: &str) -> &'static [&'static str] {
        match subresource {
            "eviction" => &["create"],
            "log" => &["get"],
            _ => &["get", "patch", "update"],
        }
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
        let resource = every().find(|resource| {
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
