//! The binary: parse, make the shell, run, exit.
#![expect(clippy::disallowed_methods, reason = "reads the arguments")]

use std::process::ExitCode;

use engine::state::outcome::EndResult;
use kubectl_inplace::commands::{self, Shell};

fn main() -> ExitCode {
    // Arguments that are no UTF-8 name nothing in Kubernetes: they are shown as far as they can be.
    let arguments = std::env::args_os().map(|argument| argument.to_string_lossy().into_owned()).collect();
    let code = match tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build() {
        Ok(runtime) => {
            let code = runtime.block_on(commands::run(arguments, &mut Shell::of_process()));
            // What is still in progress, such as a request after a second interrupt, is not waited for.
            runtime.shutdown_background();
            code
        }
        Err(_) => EndResult::Error.exit_code(),
    };
    ExitCode::from(code)
}
