//! The error of adding units.

use domain::warehouse::shipment::State;
use store::Failed;
use wire::fault::Fault;

/// The most lines or cartons named in a conflict.
pub(super) const MOST_NAMED: usize = 10;

/// The reasons units cannot be added. Then none is.
#[derive(Debug, thiserror::Error)]
pub enum AddUnitsError {
    #[error("the merchant has no such shipment")]
    NoSuchShipment,
    /// Also when the shipment is cancelled.
    #[error("the units of the shipment can no longer change")]
    Fixed(State),
    #[error("some lines already exist with different content")]
    OtherLines(Vec<String>),
    #[error("some cartons already exist with a different reference")]
    OtherCartons(Vec<String>),
    #[error("the units cannot be added as requested")]
    Faulty(Vec<Fault>),
    #[error(transparent)]
    Failed(#[from] Failed),
}
