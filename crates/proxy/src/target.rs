//! The base URL of an upstream.

/// Where a wire goes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Target {
    /// Over TLS.
    pub(crate) secure: bool,
    /// Name or address, without brackets.
    pub(crate) host: String,
    /// The port.
    pub(crate) port: u16,
    /// Value of `Host`: the port only where it is not the scheme's own.
    pub(crate) authority: String,
    /// Path of the base.
    pub(crate) path: String,
}

impl Target {
    /// Reads a URL. A user and a query may be secrets and would be written down, so neither is taken.
    pub(crate) fn parse(url: &str) -> Option<Target> {
        let (scheme, rest) = url.split_once("://")?;
        let secure = match scheme.to_ascii_lowercase().as_str() {
            "http" => false,
            "https" => true,
            _ => return None,
        };
        let (authority, path) = rest.split_at(rest.find('/').unwrap_or(rest.len()));
        let plain = |text: &str| text.bytes().all(|byte| byte.is_ascii_graphic());
        if !plain(rest) || rest.contains(['@', '?', '#', '\\']) {
            return None;
        }
        let (host, port) = match authority.strip_prefix('[') {
            Some(inner) => {
                let (host, rest) = inner.split_once(']')?;
                (host, rest.strip_prefix(':').or_else(|| rest.is_empty().then_some("")))
            }
            None => match authority.split_once(':') {
                Some((host, port)) => (host, Some(port)),
                None => (authority, Some("")),
            },
        };
        let standard = if secure { 443 } else { 80 };
        let port = match port? {
            "" => standard,
            text => text.parse().ok().filter(|port| *port != 0)?,
        };
        if host.is_empty() || (host.contains(':') && !authority.starts_with('[')) {
            return None;
        }
        let shown = if host.contains(':') { format!("[{host}]") } else { host.to_owned() };
        let authority = if port == standard { shown } else { format!("{shown}:{port}") };
        let path = path.trim_end_matches('/').to_owned();
        Some(Target { secure, host: host.to_owned(), port, authority, path })
    }

    /// The whole URL of a call, for the record.
    pub(crate) fn url(&self, path: &str) -> String {
        format!("{}://{}{path}", if self.secure { "https" } else { "http" }, self.authority)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn urls() {
        let of = |url| {
            let target = Target::parse(url)?;
            Some((target.secure, target.host, target.port, target.authority, target.path))
        };
        let is = |secure, host: &str, port, authority: &str, path: &str| {
            Some((secure, host.to_owned(), port, authority.to_owned(), path.to_owned()))
        };
        assert_eq!(of("https://api.x.com"), is(true, "api.x.com", 443, "api.x.com", ""));
        assert_eq!(of("HTTP://127.0.0.1:80/v1/"), is(false, "127.0.0.1", 80, "127.0.0.1", "/v1"));
        assert_eq!(of("http://[::1]:8080/a"), is(false, "::1", 8080, "[::1]:8080", "/a"));
        assert_eq!(of("https://h:80"), is(true, "h", 80, "h:80", ""));
        for url in [
            "",
            "h",
            "ftp://h",
            "http://",
            "http://u:p@h",
            "http://h?k=v",
            "http://h:0",
            "http://h:x",
            "http://::1",
            "http://h/ a",
        ] {
            assert_eq!(Target::parse(url), None, "{url}");
        }
    }
}
