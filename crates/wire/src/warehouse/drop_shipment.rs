//! The messages about drop-ship orders: a shipment has left, or an order or some of its units were cancelled. Every key is always
//! present, null if there is no value.

use serde::Serialize;
use utoipa::ToSchema;

/// A drop shipment has left the warehouse.
#[derive(Serialize, ToSchema)]
pub struct DropShipmentConfirmation<'a> {
    /// The shipment.
    pub shipment: DropShipment<'a>,
}

/// A drop-ship order was cancelled or rejected by the warehouse. It has no `Debug`: it contains the shopper's address.
#[derive(Serialize, ToSchema)]
pub struct DropShipmentCancellation<'a> {
    /// The order.
    pub order: DropShipmentOrder<'a>,
}

/// Some units of a drop-ship order were cancelled by the warehouse.
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
    /// The merchant's identifier of the order.
    pub client_identifier: &'a str,
    /// Sales channel.
    pub channel: Option<&'a str>,
    /// Carrier.
    pub carrier: Option<&'a str>,
    /// Shipping method.
    pub shipping_method: Option<&'a str>,
    /// Tracking number.
    pub tracking_number: Option<&'a str>,
    /// Billed weight in pounds.
    pub billed_weight: Option<f64>,
    /// Shipping cost in cents.
    pub shipping_cost_cents: Option<i64>,
    /// Packing slip.
    pub packing_slip_identifier: Option<&'a str>,
    /// Items in the shipment.
    pub shipment_items: Vec<DropShipmentItem<'a>>,
    /// Time it was reported.
    pub created_at: String,
    /// Time of the last change.
    pub updated_at: String,
}

/// Units in a shipment.
#[derive(Serialize, ToSchema)]
pub struct DropShipmentItem<'a> {
    /// The service's id of the shipment item.
    pub id: String,
    /// The merchant's identifier of the order item.
    pub client_identifier: &'a str,
    /// Number of units.
    pub quantity: u32,
    /// Time they were reported.
    pub created_at: String,
    /// Time of the last change.
    pub updated_at: String,
}

/// The current state of a drop-ship order. It has no `Debug`: it contains the shopper's address.
#[derive(Serialize, ToSchema)]
pub struct DropShipmentOrder<'a> {
    /// The service's id of the order.
    pub id: String,
    /// The merchant's identifier.
    pub client_identifier: &'a str,
    /// Billing address.
    pub billing_address: Option<DropShipmentAddress<'a>>,
    /// Shipping address.
    pub shipping_address: DropShipmentAddress<'a>,
    /// Brand.
    pub brand: Option<&'a str>,
    /// Shipping method.
    pub shipping_method: Option<&'a str>,
    /// `accepted`, `partially_shipped`, `shipped`, `cancelled` or `rejected`.
    pub status: &'static str,
    /// Price of the goods.
    pub price_cents: Option<i64>,
    /// Tax on the goods.
    pub tax_cents: Option<i64>,
    /// Handling fee in cents.
    pub processing_fee_cents: Option<i64>,
    /// Shipping cost in cents.
    pub shipping_cost_cents: Option<i64>,
    /// Tax on shipping.
    pub shipping_tax_cents: Option<i64>,
    /// The warehouse's comments on the cancellation or rejection; otherwise the merchant's comments on the order.
    pub comments: Option<&'a str>,
    /// Expected delivery date.
    pub expected_delivery_date: Option<&'a str>,
    /// True if a signature is required on delivery.
    pub signature_required: Option<bool>,
    /// Packing slip.
    pub packing_slip_identifier: Option<&'a str>,
    /// The warehouse's reason for cancelling or rejecting the order.
    pub reject_reason: Option<&'a str>,
    /// Items to ship.
    pub order_items: Vec<DropShipmentOrderItem<'a>>,
    /// Time it was accepted.
    pub created_at: String,
    /// Time of the last change.
    pub updated_at: String,
}

/// A postal address of a drop-ship order. It has no `Debug`: it is personal.
#[derive(Serialize, ToSchema)]
pub struct DropShipmentAddress<'a> {
    /// The service's id of the address.
    pub id: String,
    /// Recipient.
    pub name: &'a str,
    /// Company.
    pub company: Option<&'a str>,
    /// Telephone number for the carrier.
    pub telephone_number: Option<&'a str>,
    /// Street and number.
    pub street: &'a str,
    /// Second address line.
    pub street2: Option<&'a str>,
    /// City.
    pub city: &'a str,
    /// State or province.
    pub state: Option<&'a str>,
    /// Postal code.
    pub zip_code: Option<&'a str>,
    /// Country.
    pub country: &'a str,
    /// Time it was accepted.
    pub created_at: String,
    /// Time of the last change.
    pub updated_at: String,
}

/// An item of a drop-ship order.
#[derive(Serialize, ToSchema)]
pub struct DropShipmentOrderItem<'a> {
    /// The service's id of the item.
    pub id: String,
    /// The merchant's identifier.
    pub client_identifier: &'a str,
    /// SKU.
    pub sku: &'a str,
    /// Brand.
    pub brand: Option<&'a str>,
    /// Required condition of the units.
    pub condition: Option<&'a str>,
    /// Units ordered.
    pub quantity: u32,
    /// Price of the goods.
    pub price_cents: Option<i64>,
    /// Tax on the goods.
    pub tax_cents: Option<i64>,
    /// Shipping cost in cents.
    pub shipping_cost_cents: Option<i64>,
    /// Tax on shipping.
    pub shipping_tax_cents: Option<i64>,
    /// Status of the item; same values as the order's.
    pub status: &'static str,
    /// Comments for the warehouse staff.
    pub comments: Option<&'a str>,
}

/// A drop-ship order with cancelled units.
#[derive(Serialize, ToSchema)]
pub struct DropShipmentPart<'a> {
    /// The service's id of the order.
    pub id: String,
    /// The merchant's identifier.
    pub client_identifier: &'a str,
    /// Status.
    pub status: &'static str,
    /// All items of the order.
    pub order_items: Vec<DropShipmentPartItem<'a>>,
}

/// An item of a drop-ship order with cancelled units.
#[derive(Serialize, ToSchema)]
pub struct DropShipmentPartItem<'a> {
    /// The service's id of the item.
    pub id: String,
    /// The merchant's identifier.
    pub client_identifier: &'a str,
    /// Status.
    pub status: &'static str,
    /// Units ordered.
    pub quantity: u32,
    /// Units cancelled in total.
    pub cancelled_quantity: u32,
}
