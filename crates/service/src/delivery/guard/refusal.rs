//! The reasons a URL or an address is not called.

use super::place::Place;

/// Why something is not called, for people.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NotAllowed {
    /// It cannot be read.
    #[error("that is no URL that can be called")]
    NoUrl,
    /// It is not https.
    #[error("only https is called")]
    Scheme,
    /// It is on another port.
    #[error("only port 443 is called")]
    Port,
    /// It has a user or a password.
    #[error("a URL holds no user and no password; they are part of the authentication")]
    User,
    /// It has a fragment.
    #[error("a URL that is called has no fragment")]
    Fragment,
    /// It names no host.
    #[error("the host is neither a name nor an address")]
    Host,
    /// Its address is not public.
    #[error("the address is {0}, which is not called")]
    Address(Place),
    /// Its name leads to an address that is not public. Which one is not said: the names inside are nobody's business.
    #[error("the name leads to an address that is not called")]
    Name,
}
