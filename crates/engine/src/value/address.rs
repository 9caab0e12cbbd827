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

/// Undoes the percent-encoding of a part of an address. What is no escape stays.
pub fn decoded(text: &str) -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut rest = text.as_bytes();
    while let Some((first, after)) = rest.split_first() {
        let digit = |at: usize| after.get(at).and_then(|byte| char::from(*byte).to_digit(16));
        let escaped = digit(0).zip(digit(1)).filter(|_| *first == b'%');
        let escaped = escaped.and_then(|(high, low)| u8::try_from(high * 16 + low).ok());
        bytes.push(escaped.unwrap_or(*first));
        rest = after.get(if escaped.is_some() { 2 } else { 0 }..).unwrap_or_default();
    }
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percent_encoding_is_undone() {
        for (text, expected) in
            [("a%20b", "a b"), ("%C3%BC%2f", "ü/"), ("%", "%"), ("%4", "%4"), ("%+1%zz%25", "%+1%zz%")]
        {
            assert_eq!(decoded(text), expected.as_bytes(), "{text}");
        }
    }

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
