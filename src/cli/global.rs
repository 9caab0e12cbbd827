//! The flags that every command has.

use std::time::Duration;

use clap::{Args, Command, ValueHint};

use crate::render::ColorChoice;
use engine::value::duration;

/// kubectl's connection and identity flags, and how to show things.
///
/// `-h` shows the first one alone, as kubectl's commands do; `kubectl inplace options` lists them all.
#[derive(Debug, Args, Default, Clone)]
#[command(next_help_heading = "Global flags")]
pub struct GlobalArgs {
    #[command(flatten)]
    pub connection: ConnectionArgs,
    /// End with an error if the server warned
    #[arg(long, global = true, hide_short_help = true, hide_long_help = true)]
    pub warnings_as_errors: bool,
    /// When to use color
    #[arg(
        long,
        global = true,
        hide_short_help = true,
        hide_long_help = true,
        value_name = "WHEN",
        default_value = "auto"
    )]
    pub color: ColorChoice,
    /// Show results, warnings and errors only
    #[arg(short, long, global = true, hide_short_help = true, hide_long_help = true)]
    pub quiet: bool,
    /// Log level: 6 shows requests, 7 their headers, 8 also bodies; without credentials
    #[arg(
        short = 'v',
        long = "v",
        global = true,
        hide_short_help = true,
        hide_long_help = true,
        value_name = "LEVEL",
        default_value_t = 0
    )]
    pub verbosity: u8,
    /// kubectl's that say nothing to this program.
    #[command(flatten)]
    pub ignored: IgnoredArgs,
}

/// Which server, as whom, and how; an empty text is as good as none.
#[derive(Debug, Args, Default, Clone)]
pub struct ConnectionArgs {
    /// Namespace; other global flags: kubectl inplace options
    #[arg(short, long, global = true, help_heading = None::<&str>, value_name = "NAME")]
    pub namespace: Option<String>,
    /// The kubeconfig to use
    #[arg(long, global = true, hide_short_help = true, hide_long_help = true, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub kubeconfig: Option<String>,
    /// kubectl's preferences, whose policy says which credential plugins may run; off is none [default: ~/.kube/kuberc]
    #[arg(long, global = true, hide_short_help = true, hide_long_help = true, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub kuberc: Option<String>,
    /// Context of the kubeconfig
    #[arg(long, global = true, hide_short_help = true, hide_long_help = true, value_name = "NAME")]
    pub context: Option<String>,
    /// Cluster of the kubeconfig
    #[arg(long, global = true, hide_short_help = true, hide_long_help = true, value_name = "NAME")]
    pub cluster: Option<String>,
    /// User of the kubeconfig
    #[arg(long, global = true, hide_short_help = true, hide_long_help = true, value_name = "NAME")]
    pub user: Option<String>,
    /// Address of the API server
    #[arg(short, long, global = true, hide_short_help = true, hide_long_help = true, value_name = "URL")]
    pub server: Option<String>,
    /// Bearer token
    #[arg(long, global = true, hide_short_help = true, hide_long_help = true, value_name = "TOKEN")]
    pub token: Option<String>,
    /// User name of basic authentication
    #[arg(long, global = true, hide_short_help = true, hide_long_help = true, value_name = "NAME")]
    pub username: Option<String>,
    /// Password of basic authentication
    #[arg(long, global = true, hide_short_help = true, hide_long_help = true, value_name = "PASSWORD")]
    pub password: Option<String>,
    /// Certificate file of the server's authority
    #[arg(long, global = true, hide_short_help = true, hide_long_help = true, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub certificate_authority: Option<String>,
    /// Client certificate file
    #[arg(long, global = true, hide_short_help = true, hide_long_help = true, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub client_certificate: Option<String>,
    /// Client key file
    #[arg(long, global = true, hide_short_help = true, hide_long_help = true, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub client_key: Option<String>,
    /// Do not check the server's certificate
    #[arg(long, global = true, hide_short_help = true, hide_long_help = true)]
    pub insecure_skip_tls_verify: bool,
    /// Name that the server's certificate must have
    #[arg(long, global = true, hide_short_help = true, hide_long_help = true, value_name = "NAME")]
    pub tls_server_name: Option<String>,
    /// User to impersonate
    #[arg(long = "as", global = true, hide_short_help = true, hide_long_help = true, value_name = "USER")]
    pub as_user: Option<String>,
    /// Group to impersonate; repeatable
    #[arg(long, global = true, hide_short_help = true, hide_long_help = true, value_name = "GROUP")]
    pub as_group: Vec<String>,
    /// UID to impersonate
    #[arg(long, global = true, hide_short_help = true, hide_long_help = true, value_name = "UID")]
    pub as_uid: Option<String>,
    /// Extra of the impersonated user; repeatable
    #[arg(long, global = true, hide_short_help = true, hide_long_help = true, value_name = "KEY=VALUE")]
    pub as_user_extra: Vec<String>,
    /// How long one request may take, repetitions included; 0 is no limit [default: 65s]
    #[arg(long, global = true, hide_short_help = true, hide_long_help = true, value_name = "DURATION", value_parser = duration::parse)]
    pub request_timeout: Option<Duration>,
    /// Ask the server not to compress its answers
    #[arg(long, global = true, hide_short_help = true, hide_long_help = true)]
    pub disable_compression: bool,
}

