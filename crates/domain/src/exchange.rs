//! Exchanges: something else for what comes back.

pub mod answer;
pub mod order;
pub mod variant;
