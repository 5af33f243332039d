//! The service as its callers meet it: over real HTTP, on a real PostgreSQL, with a fixed clock and seeded ids.
#![expect(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::disallowed_methods,
    unreachable_pub,
    reason = "a test says what it expects, and speaks to the machine itself"
)]

mod world;

mod binary;
mod canary;
mod carriers;
mod carriers_canceled;
mod carriers_command;
mod carriers_failing;
mod carriers_webhooks;
mod clock;
mod concurrency;
mod deliverers;
mod deliveries;
mod dev;
mod documents;
mod drop_ship;
mod drop_ship_messages;
mod drop_ship_model;
mod drop_ship_races;
mod drop_ship_reports;
mod erasing;
mod event_stream;
mod events;
mod exchange_options;
mod exchange_options_bounded;
mod exchange_options_failing;
mod exchange_variants_endpoint;
mod exchanges;
mod exchanges_failing;
mod exchanges_messages;
mod exchanges_sample;
mod failures_command;
mod forgetting;
mod guarded;
mod import_command;
mod imports;
mod inbound_asns;
mod inbound_exceptions;
mod inbound_messages;
mod inbound_received;
mod inbound_returns;
mod inbound_together;
mod intake;
mod internal_work;
mod listener;
mod looking;
mod mails;
mod matrix;
mod messages;
mod midflight;
mod notices;
mod operating;
mod outbound_call;
mod outbound_messages;
mod outbound_model;
mod outbound_shipments;
mod outbound_split;
mod outbound_units;
mod places_command;
mod policy_command;
mod rates;
mod reactions;
mod readme;
mod receiving;
mod refunds;
mod reports;
mod retries;
mod returns;
mod returns_canceled;
mod returns_carriers;
mod returns_command;
mod returns_eligible;
mod returns_idempotent;
mod returns_listed;
mod returns_messages;
mod returns_model;
mod returns_races;
mod returns_received;
mod returns_refunds;
mod returns_refunds_named;
mod returns_started;
mod returns_time;
mod returns_together;
mod snapshots;
mod tokens;
mod warehouse;
mod watching;
mod webhooks;
