//! Findings, in one table each: a row has the fields and the sentence, and its name is the code.

/// Defines an enum of findings with their sentences, and the enum of their codes. A sentence has no full stop.
macro_rules! findings {
    ($(#[$doc:meta])* $type:ident, $code:ident;
     $($(#[$row:meta])* $variant:ident $({ $($(#[$about:meta])* $field:ident: $of:ty),+ $(,)? })? $(($inner:ident: $inner_of:ty))? => $sentence:expr;)+
    ) => {
        $(#[$doc])*
        #[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
        #[serde(tag = "code", rename_all_fields = "camelCase")]
        pub enum $type {
            $($(#[$row])* $variant $({ $($(#[$about])* $field: $of),+ })? $(($inner_of))?,)+
        }

        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum $code {
            $($variant,)+
        }

        impl $type {
            pub fn sentence(&self) -> String {
                match self {
                    $(Self::$variant $({ $($field),+ })? $(($inner))? => {
                        // A sentence need not have every field.
                        $($(let _ = $field;)+)?
                        $sentence.into()
                    })+
                }
            }

            pub fn kind(&self) -> $code {
                match self {
                    $(Self::$variant { .. } => $code::$variant,)+
                }
            }

            pub fn code(&self) -> &'static str {
                self.kind().as_str()
            }
        }

        impl $code {
            pub const ALL: &'static [Self] = &[$(Self::$variant),+];

            pub const fn as_str(self) -> &'static str {
                match self {
                    $(Self::$variant => stringify!($variant),)+
                }
            }
        }
    };
}

pub(super) use findings;
