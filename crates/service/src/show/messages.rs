//! Messages, endpoints and reports as they are shown.

pub(crate) mod across;
pub(crate) mod deliveries;
pub mod delivery_days;
pub(crate) mod endpoints;
pub(crate) mod payload;
pub(crate) mod queue;
pub mod report;
pub(crate) mod retry_job;
