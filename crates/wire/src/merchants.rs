//! Access tokens on the wire.

pub mod token;
