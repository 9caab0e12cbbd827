//! Values without an owner: texts, quantities, images, durations, selectors, versions, how words are suggested and quoted, and hints.

pub mod address;
pub mod count;
pub mod duration;
pub mod encoding;
pub mod hint;
pub mod hostile;
pub mod image;
pub mod int_or_percent;
pub mod json_path;
pub mod kubelet_version;
pub mod qos;
pub mod quantity;
pub mod selector;
pub mod suggest;

/// FNV-1a, 64 bit: the same on every machine and in every build.
pub(crate) fn fnv1a(text: &str) -> u64 {
    text.bytes().fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3))
}

/// For `skip_serializing_if`.
pub(crate) fn is_default<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}

/// Returns what is added to a sentence in brackets; nothing for an empty text.
pub(crate) fn in_brackets(text: &str) -> String {
    if text.is_empty() { String::new() } else { format!(" ({text})") }
}

/// Defines an enum whose members stand for words of the command line or of documents, `ALL` in their order, and `word`.
macro_rules! words {
    ($(#[$type_meta:meta])* $type:ident { $($(#[$meta:meta])* $member:ident = $word:literal),+ $(,)? }) => {
        $(#[$type_meta])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum $type {
            $(#[doc = concat!("`", $word, "`")] $(#[$meta])* $member),+
        }

        impl $type {
            pub const ALL: [Self; [$($word),+].len()] = [$(Self::$member),+];

            pub const fn word(self) -> &'static str {
                match self {
                    $(Self::$member => $word,)+
                }
            }
        }
    };
}

pub(crate) use words;
