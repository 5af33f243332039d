//! The foundation: settings, clock, entropy, keys, metrics, telemetry, TLS and tasks.

pub mod clock;
pub mod config;
pub mod entropy;
pub mod keys;
pub mod metrics;
pub mod task;
pub mod telemetry;
pub mod tls;
