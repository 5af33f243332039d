//! The ground that everything stands on: settings, clock, entropy, keys, metrics, telemetry, TLS, tasks.

pub mod clock;
pub mod config;
pub mod entropy;
pub mod keys;
pub mod metrics;
pub mod task;
pub mod telemetry;
pub mod tls;
