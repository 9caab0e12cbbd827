//! "Did you mean ...?": the known name that a mistyped one most likely stands for.
//!
//! Promise: deterministic, whatever the order of the candidates; says nothing rather than something far-fetched.

/// Returns the candidate nearest to `given`, if it is near enough for a slip of the fingers.
///
/// The distance counts inserted, deleted and replaced characters and swapped neighbours (Damerau-Levenshtein in the form that
/// edits no substring twice), upper and lower case being different. Near enough is a third of the length of `given`, at
/// least 1, and never so far that not one character stays. Of equally near candidates the first by name wins.
pub fn closest<'a>(given: &str, candidates: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    let given: Vec<char> = given.chars().collect();
    let limit = (given.len() / 3).max(1);
    candidates
        .filter_map(|candidate| {
            let letters: Vec<char> = candidate.chars().collect();
            // The lengths alone may already be too far apart; long candidates are then not looked at.
            let distance = (letters.len().abs_diff(given.len()) <= limit).then(|| distance(&given, &letters))?;
            (distance <= limit && distance < given.len().max(letters.len()).max(1)).then_some((distance, candidate))
        })
        .min()
        .map(|(_, candidate)| candidate)
}

/// Returns the optimal string alignment distance, keeping three rows of the table.
fn distance(a: &[char], b: &[char]) -> usize {
    let mut two_above: Vec<usize> = Vec::new();
    let mut above: Vec<usize> = (0..=b.len()).collect();
    let mut before_a = None;
    for (i, x) in a.iter().enumerate() {
        let mut row = Vec::with_capacity(above.len());
        let mut left = i + 1;
        row.push(left);
        let mut before_b = None;
        let mut swaps = two_above.iter();
        for (y, (diagonal, up)) in b.iter().zip(above.iter().zip(above.iter().skip(1))) {
            let mut best = (diagonal + usize::from(x != y)).min(up + 1).min(left + 1);
            if let Some(before) = before_b {
                // `swaps` runs two columns behind.
                if let Some(swap) = swaps.next()
                    && Some(y) == before_a
                    && x == before
                {
                    best = best.min(swap + 1);
                }
            }
            row.push(best);
            left = best;
            before_b = Some(y);
        }
        two_above = std::mem::replace(&mut above, row);
        before_a = Some(x);
    }
    above.last().copied().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn between(a: &str, b: &str) -> usize {
        distance(&a.chars().collect::<Vec<_>>(), &b.chars().collect::<Vec<_>>())
    }

    #[test]
    fn distances() {
        for (a, b, expected) in [
            ("", "", 0),
            ("", "abc", 3),
            ("abc", "", 3),
            ("abc", "abc", 0),
            ("abc", "acb", 1),
            ("ab", "ba", 1),
            ("abcd", "badc", 2),
            ("kitten", "sitting", 3),
            // Three, and not two: no substring is edited twice.
            ("ca", "abc", 3),
            ("sidecar", "sidcear", 1),
            ("é", "e", 1),
        ] {
            assert_eq!(between(a, b), expected, "{a} {b}");
            assert_eq!(between(b, a), expected, "{b} {a}");
        }
    }

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
            prop_assert_eq!(between(&a, &b), between(&b, &a));
            prop_assert_eq!(between(&a, &b) == 0, a == b);
            let _ = closest(&a, [b.as_str()].into_iter());
        }
    }
}
