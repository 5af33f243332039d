//! Meets erased shoppers again after a rotation of keys: whoever is on the list by a fingerprint of an earlier key is put there by that
//! of the active one. Their address is known only while an order of theirs arrives.

use domain::id::MerchantId;
use store::Failed;
use store::merchants::suppressions::{self, Keyed};
use store::orders::snapshots::Fingerprint;
use wire::orders::order::ReceivedOrder;
use wire::shape::Text;

use crate::app::App;

/// Renews the list for the shoppers of these orders, before the orders are stored. Costs nothing while there is one key.
pub(super) async fn renew_suppressions<'m>(
    app: &App,
    merchant: MerchantId,
    orders: impl Iterator<Item = &'m ReceivedOrder<'m>>,
) -> Result<(), Failed> {
    if app.fingerprints.are_one() {
        return Ok(());
    }
    let mut met: Vec<(Fingerprint, Fingerprint)> = Vec::new();
    for email in orders.filter_map(|received| received.order.customer.email.as_ref().map(|Text(email)| email)) {
        if let Some((active, former)) = app.fingerprints.emails(email).split_first() {
            met.extend(former.iter().map(|former| (*former, *active)));
        }
    }
    let former: Vec<Fingerprint> = met.iter().map(|(former, _)| *former).collect();
    let listed = suppressions::among(app.store(merchant), merchant, &former).await?;
    if listed.is_empty() {
        return Ok(());
    }
    let key_id = app.fingerprints.active();
    let mut tx = app.begin(merchant).await?;
    for (former, active) in met.iter().filter(|(former, _)| listed.iter().any(|print| print == former)) {
        suppressions::renew(&mut tx, former, Keyed { print: *active, key_id }).await?;
    }
    app.commit(tx).await
}
