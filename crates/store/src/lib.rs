//! The database: every statement that Backhaul sends to PostgreSQL, one module per kind of row.
//!
//! - Reads go through a [`Store`], which holds the connection pools.
//! - Writes take a [`Tx`], which carries the merchant whose data it touches. People, what they ask each other for, limits and a sandbox's clock are written in a
//!   [`HomeTx`]. Other data that belongs to no merchant is written without one ([`rates`](node::rates), [`leases`](messages::leases), the epoch of an
//!   [`installation`](node::installation)), and so are the [`settlements`](messages::settlements) of a bucket's owner.
//! - Times and ids are parameters. No statement reads a clock or creates an id, so tests are deterministic and every statement
//!   also runs on a Citus cluster. The exception are leases, which go by the database's clock.

mod connection;
pub mod crash;
mod failed;
mod home_tx;
pub mod merchants;
pub mod messages;
pub mod node;
pub mod orders;
mod placement;
mod pool;
pub mod returns;
mod server;
mod session;
mod shared_tx;
mod turns;
mod tx;
pub mod warehouse;

pub use self::connection::{MARGIN, confined};
pub use self::failed::Failed;
pub use self::home_tx::HomeTx;
pub use self::pool::{PoolLimits, PoolSizes, Store};
pub use self::server::{Protection, Target};
pub use self::session::FEED_PLANS;
pub use self::shared_tx::SharedTx;
pub use self::tx::Tx;
