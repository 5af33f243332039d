//! The order message and history imports.

pub mod import;
pub mod order;
