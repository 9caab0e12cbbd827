//! Durable rollouts against the simulated controllers: the template, the history and the pods end up saying the same, no
//! pod is another one, and nothing of the rollout is left behind.

mod alive;
mod by_hand;
mod faults;
mod first_write;
mod holds;
mod left_by_others;
mod replaced;
mod replacing;
mod resized;
mod rollouts;
mod tolerations;
mod ways_out;
mod without_lock;

use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use serde_json::Value;

use crate::support::api_server::{ApiServer, Logged, Times, When};
use crate::support::builders::{self, Workload};
use crate::support::run::{Binary, Output};
use crate::support::scene::{images, server_with, two_containers, typed};

const LOCK: &str = "kubectl-inplace.io/rollout";
const HISTORY: &str = "kubectl-inplace.io/history";

/// One kind of workload called `w`, as it is typed and as the server has it.
#[derive(Clone, Copy)]
struct Kind {
    typed: &'static str,
    plural: &'static str,
    make: fn(&str) -> Workload,
    /// The steps on the owner, as they are reported.
    steps: &'static [&'static str],
    /// The writes that they are.
    writes: &'static [Write],
}

/// The n-th write of a kind of object, or of a subresource of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Write {
    verb: &'static str,
    plural: &'static str,
    nth: usize,
}

impl Write {
    const fn new(verb: &'static str, plural: &'static str, nth: usize) -> Self {
        Self { verb, plural, nth }
    }

    /// The request that is this write, and those like it after it.
    fn when(self) -> When {
        When::verb(self.verb).of(self.plural).for_real().after(self.nth)
    }

    fn is(self, logged: &Logged) -> bool {
        let method = if self.verb == "create" { "POST" } else { "PATCH" };
        let is_in = |part: &str| logged.path.split('/').any(|word| word == part);
        logged.method == method && self.plural.split('/').all(is_in)
    }
}

const KINDS: [Kind; 4] = [
    Kind {
        typed: "deploy/w",
        plural: "deployments",
        make: Workload::deployment,
        steps: &[
            "set the template",
            "saved the outgoing template as a revision",
            "set the ReplicaSet's template",
            "unpaused",
            "recorded the rollout, released the lock",
        ],
        writes: &[
            Write::new("patch", "deployments", 0),
            Write::new("create", "replicasets", 0),
            Write::new("patch", "replicasets", 0),
            Write::new("patch", "deployments", 1),
            Write::new("patch", "deployments", 2),
            Write::new("patch", "replicasets", 1),
        ],
    },
    Kind {
        typed: "sts/w",
        plural: "statefulsets",
        make: Workload::stateful_set,
        steps: &["set the template", "restored the update strategy", "recorded the rollout, released the lock"],
        writes: &[
            Write::new("patch", "statefulsets", 0),
            Write::new("patch", "statefulsets", 1),
            Write::new("patch", "statefulsets", 2),
        ],
    },
    Kind {
        typed: "ds/w",
        plural: "daemonsets",
        make: Workload::daemon_set,
        steps: &["set the template", "restored the update strategy", "recorded the rollout, released the lock"],
        writes: &[
            Write::new("patch", "daemonsets", 0),
            Write::new("patch", "daemonsets", 1),
            Write::new("patch", "daemonsets", 2),
        ],
    },
    Kind {
        typed: "rs/w",
        plural: "replicasets",
        make: Workload::replica_set,
        steps: &["set the template", "recorded the rollout, released the lock"],
        writes: &[Write::new("patch", "replicasets", 0), Write::new("patch", "replicasets", 1)],
    },
];

/// A server with a workload of a kind, and what must be the same in the end.
struct Scene {
    kind: Kind,
    server: ApiServer,
    uids: Vec<Value>,
    spec: Value,
}

impl Scene {
    fn new(kind: Kind) -> Self {
        Self::with(kind, |workload| workload)
    }

    fn with(kind: Kind, edit: impl FnOnce(Workload) -> Workload) -> Self {
        let nodes = ["node-a", "node-b", "node-c"];
        let workload = (kind.make)("w");
        let workload = if kind.plural == "daemonsets" { workload.nodes(&nodes) } else { workload };
        let server = server_with([edit(two_containers(workload))]);
        if kind.plural == "daemonsets" {
            server.insert(nodes.iter().skip(1).map(|node| builders::node(node, "v1.36.3")));
        }
        server.run_controllers(true);
        let spec = server.object(kind.plural, "w").map(|owner| owner["spec"].clone()).unwrap_or_default();
        Self { kind, uids: uids(&server), spec, server }
    }

