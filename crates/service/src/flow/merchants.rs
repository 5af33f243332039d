//! Flows on merchants, their access, and erasing shoppers' data.

pub mod configure_merchant;
pub mod end_retention;
pub mod erase_shopper;
pub mod forget_audit;
pub mod issue_token;
