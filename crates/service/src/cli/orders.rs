//! `backhaul orders`.

pub(super) mod commands;
mod faults;
pub(super) mod find;
mod import;
mod show;
