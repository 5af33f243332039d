//! The order message: `POST /returns_portal_orders`.
//!
//! [`read`] takes the fast path, straight into the structs below; only a message that it refuses is parsed again and
//! explained through the published schema. What the rules of the domain find is put into words by `explain`. [`read_one`]
//! does the same for an order that stands alone, as on a line of an import.

mod erased;
mod explain;
mod sale;
mod single;

use domain::money::Cents;
use domain::order::{self as facts, Order, Status};
use domain::snapshot::{Digest, Version};
use serde::Deserialize;
use serde_json::value::RawValue;
use sha2::{Digest as _, Sha256};
use utoipa::IntoParams;

pub use self::erased::erased;
pub use self::explain::{changed_under_returns, conflict, overrefunded, reused_refund_line, rma_differs, rma_not_live, time_differs};
pub use self::sale::read_stored;
pub use self::single::{RefusedOrder, read_one};
use crate::fault::{Fault, Path, Warning};
use crate::json::{self, Malformed};
use crate::schema;
use crate::shape::{Amount, Currency, Free, Identifier, List, OrderStatus, Quantity, Shape, Text, Timestamp, Weight, object};

/// How many orders one message may carry.
pub const MOST_ORDERS: usize = 100;
/// How many lines, refunds, tags and the like one order may have.
pub const MOST_ENTRIES: usize = 1_000;
const _: () = assert!(MOST_ENTRIES < json::MOST_KEPT && MOST_ORDERS < json::MOST_KEPT);

/// A list that may be empty.
type Entries<T> = List<T, 0, MOST_ENTRIES>;

object! {
    /// A Returns Portal Order message: order history and order events, each order as a full snapshot.
    pub struct OrderMessage<'a> as "ReturnsPortalOrderMessage" at 1 {
        /// The envelope.
        returns_portal_order: Envelope<'a>,
    }
}

object! {
    /// The envelope of an order message.
    pub struct Envelope<'a> as "ReturnsPortalOrder" at 2 {
        /// The orders: 1 to 100 of them.
        orders: List<Raw<'a>, 1, MOST_ORDERS>,
    }
}

/// An order as it stands in the message; read in a second step, so that its exact text is at hand.
pub struct Raw<'a>(&'a RawValue);

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
    /// The full snapshot of one order. Fields beyond these are kept as sent.
    pub struct OrderIn<'a> as "Order" at 4 {
        /// Order identifier used in the merchant's own systems.
        identifier: Identifier<'a>,
        /// Status of the order in the merchant's systems, typically the OMS status.
        raw_status: Option<Text<'a>>,
        /// Shipped when the full order has shipped, also after a full refund. Canceled is understood as Cancelled.
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
        /// Order-level tags.
        tags: Option<Entries<Text<'a>>>,
        /// Time the order was created in the merchant's order system.
        created_at: Timestamp,
        /// Time of last update. The newest snapshot wins.
        updated_at: Timestamp,
        /// Order lines.
        items: List<LineIn<'a>, 1, MOST_ENTRIES>,
        /// The shopper, with an identifier or an e-mail address.
        customer | "the service": CustomerIn<'a>,
        /// Where it was sent.
        shipping_address: Option<AddressIn<'a>>,
        /// Where the bill went.
        billing_address: Option<AddressIn<'a>>,
        /// Must be present; sent as an empty array.
        transactions: Entries<Free>,
        /// Must be present; empty on initial creation.
        refunds: Entries<RefundIn<'a>>,
        /// Must be present; sent as an empty array.
        discounts: Entries<Free>,
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
        /// Shipped units on the line; without it, all of them once the order is Shipped.
        quantity_shipped: Option<Quantity>,
        /// Cancelled units on the line.
        quantity_canceled: Option<Quantity>,
        /// Outbound carrier tracking number.
        tracking_number: Option<Text<'a>>,
        /// Ship time; may mark the start of the return window.
        shipped_date: Option<Timestamp>,
        /// The merchant's unique product id; the SKU when there is none.
        product_identifier: Option<Text<'a>>,
        /// Used to find the SKUs offered as even exchange; also called the parent SKU.
        variant_identifier: Option<Text<'a>>,
        /// Product title.
        title: Option<Text<'a>>,
        /// The merchant's word for what it is, typically a brand; exchange orders carry it.
        concept: Option<Text<'a>>,
        /// Line tags that flag return conditions, such as final sale.
        tags: Option<Entries<Text<'a>>>,
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
    /// The shopper. When the merchant has no identifier, the e-mail address is recommended as identifier.
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
    /// Money that the merchant paid back. It is immutable.
    pub struct RefundIn<'a> as "Refund" at 6 {
        /// Unique across all refunds.
        identifier: Identifier<'a>,
        /// For a full refund, the order's `total_amount_cents`.
        total_refund_amount_cents: Amount,
        /// Only the lines and units covered by this refund.
        refund_line_items: Entries<RefundLineIn<'a>>,
        /// Informational only.
        note: Option<Text<'a>>,
        /// When it was refunded.
        created_at: Timestamp,
        /// The RMA that it settles; recommended when an order has several.
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
        /// The identifier of the order line.
        order_item_identifier: Identifier<'a>,
    }
}

