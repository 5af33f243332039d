//! A merchant gives orders to the warehouse: all of a message, or none.

use domain::id::MerchantId;
use domain::warehouse::drop_ship::Order;
use store::Failed;
use store::warehouse::drop_ship_orders::{self, DropShipOrder};
use uuid::Uuid;
use wire::warehouse::drop_ship::Content;

use crate::app::App;
use crate::show::warehouse::drop_ship::written;

/// What became of an order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Taken {
    /// Its id.
    pub id: Uuid,
    /// Whether it is new; otherwise it was known with the same content.
    pub new: bool,
}

/// Why orders were not taken.
#[derive(Debug, thiserror::Error)]
pub enum TakeDropShipOrdersError {
    /// The orders at these positions are known with other content.
    #[error("drop-ship orders are known with other content")]
    Known(Vec<usize>),
    /// The database.
    #[error(transparent)]
    Failed(#[from] Failed),
}

/// Takes drop-ship orders, each of another name. What became of each is answered in their order.
pub async fn take_drop_ship_orders(app: &App, merchant: MerchantId, given: &[Content]) -> Result<Vec<Taken>, TakeDropShipOrdersError> {
    let now = app.now();
    let mut new = given.iter().map(|content| make(app, content)).collect::<Result<Vec<_>, _>>()?;
    // Whoever gives the same orders at the same time waits in the same order.
    new.sort_by(|one, other| one.client_identifier.cmp(&other.client_identifier));
    let mut tx = app.begin(merchant).await?;
    let inserted = drop_ship_orders::insert(&mut tx, &new, now).await?;
    let names: Vec<&str> = given.iter().map(|content| content.client_identifier.as_str()).collect();
    let kept = drop_ship_orders::contents(&mut tx, &names).await?;
    let (mut taken, mut known) = (Vec::with_capacity(given.len()), Vec::new());
    for (at, content) in given.iter().enumerate() {
        let kept = kept.get(&content.client_identifier);
        let (id, text) = kept.ok_or_else(|| Failed::Internal("a drop-ship order is gone"))?;
        let new = inserted.contains(id);
        // Text that an older version wrote may lack what was added since.
        let same = new || serde_json::from_str::<Content>(text).is_ok_and(|kept| kept == *content);
        if same { taken.push(Taken { id: *id, new }) } else { known.push(at) }
    }
    if !known.is_empty() {
        tx.rollback().await?;
        return Err(TakeDropShipOrdersError::Known(known));
    }
    app.commit(tx).await?;
    Ok(taken)
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
