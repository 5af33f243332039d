//! The size of the measurements.

/// The merchants that the returns belong to.
pub(super) const SHOPS: usize = 16;
/// Units of a return.
pub(super) const UNITS: usize = 4;

/// What may be chosen.
pub(crate) struct Plan {
    /// Returns per round. Each is started, labelled, scanned, sent again and refunded.
    pub(crate) returns: usize,
    /// Seconds of the baseline per round.
    pub(crate) seconds: u64,
    pub(crate) rounds: usize,
    /// Concurrent callers, and clients of pgbench.
    pub(crate) callers: usize,
    /// Report the bars without failing on them: the run is short, or the build is not the one that is shipped.
    pub(crate) untimed: bool,
}
