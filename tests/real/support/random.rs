//! Random pod specs that the server takes, from small sets of names, so that two of them have much in common.

use serde_json::{Value, json};

/// A stream of numbers; the same seed gives the same ones (xorshift64*).
pub(crate) struct Random(u64);

impl Random {
    pub(crate) fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1)
    }

    /// Returns a number below the limit.
    pub(crate) fn below(&mut self, limit: usize) -> usize {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        let number = self.0.wrapping_mul(0x2545_F491_4F6C_DD1D) >> 33;
        usize::try_from(number).unwrap_or_default() % limit.max(1)
    }

    /// Returns true one time in `times`.
    pub(crate) fn one_in(&mut self, times: usize) -> bool {
        self.below(times) == 0
    }

    /// Returns one of the items.
    pub(crate) fn pick<T: Clone>(&mut self, items: &[T]) -> T {
        items[self.below(items.len())].clone()
    }

    /// Returns some of the items, at most `most`, each once, in any order.
    fn some<T: Clone>(&mut self, items: &[T], most: usize) -> Vec<T> {
        let mut rest = items.to_vec();
        let count = self.below(most.min(items.len()) + 1);
        (0..count).map(|_| rest.remove(self.below(rest.len()))).collect()
    }

    /// Returns a pod spec that no node takes.
    pub(crate) fn pod_spec(&mut self) -> Value {
        let volumes = self.some(&["v1", "v2", "v3"], 3);
        let mut names = self.some(&["app", "side", "db"], 3);
        if names.is_empty() {
            names.push("app");
        }
        let containers: Vec<Value> = names.iter().map(|name| self.container(name, &volumes)).collect();
        let mut spec = json!({"nodeSelector": {"nowhere": "1"}, "containers": containers});
        if self.one_in(3) {
            let names = self.some(&["setup", "mesh"], 2);
            spec["initContainers"] = names.iter().map(|name| self.init_container(name, &volumes)).collect();
        }
        if !volumes.is_empty() {
            spec["volumes"] = volumes.iter().map(|name| self.volume(name)).collect();
        }
        if self.one_in(3) {
            let keys = self.some(&["a", "b", "c"], 2);
            spec["tolerations"] = keys.iter().map(|key| json!({"key": key, "operator": "Exists"})).collect();
        }
        if self.one_in(3) {
            let names = self.some(&["s1", "s2", "s3"], 3);
            spec["imagePullSecrets"] = names.iter().map(|name| json!({"name": name})).collect();
        }
        if self.one_in(4) {
            spec["terminationGracePeriodSeconds"] = self.pick(&[json!(5), json!(30)]);
        }
        if self.one_in(5) {
            spec["hostAliases"] = json!([{"ip": "10.0.0.1", "hostnames": self.some(&["h1", "h2"], 2)}]);
        }
        spec
    }

    pub(crate) fn image(&mut self) -> &'static str {
        self.pick(&[
            "nginx:1",
            "nginx:2",
            "nginx",
            "a.b/c:latest",
            "busybox@sha256:aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa",
        ])
    }

    fn container(&mut self, name: &str, volumes: &[&str]) -> Value {
        let mut container = json!({"name": name, "image": self.image()});
        if self.one_in(2) {
            let names = self.some(&["E1", "E2", "E3", "E4"], 4);
            container["env"] =
                names.iter().map(|name| json!({"name": name, "value": self.pick(&["1", "2"])})).collect();
        }
        if self.one_in(2) {
            let mounts = self.some(volumes, 3);
            container["volumeMounts"] =
                mounts.iter().map(|name| json!({"name": name, "mountPath": format!("/{name}")})).collect();
        }
        if self.one_in(3) {
            let ports = self.some(&[80, 81, 82], 3);
            container["ports"] = ports.iter().map(|port| json!({"containerPort": port})).collect();
        }
        if self.one_in(3) {
            let cpu = self.pick(&[json!("1"), json!("1000m"), json!("0.5")]);
            container["resources"] = json!({"limits": {"cpu": cpu, "memory": self.pick(&["1Gi", "1024Mi"])}});
        }
        if self.one_in(3) {
            container["args"] = json!(self.some(&["-a", "-b"], 2));
        }
        if self.one_in(4) {
            container["imagePullPolicy"] = self.pick(&[json!("Always"), json!("IfNotPresent")]);
        }
        if self.one_in(4) {
            container["securityContext"] =
                json!({"runAsUser": 1, "capabilities": {"drop": self.some(&["ALL", "KILL"], 2)}});
        }
        if self.one_in(4) {
            container["readinessProbe"] = json!({"tcpSocket": {"port": 80}, "periodSeconds": self.pick(&[5, 10])});
        }
        container
    }

    fn init_container(&mut self, name: &str, volumes: &[&str]) -> Value {
        let mut container = self.container(name, volumes);
        if name == "mesh" {
            container["restartPolicy"] = json!("Always");
        } else if let Value::Object(fields) = &mut container {
            fields.shift_remove("readinessProbe");
        }
        container
    }

    fn volume(&mut self, name: &str) -> Value {
        let source = self.pick(&["none", "empty", "secret", "configMap"]);
        match source {
            "none" => json!({"name": name}),
            "empty" => json!({"name": name, "emptyDir": {}}),
            "secret" => json!({"name": name, "secret": {"secretName": "s"}}),
            _ => json!({"name": name, "configMap": {"name": "c"}}),
        }
    }

    /// Returns the annotations of a template.
    pub(crate) fn annotations(&mut self) -> Value {
        let names = self.some(&["x", "y", "z"], 3);
        names.iter().map(|name| ((*name).to_owned(), json!(self.pick(&["1", "2"])))).collect()
    }
}
