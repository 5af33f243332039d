//! A node: its listener, clock and rate limits, and the health and metrics that operators see.

mod body_sizes;
mod clock;
pub mod listener;
mod operating;
mod rates;
mod versions;
mod watching;
