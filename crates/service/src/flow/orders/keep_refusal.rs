//! An order message was refused: keep why, for support.

use domain::id::MerchantId;
use store::orders::refusals::{self, Refusal};
use wire::fault::Fault;

use crate::app::App;

/// What was refused.
pub struct Refused<'a> {
    /// The request, as the caller was told.
    pub request_id: &'a str,
    /// The orders' identifiers, as far as they could be told.
    pub order_identifiers: Vec<String>,
    /// The summary that the caller was given.
    pub reason: &'a str,
    /// The faults that the caller was told.
    pub faults: &'a [Fault],
}

/// How many faults are kept; the caller was told all of them.
const MOST_KEPT: usize = 100;

/// Keeps a refusal.
pub async fn keep_refusal(app: &App, merchant: MerchantId, refused: Refused<'_>) -> Result<(), store::Failed> {
    let faults: Vec<&Fault> = refused.faults.iter().take(MOST_KEPT).collect();
    // A NUL cannot be stored as text, and a faulty message may have one anywhere.
    let storable = |text: String| text.replace('\0', "\u{fffd}");
    let refusal = Refusal {
        id: app.mint(),
        refused_at: app.now(),
        request_id: refused.request_id.to_owned(),
        order_identifiers: refused.order_identifiers.into_iter().map(storable).collect(),
        reason: refused.reason.to_owned(),
        faults: storable(serde_json::to_string(&faults).unwrap_or_default()),
    };
    let mut tx = app.begin(merchant).await?;
    refusals::insert(&mut tx, &refusal).await?;
    app.commit(tx).await
}
