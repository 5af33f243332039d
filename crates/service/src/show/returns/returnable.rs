//! An order with everything that decides on its returns.

use std::collections::BTreeMap;

use domain::id::MerchantId;
use domain::returns::rma::choice::Standing;
use domain::returns::rma::eligibility::{self, LineEligibility, UnavailableUnits};
use domain::returns::rma::policy::Policy;
use domain::returns::rma::sale::{Sale, SoldLine};
use store::Failed;
use store::returns::return_drafts::Draft;
use store::returns::returnable_orders::ReturnableOrder;
use store::returns::unit_claims::Claim;
use store::returns::{return_policies, returnable_orders};
use wire::returns::draft::Answers;

use crate::app::App;

/// The session of a caller who is not a shopper in the portal.
pub(crate) const NO_SESSION: &[u8] = &[];

/// An order with what decides on its exchanges: the return policy and any earlier exchange.
pub struct Exchangeable {
    pub sale: Sale,
    pub(crate) policy: Policy,
    pub(crate) standing: Standing,
}

impl Exchangeable {
    /// Finds a line by its identifier.
    #[must_use]
    pub fn line(&self, identifier: &str) -> Option<&SoldLine> {
        self.sale.lines.iter().find(|sold| sold.identifier == identifier)
    }
}

/// An order of which something may come back.
pub(crate) struct Returnable {
    pub(crate) order: Exchangeable,
    pub(crate) currency: String,
    /// What of each line can come back.
    pub(crate) lines: Vec<LineEligibility>,
    /// The units that belong to returns.
    pub(crate) claims: Vec<Claim>,
    /// The draft of a return, unless another session owns it.
    pub(crate) draft: Option<Draft>,
    /// The answers in it.
    pub(crate) answers: Answers,
}

/// Finds the merchant's order `order`, with the draft as the session `session` sees it.
pub(crate) async fn find(app: &App, merchant: MerchantId, order: &str, session: &[u8]) -> Result<Option<Returnable>, Failed> {
    let store = app.store(merchant);
    let (found, policy) =
        tokio::try_join!(returnable_orders::find(store, merchant, order, session), return_policies::current(store, merchant))?;
    found.map(|found| decide(app, found, policy)).transpose()
}

/// What can come back of the order `found` under this policy.
pub(crate) fn decide(app: &App, found: ReturnableOrder, policy: Policy) -> Result<Returnable, Failed> {
    let read = wire::orders::order::read_stored(&found.snapshot).ok_or(Failed::Internal("a stored order cannot be read"))?;
    let sale = read.sale();
    let mut lines = eligibility::returnable(&sale, &policy, &unavailable_units(&found.claims, &found.outside), app.now());
    let answers = found.draft.as_ref().map(|draft| Answers::read(&draft.answers)).unwrap_or_default();
    if let Some(withdrawal) = &answers.withdrawal {
        eligibility::release_withdrawn(&mut lines, &sale, &withdrawal.units);
    }
    let order = Exchangeable { sale, policy, standing: found.standing };
    Ok(Returnable { order, currency: read.currency.0, lines, claims: found.claims, draft: found.draft, answers })
}

/// The units of each order line that cannot be returned: those in returns, and those refunded `outside` of any return.
pub(crate) fn unavailable_units(claims: &[Claim], outside: &BTreeMap<String, u64>) -> BTreeMap<String, UnavailableUnits> {
    let mut unavailable: BTreeMap<String, UnavailableUnits> = BTreeMap::new();
    for claim in claims {
        let units = unavailable.entry(claim.line.clone()).or_default();
        if claim.refunded {
            units.settled += 1;
        } else {
            units.live += 1;
        }
    }
    for (line, units) in outside {
        unavailable.entry(line.clone()).or_default().outside = u32::try_from(*units).unwrap_or(u32::MAX);
    }
    unavailable
}
