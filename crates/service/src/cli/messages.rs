//! `backhaul messages`, `endpoint`, `failures` and `report`.

pub(super) mod commands;
pub(super) mod endpoint;
pub(super) mod failures;
pub(super) mod report;
