//! Records that a shipment of a drop-ship order has left the warehouse.

use domain::id::MerchantId;
use store::warehouse::drop_ship_orders;
use store::warehouse::drop_shipments::{self, DropShipment, DropShipmentItem};
use wire::warehouse::drop_ship::ShipmentContent;
use wire::warehouse::drop_shipment::DropShipmentConfirmation;

use super::save_drop_ship_order::{DropShipError, advance, find_units, save_change};
use crate::app::App;
use crate::show::warehouse::drop_ship::{self, written};

/// The name of the list of units in a report.
const UNITS: &str = "shipment_items";

/// Applies the report of a shipment. A repeated report changes nothing.
pub async fn ship_drop_ship_order(
    app: &App,
    merchant: MerchantId,
    client_identifier: &str,
    reported: &ShipmentContent,
) -> Result<(), DropShipError> {
    let mut tx = app.begin(merchant).await?;
    let mut kept = drop_ship_orders::lock(&mut tx, client_identifier).await?.ok_or(DropShipError::NoSuchOrder)?;
    if let Some(before) = drop_shipments::find(&mut tx, kept.id, &reported.shipment_identifier).await? {
        let same = serde_json::from_str::<ShipmentContent>(&before).is_ok_and(|before| before == *reported);
        return if same { Ok(()) } else { Err(DropShipError::IdentifierUsed) };
    }
    let content = drop_ship::content(&kept)?;
    let units = find_units(&content, UNITS, &reported.shipment_items)?;
    let event = kept.order.ship(&units).map_err(|refused| DropShipError::of(UNITS, refused))?;
    advance(app, &mut kept);
    let items = units.iter().map(|units| DropShipmentItem { id: app.mint(), item: units.item, quantity: units.quantity.get() });
    let shipment = DropShipment {
        id: app.mint(),
        identifier: reported.shipment_identifier.clone(),
        created_at: kept.updated_at,
        content: written(reported)?,
        items: items.collect(),
    };
    drop_shipments::insert(&mut tx, kept.id, &shipment).await?;
    let body = written(&DropShipmentConfirmation { shipment: drop_ship::shipment(&content, &shipment, reported) })?;
    save_change(app, &mut tx, &kept, event, body).await?;
    Ok(app.commit(tx).await?)
}
