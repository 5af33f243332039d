//! The shoppers' portal over HTTP, as browsers use it.
//!
//! - A browser (`browser.rs`), the orders of its shopper (`orders.rs`), and the road from finding the order to the status of its
//!   return (`road.rs`).
//! - The runs: the whole road beside order intake (`bench.rs`), attackers who compare misses or guess (`attack.rs`), and kills of
//!   the service while shoppers confirm (`chaos.rs`).

pub(crate) mod attack;
pub(crate) mod bench;
mod browser;
pub(crate) mod chaos;
mod orders;
mod road;
mod server_time;
