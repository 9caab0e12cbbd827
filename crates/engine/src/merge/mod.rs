//! How a manifest meets an object: the API server's defaults, and strategic merge.

mod defaults;
mod schema;
pub mod strategic_merge;

pub use schema::{DefaultValue, Field, ListMerge, Schema};
