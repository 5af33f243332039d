//! The delivery engine: what merchants' systems are owed is sent to them, in order per subject, endpoint by endpoint.
//!
//! The cast, in the order in which a message meets them:
//!
//! - [`signal`]: a flow tells, after its commit, that an endpoint is owed something.
//! - `lease` says which buckets of endpoints this process delivers for; `chores` keep it so, and `retries` carry out jobs.
//! - [`deliverer`] keeps an `engine` at work, the loop that decides; a `desk` is what it holds of one endpoint.
//! - `attempt` makes one attempt: a `peer` is how to reach the endpoint, for which [`secrets`] opens what is kept sealed
//!   ([`seal`]); `transport` prepares and sends, for which [`authentication`] and [`signature`] make the headers and [`client`]
//!   calls, behind the [`guard`].
//! - `lookout` tells the metrics of what waits.
//! - [`mail`] hands a mail to the operator's mail server instead, [`operator_hook`] names the operator's webhook, and `carrier`
//!   buys labels: the ways of work of our own.
//! - [`variants`] are asked for while a shopper waits, by the same roads and without the engine.
//! - `writer` settles what came of it, together with the kind's [`reaction`], where it has one.

mod attempt;
pub mod authentication;
mod carrier;
mod chores;
pub mod client;
pub mod deliverer;
mod desk;
mod engine;
pub mod guard;
mod handle;
pub mod handlers;
pub(crate) mod lease;
mod lookout;
pub mod mail;
mod notices;
pub mod operator_hook;
mod pace;
mod peer;
pub mod reaction;
mod retries;
pub mod secrets;
pub mod settling;
pub mod signal;
pub mod signature;
pub mod subscribers;
pub mod timer;
mod transport;
pub mod variants;
pub(crate) mod view;
mod writer;

pub use self::handle::{Delivery, NoDelivery, forward_signals};
