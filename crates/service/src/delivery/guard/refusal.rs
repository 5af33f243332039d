//! The reasons the guard refuses a URL or an address.

use super::place::Place;

/// The reasons a URL or an address may not be called, for people.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NotAllowed {
    #[error("the URL is not valid")]
    NoUrl,
    #[error("the URL must start with https://; plain http is called only at places that the setting outbound.allowed names")]
    Scheme,
    #[error("the URL must use port 443; other ports are called only at places that the setting outbound.allowed names")]
    Port,
    #[error("the URL must not contain a user or a password; configure them as authentication instead")]
    User,
    #[error("the URL must not have a fragment (#)")]
    Fragment,
    #[error("the host in the URL is neither a valid name nor an IP address")]
    Host,
    #[error("the address is {0}, which may not be called")]
    Address(Place),
    /// The text does not say which address, so that nobody can explore internal names.
    #[error("the host name resolves to an address that may not be called")]
    Name,
}
