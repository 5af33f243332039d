//! Receiving and shipping under load and faults.

pub(crate) mod pallet;
pub(crate) mod receiving;
