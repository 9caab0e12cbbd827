//! What becomes of each flag that was typed, in the commands that are printed.

/// What becomes of a flag in the commands that are printed after it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Carry {
    /// Who asks whom: in every command, in kubectl's too.
    Connection,
    /// How fast and how careful, as the lock has it: in every command that goes on without one.
    Policy,
    /// What no lock has: in every command of this program that has the flag.
    Safeguard,
    /// What is done: only in a command that does the same.
    Task,
    /// Of this run alone.
    Never,
}

/// What becomes of each flag but those that say what is done. A test has the list of these: a new flag fails it.
pub(super) const CARRY: &[(Carry, &[&str])] = &[
    (
        Carry::Connection,
        &[
            "kubeconfig",
            "kuberc",
            "context",
            "cluster",
            "user",
            "server",
            "token",
            "username",
            "password",
            "certificate_authority",
            "client_certificate",
            "client_key",
            "insecure_skip_tls_verify",
            "tls_server_name",
            "as_user",
            "as_group",
            "as_uid",
            "as_user_extra",
            "request_timeout",
            "disable_compression",
            "warnings_as_errors",
        ],
    ),
    (
        Carry::Policy,
        &[
            "max_unavailable",
            "min_ready_seconds",
            "timeout",
            "total_timeout",
            "pause_after",
            "disruption_budget",
            "drain",
            "drain_seconds",
            "container_order",
            "on_failure",
            "deferred",
        ],
    ),
    (
        Carry::Safeguard,
        &["pre_pull", "before_pod", "after_pod", "no_hooks", "keep_field_ownership", "field_manager", "by_request"],
    ),
    (
        Carry::Never,
        &[
            "help",
            "color",
            "quiet",
            "verbosity",
            "output",
            // Flags that only kubectl knows.
            "cache_dir",
            "log_flush_frequency",
            "match_server_version",
            "profile",
            "profile_output",
            "vmodule",
            "chunk_size",
            "show_managed_fields",
            "subresource",
            "yes",
            "dry_run",
            // Each run writes the file again.
            "record",
        ],
    ),
];

pub(super) fn carry(id: &str) -> Carry {
    CARRY.iter().find(|(_, ids)| ids.contains(&id)).map_or(Carry::Task, |(carry, _)| *carry)
}

/// Returns whether a flag names server or user: hints get those by themselves.
pub(in crate::commands) fn is_of_the_connection(id: &str) -> bool {
    carry(id) == Carry::Connection
}
