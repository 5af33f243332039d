//! The order message and history imports.

pub mod import;
pub mod listed;
pub mod order;
