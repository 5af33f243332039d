//! Flows on endpoints, retries, the failure queue, and unsent messages.

pub mod configure_endpoint;
pub mod count_dropped;
pub mod forget_outdated;
pub mod retry_failures;
pub mod retry_message;
pub mod work_on_failure;
