//! Things of several areas, found over all merchants.

pub(crate) mod audit_entries;
pub(crate) mod handles;
pub(crate) mod named_requests;
pub(crate) mod search;
