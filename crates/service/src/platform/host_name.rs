//! Host names, in the one spelling in which they are stored and compared.

use std::fmt;
use std::str::FromStr;

/// A fully qualified host name: in lower case, non-ASCII labels in punycode, without a trailing dot.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct HostName(String);

/// The text is not a [`HostName`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("a host name must look like returns.example.com: letters, digits and hyphens, at least one dot, no port and no path")]
pub struct NoHostName;

impl HostName {
    /// The text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl FromStr for HostName {
    type Err = NoHostName;

    fn from_str(text: &str) -> Result<Self, NoHostName> {
        // `returns.example.com.` is the same host, spelled out to the root.
        match url::Host::parse(text.strip_suffix('.').unwrap_or(text)) {
            Ok(url::Host::Domain(name)) if is_qualified(&name) => Ok(Self(name)),
            Ok(url::Host::Domain(_) | url::Host::Ipv4(_) | url::Host::Ipv6(_)) | Err(_) => Err(NoHostName),
        }
    }
}

/// Returns true if the name has several labels, each as certificates and the DNS allow it for hosts.
fn is_qualified(name: &str) -> bool {
    let is_label = |label: &str| {
        let spelled_right = label.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'-');
        (1..=63).contains(&label.len()) && spelled_right && !label.starts_with('-') && !label.ends_with('-')
    };
    name.len() <= 253 && name.contains('.') && name.split('.').all(is_label)
}

impl fmt::Display for HostName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_host_has_one_spelling() {
        for (text, read) in [
            ("returns.example.com", "returns.example.com"),
            ("Returns.Example.COM", "returns.example.com"),
            ("returns.example.com.", "returns.example.com"),
            ("rücksendung.example.com", "xn--rcksendung-9db.example.com"),
            ("XN--RCKSENDUNG-9DB.example.com", "xn--rcksendung-9db.example.com"),
            ("shop-2.example", "shop-2.example"),
        ] {
            assert_eq!(text.parse::<HostName>().map(|name| name.to_string()), Ok(read.to_owned()), "{text}");
        }
    }

    #[test]
    fn anything_but_a_qualified_name_is_refused() {
        let long = format!("{}.example", "a".repeat(64));
        for text in [
            "",
            ".",
            "returns",
            "returns.example.com:443",
            "https://returns.example.com",
            "returns.example.com/r",
            "returns..example.com",
            "returns.example.com..",
            "-returns.example.com",
            "returns_.example.com",
            "*.example.com",
            "returns example.com",
            "192.0.2.1",
            "0x7f.1",
            "[2001:db8::1]",
            &long,
        ] {
            assert_eq!(text.parse::<HostName>(), Err(NoHostName), "{text}");
        }
    }
}
