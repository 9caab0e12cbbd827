//! What the server makes of a template: a pod that is created by a dry run.

use serde_json::Value;

use super::Cluster;
use super::error::ClusterError;
use super::send::read_pod;
use engine::kinds::PODS;
use engine::plan::{LiveWorkload, Made};
use engine::status::{WorkloadStatus, pod_to_create, recorded_as_made, status};

impl Cluster {
    /// Returns the state of a workload. Where pods differ from its template, the server is asked once whether it makes that of
    /// the template; the answer is kept in `live`.
    pub async fn status(&self, live: &mut LiveWorkload) -> WorkloadStatus {
        let found = status(live);
        if !found.has_drifted() || live.surroundings.made != Made::NotAsked {
            return found;
        }
        self.ask_what_is_made(live, None).await;
        status(live)
    }

    /// Asks what the server makes of the template, and of the one that follows it; the answers are kept in `live`.
    pub async fn ask_what_is_made(&self, live: &mut LiveWorkload, next: Option<&Value>) {
        let of_next = async {
            match next {
                Some(next) => self.made(live, next).await,
                None => Made::NotAsked,
            }
        };
        let (made, made_next) = futures::join!(self.made(live, live.workload.template()), of_next);
        (live.surroundings.made, live.surroundings.made_next) = (made, made_next);
    }

    async fn made(&self, live: &LiveWorkload, template: &Value) -> Made {
        let (namespace, pod) = (&live.workload.reference.namespace, pod_to_create(live, template));
        let made = self.create(PODS.into(), namespace, &pod, &[("dryRun", "All")]).await.and_then(|pod| read_pod(&pod));
        let recorded = |error: ClusterError| recorded_as_made(live, template).ok_or_else(|| error.to_string());
        made.or_else(recorded).map_or_else(Made::NotKnown, |pod| Made::Pod(Box::new(pod)))
    }
}
