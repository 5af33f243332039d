//! Simulations of the systems around the service, for development and tests.

pub mod carrier;
mod connection;
pub mod fault_proxy;
pub mod mailbox;
pub mod merchant;
pub mod patroni;
pub mod postgres;
pub mod raw_http2;
pub mod samples;
pub mod shop;
mod tls;
pub mod warehouse;
