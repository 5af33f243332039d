//! The messages on drop-ship orders: what the merchant's systems are sent when a shipment leaves, and when an order or some of
//! its units are called off. Every key is always there, null where there is nothing to say.

use serde::Serialize;
use utoipa::ToSchema;

/// A drop shipment left the warehouse.
#[derive(Serialize, ToSchema)]
pub struct DropShipmentConfirmation<'a> {
    /// The shipment.
    pub shipment: DropShipment<'a>,
}

/// A drop-ship order was cancelled or rejected in the warehouse. It has no `Debug`: it says where a shopper lives.
#[derive(Serialize, ToSchema)]
pub struct DropShipmentCancellation<'a> {
    /// The order.
    pub order: DropShipmentOrder<'a>,
}

/// Some units of a drop-ship order were cancelled in the warehouse.
#[derive(Serialize, ToSchema)]
pub struct DropShipmentPartialCancellation<'a> {
    /// The order.
    pub order: DropShipmentPart<'a>,
}

/// A shipment of a drop-ship order.
#[derive(Serialize, ToSchema)]
pub struct DropShipment<'a> {
    /// The service's id of the shipment.
    pub id: String,
    /// The merchant's name for the order.
    pub client_identifier: &'a str,
    /// The channel that the order was sold through.
    pub channel: Option<&'a str>,
    /// Who carries it.
    pub carrier: Option<&'a str>,
    /// How it is shipped.
    pub shipping_method: Option<&'a str>,
    /// The carrier's number.
    pub tracking_number: Option<&'a str>,
    /// The weight that the carrier bills, in pounds.
    pub billed_weight: Option<f64>,
    /// What shipping it costs.
    pub shipping_cost_cents: Option<i64>,
    /// The packing slip that goes with it.
    pub packing_slip_identifier: Option<&'a str>,
    /// What is in it.
    pub shipment_items: Vec<DropShipmentItem<'a>>,
    /// When it was reported.
    pub created_at: String,
    /// When it last changed.
    pub updated_at: String,
}

/// Units in a shipment.
#[derive(Serialize, ToSchema)]
pub struct DropShipmentItem<'a> {
    /// The service's id of these units in the shipment.
    pub id: String,
    /// The merchant's name for the item of the order.
    pub client_identifier: &'a str,
    /// How many units.
    pub quantity: u32,
    /// When they were reported.
    pub created_at: String,
    /// When this last changed.
    pub updated_at: String,
}

/// A drop-ship order as it stands. It has no `Debug`: it says where a shopper lives.
#[derive(Serialize, ToSchema)]
pub struct DropShipmentOrder<'a> {
    /// The service's id of the order.
    pub id: String,
    /// The merchant's name for it.
    pub client_identifier: &'a str,
    /// Who pays.
    pub billing_address: Option<DropShipmentAddress<'a>>,
    /// Where it goes.
    pub shipping_address: DropShipmentAddress<'a>,
    /// The brand that it is sold under.
    pub brand: Option<&'a str>,
    /// How it is to be shipped.
    pub shipping_method: Option<&'a str>,
    /// `accepted`, `partially_shipped`, `shipped`, `cancelled` or `rejected`.
    pub status: &'static str,
    /// Price of the goods.
    pub price_cents: Option<i64>,
    /// Tax on the goods.
    pub tax_cents: Option<i64>,
    /// What handling it costs.
    pub processing_fee_cents: Option<i64>,
    /// What shipping it costs.
    pub shipping_cost_cents: Option<i64>,
    /// Tax on shipping.
    pub shipping_tax_cents: Option<i64>,
    /// What the warehouse says on its end, or else what the merchant said to the warehouse.
    pub comments: Option<&'a str>,
    /// The day on which the shopper expects it.
    pub expected_delivery_date: Option<&'a str>,
    /// Whether somebody must sign for it.
    pub signature_required: Option<bool>,
    /// The packing slip that goes with it.
    pub packing_slip_identifier: Option<&'a str>,
    /// Why the warehouse cancelled or rejected it.
    pub reject_reason: Option<&'a str>,
    /// What is to be shipped.
    pub order_items: Vec<DropShipmentOrderItem<'a>>,
    /// When it was taken.
    pub created_at: String,
    /// When it last changed.
    pub updated_at: String,
}

/// A postal address of a drop-ship order. It has no `Debug`: somebody lives there.
#[derive(Serialize, ToSchema)]
pub struct DropShipmentAddress<'a> {
    /// The service's id of the address.
    pub id: String,
    /// Who lives there.
    pub name: &'a str,
    /// A company.
    pub company: Option<&'a str>,
    /// For the carrier.
    pub telephone_number: Option<&'a str>,
    /// Street and number.
    pub street: &'a str,
    /// A second line.
    pub street2: Option<&'a str>,
    /// The city.
    pub city: &'a str,
    /// The state or province.
    pub state: Option<&'a str>,
    /// The postal code.
    pub zip_code: Option<&'a str>,
    /// The country.
    pub country: &'a str,
    /// When it was taken.
    pub created_at: String,
    /// When it last changed.
    pub updated_at: String,
}

/// An item of a drop-ship order.
#[derive(Serialize, ToSchema)]
pub struct DropShipmentOrderItem<'a> {
    /// The service's id of the item.
    pub id: String,
    /// The merchant's name for it.
    pub client_identifier: &'a str,
    /// SKU.
    pub sku: &'a str,
    /// Its brand.
    pub brand: Option<&'a str>,
    /// The condition that the units must be in.
    pub condition: Option<&'a str>,
    /// How many units were ordered.
    pub quantity: u32,
    /// Price of the goods.
    pub price_cents: Option<i64>,
    /// Tax on the goods.
    pub tax_cents: Option<i64>,
    /// What shipping it costs.
    pub shipping_cost_cents: Option<i64>,
    /// Tax on shipping.
    pub shipping_tax_cents: Option<i64>,
    /// Where it stands, in the words of the order.
    pub status: &'static str,
    /// For the people at the warehouse.
    pub comments: Option<&'a str>,
}

/// A drop-ship order of which units were cancelled.
#[derive(Serialize, ToSchema)]
pub struct DropShipmentPart<'a> {
    /// The service's id of the order.
    pub id: String,
    /// The merchant's name for it.
    pub client_identifier: &'a str,
    /// Where it stands.
    pub status: &'static str,
    /// All its items.
    pub order_items: Vec<DropShipmentPartItem<'a>>,
}

/// An item of a drop-ship order of which units were cancelled.
#[derive(Serialize, ToSchema)]
pub struct DropShipmentPartItem<'a> {
    /// The service's id of the item.
    pub id: String,
    /// The merchant's name for it.
    pub client_identifier: &'a str,
    /// Where it stands.
    pub status: &'static str,
    /// How many units were ordered.
    pub quantity: u32,
    /// How many of them were cancelled, all in all.
    pub cancelled_quantity: u32,
}
