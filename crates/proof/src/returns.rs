//! Returns under faults: many live their whole lives over HTTP while processes are cut off, and what clients were answered,
//! what the merchants' systems received and what the database holds is compared in the end.
//!
//! - A life (`life.rs`): what happens to one return, in order, repeated until it is answered.
//! - The record of what arrived (`record.rs`), and of what is stored (`stored.rs`).
//! - The checker of the three records (`history.rs`), and the faults that it must find (`faults.rs`).
//! - The runs: kills (`chaos.rs`).

pub(crate) mod chaos;
mod faults;
mod history;
mod life;
mod record;
#[cfg(test)]
mod sample;
mod stored;

/// How many merchants the returns are spread over. All of them use the same identifiers.
const SHOPS: usize = 20;
/// Units of an order's only line.
const SOLD: i64 = 3;
/// Of 100 calls, so many fail.
const REFUSED: u8 = 10;
