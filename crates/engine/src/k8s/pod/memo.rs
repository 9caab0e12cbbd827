//! What was read from a text of a pod before: the same text is asked for many times each turn, and changes seldom.

use std::any::Any;
use std::fmt;
use std::sync::{Arc, OnceLock};

/// The first text that was read, and what it says.
#[derive(Clone, Default)]
pub struct Memo(OnceLock<Arc<(String, Box<dyn Any + Send + Sync>)>>);

impl Memo {
    /// Returns what `read` makes of a text, which is read once; `None` when another text, or something else, was asked for
    /// first.
    pub fn get<T: Send + Sync + 'static>(&self, text: &str, read: impl FnOnce(&str) -> T) -> Option<&T> {
        let (known, value) = &**self.0.get_or_init(|| Arc::new((text.to_owned(), Box::new(read(text)))));
        value.downcast_ref().filter(|_| known == text)
    }
}

impl fmt::Debug for Memo {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Memo")
    }
}

/// What was read of a pod makes it no other pod.
impl PartialEq for Memo {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_is_read_once_and_another_one_is_not_taken_for_it() {
        let (memo, never) = (Memo::default(), |_: &str| -> usize { unreachable!("it was read") });
        assert_eq!(memo.get("four", str::len), Some(&4));
        assert_eq!(memo.get("four", never), Some(&4));
        let copy = memo.clone();
        assert_eq!((memo.get("four", never), copy.get("four", never)), (Some(&4), Some(&4)));
        assert_eq!(memo.get("five5", str::len), None);
        assert_eq!(memo.get("four", str::to_owned), None, "of another type");
    }
}
