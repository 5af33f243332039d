//! `backhaul warehouse` and `vendor`.

mod place;
pub(super) mod vendor;
pub(super) mod warehouses;
