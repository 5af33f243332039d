//! The size of a round that does not depend on the plan.

/// The merchants that the returns belong to.
pub(super) const SHOPS: usize = 16;
/// Units of a return.
pub(super) const UNITS: usize = 4;
