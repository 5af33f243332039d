//! Access of merchants and their systems.

pub mod access;
