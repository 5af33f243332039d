//! The rate limiter, by address:
//!
//! - an [`Address`] is an IPv4 address, or the /64 of an IPv6 address;
//! - a window holds the counts of one sliding minute;
//! - [`Counters`] hold the windows of many addresses, bounded in memory;
//! - [`Guesses`] counts wrong client secrets;
//! - [`UndeclaredProxies`] notices when addresses are not those of the callers;
//! - [`sharing`] exchanges the counts with the other nodes.
//!
//! No request waits for the database. Once a second the counts of the other nodes are read and added to a node's own; if that
//! fails, the node goes by its own counts.

mod address;
mod counters;
mod guesses;
mod proxies;
pub mod sharing;
mod window;

use uuid::Uuid;

pub use self::address::{Address, NoAddress};
pub use self::counters::{Counters, Verdict};
pub use self::guesses::{Guesses, TooManyGuesses};
pub use self::proxies::UndeclaredProxies;

/// The most addresses counted at a time; they take about 36 MB.
const MOST_ADDRESSES: usize = 100_000;

/// The most personal tokens counted at a time.
const MOST_TOKENS: usize = 10_000;

/// The counts of requests and of wrong secrets.
pub struct Rates {
    pub requests: Counters<Address>,
    pub guesses: Guesses,
    /// Requests by the personal token of an operator.
    pub tokens: Counters<Uuid>,
    pub proxies: UndeclaredProxies,
}

impl Default for Rates {
    fn default() -> Self {
        Self {
            requests: Counters::new(MOST_ADDRESSES),
            guesses: Guesses::default(),
            tokens: Counters::new(MOST_TOKENS),
            proxies: UndeclaredProxies::default(),
        }
    }
}
