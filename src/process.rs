//! This process and others of this machine: so that a run that was killed here is known to be gone at once.
//!
//! Only Linux shows enough (`proc(5)`): which boot it is, in which process namespace, and when a process began, since
//! its number may be another's by now. Elsewhere only the lock's signs of life count.
#![expect(clippy::disallowed_methods, reason = "reads /proc and the name of the machine")]

use std::fs;
use std::process::Command;

use engine::state::durable::lease::{Process, ProcessState};

pub(crate) fn this() -> Process {
    let pid = std::process::id();
    Process { host: host(), boot: boot(), pid, began: began(pid).unwrap_or_default() }
}

pub(crate) fn state(process: &Process) -> ProcessState {
    let boot = boot();
    if boot.is_empty() || boot != process.boot || process.began.is_empty() {
        return ProcessState::NotKnown;
    }
    match seen(process.pid) {
        Some((began, state)) if began == process.began => match state.as_str() {
            "T" | "t" => ProcessState::Stopped,
            _ => ProcessState::Running,
        },
        Some(_) => ProcessState::Gone,
        // With hidepid nobody sees the processes of others, nor the first one.
        None if began(1).is_none() => ProcessState::NotKnown,
        None => ProcessState::Gone,
    }
}

fn line(path: &str) -> Option<String> {
    Some(fs::read_to_string(path).ok()?.trim().to_owned()).filter(|line| !line.is_empty())
}

/// The boot and the process namespace: two containers of one machine have the same boot and their own numbers.
fn boot() -> String {
    let boot = line("/proc/sys/kernel/random/boot_id");
    let namespace = fs::read_link("/proc/self/ns/pid").ok();
    match (boot, namespace) {
        (Some(boot), Some(namespace)) => format!("{boot} {}", namespace.to_string_lossy()),
        (_, _) => String::new(),
    }
}

/// When a process began, in clock ticks since the boot; `None` where there is none, or it may not be seen.
fn began(pid: u32) -> Option<String> {
    Some(seen(pid)?.0)
}

/// When a process began, and its state as `proc(5)` has it.
fn seen(pid: u32) -> Option<(String, String)> {
    let stat = line(&format!("/proc/{pid}/stat"))?;
    // The name before it may contain blanks and brackets.
    let (_, fields) = stat.rsplit_once(')')?;
    let mut fields = fields.split_whitespace();
    // A process that has ended and was not waited for yet is none.
    let state = fields.next().filter(|state| !matches!(*state, "Z" | "X"))?;
    Some((fields.nth(18)?.to_owned(), state.to_owned()))
}

fn host() -> String {
    let asked = || {
        let output = Command::new("uname").arg("-n").output().ok()?;
        Some(String::from_utf8_lossy(&output.stdout).trim().to_owned()).filter(|name| !name.is_empty())
    };
    line("/proc/sys/kernel/hostname").or_else(asked).unwrap_or_else(|| "an unknown machine".into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_process_is_distinguished_from_one_that_is_gone_and_from_another_machines() {
        let this = this();
        assert!(!this.host.is_empty());
        if boot().is_empty() {
            assert_eq!(state(&this), ProcessState::NotKnown);
            return;
        }
        assert_eq!(state(&this), ProcessState::Running);
        let mut child = Command::new("sleep").arg("60").spawn().unwrap();
        let of_child = Process { pid: child.id(), began: began(child.id()).unwrap(), ..this };
        assert_eq!(state(&of_child), ProcessState::Running);
        assert!(Command::new("kill").args(["-STOP", &child.id().to_string()]).status().unwrap().success());
        while state(&of_child) == ProcessState::Running {
            std::thread::yield_now();
        }
        assert_eq!(state(&of_child), ProcessState::Stopped);
        child.kill().unwrap();
        assert_eq!(state(&Process { began: "1".into(), ..of_child.clone() }), ProcessState::Gone);
        child.wait().unwrap();
        assert_eq!(state(&of_child), ProcessState::Gone);
        for elsewhere in [
            Process { boot: "another".into(), ..of_child.clone() },
            Process { boot: String::new(), ..of_child.clone() },
            Process { began: String::new(), ..of_child },
        ] {
            assert_eq!(state(&elsewhere), ProcessState::NotKnown);
        }
    }
}
