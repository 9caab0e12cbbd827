//! What an API server does with objects, without I/O, time or threads: the one model behind every test.
//!
//! It has two drivers. The simulations of `crates/engine/src` bring virtual time and caches that lag;
//! [`crate::api_server`] brings HTTP, watches, dry runs and faults.

mod fields;
mod patch;
mod rules;
mod store;
#[cfg(test)]
mod tests;

pub use fields::{at, copy_field, put, set_metadata, text};
pub use patch::carry_out;
pub use rules::{
    Part, TEMPLATE_GENERATION, as_new, begin_deletion, complete, count, default_strategy, expect, keep, omit_empty,
    validate,
};
pub use store::{Change, Object, Store};

/// Why a write was not stored.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Refused {
    NotFound,
    AlreadyExists,
    Conflict(Precondition),
    /// A test of the patch failed, or it leads nowhere.
    Patch(String),
    Invalid(Vec<Cause>),
}

/// What a write wanted to find.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Precondition {
    Uid,
    ResourceVersion,
}

/// One complaint of validation: a `field.Error` of apimachinery.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Cause {
    pub reason: &'static str,
    pub field: String,
    pub message: String,
}

impl Cause {
    /// A value that may not be.
    pub fn invalid(field: &str, message: String) -> Self {
        Self { reason: "FieldValueInvalid", field: field.to_owned(), message }
    }
}
