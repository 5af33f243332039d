//! Moving a merchant from one cell to another: the fence around it, copying its rows, and how far a move is.
//!
//! See docs/adr/0070-moving-a-merchant.md.

mod audit_copy;
mod catalogue;
mod fence;
mod progress;
mod rows;

pub use self::audit_copy::{AuditDiffers, copy_audit};
pub use self::catalogue::{STAYING, Table, tables};
pub use self::fence::{Earlier, Forward, Watch, begin_away, close, find, let_in, open, rest, watch};
pub use self::progress::{
    Movable, Move, MoveState, abort, advance, begin, find_movable, find_move, forget, forget_merchant, hold, note_copied,
};
pub use self::rows::{CopyError, Since, copy_table, count, mark, remove_gone, replace_table};
