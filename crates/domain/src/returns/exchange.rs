//! Exchanges: a variant or a gift card instead of a refund.

pub mod answer;
pub mod order;
pub mod standing;
pub mod variant;
