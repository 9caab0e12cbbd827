//! Inputs from inputs.

/// A stream of choices (splitmix64).
pub(super) struct Random(u64);

impl Random {
    pub(super) fn new(seed: u64) -> Self {
        Self(seed)
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let z = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    pub(super) fn below(&mut self, bound: usize) -> usize {
        usize::try_from(self.next() % bound.max(1) as u64).expect("below a bound")
    }

    fn pick<'a, T>(&mut self, choices: &'a [T]) -> &'a T {
        choices.get(self.below(choices.len())).expect("some choice")
    }
}

/// What is put in anywhere: what bites in many languages.
const STRANGE: &[&str] = &[
    "",
    " ",
    "\t",
    "\n",
    "\r\n",
    "\0",
    "\u{7f}",
    "\u{a0}",
    "\u{feff}",
    "\u{2028}",
    "\u{130}",
    "\u{1f600}",
    "\"",
    "'",
    "\\",
    "/",
    "//",
    ":",
    "@",
    ".",
    "..",
    "-",
    "--",
    "_",
    "+",
    "%",
    "~",
    "~1",
    "[",
    "]",
    "{",
    "}",
    ",",
    "null",
    "true",
    "0",
    "00",
    "-1",
    "1e999",
    "1e-999",
    "9223372036854775807",
    "9223372036854775808",
    "18446744073709551616",
    "0.1",
    ".5",
    "5.",
    "NaN",
    "\\u0000",
    "\\ud800",
    "é",
];

/// Makes inputs from those that it has.
pub(super) struct Mutator {
    pub(super) pool: Vec<Vec<u8>>,
    pub(super) words: &'static [&'static str],
}

impl Mutator {
    /// Takes in an input; where there are too many, it takes the place of any one.
    pub(super) fn keep(&mut self, input: Vec<u8>, most: usize, random: &mut Random) {
        if self.pool.len() < most {
            self.pool.push(input);
            return;
        }
        let at = random.below(self.pool.len());
        if let Some(place) = self.pool.get_mut(at) {
            *place = input;
        }
    }

    pub(super) fn mutate(&self, random: &mut Random) -> Vec<u8> {
        let mut input = random.pick(&self.pool).clone();
        for _ in 0..=random.below(4) {
            self.change(&mut input, random);
        }
        input
    }

    fn change(&self, input: &mut Vec<u8>, random: &mut Random) {
        let from = random.below(input.len() + 1);
        let to = from + random.below((input.len() - from).min(24) + 1);
        match random.below(10) {
            0 => drop(input.drain(from..to)),
            1 => {
                let part = input.get(from..to).unwrap_or_default().to_vec();
                input.splice(to..to, part);
            }
            2 | 3 => drop(input.splice(from..from, random.pick(self.words).bytes())),
            4 => drop(input.splice(from..to, random.pick(self.words).bytes())),
            5 => drop(input.splice(from..from, random.pick(STRANGE).bytes())),
            6 => drop(input.splice(from..to, random.pick(STRANGE).bytes())),
            7 => {
                // The end of another one.
                let other = random.pick(&self.pool);
                let at = random.below(other.len() + 1);
                input.truncate(from);
                input.extend_from_slice(other.get(at..).unwrap_or_default());
            }
            8 => {
                if let Some(byte) = input.get_mut(from) {
                    *byte ^= 1 << random.below(8);
                }
            }
            _ => {
                // Many of the same.
                let part = input.get(from..to).unwrap_or_default().repeat(1 + random.below(40));
                input.splice(from..from, part);
            }
        }
    }
}
