//! The installation and its mode, and traces through it.

pub mod mode;
pub mod trace;
