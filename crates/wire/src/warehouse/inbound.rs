//! The ASNs that merchants announce to a warehouse: `/v1/inbound_asns`.
//!
//! [`read`] reads a message of several ASNs, [`read_one`] a single ASN; both check the shape, then the rules. [`InboundAsnOut`] is
//! the view of an ASN.

mod out;
mod rules;
mod shape;
mod word;

use std::sync::LazyLock;

pub use self::out::{AnnouncedAsn, AnnouncedAsns};
pub use self::out::{CartonOut, InboundAsnListed, InboundAsnOut, InboundAsns, InboundAsnsQuery, LineOut, PlaceOut, ReferenceOut};
pub use self::shape::{CartonIn, InboundAsnIn, InboundAsnsIn, LineIn, MOST_ASNS, MOST_CARTONS, MOST_LINES, PlaceIn, ReferenceIn};
pub use self::word::{ASIN, Announced, Asin};
use crate::explainer::Explainer;
use crate::fault::Path;
use crate::request::{self, Faults, Refusal};

/// Lists are explained element by element: see [`Explainer`].
fn carton_explainer() -> Explainer {
    Explainer::with_lists::<CartonIn<'_>>(&["InboundLine"], vec![("details", Explainer::of::<LineIn<'_>>())])
}

fn asn_explainer() -> Explainer {
    Explainer::with_lists::<InboundAsnIn<'_>>(&["InboundCarton"], vec![("cartons", carton_explainer())])
}

static ASN: LazyLock<Explainer> = LazyLock::new(asn_explainer);
static ASNS: LazyLock<Explainer> =
    LazyLock::new(|| Explainer::with_lists::<InboundAsnsIn<'_>>(&["InboundAsn"], vec![("inbound_asns", asn_explainer())]));

/// Reads a message of ASNs.
pub fn read(body: &[u8]) -> Result<InboundAsnsIn<'_>, Refusal> {
    let message: InboundAsnsIn<'_> = request::read(body, &ASNS)?;
    let faults = rules::of_message(&message);
    if faults.is_empty() { Ok(message) } else { Err(Refusal::Faulty(Faults { faults, identifiers: Vec::new() })) }
}

/// Reads the ASN `number`, sent on its own.
pub fn read_one<'a>(body: &'a [u8], number: &str) -> Result<InboundAsnIn<'a>, Refusal> {
    let asn: InboundAsnIn<'_> = request::read(body, &ASN)?;
    let mut faults = rules::of_asn(&asn, &Path::root());
    faults.extend(rules::of_name(&asn, number));
    if faults.is_empty() { Ok(asn) } else { Err(Refusal::Faulty(Faults { faults, identifiers: Vec::new() })) }
}

#[cfg(test)]
mod tests;
