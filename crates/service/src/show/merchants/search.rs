//! Anything by its identifier, and a shopper's orders and returns by the e-mail address, over all merchants: for the console and the
//! command line.
//!
//! An e-mail address is looked up by its fingerprint and is in no result.

use store::Failed;
use store::merchants::search::{self, Hit, MOST};
use uuid::Uuid;

use crate::node::{Node, each_cell};
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
    let of_cell = async |store| {
        Ok(vec![
            (Kind::Returns, search::returns(store, &identifier(word)).await?),
            (Kind::Orders, search::orders(store, word).await?),
            (Kind::Asns, search::asns(store, word).await?),
            (Kind::Units, search::units(store, word).await?),
        ])
    };
    Ok(together(each_cell::each(node, of_cell).await?))
}

/// The returns and orders of the shopper with these fingerprints, at most 20 of each.
pub(crate) async fn by_email(node: &Node, fingerprints: &[Vec<u8>]) -> Result<Found, Failed> {
    let of_cell = async |store| {
        Ok(vec![
            (Kind::Returns, search::returns_of(store, fingerprints).await?),
            (Kind::Orders, search::orders_of(store, fingerprints).await?),
        ])
    };
    Ok(together(each_cell::each(node, of_cell).await?))
}

/// The merchant of a message, by its handle.
pub(crate) async fn merchant_of_message(node: &Node, message: Uuid) -> Result<Option<String>, Failed> {
    let found = each_cell::each(node, |store| search::merchant_of_message(store, message)).await?;
    Ok(found.into_iter().flatten().next())
}

/// Puts the findings of all cells together, by kind: those of one cell follow those of another.
fn together(of_cells: Vec<Found>) -> Found {
    let mut of_cells = of_cells.into_iter();
    let mut all = of_cells.next().unwrap_or_default();
    for found in of_cells {
        for ((_, hits), (_, more)) in all.iter_mut().zip(found) {
            // While a merchant moves, it is in two cells.
            let known =
                |hit: &Hit| hits.iter().any(|one| (&one.handle, &one.identifier, &one.other) == (&hit.handle, &hit.identifier, &hit.other));
            let more: Vec<Hit> = more.into_iter().filter(|hit| !known(hit)).collect();
            hits.extend(more);
            hits.truncate(usize::try_from(MOST).unwrap_or(usize::MAX));
        }
    }
    all.retain(|(_, hits)| !hits.is_empty());
    all
}
