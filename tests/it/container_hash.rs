//! The container hash against vectors that Go computed.
//!
//! Each line of `tests/vectors/container_hash.jsonl` has a container as an API server 1.36.3 serves it, a kubelet's version, and
//! the hash that this version's `k8s.io/api` gives after it has decoded the container from the API server's protobuf.

use engine::k8s::container_hash::container_hash;
use engine::value::kubelet_version::KubeletVersion;
use serde_json::Value;

const VECTORS: &str = include_str!("../vectors/container_hash.jsonl");

#[test]
fn hashes_equal_those_that_go_computed() {
    let mut kubelets = std::collections::BTreeMap::<KubeletVersion, u32>::new();
    for (number, line) in (1..).zip(VECTORS.lines()) {
        let vector: Value = serde_json::from_str(line).expect("a line is one JSON object");
        let text = |key: &str| vector.get(key).and_then(Value::as_str).expect("a vector has this string");
        let kubelet: KubeletVersion = text("kubelet").parse().expect("a version");
        let hash = container_hash(kubelet, vector.get("container").expect("a vector has a container"));
        assert_eq!(hash.as_deref(), Some(text("hash")), "line {number}: {line}");
        *kubelets.entry(kubelet).or_default() += 1;
    }
    assert!(kubelets.values().sum::<u32>() >= 30, "vectors are missing: {kubelets:?}");
    for minor in [16, 20, 23, 27, 28, 29, 30, 31, 36] {
        assert!(kubelets.contains_key(&KubeletVersion::new(1, minor)), "no vector for 1.{minor}");
    }
}
