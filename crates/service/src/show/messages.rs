//! Messages, endpoints and reports as they are shown.

pub(crate) mod deliveries;
pub mod report;
