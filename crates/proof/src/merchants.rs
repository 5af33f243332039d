//! Merchants that move from one cell to another.

pub(crate) mod moving;
