//! The outside world in a box: what a developer's machine and the tests need around the service.

pub mod carrier;
mod connection;
pub mod mailbox;
pub mod merchant;
pub mod postgres;
pub mod shop;
mod tls;
pub mod warehouse;
