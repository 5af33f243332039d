//! Orders at the surface.

mod concurrency;
mod import_command;
mod imports;
mod intake;
mod message;
mod refunds;
mod snapshots;
