//! Returns, exchange options, withdrawals and the work list as they are shown.

pub mod exchanges;
pub(crate) mod portal;
pub(crate) mod returnable;
pub mod rmas;
pub(crate) mod withdrawals;
pub mod work_items;
