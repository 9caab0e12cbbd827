//! `rbac`: prints the least Role that a command needs, or asks the server whether the caller has it.

use std::io;

use super::Shell;
use crate::cli::{GlobalArgs, RbacArgs};
use crate::error::CommandError;
use crate::render::{self, Meaning, Role, RoleFormat};
use engine::k8s::permissions::{self, AccessAnswer, Asked};
use engine::kinds::WorkloadKind;
use engine::state::outcome::EndResult;
use engine::value::hint::{Hint, inplace};

pub(super) async fn run(args: &RbacArgs, global: &GlobalArgs, shell: &mut Shell) -> Result<EndResult, CommandError> {
    let command = args.command;
    if args.pods_only && !command.has_pods_only() {
        return Err(CommandError::usage(format!("--pods-only makes no difference to {}", command.word())));
    }
    let kinds = args.kind.0.map_or_else(|| WorkloadKind::updated_here().collect(), |kind| vec![kind]);
    let asked = Asked { command, kinds, pods_only: args.pods_only };
    if args.check { check(args, &asked, global, shell).await } else { print(args, &asked, global) }
}

/// Returns the words after `kubectl inplace`, with a separator between them.
fn words(args: &RbacArgs, separator: &str) -> String {
    let mut words = vec![args.command.word()];
    words.extend(args.kind.0.map(|kind| kind.spec().singular));
    words.join(separator) + if args.pods_only { " --pods-only" } else { "" }
}

fn print(args: &RbacArgs, asked: &Asked, global: &GlobalArgs) -> Result<EndResult, CommandError> {
    let role = Role {
        command: format!("kubectl inplace {}", words(args, " ")),
        name: format!("kubectl-inplace-{}", words(args, "-").replace(" --", "-")),
        namespace: global.namespace.clone(),
        all_namespaces: args.all_namespaces,
        optional: args.optional,
        permissions: asked.permissions(),
    };
    let out = &mut io::stdout().lock();
    match args.output {
        RoleFormat::Text => render::role_yaml(&role, out),
        RoleFormat::Json => render::role_json(&role, out),
    }?;
    Ok(EndResult::Complete)
}

async fn check(
    args: &RbacArgs,
    asked: &Asked,
    global: &GlobalArgs,
    shell: &mut Shell,
) -> Result<EndResult, CommandError> {
    let cluster = shell.connect(global).await?;
    let namespace = (!args.all_namespaces).then(|| cluster.namespace());
    let answers = cluster.access(asked.permissions(), namespace, None).await?;
    let missing = permissions::missing(&answers);
    let result = if missing.is_empty() { EndResult::Complete } else { EndResult::NotEligible };
    let out = &mut io::stdout().lock();
    match args.output {
        RoleFormat::Text => render::access_table(&answers, namespace, &shell.terminal.stdout, out),
        RoleFormat::Json => render::access_json(&answers, namespace, result, out),
    }?;
    tell(&missing, args, namespace, shell);
    Ok(result)
}

/// Names each verb that is missing, and how to come by it.
fn tell(missing: &[&AccessAnswer], args: &RbacArgs, namespace: Option<&str>, shell: &Shell) {
    for answer in missing {
        let place = match namespace {
            Some(namespace) => format!("in namespace {namespace}"),
            None => "in all namespaces".to_owned(),
        };
        let server = if answer.message.is_empty() { String::new() } else { format!(" ({})", answer.message) };
        shell.say(Meaning::Failing, "missing:", &format!("{} {place}{server}", answer.permission));
    }
    if !missing.is_empty() {
        let command = inplace("rbac").and(&words(args, " "));
        let command = namespace.map_or_else(|| command.clone().and("-A"), |name| command.clone().in_namespace(name));
        shell.hint(&Hint::from("the Role that gives it is printed by: ").command(command));
    }
}
