//! `backhaul audit`, `brand`, `merchant`, `credential`, `operator`, `portal` and `shopper`.

pub(super) mod audit;
pub(super) mod brand;
pub(super) mod credential;
pub(super) mod merchant;
pub(super) mod moving;
pub(super) mod operator;
pub(super) mod portal;
pub(super) mod request;
pub(super) mod shopper;
