//! The fake API server itself, held against what a real one (1.36.3) answered to the same requests.
//!
//! Here: a raw HTTP client. The themes are the modules below.

mod controllers;
mod faults;
mod kubelet;
mod objects;
mod watches;

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::time::Duration;

use serde_json::{Value, json};

use crate::support::api_server::ApiServer;
use crate::support::builders::Workload;

const PODS: &str = "/api/v1/namespaces/default/pods";
const JSON_PATCH: &str = "application/json-patch+json";
const MERGE: &str = "application/merge-patch+json";
const STRATEGIC: &str = "application/strategic-merge-patch+json";
const APPLY: &str = "application/apply-patch+yaml";

/// An answer as it came back.
#[derive(Debug)]
struct Got {
    code: u16,
    headers: BTreeMap<String, String>,
    body: Value,
}

impl Got {
    fn message(&self) -> &str {
        self.body["message"].as_str().unwrap_or_default()
    }
}

fn open(server: &ApiServer, method: &str, path: &str, kind: &str, body: &str) -> BufReader<TcpStream> {
    let mut stream = TcpStream::connect(server.address()).expect("the fake listens");
    stream.set_read_timeout(Some(Duration::from_secs(10))).expect("a timeout can be set");
    let length = body.len();
    write!(
        stream,
        "{method} {path} HTTP/1.1\r\nHost: fake\r\nUser-Agent: raw/1.0\r\nContent-Type: {kind}\r\nContent-Length: {length}\r\n\r\n{body}"
    )
    .expect("the request is sent");
    BufReader::new(stream)
}

/// Reads the head of an answer; `None` if the connection was closed without one.
fn head(reader: &mut BufReader<TcpStream>) -> Option<(u16, BTreeMap<String, String>)> {
    let mut line = String::new();
    reader.read_line(&mut line).ok().filter(|count| *count > 0)?;
    let code = line.split(' ').nth(1)?.parse().ok()?;
    let mut headers = BTreeMap::new();
    loop {
        line.clear();
        reader.read_line(&mut line).ok()?;
        let Some((name, value)) = line.trim_end().split_once(':') else { return Some((code, headers)) };
        headers.insert(name.to_lowercase(), value.trim().to_owned());
    }
}

fn try_send(server: &ApiServer, method: &str, path: &str, kind: &str, body: &str) -> Option<Got> {
    let mut reader = open(server, method, path, kind, body);
    let (code, headers) = head(&mut reader)?;
    let mut bytes = vec![0; headers.get("content-length")?.parse().ok()?];
    reader.read_exact(&mut bytes).ok()?;
    let text = String::from_utf8_lossy(&bytes).into_owned();
    let body = serde_json::from_str(&text).unwrap_or_else(|_| Value::from(text.as_str()));
    Some(Got { code, headers, body })
}

fn send(server: &ApiServer, method: &str, path: &str, kind: &str, body: &Value) -> Got {
    try_send(server, method, path, kind, &body.to_string()).expect("the fake answers")
}

fn get(server: &ApiServer, path: &str) -> Got {
    send(server, "GET", path, "", &Value::Null)
}

/// A watch that reads one event at a time.
struct Watching(BufReader<TcpStream>);

impl Watching {
    fn open(server: &ApiServer, query: &str) -> Self {
        let mut reader = open(server, "GET", &format!("{PODS}?watch=true&{query}"), "", "");
        let (code, _) = head(&mut reader).expect("the watch is opened");
        assert_eq!(code, 200);
        Self(reader)
    }

    /// Returns the next event; `None` at the proper end, and `Some(null)` where the stream breaks off.
    fn next(&mut self) -> Option<Value> {
        let mut size = String::new();
        if self.0.read_line(&mut size).unwrap_or(0) == 0 {
            return Some(Value::Null);
        }
        let size = usize::from_str_radix(size.trim(), 16).expect("a chunk has a size");
        let mut chunk = vec![0; size + 2];
        self.0.read_exact(&mut chunk).expect("a chunk is whole");
        (size > 0).then(|| serde_json::from_slice(&chunk).expect("an event is JSON"))
    }

    /// Returns `TYPE name image` of the next event that is no bookmark.
    fn line(&mut self) -> String {
        loop {
            let event = self.next().expect("the watch goes on");
            if event["type"] != "BOOKMARK" {
                let object = &event["object"];
                let words = [&event["type"], &object["metadata"]["name"], &object["spec"]["containers"][0]["image"]];
                return words.map(|word| word.as_str().unwrap_or_default()).join(" ");
            }
        }
    }
}

/// One pod `p` with the containers `app` and `side`, and a kubelet that does nothing.
fn quiet_pod() -> ApiServer {
    let server = ApiServer::start();
    server.pause_kubelet(true);
    server.insert(Workload::pod("p").container("app", "acme/app:v1").container("side", "acme/side:v1").objects());
    server
}

fn image_patch(image: &str) -> Value {
    json!([{"op": "replace", "path": "/spec/containers/0/image", "value": image}])
}

fn patch(server: &ApiServer, name: &str, kind: &str, body: &Value) -> Got {
    send(server, "PATCH", &format!("{PODS}/{name}?fieldManager=me"), kind, body)
}
