//! Plain requests for objects as raw JSON, so that no field is lost.

use http::Request;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use super::Cluster;
use super::error::{ClusterError, RequestDescription, Result};
use engine::k8s::events::{Event, PodEvents};
use engine::k8s::names::PodKey;
use engine::k8s::permissions::AccessVerb;
use engine::kinds::{KindSpec, PODS, WorkloadKind};
use engine::state::durable::ObjectKind;

/// Objects asked for at once; longer lists come in pages (kubectl's `--chunk-size`).
const PAGE: usize = 500;

#[derive(Debug, Clone, Copy)]
pub(super) struct Resource {
    group: &'static str,
    version: &'static str,
    plural: &'static str,
}

const fn resource(group: &'static str, version: &'static str, plural: &'static str) -> Resource {
    Resource { group, version, plural }
}

pub(super) const NODES: Resource = resource("", "v1", "nodes");
pub(super) const NAMESPACES: Resource = resource("", "v1", "namespaces");
const CONFIG_MAPS: Resource = resource("", "v1", "configmaps");
const SECRETS: Resource = resource("", "v1", "secrets");
pub(super) const EVENTS: Resource = resource("", "v1", "events");
pub(super) const BUDGETS: Resource = resource("policy", "v1", "poddisruptionbudgets");
pub(super) const SERVICES: Resource = resource("", "v1", "services");
pub(super) const ENDPOINT_SLICES: Resource = resource("discovery.k8s.io", "v1", "endpointslices");
pub(super) const NETWORK_POLICIES: Resource = resource("networking.k8s.io", "v1", "networkpolicies");
pub(super) const AUTOSCALERS: Resource = resource("autoscaling", "v2", "horizontalpodautoscalers");
/// Not every cluster has them.
pub(super) const VERTICAL_AUTOSCALERS: Resource = resource("autoscaling.k8s.io", "v1", "verticalpodautoscalers");
/// Not every cluster has them.
const RECREATE_REQUESTS: Resource = resource("apps.kruise.io", "v1alpha1", "containerrecreaterequests");
pub(super) const CONTROLLER_REVISIONS: Resource = resource("apps", "v1", "controllerrevisions");
pub(super) const ACCESS_REVIEWS: Resource = resource("authorization.k8s.io", "v1", "selfsubjectaccessreviews");
pub(super) const SUBJECT_REVIEWS: Resource = resource("authentication.k8s.io", "v1", "selfsubjectreviews");

impl From<&KindSpec> for Resource {
    fn from(facts: &KindSpec) -> Self {
        Self { group: facts.group, version: facts.version, plural: facts.plural }
    }
}

impl From<WorkloadKind> for Resource {
    fn from(kind: WorkloadKind) -> Self {
        Self::from(kind.spec())
    }
}

impl From<ObjectKind> for Resource {
    fn from(kind: ObjectKind) -> Self {
        match kind {
            ObjectKind::Workload(kind) => kind.into(),
            ObjectKind::ControllerRevision => CONTROLLER_REVISIONS,
            ObjectKind::RecreateRequest => RECREATE_REQUESTS,
        }
    }
}

impl Resource {
    pub(super) fn describe(self, verb: AccessVerb, namespace: Option<&str>, name: Option<&str>) -> RequestDescription {
        let resource =
            if self.group.is_empty() { self.plural.to_owned() } else { format!("{}.{}", self.plural, self.group) };
        let namespace = namespace.filter(|namespace| !namespace.is_empty()).map(str::to_owned);
        let name = name.map(str::to_owned);
        RequestDescription { namespace, name, ..RequestDescription::new(verb, &resource) }
    }

    fn path(self, namespace: Option<&str>, name: Option<&str>) -> String {
        let mut path = match self.group {
            "" => format!("/api/{}", self.version),
            group => format!("/apis/{group}/{}", self.version),
        };
        // What is in no namespace has none.
        if let Some(namespace) = namespace.filter(|namespace| !namespace.is_empty()) {
            path.push_str("/namespaces/");
            path.push_str(&encode(namespace));
        }
        path.push('/');
        path.push_str(self.plural);
        if let Some(name) = name {
            path.push('/');
            path.push_str(&encode(name));
        }
        path
    }
}

/// Percent-encodes everything but what RFC 3986 calls unreserved: what the user typed stays one segment, one value.
fn encode(text: &str) -> String {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'.' | b'_' | b'~');
    text.bytes().map(|byte| if plain(byte) { char::from(byte).to_string() } else { format!("%{byte:02X}") }).collect()
}

