//! What carriers reported of parcels that no label ever came for is forgotten.

use std::collections::BTreeMap;

use domain::id::MerchantId;
use store::{Failed, carrier_events};
use uuid::Uuid;

use crate::app::App;

/// How many events are forgotten in a row.
const MOST: i64 = 1_000;

/// Forgets events that have waited for too long, and answers whether there may be more.
pub async fn forget_carrier_events(app: &App) -> Result<bool, Failed> {
    let outdated = carrier_events::list_outdated(&app.store, app.now(), MOST).await?;
    let more = i64::try_from(outdated.len()).is_ok_and(|found| found == MOST);
    let mut by_merchant: BTreeMap<MerchantId, Vec<Uuid>> = BTreeMap::new();
    for (merchant, event) in outdated {
        by_merchant.entry(merchant).or_default().push(event);
    }
    for (merchant, events) in by_merchant {
        let mut tx = app.store.begin(merchant).await?;
        carrier_events::forget(&mut tx, &events).await?;
        tx.commit().await?;
    }
    Ok(more)
}
