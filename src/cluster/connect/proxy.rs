//! Which proxy leads to the server: `proxy-url` of the cluster, else the environment unless `NO_PROXY` names the server
//! (Go's `golang.org/x/net/http/httpproxy`, which client-go uses).
//!
//! kube's own evaluation is not used: it matches `NO_PROXY` against the proxy, and fails on odd values.

use std::net::IpAddr;

use http::Uri;

use super::super::error::{ClusterError, Result};
use super::Environment;

pub(super) fn of(server: &Uri, cluster_proxy: Option<&str>, environment: &Environment) -> Result<Option<Uri>> {
    if let Some(proxy) = cluster_proxy {
        return parse(proxy, "proxy-url").map(Some);
    }
    let (variable, origin) = match server.scheme_str() {
        Some("http") => (&environment.http_proxy, "HTTP_PROXY"),
        _ => (&environment.https_proxy, "HTTPS_PROXY"),
    };
    let Some(proxy) = variable.as_deref().filter(|proxy| !proxy.is_empty()) else { return Ok(None) };
    let host = server.host().unwrap_or_default().trim_matches(['[', ']']).to_lowercase();
    let port = server.port_u16().unwrap_or(if server.scheme_str() == Some("http") { 80 } else { 443 });
    if is_direct(&host, port, environment.no_proxy.as_deref().unwrap_or_default()) {
        return Ok(None);
    }
    // Only in the environment a proxy may have no scheme, and there are two that leave the name to it.
    let text = match proxy.split_once("://") {
        None => format!("http://{proxy}"),
        Some(("socks5h", rest)) => format!("socks5://{rest}"),
        Some(_) => proxy.to_owned(),
    };
    parse(&text, origin).map(Some)
}

/// Reads an address, which may hold a password: no error quotes it.
fn parse(proxy: &str, origin: &str) -> Result<Uri> {
    let bad = |why: &str| ClusterError::kubeconfig(format!("the proxy of {origin} cannot be used: {why}"));
    let uri: Uri = proxy.parse().map_err(|_| bad("it is not a valid address"))?;
    match uri.scheme_str() {
        Some("http" | "https" | "socks5") => Ok(uri),
        Some(other) => Err(bad(&format!("its scheme \"{other}\" is not http, https or socks5"))),
        None => Err(bad("it has no scheme (http, https or socks5)")),
    }
}

/// Says whether a host is reached without the proxy of the environment. Elements that mean nothing are ignored.
fn is_direct(host: &str, port: u16, no_proxy: &str) -> bool {
    let address: Option<IpAddr> = host.parse().ok();
    if host == "localhost" || address.is_some_and(|address| address.is_loopback()) {
        return true;
    }
    no_proxy.split(',').any(|element| excludes(&element.trim().to_lowercase(), host, address, port))
}

fn excludes(element: &str, host: &str, address: Option<IpAddr>, port: u16) -> bool {
    if element.is_empty() {
        return false;
    }
    if element == "*" {
        return true;
    }
    if let Some((network, length)) = network(element) {
        return address.is_some_and(|address| contains(network, length, address));
    }
    let (name, its_port) = split_port(element);
    if its_port.is_some_and(|its_port| its_port.parse() != Ok(port)) {
        return false;
    }
    if let Ok(excluded) = name.parse::<IpAddr>() {
        return address == Some(excluded);
    }
    let name = name.strip_prefix('*').filter(|rest| rest.starts_with('.')).unwrap_or(name);
    match name.strip_prefix('.') {
        Some("") => false,
        Some(domain) => host.strip_suffix(domain).is_some_and(|rest| rest.ends_with('.')),
        None => !name.is_empty() && (host == name || host.strip_suffix(name).is_some_and(|rest| rest.ends_with('.'))),
    }
}

/// Splits `host:port`, with IPv6 addresses in brackets; an address without brackets has no port.
fn split_port(element: &str) -> (&str, Option<&str>) {
    if let Some(rest) = element.strip_prefix('[')
        && let Some((name, after)) = rest.split_once(']')
    {
        return (name, after.strip_prefix(':'));
    }
    match element.split_once(':') {
        Some((name, port)) if !port.contains(':') => (name, Some(port)),
        _ => (element, None),
    }
}

fn network(element: &str) -> Option<(IpAddr, u32)> {
    let (address, length) = element.split_once('/')?;
    let address: IpAddr = address.parse().ok()?;
    let length: u32 = length.parse().ok()?;
    let longest = if address.is_ipv4() { 32 } else { 128 };
    (length <= longest).then_some((address, length))
}

