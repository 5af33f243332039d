//! Flows on the installation: limits and the clock.

pub mod advance_clock;
pub mod set_limit;
pub mod take_over_restored;
