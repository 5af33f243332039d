//! Exchanges: something else for what comes back.

pub mod order;
pub mod variant;
