//! Returns under faults: many returns go through their whole life cycle over HTTP while processes crash. In the end the answers
//! to clients, the calls to merchants' systems and the database are compared.
//!
//! - The life cycle of one return (`life.rs`), and the answers to its clients (`client.rs`).
//! - The calls received (`record.rs`), and the stored records (`stored.rs`).
//! - The checker (`history.rs`, `refunds.rs`, with its findings in `findings.rs`), the faults it must find (`faults.rs`), and
//!   its report (`report.rs`).
//! - The runs on a stage (`scene.rs`): kills at any moment (`chaos.rs`), faults of the network (`network.rs`), the loss of the
//!   primary (`failover.rs`), moves of cells and kills of their servers (`cells.rs`), and crashes at every commit (`crash.rs`), for
//!   which a gate (`gate.rs`) holds the returns back. A client that writes all the time (`pulse.rs`) measures gaps.
//! - Mails to shoppers while the service is killed and the mail server fails (`mails.rs`).
//! - The shoppers' portal under load, attack and kills (`portal.rs`).
//! - The cost of the flows, without faults (`flows.rs`).
//!
//! Besides, the stage of the portal's browser tests (`portal_stage.rs`).

pub(crate) mod carriers;
pub(crate) mod cells;
pub(crate) mod chaos;
mod client;
pub(crate) mod crash;
pub(crate) mod exchanges;
pub(crate) mod failover;
mod faults;
mod findings;
pub(crate) mod flows;
mod gate;
mod history;
mod life;
pub(crate) mod mails;
pub(crate) mod network;
pub(crate) mod portal;
pub(crate) mod portal_stage;
mod pulse;
mod record;
mod refunds;
mod report;
#[cfg(test)]
mod sample;
mod scene;
mod stored;
pub(crate) mod variants;

/// The number of merchants. All of them use the same identifiers.
const SHOPS: usize = 20;
/// Units of an order's only line.
const SOLD: i64 = 3;
/// The percentage of calls to merchants' systems that fail.
const REFUSED: u8 = 10;
