//! Drop-ship orders: how merchants give them, how warehouses report on them, and how both look at them, at
//! `/v1/drop_ship_orders`.

mod content;
mod report;
mod shown;

use std::sync::LazyLock;

use domain::drop_ship::repeated;
use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Value, json};

pub use self::content::{Address, Content, ItemContent, NOBODY};
pub use self::report::{
    CancelIn, CancelItemsIn, CancellationContent, RejectIn, ShipIn, ShipmentContent, UnitsContent, UnitsIn, read_cancel, read_cancel_items,
    read_reject, read_ship, too_many, unknown_item,
};
pub use self::shown::{
    DropShipOrderListed, DropShipOrderOut, DropShipOrderTaken, DropShipOrders, DropShipOrdersQuery, DropShipOrdersTaken, DropShipUnits,
    MOST_LISTED,
};
use crate::fault::{Code, Fault, Path};
use crate::order::{Faults, MOST_ENTRIES, MOST_ORDERS, Refusal};
use crate::schema::{self, Explainer};
use crate::shape::{Amount, Count, Day, Flag, Identifier, List, Shape as _, Text, object};

/// The name of the list of orders.
const ORDERS: &str = "drop_ship_orders";

object! {
    /// Drop-ship orders, 1 to 100 of them; taken all or none.
    pub struct DropShipOrdersIn<'a> as "GiveDropShipOrders" at 1 {
        /// The orders.
        drop_ship_orders: List<DropShipOrderIn<'a>, 1, MOST_ORDERS>,
    }
}

object! {
    /// An order that the warehouse is to ship to the shopper.
    pub struct DropShipOrderIn<'a> as "DropShipOrder" at 3 {
        /// The merchant's name for it, new for every order.
        client_identifier: Identifier<'a>,
        /// Where it goes.
        shipping_address: DropShipAddressIn<'a>,
        /// Who pays.
        billing_address: Option<DropShipAddressIn<'a>>,
        /// What is to be shipped.
        order_items: List<DropShipItemIn<'a>, 1, MOST_ENTRIES>,
        /// The brand that it is sold under.
        brand: Option<Text<'a>>,
        /// The channel that it was sold through.
        channel: Option<Text<'a>>,
        /// How it is to be shipped.
        shipping_method: Option<Text<'a>>,
        /// Price of the goods.
        price_cents: Option<Amount>,
        /// Tax on the goods.
        tax_cents: Option<Amount>,
        /// What handling it costs.
        processing_fee_cents: Option<Amount>,
        /// What shipping it costs.
        shipping_cost_cents: Option<Amount>,
        /// Tax on shipping.
        shipping_tax_cents: Option<Amount>,
        /// For the people at the warehouse.
        comments: Option<Text<'a>>,
        /// The day on which the shopper expects it.
        expected_delivery_date: Option<Day>,
        /// Whether somebody must sign for it.
        signature_required: Option<Flag>,
        /// The packing slip that goes with it.
        packing_slip_identifier: Option<Text<'a>>,
    }
}

object! {
    /// A postal address.
    pub struct DropShipAddressIn<'a> as "DropShipAddress" at 4 {
        /// Who lives there.
        name: Identifier<'a>,
        /// A company.
        company: Option<Text<'a>>,
        /// For the carrier.
        telephone_number: Option<Text<'a>>,
        /// Street and number.
        street: Identifier<'a>,
        /// A second line.
        street2: Option<Text<'a>>,
        /// The city.
        city: Identifier<'a>,
        /// The state or province.
        state: Option<Text<'a>>,
        /// The postal code.
        zip_code: Option<Text<'a>>,
        /// The country.
        country: Identifier<'a>,
    }
}

object! {
    /// Units of one SKU.
    pub struct DropShipItemIn<'a> as "DropShipItem" at 5 {
        /// The merchant's name for it, unique within the order.
        client_identifier: Identifier<'a>,
        /// SKU.
        sku: Identifier<'a>,
        /// How many units.
        quantity: Count,
        /// Its brand.
        brand: Option<Text<'a>>,
        /// The condition that the units must be in.
        condition: Option<Text<'a>>,
        /// Price of the goods.
        price_cents: Option<Amount>,
        /// Tax on the goods.
        tax_cents: Option<Amount>,
        /// What shipping it costs.
        shipping_cost_cents: Option<Amount>,
        /// Tax on shipping.
        shipping_tax_cents: Option<Amount>,
        /// For the people at the warehouse.
        comments: Option<Text<'a>>,
    }
}

static ORDER: LazyLock<Explainer> = LazyLock::new(order);
static BATCH: LazyLock<Explainer> =
    LazyLock::new(|| Explainer::new(&DropShipOrdersIn::reference(), &["DropShipOrder"], [(ORDERS, order())]));

fn order() -> Explainer {
    let item = Explainer::new(&DropShipItemIn::reference(), &[], []);
    Explainer::new(&DropShipOrderIn::reference(), &["DropShipItem"], [("order_items", item)])
}

/// The schema of what [`read`] takes.
pub(crate) fn either() -> Value {
    json!({ "description": "A drop-ship order, or a list of them.", "anyOf": [DropShipOrderIn::reference(), DropShipOrdersIn::reference()] })
}

/// Drop-ship orders as a merchant sent them.
pub struct Sent<'a> {
    /// The orders, in the order of the message.
    pub orders: Vec<DropShipOrderIn<'a>>,
    /// Whether they came in a list, or one alone.
    batch: bool,
}

/// Whether a message is a list of orders.
#[derive(Deserialize)]
struct Peek<'a> {
    #[serde(borrow)]
    drop_ship_orders: Option<&'a RawValue>,
}

/// Reads drop-ship orders: one alone, or a list of them.
pub fn read(body: &[u8]) -> Result<Sent<'_>, Refusal> {
    let batch = serde_json::from_slice::<Peek<'_>>(body).is_ok_and(|peek| peek.drop_ship_orders.is_some());
    let sent = if batch {
        let DropShipOrdersIn { drop_ship_orders: List(orders), .. } = schema::read(body, &BATCH)?;
        Sent { orders, batch }
    } else {
        // An order alone stands two levels higher than one in a list.
        Sent { orders: vec![schema::read_within(2, body, &ORDER)?], batch }
    };
    let faults = sent.repeated();
    if faults.is_empty() { Ok(sent) } else { Err(Refusal::Faulty(Faults { faults, identifiers: Vec::new() })) }
}

impl Sent<'_> {
    /// Where the order at this position stands in the message.
    #[must_use]
    pub fn path(&self, at: usize) -> Path {
        if self.batch { Path::root().field(ORDERS).index(at) } else { Path::root() }
    }

    /// Names that are given twice: of orders, and of items within an order.
    fn repeated(&self) -> Vec<Fault> {
        let fault = |at: &Path| Fault::new(at.field("client_identifier"), Code::Invalid, "is given twice");
        let orders = repeated(self.orders.iter().map(|order| &*order.client_identifier.0)).into_iter();
        let mut faults: Vec<Fault> = orders.map(|at| fault(&self.path(at))).collect();
        for (at, order) in self.orders.iter().enumerate() {
            let items = repeated(order.order_items.0.iter().map(|item| &*item.client_identifier.0)).into_iter();
            faults.extend(items.map(|item| fault(&self.path(at).field("order_items").index(item))));
        }
        faults
    }
}
