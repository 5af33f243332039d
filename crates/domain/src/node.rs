//! The installation and its mode.

pub mod mode;
