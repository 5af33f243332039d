//! Calls that somebody waited for are counted in the reports, beside those that deliver messages.

use domain::id::{EndpointId, MerchantId};
use domain::message::Interface;
use store::{Failed, reports};

use crate::app::App;
use crate::outbound::variants::Call;

/// Counts calls of an endpoint that is asked.
pub async fn count_calls(
    app: &App,
    merchant: MerchantId,
    endpoint: EndpointId,
    interface: Interface,
    calls: &[Call],
) -> Result<(), Failed> {
    if calls.is_empty() {
        return Ok(());
    }
    let mut tx = app.store.begin(merchant).await?;
    for call in calls {
        reports::count_call(&mut tx, endpoint, interface, &call.outcome, call.began_at).await?;
    }
    tx.commit().await
}
