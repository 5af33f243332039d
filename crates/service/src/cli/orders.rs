//! `backhaul orders`.

pub(super) mod commands;
mod faults;
mod import;
