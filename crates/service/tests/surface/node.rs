//! A node: its listener, clock and rate limits, and the health and metrics that operators see.

mod clock;
pub mod listener;
mod migrating;
mod operating;
mod rates;
mod roles;
mod versions;
mod watching;
