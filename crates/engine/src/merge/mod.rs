//! How a manifest meets an object: the API server's defaults, and strategic and JSON merge.

mod defaults;
pub mod json_merge;
mod schema;
pub mod strategic_merge;

pub(crate) use defaults::is_zero;
pub use schema::{Field, ListMerge, Schema};
