//! Flows on merchants, their access and portals, and erasing shoppers' data.

pub mod configure_mails;
pub mod configure_merchant;
pub mod configure_portal;
pub mod end_retention;
pub mod erase_shopper;
pub mod forget_audit;
pub mod issue_token;
