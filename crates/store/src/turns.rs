//! Turns: the bound on the transactions of one merchant that hold a connection at the same time.
//!
//! Transactions of one merchant wait for each other, at the latest at the counter of its feed. Each of them holds a connection
//! meanwhile, so without a bound a busy merchant would hold all of them, and everybody else would wait too.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use domain::id::MerchantId;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::timeout;

/// Merchants in the table above which those are looked for that nobody uses any more.
const TIDIED_ABOVE: usize = 1_000;

/// The turns of all merchants.
pub(crate) struct Turns {
    /// Transactions of one merchant at the same time.
    most: usize,
    by_merchant: Mutex<HashMap<MerchantId, Arc<Semaphore>>>,
}

/// A turn, which lasts until this is dropped.
pub(crate) struct Turn {
    _permit: OwnedSemaphorePermit,
}

impl Turns {
    /// A quarter of the connections for each merchant, but at least two.
    pub(crate) fn quartered(connections: u32) -> Self {
        Self { most: (connections as usize).div_ceil(4).max(2), by_merchant: Mutex::default() }
    }

    /// Waits for a turn of `merchant`, in the order of asking. `None` if none comes in time.
    pub(crate) async fn take(&self, merchant: MerchantId, within: Duration) -> Option<Turn> {
        let turns = self.of(merchant);
        let permit = timeout(within, turns.acquire_owned()).await.ok()?.ok()?;
        Some(Turn { _permit: permit })
    }

    fn of(&self, merchant: MerchantId) -> Arc<Semaphore> {
        let mut by_merchant = self.by_merchant.lock().unwrap_or_else(PoisonError::into_inner);
        if by_merchant.len() >= TIDIED_ABOVE && !by_merchant.contains_key(&merchant) {
            // A turn, and everybody who waits for one, holds the semaphore too.
            by_merchant.retain(|_, turns| Arc::strong_count(turns) > 1);
        }
        Arc::clone(by_merchant.entry(merchant).or_insert_with(|| Arc::new(Semaphore::new(self.most))))
    }
}

#[cfg(test)]
mod tests {
    use uuid::Uuid;

    use super::*;

    fn merchant(number: usize) -> MerchantId {
        MerchantId(Uuid::from_u128(number as u128))
    }

    #[tokio::test]
    async fn a_merchant_has_a_quarter_of_the_turns_and_the_others_have_theirs() {
        let (turns, wait) = (Turns::quartered(14), Duration::ZERO);
        let mut held = Vec::new();
        for _ in 0..4 {
            held.push(turns.take(merchant(1), wait).await.unwrap());
        }
        assert!(turns.take(merchant(1), wait).await.is_none(), "all four are taken");
        assert!(turns.take(merchant(2), wait).await.is_some());
        held.pop();
        assert!(turns.take(merchant(1), wait).await.is_some());
    }

    #[tokio::test]
    async fn merchants_that_do_nothing_are_forgotten() {
        let (turns, wait) = (Turns::quartered(40), Duration::ZERO);
        let held = turns.take(merchant(0), wait).await.unwrap();
        for number in 1..3 * TIDIED_ABOVE {
            turns.take(merchant(number), wait).await.unwrap();
        }
        let known = turns.by_merchant.lock().unwrap();
        assert!(known.len() <= TIDIED_ABOVE, "{}", known.len());
        assert!(known.contains_key(&merchant(0)), "its turn lasts");
        drop((known, held));
    }
}
