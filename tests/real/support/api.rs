//! Raw requests to the API server, hundreds in a second: through one `kubectl proxy`, which knows the credentials.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::{Child, Stdio};

use serde_json::Value;

use super::cluster::command;
use super::poll;

/// A way to the API server; closed when dropped.
pub(crate) struct Api {
    proxy: Child,
    address: String,
}

impl Api {
    /// Opens it.
    pub(crate) fn open() -> Self {
        let mut kubectl = command("kubectl", "real-kubectl");
        kubectl.args(["proxy", "--port=0"]).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut proxy = kubectl.spawn().expect("kubectl starts");
        let mut line = String::new();
        BufReader::new(proxy.stdout.take().expect("stdout is piped")).read_line(&mut line).expect("kubectl says where");
        let address = line.trim().rsplit(' ').next().unwrap_or_default().to_owned();
        assert!(address.contains(':'), "kubectl proxy says {line:?}");
        Self { proxy, address }
    }

    /// Returns its host and port.
    pub(super) fn address(&self) -> &str {
        &self.address
    }

    /// Reads an object; a refusal fails the test.
    pub(crate) fn get(&self, path: &str) -> Value {
        let (status, answer) = self.request("GET", path, "application/json", &Value::Null);
        assert_eq!(status, 200, "GET {path}: {answer}");
        answer
    }

    /// Creates an object in a dry run, and returns the status code and the answer.
    pub(crate) fn dry_run_create(&self, path: &str, object: &Value) -> (u16, Value) {
        self.request("POST", &format!("{path}?dryRun=All&fieldValidation=Strict"), "application/json", object)
    }

    /// Sends a JSON patch in a dry run, and returns the status code and the answer.
    pub(crate) fn dry_run_patch(&self, path: &str, patch: &Value) -> (u16, Value) {
        self.request(
            "PATCH",
            &format!("{path}?dryRun=All&fieldValidation=Strict"),
            "application/json-patch+json",
            patch,
        )
    }

    /// Sends one request on a connection of its own.
    pub(crate) fn request(&self, method: &str, path: &str, content_type: &str, body: &Value) -> (u16, Value) {
        let body = if body.is_null() { String::new() } else { body.to_string() };
        self.send(method, path, content_type, &body)
    }

    /// Sends one request with a body that is spelled as given.
    pub(crate) fn send(&self, method: &str, path: &str, content_type: &str, body: &str) -> (u16, Value) {
        // Version 1.0: the answer comes in one piece and ends with the connection.
        let head = format!(
            "{method} {path} HTTP/1.0\r\nHost: {}\r\nAccept: application/json\r\nContent-Type: {content_type}\r\nContent-Length: {}\r\n\r\n",
            self.address,
            body.len()
        );
        let exchange = || -> std::io::Result<Vec<u8>> {
            let mut stream = TcpStream::connect(&self.address)?;
            stream.write_all(format!("{head}{body}").as_bytes())?;
            let mut answer = Vec::new();
            stream.read_to_end(&mut answer).map(|_| answer)
        };
        // Reads and dry runs alone: what the proxy dropped may be asked again.
        let answer = poll(|| exchange().ok()).expect("kubectl proxy answers");
        let answer = String::from_utf8_lossy(&answer);
        let (head, body) = answer.split_once("\r\n\r\n").unwrap_or((&answer, ""));
        let status = head.split(' ').nth(1).and_then(|code| code.parse().ok()).unwrap_or_default();
        (status, serde_json::from_str(body).unwrap_or_else(|_| Value::from(body)))
    }
}

impl Drop for Api {
    fn drop(&mut self) {
        let _ = self.proxy.kill();
        let _ = self.proxy.wait();
    }
}
