//! Returns under faults: many live their whole lives over HTTP while processes are cut off, and what clients were answered,
//! what the merchants' systems received and what the database holds is compared in the end.
//!
//! - A life (`life.rs`): what happens to one return, in order, repeated until it is answered; and what its clients were
//!   answered (`client.rs`).
//! - The record of what arrived (`record.rs`), and of what is stored (`stored.rs`).
//! - The checker of the three records (`history.rs`, `refunds.rs`), the faults that it must find (`faults.rs`), and what it says (`report.rs`).
//! - The runs on a stage (`scene.rs`): kills at any moment (`chaos.rs`), and at every commit (`crash.rs`), before which a gate
//!   (`gate.rs`) gathers the lives.

pub(crate) mod chaos;
mod client;
pub(crate) mod crash;
mod faults;
mod gate;
mod history;
mod life;
mod record;
mod refunds;
mod report;
#[cfg(test)]
mod sample;
mod scene;
mod stored;

/// How many merchants the returns are spread over. All of them use the same identifiers.
const SHOPS: usize = 20;
/// Units of an order's only line.
const SOLD: i64 = 3;
/// Of 100 calls, so many fail.
const REFUSED: u8 = 10;
