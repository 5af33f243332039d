//! Stores why an order message was refused, for support.

use domain::id::MerchantId;
use store::orders::refusals::{self, Refusal};
use wire::fault::Fault;
use wire::orders::order::excerpt;

use crate::app::App;
use crate::intake::counted::What;

/// An order message that was refused.
pub struct RefusedMessage<'a> {
    pub request_id: &'a str,
    /// As far as they could be read.
    pub order_identifiers: Vec<String>,
    /// The summary in the answer to the caller.
    pub reason: &'a str,
    pub faults: &'a [Fault],
    /// The message.
    pub body: &'a [u8],
}

/// The most faults stored. The caller got all of them.
const MOST_KEPT: usize = 100;

/// Counts a refusal and stores it.
pub async fn keep_refusal(app: &App, merchant: MerchantId, refused: RefusedMessage<'_>) -> Result<(), store::Failed> {
    app.intake.counted.note(merchant, app.now().date_naive(), [(What::REFUSED, 1)]);
    let faults = refused.faults.get(..MOST_KEPT).unwrap_or(refused.faults);
    let lines = excerpt(refused.body, faults);
    // PostgreSQL cannot store NUL in text, and a faulty message may have one anywhere.
    let storable = |text: String| text.replace('\0', "\u{fffd}");
    let refusal = Refusal {
        id: app.mint(),
        refused_at: app.now(),
        request_id: refused.request_id.to_owned(),
        order_identifiers: refused.order_identifiers.into_iter().map(storable).collect(),
        reason: refused.reason.to_owned(),
        faults: storable(serde_json::to_string(faults).unwrap_or_default()),
        excerpt: (!lines.is_empty()).then(|| storable(serde_json::to_string(&lines).unwrap_or_default())),
    };
    let mut tx = app.begin(merchant).await?;
    refusals::insert(&mut tx, &refusal).await?;
    app.commit(tx).await
}
