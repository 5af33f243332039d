//! What cannot be done to a drop-ship order, and why.

use super::word::Status;

/// Why a step of a drop-ship order was refused; nothing of it was done.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Refused {
    /// Nothing happens to it any more.
    #[error("the order is {0} already")]
    Over(Status),
    /// It cannot be called off as a whole.
    #[error("units of the order were shipped; only items can be cancelled")]
    Shipped,
    /// It cannot be refused any more.
    #[error("units of the order were cancelled; it can be cancelled, and not rejected")]
    Begun,
    /// Nothing was asked for.
    #[error("no units are named")]
    Nothing,
    /// More units than are open.
    #[error("there are not as many open units")]
    TooMany(Vec<TooMany>),
}

/// An entry of what was asked for that wants more units than are open.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TooMany {
    /// The entry's position.
    pub at: usize,
    /// How many units the entries before it leave open.
    pub open: u32,
}
