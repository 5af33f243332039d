//! Flows on merchants, their access, and erasing shoppers' data.

pub mod configure_merchant;
pub mod erase_shopper;
pub mod issue_token;