/// How a message is taken.
#[derive(Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub struct PublishQuery {
    /// Check the message and store nothing; the answer says what would have happened.
    #[serde(default)]
    #[param(required = false)]
    pub validate_only: bool,
}

/// An order message of the right shape and rules.
pub struct Received<'a> {
    /// The orders as they came.
    pub orders: Vec<ReceivedOrder<'a>>,
}

impl Received<'_> {
    /// The identifiers of the orders, as they stand in the message.
    #[must_use]
    pub fn identifiers(&self) -> Vec<String> {
        self.orders.iter().map(|received| received.order.identifier.0.to_string()).collect()
    }
}

/// One order of a message.
pub struct ReceivedOrder<'a> {
    /// Its exact text.
    pub text: &'a str,
    /// What it says.
    pub order: OrderIn<'a>,
    /// Its position in the message; none where it came alone.
    pub at: Option<usize>,
    /// What does not add up.
    pub warnings: Vec<Warning>,
}

/// Why a message was not taken.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// It is not JSON.
    Malformed(Malformed),
    /// It is JSON, but not an order message.
    Faulty(Faults),
}

/// What is wrong with a message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Faults {
    /// Every fault, those beside the orders first and then order by order (the first [`crate::fault::MOST_TOLD`]).
    pub faults: Vec<Fault>,
    /// The identifiers of the message's orders, as far as they can be told: those that could be one.
    pub identifiers: Vec<String>,
}

/// Reads an order message: its shape first, and once that is right, its rules.
pub fn read(body: &[u8]) -> Result<Received<'_>, Refusal> {
    let text = json::text(body).map_err(Refusal::Malformed)?;
    let Some(mut orders) = read_fast(text) else { return Err(read_slow(text)) };
    let mut faults: Vec<Fault> = orders.iter_mut().flat_map(ReceivedOrder::hold_to_rules).collect();
    let received = Received { orders };
    if faults.is_empty() {
        return Ok(received);
    }
    faults.truncate(crate::fault::MOST_TOLD);
    Err(Refusal::Faulty(Faults { faults, identifiers: received.identifiers() }))
}

/// The fast path: every order of the message, or nothing if any part of it has not the right shape.
#[must_use]
pub fn read_fast(text: &str) -> Option<Vec<ReceivedOrder<'_>>> {
    read_plain(text).or_else(|| read_any(text))
}

/// What a message begins with before its first order, when it is nothing but its orders; and what it ends with.
const OPENING: [&str; 7] = ["{", r#""returns_portal_order""#, ":", "{", r#""orders""#, ":", "["];
const CLOSING: [&str; 3] = ["]", "}", "}"];

/// Reads a message that is nothing but its orders, as nearly all are: each order is read where it stands, in one pass.
fn read_plain(text: &str) -> Option<Vec<ReceivedOrder<'_>>> {
    let mut rest = OPENING.iter().try_fold(text, |rest, mark| trim(rest).strip_prefix(mark))?;
    let mut orders = Vec::new();
    loop {
        rest = trim(rest);
        let mut reader = serde_json::Deserializer::from_str(rest).into_iter();
        let order = reader.next()?.ok()?;
        let (text, after) = rest.split_at_checked(reader.byte_offset())?;
        orders.push(ReceivedOrder::new(text, order, Some(orders.len())));
        match trim(after).strip_prefix(',') {
            Some(more) if orders.len() < MOST_ORDERS => rest = more,
            Some(_) => return None,
            None => break rest = after,
        }
    }
    let end = CLOSING.iter().try_fold(rest, |rest, mark| trim(rest).strip_prefix(mark))?;
    trim(end).is_empty().then_some(orders)
}

/// The text without the white space that JSON allows before it.
fn trim(text: &str) -> &str {
    text.trim_start_matches([' ', '\t', '\n', '\r'])
}

