//! The outbox, endpoints, deliveries and their settling, the feed, the failure queue, reports, and notices.

pub mod attempts;
pub mod backlog;
mod buckets;
pub mod deliveries;
pub mod endpoints;
pub mod failures;
pub mod feed;
pub mod health;
mod holds;
mod internal_endpoints;
pub mod leases;
pub mod log;
pub mod mails;
pub mod message_pages;
pub mod notices;
pub mod outbox;
pub mod partitions;
pub mod reports;
pub mod retries;
pub mod retry_jobs;
mod settlement;
pub mod settlements;
pub mod unsent;
