//! Messages to merchants at the surface.

mod deliverers;
mod deliveries;
mod event_stream;
mod events;
mod failures_command;
mod guarded;
mod internal_work;
mod looking;
mod mails;
mod midflight;
mod notices;
mod outbound_call;
mod reactions;
mod receiving;
mod reports;
mod retries;
mod webhooks;
