//! Messages to merchants: delivery, retries, the feed, reports, and notices about failures.

mod console_endpoints;
mod console_failures;
mod console_messages;
mod console_pages;
mod console_replays;
mod deliverers;
mod deliveries;
mod event_stream;
pub mod events;
mod failures_command;
mod guarded;
mod internal_work;
mod looking;
mod mails;
mod midflight;
mod notices;
mod outbound_call;
mod outbox;
mod partitions;
mod reactions;
mod receiving;
mod reports;
mod retried_often;
mod retries;
mod stuck;
mod unsent;
mod webhooks;
