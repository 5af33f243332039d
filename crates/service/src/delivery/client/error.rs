//! The settings with which no client can be created.

use crate::delivery::guard::NoGuard;

/// An error in the file with the operator's certificate authorities.
#[derive(Debug, thiserror::Error)]
pub enum NoRoots {
    #[error("{0} cannot be read: {1}")]
    Unreadable(String, std::io::Error),
    #[error("{0} does not consist of PEM certificates that can be used as roots")]
    NotPem(String),
}

/// The settings with which no client can be created.
#[derive(Debug, thiserror::Error)]
pub enum NoClient {
    #[error("outbound.allowed: {0}")]
    Guard(#[from] NoGuard),
    #[error("outbound.extra_roots: {0}")]
    Roots(#[from] NoRoots),
    #[error("TLS cannot be set up: {0}")]
    Tls(#[from] rustls::Error),
    #[error("outbound.name_servers: the resolver cannot be set up: {0}")]
    Resolver(String),
}
