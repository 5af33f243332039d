//! `backhaul warehouse`, `vendor` and `exceptions`.

pub(super) mod exceptions;
mod place;
pub(super) mod vendor;
pub(super) mod warehouses;
