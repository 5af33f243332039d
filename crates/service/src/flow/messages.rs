//! Flows on endpoints, replays, retries, the failure queue, and unsent messages.

pub mod check_endpoints;
pub mod configure_endpoint;
pub mod count_days;
pub mod count_dropped;
pub mod discard_failures;
pub mod forget_outdated;
pub mod number_messages;
pub mod replay_messages;
pub mod retry_failures;
pub mod retry_message;
pub mod test_endpoint;
pub mod work_on_failure;
pub mod work_on_failures;
