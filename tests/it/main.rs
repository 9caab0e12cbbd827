//! One integration binary: a module a theme, linked once.
mod strategic_merge;
