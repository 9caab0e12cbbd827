//! For tests: a folder that is removed, and a server on the loopback address that gives prepared answers, with TLS to
//! whoever asks for it.

#![expect(clippy::disallowed_methods, reason = "writes files for tests")]

use std::{
    io::{BufRead, BufReader, Read, Write},
    net::{TcpListener, TcpStream},
    path::{Path, PathBuf},
    sync::{
        Arc, Mutex,
        atomic::{AtomicU32, Ordering},
    },
};

pub(super) use testkit::tls;

/// A folder of one test; removed when dropped.
pub(crate) struct Folder(PathBuf);

impl Folder {
    pub(crate) fn new() -> Self {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let name = format!("kubectl-inplace-{}-{}", std::process::id(), NEXT.fetch_add(1, Ordering::Relaxed));
        let path = std::env::temp_dir().join(name);
        std::fs::create_dir_all(&path).unwrap();
        Self(path)
    }

    pub(crate) fn path(&self) -> &Path {
        &self.0
    }

    pub(crate) fn write(&self, name: &str, text: &str) -> PathBuf {
        let path = self.0.join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, text).unwrap();
        path
    }

    /// Writes a shell script that can be run.
    pub(crate) fn script(&self, name: &str, text: &str) -> PathBuf {
        use std::os::unix::fs::PermissionsExt;
        let draft = self.write(&format!("{name}.draft"), &format!("#!/bin/sh\n{text}\n"));
        std::fs::set_permissions(&draft, std::fs::Permissions::from_mode(0o755)).unwrap();
        // A file that this process has written may still be open in a child that another test is just starting, and is not
        // run then (ETXTBSY). What another process has written is not.
        let path = self.0.join(name);
        assert!(std::process::Command::new("cp").arg(&draft).arg(&path).status().unwrap().success());
        path
    }

    pub(crate) fn read(&self, name: &str) -> String {
        std::fs::read_to_string(self.0.join(name)).unwrap_or_default()
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// A request as it arrived.
#[derive(Debug, Clone)]
pub(crate) struct Received {
    /// `GET /path HTTP/1.1`.
    pub(crate) line: String,
    headers: Vec<(String, String)>,
}

impl Received {
    /// Gives the values of a header, joined by commas.
    pub(crate) fn header(&self, name: &str) -> String {
        let values = self.headers.iter().filter(|(known, _)| known.eq_ignore_ascii_case(name));
        values.map(|(_, value)| value.as_str()).collect::<Vec<_>>().join(",")
    }
}

/// What to do with a request.
#[derive(Clone)]
pub(crate) enum Answer {
    /// Status, extra header lines, body.
    Http(u16, Vec<String>, String),
    /// Close without a word.
    Close,
    /// Close in the middle of the body.
    CloseInBody,
    /// Say nothing.
    Hang,
    /// Head and one line of body at once, another line later, then the end.
    Stream(&'static str),
}

impl Answer {
    pub(crate) fn json(status: u16, body: &str) -> Self {
        Self::Http(status, Vec::new(), body.to_owned())
    }

    pub(crate) fn with(status: u16, header: &str) -> Self {
        Self::Http(status, vec![header.to_owned()], "{}".to_owned())
    }
}

/// A server that answers the n-th request with the n-th answer, and all further ones with the last.
pub(crate) struct Server {
    pub(crate) address: String,
    received: Arc<Mutex<Vec<Received>>>,
}

impl Server {
    pub(crate) fn start(answers: Vec<Answer>) -> Self {
        Self::of(answers, true)
    }

    /// Gives one that takes TLS for a malformed request.
    pub(crate) fn without_tls(answers: Vec<Answer>) -> Self {
        Self::of(answers, false)
    }

    fn of(answers: Vec<Answer>, speaks_tls: bool) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap().to_string();
        let received = Arc::new(Mutex::new(Vec::new()));
        let seen = Arc::clone(&received);
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let (answers, seen) = (answers.clone(), Arc::clone(&seen));
                std::thread::spawn(move || serve(stream, speaks_tls, &answers, &seen));
            }
        });
        Self { address, received }
    }

    /// Gives its address with TLS.
    pub(crate) fn url(&self) -> String {
        format!("https://{}", self.address)
    }

    pub(crate) fn received(&self) -> Vec<Received> {
        self.received.lock().unwrap().clone()
    }

    /// Gives an address where nobody listens.
    pub(crate) fn nobody() -> String {
        TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().to_string()
    }
}

/// Serves one connection; a client that goes away ends it.
fn serve(stream: TcpStream, speaks_tls: bool, answers: &[Answer], seen: &Mutex<Vec<Received>>) -> Option<()> {
    let stream: Box<dyn tls::Stream> = if speaks_tls { tls::accept(stream).ok()?.stream } else { Box::new(stream) };
    let mut reader = BufReader::new(stream);
    loop {
        let request = read_request(&mut reader);
        let writer = reader.get_mut();
        let Some(request) = request else {
            // As Go's server answers TLS on a port without TLS.
            let _ = writer.write_all(b"HTTP/1.1 400 Bad Request\r\n\r\n");
            return None;
        };
        let answer = {
            let mut seen = seen.lock().unwrap();
            seen.push(request);
            answers.get(seen.len() - 1).or_else(|| answers.last()).cloned()?
        };
        match answer {
            Answer::Http(status, headers, body) => {
                let headers: String = headers.iter().map(|header| format!("{header}\r\n")).collect();
                let length = body.len();
                write!(writer, "HTTP/1.1 {status} X\r\n{headers}Content-Length: {length}\r\n\r\n{body}").ok()?;
            }
            Answer::Close => return None,
            Answer::CloseInBody => {
                write!(writer, "HTTP/1.1 200 X\r\nContent-Length: 100\r\n\r\n{{\"half").ok()?;
                return None;
            }
            Answer::Hang => {
                let _ = reader.read(&mut [0; 1]);
                return None;
            }
            Answer::Stream(line) => {
                write!(writer, "HTTP/1.1 200 X\r\nConnection: close\r\n\r\n{line}\n").ok()?;
                writer.flush().ok()?;
                std::thread::sleep(std::time::Duration::from_millis(500));
                writeln!(writer, "{line}").ok()?;
                return None;
            }
        }
    }
}

fn read_request(reader: &mut impl BufRead) -> Option<Received> {
    let mut line = String::new();
    if reader.read_line(&mut line).ok()? == 0 {
        return None;
    }
    let mut headers = Vec::new();
    loop {
        let mut header = String::new();
        reader.read_line(&mut header).ok()?;
        let Some((name, value)) = header.trim_end().split_once(':') else { break };
        headers.push((name.to_owned(), value.trim().to_owned()));
    }
    let request = Received { line: line.trim_end().to_owned(), headers };
    let length: usize = request.header("content-length").parse().unwrap_or(0);
    reader.read_exact(&mut vec![0; length]).ok()?;
    Some(request)
}