fn query(pairs: &[(&str, &str)]) -> String {
    let pairs: Vec<String> = pairs.iter().map(|(key, value)| format!("{key}={}", encode(value))).collect();
    if pairs.is_empty() { String::new() } else { format!("?{}", pairs.join("&")) }
}

#[derive(Deserialize)]
struct Page<T> {
    #[serde(default)]
    metadata: PageMetadata,
    #[serde(default = "Vec::new")]
    items: Vec<T>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct PageMetadata {
    #[serde(rename = "continue")]
    next: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum PatchKind {
    Json,
    StrategicMerge,
    Merge,
    Apply,
}

impl PatchKind {
    fn content_type(self) -> &'static str {
        match self {
            Self::Json => "application/json-patch+json",
            Self::StrategicMerge => "application/strategic-merge-patch+json",
            Self::Merge => "application/merge-patch+json",
            Self::Apply => "application/apply-patch+yaml",
        }
    }
}

impl Cluster {
    pub(super) async fn request<T: DeserializeOwned>(
        &self,
        request: http::request::Builder,
        body: Vec<u8>,
        what: &RequestDescription,
    ) -> Result<T> {
        let request = request.body(body).map_err(|error| ClusterError::NotSent { why: error.to_string() })?;
        self.client.request::<T>(request).await.map_err(|error| ClusterError::from_kube(error, what))
    }

    pub(super) async fn get(&self, resource: Resource, namespace: Option<&str>, name: &str) -> Result<Value> {
        let what = resource.describe(AccessVerb::Get, namespace, Some(name));
        self.request(Request::get(resource.path(namespace, Some(name))), Vec::new(), &what).await
    }

    /// The same of an object that may not be there.
    pub(super) async fn get_if_there(
        &self,
        resource: Resource,
        namespace: Option<&str>,
        name: &str,
    ) -> Result<Option<Value>> {
        match self.get(resource, namespace, name).await {
            Err(ClusterError::NotFound { .. }) => Ok(None),
            answer => answer.map(Some),
        }
    }

    /// Reads all objects that match, page by page; `namespace` `None` is all namespaces.
    pub(super) async fn list<T: DeserializeOwned>(
        &self,
        resource: Resource,
        namespace: Option<&str>,
        selectors: &[(&str, &str)],
    ) -> Result<Vec<T>> {
        let what = resource.describe(AccessVerb::List, namespace, None);
        let limit = PAGE.to_string();
        let mut items = Vec::new();
        let mut next = String::new();
        loop {
            let mut pairs = selectors.to_vec();
            pairs.push(("limit", &limit));
            if !next.is_empty() {
                pairs.push(("continue", &next));
            }
            let uri = format!("{}{}", resource.path(namespace, None), query(&pairs));
            match self.request::<Page<T>>(Request::get(uri), Vec::new(), &what).await {
                // The snapshot behind the pages has expired: from the beginning.
                Err(ClusterError::Gone { .. }) if !next.is_empty() => {
                    items.clear();
                    next.clear();
                    continue;
                }
                Err(error) => return Err(error),
                Ok(page) => {
                    items.extend(page.items);
                    next = page.metadata.next;
                }
            }
            if next.is_empty() {
                return Ok(items);
            }
        }
    }

    /// Reads the end of a container's log: at most `lines` lines and `bytes` bytes. Invalid UTF-8 is replaced.
    pub(super) async fn log_of(
        &self,
        pod: &PodKey,
        container: &str,
        previous: bool,
        (lines, bytes): (usize, usize),
    ) -> Result<String> {
        let pods: Resource = PODS.into();
        let mut what = pods.describe(AccessVerb::Get, Some(&pod.namespace), Some(&pod.name));
        what.subresource = Some("log".to_owned());
        let (lines, bytes) = (lines.to_string(), bytes.to_string());
        let mut pairs = vec![("container", container), ("tailLines", &lines), ("limitBytes", &bytes)];
        if previous {
            pairs.push(("previous", "true"));
        }
        let uri = format!("{}/log{}", pods.path(Some(&pod.namespace), Some(&pod.name)), query(&pairs));
        let request =
            Request::get(uri).body(Vec::new()).map_err(|error| ClusterError::NotSent { why: error.to_string() })?;
        match self.client.request_text(request).await {
            Ok(text) => Ok(text),
            Err(kube::Error::FromUtf8(error)) => Ok(String::from_utf8_lossy(error.as_bytes()).into_owned()),
            Err(error) => Err(ClusterError::from_kube(error, &what)),
        }
    }

