//! The warehouse calls a drop-ship order off, as a whole or in part.

use domain::id::MerchantId;
use domain::warehouse::drop_ship::{Event, Order, Refused};
use store::Tx;
use store::warehouse::drop_ship_cancellations;
use store::warehouse::drop_ship_orders::{self, DropShipOrder};
use wire::warehouse::drop_ship::{CancellationContent, Content};

use super::tell_drop_ship::{DropShipError, called_off, count, named, tell};
use crate::app::App;
use crate::show::warehouse::drop_ship::{self, written};

/// The name of the list of units in a report.
const UNITS: &str = "order_items";

/// How an order ends as a whole.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// The warehouse cannot fulfil it.
    Cancelled,
    /// The warehouse does not take it on.
    Rejected,
}

/// What the warehouse says on it.
#[derive(Clone, Copy, Default)]
pub struct Why<'a> {
    /// Why.
    pub reject_reason: Option<&'a str>,
    /// More of it.
    pub comments: Option<&'a str>,
}

/// Calls an order off as a whole. If it was before, nothing changes: what was said then stays.
pub async fn end_drop_ship_order(
    app: &App,
    merchant: MerchantId,
    client_identifier: &str,
    end: End,
    why: Why<'_>,
) -> Result<(), DropShipError> {
    let mut tx = app.begin(merchant).await?;
    let mut kept = drop_ship_orders::lock(&mut tx, client_identifier).await?.ok_or(DropShipError::NoSuchOrder)?;
    let step: fn(&mut Order) -> Result<Option<Event>, Refused> = match end {
        End::Cancelled => Order::cancel,
        End::Rejected => Order::reject,
    };
    let Some(event) = step(&mut kept.order).map_err(DropShipError::Refused)? else { return Ok(()) };
    let content = drop_ship::content(&kept)?;
    finish(app, tx, &mut kept, &content, event, why).await
}

/// Calls units of an order off. The same report again changes nothing.
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
        return if same { Ok(()) } else { Err(DropShipError::NameUsed) };
    }
    let content = drop_ship::content(&kept)?;
    let units = named(&content, UNITS, &reported.order_items)?;
    let event = kept.order.cancel_units(&units).map_err(|refused| DropShipError::of(UNITS, refused))?;
    drop_ship_cancellations::insert(&mut tx, kept.id, identifier, &written(reported)?, app.now()).await?;
    let why = Why { reject_reason: reported.reject_reason.as_deref(), comments: reported.comments.as_deref() };
    finish(app, tx, &mut kept, &content, event, why).await
}

/// Writes down and tells what was called off. Only of a whole order is it said why.
async fn finish(
    app: &App,
    mut tx: Tx,
    kept: &mut DropShipOrder,
    content: &Content,
    event: Event,
    why: Why<'_>,
) -> Result<(), DropShipError> {
    match event {
        Event::Cancelled | Event::Rejected => {
            kept.reject_reason = why.reject_reason.map(ToOwned::to_owned);
            kept.comments = why.comments.map(ToOwned::to_owned);
        }
        Event::PartiallyCancelled | Event::Confirmed => {}
    }
    count(app, kept);
    let body = called_off(kept, content, event)?;
    tell(app, &mut tx, kept, event, body).await?;
    Ok(app.commit(tx).await?)
}
