//! What runs. The cast:
//!
//! - [`app`] is what every part is handed: the store, the clock, entropy, keys and metrics.
//! - [`flow`] holds the business verbs, one file each; only a flow opens a transaction.
//! - [`http`] is the surface; its router reads as a table of contents.
//! - [`outbound`] is the delivery engine, and the only HTTP client.
//! - [`rate`] counts requests by address, and [`limits`] says how many there may be.
//! - [`heartbeat`] is what a node does every second beside answering.
//! - [`health`] asks whether everything is in order; `/readyz` and `backhaul doctor` show the answer.
//! - [`certificate`] asks whether callers can trust the certificate; `backhaul doctor` shows that too.
//! - [`inbound`] is how inbound ASNs are read, shown and told of; [`returns`] the same for returns.
//! - [`report`] is what became of a merchant's messages, for people; the command line and `/v1/reports` show it.
//! - [`cli`] is the command line, one file per group of commands.
//! - [`config`], [`telemetry`], [`tls`], [`metrics`], [`clock`], [`entropy`], [`key`], [`task`] and [`bearer`] are what these stand on.

pub mod app;
pub mod bearer;
pub mod certificate;
pub mod cli;
pub mod clock;
pub mod config;
pub mod drop_ship;
pub mod entropy;
pub mod exchanges;
pub mod flow;
pub mod grants;
pub mod health;
pub mod heartbeat;
pub mod http;
pub mod inbound;
pub mod intake;
pub mod key;
pub mod limits;
pub mod metrics;
pub mod node;
pub mod outbound;
pub mod rate;
pub mod report;
pub mod returns;
pub mod seal;
pub mod shipments;
pub mod task;
pub mod telemetry;
pub mod timers;
pub mod tls;
pub mod worker;
