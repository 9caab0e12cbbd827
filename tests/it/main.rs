//! One integration binary: a module a theme, linked once.
mod container_hash;
mod defaults;
#[cfg(test)]
mod render;
mod strategic_merge;
