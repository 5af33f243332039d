//! A node: its listener, clock and rate limits, and the health and metrics that operators see.

mod body_sizes;
mod clock;
mod connections;
mod console_system;
mod early_answers;
mod edge;
mod encryption;
mod giving_way;
mod keys;
mod leaving;
pub mod listener;
mod migrating;
mod network;
mod open_files;
mod operating;
mod own_hosts;
mod pooler;
mod portal_listener;
mod rates;
mod replication;
mod roles;
mod security_events;
mod unusable_database;
mod versions;
mod watching;
