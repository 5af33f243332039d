//! The settings for outbound calls.

use std::net::{IpAddr, SocketAddr};
use std::path::PathBuf;
use std::time::Duration;

use serde::{Deserialize, Deserializer};

use super::allowed::Allowed;

/// The default port of name servers.
const DNS: u16 = 53;

/// Outbound calls to merchants' and carriers' systems.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Outbound {
    /// Addresses that may be called in addition to public ones over HTTPS.
    #[serde(deserialize_with = "allowed")]
    pub allowed: Vec<Allowed>,
    /// The name servers to use; the system's if empty.
    #[serde(deserialize_with = "name_servers")]
    pub name_servers: Vec<SocketAddr>,
    extra_roots: String,
    connect_timeout_ms: u64,
    call_timeout_ms: u64,
    variants_timeout_ms: u64,
}

impl Outbound {
    /// A file of certificate authorities that are trusted in addition to the public ones.
    #[must_use]
    pub fn extra_roots(&self) -> Option<PathBuf> {
        (!self.extra_roots.is_empty()).then(|| self.extra_roots.clone().into())
    }

    /// The time limit for connecting, from the name lookup to the end of the TLS handshake.
    #[must_use]
    pub fn connect_timeout(&self) -> Duration {
        Duration::from_millis(self.connect_timeout_ms)
    }

    /// The time limit for a call, including its response.
    #[must_use]
    pub fn call_timeout(&self) -> Duration {
        Duration::from_millis(self.call_timeout_ms)
    }

    /// The time limit for querying a merchant's exchange variants while a shopper waits, including connecting and tokens.
    #[must_use]
    pub fn variants_timeout(&self) -> Duration {
        Duration::from_millis(self.variants_timeout_ms)
    }
}

fn allowed<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<Allowed>, D::Error> {
    let read = |text: String| text.parse().map_err(serde::de::Error::custom);
    Vec::<String>::deserialize(deserializer)?.into_iter().map(read).collect()
}

/// Reads addresses such as `192.0.2.53:5353`; the port defaults to 53.
fn name_servers<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<SocketAddr>, D::Error> {
    let read = |text: String| {
        let server = text.parse().or_else(|_| text.parse::<IpAddr>().map(|address| SocketAddr::new(address, DNS)));
        server.map_err(|_| serde::de::Error::custom(format!("`{text}` is not a name server such as 192.0.2.53 or 192.0.2.53:5353")))
    };
    Vec::<String>::deserialize(deserializer)?.into_iter().map(read).collect()
}
