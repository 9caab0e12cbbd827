//! Kubeconfigs, and what a client makes of them: whom it asks, as whom, and in which namespace.
//!
//! Each line of `tests/vectors/kubeconfig.jsonl` is one: its files, `KUBECONFIG`, flags, and what kubectl sends to a server
//! on loopback, or its error. `tests/real/kubeconfig.rs` has kubectl write that; `tests/it/kubeconfig.rs` holds the
//! program to it. Where the program does something else on purpose, `ours` says what and why; `says` is what it says
//! when it refuses.
#![expect(clippy::disallowed_methods, reason = "writes kubeconfigs, and listens")]

use std::io::{BufRead as _, BufReader, Write as _};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::{Arc, Mutex, PoisonError};

use serde_json::{Value, json};

use testkit::tls;

pub(crate) const VECTORS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/vectors/kubeconfig.jsonl");

/// Every line of the file.
pub(crate) fn rows() -> Vec<Value> {
    let text = std::fs::read_to_string(VECTORS).expect("the vectors are there");
    text.lines().map(|line| serde_json::from_str(line).expect("a line is JSON")).collect()
}

/// Runs a client in a folder of its own with the files of a row. Returns what it sent; what it said, if it sent nothing.
pub(crate) fn run(row: &Value, folder: &Path, program: &str, arguments: &[&str]) -> Value {
    let ear = Ear::listen();
    let filled = |text: &str| ear.fill(text);
    let pems = [
        ("authority.pem", tls::AUTHORITY),
        ("jane.pem", tls::CERTIFICATE),
        ("jane-key.pem", tls::KEY),
        ("other.pem", include_str!("authority.pem")),
    ];
    for (name, pem) in pems {
        std::fs::write(folder.join(name), pem).expect("the folder can be written");
    }
    for (name, text) in row["files"].as_object().expect("files") {
        let path = folder.join(name);
        std::fs::create_dir_all(path.parent().expect("a folder")).expect("the folder can be written");
        std::fs::write(path, filled(text.as_str().expect("a text"))).expect("the folder can be written");
    }
    let flags = row["flags"].as_array().into_iter().flatten().map(|flag| filled(flag.as_str().expect("a text")));
    let mut command = Command::new(program);
    command.args(arguments).args(flags).env_clear().current_dir(folder).stdin(Stdio::null());
    command.env("HOME", folder).env("PATH", "/usr/bin:/bin").env("SSL_CERT_FILE", "other.pem");
    command.env("KUBECONFIG", row["kubeconfig"].as_str().expect("a list"));
    let output = command.output().expect("the program starts");
    let stderr = String::from_utf8_lossy(&output.stderr);
    let sent = ear.sent();
    if !sent.is_null() {
        return sent;
    }
    // Lines of a log begin with their level and date; a name that is there twice is shown with all that has it.
    let is_logged =
        |line: &&str| line.starts_with(['E', 'I', 'W']) && line.chars().nth(1).is_some_and(char::is_numeric);
    let shown = stderr.lines().rfind(|line| !is_logged(line)).unwrap_or_default();
    let shown = shown.replace(&ear.address.to_string(), "$SERVER").replace(&folder.display().to_string(), "$FOLDER");
    let shown = shown.split(" in list: ").next().unwrap_or_default();
    json!({ "error": if program.ends_with("kubectl") { shown } else { &*stderr } })
}

/// A server that answers as one with an empty namespace does, and keeps what it is asked.
struct Ear {
    address: SocketAddr,
    heard: Arc<Mutex<Vec<Heard>>>,
}

/// A request.
struct Heard {
    tls: Option<(Option<String>, bool)>,
    line: String,
    headers: Vec<(String, String)>,
}

impl Ear {
    fn listen() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
        let address = listener.local_addr().expect("an address");
        let heard = Arc::new(Mutex::new(Vec::new()));
        let all = Arc::clone(&heard);
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let all = Arc::clone(&all);
                std::thread::spawn(move || converse(stream, &all));
            }
        });
        Self { address, heard }
    }

    /// Puts addresses and certificates into a text.
    fn fill(&self, text: &str) -> String {
        let in_json = |pem: &str| pem.replace('\n', r"\\n");
        let authority = base64(tls::AUTHORITY);
        text.replace("$SERVER", &self.address.to_string())
            .replace(
                "$LINES",
                &authority.as_bytes().chunks(64).map(String::from_utf8_lossy).collect::<Vec<_>>().join("\\n"),
            )
            .replace("$BLOCKS", &[tls::KEY, "some text\n", tls::AUTHORITY, tls::CERTIFICATE].concat())
            .replace("$CERT_PEM", &in_json(tls::CERTIFICATE))
            .replace("$KEY_PEM", &in_json(tls::KEY))
            .replace("$CERT", &base64(tls::CERTIFICATE))
            .replace("$KEY", &base64(tls::KEY))
            .replace("$CA", &authority)
    }

    /// What the first request was sent to and with, and the namespace of the first that names one.
    fn sent(&self) -> Value {
        let heard = self.heard.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(first) = heard.first() else { return Value::Null };
        let mut sends = vec![first.place()];
        if let Some((name, has_certificate)) = &first.tls {
            sends.extend(name.iter().map(|name| format!("server-name: {name}")));
            sends.extend(has_certificate.then(|| "certificate: jane".to_owned()));
        }
        let mut headers: Vec<String> = first.headers.iter().map(|(name, value)| format!("{name}: {value}")).collect();
        headers.retain(|line| {
            ["authorization: ", "proxy-auth", "impersonate-"].iter().any(|start| line.starts_with(start))
        });
        headers.sort();
        sends.extend(headers);
        let sends: Vec<String> = sends.iter().map(|line| line.replace(&self.address.to_string(), "$SERVER")).collect();
        let namespaces = heard.iter().filter_map(|one| one.line.split_once("/namespaces/"));
        match namespaces.filter_map(|(_, rest)| rest.split(['/', '?', ' ']).next()).next() {
            Some(namespace) => json!({"sends": sends, "namespace": namespace}),
            None => json!({"sends": sends}),
        }
    }
}

