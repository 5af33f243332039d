//! Cancels a drop-ship order for the warehouse, as a whole or in part.

use domain::id::MerchantId;
use domain::warehouse::drop_ship::{Event, Order, Refused};
use store::Tx;
use store::warehouse::drop_ship_cancellations;
use store::warehouse::drop_ship_orders::{self, DropShipOrder};
use wire::warehouse::drop_ship::{CancellationContent, Content};

use super::save_drop_ship_order::{DropShipError, advance, cancellation_body, find_units, save_change};
use crate::app::App;
use crate::show::warehouse::drop_ship::{self, written};

/// The name of the list of units in a report.
const UNITS: &str = "order_items";

/// The ways a whole order can end without being shipped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OrderEnd {
    /// The warehouse cannot fulfil the order.
    Cancelled,
    /// The warehouse does not accept the order.
    Rejected,
}

/// The warehouse's explanation.
#[derive(Clone, Copy, Default)]
pub struct Explanation<'a> {
    pub reject_reason: Option<&'a str>,
    pub comments: Option<&'a str>,
}

/// Cancels or rejects a whole order. A repeat changes nothing; the first explanation stays.
pub async fn end_drop_ship_order(
    app: &App,
    merchant: MerchantId,
    client_identifier: &str,
    end: OrderEnd,
    explanation: Explanation<'_>,
) -> Result<(), DropShipError> {
    let mut tx = app.begin(merchant).await?;
    let mut kept = drop_ship_orders::lock(&mut tx, client_identifier).await?.ok_or(DropShipError::NoSuchOrder)?;
    let step: fn(&mut Order) -> Result<Option<Event>, Refused> = match end {
        OrderEnd::Cancelled => Order::cancel,
        OrderEnd::Rejected => Order::reject,
    };
    let Some(event) = step(&mut kept.order).map_err(DropShipError::Refused)? else { return Ok(()) };
    let content = drop_ship::content(&kept)?;
    finish(app, tx, &mut kept, &content, event, explanation).await
}

/// Cancels units of an order. A repeated report changes nothing.
pub async fn cancel_drop_ship_items(
    app: &App,
    merchant: MerchantId,
    client_identifier: &str,
    reported: &CancellationContent,
) -> Result<(), DropShipError> {
    let mut tx = app.begin(merchant).await?;
    let mut kept = drop_ship_orders::lock(&mut tx, client_identifier).await?.ok_or(DropShipError::NoSuchOrder)?;
    let identifier = &reported.cancellation_identifier;
    if let Some(before) = drop_ship_cancellations::find(&mut tx, kept.id, identifier).await? {
        let same = serde_json::from_str::<CancellationContent>(&before).is_ok_and(|before| before == *reported);
        return if same { Ok(()) } else { Err(DropShipError::IdentifierUsed) };
    }
    let content = drop_ship::content(&kept)?;
    let units = find_units(&content, UNITS, &reported.order_items)?;
    let event = kept.order.cancel_units(&units).map_err(|refused| DropShipError::of(UNITS, refused))?;
    drop_ship_cancellations::insert(&mut tx, kept.id, identifier, &written(reported)?, app.now()).await?;
    let explanation = Explanation { reject_reason: reported.reject_reason.as_deref(), comments: reported.comments.as_deref() };
    finish(app, tx, &mut kept, &content, event, explanation).await
}

/// Saves the cancellation and owes its message. The explanation is stored only for a whole order.
async fn finish(
    app: &App,
    mut tx: Tx,
    kept: &mut DropShipOrder,
    content: &Content,
    event: Event,
    explanation: Explanation<'_>,
) -> Result<(), DropShipError> {
    match event {
        Event::Cancelled | Event::Rejected => {
            kept.reject_reason = explanation.reject_reason.map(ToOwned::to_owned);
            kept.comments = explanation.comments.map(ToOwned::to_owned);
        }
        Event::PartiallyCancelled | Event::Confirmed => {}
    }
    advance(app, kept);
    let body = cancellation_body(kept, content, event)?;
    save_change(app, &mut tx, kept, event, body).await?;
    Ok(app.commit(tx).await?)
}
