//! `backhaul messages`, `endpoint`, `failures`, `listen` and `report`.

pub(super) mod commands;
pub(super) mod endpoint;
pub(super) mod failures;
pub(super) mod listen;
pub(super) mod report;
