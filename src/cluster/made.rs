//! What the server makes of a template: a pod that is created by a dry run.

use serde_json::Value;

use super::Cluster;
use super::error::ClusterError;
use super::send::read_pod;
use engine::kinds::PODS;
use engine::plan::{LiveWorkload, Made};
use engine::status::{WorkloadStatus, note_kept, pod_to_create, recorded_as_made, status, template_patch};

impl Cluster {
    /// Returns the state of a workload. Where pods differ from its template, the server is asked once whether it makes that of
    /// the template; the answer is kept in `live`.
    pub async fn status(&self, live: &mut LiveWorkload) -> WorkloadStatus {
        let found = status(live);
        if !found.has_drifted() || live.surroundings.made != Made::NotAsked {
            return found;
        }
        live.surroundings.made = self.what_is_made(live, None).await.0;
        status(live)
    }

    /// Returns what the server makes of the template, and of the one that follows it.
    pub async fn what_is_made(&self, live: &LiveWorkload, next: Option<&Value>) -> (Made, Made) {
        let of_next = async {
            match next {
                Some(next) => self.made(live, next).await,
                None => Made::NotAsked,
            }
        };
        let (mut made, made_next) = futures::join!(self.made(live, live.workload.template()), of_next);
        // A policy may act on updates alone. Who may not patch pods does not learn of it.
        if let Some(patch) = template_patch(live, &made)
            && let Ok(answer) = self.send(&patch, true).await
        {
            note_kept(live, &mut made, &answer);
        }
        (made, made_next)
    }

    async fn made(&self, live: &LiveWorkload, template: &Value) -> Made {
        let (namespace, pod) = (&live.workload.reference.namespace, pod_to_create(live, template));
        let made = self.create(PODS.into(), namespace, &pod, &[("dryRun", "All")]).await.and_then(|pod| read_pod(&pod));
        let recorded = |error: ClusterError| recorded_as_made(live, template).ok_or_else(|| error.to_string());
        made.or_else(recorded).map_or_else(Made::NotKnown, |pod| Made::Pod(Box::new(pod)))
    }
}
