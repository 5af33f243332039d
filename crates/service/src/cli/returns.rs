//! `backhaul returns`, `policy` and `carrier`.

pub(super) mod carrier;
pub(super) mod commands;
pub(super) mod policy;
