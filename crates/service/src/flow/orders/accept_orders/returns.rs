//! Orders that no longer have units on their way back.

use std::collections::BTreeMap;

use domain::id::MerchantId;
use store::Failed;
use store::orders::snapshots;
use store::returns::unit_claims;
use wire::fault::Warning;
use wire::orders::order as wire_order;

use crate::app::App;
use crate::intake::PublishOutcome;

/// Warnings for changed orders that lack units on their way back. The returns stay as they are.
pub(super) async fn missing_units(
    app: &App,
    merchant: MerchantId,
    identifiers: &[String],
    outcomes: &[PublishOutcome],
) -> Result<Vec<Warning>, Failed> {
    let mut warnings = Vec::new();
    for (at, (_, identifier)) in outcomes.iter().zip(identifiers).enumerate().filter(|(_, (outcome, _))| outcome.changed_under_returns) {
        let Some(stored) = snapshots::find(app.store(merchant), merchant, identifier).await? else { continue };
        let Some(sale) = wire_order::read_stored(&stored.snapshot).map(|order| order.sale()) else { continue };
        let mut live: BTreeMap<String, u32> = BTreeMap::new();
        for claim in unit_claims::list(app.store(merchant), merchant, identifier).await?.into_iter().filter(|claim| !claim.refunded) {
            *live.entry(claim.line).or_default() += 1;
        }
        warnings.extend(wire_order::changed_under_returns(at, &sale, &live));
    }
    Ok(warnings)
}
