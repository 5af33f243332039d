//! Messages owed to merchants: their kinds, order, retries and the notices about endpoints.

pub mod delivery;
pub mod endpoint_check;
pub mod feed;
pub mod message;
pub mod notice;
pub mod promptness;
