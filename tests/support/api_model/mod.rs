//! What an API server does with objects, without I/O, time or threads: the one model behind every test.
//!
//! It has two drivers. The simulations of `src/engine` bring virtual time and caches that lag; the server of
//! `tests/support/api_server` brings HTTP, watches, dry runs and faults. It is part of both crates, and names neither.

mod fields;
mod patch;
mod rules;
mod store;
#[cfg(test)]
mod tests;

pub(crate) use fields::{at, copy_field, put, set_metadata, text};
pub(crate) use patch::carry_out;
pub(crate) use rules::{
    Part, TEMPLATE_GENERATION, as_new, begin_deletion, complete, count, default_strategy, expect, keep, omit_empty,
    validate,
};
pub(crate) use store::{Change, Object, Store};

/// Why a write was not stored.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Refused {
    NotFound,
    AlreadyExists,
    Conflict(Precondition),
    /// A test of the patch failed, or it leads nowhere.
    Patch(String),
    Invalid(Vec<Cause>),
}

/// What a write wanted to find.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Precondition {
    Uid,
    ResourceVersion,
}

/// One complaint of validation: a `field.Error` of apimachinery.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Cause {
    pub(crate) reason: &'static str,
    pub(crate) field: String,
    pub(crate) message: String,
}

impl Cause {
    /// A value that may not be.
    pub(crate) fn invalid(field: &str, message: String) -> Self {
        Self { reason: "FieldValueInvalid", field: field.to_owned(), message }
    }
}
