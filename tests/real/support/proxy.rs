//! A way to the API server that can be held: bytes of the server wait until it is let go.

use std::io::{Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{sleep, spawn};
use std::time::Duration;

use serde_json::Value;

use super::Namespace;

/// A TCP proxy in front of the cluster's API server. TLS goes through it untouched.
pub(crate) struct Proxy {
    url: String,
    host: String,
    held: Arc<AtomicBool>,
}

impl Proxy {
    /// Starts one. Its threads end with the test process.
    pub(crate) fn start(namespace: &Namespace) -> Self {
        let config: Value = serde_json::from_str(&namespace.kubectl(&["config", "view", "--minify", "-o", "json"]))
            .expect("kubectl prints JSON when asked to");
        let server = config["clusters"][0]["cluster"]["server"].as_str().expect("a kubeconfig names a server");
        let authority = server.strip_prefix("https://").expect("an API server speaks TLS").trim_end_matches('/');
        let (host, port) = authority.rsplit_once(':').unwrap_or((authority, "443"));
        let target = format!("{host}:{port}");
        let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
        let url = format!("https://{}", listener.local_addr().expect("a bound port"));
        let held = Arc::new(AtomicBool::new(false));
        let hold = Arc::clone(&held);
        spawn(move || {
            for client in listener.incoming().flatten() {
                let Ok(server) = TcpStream::connect(&target) else { continue };
                let (Ok(client2), Ok(server2)) = (client.try_clone(), server.try_clone()) else { continue };
                let hold = Arc::clone(&hold);
                spawn(move || forward(client2, server2, None));
                spawn(move || forward(server, client, Some(&hold)));
            }
        });
        Self { url, host: host.trim_matches(['[', ']']).to_owned(), held }
    }

    /// Returns the flags that lead the program through it.
    pub(crate) fn flags(&self) -> [&str; 4] {
        ["--server", &self.url, "--tls-server-name", &self.host]
    }

    /// From now on nothing comes back from the server; what the program sends still arrives there.
    pub(crate) fn hold(&self) {
        self.held.store(true, Ordering::SeqCst);
    }
}

fn forward(mut from: TcpStream, mut to: TcpStream, held: Option<&AtomicBool>) {
    let mut chunk = [0; 16384];
    while let Ok(n @ 1..) = from.read(&mut chunk) {
        while held.is_some_and(|held| held.load(Ordering::SeqCst)) {
            sleep(Duration::from_millis(20));
        }
        let Some(bytes) = chunk.get(..n) else { break };
        if to.write_all(bytes).is_err() {
            break;
        }
    }
    let _ = to.shutdown(Shutdown::Both);
}
