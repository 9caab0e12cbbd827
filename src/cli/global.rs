//! The flags that every command has.

use clap::{ArgAction, Args, ValueHint};

use crate::render::ColorChoice;

/// kubectl's connection and identity flags, and how to show things.
#[derive(Debug, Args, Default, Clone)]
#[command(next_help_heading = "Global flags")]
pub struct GlobalArgs {
    /// Namespace
    #[arg(short, long, global = true, value_name = "NAME")]
    pub namespace: Option<String>,
    /// The kubeconfig to use
    #[arg(long, global = true, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub kubeconfig: Option<String>,
    /// Context of the kubeconfig
    #[arg(long, global = true, value_name = "NAME")]
    pub context: Option<String>,
    /// Cluster of the kubeconfig
    #[arg(long, global = true, value_name = "NAME")]
    pub cluster: Option<String>,
    /// User of the kubeconfig
    #[arg(long, global = true, value_name = "NAME")]
    pub user: Option<String>,
    /// Address of the API server
    #[arg(short, long, global = true, value_name = "URL")]
    pub server: Option<String>,
    /// Bearer token
    #[arg(long, global = true, value_name = "TOKEN", hide_env_values = true)]
    pub token: Option<String>,
    /// Certificate file of the server's authority
    #[arg(long, global = true, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub certificate_authority: Option<String>,
    /// Client certificate file
    #[arg(long, global = true, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub client_certificate: Option<String>,
    /// Client key file
    #[arg(long, global = true, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub client_key: Option<String>,
    /// Do not check the server's certificate
    #[arg(long, global = true, num_args = 0..=1, require_equals = true, default_missing_value = "true", default_value_t = false, action = ArgAction::Set, value_name = "BOOL", hide_possible_values = true, hide_default_value = true)]
    pub insecure_skip_tls_verify: bool,
    /// Name that the server's certificate must have
    #[arg(long, global = true, value_name = "NAME")]
    pub tls_server_name: Option<String>,
    /// User to impersonate
    #[arg(long = "as", global = true, value_name = "USER")]
    pub as_user: Option<String>,
    /// Group to impersonate; repeatable
    #[arg(long, global = true, value_name = "GROUP")]
    pub as_group: Vec<String>,
    /// UID to impersonate
    #[arg(long, global = true, value_name = "UID")]
    pub as_uid: Option<String>,
    /// Extra of the impersonated user; repeatable
    #[arg(long, global = true, value_name = "KEY=VALUE")]
    pub as_user_extra: Vec<String>,
    /// How long one request may take, repetitions included; 0 is no limit [default: 65s]
    #[arg(long, global = true, value_name = "DURATION")]
    pub request_timeout: Option<String>,
    /// Ask the server not to compress its answers
    #[arg(long, global = true, num_args = 0..=1, require_equals = true, default_missing_value = "true", default_value_t = false, action = ArgAction::Set, value_name = "BOOL", hide_possible_values = true, hide_default_value = true)]
    pub disable_compression: bool,
    /// End with an error if the server warned
    #[arg(long, global = true, num_args = 0..=1, require_equals = true, default_missing_value = "true", default_value_t = false, action = ArgAction::Set, value_name = "BOOL", hide_possible_values = true, hide_default_value = true)]
    pub warnings_as_errors: bool,
    /// Colours
    #[arg(long, global = true, value_name = "WHEN", default_value = "auto")]
    pub color: ColorChoice,
    /// Show results, warnings and errors only
    #[arg(short, long, global = true, num_args = 0..=1, require_equals = true, default_missing_value = "true", default_value_t = false, action = ArgAction::Set, value_name = "BOOL", hide_possible_values = true, hide_default_value = true)]
    pub quiet: bool,
    /// Log level: 6 shows requests, 8 more
    #[arg(short = 'v', long = "v", global = true, value_name = "LEVEL", default_value_t = 0)]
    pub verbosity: u8,
}
