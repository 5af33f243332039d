//! What can be gathered.

use domain::id::MerchantId;

/// Work that can be done together with other work of its kind.
pub trait Work {
    /// What its caller is told once it is committed.
    type Done;

    /// The merchant, and what is locked of it: a batch has it once.
    fn key(&self) -> (MerchantId, &str);
}
