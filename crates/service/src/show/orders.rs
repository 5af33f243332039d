//! Orders as people see them.

pub mod order_days;
