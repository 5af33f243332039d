//! Order messages and history imports.

pub(in crate::http) mod imports;
pub(in crate::http) mod intake;
pub(in crate::http) mod list;
