//! Numbers of things in a sentence.

use std::fmt::Display;

/// Returns `1 pod`, `3 pods`.
pub fn count<N: Copy + Display + PartialEq + From<u8>>(number: N, noun: &str) -> String {
    let plural = if number == N::from(1) { "" } else { "s" };
    format!("{number} {noun}{plural}")
}

/// Returns `1 pod is`, `3 pods are`: with the words that follow one, and several.
pub fn pods_that<N: Copy + Display + PartialEq + From<u8>>(number: N, one: &str, several: &str) -> String {
    let verb = if number == N::from(1) { one } else { several };
    format!("{} {verb}", count(number, "pod"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_is_no_plural() {
        assert_eq!([0, 1, 2].map(|number| count(number, "pod")), ["0 pods", "1 pod", "2 pods"]);
        assert_eq!([1, 2].map(|number| pods_that(number, "is", "are")), ["1 pod is", "2 pods are"]);
    }
}
