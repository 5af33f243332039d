//! The delivery engine: what merchants' systems are owed is sent to them, in order per subject, endpoint by endpoint.
//!
//! The cast, in the order in which a message meets them:
//!
//! - [`signal`]: a flow tells, after its commit, that an endpoint is owed something.
//! - `lease` says which buckets of endpoints this process delivers for; `chores` keep it so, and `retries` carry out jobs.
//! - [`deliverer`] keeps an `engine` at work, the loop that decides; a `desk` is what it holds of one endpoint.
//! - `attempt` makes one attempt: a `peer` is how to reach the endpoint, for which [`secrets`](secrets::stored) opens what is kept sealed
//!   ([`seal`]); `transport` prepares and sends, for which [`authentication`](secrets::authentication) and [`signature`](secrets::signature) make the headers and [`client`]
//!   calls, behind the [`guard`].
//! - `lookout` tells the metrics of what waits.
//! - [`mail`](transports::mail) hands a mail to the operator's mail server instead, [`operator_hook`](transports::operator_hook) names the operator's webhook, and `carrier`
//!   buys labels: the ways of work of our own.
//! - [`variants`] are asked for while a shopper waits, by the same roads and without the engine.
//! - `writer` settles what came of it, together with the kind's [`reaction`], where it has one.

pub mod client;
pub mod deliverer;
mod due_message;
pub(crate) mod engine;
pub mod guard;
mod handle;
pub mod handlers;
mod rate_limiter;
pub mod reaction;
pub mod secrets;
pub mod settling;
pub mod signal;
pub mod subscribers;
pub mod timer;
pub mod transports;
pub mod variants;

pub use self::handle::{Delivery, NoDelivery, forward_signals};
