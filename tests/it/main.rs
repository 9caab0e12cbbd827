//! One integration binary: a module a theme, linked once.

#[cfg(test)]
mod render;
