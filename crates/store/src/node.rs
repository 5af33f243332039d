//! The installation, limits, and rates shared between nodes.

pub mod installation;
pub mod limits;
pub mod rates;
pub mod sessions;
