//! Accepts the drop-ship orders of a merchant for the warehouse: all of a message, or none.

use domain::id::MerchantId;
use domain::warehouse::drop_ship::Order;
use store::Failed;
use store::warehouse::drop_ship_orders::{self, DropShipOrder};
use uuid::Uuid;
use wire::warehouse::drop_ship::Content;

use crate::app::App;
use crate::show::warehouse::drop_ship::written;

/// An accepted order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AcceptedOrder {
    pub id: Uuid,
    /// `false` if the same order was known already.
    pub new: bool,
}

/// The reasons orders are not accepted.
#[derive(Debug, thiserror::Error)]
pub enum TakeDropShipOrdersError {
    /// The positions of orders that are known with different content.
    #[error("some drop-ship orders already exist with different content")]
    ContentDiffers(Vec<usize>),
    #[error(transparent)]
    Failed(#[from] Failed),
}

/// Accepts drop-ship orders with distinct identifiers. Returns them in the same order.
pub async fn take_drop_ship_orders(
    app: &App,
    merchant: MerchantId,
    given: &[Content],
) -> Result<Vec<AcceptedOrder>, TakeDropShipOrdersError> {
    let now = app.now();
    let mut new = given.iter().map(|content| make(app, content)).collect::<Result<Vec<_>, _>>()?;
    // Sorted to avoid deadlocks between concurrent requests.
    new.sort_by(|one, other| one.client_identifier.cmp(&other.client_identifier));
    let mut tx = app.begin(merchant).await?;
    let inserted = drop_ship_orders::insert(&mut tx, &new, now).await?;
    let names: Vec<&str> = given.iter().map(|content| content.client_identifier.as_str()).collect();
    let kept = drop_ship_orders::contents(&mut tx, &names).await?;
    let (mut accepted, mut known) = (Vec::with_capacity(given.len()), Vec::new());
    for (at, content) in given.iter().enumerate() {
        let kept = kept.get(&content.client_identifier);
        let (id, text) = kept.ok_or(Failed::Internal("an inserted drop-ship order was not found"))?;
        let new = inserted.contains(id);
        // Compare parsed content: text written by an older version may lack fields added since.
        let same = new || serde_json::from_str::<Content>(text).is_ok_and(|kept| kept == *content);
        if same { accepted.push(AcceptedOrder { id: *id, new }) } else { known.push(at) }
    }
    if !known.is_empty() {
        tx.rollback().await?;
        return Err(TakeDropShipOrdersError::ContentDiffers(known));
    }
    app.commit(tx).await?;
    Ok(accepted)
}

fn make(app: &App, content: &Content) -> Result<DropShipOrder, Failed> {
    let now = app.now();
    Ok(DropShipOrder {
        id: app.mint(),
        billing_address_id: app.mint(),
        shipping_address_id: app.mint(),
        client_identifier: content.client_identifier.clone(),
        created_at: now,
        updated_at: now,
        sequence: 0,
        content: written(content)?,
        reject_reason: None,
        comments: None,
        order: Order::new(content.order_items.iter().map(|item| item.quantity)),
        item_ids: content.order_items.iter().map(|_| app.mint()).collect(),
    })
}
