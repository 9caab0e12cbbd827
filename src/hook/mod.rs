//! Runs the user's own command around a pod: `sh -c COMMAND`, with what it is about in its environment.
//!
//! Promise: each run is a process group of its own, whose standard input is empty and whose output never reaches a
//! stream of ours except through the listener, line by line. When a drive is over nothing of it is left: what still
//! runs gets SIGTERM, then [`LEAVES_WITHIN`], and is then killed. What a command leaves in the background after it has
//! ended is the user's own.

use std::collections::{BTreeMap, VecDeque};
use std::process::{ExitStatus, Stdio};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncReadExt};
use tokio::process::{Child, Command};
use tokio::sync::mpsc;

use engine::k8s::mask;
use engine::k8s::names::PodKey;
use engine::state::hook::{HookEnd, HookPhase, HookResult, HookRun, Hooks};

/// What still runs when a drive is over has this long to end by itself.
pub(crate) const LEAVES_WITHIN: Duration = Duration::from_secs(2);

/// A command has ended; what it wrote last may still be on its way.
const LAST_WORDS_WITHIN: Duration = Duration::from_millis(200);

const KEPT_LINES: usize = 5;

/// Bytes of a line; a longer one is cut into several.
const LINE_BYTES: usize = 2_048;

#[derive(Debug)]
pub(crate) struct HookLine {
    pub(crate) pod: PodKey,
    pub(crate) hook: HookPhase,
    /// Without its end, and without credentials.
    pub(crate) text: String,
}

/// The process groups that run, by the id of their leader.
type Groups = Arc<Mutex<BTreeMap<u32, PodKey>>>;

/// The commands of one rollout, and those of them that run.
#[derive(Debug)]
pub(crate) struct HookRunner {
    commands: Hooks,
    groups: Groups,
    lines: mpsc::UnboundedSender<HookLine>,
}

#[derive(Debug, Clone, Copy)]
pub(crate) enum HookSignal {
    Terminate,
    /// Nothing any more: it is ended.
    Kill,
}

impl HookRunner {
    pub(crate) fn new(commands: &Hooks) -> (Self, mpsc::UnboundedReceiver<HookLine>) {
        let (lines, listener) = mpsc::unbounded_channel();
        (Self { commands: commands.clone(), groups: Groups::default(), lines }, listener)
    }

    pub(crate) fn run(&self, run: HookRun) -> impl Future<Output = HookEnd> + Send + use<> {
        let command = self.commands.command(run.phase).map(str::to_owned);
        let (groups, lines) = (Arc::clone(&self.groups), self.lines.clone());
        async move {
            match command {
                Some(command) => running(&command, &run, groups, lines).await,
                None => not_started("there is no such command"),
            }
        }
    }

    pub(crate) fn is_any(&self) -> bool {
        !lock(&self.groups).is_empty()
    }

    pub(crate) fn tell(&self, what: HookSignal) {
        lock(&self.groups).keys().for_each(|group| signal(*group, what));
    }
}

impl Drop for HookRunner {
    fn drop(&mut self) {
        self.tell(HookSignal::Kill);
    }
}

/// A set of numbers is as good after a panic as before.
fn lock(groups: &Groups) -> std::sync::MutexGuard<'_, BTreeMap<u32, PodKey>> {
    groups.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Takes a group off the list when nobody waits for it any more, and ends it unless it has ended by itself.
struct Group {
    id: Option<u32>,
    has_ended: bool,
    groups: Groups,
}

impl Drop for Group {
    fn drop(&mut self) {
        let Some(id) = self.id else { return };
        lock(&self.groups).remove(&id);
        if !self.has_ended {
            signal(id, HookSignal::Kill);
        }
    }
}

#[cfg(unix)]
fn signal(group: u32, what: HookSignal) {
    use rustix::process::{Pid, Signal, kill_process_group};
    let signal = match what {
        HookSignal::Terminate => Signal::TERM,
        HookSignal::Kill => Signal::KILL,
    };
    let group = i32::try_from(group).ok().and_then(Pid::from_raw);
    // A group that is gone gets no signal.
    let _ = group.map(|group| kill_process_group(group, signal));
}

/// Elsewhere the process itself is ended when it is dropped.
#[cfg(not(unix))]
fn signal(_group: u32, _what: HookSignal) {}

