//! Exports everything that is stored about a shopper's order, for the shopper who asks for it. The audit has each export.

use domain::id::MerchantId;
use domain::messages::message::Kind;
use serde_json::Value;
use store::Failed;
use store::merchants::audit::{self, Entry};
use store::merchants::erasures;
use store::merchants::shopper_export::{self, ExportedRow};
use store::orders::snapshots;
use store::returns::withdrawals;
use uuid::Uuid;
use wire::merchants::shopper_export::ShopperExport;

use super::erase_shopper::of_order;
use crate::app::App;

/// Adds the rows about the order `order` to `export`. Returns false if the merchant has no such order.
pub async fn export_order(app: &App, actor: &str, merchant: MerchantId, order: &str, export: &mut ShopperExport) -> Result<bool, Failed> {
    let mut tx = app.begin(merchant).await?;
    // Locked, so that all rows are of the same moment.
    if snapshots::lock(&mut tx, order).await?.is_none() {
        return Ok(false);
    }
    let returns = erasures::lock_returns(&mut tx, order).await?;
    let on = of_order(order, &returns, withdrawals::references(&mut tx, order).await?);
    let on: Vec<(Kind, &str)> = on.iter().map(|(kind, subject)| (*kind, subject.as_str())).collect();
    let messages = erasures::messages(&mut tx, &on).await?;
    let ids: Vec<Uuid> = returns.iter().map(|of_order| of_order.id).collect();
    let rows = shopper_export::rows(&mut tx, order, &ids, &messages).await?;
    audit::record(&mut tx, Entry { id: app.mint(), actor, action: "shopper.exported", detail: order, done_at: app.now() }).await?;
    app.commit(tx).await?;
    export.push(order, rows.into_iter().map(read).collect::<Result<Vec<_>, _>>()?);
    Ok(true)
}

fn read(ExportedRow { table, row }: ExportedRow) -> Result<(String, Value), Failed> {
    let row = serde_json::from_str(&row).map_err(|_| Failed::Internal("a stored row cannot be read as JSON"))?;
    Ok((table, row))
}
