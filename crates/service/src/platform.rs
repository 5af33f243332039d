//! The foundation: settings, client certificates, clock, entropy, hashes of files, host names, keys, metrics, open files, pictures, telemetry, TLS, tasks, and the words that people read.

pub mod client_certificate;
pub mod clock;
pub mod config;
pub mod content_hash;
pub mod entropy;
pub mod host_name;
pub mod keys;
pub mod metrics;
pub mod networks;
pub mod open_files;
pub mod picture;
pub mod task;
pub mod telemetry;
pub mod texts;
pub mod tls;
pub(crate) mod words;
