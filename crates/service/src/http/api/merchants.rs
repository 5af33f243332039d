//! Access tokens and credentials.

pub(in crate::http) mod credentials;
pub(in crate::http) mod tokens;
