//! The service as its callers see it: over real HTTP, on a real PostgreSQL, with a fixed clock and seeded ids.
#![expect(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::disallowed_methods,
    unreachable_pub,
    reason = "a test may panic, and uses the system directly"
)]

mod world;

mod binary;
mod canary;
mod demo;
mod dev;
mod docs;
mod documents;
mod matrix;
mod merchants;
mod messages;
mod node;
mod openapi;
mod orders;
mod paging;
mod readme;
mod returns;
mod samples;
mod warehouse;
