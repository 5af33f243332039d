//! Merchants: the access of their systems, and their brand.

pub mod access;
pub mod brand;
