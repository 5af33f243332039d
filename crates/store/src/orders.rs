//! Snapshots of orders, refunds, history imports, and refused messages.

pub mod imports;
pub mod order_pages;
pub mod refunds;
pub mod refusals;
pub mod snapshots;
