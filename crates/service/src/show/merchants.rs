//! Things of several areas, found over all merchants.

pub(crate) mod search;
