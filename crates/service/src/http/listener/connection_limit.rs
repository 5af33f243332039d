//! The limit on open connections, in all and from one network. When all are taken, the oldest idle one whose caller never
//! authenticated gives way to a new one: otherwise whoever opens connections and says nothing could keep everybody else out.

use std::collections::{BTreeMap, HashMap};
use std::net::IpAddr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use ipnet::{IpNet, Ipv4Net, Ipv6Net};

use super::presence::Presence;
use crate::platform::config::Http;
use crate::platform::metrics::{Connections, ReasonLabels};

/// The networks that an IPv6 address counts for, as the lengths of their prefixes, and how many times the connections of one
/// address each may have. A customer has a /64 at least, often a /56, sometimes a /48.
const NETWORKS_V6: [(u8, usize); 3] = [(64, 1), (56, 2), (48, 4)];

/// Counts the open connections. Clones share the counts.
#[derive(Clone)]
pub(super) struct ConnectionLimit(Arc<Inner>);

struct Inner {
    most: usize,
    most_per_address: usize,
    open: Mutex<Open>,
    counts: Connections,
}

#[derive(Default)]
struct Open {
    /// In the order in which they came.
    connections: BTreeMap<u64, Connection>,
    last: u64,
    by_network: HashMap<IpNet, usize>,
}

struct Connection {
    address: IpAddr,
    presence: Presence,
}

/// The permit of an open connection, which counts until this is dropped, or until the connection gives way.
pub(super) struct Permit {
    limit: ConnectionLimit,
    number: u64,
}

impl Open {
    fn insert(&mut self, address: IpAddr, presence: Presence) -> u64 {
        for (network, _) in networks(address) {
            *self.by_network.entry(network).or_default() += 1;
        }
        self.last += 1;
        self.connections.insert(self.last, Connection { address, presence });
        self.last
    }

    fn remove(&mut self, number: u64) -> Option<Connection> {
        let connection = self.connections.remove(&number)?;
        for (network, _) in networks(connection.address) {
            // A network without connections is removed, so that the map never outgrows the open connections.
            match self.by_network.get_mut(&network) {
                Some(here) if *here > 1 => *here -= 1,
                Some(_) | None => _ = self.by_network.remove(&network),
            }
        }
        Some(connection)
    }

    /// Makes room: has the oldest connection closed that may give way.
    fn make_room(&mut self) -> bool {
        let oldest = self.connections.iter().find(|(_, connection)| connection.presence.may_give_way()).map(|(number, _)| *number);
        let Some(connection) = oldest.and_then(|number| self.remove(number)) else { return false };
        connection.presence.give_way();
        true
    }
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

    /// Refuses connections above the limit of the listener for metrics and health.
    pub(super) fn of_admin(limits: &Http, counts: Connections) -> Self {
        Self::of(limits.admin_connections, usize::MAX, counts)
    }

    fn of(most: usize, most_per_address: usize, counts: Connections) -> Self {
        Self(Arc::new(Inner { most, most_per_address, open: Mutex::default(), counts }))
    }

    fn open(&self) -> MutexGuard<'_, Open> {
        self.0.open.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Admits a connection, if need be in place of another one, or counts it as refused.
    pub(super) fn admit(&self, address: IpAddr, presence: &Presence) -> Option<Permit> {
        let Inner { most, most_per_address, counts, .. } = &*self.0;
        let mut open = self.open();
        let is_crowded = |(network, times): (IpNet, usize)| {
            open.by_network.get(&network).is_some_and(|here| *here >= most_per_address.saturating_mul(times))
        };
        let refused = if networks(address).any(is_crowded) {
            Some("address")
        } else if open.connections.len() < *most {
            None
        } else if open.make_room() {
            counts.dropped.get_or_create(&ReasonLabels { reason: "gave_way" }).inc();
            counts.open.dec();
            None
        } else {
            Some("full")
        };
        if let Some(reason) = refused {
            counts.refused.get_or_create(&ReasonLabels { reason }).inc();
            return None;
        }
        counts.open.inc();
        Some(Permit { number: open.insert(address, presence.clone()), limit: self.clone() })
    }
}

