//! An order as its shopper sees it in the portal.
//!
//! - `order` is the order with the draft of a return: what can come back, what is chosen, and what it comes to.
//! - `stock` asks the merchant what an item could be exchanged for.
//! - `returns` are the order's returns, each with its time line.

mod order;
mod returns;
mod stock;

pub(crate) use self::order::{PortalOrder, load};
pub(crate) use self::returns::{Entry, PortalReturn, Progress, find_return, list_returns};
pub(crate) use self::stock::Stock;
