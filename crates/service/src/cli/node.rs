//! `backhaul serve`, `migrate`, `cell`, `doctor` and other commands on the installation.

pub(super) mod cells;
pub(super) mod clock;
pub(super) mod config;
pub(super) mod deliverers;
pub(super) mod doctor;
pub(super) mod keys;
pub(super) mod limit;
pub(super) mod migrate;
pub(super) mod openapi;
pub(super) mod reference;
pub(super) mod restored;
pub(super) mod serve;
