//! What commands share of the outside: streams, terminal, environment, and the wall clock for names.
#![expect(
    clippy::disallowed_methods,
    reason = "reads the wall clock for the rollout's id, and measures what a command takes"
)]

use std::io::{self, IsTerminal, Write};
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

use tokio::sync::mpsc;

use super::meant::{self, Line};
use super::next::{self, Invocation};
use super::notices::Notices;
use crate::cli::{GlobalArgs, Typed};
use crate::cluster::Cluster;
use crate::cluster::connect::{ConnectOptions, Environment, KubeconfigNames, kubeconfig_names};
use crate::error::{CommandError, ErrorKind, Result};
use crate::render::{self, ColorChoice, Listener, Meaning, NextSteps, SharedScreen, StreamFormat, Terminal};
use engine::k8s::names::RolloutId;
use engine::report::Outcome;
use engine::rollout::Goal;
use engine::state::outcome::EndResult;
use engine::value::hint::{Flags, Hint};

/// Streams, terminal and environment of one run.
pub struct Shell {
    /// The words as they were typed, the program's name first.
    pub arguments: Vec<String>,
    /// The same, flag by flag.
    pub(super) typed: Vec<Typed>,
    pub(super) global: GlobalArgs,
    pub terminal: Terminal,
    pub standard_input_was_read: bool,
    /// The exit code says what was done or found.
    pub(super) is_answer: bool,
    environment: Environment,
    is_silent: bool,
    notices: Option<Arc<Notices>>,
    /// Where several rollouts draw, once there are some.
    screen: OnceLock<SharedScreen>,
}

impl Shell {
    pub fn of_process() -> Self {
        Self {
            arguments: Vec::new(),
            typed: Vec::new(),
            global: GlobalArgs::default(),
            terminal: Terminal::read(ColorChoice::Auto),
            standard_input_was_read: false,
            is_answer: false,
            environment: Environment::of_process(),
            is_silent: false,
            notices: None,
            screen: OnceLock::new(),
        }
    }

    pub(super) fn configure(&mut self, global: &GlobalArgs, arguments: &[String], typed: Vec<Typed>) {
        self.terminal = Terminal::read(global.color);
        self.arguments = arguments.to_vec();
        self.typed = typed;
        self.global = global.clone();
        trace(global.verbosity);
    }

