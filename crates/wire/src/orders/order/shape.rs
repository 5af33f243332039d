//! The fields of the order message.

use serde::Deserialize;
use serde_json::value::RawValue;

use crate::fault::Path;
use crate::json;
use crate::shape::{Amount, Currency, Free, Identifier, List, OrderStatus, Quantity, Shape, Tag, Text, Timestamp, Weight, object};

/// The most orders in one message.
pub const MOST_ORDERS: usize = 100;
/// The most entries in any list of an order: lines, refunds, tags.
pub const MOST_ENTRIES: usize = 1_000;
const _: () = assert!(MOST_ENTRIES < json::MOST_KEPT && MOST_ORDERS < json::MOST_KEPT);

/// A list that may be empty.
pub(super) type Entries<T> = List<T, 0, MOST_ENTRIES>;

object! {
    /// A Returns Portal Order message: order history and order events, each order as a full snapshot.
    pub struct OrderMessage<'a> as "ReturnsPortalOrderMessage" at 1 {
        /// Envelope of the message.
        returns_portal_order: Envelope<'a>,
    }
}

object! {
    /// The envelope of an order message.
    pub struct Envelope<'a> as "ReturnsPortalOrder" at 2 {
        /// 1 to 100 orders.
        orders: List<Raw<'a>, 1, MOST_ORDERS>,
    }
}

/// An order's exact text in the message. It is parsed in a second step.
pub struct Raw<'a>(pub(super) &'a RawValue);

impl<'de: 'a, 'a> Deserialize<'de> for Raw<'a> {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        <&'de RawValue>::deserialize(deserializer).map(Self)
    }
}

impl Shape for Raw<'_> {
    fn schema() -> serde_json::Value {
        OrderIn::reference()
    }

    fn define(components: &mut serde_json::Map<String, serde_json::Value>) {
        OrderIn::define(components);
    }
}

object! {
    /// The full snapshot of one order. Unknown fields are stored as sent.
    pub struct OrderIn<'a> as "Order" at 4 {
        /// Order identifier used in the merchant's own systems.
        identifier: Identifier<'a>,
        /// Status of the order in the merchant's systems, typically the OMS status.
        raw_status: Option<Text<'a>>,
        /// Shipped once the full order has shipped, even after a full refund. Canceled is accepted as Cancelled.
        status: OrderStatus,
        /// Order total: product − discount + tax + shipping + shipping tax.
        total_amount_cents: Amount,
        /// Sum of the `product_amount_cents` of the lines.
        product_amount_cents: Option<Amount>,
        /// Sum of the `tax_amount_cents` of the lines.
        tax_amount_cents: Option<Amount>,
        /// Order discount.
        discount_amount_cents: Option<Amount>,
        /// Shipping charge.
        shipping_amount_cents: Option<Amount>,
        /// Tax on shipping.
        shipping_tax_amount_cents: Option<Amount>,
        /// Currency code.
        currency: Currency,
        /// Order-level tags. Numbers and booleans are read as their text, other values are ignored.
        tags: Option<Entries<Tag<'a, 5>>>,
        /// Time the order was created in the merchant's order system.
        created_at: Timestamp,
        /// Time of last update. The newest snapshot wins.
        updated_at: Timestamp,
        /// Order lines.
        items: List<LineIn<'a>, 1, MOST_ENTRIES>,
        /// The shopper, with an identifier or an e-mail address.
        customer | "the service": CustomerIn<'a>,
        /// Shipping address.
        shipping_address: Option<AddressIn<'a>>,
        /// Billing address.
        billing_address: Option<AddressIn<'a>>,
        /// Must be present; sent as an empty array.
        transactions: Entries<Free>,
        /// Must be present; empty on initial creation.
        refunds: Entries<RefundIn<'a>>,
        /// Must be present; sent as an empty array.
        discounts: Entries<Free>,
        /// For an exchange order: the order that it was placed for, the `original_order_id` of the request.
        original_order_identifier: Option<Text<'a>>,
    }
}

