//! The mail settings that cannot be used.

use crate::delivery::client::NoRoots;

/// An error in the URL of the mail server. Its text does not quote the URL, which may hold a password.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum WrongUrl {
    #[error("the URL must be smtp://user:password@host:port or smtps://user:password@host:port")]
    NotSmtp,
    #[error("the URL must end after the host and the port; only smtp:// may add `?tls=none`")]
    Unknown,
    /// A user without a password, or the other way round, or one that is not UTF-8.
    #[error("the URL must have both a user and a password, or neither; in them, write `@` as %40, `:` as %3A and `/` as %2F")]
    Login,
}

/// The mail settings that cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum NoMailer {
    #[error("mail.url: {0}")]
    Url(#[from] WrongUrl),
    #[error("mail.from is not an e-mail address; write it like notices@example.com")]
    From,
    #[error("outbound.extra_roots: {0}")]
    Roots(#[from] NoRoots),
}
