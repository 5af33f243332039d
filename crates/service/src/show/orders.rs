//! Orders as people see them.

pub(crate) mod order;
pub mod order_days;
