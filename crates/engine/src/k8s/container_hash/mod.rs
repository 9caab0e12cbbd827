//! The kubelet's container hash: two specs of equal hash are the same container to the kubelet, another hash restarts it.
//!
//! Promise: byte for byte what `HashContainer` of the kubelet gives (`pkg/kubelet/container/helpers.go`), for every kubelet
//! from 1.16 on. The kubelet keeps the value in the annotation `io.kubernetes.container.hash` of the container *in the
//! container runtime*; the Kubernetes API does not show it, so it can only be computed.
//!
//! Not in here: `hashWithoutResources` of the alpha gate `InPlacePodVerticalScaling` in 1.27 to 1.30 (take `resources` away
//! and compute the ordinary hash to get it), kubelets before 1.16 (they hashed the Go struct's debug text), and defaulting:
//! the container must be the one that the API server stored, defaults filled in and quantities in canonical form.

mod go_json;
#[cfg(test)]
mod tests;

use serde_json::Value;

use crate::value::kubelet_version::KubeletVersion;

use go_json::GoJson;

/// Computes the hash that a kubelet gives to `container`, one element of a pod's `spec.containers` or
/// `spec.initContainers`, as the kubelet writes it: lower-case hexadecimal without padding. `None` below 1.16, where the
/// hash depended on the kubelet's very build.
///
/// Kubelets from 1.31 on hash nothing but name and image (`pickFieldsToHash`), those before it every field of the container
/// that they know. Fields that the kubelet does not know are left out, as its decoder drops them. A value of a type that
/// the API does not allow counts as absent.
pub fn container_hash(kubelet: KubeletVersion, container: &Value) -> Option<String> {
    let go_type = if kubelet.at_least(1, 31) { "NameAndImage" } else { "Container" };
    let json = GoJson::of_kubelet(kubelet).text(go_type, Some(container));
    kubelet.at_least(1, 16).then(|| format!("{:x}", fnv1a_of_spew(json.as_bytes())))
}

/// Returns FNV-1a (32 bit) over the text that spew's `%#v` makes of a byte slice: `([]uint8)[123 34 105]`
/// (`DeepHashObject` in `pkg/util/hash/hash.go`).
fn fnv1a_of_spew(bytes: &[u8]) -> u32 {
    let mut hash = fnv1a(0x811c_9dc5, b"([]uint8)[");
    let mut separator: &[u8] = b"";
    for byte in bytes {
        hash = fnv1a(fnv1a(hash, separator), byte.to_string().as_bytes());
        separator = b" ";
    }
    fnv1a(hash, b"]")
}

fn fnv1a(hash: u32, bytes: &[u8]) -> u32 {
    bytes.iter().fold(hash, |hash, byte| (hash ^ u32::from(*byte)).wrapping_mul(0x0100_0193))
}
