//! Returns, exchange options and the work list as they are shown.

pub mod exchanges;
pub(crate) mod portal;
pub(crate) mod returnable;
pub mod rmas;
pub mod work_items;
