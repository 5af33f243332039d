//! The gate: how many connections there may be, in all and from one address.

use std::collections::HashMap;
use std::net::{IpAddr, Ipv6Addr};
use std::sync::{Arc, Mutex, PoisonError};

use crate::config::Http;
use crate::metrics::{Connections, ReasonLabels};

/// Counts the connections that are open. A clone is the same gate.
#[derive(Clone)]
pub(super) struct Gate(Arc<Inner>);

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

/// A connection that was let in; it counts until this is dropped.
pub(super) struct Admitted {
    gate: Gate,
    origin: IpAddr,
}

impl Gate {
    /// A gate that lets everybody in.
    pub(super) fn open(counts: Connections) -> Self {
        Self::new(usize::MAX, usize::MAX, counts)
    }

    /// A gate with these limits.
    pub(super) fn limited(limits: &Http, counts: Connections) -> Self {
        Self::new(limits.connections, limits.connections_per_address, counts)
    }

    fn new(most: usize, most_per_origin: usize, counts: Connections) -> Self {
        Self(Arc::new(Inner { most, most_per_origin, open: Mutex::default(), counts }))
    }

    /// Lets a connection in, or counts that it was refused.
    pub(super) fn admit(&self, address: IpAddr) -> Option<Admitted> {
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
        Some(Admitted { gate: self.clone(), origin })
    }
}

impl Drop for Admitted {
    fn drop(&mut self) {
        let Inner { open, counts, .. } = &*self.gate.0;
        let mut open = open.lock().unwrap_or_else(PoisonError::into_inner);
        open.all = open.all.saturating_sub(1);
        // Who has none left is forgotten, so that the map is never larger than what is open.
        match open.by_origin.get_mut(&self.origin) {
            Some(here) if *here > 1 => *here -= 1,
            Some(_) | None => _ = open.by_origin.remove(&self.origin),
        }
        counts.open.dec();
    }
}

/// Whom an address counts for. Whoever has an IPv6 address has the 2^64 beside it too.
fn origin(address: IpAddr) -> IpAddr {
    match address.to_canonical() {
        IpAddr::V6(address) => Ipv6Addr::from_bits(address.to_bits() & !u128::from(u64::MAX)).into(),
        address @ IpAddr::V4(_) => address,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn gate(most: usize, most_per_origin: usize) -> Gate {
        Gate::new(most, most_per_origin, Connections::default())
    }

    fn at(address: &str) -> IpAddr {
        address.parse().expect("an address")
    }

    #[test]
    fn an_ipv6_address_counts_by_its_network() {
        let gate = gate(10, 1);
        let first = gate.admit(at("2001:db8:1:2::1"));
        assert!(first.is_some());
        assert!(gate.admit(at("2001:db8:1:2:ffff::9")).is_none(), "the same network");
        assert!(gate.admit(at("2001:db8:1:3::1")).is_some(), "another network");
        drop(first);
        assert!(gate.admit(at("2001:db8:1:2:ffff::9")).is_some());
    }

    #[test]
    fn a_mapped_address_counts_as_what_it_maps() {
        let gate = gate(10, 1);
        let first = gate.admit(at("192.0.2.1"));
        assert!(first.is_some());
        assert!(gate.admit(at("::ffff:192.0.2.1")).is_none());
        assert!(gate.admit(at("::ffff:192.0.2.2")).is_some());
    }

    #[test]
    fn who_has_left_is_forgotten() {
        let gate = gate(2, 2);
        let open: Vec<_> = ["192.0.2.1", "192.0.2.2"].map(|address| gate.admit(at(address))).into_iter().flatten().collect();
        assert_eq!(open.len(), 2);
        assert!(gate.admit(at("192.0.2.3")).is_none(), "full");
        drop(open);
        let left = gate.0.open.lock().expect("the counts");
        assert_eq!((left.all, left.by_origin.len(), gate.0.counts.open.get()), (0, 0, 0));
    }
}
