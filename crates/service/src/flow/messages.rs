//! Flows on endpoints, retries, and the failure queue.

pub mod configure_endpoint;
pub mod retry_failures;
pub mod retry_message;
pub mod work_on_failure;
