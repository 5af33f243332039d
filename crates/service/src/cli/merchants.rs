//! `backhaul merchant`, `credential` and `shopper`.

pub(super) mod credential;
pub(super) mod merchant;
pub(super) mod shopper;
