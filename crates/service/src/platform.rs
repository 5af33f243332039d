//! The foundation: settings, clock, entropy, keys, metrics, open files, telemetry, TLS and tasks.

pub mod clock;
pub mod config;
pub mod entropy;
pub mod keys;
pub mod metrics;
pub mod open_files;
pub mod task;
pub mod telemetry;
pub mod tls;
