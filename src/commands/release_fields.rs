//! `release-fields`: takes field managers off a workload that would make the next server-side apply of its template fail.

use std::io::{self, Write};

use super::{Shell, approve, targets};
use crate::cli::{DryRun, FIELD_MANAGER, GlobalArgs, ReleaseFieldsArgs};
use crate::error::{CommandError, ErrorKind, Result};
use crate::render::Meaning;
use engine::change::reason::see_its_rollout;
use engine::k8s::workload::Workload;
use engine::state::durable::lock::Lock;
use engine::state::durable::release_fields;
use engine::state::field_managers::{FieldManager, applier, foreign};
use engine::state::outcome::EndResult;
use engine::value::count::count;

pub(super) async fn run(args: &ReleaseFieldsArgs, global: &GlobalArgs, shell: &mut Shell) -> Result<EndResult> {
    let why = "release-fields changes no image; pass only the workload";
    let (cluster, found) = targets::connect_and_find(&args.targets, why, global, shell).await?;
    let mut releases = Vec::new();
    for (workload, _) in &found {
        let managers = foreign(&workload.object, workload.reference.kind);
        if managers.is_empty() {
            say_that_there_is_none(workload, shell);
            continue;
        }
        show(workload, &managers, shell)?;
        // Among its fields is what keeps the controller from the pods: it is known of all before the first is written.
        if !matches!(Lock::of(&workload.object), Ok(None)) {
            let message = format!("{}: its rollout is not finished, and these fields are its own", workload.reference);
            let hint = shell.with_flags(&see_its_rollout(&workload.reference));
            return Err(CommandError::new(ErrorKind::Held, message).hint(hint));
        }
        releases.push((workload, count(u32::try_from(managers.len()).unwrap_or(u32::MAX), "field manager")));
    }
    let mut released = false;
    for (workload, many) in releases {
        let write = release_fields(workload);
        let what = format!("{} from {many}", workload.reference);
        let as_what = match args.dry_run {
            DryRun::None => {
                let question = format!("Release {what}");
                approve::confirm(&question, &cluster, args.yes, shell).map_err(approve::midway(released))?;
                cluster.write(&write, FIELD_MANAGER).await?;
                ""
            }
            DryRun::Client => " (dry run)",
            DryRun::Server => {
                cluster.dry_write(&write, FIELD_MANAGER).await?;
                " (server dry run)"
            }
        };
        released = true;
        shell.say(Meaning::Ok, "Released:", &format!("{what}; its fields keep their values{as_what}"));
    }
    Ok(if released { EndResult::Complete } else { EndResult::NothingToDo })
}

fn say_that_there_is_none(workload: &Workload, shell: &Shell) {
    let none = match applier(&workload.object, workload.reference.kind) {
        Some(owner) => format!("no field manager but {owner} owns fields of its template"),
        None => "no server-side apply owns its template, so that no field manager is in the way of one".to_owned(),
    };
    shell.note(&format!("{}: {none}", workload.reference));
}

/// Shows who owns which fields, a line each.
fn show(workload: &Workload, managers: &[FieldManager<'_>], shell: &Shell) -> io::Result<()> {
    let (style, mut out) = (&shell.terminal.stdout, io::stdout().lock());
    let owner = applier(&workload.object, workload.reference.kind).unwrap_or_default();
    let head = format!("{}: {owner} applies its template; fields of it belong to others:", workload.reference);
    writeln!(out, "{}", style.show(&head))?;
    for known in managers {
        let line = format!("{} ({}): {}", known.name, known.time, known.paths().join(", "));
        writeln!(out, "  {}", style.show(&line))?;
    }
    out.flush()
}
