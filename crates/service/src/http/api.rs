//! What merchants' systems call.

pub(super) mod orders;
pub(super) mod tokens;
