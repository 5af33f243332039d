//! What merchants announce to a warehouse: `/v1/inbound_asns`.
//!
//! [`read`] takes a message of several ASNs, [`read_one`] one that stands alone; both check the shape first, and once that is
//! right, the rules. [`InboundAsnOut`] is an ASN as it is shown.

mod out;
mod rules;
mod word;

use std::sync::LazyLock;

pub(crate) use self::out::usual_listed;
pub use self::out::{AnnouncedAsn, AnnouncedAsns};
pub use self::out::{
    CartonOut, InboundAsnListed, InboundAsnOut, InboundAsns, InboundAsnsQuery, LineOut, MOST_LISTED, PlaceOut, ReferenceOut,
};
pub use self::word::{ASIN, Announced, Asin};
use crate::asn::{AsnNumber, ConditionWord, ReferenceWord};
use crate::fault::Path;
use crate::order::{Faults, Refusal};
use crate::schema::{self, Explainer};
use crate::shape::{Identifier, List, Shape as _, Timestamp, object};

/// How many ASNs one message may carry.
pub const MOST_ASNS: usize = 100;
/// How many cartons an ASN may have, and how many lines a carton.
pub const MOST_CARTONS: usize = 1_000;
/// How many lines an ASN may have in all its cartons.
pub const MOST_LINES: usize = 10_000;
const _: () = assert!(MOST_CARTONS < crate::json::MOST_KEPT && MOST_ASNS < crate::json::MOST_KEPT);

object! {
    /// ASNs that are announced together: all of them are taken, or none.
    pub struct InboundAsnsIn<'a> as "AnnounceInboundAsns" at 1 {
        /// 1 to 100 ASNs.
        inbound_asns: List<InboundAsnIn<'a>, 1, MOST_ASNS>,
    }
}

object! {
    /// Goods on their way to a warehouse; 10,000 lines at most.
    pub struct InboundAsnIn<'a> as "InboundAsn" at 3 {
        /// The merchant's number of the ASN, unique and never used again.
        asn_number: AsnNumber<'a>,
        /// Order number, RA number or other reference of the shipment; groups ASNs.
        shipment_identifier: Identifier<'a>,
        /// Program that the goods are received into.
        program_identifier: Option<Identifier<'a>>,
        /// Channel that the goods are for.
        channel: Option<Identifier<'a>>,
        /// Where the goods come from.
        from: PlaceIn<'a>,
        /// Where they go.
        to: PlaceIn<'a>,
        /// Tracking or PRO number.
        tracking_number: Option<Identifier<'a>>,
        /// Who carries them.
        carrier: Option<Identifier<'a>>,
        /// When they were or will be shipped.
        ship_date: Option<Timestamp>,
        /// 1 to 1,000 boxes or pallets.
        cartons: List<CartonIn<'a>, 1, MOST_CARTONS>,
    }
}

object! {
    /// A place that goods leave or go to.
    pub struct PlaceIn<'a> as "InboundPlace" at 4 {
        /// What the merchant calls it.
        identifier: Identifier<'a>,
        /// What it is, such as `warehouse` or `store`.
        kind as "type": Identifier<'a>,
    }
}

object! {
    /// A box or pallet.
    pub struct CartonIn<'a> as "InboundCarton" at 5 {
        /// What can be scanned on it.
        identifier: Option<Identifier<'a>>,
        /// What its units belong to.
        reference: Option<ReferenceIn<'a>>,
        /// 1 to 1,000 lines.
        details: List<LineIn<'a>, 1, MOST_CARTONS>,
    }
}

object! {
    /// What the units of a carton belong to.
    pub struct ReferenceIn<'a> as "InboundReference" at 6 {
        /// What it is; with `RMA`, `identifier` is that of the return.
        kind as "type": ReferenceWord,
        /// Its identifier.
        identifier: Identifier<'a>,
        /// Another one.
        alternate_identifier: Option<Identifier<'a>>,
    }
}

object! {
    /// A line: one particular unit, or a number of units of a SKU.
    pub struct LineIn<'a> as "InboundLine" at 7 {
        /// Unique within the ASN.
        line_identifier: Identifier<'a>,
        /// The line in the reference; of a return, the line of its order.
        reference_line_identifier: Option<Identifier<'a>>,
        /// The unit's license plate, when the line is one particular unit.
        unit_identifier: Option<Identifier<'a>>,
        /// The merchant's own identifier of the unit.
        client_unit_identifier: Option<Identifier<'a>>,
        /// SKU; required unless the unit is named.
        sku: Option<Identifier<'a>>,
        /// UPC.
        upc: Option<Identifier<'a>>,
        /// How many units; one when nothing is said, and always one for a unit that is named.
        quantity: Option<Announced>,
        /// Program, when it is another than the ASN's.
        program_identifier: Option<Identifier<'a>>,
        /// Serial number.
        serial_number: Option<Identifier<'a>>,
        /// Vendor or supplier.
        vendor_identifier: Option<Identifier<'a>>,
        /// What it is like.
        condition: Option<ConditionWord>,
        /// Flags that the warehouse knows.
        eligibility_flags: Option<List<Identifier<'a>, 0, 100>>,
        /// Who owns the goods.
        merchant: Option<Identifier<'a>>,
        /// A brand of the merchant.
        concept: Option<Identifier<'a>>,
        /// Product identifier: ten letters and digits.
        asin: Option<Asin<'a>>,
        /// Why it comes back.
        return_reason: Option<Identifier<'a>>,
    }
}

/// The lists are explained element by element: see [`Explainer`].
fn carton_explainer() -> Explainer {
    let line = Explainer::new(&LineIn::reference(), &[], []);
    Explainer::new(&CartonIn::reference(), &["InboundLine"], [("details", line)])
}

fn asn_explainer() -> Explainer {
    Explainer::new(&InboundAsnIn::reference(), &["InboundCarton"], [("cartons", carton_explainer())])
}

static ASN: LazyLock<Explainer> = LazyLock::new(asn_explainer);
static ASNS: LazyLock<Explainer> =
    LazyLock::new(|| Explainer::new(&InboundAsnsIn::reference(), &["InboundAsn"], [("inbound_asns", asn_explainer())]));

/// Reads ASNs that are announced.
pub fn read(body: &[u8]) -> Result<InboundAsnsIn<'_>, Refusal> {
    let message: InboundAsnsIn<'_> = schema::read(body, &ASNS)?;
    let faults = rules::of_message(&message);
    if faults.is_empty() { Ok(message) } else { Err(Refusal::Faulty(Faults { faults, identifiers: Vec::new() })) }
}

/// Reads the ASN `number`, which stands alone.
pub fn read_one<'a>(body: &'a [u8], number: &str) -> Result<InboundAsnIn<'a>, Refusal> {
    let asn: InboundAsnIn<'_> = schema::read(body, &ASN)?;
    let mut faults = rules::of_asn(&asn, &Path::root());
    faults.extend(rules::of_name(&asn, number));
    if faults.is_empty() { Ok(asn) } else { Err(Refusal::Faulty(Faults { faults, identifiers: Vec::new() })) }
}

#[cfg(test)]
mod tests;
