//! Messages, endpoints and reports as they are shown.

pub(crate) mod deliveries;
pub mod delivery_days;
pub(crate) mod payload;
pub mod report;
