//! Returns: their states, units and money, exchanges, and carriers.

pub mod carrier;
pub mod exchange;
pub mod rma;
