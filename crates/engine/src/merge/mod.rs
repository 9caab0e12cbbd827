//! How a manifest meets an object: the API server's defaults, and strategic merge.

mod defaults;
mod schema;
pub mod strategic_merge;

pub(crate) use defaults::is_zero;
pub use schema::{Field, ListMerge, Schema};
