//! The list of the published JSON Schemas of inbound messages.

use serde_json::{Map, Value};

use crate::orders::order::OrderMessage;
use crate::returns::api::{ConvertExchangeIn, StartReturnIn};
use crate::returns::carrier::CarrierEventIn;
use crate::returns::exchange_order::PlacedOrderIn;
use crate::shape::Shape as _;
use crate::warehouse::drop_ship::{self, CancelIn, CancelItemsIn, DropShipOrdersIn, RejectIn, ShipIn};
use crate::warehouse::inbound::InboundAsnsIn;
use crate::warehouse::outbound_shipment::{CreateShipmentIn, ShipmentChangeIn, UnitsIn};
use crate::warehouse::receiving::ReceiptsIn;

/// The schemas of inbound messages by name, for `components.schemas` of the OpenAPI document.
#[must_use]
pub fn components() -> Map<String, Value> {
    let mut components = Map::new();
    OrderMessage::define(&mut components);
    StartReturnIn::define(&mut components);
    PlacedOrderIn::define(&mut components);
    ConvertExchangeIn::define(&mut components);
    CarrierEventIn::define(&mut components);
    DropShipOrdersIn::define(&mut components);
    components.insert("DropShipOrderOrOrders".to_owned(), drop_ship::either());
    ShipIn::define(&mut components);
    CancelIn::define(&mut components);
    RejectIn::define(&mut components);
    CancelItemsIn::define(&mut components);
    CreateShipmentIn::define(&mut components);
    UnitsIn::define(&mut components);
    ShipmentChangeIn::define(&mut components);
    InboundAsnsIn::define(&mut components);
    ReceiptsIn::define(&mut components);
    components
}
