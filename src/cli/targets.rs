//! Which workloads a command is about, and what is wanted of them.

use clap::builder::{PossibleValue, TypedValueParser};
use clap::{Args, ValueHint};

use super::{format, one_of};
use crate::render::{DocumentFormat, StatusFormat};
use engine::plan::Validation;

/// The heading of the flags that say which workloads, and what changes of them.
const TARGETS: &str = "Targets";

/// Which workloads, and which images.
#[derive(Debug, Args, Default, Clone)]
pub struct TargetArgs {
    /// Workloads, then images; :TAG, @DIGEST or both keep the repository
    ///
    /// Workloads are TYPE/NAME, TYPE NAME, or TYPE with -l or --all. Images are CONTAINER=IMAGE, where IMAGE may also be :TAG, @DIGEST or :TAG@DIGEST, which keep the repository of the image that runs.
    #[arg(value_name = "TYPE/NAME | CONTAINER=IMAGE")]
    pub words: Vec<String>,
    /// An image as a flag; with -c, --image IMAGE
    #[arg(long, help_heading = TARGETS, value_name = "NAME=IMAGE")]
    pub image: Vec<String>,
    /// Let '*=IMAGE' stand for every container
    #[arg(long, help_heading = TARGETS, hide_short_help = true)]
    pub all_containers: bool,
    #[command(flatten)]
    pub pick: PickArgs,
    /// Unknown fields of manifests: strict refuses them, warn reports them, ignore accepts them
    #[arg(long, help_heading = TARGETS, hide_short_help = true, value_name = "MODE", num_args = 0..=1, require_equals = true, default_missing_value = "strict", default_value = "strict", value_parser = validation())]
    pub validate: Validation,
}

/// Workloads in manifests, or by what they are like.
#[derive(Debug, Args, Default, Clone)]
pub struct PickArgs {
    /// Manifests: files, directories, URLs, - for stdin
    #[arg(short, long, help_heading = TARGETS, value_name = "FILE", value_delimiter = ',', value_hint = ValueHint::AnyPath)]
    pub filename: Vec<String>,
    /// A kustomization, built by kubectl kustomize
    #[arg(short, long, help_heading = TARGETS, value_name = "DIR", value_hint = ValueHint::AnyPath, conflicts_with = "filename")]
    pub kustomize: Option<String>,
    /// Process the directory used in -f recursively
    #[arg(short = 'R', long, help_heading = TARGETS, hide_short_help = true)]
    pub recursive: bool,
    /// Label selector of the workloads
    #[arg(short = 'l', long, help_heading = TARGETS, value_name = "LABELS")]
    pub selector: Option<String>,
    /// Field selector of the workloads, such as metadata.name=web
    #[arg(long, help_heading = TARGETS, hide_short_help = true, value_name = "FIELDS")]
    pub field_selector: Option<String>,
    /// All workloads of the types
    #[arg(long, help_heading = TARGETS, conflicts_with_all = ["selector", "field_selector"])]
    pub all: bool,
    /// In all namespaces
    #[arg(short = 'A', long, help_heading = TARGETS)]
    pub all_namespaces: bool,
}

/// Which workloads, where no image is asked for.
#[derive(Debug, Args, Default)]
pub struct WorkloadArgs {
    /// Workloads: TYPE/NAME, TYPE NAME, or TYPE with -l or --all
    #[arg(value_name = "TYPE/NAME")]
    pub words: Vec<String>,
    #[command(flatten)]
    pub pick: PickArgs,
}

impl From<&WorkloadArgs> for TargetArgs {
    fn from(args: &WorkloadArgs) -> Self {
        Self { words: args.words.clone(), pick: args.pick.clone(), ..Self::default() }
    }
}

/// Which workloads, and what is wanted of their containers.
#[derive(Debug, Args, Default)]
pub struct ChangeArgs {
    #[command(flatten)]
    pub targets: TargetArgs,
    /// Container, where --image does not name it
    ///
    /// Containers that --image, --requests and --limits are for. May be left out where there is one container.
    #[arg(short, long, help_heading = TARGETS, value_name = "NAME", value_delimiter = ',')]
    pub container: Vec<String>,
    /// Requests, such as cpu=200m,memory=256Mi
    #[arg(long, help_heading = TARGETS, value_name = "NAME=QTY", conflicts_with_all = ["filename", "kustomize"])]
    pub requests: Vec<String>,
    /// Limits, such as memory=512Mi
    #[arg(long, help_heading = TARGETS, value_name = "NAME=QTY", conflicts_with_all = ["filename", "kustomize"])]
    pub limits: Vec<String>,
}

impl PickArgs {
    /// Returns whether workloads are picked without their names.
    pub fn is_selected(&self) -> bool {
        self.selector.is_some() || self.field_selector.is_some() || self.all
    }

    /// Returns whether manifests name the workloads.
    pub fn has_manifests(&self) -> bool {
        !self.filename.is_empty() || self.kustomize.is_some()
    }
}

#[derive(Debug, Args)]
pub struct StatusArgs {
    /// Which workloads; none is all of them.
    #[command(flatten)]
    pub targets: WorkloadArgs,
    /// Show it again whenever it changes, until it is interrupted
    #[arg(short, long)]
    pub watch: bool,
    /// Exit with 2 where a workload is not up to date: in progress, failed, held, drifted, or pods missing; with 1 where that is not known
    #[arg(long, conflicts_with = "watch")]
    pub exit_code: bool,
    /// Output format; wide also has restarts, nodes, digests and uids, name the workloads, one a line
    #[arg(short, long, value_name = "FORMAT", default_value = "text", value_parser = format::<StatusFormat>())]
    pub output: StatusFormat,
}

#[derive(Debug, Args)]
pub struct HistoryArgs {
    #[command(flatten)]
    pub targets: WorkloadArgs,
    /// Output format
    #[arg(short, long, value_name = "FORMAT", default_value = "text", value_parser = format::<DocumentFormat>())]
    pub output: DocumentFormat,
}

/// How unknown fields of manifests are taken. kubectl takes booleans too.
fn validation() -> impl TypedValueParser<Value = Validation> {
    one_of(&Validation::ALL, |value| match value {
        Validation::Strict => PossibleValue::new("strict").alias("true"),
        Validation::Warn => PossibleValue::new("warn"),
        Validation::Ignore => PossibleValue::new("ignore").alias("false"),
    })
}
