//! The settings of outbound calls.

use std::net::{IpAddr, SocketAddr};
use std::path::PathBuf;
use std::time::Duration;

use serde::{Deserialize, Deserializer};

use super::allowed::Allowed;

/// The port of name servers.
const DNS: u16 = 53;

/// How others are called.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Outbound {
    /// What may be called beside public addresses over https.
    #[serde(deserialize_with = "allowed")]
    pub allowed: Vec<Allowed>,
    /// Who is asked for the addresses of names; nobody named is whom the system asks.
    #[serde(deserialize_with = "name_servers")]
    pub name_servers: Vec<SocketAddr>,
    extra_roots: String,
    connect_timeout_ms: u64,
    call_timeout_ms: u64,
    variants_timeout_ms: u64,
}

impl Outbound {
    /// Where the authorities are that are trusted beside the public ones.
    #[must_use]
    pub fn extra_roots(&self) -> Option<PathBuf> {
        (!self.extra_roots.is_empty()).then(|| self.extra_roots.clone().into())
    }

    /// How long a connection may take, from the name to the end of the handshake of TLS.
    #[must_use]
    pub fn connect_timeout(&self) -> Duration {
        Duration::from_millis(self.connect_timeout_ms)
    }

    /// How long a call may take, with its answer.
    #[must_use]
    pub fn call_timeout(&self) -> Duration {
        Duration::from_millis(self.call_timeout_ms)
    }

    /// How long a shopper waits for the variants of an exchange, with everything that leads to them.
    #[must_use]
    pub fn variants_timeout(&self) -> Duration {
        Duration::from_millis(self.variants_timeout_ms)
    }
}

fn allowed<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<Allowed>, D::Error> {
    let read = |text: String| text.parse().map_err(serde::de::Error::custom);
    Vec::<String>::deserialize(deserializer)?.into_iter().map(read).collect()
}

/// Addresses such as `192.0.2.53:5353`; without a port it is that of name servers.
fn name_servers<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<SocketAddr>, D::Error> {
    let read = |text: String| {
        let server = text.parse().or_else(|_| text.parse::<IpAddr>().map(|address| SocketAddr::new(address, DNS)));
        server.map_err(|_| serde::de::Error::custom(format!("`{text}` is no name server such as 192.0.2.53 or 192.0.2.53:5353")))
    };
    Vec::<String>::deserialize(deserializer)?.into_iter().map(read).collect()
}
