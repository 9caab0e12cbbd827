//! Just enough HTTP/1.1 for `hyper` and `curl` as clients: keep-alive, bodies by length or in chunks, chunked answers.

use std::borrow::Cow;
use std::io::{self, Read, Write};
use std::sync::Arc;

use serde_json::Value;

use crate::tls::Stream;

/// A request as it came over the wire; header names in lower case, the query decoded.
#[derive(Debug, Clone, Default)]
pub struct Request {
    pub method: String,
    pub path: String,
    pub query: Vec<(String, String)>,
    pub headers: Vec<(String, String)>,
    pub body: Vec<u8>,
}

impl Request {
    /// Returns the first value of a query parameter.
    pub fn parameter(&self, name: &str) -> Option<&str> {
        self.query.iter().find(|(key, _)| key == name).map(|(_, value)| value.as_str())
    }

    /// Tells whether the server is asked to change nothing.
    pub fn is_dry_run(&self) -> bool {
        self.parameter("dryRun").is_some_and(|value| value == "All")
    }

    /// Returns the first value of a header (name in lower case).
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(key, _)| key == name).map(|(_, value)| value.as_str())
    }
}

/// What is sent back: a status, headers beside the usual ones, and a body.
#[derive(Debug, Clone)]
pub struct Answer {
    pub code: u16,
    pub headers: Vec<(String, String)>,
    pub body: Body,
}

/// The body of an answer.
#[derive(Debug, Clone)]
pub enum Body {
    /// An object of the API.
    Json(Arc<Value>),
    /// A list, already serialized.
    List(String),
    /// Plain text: logs, `/healthz`, a page that is not there.
    Text(String),
}

impl Answer {
    /// Returns an answer with a JSON body.
    pub fn json(code: u16, body: impl Into<Arc<Value>>) -> Self {
        Self { code, headers: Vec::new(), body: Body::Json(body.into()) }
    }

    /// Returns an answer with a plain text body.
    pub fn text(code: u16, body: &str) -> Self {
        Self { code, headers: Vec::new(), body: Body::Text(body.to_owned()) }
    }

    /// Adds a header.
    pub fn with_header(mut self, name: &str, value: &str) -> Self {
        self.headers.push((name.to_owned(), value.to_owned()));
        self
    }
}

/// One connection of a client.
pub(crate) struct Connection {
    stream: Box<dyn Stream>,
    buffer: Vec<u8>,
}

impl Connection {
    /// Takes over an accepted stream.
    pub(crate) fn new(stream: Box<dyn Stream>) -> Self {
        Self { stream, buffer: Vec::new() }
    }

    /// Reads the next request; `None` when the client closed the connection between two of them.
    pub(crate) fn read_request(&mut self) -> io::Result<Option<Request>> {
        let head = loop {
            if let Some(end) = find(&self.buffer, b"\r\n\r\n") {
                let rest = self.buffer.split_off(end + 4);
                break std::mem::replace(&mut self.buffer, rest);
            }
            if !self.fill()? {
                return Ok(None);
            }
        };
        let head = String::from_utf8_lossy(&head).into_owned();
        let mut lines = head.split("\r\n");
        let mut words = lines.next().unwrap_or_default().split(' ');
        let method = words.next().unwrap_or_default().to_owned();
        let target = words.next().unwrap_or_default();
        let (path, query) = target.split_once('?').unwrap_or((target, ""));
        let headers: Vec<(String, String)> = lines
            .filter_map(|line| line.split_once(':'))
            .map(|(name, value)| (name.trim().to_lowercase(), value.trim().to_owned()))
            .collect();
        let mut request = Request { method, path: decode(path), query: parse_query(query), headers, body: Vec::new() };
        request.body = if request.header("transfer-encoding").is_some_and(|value| value.contains("chunked")) {
            self.read_chunks()?
        } else {
            let length = request.header("content-length").and_then(|value| value.parse().ok()).unwrap_or(0);
            self.read_exactly(length)?
        };
        Ok(Some(request))
    }

    /// Sends a whole answer.
    pub(crate) fn send(&mut self, answer: &Answer) -> io::Result<()> {
        let (mime, body) = match &answer.body {
            Body::Json(value) => ("application/json", Cow::Owned(format!("{value}\n"))),
            Body::List(text) => ("application/json", Cow::Borrowed(text.as_str())),
            Body::Text(text) => ("text/plain; charset=utf-8", Cow::Borrowed(text.as_str())),
        };
        let mut head = format!("HTTP/1.1 {} {}\r\n", answer.code, reason_phrase(answer.code));
        if !answer.headers.iter().any(|(name, _)| name.eq_ignore_ascii_case("content-type")) {
            head.push_str(&format!("Content-Type: {mime}\r\n"));
        }
        for (name, value) in &answer.headers {
            head.push_str(&format!("{name}: {value}\r\n"));
        }
        head.push_str(&format!("Content-Length: {}\r\n\r\n", body.len()));
        self.stream.write_all(&[head.as_bytes(), body.as_bytes()].concat())
    }

