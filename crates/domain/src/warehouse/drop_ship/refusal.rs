//! Refused changes of drop-ship orders.

use super::word::Status;

/// The reasons a change of a drop-ship order is refused. Nothing is changed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Refused {
    /// The order is final.
    #[error("the order is already {0}")]
    Over(Status),
    #[error("units of the order were already shipped; cancel the remaining items instead")]
    Shipped,
    /// Some units were cancelled, so the order can no longer be rejected.
    #[error("units of the order were already cancelled; cancel the order instead of rejecting it")]
    Begun,
    #[error("the request names no units")]
    Nothing,
    #[error("the request exceeds the open units")]
    TooMany(Vec<TooMany>),
}

/// An entry of a request that asks for more units than are open.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TooMany {
    /// Position of the entry.
    pub at: usize,
    /// Units that the entries before it leave open.
    pub open: u32,
}
