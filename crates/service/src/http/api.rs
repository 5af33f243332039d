//! What merchants' systems call.

pub(super) mod imports;
pub(super) mod orders;
pub(super) mod tokens;
