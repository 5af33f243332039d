//! The delivery engine: what merchants' systems are owed is sent to them, in order per subject, endpoint by endpoint.
//!
//! The cast, in the order in which a message meets them:
//!
//! - [`signal`]: a flow tells, after its commit, that an endpoint is owed something.
//! - `lease` says which buckets of endpoints this process delivers for; `chores` keep it so, and `retries` carry out jobs.
//! - [`engine`] is the loop that decides; a `desk` is what it holds of one endpoint.
//! - `attempt` makes one attempt: [`secrets`] opens what the endpoint keeps sealed ([`seal`]), [`authentication`] and
//!   [`signature`] make the headers, [`client`] calls, behind the [`guard`].
//! - `lookout` tells the metrics of what waits.
//! - [`mail`] hands a mail to the operator's mail server instead.
//! - `writer` settles what came of it, together with the kind's [`reaction`], where it has one.

mod attempt;
pub mod authentication;
mod chores;
pub mod client;
mod desk;
pub mod engine;
pub mod guard;
pub(crate) mod lease;
mod lookout;
pub mod mail;
pub mod reaction;
mod retries;
pub mod seal;
pub mod secrets;
pub mod signal;
pub mod signature;
pub(crate) mod view;
mod writer;
