//! What one rollout meets, chosen by its seed alone.

use std::time::Duration;

use crate::support::{Random, registry};

use super::count::Budget;

/// The pods' owner.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Deployment,
    /// With the pod management policy Parallel.
    StatefulSet,
    /// With the pod management policy OrderedReady.
    Ordered,
}

/// Something that goes wrong while the rollout is in progress. Pods are numbered by name, at that time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Mishap {
    /// Somebody deletes a pod.
    Delete(usize),
    /// A pod is not ready for a while.
    Unready(usize, Duration),
    /// A container ends.
    Ends(usize),
    /// The run is killed, and another one goes on.
    KillRun,
    /// Somebody scales the owner to this number.
    Scale(usize),
}

/// The image that is rolled out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Wanted {
    Good,
    /// It starts, is never ready, and ends.
    Crashes,
    /// No registry has it, and nobody pulls first.
    Missing,
}

/// One rollout.
#[derive(Debug, Clone)]
pub(super) struct Scenario {
    pub(super) kind: Kind,
    pub(super) replicas: usize,
    pub(super) max_unavailable: usize,
    pub(super) budget: Option<Budget>,
    /// The pods are behind a Service by a label that may be removed.
    pub(super) drains: bool,
    pub(super) min_ready_seconds: Option<usize>,
    /// This pod is not ready when it begins.
    pub(super) broken: Option<usize>,
    pub(super) wanted: Wanted,
    /// What a rollout that failed is answered with: it takes itself back, or somebody aborts it.
    pub(super) undoes: bool,
    pub(super) mishaps: Vec<(Duration, Mishap)>,
}

impl Scenario {
    pub(super) fn of(seed: u64) -> Self {
        let mut random = Random::new(seed);
        let kind = random.pick(&[Kind::Deployment, Kind::Deployment, Kind::StatefulSet, Kind::Ordered]);
        let replicas = 3 + random.below(3);
        let mut scenario = Self {
            kind,
            replicas,
            max_unavailable: 1 + random.below(3),
            budget: None,
            drains: random.one_in(4),
            min_ready_seconds: random.pick(&[Some(0), Some(0), Some(1), None]),
            // In a strict order it would hold the budget until somebody heals it.
            broken: (kind != Kind::Ordered && random.one_in(4)).then(|| random.below(replicas)),
            wanted: random.pick(&[Wanted::Good, Wanted::Good, Wanted::Good, Wanted::Crashes, Wanted::Missing]),
            undoes: random.one_in(2),
            mishaps: Vec::new(),
        };
        for _ in 0..1 + random.below(3) {
            let mishap = scenario.mishap(&mut random);
            let at = Duration::from_millis(u64::try_from(random.below(7_000)).unwrap_or_default());
            scenario.mishaps.push((at, mishap));
        }
        scenario.mishaps.sort_by_key(|(at, _)| *at);
        scenario.budget = scenario.budget(&mut random);
        scenario
    }

    fn mishap(&self, random: &mut Random) -> Mishap {
        let pod = random.below(self.replicas);
        match random.below(6) {
            0 => Mishap::Delete(pod),
            1 | 2 => Mishap::Unready(pod, Duration::from_millis([1_500, 3_000, 5_000][random.below(3)])),
            3 => Mishap::Ends(pod),
            4 => Mishap::KillRun,
            _ => Mishap::Scale(self.replicas + 1 - 2 * random.below(2)),
        }
    }

    /// One that allows a pod of the fewest that there will be: any other would rightly be waited for to no end.
    fn budget(&self, random: &mut Random) -> Option<Budget> {
        let scaled = self.mishaps.iter().filter_map(|(_, mishap)| match mishap {
            Mishap::Scale(replicas) => Some(*replicas),
            Mishap::Delete(_) | Mishap::Unready(..) | Mishap::Ends(_) | Mishap::KillRun => None,
        });
        let fewest = scaled.min().unwrap_or(self.replicas).min(self.replicas);
        random.pick(&[
            None,
            Some(Budget::MinAvailable(fewest - 1)),
            Some(Budget::MinAvailable(fewest - 1)),
            Some(Budget::MaxUnavailable(1)),
            Some(Budget::MinAvailablePercent(50)),
        ])
    }

    /// Returns what the command line calls the owner.
    pub(super) fn reference(&self) -> &'static str {
        match self.kind {
            Kind::Deployment => "deployment/web",
            Kind::StatefulSet | Kind::Ordered => "statefulset/web",
        }
    }

    /// Returns the owner, its budget and its Service.
    pub(super) fn manifest(&self) -> String {
        let (kind, fields) = match self.kind {
            Kind::Deployment => {
                let rolling = format!("{{maxUnavailable: {}, maxSurge: 1}}", self.max_unavailable);
                ("Deployment", format!("strategy: {{rollingUpdate: {rolling}}}"))
            }
            Kind::StatefulSet => ("StatefulSet", "serviceName: web\n  podManagementPolicy: Parallel".to_owned()),
            Kind::Ordered => ("StatefulSet", "serviceName: web".to_owned()),
        };
        let (replicas, image) = (self.replicas, format!("{}/app:v1", registry()));
        let mut manifest = format!(
            "apiVersion: apps/v1
kind: {kind}
metadata: {{name: web}}
spec:
  replicas: {replicas}
  {fields}
  selector: {{matchLabels: {{app: web}}}}
  template:
    metadata: {{labels: {{app: web, serving: 'yes'}}}}
    spec:
      nodeSelector: {{kubernetes.io/hostname: node-1}}
      terminationGracePeriodSeconds: 1
      containers:
      - name: app
        image: '{image}'
        readinessProbe: {{httpGet: {{path: /, port: 8080}}, periodSeconds: 1, failureThreshold: 1}}
"
        );
        if let Some(budget) = self.budget {
            manifest.push_str(&format!(
                "---\napiVersion: policy/v1\nkind: PodDisruptionBudget\nmetadata: {{name: web}}\n\
                 spec: {{{}, selector: {{matchLabels: {{app: web}}}}}}\n",
                budget.yaml()
            ));
        }
        if self.drains {
            manifest.push_str(
                "---\napiVersion: v1\nkind: Service\nmetadata: {name: web}\n\
                 spec: {selector: {app: web, serving: 'yes'}, ports: [{port: 8080}]}\n",
            );
        }
        manifest
    }

    /// Returns the arguments of the run.
    pub(super) fn arguments(&self) -> Vec<String> {
        let image = match self.wanted {
            Wanted::Good => "app=:v2",
            Wanted::Crashes => "app=:crash",
            Wanted::Missing => "app=:nope",
        };
        let mut arguments: Vec<String> = ["apply", self.reference(), image].map(str::to_owned).into();
        arguments.extend(self.policy());
        arguments
    }

    /// Returns the arguments of every run of it.
    pub(super) fn policy(&self) -> Vec<String> {
        let mut arguments = ["--yes", "--timeout=60s", "--drain-seconds=0"].map(str::to_owned).to_vec();
        if self.kind != Kind::Deployment {
            arguments.push(format!("--max-unavailable={}", self.max_unavailable));
        }
        if self.wanted == Wanted::Missing {
            arguments.push("--pre-pull=never".into());
        }
        if self.undoes {
            arguments.push("--on-failure=undo".into());
        }
        if let Some(seconds) = self.min_ready_seconds {
            arguments.push(format!("--min-ready-seconds={seconds}"));
        }
        arguments
    }
}