fn contains(network: IpAddr, length: u32, address: IpAddr) -> bool {
    let bits = |address: IpAddr| match address {
        IpAddr::V4(address) => (u128::from(address.to_bits()), 32),
        IpAddr::V6(address) => (address.to_bits(), 128),
    };
    let ((network, width), (address, other)) = (bits(network), bits(address));
    width == other && (network ^ address).checked_shr(width - length).unwrap_or(0) == 0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_proxy_is_matched_against_the_server() {
        let cases = [
            // (NO_PROXY, server, direct)
            ("", "https://api.example.com:6443", false),
            ("*", "https://api.example.com:6443", true),
            ("example.com", "https://api.example.com:6443", true),
            ("example.com", "https://example.com", true),
            ("example.com", "https://badexample.com", false),
            (".example.com", "https://api.example.com", true),
            (".example.com", "https://example.com", false),
            ("*.example.com", "https://api.example.com", true),
            ("EXAMPLE.com", "https://API.Example.com", true),
            ("api.example.com:6443", "https://api.example.com:6443", true),
            ("api.example.com:6443", "https://api.example.com:443", false),
            ("api.example.com:443", "https://api.example.com", true),
            ("10.0.0.0/8", "https://10.1.2.3:6443", true),
            ("10.0.0.0/8", "https://11.1.2.3:6443", false),
            ("0.0.0.0/0", "https://11.1.2.3:6443", true),
            ("10.1.2.3", "https://10.1.2.3:6443", true),
            ("10.1.2.3:6443", "https://10.1.2.3:6443", true),
            ("10.1.2.3:6444", "https://10.1.2.3:6443", false),
            ("fd00::/8", "https://[fd00::1]:6443", true),
            ("fd00::1", "https://[fd00::1]:6443", true),
            ("[fd00::1]:6443", "https://[fd00::1]:6443", true),
            ("fe00::/8", "https://[fd00::1]:6443", false),
            ("a,,b, ,example.com", "https://api.example.com", true),
            ("10.0.0.0/99, :80, /, ., [::, example.com", "https://api.example.com", true),
            ("10.0.0.0/99, :80, /, ., [::, *.", "https://api.example.com", false),
            // The proxy's own name says nothing.
            ("proxy.test", "https://api.example.com", false),
            ("", "https://localhost:6443", true),
            ("", "https://127.0.0.2:6443", true),
            ("", "https://[::1]:6443", true),
        ];
        for (no_proxy, server, direct) in cases {
            let environment = Environment {
                https_proxy: Some("http://proxy.test:3128".to_owned()),
                no_proxy: Some(no_proxy.to_owned()),
                ..Environment::default()
            };
            let proxy = of(&server.parse().unwrap(), None, &environment).unwrap();
            assert_eq!(proxy.is_none(), direct, "NO_PROXY={no_proxy} {server}");
        }
    }

    #[test]
    fn proxy_url_beats_no_proxy_and_the_variables() {
        let environment = Environment {
            https_proxy: Some("http://other.test:3128".to_owned()),
            no_proxy: Some("*,,::/x".to_owned()),
            ..Environment::default()
        };
        let server = "https://localhost:6443".parse().unwrap();
        let proxy = of(&server, Some("http://proxy.test:3128"), &environment).unwrap();
        assert_eq!(proxy.unwrap().host(), Some("proxy.test"));
    }

    #[test]
    fn which_variable_and_which_form() {
        let environment = Environment {
            https_proxy: Some("secure.test:3128".to_owned()),
            http_proxy: Some("socks5h://plain.test:1080".to_owned()),
            ..Environment::default()
        };
        let given = |server: &str| of(&server.parse().unwrap(), None, &environment).unwrap().unwrap().to_string();
        assert_eq!(given("https://api.example.com"), "http://secure.test:3128/");
        assert_eq!(given("http://api.example.com"), "socks5://plain.test:1080/");
    }

    #[test]
    fn a_bad_proxy_is_named_without_its_password() {
        for bad in ["ftp://me:secret@proxy.test", "http://me:secret@proxy test", "me:secret@proxy.test", "proxy.test:1"]
        {
            let error =
                of(&"https://api.example.com".parse().unwrap(), Some(bad), &Environment::default()).unwrap_err();
            assert!(error.to_string().contains("proxy-url"), "{error}");
            assert!(!error.to_string().contains("secret"), "{error}");
        }
    }
}
