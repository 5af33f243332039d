//! `backhaul returns`, `policy`, `carrier`, `mails` and `withdrawals`.

pub(super) mod carrier;
pub(super) mod commands;
pub(super) mod mails;
pub(super) mod policy;
pub(super) mod withdrawals;
