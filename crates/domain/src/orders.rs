//! Orders as merchants send them, their refunds, and the shoppers they belong to.

pub mod order;
pub mod refund;
pub mod shopper;
pub mod snapshot;
