//! Flows on the installation: limits, the clock and the keys.

pub mod advance_clock;
pub mod renew_sealed;
pub mod rotate_keys;
pub mod set_limit;
pub mod take_over_restored;
