//! Tests of the simulated carrier over the network.
#![expect(clippy::expect_used, clippy::unwrap_used, clippy::indexing_slicing, unreachable_pub, reason = "a test says what it expects")]

mod caller;
mod faults;
mod labels;
mod magic;
mod qr_codes;
mod shipments;
mod webhooks;
