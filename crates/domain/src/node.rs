//! The installation and its mode, its cells, and traces through it.

pub mod cell;
pub mod mode;
pub mod trace;
