//! The browser from which somebody signs in.

use crate::platform::keys::bearer::Hash;

/// The browser from which somebody signs in.
#[derive(Clone, Debug)]
pub struct Visitor {
    pub address: String,
    /// The browser, in a few words.
    pub agent: String,
    /// The hash of the token with which it was known before.
    pub device: Option<Hash>,
}