impl Heard {
    /// Scheme, host, and the path before the API's own; of a proxy the whole request.
    fn place(&self) -> String {
        let scheme = if self.tls.is_some() { "https" } else { "http" };
        let target = self.line.split(' ').nth(1).unwrap_or_default();
        if !target.starts_with('/') {
            let shown = self.line.trim_end_matches(" HTTP/1.1");
            return format!("{scheme} proxy: {}", shown.split("/api").next().unwrap_or_default());
        }
        let host = self.headers.iter().find(|(name, _)| name == "host").map_or("", |(_, value)| value);
        format!("{scheme} {host}{}", target.split("/api").next().unwrap_or_default())
    }
}

/// Serves one connection; a client that goes away ends it.
fn converse(stream: TcpStream, all: &Mutex<Vec<Heard>>) -> Option<()> {
    let accepted = tls::accept(stream).ok()?;
    let mut stream = BufReader::new(accepted.stream);
    loop {
        let mut lines = Vec::new();
        loop {
            let mut line = Vec::new();
            stream.read_until(b'\n', &mut line).ok().filter(|length| *length > 0)?;
            match String::from_utf8_lossy(&line).trim_end_matches(['\r', '\n']) {
                "" => break,
                line => lines.push(line.to_owned()),
            }
        }
        let line = lines.first()?.clone();
        let pairs = lines.iter().skip(1).filter_map(|line| line.split_once(':'));
        let headers = pairs.map(|(name, value)| (name.to_lowercase(), value.trim_matches(' ').to_owned())).collect();
        let (code, body) = answer(&line);
        all.lock().unwrap_or_else(PoisonError::into_inner).push(Heard { tls: accepted.tls.clone(), line, headers });
        let head =
            format!("HTTP/1.1 {code} X\r\nContent-Type: application/json\r\nContent-Length: {}\r\n\r\n", body.len());
        stream.get_mut().write_all(&[head.as_bytes(), body.as_bytes()].concat()).ok()?;
        stream.get_mut().flush().ok()?;
    }
}

/// What kubectl needs to get to the pods: which resources there are, and that there are none.
fn answer(line: &str) -> (u16, String) {
    let path = line.split([' ', '?']).nth(1).unwrap_or_default();
    let body = if line.starts_with("CONNECT") {
        return (502, String::new());
    } else if path.ends_with("/api") {
        json!({"kind": "APIVersions", "versions": ["v1"]})
    } else if path.ends_with("/apis") {
        json!({"kind": "APIGroupList", "apiVersion": "v1", "groups": []})
    } else if path.ends_with("/api/v1") {
        let pods =
            json!({"name": "pods", "singularName": "pod", "namespaced": true, "kind": "Pod", "verbs": ["get", "list"]});
        json!({"kind": "APIResourceList", "groupVersion": "v1", "resources": [pods]})
    } else if path.ends_with("/pods") {
        json!({"kind": "PodList", "apiVersion": "v1", "metadata": {}, "items": []})
    } else {
        let status =
            json!({"kind": "Status", "apiVersion": "v1", "status": "Failure", "reason": "NotFound", "code": 404});
        return (404, status.to_string());
    };
    (200, body.to_string())
}

/// Encodes as kubeconfigs hold certificates.
fn base64(text: &str) -> String {
    const LETTERS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let group = |chunk: &[u8]| {
        let bits = (0..3).fold(0_usize, |bits, at| bits << 8 | usize::from(chunk.get(at).copied().unwrap_or(0)));
        let letter = |at: usize| if at > chunk.len() { '=' } else { char::from(LETTERS[bits >> (18 - 6 * at) & 63]) };
        (0..4).map(letter).collect::<String>()
    };
    text.as_bytes().chunks(3).map(group).collect()
}
