//! How often an address may call. The cast:
//!
//! - an [`Address`] is what is counted: an IPv4 address, or the /64 of an IPv6 address;
//! - a window holds the counts of one sliding minute;
//! - [`Counters`] are the windows of many addresses, bounded in memory;
//! - [`Guesses`] are wrong client secrets;
//! - [`sharing`] tells the other nodes what was counted here, and hears what was counted there.
//!
//! Nothing on the road of a request waits for a database: what other nodes counted is put beside a node's own counts once
//! a second, and when that fails, the own counts hold.

mod address;
mod counters;
mod guesses;
pub mod sharing;
mod window;

pub use self::address::{Address, NoAddress};
pub use self::counters::{Counters, Verdict};
pub use self::guesses::{Guesses, TooManyGuesses};

/// How many addresses are counted at a time; what that takes is about 36 MB.
const MOST_ADDRESSES: usize = 100_000;

/// Everything that is counted by address.
pub struct Rates {
    /// Requests.
    pub requests: Counters<Address>,
    /// Wrong client secrets.
    pub guesses: Guesses,
}

impl Default for Rates {
    fn default() -> Self {
        Self { requests: Counters::new(MOST_ADDRESSES), guesses: Guesses::default() }
    }
}