#[cfg(unix)]
fn shell(command: &str) -> Command {
    let mut shell = Command::new("sh");
    shell.arg("-c").arg(command).process_group(0);
    shell
}

#[cfg(not(unix))]
fn shell(command: &str) -> Command {
    let mut shell = Command::new("cmd");
    shell.arg("/C").arg(command);
    shell
}

async fn running(command: &str, run: &HookRun, groups: Groups, lines: mpsc::UnboundedSender<HookLine>) -> HookEnd {
    let mut shell = shell(command);
    shell.envs(run.environment()).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).kill_on_drop(true);
    let mut child = match shell.spawn() {
        Ok(child) => child,
        Err(error) => return not_started(&error.to_string()),
    };
    let id = child.id();
    lock(&groups).extend(id.map(|id| (id, run.pod.clone())));
    let mut group = Group { id, has_ended: false, groups };
    let last = Mutex::new(VecDeque::new());
    let tell = |text: String| {
        let mut last = last.lock().unwrap_or_else(PoisonError::into_inner);
        last.push_back(text.clone());
        if last.len() > KEPT_LINES {
            last.pop_front();
        }
        // The listener has left: nobody gets the line.
        drop(lines.send(HookLine { pod: run.pod.clone(), hook: run.phase, text }));
    };
    let status = listen_until_end(&mut child, &tell).await;
    group.has_ended = true;
    let last = last.into_inner().unwrap_or_else(PoisonError::into_inner);
    let message = last.into_iter().collect::<Vec<String>>().join(" / ");
    match status {
        Ok(status) => HookEnd { how: ended(status), message },
        Err(error) => not_started(&error.to_string()),
    }
}

async fn listen_until_end(child: &mut Child, tell: &(impl Fn(String) + Sync)) -> std::io::Result<ExitStatus> {
    let (out, err) = (child.stdout.take(), child.stderr.take());
    let mut listening = std::pin::pin!(async { futures::join!(listen(out, tell), listen(err, tell)) });
    let ended = std::pin::pin!(child.wait());
    match futures::future::select(ended, listening.as_mut()).await {
        futures::future::Either::Left((status, _)) => {
            // A process that was left in the background may keep the pipes open for ever.
            drop(tokio::time::timeout(LAST_WORDS_WITHIN, listening).await);
            status
        }
        futures::future::Either::Right((_, ended)) => ended.await,
    }
}

/// Tells each line as it comes; the last one also without an end.
async fn listen(pipe: Option<impl AsyncRead + Unpin>, tell: &(impl Fn(String) + Sync)) {
    let Some(mut pipe) = pipe else { return };
    let (mut buffer, mut line) = ([0_u8; 1_024], Vec::new());
    let mut masking = mask::Lines::default();
    let mut tell = |line: &mut Vec<u8>| {
        if let Some(text) = masking.next(&text_of(line)) {
            tell(text);
        }
    };
    loop {
        let read = pipe.read(&mut buffer).await.unwrap_or(0);
        for byte in buffer.iter().take(read) {
            if *byte == b'\n' || line.len() >= LINE_BYTES {
                tell(&mut line);
            }
            if *byte != b'\n' {
                line.push(*byte);
            }
        }
        if read == 0 {
            if !line.is_empty() {
                tell(&mut line);
            }
            return;
        }
    }
}

fn text_of(line: &mut Vec<u8>) -> String {
    let text = String::from_utf8_lossy(line).trim_end_matches('\r').to_owned();
    line.clear();
    text
}

fn not_started(why: &str) -> HookEnd {
    HookEnd { how: HookResult::NotStarted, message: why.to_owned() }
}

#[cfg(unix)]
fn ended(status: ExitStatus) -> HookResult {
    use std::os::unix::process::ExitStatusExt;
    match (status.code(), status.signal()) {
        (Some(code), _) => HookResult::Exited { exit_code: code.into() },
        (None, signal) => HookResult::Signalled { signal: signal.unwrap_or(0).into() },
    }
}

#[cfg(not(unix))]
fn ended(status: ExitStatus) -> HookResult {
    HookResult::Exited { exit_code: status.code().unwrap_or(1).into() }
}

#[cfg(all(test, unix))]
mod tests;
