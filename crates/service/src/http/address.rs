//! The address of a client. Behind proxies the connection's address is the proxy's, and the client's is in `X-Forwarded-For`,
//! which is believed only as far as trusted proxies wrote it.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};

use axum::http::{HeaderMap, request};
use ipnet::IpNet;

use super::error::ApiError;
use super::listener::Peer;
use crate::node::rate::Address;

const FORWARDED_FOR: &str = "x-forwarded-for";
/// The headers of proxies.
const FORWARDED: [&str; 3] = [FORWARDED_FOR, "forwarded", "x-real-ip"];

/// The address that a request counts for; every request carries it as an extension.
#[derive(Clone, Copy)]
pub(super) struct Client {
    /// The address as it is counted.
    pub(super) counted: Address,
    /// The whole address.
    pub(super) exact: IpAddr,
}

/// Finds the client's address.
pub(super) fn of(extensions: &axum::http::Extensions, headers: &HeaderMap, trusted: &[IpNet]) -> Client {
    let exact = client(peer(extensions), headers, trusted);
    Client { counted: exact.into(), exact }
}

/// The address of the connection, and whether a request on it has the headers of a proxy that is not trusted.
pub(super) fn is_forwarded(extensions: &axum::http::Extensions, headers: &HeaderMap, trusted: &[IpNet]) -> (IpAddr, bool) {
    let peer = peer(extensions).to_canonical();
    let is_trusted = trusted.iter().any(|network| network.contains(&peer));
    (peer, !is_trusted && FORWARDED.iter().any(|name| headers.contains_key(*name)))
}

fn peer(extensions: &axum::http::Extensions) -> IpAddr {
    extensions.get::<Peer>().map_or(IpAddr::V4(Ipv4Addr::UNSPECIFIED), |Peer(peer)| peer.ip())
}

impl Client {
    /// The address that a request counts for, once it has been found.
    pub(super) fn of(request: &axum::extract::Request) -> Self {
        let unknown = IpAddr::V4(Ipv4Addr::UNSPECIFIED);
        request.extensions().get::<Self>().copied().unwrap_or(Self { counted: unknown.into(), exact: unknown })
    }
}

/// Walks back over the hops, starting at the connection: each trusted proxy vouches for the entry before it. The first address
/// that is not trusted is the client; it may have written the entries before it itself.
fn client(peer: IpAddr, headers: &HeaderMap, trusted: &[IpNet]) -> IpAddr {
    let is_trusted = |address: IpAddr| trusted.iter().any(|network| network.contains(&address));
    let mut address = peer.to_canonical();
    if !is_trusted(address) {
        return address;
    }
    let lines = headers.get_all(FORWARDED_FOR).iter().rev();
    let entries = lines.flat_map(|line| line.to_str().unwrap_or_default().rsplit(','));
    for entry in entries {
        // An unreadable entry ends the walk: the proxy that wrote it is the last known address.
        let Some(before) = read(entry.trim()) else { break };
        address = before.to_canonical();
        if !is_trusted(address) {
            break;
        }
    }
    address
}

/// Reads an address, which some proxies write with a port or in brackets.
fn read(entry: &str) -> Option<IpAddr> {
    let bare = || entry.strip_prefix('[')?.strip_suffix(']')?.parse().ok();
    entry.parse().ok().or_else(|| entry.parse().ok().map(|address: SocketAddr| address.ip())).or_else(bare)
}

impl<S: Sync> axum::extract::FromRequestParts<S> for Client {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut request::Parts, _: &S) -> Result<Self, ApiError> {
        parts.extensions.get::<Self>().copied().ok_or_else(|| ApiError::Internal("a request without an address".to_owned()))
    }
}

#[cfg(test)]
mod tests {
    use axum::http::HeaderValue;

    use super::*;

    fn seen(peer: &str, forwarded: &[&'static str], trusted: &[&str]) -> String {
        let mut headers = HeaderMap::new();
        for line in forwarded {
            headers.append(FORWARDED_FOR, HeaderValue::from_static(line));
        }
        let trusted: Vec<IpNet> = trusted.iter().map(|network| network.parse().expect("a network")).collect();
        client(peer.parse().expect("an address"), &headers, &trusted).to_string()
    }

    #[test]
    fn without_trust_the_header_is_ignored() {
        assert_eq!(seen("192.0.2.1", &["198.51.100.7"], &[]), "192.0.2.1");
        assert_eq!(seen("192.0.2.1", &["198.51.100.7"], &["10.0.0.0/8"]), "192.0.2.1");
    }

    #[test]
    fn the_hop_before_the_last_trusted_proxy_is_the_client() {
        let trusted = ["10.0.0.0/8", "2001:db8:ffff::/48"];
        assert_eq!(seen("10.0.0.1", &["198.51.100.7"], &trusted), "198.51.100.7");
        assert_eq!(seen("10.0.0.1", &["198.51.100.7, 10.0.0.2"], &trusted), "198.51.100.7");
        assert_eq!(seen("10.0.0.1", &["198.51.100.7", "10.0.0.2,10.0.0.3"], &trusted), "198.51.100.7", "several lines are one list");
        assert_eq!(seen("2001:db8:ffff::1", &["2001:db8::9"], &trusted), "2001:db8::9");
        assert_eq!(seen("::ffff:10.0.0.1", &["::ffff:198.51.100.7"], &trusted), "198.51.100.7", "IPv4 mapped to IPv6");
        assert_eq!(seen("10.0.0.1", &["198.51.100.7:4711"], &trusted), "198.51.100.7");
        assert_eq!(seen("10.0.0.1", &["[2001:db8::9]:4711"], &trusted), "2001:db8::9");
        assert_eq!(seen("10.0.0.1", &["[2001:db8::9]"], &trusted), "2001:db8::9");
    }

    #[test]
    fn what_a_client_writes_itself_does_not_help() {
        let trusted = ["10.0.0.0/8"];
        assert_eq!(seen("10.0.0.1", &["203.0.113.1, 203.0.113.2, 198.51.100.7"], &trusted), "198.51.100.7");
        assert_eq!(seen("10.0.0.1", &["10.0.0.9, 198.51.100.7"], &trusted), "198.51.100.7", "nor does a proxy's address");
        assert_eq!(seen("10.0.0.1", &["203.0.113.1, nonsense, 10.0.0.2"], &trusted), "10.0.0.2", "nonsense ends the walk");
        assert_eq!(seen("10.0.0.1", &["nonsense"], &trusted), "10.0.0.1");
        assert_eq!(seen("10.0.0.1", &[], &trusted), "10.0.0.1");
        assert_eq!(seen("10.0.0.1", &["10.0.0.3, 10.0.0.2"], &trusted), "10.0.0.3", "a call from inside");
    }
}
