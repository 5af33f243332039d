//! Computes the fingerprints of orders anew, when another key is in use for them.

use domain::id::MerchantId;
use store::Failed;
use store::node::keys::{self, UsedKey};
use store::orders::fingerprints::{self, NewFingerprints};
use uuid::Uuid;
use wire::orders::order::read_stored;

use super::accept_orders::shopper_fingerprints;
use crate::app::App;
use crate::flow::node::rotate_keys::RECOMPUTED_AFTER;
use crate::node::keys::active;
use crate::platform::keys::Kind;

/// The most merchants of one run.
const MERCHANTS: i64 = 20;
/// The orders of one transaction.
const ORDERS: i64 = 200;

/// Computes fingerprints anew if the key was rotated long enough ago. Returns whether there is more to do.
pub async fn renew_fingerprints(app: &App) -> Result<bool, Failed> {
    let used = keys::list(app.home()).await?;
    let Some(key) = active(&used, Kind::Fingerprint) else { return Ok(false) };
    let was_replaced = |old: &UsedKey| old.kind == key.kind && old.id != key.id && old.activated_at.is_some() && old.retired_at.is_none();
    let is_early = key.activated_at.is_none_or(|at| app.now() < at + RECOMPUTED_AFTER);
    // A process without the key cannot compute anything with it.
    if is_early || !used.iter().any(was_replaced) || app.fingerprints.active() != key.id {
        return Ok(false);
    }
    let merchants = fingerprints::list_unfinished(app.cell(), &key.id, Uuid::nil(), MERCHANTS).await?;
    for merchant in &merchants {
        renew_page(app, *merchant, &key.id).await?;
    }
    Ok(!merchants.is_empty())
}

/// Computes the next fingerprints of one merchant.
async fn renew_page(app: &App, merchant: MerchantId, key_id: &str) -> Result<(), Failed> {
    let Some(mut tx) = app.begin_here(merchant).await? else { return Ok(()) };
    let after = fingerprints::lock_progress(&mut tx, key_id).await?;
    let orders = fingerprints::lock_page(&mut tx, &after, ORDERS).await?;
    let next = orders.last().map(|order| order.identifier.clone()).filter(|_| i64::try_from(orders.len()).is_ok_and(|n| n == ORDERS));
    let new: Vec<NewFingerprints> = orders
        .into_iter()
        .map(|order| {
            // What cannot be read has no fingerprint that anybody could look for.
            let (email, zip) = read_stored(&order.snapshot).map(|order| shopper_fingerprints(app, &order)).unwrap_or_default();
            NewFingerprints { identifier: order.identifier, email, zip }
        })
        .collect();
    fingerprints::save(&mut tx, &new, next.as_deref(), app.now()).await?;
    app.commit(tx).await
}
