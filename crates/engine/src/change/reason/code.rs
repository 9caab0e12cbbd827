//! Findings, in one table each: a row has the fields and the sentence, and its name is the code.

use serde::de::{DeserializeOwned, Error as _};
use serde_json::{Error, Map, Value};

pub(super) type Fields = Map<String, Value>;

/// Defines an enum of findings with their sentences, and the enum of their codes. A sentence has no full stop.
macro_rules! findings {
    ($(#[$doc:meta])* $type:ident, $code:ident;
     $($(#[$row:meta])* $variant:ident $({ $($(#[$about:meta])* $field:ident: $of:ty),+ $(,)? })? $(($inner:ident: $inner_of:ty))? => $sentence:expr;)+
    ) => {
        $(#[$doc])*
        #[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize)]
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

        impl $type {
            fn read(fields: &code::Fields) -> Result<Self, serde_json::Error> {
                Ok(match fields.get("code").and_then(|code| code.as_str()).unwrap_or_default() {
                    $(stringify!($variant) => Self::$variant
                        $({ $($field: code::field(fields, stringify!($field))?),+ })?
                        $((serde_json::from_value::<$inner_of>(fields.clone().into())?))?,)+
                    other => return Err(serde::de::Error::custom(format_args!("unknown code {other:?}"))),
                })
            }
        }

        // As it would be derived, at a tenth of the size.
        impl<'de> serde::Deserialize<'de> for $type {
            fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                Self::read(&serde::Deserialize::deserialize(deserializer)?).map_err(serde::de::Error::custom)
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

/// Reads a field; one that is missing was left out since it is empty.
pub(super) fn field<T: DeserializeOwned>(fields: &Fields, name: &str) -> Result<T, Error> {
    let mut camel_case = String::new();
    for part in name.split('_') {
        let (first, rest) = part.split_at(part.len().min(1));
        camel_case.push_str(&if camel_case.is_empty() { first.to_owned() } else { first.to_uppercase() });
        camel_case.push_str(rest);
    }
    match fields.get(&camel_case) {
        Some(value) => serde_json::from_value(value.clone()),
        None => {
            let empty = [Value::Null, false.into(), "".into(), Value::Array(Vec::new())];
            let read = empty.into_iter().find_map(|empty| serde_json::from_value(empty).ok());
            read.ok_or_else(|| Error::custom(format_args!("missing field `{camel_case}`")))
        }
    }
}
