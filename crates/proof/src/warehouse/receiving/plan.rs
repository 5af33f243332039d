//! The size of a `chaos-receiving` run.

/// The size of a run.
pub(crate) struct Plan {
    /// The lines of the ASN, one unit each.
    pub(crate) lines: usize,
    /// The number of scanners working at once.
    pub(crate) scanners: usize,
    pub(crate) kills: usize,
}
