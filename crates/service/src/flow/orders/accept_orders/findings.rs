//! The findings of a message's refunds, and an order in its place.

use wire::fault::Warning;
use wire::orders::order::ReceivedOrder;

/// The findings of processing the refunds of a message.
#[derive(Default)]
pub(in crate::flow::orders) struct Findings {
    pub(in crate::flow::orders) warnings: Vec<Warning>,
    pub(in crate::flow::orders) new_refunds: u64,
}

/// An order of the message and its position.
pub(in crate::flow::orders) type Placed<'m> = (usize, &'m ReceivedOrder<'m>);