impl Drop for Permit {
    fn drop(&mut self) {
        if self.limit.open().remove(self.number).is_some() {
            self.limit.0.counts.open.dec();
        }
    }
}

/// The networks that an address counts for, each with the multiple of an address's connections that it may have.
fn networks(address: IpAddr) -> impl Iterator<Item = (IpNet, usize)> {
    let of = move |(length, times): (u8, usize)| match address.to_canonical() {
        IpAddr::V4(address) => (length == 64).then_some((IpNet::V4(Ipv4Net::from(address)), times)),
        IpAddr::V6(address) => Ipv6Net::new(address, length).ok().map(|network| (IpNet::V6(network.trunc()), times)),
    };
    NETWORKS_V6.into_iter().filter_map(of)
}

#[cfg(test)]
mod tests {
    use super::super::deadlines::Deadlines;
    use super::*;
    use crate::platform::config::Settings;

    fn limit(most: usize, most_per_address: usize) -> ConnectionLimit {
        ConnectionLimit::of(most, most_per_address, Connections::default())
    }

    /// A connection whose caller has authenticated, from this address.
    fn opens(limit: &ConnectionLimit, address: &str) -> Option<Permit> {
        let settings = Settings::load(None, std::iter::empty()).expect("settings");
        let presence = Presence::new(Deadlines::new(&settings.http));
        presence.authenticate();
        limit.admit(address.parse().expect("an address"), &presence)
    }

    #[test]
    fn an_ipv6_address_counts_by_its_network() {
        let limit = limit(10, 1);
        let first = opens(&limit, "2001:db8:1:2::1");
        assert!(first.is_some());
        assert!(opens(&limit, "2001:db8:1:2:ffff::9").is_none(), "the same network");
        assert!(opens(&limit, "2001:db8:1:3::1").is_some(), "another network");
        drop(first);
        assert!(opens(&limit, "2001:db8:1:2:ffff::9").is_some());
    }

    #[test]
    fn the_ipv6_networks_of_one_customer_count_together() {
        let limit = limit(1_000, 10);
        let count = |addresses: &mut dyn Iterator<Item = String>| {
            let open: Vec<Permit> = addresses.filter_map(|address| opens(&limit, &address)).collect();
            open.len()
        };
        let mut in_a_56 = (0..=255).map(|at| format!("2001:db8:1:{at:x}::1"));
        assert_eq!(count(&mut in_a_56), 20, "twice the connections of an address");
        let mut in_a_48 = (0..=255).map(|at| format!("2001:db8:1:{:x}::1", at << 8));
        assert_eq!(count(&mut in_a_48), 40, "four times the connections of an address");
        let mut elsewhere = (0..=255).map(|at| format!("2001:db8:{at:x}::1"));
        assert_eq!(count(&mut elsewhere), 256);
        assert_eq!(limit.open().by_network.len(), 0, "who has left is forgotten");
    }

    #[test]
    fn a_mapped_address_counts_as_what_it_maps() {
        let limit = limit(10, 1);
        let first = opens(&limit, "192.0.2.1");
        assert!(first.is_some());
        assert!(opens(&limit, "::ffff:192.0.2.1").is_none());
        assert!(opens(&limit, "::ffff:192.0.2.2").is_some());
    }

    #[test]
    fn who_has_left_is_forgotten() {
        let limit = limit(2, 2);
        let open: Vec<_> = ["192.0.2.1", "192.0.2.2"].map(|address| opens(&limit, address)).into_iter().flatten().collect();
        assert_eq!(open.len(), 2);
        assert!(opens(&limit, "192.0.2.3").is_none(), "full");
        drop(open);
        let left = limit.open();
        assert_eq!((left.connections.len(), left.by_network.len(), limit.0.counts.open.get()), (0, 0, 0));
    }
}
