//! Tests of the simulated merchant over the network.
#![expect(clippy::expect_used, clippy::unwrap_used, unreachable_pub, reason = "a test says what it expects")]

mod answers;
mod caller;
mod records;
mod tokens;