/// Reads a message that has more in it: the orders' places first, then the orders.
fn read_any(text: &str) -> Option<Vec<ReceivedOrder<'_>>> {
    let message: OrderMessage<'_> = serde_json::from_str(text).ok()?;
    let List(orders) = message.returns_portal_order.orders;
    let texts = orders.into_iter().map(|Raw(raw)| raw.get()).enumerate();
    texts.map(|(at, text)| Some(ReceivedOrder::new(text, serde_json::from_str(text).ok()?, Some(at)))).collect()
}

/// The slow path: why the message has not the right shape.
#[must_use]
pub fn read_slow(text: &str) -> Refusal {
    match json::shallow(text, 0).and_then(schema::explain) {
        Ok(faults) => Refusal::Faulty(faults),
        Err(malformed) => Refusal::Malformed(malformed),
    }
}

/// The path of the order at position `at` of a message.
#[must_use]
pub(crate) fn order_path(at: usize) -> Path {
    Path::root().field("returns_portal_order").field("orders").index(at)
}

impl<'a> ReceivedOrder<'a> {
    fn new(text: &'a str, order: OrderIn<'a>, at: Option<usize>) -> Self {
        Self { text, order, at, warnings: Vec::new() }
    }

    /// Notes what does not add up, and answers which rules it breaks.
    fn hold_to_rules(&mut self) -> Vec<Fault> {
        let facts = self.order.facts();
        // Most orders are in order: only what is not needs to know where it stands.
        let faults = facts::broken(&facts).into_iter().map(|broken| explain::broken(&self.path(), broken)).collect();
        let warnings = facts::doubts(&facts).into_iter().map(|doubt| explain::doubt(&self.path(), doubt)).collect();
        drop(facts);
        self.warnings = warnings;
        faults
    }

    /// Where it stands in the message.
    #[must_use]
    pub fn path(&self) -> Path {
        self.at.map_or_else(Path::root, order_path)
    }

    /// What tells this snapshot from others of the same order.
    #[must_use]
    pub fn version(&self) -> Version {
        let digest: Digest = Sha256::digest(self.text).into();
        Version { updated_at: self.order.updated_at.0, digest }
    }
}

fn cents(amount: Option<Amount>) -> Cents {
    amount.map_or_else(Cents::default, |Amount(cents)| cents)
}

impl OrderIn<'_> {
    /// The order as the rules see it, with the defaults for what was left out.
    #[must_use]
    pub fn facts(&self) -> Order<'_> {
        let Self { items: List(items), refunds: List(refunds), customer, .. } = self;
        let named = |text: &Option<Text<'_>>| text.as_ref().is_some_and(|Text(text)| !text.trim().is_empty());
        Order {
            identifier: &self.identifier.0,
            status: self.status.0,
            total: self.total_amount_cents.0,
            product: self.product_amount_cents.map(|Amount(cents)| cents),
            tax: self.tax_amount_cents.map(|Amount(cents)| cents),
            discount: cents(self.discount_amount_cents),
            shipping: cents(self.shipping_amount_cents),
            shipping_tax: cents(self.shipping_tax_amount_cents),
            placed_at: self.created_at.0,
            customer_named: named(&customer.identifier) || named(&customer.email),
            lines: items.iter().map(|line| line.facts(self.status.0)).collect(),
            refunds: refunds.iter().map(RefundIn::facts).collect(),
        }
    }
}

impl LineIn<'_> {
    fn facts(&self, status: Status) -> facts::Line<'_> {
        let Quantity(quantity) = self.quantity;
        let cancelled = self.quantity_canceled.map_or(0, |Quantity(units)| units);
        let shipped = match (self.quantity_shipped, status) {
            (Some(Quantity(units)), _) => units,
            (None, Status::Shipped) => quantity.saturating_sub(cancelled),
            (None, Status::Created | Status::Cancelled) => 0,
        };
        facts::Line {
            identifier: &self.identifier.0,
            quantity,
            shipped,
            cancelled,
            unit_price: self.unit_price_amount_cents.0,
            product: self.product_amount_cents.map(|Amount(cents)| cents),
            tax: cents(self.tax_amount_cents),
        }
    }
}

impl RefundIn<'_> {
    fn facts(&self) -> facts::Refund<'_> {
        facts::Refund {
            identifier: &self.identifier.0,
            total: self.total_refund_amount_cents.0,
            refunded_at: self.created_at.0,
            lines: self.refund_line_items.0.iter().map(RefundLineIn::facts).collect(),
        }
    }
}

impl RefundLineIn<'_> {
    fn facts(&self) -> facts::RefundLine<'_> {
        facts::RefundLine { identifier: &self.identifier.0, order_line: &self.order_item_identifier.0, quantity: self.quantity.0 }
    }
}
