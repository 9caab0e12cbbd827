//! A small deterministic source of choices (splitmix64): the same seed gives the same run on every machine.

/// A stream of choices.
#[derive(Debug, Clone)]
pub(super) struct Random(u64);

impl Random {
    pub(super) fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) ^ 0x5851_F42D_4C95_7F2D)
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    pub(super) fn below(&mut self, bound: usize) -> usize {
        usize::try_from(self.next() % u64::try_from(bound.max(1)).expect("small")).expect("below the bound")
    }

    pub(super) fn between(&mut self, low: i64, high: i64) -> i64 {
        let range = usize::try_from(high + 1 - low).expect("low before high");
        low + i64::try_from(self.below(range)).expect("small")
    }

    pub(super) fn one_in(&mut self, n: usize) -> bool {
        self.below(n) == 0
    }

    pub(super) fn pick<'c, T>(&mut self, choices: &'c [T]) -> &'c T {
        let at = self.below(choices.len());
        choices.get(at).expect("within the choices")
    }
}
