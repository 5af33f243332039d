//! The service. Its parts:
//!
//! - [`app`] is the handle that every part gets: store, clock, entropy, keys and metrics.
//! - [`flow`] has the business operations, one file each; only a flow opens a transaction.
//! - [`show`] turns stored rows into messages and answers.
//! - [`http`] is the HTTP API; its router reads as a table of contents.
//! - [`cli`] is the command line, one file per group of commands.
//! - [`delivery`] is the delivery engine, and the only HTTP client.
//! - [`intake`] batches order messages that arrive at the same time, [`gathering`] carrier events and new returns.
//! - [`grants`] caches the grants of access tokens, [`shops`] the merchants as shoppers see them.
//! - [`worker`] starts the delivery engine with the reactions and [`timers`] of the flows.
//! - [`heartbeat`] runs every second on each node: it reads limits and the clock, and shares request counts.
//! - [`node`] is one process of the installation, with its [`limits`](node::limits), [`rates`](node::rate),
//!   [`health`](node::health) checks and [`certificate`](node::certificate) checks.
//! - [`platform`] is the foundation: settings, clock, entropy, keys, metrics, telemetry, TLS and tasks.

pub mod app;
pub mod cli;
pub mod delivery;
pub mod flow;
pub mod gathering;
pub mod grants;
pub mod heartbeat;
pub mod http;
pub mod intake;
pub mod node;
pub mod platform;
pub mod shops;
pub mod show;
pub mod timers;
pub mod worker;
