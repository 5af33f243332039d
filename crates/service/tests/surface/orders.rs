//! Orders: messages, snapshots and refunds, and the import of a merchant's history.

mod concurrency;
mod console_intake;
mod console_orders;
mod content;
mod forgetting;
mod import_command;
mod imports;
mod imports_shared;
mod intake;
mod listed;
mod message;
mod refunds;
mod shares;
mod show_command;
mod snapshots;