    pub(super) fn line(&self) -> Line<'_> {
        Line { arguments: &self.arguments, typed: &self.typed }
    }

    /// Prepares for questions in the background: nothing is reported, and no credential plugin may ask.
    pub(super) fn ask_in_silence(&mut self) {
        self.is_silent = true;
        self.standard_input_was_read = true;
    }

    pub(super) async fn connect(&mut self, global: &GlobalArgs) -> Result<Cluster> {
        let (sender, receiver) = mpsc::unbounded_channel();
        self.notices = Some(Notices::of(receiver, self.terminal.stderr, self.global.quiet));
        let options = ConnectOptions {
            flags: global.connection.clone(),
            standard_input_was_read: self.standard_input_was_read,
            standard_input_is_terminal: io::stdin().is_terminal(),
            verbosity: global.verbosity,
            notices: (!self.is_silent).then_some(sender),
        };
        let mut environment = self.environment.clone();
        if let Some(kuberc) = &global.connection.kuberc {
            environment.kuberc = Some(kuberc.into());
        }
        Ok(Cluster::connect(&options, &environment).await?)
    }

    /// Returns the names of contexts, clusters and users that there are; none where the kubeconfig cannot be read.
    pub(super) fn kubeconfig_names(&self, global: &GlobalArgs) -> KubeconfigNames {
        kubeconfig_names(&global.connection, &self.environment).unwrap_or_default()
    }

    pub(super) fn environment(&self) -> &Environment {
        &self.environment
    }

    pub fn print(&self, text: &str) -> io::Result<()> {
        let mut out = io::stdout().lock();
        out.write_all(text.as_bytes())?;
        out.flush()
    }

    /// Writes a line to stderr; a closed stderr is nobody's loss.
    pub fn say(&self, meaning: Meaning, word: &str, text: &str) {
        self.say_line(meaning, word, &self.terminal.stderr.show(text));
    }

    /// The same with a command or a hint, which is never cut.
    pub(super) fn say_whole(&self, meaning: Meaning, word: &str, text: &str) {
        self.say_line(meaning, word, &self.terminal.stderr.whole(text));
    }

    fn say_line(&self, meaning: Meaning, word: &str, text: &str) {
        let line = format!("{} {text}", self.terminal.stderr.paint(meaning, word));
        let line = render::flowing(&line, 2, &self.terminal.stderr);
        self.aside(|| drop(writeln!(io::stderr().lock(), "{line}")));
    }

    /// Writes to the terminal by itself, with what rollouts draw there out of the way.
    fn aside(&self, write: impl FnOnce()) {
        match self.screen.get() {
            Some(screen) => screen.aside(write),
            None => write(),
        }
    }

    pub fn note(&self, text: &str) {
        if !self.global.quiet {
            self.say(Meaning::Plain, "note:", text);
        }
    }

    /// Tells on stderr how an unfinished rollout ended, where nobody reads stdout any more: what leads on must not be lost.
    pub(super) fn tell_the_end(&self, goal: &Goal, next: &NextSteps, outcome: &Outcome) {
        let mut text = Vec::new();
        if outcome.result.exit_code() != 0 && render::end(goal, next, outcome, &self.terminal.stderr, &mut text).is_ok()
        {
            self.aside(|| drop(io::stderr().lock().write_all(&text)));
        }
    }

    pub(super) fn tell_notices(&self) {
        let Some(notices) = &self.notices else { return };
        self.aside(|| notices.tell());
        // Others may still draw.
        if self.screen.get().is_some() {
            notices.hold();
        }
    }

    /// Returns what shows a rollout: results on stdout, progress on stderr.
    /// Of several side by side each line says whose it is.
    pub(super) fn listener(&self, output: StreamFormat, side_by_side: bool) -> Box<dyn Listener + Send> {
        let terminal =
            Terminal { live: self.terminal.live && !self.global.quiet, quiet: self.global.quiet, ..self.terminal };
        if let Some(notices) = self.notices.as_ref().filter(|_| terminal.live) {
            notices.hold();
        }
        let screen = side_by_side.then(|| self.screen.get_or_init(|| SharedScreen::new(render::draw_target())));
        render::listener(output, &terminal, screen, Box::new(io::stdout()), Box::new(io::stderr()))
    }

    pub(super) fn invocation(&self, cluster: &Cluster) -> Invocation {
        Invocation::new(&self.typed, cluster.namespace())
    }

    pub(super) fn flags(&self) -> Flags {
        Invocation::new(&self.typed, "").flags()
    }

    /// Returns a hint whose commands lead to the same server as the same user.
    pub(super) fn with_flags(&self, hint: &Hint) -> String {
        hint.with_flags(&self.flags())
    }

    /// Returns the time by the server's clock, where an answer has had it, else by this machine's (RFC 3339, whole
    /// seconds): it is compared with times that the cluster wrote.
    pub(super) fn clock(&self, cluster: &Cluster) -> String {
        let here = || jiff::Timestamp::now().strftime("%Y-%m-%dT%H:%M:%SZ").to_string();
        cluster.now().unwrap_or_else(here)
    }

    /// Returns what says how long ago this was called.
    pub(super) fn stopwatch() -> impl Fn() -> Duration {
        let began = Instant::now();
        move || began.elapsed()
    }

    /// Returns the id of a rollout that begins now: sortable by time, and not another's.
    pub fn rollout_id(&self) -> RolloutId {
        let now = jiff::Timestamp::now();
        let unique = u64::from(std::process::id()) ^ u64::try_from(now.as_nanosecond() & 0xffff_ffff).unwrap_or(0);
        let milliseconds = now.as_millisecond().rem_euclid(1000);
        RolloutId::from(format!("{}-{milliseconds:03x}{:03x}", now.strftime("%Y%m%d-%H%M%S"), unique & 0xfff))
    }

    /// Shows what clap says: help and version on stdout, anything else is wrong usage.
    pub(super) fn tell_usage(&self, error: &clap::Error, arguments: &[String]) -> EndResult {
        if error.use_stderr() {
            self.tell_wrong_usage(error);
            self.tell_where_help_is(arguments);
            EndResult::Error
        } else {
            drop(error.print());
            EndResult::Complete
        }
    }

    fn tell_where_help_is(&self, arguments: &[String]) {
        let command = next::command_of(arguments);
        drop(writeln!(io::stderr().lock(), "\nSee '{command} -h' for help and examples"));
    }

    /// clap breaks the lines of its help, but not those of its errors.
    fn tell_wrong_usage(&self, error: &clap::Error) {
        let style = &self.terminal.stderr;
        let text = error.render();
        let text = if style.color { text.ansi().to_string() } else { text.to_string() };
        // The line that follows says where the help is.
        let mut lines: Vec<&str> = text.lines().filter(|line| !line.starts_with("For more information, try")).collect();
        // Where a suggestion was taken away its blank line stays.
        lines.dedup_by(|line, before| line.is_empty() && before.is_empty());
        let last = lines.iter().rposition(|line| !line.is_empty()).map_or(0, |last| last + 1);
        for line in lines.into_iter().take(last) {
            let own = line.len() - line.trim_start().len();
            drop(writeln!(io::stderr().lock(), "{}", render::flowing(line, own + 2, style)));
        }
    }

    pub(super) fn tell_end_of_nothing(&self, result: EndResult) -> Result<()> {
        let end = (result, Duration::ZERO);
        let out = &mut io::stdout().lock();
        Ok(render::workload_ends(StreamFormat::Json, &[], end, &self.terminal.stdout, out)?)
    }

    pub(super) fn tell_error(&self, error: &CommandError) -> EndResult {
        self.tell_notices();
        if error.closed_pipe {
            return if self.is_answer { EndResult::Terminated } else { EndResult::Complete };
        }
        if error.kind == ErrorKind::NothingFound {
            self.say(Meaning::Plain, "No resources", &error.message);
        } else {
            self.say(Meaning::Failing, &error.heading(), &error.message);
        }
        for (label, command) in &error.next {
            self.say_whole(Meaning::Plain, label, command);
        }
        let whole = error.meant.as_deref().and_then(|(missing, meant)| meant::with_name(missing, meant, self.line()));
        // It follows the name that was meant.
        let (first, others) = error.hints.split_at(error.hints.len().min(1));
        for hint in first.iter().chain(&whole).chain(others) {
            self.hint(hint);
        }
        if error.kind == ErrorKind::Usage && error.next.is_empty() && error.hints.is_empty() {
            self.tell_where_help_is(&self.arguments);
        }
        match error.kind {
            ErrorKind::Interrupted => EndResult::Interrupted,
            ErrorKind::NothingFound => EndResult::NothingToDo,
            ErrorKind::Held => EndResult::Superseded,
            ErrorKind::Forbidden => EndResult::NotEligible,
            ErrorKind::Usage
            | ErrorKind::Manifest
            | ErrorKind::NoWorkload
            | ErrorKind::Cluster
            | ErrorKind::Output
            | ErrorKind::Declined => EndResult::Error,
        }
    }

    pub(super) fn hint(&self, hint: &Hint) {
        self.say_whole(Meaning::Plain, "hint:", &self.with_flags(hint));
    }

    pub(super) fn finish(&self, result: EndResult) -> EndResult {
        self.tell_notices();
        let warned = self.notices.as_ref().is_some_and(|notices| notices.warned());
        // The changes that `--detailed-exitcode` reports are no error either.
        let is_well = result.exit_code() == 0 || result == EndResult::Changes;
        if self.global.warnings_as_errors && warned && is_well {
            self.say(Meaning::Failing, "error:", "the server warned, and --warnings-as-errors was given");
            return EndResult::Error;
        }
        result
    }
}

/// Sends traces to stderr from level 6 on, as kubectl's `-v` does; what is traced of requests is `cluster::connect`'s matter.
fn trace(verbosity: u8) {
    use tracing_subscriber::layer::SubscriberExt;
    use tracing_subscriber::util::SubscriberInitExt;
    if verbosity < 6 {
        return;
    }
    let ours = tracing_subscriber::filter::Targets::new().with_target("kubectl_inplace", tracing::Level::DEBUG);
    let layer = tracing_subscriber::fmt::layer().with_writer(io::stderr).with_ansi(false);
    drop(tracing_subscriber::registry().with(layer).with(ours).try_init());
}

#[cfg(test)]
mod tests {
    use crate::cluster::connect::REQUEST_TIMEOUT;

    #[test]
    fn the_help_names_how_long_a_request_may_take_by_default() {
        let root = crate::cli::root();
        let flag = root.get_arguments().find(|flag| flag.get_id() == "request_timeout");
        let help = flag.and_then(|flag| flag.get_help()).map(ToString::to_string).unwrap_or_default();
        let default = format!("[default: {}s]", REQUEST_TIMEOUT.as_secs());
        assert!(help.ends_with(&default), "{help:?} ends with {default}");
    }
}
