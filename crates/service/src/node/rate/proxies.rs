//! Proxies that nobody declared. If most requests come through a proxy that is not trusted, the proxy's address stands for all
//! callers: they share one rate limit, and nobody knows who they are.

use std::net::IpAddr;
use std::sync::{Mutex, PoisonError};

/// The fewest requests from which a conclusion is drawn, and the most that are remembered.
const FEWEST: u32 = 20;
const MOST: u32 = 10_000;

/// Counts requests that came with the headers of a proxy from an address that is not trusted.
#[derive(Debug, Default)]
pub struct UndeclaredProxies(Mutex<Seen>);

#[derive(Debug, Default)]
struct Seen {
    requests: u32,
    forwarded: u32,
    /// The address that the last of them came from.
    by: Option<IpAddr>,
}

impl UndeclaredProxies {
    /// Notes a request from `peer`. It is `forwarded` if it has a proxy's headers and `peer` is not trusted.
    pub fn note(&self, peer: IpAddr, forwarded: bool) {
        let mut seen = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if seen.requests >= MOST {
            // What is older weighs less and less.
            (seen.requests, seen.forwarded) = (seen.requests / 2, seen.forwarded / 2);
        }
        seen.requests += 1;
        if forwarded {
            seen.forwarded += 1;
            seen.by = Some(peer);
        }
    }

    /// The proxy through which most requests come. Anybody can write the headers of one, so a few of them mean nothing.
    #[must_use]
    pub fn found(&self) -> Option<IpAddr> {
        let seen = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        seen.by.filter(|_| seen.requests >= FEWEST && seen.forwarded > seen.requests / 2)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn most_requests_have_to_come_through_it() {
        let (proxies, proxy, stranger) = (UndeclaredProxies::default(), [10, 0, 0, 1].into(), [192, 0, 2, 1].into());
        (0..19).for_each(|_| proxies.note(proxy, true));
        assert_eq!(proxies.found(), None, "too few to tell");
        proxies.note(proxy, true);
        assert_eq!(proxies.found(), Some(proxy));
        (0..20).for_each(|_| proxies.note(stranger, false));
        assert_eq!(proxies.found(), None);
        (0..100_000).for_each(|_| proxies.note(stranger, false));
        (0..11_000).for_each(|_| proxies.note(proxy, true));
        assert_eq!(proxies.found(), Some(proxy), "what was long ago is forgotten");
    }
}
