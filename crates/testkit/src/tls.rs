//! Servers on loopback that speak TLS with whoever begins with it, and plain HTTP with everybody else.
//!
//! In `tls`, `authority.pem` has signed `jane.pem`, which is a server's certificate (127.0.0.1, localhost, api.test) and
//! a client's (jane), for a hundred years from 2020. Made with `openssl ca`; the authority's key is not kept.

use std::io::{self, Read, Write};
use std::net::TcpStream;
use std::sync::Arc;

use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::server::WebPkiClientVerifier;
use rustls::{RootCertStore, ServerConfig, ServerConnection, StreamOwned};

pub const AUTHORITY: &str = include_str!("tls/authority.pem");
pub const CERTIFICATE: &str = include_str!("tls/jane.pem");
pub const KEY: &str = include_str!("tls/jane-key.pem");

/// What bytes go through.
pub trait Stream: Read + Write + Send {}

impl<T: Read + Write + Send> Stream for T {}

/// A connection that was accepted.
pub struct Accepted {
    pub stream: Box<dyn Stream>,
    /// With TLS: the name that the client asked for, and whether it showed its certificate.
    pub tls: Option<(Option<String>, bool)>,
}

/// Waits for the client's first byte, and shakes hands where it is one of TLS.
pub fn accept(mut stream: TcpStream) -> io::Result<Accepted> {
    const HANDSHAKE: u8 = 22;
    let mut first = [0];
    if stream.peek(&mut first)? == 0 || first != [HANDSHAKE] {
        return Ok(Accepted { stream: Box::new(stream), tls: None });
    }
    let mut connection = ServerConnection::new(Arc::new(configuration())).map_err(io::Error::other)?;
    while connection.is_handshaking() {
        connection.complete_io(&mut stream)?;
    }
    let tls = (connection.server_name().map(str::to_owned), connection.peer_certificates().is_some());
    Ok(Accepted { stream: Box::new(Tls(StreamOwned::new(connection, stream))), tls: Some(tls) })
}

/// Says that it ends, as TLS wants it said.
struct Tls(StreamOwned<ServerConnection, TcpStream>);

impl Read for Tls {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.0.read(buffer)
    }
}

impl Write for Tls {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.flush()
    }
}

impl Drop for Tls {
    fn drop(&mut self) {
        self.0.conn.send_close_notify();
        // A client that has gone does not hear it.
        drop(self.0.flush());
    }
}

fn configuration() -> ServerConfig {
    let certificate = |pem: &str| CertificateDer::from_pem_slice(pem.as_bytes()).expect("a certificate");
    let mut roots = RootCertStore::empty();
    roots.add(certificate(AUTHORITY)).expect("an authority");
    let clients = WebPkiClientVerifier::builder(Arc::new(roots)).allow_unauthenticated().build().expect("a verifier");
    let key = PrivateKeyDer::from_pem_slice(KEY.as_bytes()).expect("a key");
    let builder = ServerConfig::builder().with_client_cert_verifier(clients);
    builder.with_single_cert(vec![certificate(CERTIFICATE)], key).expect("a certificate and its key")
}
