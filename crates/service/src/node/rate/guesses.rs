//! The limit on wrong client secrets.
//!
//! They are counted by address and client, so that nobody can lock a merchant out from elsewhere, and by address over all
//! clients, so that nobody can try one secret on each. Correct secrets are not counted. Each node counts for itself: a secret
//! has 256 random bits, so the limit only has to keep the noise down.

use super::address::Address;
use super::counters::{Counters, Verdict};
use crate::platform::keys::bearer::{self, Hash};

/// Wrong secrets that an address may send for one client within a minute.
const MOST_FOR_CLIENT: u32 = 10;
/// Wrong secrets that an address may send for all clients within a minute.
const MOST_FOR_ADDRESS: u32 = 100;
/// The most pairs counted at a time, and the most addresses.
const MOST_REMEMBERED: usize = 20_000;

/// The wrong secrets of the last minute.
pub struct Guesses {
    of_client: Counters<(Address, Hash)>,
    of_address: Counters<Address>,
}

/// The limit that an address has reached.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TooManyGuesses {
    /// For one client.
    Client(Verdict),
    /// Over all clients.
    Address(Verdict),
}

impl Default for Guesses {
    fn default() -> Self {
        Self { of_client: Counters::new(MOST_REMEMBERED), of_address: Counters::new(MOST_REMEMBERED) }
    }
}

impl Guesses {
    /// Checks whether `address` may try another secret of `client_id` in `second`.
    pub fn check(&self, address: Address, client_id: &str, second: u64) -> Result<(), TooManyGuesses> {
        let of_client = self.of_client.look(pair(address, client_id), second, MOST_FOR_CLIENT);
        if !of_client.admitted {
            return Err(TooManyGuesses::Client(of_client));
        }
        let of_address = self.of_address.look(address, second, MOST_FOR_ADDRESS);
        if of_address.admitted { Ok(()) } else { Err(TooManyGuesses::Address(of_address)) }
    }

    /// Counts a wrong secret.
    pub fn count(&self, address: Address, client_id: &str, second: u64) {
        self.of_client.count(pair(address, client_id), second);
        self.of_address.count(address, second);
    }
}

/// A client id may be of any length, so it is stored as its hash.
fn pair(address: Address, client_id: &str) -> (Address, Hash) {
    (address, bearer::hash(client_id))
}
