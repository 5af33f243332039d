//! Delivery: sends owed messages to merchants' systems, in order per subject and separately for each endpoint.
//!
//! The way of a message, part by part:
//!
//! 1. A flow commits, and a [`signal`] names the endpoints that have work. A message that is next in its lane is handed over with it; the
//!    queue of an endpoint with nothing else to do takes it, and step 3 is left out.
//! 2. The `engine`, a loop that a [`deliverer`] keeps running, takes the signal and wakes the endpoint's `queue`.
//! 3. A `reading` fetches the endpoint's due messages from the database, as many as the queue has free slots and its
//!    `rate_limiter` allows.
//! 4. An `attempt` is made for each of them. A transport from [`transports`] prepares the message: it opens the endpoint's
//!    [secrets](secrets::stored) and adds [authentication](secrets::authentication) and a [signature](secrets::signature).
//! 5. The [`client`] makes the call, behind the [`guard`], which decides what may be called at all. Mails go to the operator's
//!    [mail server](transports::mail) instead.
//! 6. A `writer` settles the outcome: the message is finished, retried later or given up. If its kind has a [`reaction`], both
//!    happen in one transaction ([`settling`]).
//!
//! Beside the loop, the engine
//!
//! - keeps the leases on the buckets of endpoints that this process delivers to (`lease`, `lease_keeper`),
//! - polls for work that no signal announced (`poller`) and listens for the signals of other processes (`listener`),
//! - creates and drops partitions and runs the [`timer`] (`maintenance`), and updates the metrics of the backlog (`gauges`),
//! - runs the jobs that retry failed messages (`retries`),
//! - remembers endpoints in trouble (`incidents`) and informs people about them (`notices`).
//!
//! [`mails`] writes the mails to shoppers from the facts that are stored of them.
//!
//! Outside the engine, [`variants`] queries merchants' systems while a shopper waits, and [`photos`] fetches the photos of goods, both
//! with the same client; [`endpoint_check`] tries whether an endpoint is fit for real messages; [`subscribers`] wakes the live readers of
//! the feed. [`handlers`] are the parts of flows that the engine runs. [`trace_exporter`] sends the spans of traces to the operator's
//! [`collector`].

pub mod client;
pub mod collector;
pub mod deliverer;
mod due_message;
pub mod endpoint_check;
mod engine;
pub mod guard;
mod handle;
pub mod handlers;
pub mod mails;
pub mod photos;
mod rate_limiter;
pub mod reaction;
pub mod secrets;
pub mod settling;
pub mod signal;
pub mod subscribers;
pub mod timer;
pub mod trace_exporter;
pub mod transports;
pub mod variants;

pub(crate) use self::due_message::Envelope;
pub(crate) use self::engine::LEASE_TERM;
pub use self::handle::{Delivery, NoDelivery, forward_signals};
pub(crate) use self::transports::dispatch::headers;
