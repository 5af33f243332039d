//! Access tokens.

pub(in crate::http) mod tokens;
