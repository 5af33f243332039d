//! What runs. The cast:
//!
//! - [`app`] is what every part is handed: the store, the clock, entropy, keys and metrics.
//! - [`flow`] holds the business verbs, one file each; only a flow opens a transaction.
//! - [`http`] is the surface; its router reads as a table of contents.
//! - [`delivery`] is the delivery engine, and the only HTTP client.
//! - [`rate`](node::rate) counts requests by address, and [`limits`](node::limits) says how many there may be.
//! - [`heartbeat`] is what a node does every second beside answering.
//! - [`health`](node::health) asks whether everything is in order; `/readyz` and `backhaul doctor` show the answer.
//! - [`certificate`](node::certificate) asks whether callers can trust the certificate; `backhaul doctor` shows that too.
//! - [`inbound`](show::warehouse::inbound) is how inbound ASNs are read, shown and told of; [`returns`](show::returns::rmas) the same for returns.
//! - [`report`](show::messages::report) is what became of a merchant's messages, for people; the command line and `/v1/reports` show it.
//! - [`cli`] is the command line, one file per group of commands.
//! - [`config`](platform::config), [`telemetry`](platform::telemetry), [`tls`](platform::tls), [`metrics`](platform::metrics), [`clock`](platform::clock), [`entropy`](platform::entropy), [`key`](platform::keys::fingerprint), [`task`](platform::task) and [`bearer`](platform::keys::bearer) are what these stand on.

pub mod app;
pub mod cli;
pub mod delivery;
pub mod flow;
pub mod grants;
pub mod heartbeat;
pub mod http;
pub mod intake;
pub mod node;
pub mod platform;
pub mod show;
pub mod timers;
pub mod worker;
