//! The installation: its schema is upgraded while it is used.

pub(crate) mod migrate;
