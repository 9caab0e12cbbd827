//! "Did you mean ...?": the known name that was most likely meant by a mistyped one.
//!
//! Promise: deterministic, whatever the order of the candidates; says nothing rather than something far-fetched.

/// Returns the candidate nearest to `given`, if it is near enough for a slip of the fingers.
///
/// The distance counts inserted, deleted and replaced characters and swapped neighbours (Damerau-Levenshtein in the form that
/// edits no substring twice), upper and lower case being different. Near enough is a third of the length of `given`, at
/// least 1, and never so far that not one character stays. Of equally near candidates the first by name wins.
pub fn closest<'a>(given: &str, candidates: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    let length = given.chars().count();
    let limit = (length / 3).max(1);
    candidates
        .filter_map(|candidate| {
            let letters = candidate.chars().count();
            // The lengths alone may already be too far apart; long candidates are then not compared.
            let distance = (letters.abs_diff(length) <= limit).then(|| strsim::osa_distance(given, candidate))?;
            (distance <= limit && distance < length.max(letters).max(1)).then_some((distance, candidate))
        })
        .min()
        .map(|(_, candidate)| candidate)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn suggestions() {
        let containers = ["app", "side", "sidecar", "istio-proxy", "log"];
        for (given, expected) in [
            ("sdie", Some("side")),
            ("sid", Some("side")),
            ("sides", Some("side")),
            ("sidecra", Some("sidecar")),
            ("sidekcar", Some("sidecar")),
            ("apps", Some("app")),
            ("pap", Some("app")),
            ("App", Some("app")),
            ("istio-prox", Some("istio-proxy")),
            ("isto-porxy", Some("istio-proxy")),
            ("envoy", None),
            ("siddhecrz", None),
            ("", None),
            ("a", None),
            ("lg", Some("log")),
        ] {
            assert_eq!(closest(given, containers.iter().copied()), expected, "{given}");
            assert_eq!(closest(given, containers.iter().rev().copied()), expected, "{given}, reversed");
        }
    }

    #[test]
    fn ties_go_by_name_and_nothing_comes_of_nothing() {
        assert_eq!(closest("cat", ["rat", "bat", "hat"].into_iter()), Some("bat"));
        assert_eq!(closest("cat", ["cats", "cat"].into_iter()), Some("cat"));
        assert_eq!(closest("x", ["y", ""].into_iter()), None);
        assert_eq!(closest("cat", std::iter::empty()), None);
    }

    proptest! {
        #[test]
        fn one_slip_is_always_found(name in "[a-z]{3,12}", at in 0usize..12, letter in "[a-z]") {
            let mut slip = name.clone();
            slip.insert_str(at.min(name.len()), &letter);
            prop_assert_eq!(closest(&slip, [name.as_str()].into_iter()), Some(name.as_str()));
        }

        #[test]
        fn any_text(a in any::<String>(), b in any::<String>()) {
            let _ = closest(&a, [b.as_str()].into_iter());
        }
    }
}
