//! A node: its listener, clock and rate limits, and the health and metrics that operators see.

mod body_sizes;
mod clock;
mod giving_way;
mod leaving;
pub mod listener;
mod migrating;
mod open_files;
mod operating;
mod rates;
mod roles;
mod versions;
mod watching;
