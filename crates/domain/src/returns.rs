//! Returns: their states, units and money, exchanges, carriers, and the operator's work list.

pub mod carrier;
pub mod exchange;
pub mod rma;
pub mod work;
