//! What the server makes of a template: a pod that is created by a dry run.

use super::Cluster;
use super::send::read_pod;
use engine::kinds::PODS;
use engine::plan::{LiveWorkload, Made};
use engine::status::{WorkloadStatus, pod_to_create, status};

impl Cluster {
    /// Returns the state of a workload. Where pods differ from its template, the server is asked once whether it makes that of
    /// the template; the answer is kept in `live`.
    pub async fn status(&self, live: &mut LiveWorkload) -> WorkloadStatus {
        let found = status(live);
        if !found.has_drifted() || live.surroundings.made != Made::NotAsked {
            return found;
        }
        let (namespace, pod) = (&live.workload.reference.namespace, pod_to_create(live));
        let made = self.create(PODS.into(), namespace, &pod, &[("dryRun", "All")]).await.and_then(|pod| read_pod(&pod));
        live.surroundings.made =
            made.map_or_else(|error| Made::NotKnown(error.to_string()), |pod| Made::Pod(Box::new(pod)));
        status(live)
    }
}
