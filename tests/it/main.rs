//! One integration binary: a module a theme, linked once.
mod container_hash;
mod defaults;
mod strategic_merge;
