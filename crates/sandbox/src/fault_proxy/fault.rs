//! The faults of a network.

use std::time::Duration;

use tokio::sync::watch;

/// A direction of a connection through the proxy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    ToUpstream,
    ToClient,
}

/// A fault of the network, in force until it is healed or replaced by another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// Everything arrives this much later, in both directions.
    Delay(Duration),
    /// Bytes and the ends of connections vanish, while connections stay open and new ones are accepted.
    BlackHole,
    /// Like a black hole, but in this direction only.
    HalfOpen(Direction),
    /// Nothing gets through, not even the handshake of a new connection. Nothing is lost either: it arrives after the partition.
    Partition,
    /// Open connections are reset, and new ones as soon as they are accepted.
    Reset,
    /// One byte arrives per second, in each direction.
    Trickle,
}

/// The fault of the moment; `None` while the network is healthy.
pub(super) type Faults = watch::Receiver<Option<Fault>>;

impl Fault {
    /// Returns whether bytes in this direction vanish.
    pub(super) fn swallows(self, direction: Direction) -> bool {
        match self {
            Self::BlackHole => true,
            Self::HalfOpen(dead) => dead == direction,
            Self::Delay(_) | Self::Partition | Self::Reset | Self::Trickle => false,
        }
    }
}
