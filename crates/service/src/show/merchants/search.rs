//! Anything by its identifier, and a shopper's orders and returns by the e-mail address, over all merchants: for the console and the
//! command line.
//!
//! An e-mail address is looked up by its fingerprint and is in no result.

use store::Failed;
use store::merchants::search::{self, Hit};

use crate::node::Node;
use crate::show::returns::rmas::identifier;

/// The longest identifier, in bytes.
const LONGEST: usize = 200;

/// The kinds of what is found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// By their identifier or a tracking number.
    Returns,
    Orders,
    Asns,
    /// Units that a warehouse received.
    Units,
}

/// What was found, by kind. Kinds of which nothing was found are left out.
pub(crate) type Found = Vec<(Kind, Vec<Hit>)>;

/// False for a text that is no identifier.
pub(crate) fn is_identifier(word: &str) -> bool {
    !word.is_empty() && word.len() <= LONGEST && !word.contains(['@', '\0'])
}

/// Everything with the identifier `word`, for which [`is_identifier`] holds.
pub(crate) async fn by_identifier(node: &Node, word: &str) -> Result<Found, Failed> {
    let store = node.cell();
    let found = vec![
        (Kind::Returns, search::returns(store, &identifier(word)).await?),
        (Kind::Orders, search::orders(store, word).await?),
        (Kind::Asns, search::asns(store, word).await?),
        (Kind::Units, search::units(store, word).await?),
    ];
    Ok(found.into_iter().filter(|(_, hits)| !hits.is_empty()).collect())
}

/// The returns and orders of the shopper with these fingerprints, at most 20 of each.
pub(crate) async fn by_email(node: &Node, fingerprints: &[Vec<u8>]) -> Result<Found, Failed> {
    let store = node.cell();
    let found = vec![
        (Kind::Returns, search::returns_of(store, fingerprints).await?),
        (Kind::Orders, search::orders_of(store, fingerprints).await?),
    ];
    Ok(found.into_iter().filter(|(_, hits)| !hits.is_empty()).collect())
}