/// Flags of kubectl's that have no meaning here, accepted because aliases and scripts add them to every command: there is no
/// discovery cache, no profiling, no version check, no log but `-v`, and lists are read in pages. What would be expected to happen is refused.
#[derive(Debug, Args, Default, Clone)]
pub struct IgnoredArgs {
    /// Where kubectl keeps its discovery cache.
    #[arg(long, global = true, hide = true)]
    pub cache_dir: Option<String>,
    /// How often kubectl writes its log.
    #[arg(long, global = true, hide = true)]
    pub log_flush_frequency: Option<String>,
    /// Whether kubectl requires its own version of the server.
    #[arg(long, global = true, hide = true)]
    pub match_server_version: bool,
    /// What kubectl profiles.
    #[arg(long, global = true, hide = true)]
    pub profile: Option<String>,
    /// Where kubectl writes its profile.
    #[arg(long, global = true, hide = true)]
    pub profile_output: Option<String>,
    /// Log levels of kubectl by file.
    #[arg(long, global = true, hide = true)]
    pub vmodule: Option<String>,
    /// How many objects kubectl reads at once.
    #[arg(long, global = true, hide = true, allow_negative_numbers = true)]
    pub chunk_size: Option<i64>,
    /// Whether kubectl prints objects with their managed fields.
    #[arg(long, global = true, hide = true)]
    pub show_managed_fields: bool,
    /// The subresource that kubectl writes.
    #[arg(long, global = true, hide = true)]
    pub subresource: Option<String>,
}

/// Those of them that ask for something which this program does not do.
const REFUSED: [&str; 4] = ["match_server_version", "profile", "show_managed_fields", "subresource"];

impl GlobalArgs {
    /// Says why flags of kubectl's are refused that ask for something which this program does not do.
    pub fn refusal(&self) -> Option<&'static str> {
        if self.ignored.match_server_version {
            return Some(
                "--match-server-version is not supported: the version of kubectl-inplace is its own, and no server's",
            );
        }
        if self.ignored.show_managed_fields {
            return Some("--show-managed-fields is not supported: no output has objects with their managed fields");
        }
        if self.ignored.subresource.as_deref().is_some_and(|what| !what.is_empty()) {
            return Some(
                "--subresource is not supported: cpu and memory of pods are always written to their subresource resize",
            );
        }
        let is_profiled = self.ignored.profile.as_deref().is_some_and(|what| !matches!(what, "" | "none"));
        is_profiled.then_some("--profile is not supported: it measures kubectl itself")
    }
}

/// Lists the flags of every command, as `kubectl options` does.
pub fn options() -> String {
    let mut flags = GlobalArgs::augment_args(Command::new("options").disable_help_flag(true));
    flags = flags.mut_args(|flag| flag.help_heading(None::<&str>).hide_short_help(false));
    // The short helps lead here.
    flags = flags.mut_arg("namespace", |flag| flag.help("Namespace"));
    flags = flags
        .max_term_width(100)
        .help_template("The following flags can be passed to any command:\n\n{options}\n{after-help}");
    let ignored = IgnoredArgs::augment_args(Command::new("ignored"));
    let named = |refused: bool| {
        let flags = ignored.get_arguments().filter(|flag| REFUSED.contains(&flag.get_id().as_str()) == refused);
        flags.filter_map(|flag| Some(format!("--{}", flag.get_long()?))).collect::<Vec<_>>().join(", ")
    };
    let note = format!(
        "These flags of kubectl's are accepted and ignored, since they have no meaning here: {}. These are refused, unless their value is kubectl's default: {}.",
        named(false),
        named(true)
    );
    format!("{}\n", flags.after_help(note).render_help())
}
