//! What is kept: every statement that Backhaul sends to PostgreSQL, one module per thing that is kept.
//!
//! A [`Store`] is a pool of connections; reads go through it. Writes take a [`Tx`], which carries the merchant whose
//! data it touches; only a flow opens one. What belongs to no merchant ([`rates`], [`limits`], [`leases`], [`installation`])
//! is written without, and so is what the owner of a bucket settles ([`settlements`]). Times and ids are parameters: no
//! statement reads a clock or makes an id, so that tests are deterministic and every statement runs on a Citus cluster as
//! well; leases alone go by the database's clock.

pub mod attempts;
pub mod audit;
pub mod backlog;
mod buckets;
pub mod carrier_accounts;
pub mod carrier_events;
pub mod carrier_webhooks;
pub mod crash;
pub mod credentials;
pub mod deliveries;
pub mod drop_ship_cancellations;
pub mod drop_ship_orders;
pub mod drop_shipments;
pub mod endpoints;
pub mod erasures;
pub mod exchange_orders;
mod failed;
pub mod failures;
pub mod feed;
pub mod health;
pub mod idempotency;
pub mod imports;
pub mod inbound_asn_pages;
pub mod inbound_asns;
pub mod installation;
mod internal_endpoints;
pub mod labels;
pub mod leases;
pub mod limits;
pub mod merchants;
pub mod message_pages;
pub mod messages;
pub mod notices;
pub mod orders;
pub mod outbox;
pub mod parcels;
pub mod partitions;
pub mod places;
mod pool;
pub mod rates;
pub mod receipts;
pub mod receiving_exceptions;
pub mod refunds;
pub mod refusals;
pub mod reports;
pub mod retries;
pub mod retry_jobs;
pub mod return_policies;
pub mod rma_pages;
pub mod rmas;
pub mod settlements;
pub mod shipment_units;
pub mod shipments;
pub mod tokens;
mod tx;
pub mod unit_claims;

pub use self::failed::Failed;
pub use self::pool::{FEED_PLANS, PoolLimits, Store};
pub use self::tx::Tx;
