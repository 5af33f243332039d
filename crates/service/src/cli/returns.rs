//! `backhaul returns`, `policy`, `carrier` and `mails`.

pub(super) mod carrier;
pub(super) mod commands;
pub(super) mod mails;
pub(super) mod policy;
