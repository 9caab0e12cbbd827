//! The layers between a request and its connection.
//!
//! They are kube's own, but for one: small writes are sent at once (`TCP_NODELAY`, as Go's net package has it). With kube's
//! connector the first request after a resumed TLS handshake waits for an acknowledgement that Linux delays by 40 ms.

use std::time::Duration;

use hyper_timeout::TimeoutConnector;
use hyper_util::{
    client::legacy::{Client as HttpClient, connect::HttpConnector},
    rt::TokioExecutor,
};
use kube::{
    Client, Config,
    client::{Body, ClientBuilder, ConfigExt},
};
use tower::{BoxError, ServiceBuilder};
use tower_http::decompression::DecompressionLayer;

pub(in crate::cluster) const TCP_TIMEOUT: Duration = Duration::from_secs(10);

/// How long a connection may take, its TLS handshake included: three tries are as long as kubectl's five of ten seconds.
pub(in crate::cluster) const CONNECT_TIMEOUT: Duration = Duration::from_secs(15);

/// A silent connection is probed after this time (Go's `net.Dialer` has the same), and this many times before it is
/// abandoned: a watch through a NAT or a load balancer that has forgotten it would be silent for minutes.
const ALIVE_AFTER: Duration = Duration::from_secs(15);
const ALIVE_INTERVAL: Duration = Duration::from_secs(5);
const ALIVE_RETRIES: u32 = 3;

/// Returns what sends requests to the server of a configuration. Through a proxy it is kube's own.
pub(super) fn client(config: Config) -> Result<Client, kube::Error> {
    if config.proxy_url.is_some() {
        return ClientBuilder::try_from(config).map(ClientBuilder::build);
    }
    let mut tcp = HttpConnector::new();
    tcp.enforce_http(false);
    tcp.set_nodelay(true);
    tcp.set_connect_timeout(Some(TCP_TIMEOUT));
    tcp.set_keepalive(Some(ALIVE_AFTER));
    tcp.set_keepalive_interval(Some(ALIVE_INTERVAL));
    tcp.set_keepalive_retries(Some(ALIVE_RETRIES));
    let mut connector = TimeoutConnector::new(config.rustls_https_connector_with_connector(tcp)?);
    connector.set_connect_timeout(config.connect_timeout);
    connector.set_read_timeout(config.read_timeout);
    connector.set_write_timeout(config.write_timeout);
    connector.set_reset_reader_on_write(config.reset_reader_on_write);
    let connection = HttpClient::builder(TokioExecutor::new()).build::<_, Body>(connector);
    let gzip = DecompressionLayer::new().gzip(!config.disable_compression);
    let service = ServiceBuilder::new()
        .layer(config.base_uri_layer())
        .layer(gzip)
        .option_layer(config.auth_layer()?)
        .layer(config.extra_headers_layer()?)
        .map_err(BoxError::from)
        .service(connection);
    Ok(ClientBuilder::new(service, config.default_namespace).build())
}
