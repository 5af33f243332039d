//! Drop-ship orders: requests by merchants to place and view them, and by warehouses to report on them, at
//! `/v1/drop_ship_orders`.

mod content;
mod report;
mod shape;
mod shown;

use std::sync::LazyLock;

use domain::warehouse::drop_ship::repeated;
use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Value, json};

pub use self::content::{Address, Content, ItemContent, NOBODY};
pub use self::report::{
    CancelIn, CancelItemsIn, CancellationContent, RejectIn, ShipIn, ShipmentContent, UnitsContent, UnitsIn, read_cancel, read_cancel_items,
    read_reject, read_ship, too_many, unknown_item,
};
pub use self::shape::{DropShipAddressIn, DropShipItemIn, DropShipOrderIn, DropShipOrdersIn};
pub use self::shown::{
    DropShipOrderListed, DropShipOrderOut, DropShipOrderTaken, DropShipOrders, DropShipOrdersQuery, DropShipOrdersTaken, DropShipUnits,
};
use crate::explainer::Explainer;
use crate::fault::{Code, Fault, Path};
use crate::request::{self, Faults, Refusal};
use crate::shape::{List, Shape as _};

/// The field that holds the list of orders.
const ORDERS: &str = "drop_ship_orders";

static ORDER: LazyLock<Explainer> = LazyLock::new(order_explainer);
static BATCH: LazyLock<Explainer> =
    LazyLock::new(|| Explainer::with_lists::<DropShipOrdersIn<'_>>(&["DropShipOrder"], vec![(ORDERS, order_explainer())]));

fn order_explainer() -> Explainer {
    Explainer::with_lists::<DropShipOrderIn<'_>>(&["DropShipItem"], vec![("order_items", Explainer::of::<DropShipItemIn<'_>>())])
}

/// The schema of the requests that [`read`] accepts.
pub(crate) fn either() -> Value {
    json!({ "description": "A drop-ship order, or a list of them.", "anyOf": [DropShipOrderIn::reference(), DropShipOrdersIn::reference()] })
}

/// Drop-ship orders as the merchant sent them.
pub struct Sent<'a> {
    pub orders: Vec<DropShipOrderIn<'a>>,
    /// True for a list of orders, false for a single order.
    batch: bool,
}

/// Enough of a message to tell a list of orders from a single one.
#[derive(Deserialize)]
struct Peek<'a> {
    #[serde(borrow)]
    drop_ship_orders: Option<&'a RawValue>,
}

/// Reads a drop-ship order, or a list of them.
pub fn read(body: &[u8]) -> Result<Sent<'_>, Refusal> {
    let batch = serde_json::from_slice::<Peek<'_>>(body).is_ok_and(|peek| peek.drop_ship_orders.is_some());
    let sent = if batch {
        let DropShipOrdersIn { drop_ship_orders: List(orders), .. } = request::read(body, &BATCH)?;
        Sent { orders, batch }
    } else {
        // A single order is two nesting levels higher than one in a list.
        Sent { orders: vec![request::read_within(2, body, &ORDER)?], batch }
    };
    let faults = sent.repeated();
    if faults.is_empty() { Ok(sent) } else { Err(Refusal::Faulty(Faults { faults, identifiers: Vec::new() })) }
}

impl Sent<'_> {
    /// The path of the order at this position.
    #[must_use]
    pub fn path(&self, at: usize) -> Path {
        if self.batch { Path::root().field(ORDERS).index(at) } else { Path::root() }
    }

    /// Faults for repeated identifiers: of orders, and of items within an order.
    fn repeated(&self) -> Vec<Fault> {
        let fault = |at: &Path| Fault::new(at.field("client_identifier"), Code::Invalid, "must be unique within the list");
        let orders = repeated(self.orders.iter().map(|order| &*order.client_identifier.0)).into_iter();
        let mut faults: Vec<Fault> = orders.map(|at| fault(&self.path(at))).collect();
        for (at, order) in self.orders.iter().enumerate() {
            let items = repeated(order.order_items.0.iter().map(|item| &*item.client_identifier.0)).into_iter();
            faults.extend(items.map(|item| fault(&self.path(at).field("order_items").index(item))));
        }
        faults
    }
}
