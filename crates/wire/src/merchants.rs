//! Access tokens on the wire, and changes in the audit trail.

pub mod audit;
pub mod shopper_export;
pub mod token;
