//! Deletes what is outdated: carrier events whose label never came, the ids of applied webhooks, closed cases of the work list, the
//! documents of labels, photos, and what the portal keeps of shoppers: sessions, links, those in mails too, drafts of returns and
//! of withdrawals, and counters of misses.

use std::collections::BTreeMap;

use domain::id::MerchantId;
use store::Failed;
use store::returns::{
    carrier_events, carrier_webhooks, labels, photos, portal_links, portal_misses, portal_sessions, return_drafts, return_links,
    withdrawal_drafts, withdrawal_links, work_items,
};

use crate::app::App;

/// The most rows of each table deleted in one run.
const MOST: i64 = 1_000;

/// Deletes outdated rows. Returns whether there may be more.
pub async fn forget_outdated(app: &App) -> Result<bool, Failed> {
    let now = app.shared_now().await?;
    let waited = carrier_events::list_outdated(app.cell(), now, MOST).await?;
    let taken = carrier_webhooks::list_outdated(app.cell(), now, MOST).await?;
    let closed = work_items::list_outdated(app.cell(), now, MOST).await?;
    let printed = labels::list_outdated(app.cell(), now, MOST).await?;
    let pictured = photos::list_outdated(app.cell(), now, MOST).await?;
    let left = portal_sessions::list_outdated(app.cell(), now, MOST).await?;
    let linked = portal_links::list_outdated(app.cell(), now, MOST).await?;
    let mailed = return_links::list_outdated(app.cell(), now, MOST).await?;
    let drafted = return_drafts::list_outdated(app.cell(), now, MOST).await?;
    let stated = withdrawal_drafts::list_outdated(app.cell(), now, MOST).await?;
    let acknowledged = withdrawal_links::list_outdated(app.cell(), now, MOST).await?;
    let missed = portal_misses::list_outdated(app.cell(), now, MOST).await?;
    let more = [
        waited.len(),
        taken.len(),
        closed.len(),
        printed.len(),
        pictured.len(),
        left.len(),
        linked.len(),
        mailed.len(),
        drafted.len(),
        stated.len(),
        acknowledged.len(),
        missed.len(),
    ]
    .into_iter()
    .any(|found| i64::try_from(found).is_ok_and(|found| found == MOST));
    for (merchant, events) in by_merchant(waited) {
        let Some(mut tx) = app.begin_here(merchant).await? else { continue };
        carrier_events::forget(&mut tx, &events).await?;
        app.commit(tx).await?;
    }
    for (merchant, events) in by_merchant(taken) {
        let Some(mut tx) = app.begin_here(merchant).await? else { continue };
        carrier_webhooks::forget(&mut tx, &events).await?;
        app.commit(tx).await?;
    }
    for (merchant, items) in by_merchant(closed) {
        let Some(mut tx) = app.begin_here(merchant).await? else { continue };
        work_items::forget(&mut tx, &items).await?;
        app.commit(tx).await?;
    }
    for (merchant, returns) in by_merchant(printed) {
        let Some(mut tx) = app.begin_here(merchant).await? else { continue };
        labels::forget_documents(&mut tx, &returns).await?;
        app.commit(tx).await?;
    }
    for (merchant, hashes) in by_merchant(pictured) {
        let Some(mut tx) = app.begin_here(merchant).await? else { continue };
        photos::forget(&mut tx, &hashes).await?;
        app.commit(tx).await?;
    }
    for (merchant, links) in by_merchant(linked) {
        let Some(mut tx) = app.begin_here(merchant).await? else { continue };
        portal_links::forget(&mut tx, &links).await?;
        app.commit(tx).await?;
    }
    for (merchant, links) in by_merchant(mailed) {
        let Some(mut tx) = app.begin_here(merchant).await? else { continue };
        return_links::forget(&mut tx, &links).await?;
        app.commit(tx).await?;
    }
    for (merchant, sessions) in by_merchant(left) {
        let Some(mut tx) = app.begin_here(merchant).await? else { continue };
        portal_sessions::forget(&mut tx, &sessions).await?;
        app.commit(tx).await?;
    }
    for (merchant, drafts) in by_merchant(drafted) {
        let Some(mut tx) = app.begin_here(merchant).await? else { continue };
        return_drafts::forget(&mut tx, &drafts).await?;
        app.commit(tx).await?;
    }
    for (merchant, sessions) in by_merchant(stated) {
        let Some(mut tx) = app.begin_here(merchant).await? else { continue };
        withdrawal_drafts::forget(&mut tx, &sessions).await?;
        app.commit(tx).await?;
    }
    for (merchant, links) in by_merchant(acknowledged) {
        let Some(mut tx) = app.begin_here(merchant).await? else { continue };
        withdrawal_links::forget(&mut tx, &links).await?;
        app.commit(tx).await?;
    }
    for (merchant, counters) in by_merchant(missed) {
        let Some(mut tx) = app.begin_here(merchant).await? else { continue };
        portal_misses::forget(&mut tx, &counters, now).await?;
        app.commit(tx).await?;
    }
    Ok(more)
}

/// Groups rows by merchant, because each transaction is one merchant's.
pub(in crate::flow) fn by_merchant<T>(outdated: Vec<(MerchantId, T)>) -> BTreeMap<MerchantId, Vec<T>> {
    let mut by_merchant: BTreeMap<MerchantId, Vec<T>> = BTreeMap::new();
    for (merchant, row) in outdated {
        by_merchant.entry(merchant).or_default().push(row);
    }
    by_merchant
}
