//! The fields of requests about shipments.

use domain::warehouse::shipment::{CarrierPayment, Kind};
use serde::{Deserialize, Deserializer, de::Error as _};
use serde_json::{Value, json};

use crate::shape::{Identifier, List, Shape, Text, Timestamp, object};
use crate::warehouse::asn::{ConditionWord, ReferenceWord, word};

object! {
    /// A shipment to create. It has no units yet, and the merchant is not sent a message.
    pub struct CreateShipmentIn<'a> as "CreateShipment" at 1 {
        /// ASN number: 1 to 248 letters, digits, hyphens and underscores. A shipment of more than 500 units is sent in several messages, whose numbers get the suffixes `_1`, `_2`, and so on.
        asn_number: Identifier<'a>,
        /// Kind of shipment.
        kind: KindWord,
        /// Id of the sending warehouse, such as `WH-1`.
        from_warehouse: Option<Identifier<'a>>,
        /// The merchant's identifier of the sending store, if a store sends it.
        from_store: Option<Identifier<'a>>,
        /// For stock transfers and freight: id of the receiving warehouse.
        to_warehouse: Option<Identifier<'a>>,
        /// For stock transfers and freight: the receiving store.
        to_store: Option<StoreIn<'a>>,
        /// For vendor shipments: the number of the vendor.
        to_vendor: Option<VendorNumber>,
        /// Channel the goods are for, such as RTV, RTS, Outlet.
        channel: Identifier<'a>,
        /// Order number, RA number or other shipment reference.
        shipment_identifier: Identifier<'a>,
        /// Carrier; not sent for stock transfers.
        carrier: Option<Identifier<'a>>,
        /// Payment of the carrier; not sent for stock transfers.
        carrier_payment_type: Option<PaymentWord>,
        /// Tracking or PRO numbers as scanned. The first is sent; none for stock transfers.
        tracking_numbers: Option<List<Text<'a>, 0, 1000>>,
        /// Bill of lading number of a freight shipment.
        bol_number: Option<Identifier<'a>>,
        /// Actual or planned ship time.
        ship_date: Timestamp,
    }
}

object! {
    /// A receiving store.
    pub struct StoreIn<'a> as "ShipmentStore" at 2 {
        /// The merchant's identifier of the store.
        identifier: Identifier<'a>,
        /// Address of the store.
        address: AddressIn<'a>,
    }
}

object! {
    /// The address of a store.
    pub struct AddressIn<'a> as "ShipmentAddress" at 3 {
        /// Recipient.
        name: Identifier<'a>,
        /// Company.
        company: Option<Identifier<'a>>,
        /// Street and number.
        street: Identifier<'a>,
        /// Second address line.
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
    /// What is known of a shipment's transport by now. Fields that are absent or null stay as they are.
    pub struct ShipmentChangeIn<'a> as "ShipmentChange" at 1 {
        /// Actual or planned ship time.
        ship_date: Option<Timestamp>,
        /// Carrier; not sent for stock transfers.
        carrier: Option<Identifier<'a>>,
        /// Payment of the carrier; not sent for stock transfers.
        carrier_payment_type: Option<PaymentWord>,
        /// Tracking or PRO numbers as scanned. The first is sent; none for stock transfers.
        tracking_numbers: Option<List<Text<'a>, 0, 1000>>,
        /// Bill of lading number of a freight shipment.
        bol_number: Option<Identifier<'a>>,
    }
}

object! {
    /// Units to add to a shipment, at most 500 at a time. Adding the same line again is not an error.
    pub struct UnitsIn<'a> as "ShipmentUnits" at 1 {
        /// Cartons or pallets with their units. Units are added to a carton that already exists.
        cartons: List<CartonIn<'a>, 1, 500>,
    }
}

object! {
    /// A box or a pallet.
    pub struct CartonIn<'a> as "ShipmentCarton" at 3 {
        /// The scannable carton id.
        identifier: Option<Identifier<'a>>,
        /// Reference of the carton. Without it, the reference of its units' receipts is sent, if they have the same.
        reference: Option<ReferenceIn<'a>>,
        /// The last directed sorting template assigned to the carton.
        sorting_template_name: Option<Identifier<'a>>,
        /// Units of the carton.
        details: List<DetailIn<'a>, 1, 500>,
    }
}

object! {
    /// The reference of a carton.
    pub struct ReferenceIn<'a> as "ShipmentReference" at 4 {
        /// Type of reference.
        kind as "type": ReferenceWord,
        /// Identifier of the reference.
        identifier: Identifier<'a>,
        /// Alternate identifier.
        alternate_identifier: Option<Identifier<'a>>,
    }
}

object! {
    /// A unit.
    pub struct DetailIn<'a> as "ShipmentUnit" at 5 {
        /// Unique within the shipment.
        line_identifier: Identifier<'a>,
        /// Program the unit was received into. Required, unless the unit's receipt has it.
        program_identifier: Option<Identifier<'a>>,
        /// The warehouse license plate of the unit. A unit can be in only one shipment that is not cancelled.
        unit_identifier: Identifier<'a>,
        /// The client's unique identifier; defaults to that of the unit's receipt.
        client_unit_identifier: Option<Identifier<'a>>,
        /// The inbound ASN number tied to the unit at receiving; defaults to that of the unit's receipt.
        inbound_received_asn: Option<Identifier<'a>>,
        /// SKU.
        sku: Identifier<'a>,
        /// UPC.
        upc: Option<Identifier<'a>>,
        /// Always 1, if given.
        quantity: Option<One>,
        /// Vendor or supplier of the unit.
        vendor_identifier: Option<Identifier<'a>>,
        /// Serial number.
        serial_number: Option<Identifier<'a>>,
        /// Condition grade.
        condition: ConditionWord,
        /// Flags passed on the inbound ASN; default to those of the unit's receipt.
        eligibility_flags: Option<List<Identifier<'a>, 0, 100>>,
        /// Merchant name.
        merchant: Option<Identifier<'a>>,
    }
}

word! {
    /// The kind of a shipment.
    KindWord of Kind
}
word! {
    /// The party that pays the carrier.
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
