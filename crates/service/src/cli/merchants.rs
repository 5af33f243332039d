//! `backhaul merchant`, `credential`, `portal` and `shopper`.

pub(super) mod credential;
pub(super) mod merchant;
pub(super) mod portal;
pub(super) mod shopper;
