//! The queues of a kind of work.

use std::sync::Arc;

use domain::id::MerchantId;

use super::{Gathering, Work};

/// Two queues. While the batch of one is written, that of the other is made and answered, so that neither the database nor the process
/// waits for the other one. All work of a merchant is in the same queue, and so keeps its order.
pub struct Queues<W: Work> {
    even: Arc<Gathering<W>>,
    odd: Arc<Gathering<W>>,
}

impl<W: Work> Default for Queues<W> {
    fn default() -> Self {
        Self { even: Arc::default(), odd: Arc::default() }
    }
}

impl<W: Work> Queues<W> {
    /// The queue of this merchant.
    pub(crate) fn of(&self, merchant: MerchantId) -> &Arc<Gathering<W>> {
        if merchant.0.as_u128().is_multiple_of(2) { &self.even } else { &self.odd }
    }
}

#[cfg(test)]
mod tests {
    use uuid::Uuid;

    use super::*;
    use crate::gathering::Carried;

    #[test]
    fn a_merchant_has_one_queue_and_the_merchants_share_two() {
        let queues: Queues<Carried> = Queues::default();
        let of = |merchant: u128| Arc::as_ptr(queues.of(MerchantId(Uuid::from_u128(merchant))));
        assert_eq!((of(1), of(2)), (of(1), of(2)));
        assert!(of(1) != of(2) && of(1) == of(3) && of(2) == of(4));
    }
}
