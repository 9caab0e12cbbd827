//! A simulated cluster on loopback. No container runs and no traffic flows: what is here behaves as Kubernetes' API does.
#![expect(
    clippy::disallowed_methods,
    clippy::disallowed_macros,
    reason = "a program: it reads its arguments, and prints"
)]

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::ExitCode;
use std::time::Duration;

use serde_json::Value;
use testkit::sandbox;

const USAGE: &str = "A simulated Kubernetes cluster on loopback, for trying kubectl and kubectl inplace.

usage: sandbox [--port N] [--kubeconfig FILE] [--manifest FILE] [--namespace NAME] [--parent PID]
       sandbox pods URL NAMESPACE

  --port N            listen on this port of 127.0.0.1 [default: any that is free]
  --kubeconfig FILE   write a kubeconfig there
  --manifest FILE     create these objects, and wait until the pods of its Deployments are ready
  --namespace NAME    create them there; the namespace is created if it is another one than default
  --parent PID        end when the process that started it is not this one any more
  pods                print a line a pod: name, UID, IP, and the ID of each container

It prints the lines to type, and runs until it is interrupted. An image with the tag nope, missing or denied cannot be
pulled, and one with the tag crash ends again and again.";

#[derive(Default)]
struct Options {
    port: u16,
    kubeconfig: Option<String>,
    manifest: Option<String>,
    namespace: Option<String>,
    parent: Option<u32>,
}

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let done = match arguments.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        ["-h" | "--help"] => {
            println!("{USAGE}");
            return ExitCode::SUCCESS;
        }
        ["pods", url, namespace] => pods(url, namespace),
        _ => options(&arguments).and_then(|options| serve(&options)),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(why) => {
            eprintln!("sandbox: {why}");
            ExitCode::FAILURE
        }
    }
}

fn options(arguments: &[String]) -> Result<Options, String> {
    let mut options = Options::default();
    let mut words = arguments.iter();
    while let Some(flag) = words.next() {
        let mut value = || words.next().cloned().ok_or(format!("{flag} needs a value"));
        let number = |text: String| format!("{flag} needs a number, not {text:?}");
        match flag.as_str() {
            "--port" => options.port = value().and_then(|text| text.parse().map_err(|_| number(text)))?,
            "--kubeconfig" => options.kubeconfig = Some(value()?),
            "--manifest" => options.manifest = Some(value()?),
            "--namespace" => options.namespace = Some(value()?),
            "--parent" => options.parent = Some(value().and_then(|text| text.parse().map_err(|_| number(text)))?),
            _ => return Err(format!("{flag:?} is not known\n{USAGE}")),
        }
    }
    Ok(options)
}

fn serve(options: &Options) -> Result<(), String> {
    let server = sandbox::start(options.port)
        .map_err(|error| format!("cannot listen on 127.0.0.1:{}: {error}", options.port))?;
    let namespace = options.namespace.as_deref().unwrap_or("default");
    if namespace != "default" {
        server.create(&testkit::builders::namespace(namespace))?;
    }
    if let Some(file) = &options.manifest {
        let manifest = std::fs::read_to_string(file).map_err(|error| format!("{file}: {error}"))?;
        sandbox::apply(&server, &manifest, namespace).map_err(|why| format!("{file}: {why}"))?;
    }
    if let Some(file) = &options.kubeconfig {
        let kubeconfig = format!("{:#}\n", server.kubeconfig());
        std::fs::write(file, kubeconfig).map_err(|error| format!("{file}: {error}"))?;
    }
    println!("A simulated cluster: no container runs, no traffic flows. It listens on {}", server.url());
    match &options.kubeconfig {
        Some(file) => println!("export KUBECONFIG={file}"),
        None => println!("kubectl --server {}", server.url()),
    }
    // Whoever reads this line need not wait until a buffer is full.
    std::io::stdout().flush().map_err(|error| error.to_string())?;
    while options.parent.is_none_or(|parent| std::os::unix::process::parent_id() == parent) {
        testkit::clock::sleep(Duration::from_millis(200));
    }
    Ok(())
}

/// A client for those who have no kubectl.
fn pods(url: &str, namespace: &str) -> Result<(), String> {
    let address = url.strip_prefix("http://").ok_or(format!("{url:?} is not http://HOST:PORT"))?;
    let list =
        get(address, &format!("/api/v1/namespaces/{namespace}/pods")).map_err(|error| format!("{url}: {error}"))?;
    for pod in list["items"].as_array().into_iter().flatten() {
        let mut words = vec![&pod["metadata"]["name"], &pod["metadata"]["uid"], &pod["status"]["podIP"]];
        words
            .extend(pod["status"]["containerStatuses"].as_array().into_iter().flatten().map(|one| &one["containerID"]));
        println!("{}", words.iter().map(|word| word.as_str().unwrap_or("<none>")).collect::<Vec<_>>().join(" "));
    }
    Ok(())
}

fn get(address: &str, path: &str) -> std::io::Result<Value> {
    let mut stream = TcpStream::connect(address)?;
    write!(stream, "GET {path} HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\n\r\n")?;
    let mut reader = BufReader::new(stream);
    let mut length = 0;
    for line in reader.by_ref().lines().map_while(Result::ok).take_while(|line| !line.is_empty()) {
        if let Some(value) = line.strip_prefix("Content-Length: ") {
            length = value.parse().unwrap_or(0);
        }
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body)?;
    Ok(serde_json::from_slice(&body)?)
}
