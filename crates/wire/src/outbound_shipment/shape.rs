//! What warehouses' systems send of shipments.

use domain::shipment::{CarrierPayment, Kind};
use serde::{Deserialize, Deserializer, de::Error as _};
use serde_json::{Value, json};

use crate::asn::{ConditionWord, ReferenceWord, word};
use crate::shape::{Identifier, List, Shape, Text, Timestamp, object};

object! {
    /// A shipment to make. It has no units yet, and nobody is told of it.
    pub struct CreateShipmentIn<'a> as "CreateShipment" at 1 {
        /// Its number, of 1 to 248 letters, digits, hyphens and underscores; a shipment of more than 500 units is told in several messages, whose numbers get the suffixes `_1`, `_2`, and so on.
        asn_number: Identifier<'a>,
        /// What it is for.
        kind: KindWord,
        /// The id of the warehouse that it leaves, such as `WH-1`.
        from_warehouse: Identifier<'a>,
        /// For stock transfers and freight: the id of the warehouse that it goes to.
        to_warehouse: Option<Identifier<'a>>,
        /// For stock transfers and freight: the store that it goes to.
        to_store: Option<StoreIn<'a>>,
        /// For vendor shipments: the number of the vendor.
        to_vendor: Option<VendorNumber>,
        /// The channel that the goods are for, such as RTV, RTS, Outlet.
        channel: Identifier<'a>,
        /// Order number, RA number or other shipment reference.
        shipment_identifier: Identifier<'a>,
        /// Who carries it; not sent for stock transfers.
        carrier: Option<Identifier<'a>>,
        /// Who pays for that; not sent for stock transfers.
        carrier_payment_type: Option<PaymentWord>,
        /// Tracking or PRO numbers as they were scanned; the first is sent, and none for stock transfers.
        tracking_numbers: Option<List<Text<'a>, 0, 1000>>,
        /// Bill of lading number of a freight shipment.
        bol_number: Option<Identifier<'a>>,
        /// When it was or will be shipped.
        ship_date: Timestamp,
    }
}

object! {
    /// A store that goods go to.
    pub struct StoreIn<'a> as "ShipmentStore" at 2 {
        /// What the merchant's systems call it.
        identifier: Identifier<'a>,
        /// Where it is.
        address: AddressIn<'a>,
    }
}

object! {
    /// Where a store is.
    pub struct AddressIn<'a> as "ShipmentAddress" at 3 {
        /// Who receives.
        name: Identifier<'a>,
        /// Of which company.
        company: Option<Identifier<'a>>,
        /// Street and number.
        street: Identifier<'a>,
        /// More of it.
        street2: Option<Identifier<'a>>,
        /// City.
        city: Identifier<'a>,
        /// State.
        state: Identifier<'a>,
        /// Postal code.
        zip: Identifier<'a>,
    }
}

object! {
    /// Another ship date.
    pub struct ShipDateIn<'a> as "ShipDate" at 1 {
        /// When it will be shipped.
        ship_date: Timestamp,
    }
}

object! {
    /// Units that go with a shipment, at most 500 at a time. The same line again is no error.
    pub struct UnitsIn<'a> as "ShipmentUnits" at 1 {
        /// Boxes or pallets, with the units in them. A carton that is there already gets more units.
        cartons: List<CartonIn<'a>, 1, 500>,
    }
}

object! {
    /// A box or a pallet.
    pub struct CartonIn<'a> as "ShipmentCarton" at 3 {
        /// The scannable carton id.
        identifier: Option<Identifier<'a>>,
        /// What it refers to, as the inbound ASN said.
        reference: Option<ReferenceIn<'a>>,
        /// The last directed sorting template assigned to the carton.
        sorting_template_name: Option<Identifier<'a>>,
        /// Its units.
        details: List<DetailIn<'a>, 1, 500>,
    }
}

object! {
    /// What a carton refers to.
    pub struct ReferenceIn<'a> as "ShipmentReference" at 4 {
        /// What it is.
        kind as "type": ReferenceWord,
        /// Its identifier.
        identifier: Identifier<'a>,
        /// Another identifier of it.
        alternate_identifier: Option<Identifier<'a>>,
    }
}

object! {
    /// A unit.
    pub struct DetailIn<'a> as "ShipmentUnit" at 5 {
        /// Unique within the shipment.
        line_identifier: Identifier<'a>,
        /// The program that the unit was received into.
        program_identifier: Identifier<'a>,
        /// The warehouse license plate of the unit; it is in one shipment at most that is not cancelled.
        unit_identifier: Identifier<'a>,
        /// The client's unique identifier.
        client_unit_identifier: Option<Identifier<'a>>,
        /// The inbound ASN number tied to the unit at receiving.
        inbound_received_asn: Option<Identifier<'a>>,
        /// SKU.
        sku: Identifier<'a>,
        /// UPC.
        upc: Option<Identifier<'a>>,
        /// Always 1, if it is given.
        quantity: Option<One>,
        /// Vendor or supplier of the unit.
        vendor_identifier: Option<Identifier<'a>>,
        /// Serial number.
        serial_number: Option<Identifier<'a>>,
        /// What it is like.
        condition: ConditionWord,
        /// Flags passed on the inbound ASN.
        eligibility_flags: Option<List<Identifier<'a>, 0, 100>>,
        /// Merchant name.
        merchant: Option<Identifier<'a>>,
    }
}

word! {
    /// What a shipment is for.
    KindWord of Kind
}
word! {
    /// Who pays the carrier.
    PaymentWord of CarrierPayment
}

/// The number of a vendor.
#[derive(Clone, Copy)]
pub struct VendorNumber(pub i64);

impl VendorNumber {
    const MOST: i64 = 1_000_000_000_000;
}

impl<'de> Deserialize<'de> for VendorNumber {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let number = crate::shape::whole(deserializer, Self::MOST)?;
        if number == 0 { Err(D::Error::custom("range")) } else { Ok(Self(number)) }
    }
}

impl Shape for VendorNumber {
    fn schema() -> Value {
        json!({ "type": "integer", "minimum": 1, "maximum": Self::MOST })
    }
}

/// The number 1.
#[derive(Clone, Copy)]
pub struct One;

impl<'de> Deserialize<'de> for One {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        if crate::shape::whole(deserializer, 1)? == 1 { Ok(Self) } else { Err(D::Error::custom("range")) }
    }
}

impl Shape for One {
    fn schema() -> Value {
        json!({ "type": "integer", "minimum": 1, "maximum": 1 })
    }
}
