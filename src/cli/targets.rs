//! Which workloads a command is about, and what is wanted of them.

use clap::builder::PossibleValue;
use clap::{ArgAction, Args, ValueEnum, ValueHint};

use crate::engine::api_schema::Validation;

/// Which workloads, and which images.
#[derive(Debug, Args, Default)]
pub struct TargetArgs {
    /// Workloads as TYPE/NAME, TYPE NAME or TYPE with -l, then images as CONTAINER=IMAGE. IMAGE may be :TAG or @DIGEST, which keep the repository
    #[arg(value_name = "TYPE/NAME | CONTAINER=IMAGE")]
    pub words: Vec<String>,
    /// The same as CONTAINER=IMAGE among the words
    #[arg(long, value_name = "CONTAINER=IMAGE")]
    pub image: Vec<String>,
    /// Let '*=IMAGE' stand for every container
    #[arg(long, num_args = 0..=1, require_equals = true, default_missing_value = "true", default_value_t = false, action = ArgAction::Set, value_name = "BOOL", hide_possible_values = true, hide_default_value = true)]
    pub all_containers: bool,
    /// Manifests whose workloads are meant: files, folders, or - for standard input
    #[arg(short, long, value_name = "FILE", value_delimiter = ',', value_hint = ValueHint::AnyPath)]
    pub filename: Vec<String>,
    /// Process the directory used in -f recursively
    #[arg(short = 'R', long, num_args = 0..=1, require_equals = true, default_missing_value = "true", default_value_t = false, action = ArgAction::Set, value_name = "BOOL", hide_possible_values = true, hide_default_value = true)]
    pub recursive: bool,
    /// Fields of manifests that the API does not have: strict refuses them, warn reports them, ignore accepts them
    #[arg(long, value_name = "MODE", num_args = 0..=1, require_equals = true, default_missing_value = "strict", default_value = "strict")]
    pub validate: Validation,
    /// Label selector of the workloads
    #[arg(short = 'l', long, value_name = "SELECTOR")]
    pub selector: Option<String>,
    /// In all namespaces; with -l
    #[arg(short = 'A', long, num_args = 0..=1, require_equals = true, default_missing_value = "true", default_value_t = false, action = ArgAction::Set, value_name = "BOOL", hide_possible_values = true, hide_default_value = true)]
    pub all_namespaces: bool,
}

/// Which workloads, and what is wanted of their containers.
#[derive(Debug, Args, Default)]
pub struct ChangeArgs {
    /// Which workloads, and which images.
    #[command(flatten)]
    pub targets: TargetArgs,
    /// Containers whose cpu and memory change [default: the only one]
    #[arg(short, long, value_name = "NAME", value_delimiter = ',')]
    pub container: Vec<String>,
    /// Requests of cpu and memory, such as cpu=200m,memory=256Mi
    #[arg(long, value_name = "RESOURCE=QUANTITY")]
    pub requests: Option<String>,
    /// Limits of cpu and memory, such as memory=512Mi
    #[arg(long, value_name = "RESOURCE=QUANTITY")]
    pub limits: Option<String>,
}

impl ValueEnum for Validation {
    fn value_variants<'a>() -> &'a [Self] {
        &Self::ALL
    }

    fn to_possible_value(&self) -> Option<PossibleValue> {
        // kubectl takes booleans too.
        Some(match self {
            Self::Strict => PossibleValue::new("strict").alias("true"),
            Self::Warn => PossibleValue::new("warn"),
            Self::Ignore => PossibleValue::new("ignore").alias("false"),
        })
    }
}