    /// Opens an answer in chunks, as a watch is one.
    pub(crate) fn start_chunks(&mut self, headers: &[(String, String)]) -> io::Result<()> {
        let mut head = "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n".to_owned();
        for (name, value) in headers {
            head.push_str(&format!("{name}: {value}\r\n"));
        }
        head.push_str("\r\n");
        self.stream.write_all(head.as_bytes())
    }

    /// Opens a text in chunks, as a log that is followed is one.
    pub(crate) fn start_text(&mut self) -> io::Result<()> {
        self.stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nTransfer-Encoding: chunked\r\n\r\n")
    }

    /// Sends a piece of it.
    pub(crate) fn send_text(&mut self, text: &str) -> io::Result<()> {
        self.stream.write_all(format!("{:x}\r\n{text}\r\n", text.len()).as_bytes())
    }

    /// Sends one line of JSON as a chunk.
    pub(crate) fn send_event(&mut self, kind: &str, object: &Value) -> io::Result<()> {
        let line = format!("{{\"type\":\"{kind}\",\"object\":{object}}}\n");
        self.stream.write_all(format!("{:x}\r\n{line}\r\n", line.len()).as_bytes())
    }

    /// Ends an answer in chunks properly.
    pub(crate) fn end_chunks(&mut self) -> io::Result<()> {
        self.stream.write_all(b"0\r\n\r\n")
    }

    fn read_chunks(&mut self) -> io::Result<Vec<u8>> {
        let mut body = Vec::new();
        loop {
            let line = loop {
                if let Some(end) = find(&self.buffer, b"\r\n") {
                    break self.read_exactly(end + 2)?;
                }
                if !self.fill()? {
                    return Err(io::ErrorKind::UnexpectedEof.into());
                }
            };
            let size = usize::from_str_radix(String::from_utf8_lossy(&line).trim(), 16).unwrap_or(0);
            body.extend(self.read_exactly(size)?);
            self.read_exactly(2)?;
            if size == 0 {
                return Ok(body);
            }
        }
    }

    fn read_exactly(&mut self, length: usize) -> io::Result<Vec<u8>> {
        while self.buffer.len() < length {
            if !self.fill()? {
                return Err(io::ErrorKind::UnexpectedEof.into());
            }
        }
        let rest = self.buffer.split_off(length);
        Ok(std::mem::replace(&mut self.buffer, rest))
    }

    /// Reads the available bytes; false at the end of the stream.
    fn fill(&mut self) -> io::Result<bool> {
        let mut piece = [0_u8; 16 * 1024];
        let count = self.stream.read(&mut piece)?;
        self.buffer.extend(piece.iter().take(count));
        Ok(count > 0)
    }
}

fn find(haystack: &[u8], needle: &[u8]) -> Option<usize> {
    haystack.windows(needle.len()).position(|window| window == needle)
}

fn parse_query(query: &str) -> Vec<(String, String)> {
    query
        .split('&')
        .filter(|pair| !pair.is_empty())
        .map(|pair| {
            let (key, value) = pair.split_once('=').unwrap_or((pair, ""));
            (decode(&key.replace('+', " ")), decode(&value.replace('+', " ")))
        })
        .collect()
}

/// Undoes percent-encoding; a broken escape stays unchanged.
fn decode(text: &str) -> String {
    let mut bytes = Vec::new();
    let mut rest = text.as_bytes();
    while let Some((first, tail)) = rest.split_first() {
        let escaped = (*first == b'%')
            .then(|| tail.get(..2))
            .flatten()
            .and_then(|digits| std::str::from_utf8(digits).ok())
            .and_then(|digits| u8::from_str_radix(digits, 16).ok());
        bytes.push(escaped.unwrap_or(*first));
        rest = if escaped.is_some() { tail.get(2..).unwrap_or_default() } else { tail };
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

fn reason_phrase(code: u16) -> &'static str {
    match code {
        200 => "OK",
        201 => "Created",
        400 => "Bad Request",
        401 => "Unauthorized",
        403 => "Forbidden",
        404 => "Not Found",
        405 => "Method Not Allowed",
        409 => "Conflict",
        410 => "Gone",
        415 => "Unsupported Media Type",
        422 => "Unprocessable Entity",
        429 => "Too Many Requests",
        500 => "Internal Server Error",
        503 => "Service Unavailable",
        504 => "Gateway Timeout",
        _ => "Status",
    }
}
