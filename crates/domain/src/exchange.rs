//! Exchanges: what a shopper can have instead of the money, and the order that it is had by.

pub mod order;
pub mod variant;
