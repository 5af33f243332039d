//! The addresses of a listener that has pages: where it listens, and under which URL people reach it. An empty text is none.

use std::net::{IpAddr, SocketAddr};

use serde::{Deserialize, Deserializer};
use url::Url;

use super::allowed::is_localhost;

/// Reads the address of a listener.
pub(super) fn listen<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<String>, D::Error> {
    Ok(Some(String::deserialize(deserializer)?).filter(|listen| !listen.is_empty()))
}

/// True if only this machine reaches a listener at this address.
pub(super) fn is_local(listen: &str) -> bool {
    let host = listen.rsplit_once(':').map_or(listen, |(host, _)| host);
    let address = listen.parse::<SocketAddr>().map(|address| address.ip()).or_else(|_| host.parse::<IpAddr>());
    address.map_or_else(|_| is_localhost(host), |address| address.is_loopback())
}

/// Reads the scheme, host and port of a URL.
pub(super) fn origin<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<String>, D::Error> {
    let text = String::deserialize(deserializer)?;
    if text.is_empty() {
        return Ok(None);
    }
    let is_bare = |url: &Url| {
        let is_web = matches!(url.scheme(), "https" | "http");
        is_web && url.path() == "/" && url.query().is_none() && url.fragment().is_none() && url.username().is_empty()
    };
    match Url::parse(&text).ok().filter(is_bare) {
        Some(url) => Ok(Some(url.origin().ascii_serialization())),
        None => Err(serde::de::Error::custom(format!(
            "portal.url or console.url is `{text}`, which is not a URL without a path, such as https://returns.example.com"
        ))),
    }
}
