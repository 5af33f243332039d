//! `backhaul brand`, `merchant`, `credential`, `portal` and `shopper`.

pub(super) mod brand;
pub(super) mod credential;
pub(super) mod merchant;
pub(super) mod portal;
pub(super) mod shopper;
