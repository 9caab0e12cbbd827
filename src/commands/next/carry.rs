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

/// Every flag, and what becomes of it. A flag that is not here fails a test.
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
    (Carry::Safeguard, &["pre_pull", "before_pod", "after_pod", "no_hooks", "keep_field_ownership", "field_manager"]),
    (
        Carry::Task,
        &[
            "words",
            // Of several workloads: what is printed of one has none.
            "parallel_workloads",
            "image",
            "all_containers",
            "filename",
            "kustomize",
            "recursive",
            "validate",
            "selector",
            "field_selector",
            "all",
            "all_namespaces",
            "namespace",
            "container",
            "requests",
            "limits",
            "plan",
            "to",
            "pin_digest",
            "pods_only",
            "take_over",
            "release",
            "canary",
            "partition",
            "pods",
            "node",
            "order",
            "reason",
        ],
    ),
    (
        Carry::Never,
        &[
            "help",
            "color",
            "quiet",
            "verbosity",
            "output",
            "detailed_exitcode",
            "exit_code",
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
            "out",
            "against",
            "yes",
            "dry_run",
            // Each run writes the file again.
            "record",
            // What is asked of a command that changes nothing.
            "check",
            "client",
            "code",
            "command",
            "context_lines",
            "install",
            "kind",
            "kubelet_version",
            "optional",
            "shell",
            "watch",
        ],
    ),
];

pub(super) fn carry(id: &str) -> Option<Carry> {
    CARRY.iter().find(|(_, ids)| ids.contains(&id)).map(|(carry, _)| *carry)
}

/// Returns whether a flag names server or user: hints get those by themselves.
pub(in crate::commands) fn is_of_the_connection(id: &str) -> bool {
    carry(id) == Some(Carry::Connection)
}
