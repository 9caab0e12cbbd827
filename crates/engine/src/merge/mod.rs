//! How a manifest meets an object: the API server's defaults, and strategic merge.

pub mod defaults;
pub mod strategic_merge;
