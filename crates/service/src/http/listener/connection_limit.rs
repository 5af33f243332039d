//! The limit on open connections, in all and from one address.

use std::collections::HashMap;
use std::net::{IpAddr, Ipv6Addr};
use std::sync::{Arc, Mutex, PoisonError};

use crate::platform::config::Http;
use crate::platform::metrics::{Connections, ReasonLabels};

/// Counts the open connections. Clones share the counts.
#[derive(Clone)]
pub(super) struct ConnectionLimit(Arc<Inner>);

struct Inner {
    most: usize,
    most_per_origin: usize,
    open: Mutex<Open>,
    counts: Connections,
}

#[derive(Default)]
struct Open {
    all: usize,
    by_origin: HashMap<IpAddr, usize>,
}

/// The permit of an open connection, which counts until this is dropped.
pub(super) struct Permit {
    limit: ConnectionLimit,
    origin: IpAddr,
}

impl ConnectionLimit {
    /// Counts connections without refusing any.
    pub(super) fn unlimited(counts: Connections) -> Self {
        Self::of(usize::MAX, usize::MAX, counts)
    }

    /// Refuses connections above the limits in the settings.
    pub(super) fn new(limits: &Http, counts: Connections) -> Self {
        Self::of(limits.connections, limits.connections_per_address, counts)
    }

    fn of(most: usize, most_per_origin: usize, counts: Connections) -> Self {
        Self(Arc::new(Inner { most, most_per_origin, open: Mutex::default(), counts }))
    }

    /// Admits a connection, or counts it as refused.
    pub(super) fn admit(&self, address: IpAddr) -> Option<Permit> {
        let origin = origin(address);
        let Inner { most, most_per_origin, open, counts } = &*self.0;
        let refused = {
            let mut open = open.lock().unwrap_or_else(PoisonError::into_inner);
            let here = open.by_origin.get(&origin).copied().unwrap_or_default();
            if open.all >= *most {
                Some("full")
            } else if here >= *most_per_origin {
                Some("address")
            } else {
                open.all += 1;
                open.by_origin.insert(origin, here + 1);
                None
            }
        };
        if let Some(reason) = refused {
            counts.refused.get_or_create(&ReasonLabels { reason }).inc();
            return None;
        }
        counts.open.inc();
        Some(Permit { limit: self.clone(), origin })
    }
}

impl Drop for Permit {
    fn drop(&mut self) {
        let Inner { open, counts, .. } = &*self.limit.0;
        let mut open = open.lock().unwrap_or_else(PoisonError::into_inner);
        open.all = open.all.saturating_sub(1);
        // An origin without connections is removed, so that the map never outgrows the open connections.
        match open.by_origin.get_mut(&self.origin) {
            Some(here) if *here > 1 => *here -= 1,
            Some(_) | None => _ = open.by_origin.remove(&self.origin),
        }
        counts.open.dec();
    }
}

/// The origin that an address counts for: an IPv6 customer usually has a whole /64.
fn origin(address: IpAddr) -> IpAddr {
    match address.to_canonical() {
        IpAddr::V6(address) => Ipv6Addr::from_bits(address.to_bits() & !u128::from(u64::MAX)).into(),
        address @ IpAddr::V4(_) => address,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn limit(most: usize, most_per_origin: usize) -> ConnectionLimit {
        ConnectionLimit::of(most, most_per_origin, Connections::default())
    }

    fn at(address: &str) -> IpAddr {
        address.parse().expect("an address")
    }

    #[test]
    fn an_ipv6_address_counts_by_its_network() {
        let limit = limit(10, 1);
        let first = limit.admit(at("2001:db8:1:2::1"));
        assert!(first.is_some());
        assert!(limit.admit(at("2001:db8:1:2:ffff::9")).is_none(), "the same network");
        assert!(limit.admit(at("2001:db8:1:3::1")).is_some(), "another network");
        drop(first);
        assert!(limit.admit(at("2001:db8:1:2:ffff::9")).is_some());
    }

    #[test]
    fn a_mapped_address_counts_as_what_it_maps() {
        let limit = limit(10, 1);
        let first = limit.admit(at("192.0.2.1"));
        assert!(first.is_some());
        assert!(limit.admit(at("::ffff:192.0.2.1")).is_none());
        assert!(limit.admit(at("::ffff:192.0.2.2")).is_some());
    }

    #[test]
    fn who_has_left_is_forgotten() {
        let limit = limit(2, 2);
        let open: Vec<_> = ["192.0.2.1", "192.0.2.2"].map(|address| limit.admit(at(address))).into_iter().flatten().collect();
        assert_eq!(open.len(), 2);
        assert!(limit.admit(at("192.0.2.3")).is_none(), "full");
        drop(open);
        let left = limit.0.open.lock().expect("the counts");
        assert_eq!((left.all, left.by_origin.len(), limit.0.counts.open.get()), (0, 0, 0));
    }
}
