//! Returns, exchange options, withdrawals and the work list as they are shown.

pub mod exchanges;
pub(crate) mod portal;
pub mod return_days;
pub(crate) mod returnable;
pub mod rmas;
pub(crate) mod withdrawals;
pub mod work_items;
