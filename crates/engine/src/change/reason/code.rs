//! Codes with their explanations, in one table each: a code cannot exist without being listed and explained.

/// What a code means, at length.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Explanation {
    /// The code as it is shown.
    pub code: &'static str,
    /// One line for lists, without a full stop.
    pub summary: &'static str,
    /// What it means.
    pub meaning: &'static str,
    /// Why it is so, naming the rule of Kubernetes that it rests on.
    pub why: &'static str,
    /// What to do.
    pub remedy: &'static str,
}

/// Defines an enum of codes together with `ALL` and the explanation of each.
macro_rules! codes {
    ($(#[$doc:meta])* $type:ident {
        $($code:ident { summary: $summary:literal, meaning: $meaning:literal, why: $why:literal, remedy: $remedy:literal $(,)? })+
    }) => {
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum $type {
            $(#[doc = concat!("Means: ", $summary, ".")] $code,)+
        }

        impl $type {
            /// Every code, in the order of the documentation.
            pub const ALL: &'static [Self] = &[$(Self::$code),+];

            /// Returns the code as it is shown: stable and CamelCase.
            pub const fn as_str(self) -> &'static str {
                match self {
                    $(Self::$code => stringify!($code),)+
                }
            }

            /// Returns what the code means, at length.
            pub const fn explanation(self) -> $crate::change::reason::Explanation {
                match self {
                    $(Self::$code => $crate::change::reason::Explanation {
                        code: stringify!($code),
                        summary: $summary,
                        meaning: $meaning,
                        why: $why,
                        remedy: $remedy,
                    },)+
                }
            }
        }
    };
}

pub(super) use codes;