object! {
    /// One line of an order.
    pub struct LineIn<'a> as "OrderLine" at 6 {
        /// Identifier of the line; appears in the RMA as `order_line_item_identifier`.
        identifier: Identifier<'a>,
        /// SKU.
        sku: Identifier<'a>,
        /// UPC.
        upc: Option<Text<'a>>,
        /// Total quantity on the line.
        quantity: Quantity,
        /// Shipped units on the line; if omitted, all units that are not cancelled once the order is Shipped.
        quantity_shipped: Option<Quantity>,
        /// Cancelled units on the line.
        quantity_canceled: Option<Quantity>,
        /// Outbound carrier tracking number.
        tracking_number: Option<Text<'a>>,
        /// Ship time; may mark the start of the return window.
        shipped_date: Option<Timestamp>,
        /// Time at which the last units of the line were delivered; a shopper's period of withdrawal starts there.
        delivered_date: Option<Timestamp>,
        /// The merchant's unique product id; the SKU if there is none.
        product_identifier: Option<Text<'a>>,
        /// Used to find the SKUs offered for an even exchange; also called the parent SKU.
        variant_identifier: Option<Text<'a>>,
        /// Product title.
        title: Option<Text<'a>>,
        /// The merchant's concept, typically a brand; passed on in exchange orders.
        concept: Option<Text<'a>>,
        /// Line tags that flag return conditions, such as final sale. Numbers and booleans are read as their text, other values are ignored.
        tags: Option<Entries<Tag<'a, 7>>>,
        /// `unit_price_amount_cents` multiplied by `quantity_shipped`.
        product_amount_cents: Option<Amount>,
        /// Tax for all shipped units of the SKU.
        tax_amount_cents: Option<Amount>,
        /// Line discount.
        discount_amount_cents: Option<Amount>,
        /// Price of one unit.
        unit_price_amount_cents: Amount,
        /// Image address.
        image_url: Option<Text<'a>>,
        /// Weight of one unit in pounds; used to decide express-returns eligibility.
        weight: Option<Weight>,
    }
}

object! {
    /// The shopper. If the merchant has no identifier, the e-mail address is recommended as the identifier.
    pub struct CustomerIn<'a> as "Customer" at 5 {
        /// The merchant's identifier of the shopper.
        identifier: Option<Text<'a>>,
        /// First name.
        first_name: Option<Text<'a>>,
        /// Last name.
        last_name: Option<Text<'a>>,
        /// E-mail address.
        email: Option<Text<'a>>,
        /// Telephone number.
        phone: Option<Text<'a>>,
    }
}

object! {
    /// A postal address.
    pub struct AddressIn<'a> as "Address" at 5 {
        /// Name.
        name: Option<Text<'a>>,
        /// Street.
        street1: Option<Text<'a>>,
        /// City.
        city: Option<Text<'a>>,
        /// State.
        state: Option<Text<'a>>,
        /// Postal code.
        zip_code: Option<Text<'a>>,
        /// Country code.
        country_code: Option<Text<'a>>,
        /// Telephone number.
        phone: Option<Text<'a>>,
    }
}

object! {
    /// A refund paid by the merchant. It has its effect once; corrections are taken over.
    pub struct RefundIn<'a> as "Refund" at 6 {
        /// Unique across all refunds.
        identifier: Identifier<'a>,
        /// For a full refund, the order's `total_amount_cents`.
        total_refund_amount_cents: Amount,
        /// Only the lines and units covered by this refund. Empty with an `rma_identifier`: all units of the RMA.
        refund_line_items: Entries<RefundLineIn<'a>>,
        /// Informational only.
        note: Option<Text<'a>>,
        /// Time of the refund.
        created_at: Timestamp,
        /// The RMA that the refund settles; recommended if the order has several.
        rma_identifier: Option<Text<'a>>,
    }
}

object! {
    /// Units covered by a refund.
    pub struct RefundLineIn<'a> as "RefundLine" at 8 {
        /// Unique across all refunds.
        identifier: Identifier<'a>,
        /// Refunded units.
        quantity: Quantity,
        /// Identifier of the order line.
        order_item_identifier: Identifier<'a>,
    }
}

/// The path of the order at position `at` of a message.
pub(super) fn order_path(at: usize) -> Path {
    Path::root().field("returns_portal_order").field("orders").index(at)
}
