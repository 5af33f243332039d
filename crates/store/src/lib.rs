//! What is kept: every statement that Backhaul sends to PostgreSQL, one module per thing that is kept.
//!
//! A [`Store`] is a pool of connections; reads go through it. Writes take a [`Tx`], which carries the merchant whose
//! data it touches; only a flow opens one. What belongs to no merchant ([`rates`](node::rates), [`limits`](node::limits), [`leases`](messages::leases), [`installation`](node::installation))
//! is written without, and so is what the owner of a bucket settles ([`settlements`](messages::settlements)). Times and ids are parameters: no
//! statement reads a clock or makes an id, so that tests are deterministic and every statement runs on a Citus cluster as
//! well; leases alone go by the database's clock.

pub mod crash;
mod failed;
pub mod merchants;
pub mod messages;
pub mod node;
pub mod orders;
mod pool;
pub mod returns;
mod tx;
pub mod warehouse;

pub use self::failed::Failed;
pub use self::pool::{FEED_PLANS, PoolLimits, Store};
pub use self::tx::Tx;