    /// The kind as printed commands have it.
    fn singular(&self) -> &'static str {
        self.kind.plural.trim_end_matches('s')
    }

    /// Several pods that fail at once change no faster than a busy machine patches them.
    fn fails_slowly(self) -> Self {
        self.server.kubelet(Times { back_off: Duration::from_millis(400), ..Times::default() });
        self
    }

    fn run(&self, verb: &str, more: &str) -> Output {
        self.typed(verb, more).run()
    }

    fn typed(&self, verb: &str, more: &str) -> Binary {
        typed(&self.server, &format!("{verb} {} {more} --yes --min-ready-seconds 0", self.kind.typed))
    }

    fn apply(&self, image: &str) -> Output {
        self.run("apply", &format!("side={image}"))
    }

    fn owner(&self) -> Value {
        self.server.object(self.kind.plural, "w").unwrap_or_default()
    }

    fn history(&self) -> Vec<Value> {
        let text = self.owner()["metadata"]["annotations"][HISTORY].clone();
        text.as_str().and_then(|text| serde_json::from_str(text).ok()).unwrap_or_default()
    }

    fn lock(&self) -> Value {
        let text = self.owner()["metadata"]["annotations"][LOCK].clone();
        text.as_str().and_then(|text| serde_json::from_str(text).ok()).unwrap_or_default()
    }

    /// Everything says the image, and nothing else is other than before: no pod, no strategy, no pause, no lock.
    #[track_caller]
    fn is_settled(&self, image: &str, what: &str) {
        let owner = self.owner();
        assert_eq!(images(&self.server, "side"), vec![image; self.uids.len()], "{what}: the pods");
        assert_eq!(uids(&self.server), self.uids, "{what}: no pod was replaced");
        let mut wanted = self.spec.clone();
        wanted["template"]["spec"]["containers"][1]["image"] = image.into();
        assert_eq!(owner["spec"], wanted, "{what}: the owner's spec");
        for plural in [self.kind.plural, "replicasets"] {
            for object in self.server.objects(plural) {
                assert!(object["metadata"]["annotations"].get(LOCK).is_none(), "{what}: a lock is left: {object}");
            }
        }
        self.is_what_the_controller_wants(image, what);
    }

    /// The controller has no reason to replace a pod: that would show only later.
    #[track_caller]
    fn is_what_the_controller_wants(&self, image: &str, what: &str) {
        let pods = self.server.objects("pods");
        match self.kind.plural {
            "deployments" => {
                let sets = self.server.objects("replicasets");
                let with_pods: Vec<&Value> = sets.iter().filter(|set| set["spec"]["replicas"] != 0).collect();
                assert_eq!(with_pods.len(), 1, "{what}: one ReplicaSet has the pods");
                assert_eq!(with_pods[0]["spec"]["template"]["spec"]["containers"][1]["image"], image, "{what}");
                let spec = self.owner()["spec"]["template"]["spec"].clone();
                assert_eq!(with_pods[0]["spec"]["template"]["spec"], spec, "{what}");
                let same = sets.iter().filter(|set| set["spec"]["template"]["spec"] == spec);
                assert_eq!(same.count(), 1, "{what}: no other ReplicaSet holds the template");
            }
            "statefulsets" => {
                let wanted = &self.owner()["status"]["updateRevision"];
                assert!(
                    pods.iter().all(|pod| pod["metadata"]["labels"]["controller-revision-hash"] == *wanted),
                    "{what}"
                );
            }
            "daemonsets" => {
                let revisions = self.server.objects("controllerrevisions");
                let newest = revisions.iter().max_by_key(|one| one["revision"].as_u64()).cloned().unwrap_or_default();
                let wanted = &newest["metadata"]["labels"]["controller-revision-hash"];
                assert!(
                    pods.iter().all(|pod| pod["metadata"]["labels"]["controller-revision-hash"] == *wanted),
                    "{what}"
                );
            }
            _ => {}
        }
    }

    /// The writes that are not about pods: method, plural, and name.
    fn owner_writes(&self) -> Vec<Logged> {
        self.server.writes().into_iter().filter(|write| !write.path.contains("/pods/")).collect()
    }
}

fn uids(server: &ApiServer) -> Vec<Value> {
    server.objects("pods").iter().map(|pod| pod["metadata"]["uid"].clone()).collect()
}

impl Output {
    /// Asserts that it ended well, and says in which case where it did not.
    #[track_caller]
    fn completes(self, what: &str) -> Self {
        assert_eq!(self.code, Some(0), "{what}\n{}", self.block());
        self
    }
}

/// How many cases run at once: they wait most of their time.
const AT_ONCE: usize = 6;

/// Runs cases that have a server each side by side.
pub(crate) fn side_by_side<T: Send>(cases: Vec<T>, run: impl Fn(T) + Sync) {
    let cases = Mutex::new(cases.into_iter());
    std::thread::scope(|scope| {
        for _ in 0..AT_ONCE {
            scope.spawn(|| {
                loop {
                    let case = cases.lock().unwrap_or_else(PoisonError::into_inner).next();
                    match case {
                        Some(case) => run(case),
                        None => break,
                    }
                }
            });
        }
    });
}
