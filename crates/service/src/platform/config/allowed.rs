//! What the operator allows to be called beside public addresses over https.

use std::fmt;
use std::net::IpAddr;
use std::str::FromStr;

use ipnet::IpNet;

/// A network or a host that may be called, on one port or on all.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Allowed {
    pub what: What,
    pub port: Option<u16>,
}

/// The part of an [`Allowed`] before the port.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum What {
    Network(IpNet),
    Host(String),
}

/// Why a text allows nothing.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is no network such as 10.1.0.0/16 or [fd00::/8]:8080, and no host such as hooks.internal.example:8443")]
pub struct NoAllowed(String);

impl FromStr for Allowed {
    type Err = NoAllowed;

    fn from_str(text: &str) -> Result<Self, NoAllowed> {
        let wrong = || NoAllowed(text.to_owned());
        if let Some(network) = network(text) {
            return Ok(Self { what: What::Network(network), port: None });
        }
        let (what, port) = match text.rsplit_once(':') {
            Some((what, port)) => (what, Some(port.parse().ok().filter(|port| *port != 0).ok_or_else(wrong)?)),
            None => (text, None),
        };
        let bracketed = what.strip_prefix('[').and_then(|what| what.strip_suffix(']'));
        let what = match (bracketed, network(bracketed.unwrap_or(what))) {
            (Some(_), Some(network @ IpNet::V6(_))) | (None, Some(network @ IpNet::V4(_))) => What::Network(network),
            (None, None) => What::Host(host(what).ok_or_else(wrong)?),
            (Some(_), None | Some(IpNet::V4(_))) | (None, Some(IpNet::V6(_))) => return Err(wrong()),
        };
        Ok(Self { what, port })
    }
}

/// Whether this is a host name that can be looked up: labels of letters, digits, `-` and `_`.
#[must_use]
pub fn is_name(text: &str) -> bool {
    let label = |label: &str| {
        (1..=63).contains(&label.len()) && label.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'-' || b == b'_')
    };
    text.len() <= 253 && text.split('.').all(label)
}

/// A network; an address alone is a network of one.
fn network(text: &str) -> Option<IpNet> {
    text.parse().ok().or_else(|| text.parse::<IpAddr>().ok().map(IpNet::from))
}

/// A host name, and not an odd spelling of an address.
fn host(text: &str) -> Option<String> {
    match url::Host::parse(text).ok()? {
        url::Host::Domain(name) if is_name(&name) => Some(name),
        url::Host::Domain(_) | url::Host::Ipv4(_) | url::Host::Ipv6(_) => None,
    }
}

impl Allowed {
    /// Whether it names this machine, or a network in which this machine is.
    #[must_use]
    pub fn is_this_machine(&self) -> bool {
        match &self.what {
            What::Network(network) => here().iter().any(|here| network.contains(here) || here.contains(network)),
            What::Host(name) => is_localhost(name),
        }
    }
}

/// The networks that are this machine, also in IPv6's form of IPv4.
fn here() -> Vec<IpNet> {
    ["127.0.0.0/8", "0.0.0.0/8", "::/127", "::ffff:127.0.0.0/104", "::ffff:0.0.0.0/104"].into_iter().filter_map(network).collect()
}

/// Whether a name is this machine's.
#[must_use]
pub fn is_localhost(name: &str) -> bool {
    name == "localhost" || name.ends_with(".localhost")
}

impl fmt::Display for Allowed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (&self.what, self.port) {
            (What::Network(network @ IpNet::V6(_)), Some(port)) => write!(f, "[{network}]:{port}"),
            (What::Network(network), Some(port)) => write!(f, "{network}:{port}"),
            (What::Network(network), None) => write!(f, "{network}"),
            (What::Host(name), Some(port)) => write!(f, "{name}:{port}"),
            (What::Host(name), None) => f.write_str(name),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn networks_and_hosts_are_read_with_and_without_a_port() {
        for (text, read) in [
            ("127.0.0.1:8080", "127.0.0.1/32:8080"),
            ("127.0.0.1", "127.0.0.1/32"),
            ("10.1.0.0/16", "10.1.0.0/16"),
            ("10.1.0.0/16:8080", "10.1.0.0/16:8080"),
            ("fd00::/8", "fd00::/8"),
            ("::1", "::1/128"),
            ("[::1]:8080", "[::1/128]:8080"),
            ("[fd00::/8]:8080", "[fd00::/8]:8080"),
            ("Hooks.Internal.Example:8443", "hooks.internal.example:8443"),
            ("hooks", "hooks"),
        ] {
            assert_eq!(text.parse::<Allowed>().map(|allowed| allowed.to_string()), Ok(read.to_owned()), "{text}");
        }
        let wrong = [
            "",
            ":80",
            "hooks:",
            "hooks:0",
            "hooks:65536",
            "hooks:http",
            "10.1.0.0/33",
            "0x7f.1",
            "127.1",
            "[10.1.0.0/16]:80",
            "[hooks]:80",
            "https://hooks",
            "hooks/path",
            "*.example.com",
        ];
        for wrong in wrong {
            assert!(wrong.parse::<Allowed>().is_err(), "{wrong}");
        }
    }

    #[test]
    fn this_machine_is_recognised() {
        let here = |text: &str| text.parse::<Allowed>().unwrap().is_this_machine();
        for text in
            ["127.0.0.1:80", "127.3.0.0/16", "::1", "0.0.0.0/0", "::/0", "0.0.0.0", "::ffff:127.0.0.1", "localhost:3000", "a.localhost"]
        {
            assert!(here(text), "{text}");
        }
        for text in ["10.0.0.0/8", "fd00::/8", "hooks.example.com", "128.0.0.0/8", "::ffff:10.0.0.1"] {
            assert!(!here(text), "{text}");
        }
    }
}
