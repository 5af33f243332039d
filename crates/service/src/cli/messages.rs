//! `backhaul messages`, `endpoint`, `failures`, `listen`, `report` and `trigger`.

pub(super) mod commands;
pub(super) mod endpoint;
pub(super) mod failures;
pub(super) mod listen;
pub(super) mod report;
#[cfg(feature = "simulators")]
pub(super) mod trigger;
