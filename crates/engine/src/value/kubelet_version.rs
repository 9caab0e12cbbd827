//! The version of a kubelet, as far as the rules of this program distinguish versions: major and minor.
//!
//! Promise: reads every form that `status.nodeInfo.kubeletVersion` and `/version` are known to take. Patch level and
//! vendor suffix are read over and not kept: no rule rests on them.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// Says major and minor version of a kubelet (or API server), ordered by age.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(into = "String", try_from = "String")]
pub struct KubeletVersion {
    major: u32,
    minor: u32,
}

impl KubeletVersion {
    pub const fn new(major: u32, minor: u32) -> Self {
        Self { major, minor }
    }

    /// Returns the first number; 1 for every Kubernetes so far.
    pub const fn major(self) -> u32 {
        self.major
    }

    pub const fn minor(self) -> u32 {
        self.minor
    }

    pub fn at_least(self, major: u32, minor: u32) -> bool {
        self >= Self::new(major, minor)
    }
}

impl fmt::Display for KubeletVersion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", self.major, self.minor)
    }
}

impl From<KubeletVersion> for String {
    fn from(version: KubeletVersion) -> Self {
        version.to_string()
    }
}

impl TryFrom<String> for KubeletVersion {
    type Error = String;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        text.parse()
    }
}

impl FromStr for KubeletVersion {
    type Err = String;

    /// Reads `v1.36.3`, `1.36`, `1.31+` (the `minor` that hosted API servers report), `v1.30.5-gke.100`, `v1.29.4+k3s1`.
    fn from_str(given: &str) -> Result<Self, Self::Err> {
        let error = || format!("{given:?} is no kubelet version such as v1.32.4");
        let numbers = given.strip_prefix('v').unwrap_or(given);
        let (major, rest) = numbers.split_once('.').ok_or_else(error)?;
        let end = rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len());
        let (minor, suffix) = rest.split_at(end);
        if !(suffix.is_empty() || suffix.starts_with(['.', '-', '+'])) {
            return Err(error());
        }
        Ok(Self { major: number(major).ok_or_else(error)?, minor: number(minor).ok_or_else(error)? })
    }
}

/// Reads decimal digits alone: `u32::from_str` would take a sign.
fn number(digits: &str) -> Option<u32> {
    digits.bytes().all(|b| b.is_ascii_digit()).then(|| digits.parse().ok())?
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_what_nodes_and_servers_report() {
        for (given, major, minor) in [
            ("v1.36.3", 1, 36),
            ("1.36.3", 1, 36),
            ("1.36", 1, 36),
            ("1.31+", 1, 31),
            ("v1.30.5-gke.100", 1, 30),
            ("v1.29.4+k3s1", 1, 29),
            ("v1.28.3-eks-e71965b", 1, 28),
            ("v1.37.0-alpha.2.14+0123456789abcd", 1, 37),
            ("v1.16-dirty", 1, 16),
            ("v2.0.0", 2, 0),
        ] {
            assert_eq!(given.parse(), Ok(KubeletVersion::new(major, minor)), "{given}");
        }
    }

    #[test]
    fn refuses_everything_else() {
        for given in [
            "",
            "v",
            "1",
            "v1",
            "1.",
            ".31",
            "v1.x",
            "v1.31x",
            "x1.31",
            "vv1.31",
            "+1.31",
            "1.+31",
            "-1.3",
            "1.-3",
            " 1.31",
            "1.31 ",
            "1.99999999999",
            "４.2",
        ] {
            assert_eq!(
                given.parse::<KubeletVersion>(),
                Err(format!("{given:?} is no kubelet version such as v1.32.4")),
                "{given:?}"
            );
        }
    }

    #[test]
    fn orders_by_number_and_not_by_text() {
        let version = |text: &str| text.parse::<KubeletVersion>().unwrap();
        assert!(version("v1.9.0") < version("v1.10.0"));
        assert!(version("v1.99.0") < version("v2.0.0"));
        assert!(version("v1.32.0").at_least(1, 32));
        assert!(version("v2.0.0").at_least(1, 32));
        assert!(!version("v1.31.9").at_least(1, 32));
        assert_eq!(version("v1.31.9-eks-1").to_string(), "1.31");
    }
}
