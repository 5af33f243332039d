//! `backhaul orders`.

pub(super) mod commands;
mod import;
