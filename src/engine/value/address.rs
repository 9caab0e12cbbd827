//! Addresses in output: none is shown with the `user:password@` that it may hold.

/// Returns an authority without its `user:password@`: host, and port if there is one.
pub fn host(authority: &str) -> &str {
    authority.rsplit_once('@').map_or(authority, |(_, host)| host)
}

/// Returns an address (`SCHEME://...`) without the `user:password@` in its authority; any other text unchanged.
pub fn without_credentials(address: &str) -> String {
    let Some((scheme, rest)) = address.split_once("://") else { return address.to_owned() };
    let (authority, path) = rest.split_at(rest.find(['/', '?', '#']).unwrap_or(rest.len()));
    format!("{scheme}://{}{path}", host(authority))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_is_shown_without_its_password() {
        for (address, expected) in [
            ("https://user:secret@host:6443/path", "https://host:6443/path"),
            ("--server=https://user:p@ss@host", "--server=https://host"),
            ("https://host?x=a@b", "https://host?x=a@b"),
            ("side=acme/side@sha256:ab", "side=acme/side@sha256:ab"),
            ("https://[::1]:6443", "https://[::1]:6443"),
        ] {
            assert_eq!(without_credentials(address), expected);
        }
    }
}