    /// Reads the names of the first page of objects, without the objects where the server can leave them out.
    pub(super) async fn list_names(&self, resource: Resource, namespace: Option<&str>) -> Result<Vec<String>> {
        let what = resource.describe(AccessVerb::List, namespace, None);
        let uri = format!("{}?limit={PAGE}", resource.path(namespace, None));
        let names_alone = "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1,application/json";
        let request = Request::get(uri).header(http::header::ACCEPT, names_alone);
        let page: Page<Value> = self.request(request, Vec::new(), &what).await?;
        let name = |item: &Value| Some(item.pointer("/metadata/name")?.as_str()?.to_owned());
        Ok(page.items.iter().filter_map(name).collect())
    }

    /// Makes an object; `namespace` is `None` for one that belongs to none, such as a review.
    pub(super) async fn create(
        &self,
        resource: Resource,
        namespace: Option<&str>,
        object: &Value,
        parameters: &[(&str, &str)],
    ) -> Result<Value> {
        let what = resource.describe(AccessVerb::Create, namespace, None);
        let request = Request::post(format!("{}{}", resource.path(namespace, None), query(parameters)))
            .header(http::header::CONTENT_TYPE, "application/json");
        self.request(request, object.to_string().into_bytes(), &what).await
    }

    /// Deletes exactly this object; one of the same name with another uid stays (409).
    pub(super) async fn delete(
        &self,
        resource: Resource,
        namespace: &str,
        name: &str,
        (uid, version): (&str, Option<&str>),
    ) -> Result<()> {
        let what = resource.describe(AccessVerb::Delete, Some(namespace), Some(name));
        let mut preconditions = serde_json::json!({"uid": uid});
        if let (Some(preconditions), Some(version)) = (preconditions.as_object_mut(), version) {
            preconditions.insert("resourceVersion".into(), version.into());
        }
        let options = serde_json::json!({
            "apiVersion": "v1", "kind": "DeleteOptions", "preconditions": preconditions,
            "propagationPolicy": "Background",
        });
        let request = Request::delete(resource.path(Some(namespace), Some(name)))
            .header(http::header::CONTENT_TYPE, "application/json");
        self.request::<Value>(request, options.to_string().into_bytes(), &what).await.map(drop)
    }

    pub(super) async fn patch(
        &self,
        resource: Resource,
        (namespace, name, subresource): (&str, &str, Option<&str>),
        (kind, body): (PatchKind, Vec<u8>),
        parameters: &[(&str, &str)],
    ) -> Result<Value> {
        let mut what = resource.describe(AccessVerb::Patch, Some(namespace), Some(name));
        what.subresource = subresource.map(str::to_owned);
        let path = resource.path(Some(namespace), Some(name));
        let part = subresource.map(|subresource| format!("/{subresource}")).unwrap_or_default();
        let uri = format!("{path}{part}{}", query(parameters));
        let request = Request::patch(uri).header(http::header::CONTENT_TYPE, kind.content_type());
        self.request(request, body, &what).await
    }

    pub async fn has_namespace(&self, name: &str) -> Option<bool> {
        self.get_if_there(NAMESPACES, None, name).await.ok().map(|found| found.is_some())
    }

    /// Reads a ConfigMap or a Secret; `None` where it is not there.
    pub async fn configuration(&self, kind: &str, namespace: &str, name: &str) -> Result<Option<Value>> {
        let resource = if kind == "Secret" { SECRETS } else { CONFIG_MAPS };
        self.get_if_there(resource, Some(namespace), name).await
    }

    pub async fn workload_names(&self, kind: WorkloadKind, namespace: &str) -> Result<Vec<String>> {
        self.list_names(kind.into(), Some(namespace).filter(|_| !kind.spec().cluster_wide)).await
    }

    pub async fn namespace_names(&self) -> Result<Vec<String>> {
        self.list_names(NAMESPACES, None).await
    }

    pub async fn node_names(&self) -> Result<Vec<String>> {
        self.list_names(NODES, None).await
    }

    pub async fn server_version(&self) -> Result<String> {
        let what = RequestDescription::new(AccessVerb::Get, "version");
        let version: Value = self.request(Request::get("/version"), Vec::new(), &what).await?;
        Ok(version.get("gitVersion").and_then(Value::as_str).unwrap_or("unknown").to_owned())
    }

    /// Reads what the kubelet last said of a pod's containers: a hint where nothing else proves a restart.
    pub async fn pod_events(&self, pod: &PodKey) -> Result<PodEvents> {
        let selector = format!("involvedObject.uid={}", pod.uid);
        let events: Vec<Value> = self.list(EVENTS, Some(&pod.namespace), &[("fieldSelector", &selector)]).await?;
        Ok(PodEvents::of(&events.iter().map(Event::of).collect::<Vec<_>>()))
    }
}
