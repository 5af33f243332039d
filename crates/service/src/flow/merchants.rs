//! Flows on merchants, their access, portals and brands, and erasing shoppers' data.

pub mod add_merchant;
pub mod bind_certificate;
pub mod client;
pub mod configure_brand;
pub mod configure_mails;
pub mod configure_merchant;
pub mod configure_portal;
pub mod delete_merchant;
pub mod end_retention;
pub mod erase_shopper;
pub mod export_shopper;
pub mod forget_audit;
pub mod issue_token;
pub mod move_merchant;
pub mod note_first_orders;
pub mod operators;
pub mod rotate_credential;
pub mod send_sample_mail;
pub mod verify_audit;
