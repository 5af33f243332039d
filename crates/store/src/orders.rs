//! Snapshots of orders, refunds, history imports, refused messages, and counts of warnings.

pub mod fingerprints;
pub mod imports;
pub mod order_days;
pub mod order_pages;
pub mod refunds;
pub mod refusals;
pub mod snapshots;
pub mod warning_days;
