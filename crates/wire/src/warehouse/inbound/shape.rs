//! The fields of inbound ASNs.

use super::word::{Announced, Asin};
use crate::shape::{Identifier, List, Timestamp, object};
use crate::warehouse::asn::{AsnNumber, ConditionWord, ReferenceWord};

/// The most ASNs in one message.
pub const MOST_ASNS: usize = 100;
/// The most cartons in an ASN, and the most lines in a carton.
pub const MOST_CARTONS: usize = 1_000;
/// The most lines in an ASN, over all its cartons.
pub const MOST_LINES: usize = 10_000;
const _: () = assert!(MOST_CARTONS < crate::json::MOST_KEPT && MOST_ASNS < crate::json::MOST_KEPT);

object! {
    /// 1 to 100 ASNs announced together; either all of them are accepted or none.
    pub struct InboundAsnsIn<'a> as "AnnounceInboundAsns" at 1 {
        /// 1 to 100 ASNs.
        inbound_asns: List<InboundAsnIn<'a>, 1, MOST_ASNS>,
    }
}

object! {
    /// Goods on their way to a warehouse; 10,000 lines at most.
    pub struct InboundAsnIn<'a> as "InboundAsn" at 3 {
        /// The merchant's ASN number; unique and never reused.
        asn_number: AsnNumber<'a>,
        /// Order number, RA number or other reference of the shipment; groups ASNs.
        shipment_identifier: Identifier<'a>,
        /// Program the goods are received into.
        program_identifier: Option<Identifier<'a>>,
        /// Channel the goods are for.
        channel: Option<Identifier<'a>>,
        /// Sending location.
        from: PlaceIn<'a>,
        /// Receiving location.
        to: PlaceIn<'a>,
        /// Tracking or PRO number.
        tracking_number: Option<Identifier<'a>>,
        /// Carrier.
        carrier: Option<Identifier<'a>>,
        /// Actual or planned ship time.
        ship_date: Option<Timestamp>,
        /// 1 to 1,000 boxes or pallets.
        cartons: List<CartonIn<'a>, 1, MOST_CARTONS>,
    }
}

object! {
    /// A sending or receiving location.
    pub struct PlaceIn<'a> as "InboundPlace" at 4 {
        /// The merchant's identifier of the place.
        identifier: Identifier<'a>,
        /// Type of location, such as `warehouse` or `store`.
        kind as "type": Identifier<'a>,
    }
}

object! {
    /// A box or pallet.
    pub struct CartonIn<'a> as "InboundCarton" at 5 {
        /// Scannable carton id.
        identifier: Option<Identifier<'a>>,
        /// Reference that its units belong to.
        reference: Option<ReferenceIn<'a>>,
        /// 1 to 1,000 lines.
        details: List<LineIn<'a>, 1, MOST_CARTONS>,
    }
}

object! {
    /// The reference that the units of a carton belong to.
    pub struct ReferenceIn<'a> as "InboundReference" at 6 {
        /// Type of reference; with `RMA`, `identifier` is that of the return.
        kind as "type": ReferenceWord,
        /// Identifier of the reference.
        identifier: Identifier<'a>,
        /// Alternate identifier.
        alternate_identifier: Option<Identifier<'a>>,
    }
}

object! {
    /// A line: one specific unit, or a number of units of a SKU.
    pub struct LineIn<'a> as "InboundLine" at 7 {
        /// Unique within the ASN.
        line_identifier: Identifier<'a>,
        /// Line within the reference; for a return, the order line.
        reference_line_identifier: Option<Identifier<'a>>,
        /// License plate of the unit, if the line is one specific unit.
        unit_identifier: Option<Identifier<'a>>,
        /// The merchant's own identifier of the unit.
        client_unit_identifier: Option<Identifier<'a>>,
        /// SKU; required unless the unit is identified.
        sku: Option<Identifier<'a>>,
        /// UPC.
        upc: Option<Identifier<'a>>,
        /// Number of units; defaults to 1, and is always 1 for an identified unit.
        quantity: Option<Announced>,
        /// Program, if it differs from the ASN's.
        program_identifier: Option<Identifier<'a>>,
        /// Serial number.
        serial_number: Option<Identifier<'a>>,
        /// Vendor or supplier.
        vendor_identifier: Option<Identifier<'a>>,
        /// Condition grade.
        condition: Option<ConditionWord>,
        /// Eligibility flags known to the warehouse.
        eligibility_flags: Option<List<Identifier<'a>, 0, 100>>,
        /// Owner of the goods.
        merchant: Option<Identifier<'a>>,
        /// Brand of the merchant.
        concept: Option<Identifier<'a>>,
        /// Product identifier: ten letters and digits.
        asin: Option<Asin<'a>>,
        /// Return reason.
        return_reason: Option<Identifier<'a>>,
    }
}
