//! Values without an owner: quantities, images, durations, selectors, versions, how words are suggested and quoted, and hints.

pub mod address;
pub mod count;
pub mod duration;
pub mod hint;
pub mod hostile;
pub mod image;
pub mod int_or_percent;
pub mod json_path;
pub mod kubelet_version;
pub mod qos;
pub mod quantity;
pub mod selector;
pub mod shell_words;
pub mod suggest;
