//! A node: its listener, clock and rate limits, and the health and metrics that operators see.

mod clock;
mod connections;
mod encryption;
pub mod listener;
mod network;
mod operating;
mod pooler;
mod rates;
mod replication;
mod versions;
mod watching;
