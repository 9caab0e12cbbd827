//! A simulated cluster on loopback. No container runs and no traffic flows: it answers as the Kubernetes API does.
#![expect(
    clippy::disallowed_methods,
    clippy::disallowed_macros,
    reason = "a program: it reads its arguments, and prints"
)]

use std::io::Write;
use std::process::ExitCode;

use testkit::sandbox;

const USAGE: &str = "Simulate a Kubernetes cluster on loopback, to try kubectl and kubectl inplace

usage: sandbox --kubeconfig FILE [--port N] [--until-stdin-closes]

  --kubeconfig FILE     write a kubeconfig to this file
  --port N              listen on this port of 127.0.0.1 [default: a free one]
  --until-stdin-closes  stop when standard input is closed

The namespace shop has a Deployment web, a StatefulSet db, and a DaemonSet
agent. The tag of an image sets how it behaves: nope cannot be pulled, crash
exits again and again, never-ready fails its readiness probe. Other images run.
The sandbox prints one line when it is ready. It runs until SIGINT or SIGTERM.";

#[derive(Default)]
struct Options {
    kubeconfig: String,
    port: u16,
    until_stdin_closes: bool,
}

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    if arguments.iter().any(|argument| argument == "-h" || argument == "--help") {
        println!("{USAGE}");
        return ExitCode::SUCCESS;
    }
    match options(&arguments).and_then(|options| serve(&options)) {
        Ok(()) => ExitCode::SUCCESS,
        Err(why) => {
            eprintln!("error: {why}");
            ExitCode::FAILURE
        }
    }
}

fn options(arguments: &[String]) -> Result<Options, String> {
    let mut options = Options::default();
    let mut words = arguments.iter();
    while let Some(flag) = words.next() {
        let mut value = || words.next().cloned().ok_or(format!("{flag} needs a value"));
        match flag.as_str() {
            "--kubeconfig" => options.kubeconfig = value()?,
            "--port" => {
                let text = value()?;
                options.port = text.parse().map_err(|_| format!("--port needs a port number, not {text:?}"))?;
            }
            "--until-stdin-closes" => options.until_stdin_closes = true,
            _ => return Err(format!("unknown argument {flag:?}; see sandbox --help")),
        }
    }
    if options.kubeconfig.is_empty() {
        return Err("--kubeconfig FILE is required; see sandbox --help".to_owned());
    }
    Ok(options)
}

fn serve(options: &Options) -> Result<(), String> {
    let server = sandbox::start(options.port)
        .map_err(|error| format!("cannot listen on 127.0.0.1:{}: {error}", options.port))?;
    let file = &options.kubeconfig;
    std::fs::write(file, format!("{:#}\n", sandbox::kubeconfig(&server)))
        .map_err(|error| format!("cannot write {file}: {error}"))?;
    // A reader that has gone is no reason to stop.
    drop(writeln!(std::io::stdout(), "The simulated cluster is ready. No containers run. export KUBECONFIG={file}"));
    if options.until_stdin_closes {
        std::io::copy(&mut std::io::stdin(), &mut std::io::sink()).map_err(|error| error.to_string())?;
        return Ok(());
    }
    loop {
        std::thread::park();
    }
}
