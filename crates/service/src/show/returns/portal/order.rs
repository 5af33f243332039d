//! An order with the draft of a return: what can come back, what is chosen, and what it comes to.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use domain::id::MerchantId;
use domain::money::Cents;
use domain::returns::exchange::variant::{Variant, asked_for};
use domain::returns::rma::Method;
use domain::returns::rma::choice::{Choice, Chosen, Exchanges, Impossible, Instead, RequestedItem, Standing, choose};
use domain::returns::rma::eligibility::{self, LineEligibility};
use domain::returns::rma::policy::{NOT_GIVEN, Offer, Policy};
use domain::returns::rma::sale::{Sale, SoldLine};
use store::Failed;
use store::returns::photos::{self, Known};
use store::returns::return_drafts::Draft;
use store::returns::unit_claims::Claim;
use wire::returns::draft::{AnsweredItem, Answers, Wish};

use super::super::returnable::{self, Exchangeable, Returnable};
use crate::app::App;

/// An order in the portal.
pub(crate) struct PortalOrder {
    pub(super) order: Exchangeable,
    pub(crate) currency: String,
    /// What of each line can come back.
    pub(crate) lines: Vec<LineEligibility>,
    claims: Vec<Claim>,
    /// The URLs of photos that could not be had.
    missing_photos: BTreeSet<String>,
    /// The draft of a return.
    pub(crate) draft: Option<Draft>,
    /// The answers in it.
    pub(crate) answers: Answers,
}

/// Loads an order of `merchant` with everything that the portal's pages say about it in the session `session`.
pub(crate) async fn load(app: &App, merchant: MerchantId, order: &str, session: &[u8]) -> Result<Option<PortalOrder>, Failed> {
    let Some(Returnable { order, currency, lines, claims, draft, answers }) = returnable::find(app, merchant, order, session).await? else {
        return Ok(None);
    };
    let missing_photos = missing_photos(app, merchant, &order.sale).await?;
    Ok(Some(PortalOrder { order, currency, lines, claims, missing_photos, draft, answers }))
}

/// The URLs of an order's photos that could not be had a short while ago.
async fn missing_photos(app: &App, merchant: MerchantId, sale: &Sale) -> Result<BTreeSet<String>, Failed> {
    let urls: Vec<&str> = sale.lines.iter().filter_map(|line| line.image_url.as_deref()).collect();
    if urls.is_empty() {
        return Ok(BTreeSet::new());
    }
    let states = photos::known(app.store(merchant), merchant, &urls, app.now()).await?;
    Ok(urls.into_iter().zip(states).filter(|(_, state)| *state == Known::Missing).map(|(url, _)| url.to_owned()).collect())
}

impl PortalOrder {
    pub(crate) fn sale(&self) -> &Sale {
        &self.order.sale
    }

    pub(crate) fn policy(&self) -> &Policy {
        &self.order.policy
    }

    /// A line with what of it can come back.
    pub(crate) fn line(&self, identifier: &str) -> Option<(&SoldLine, &LineEligibility)> {
        self.each_line().find(|(sold, _)| sold.identifier == identifier)
    }

    /// Every line with what of it can come back.
    pub(crate) fn each_line(&self) -> impl Iterator<Item = (&SoldLine, &LineEligibility)> {
        self.lines.iter().filter_map(|line| Some((self.sale().lines.get(line.line)?, line)))
    }

    /// The URL of a line's photo, unless it could not be had.
    pub(crate) fn photo<'a>(&self, sold: &'a SoldLine) -> Option<&'a str> {
        sold.image_url.as_deref().filter(|url| !self.missing_photos.contains(*url))
    }

    /// The ways to send the chosen items back.
    pub(crate) fn offers(&self) -> Vec<Offer> {
        let chosen = |item: &AnsweredItem| Some((self.line(&item.line)?.0, item.quantity));
        eligibility::offers(self.policy(), &self.answers.items.iter().filter_map(chosen).collect::<Vec<_>>())
    }

    /// True if the merchant may be asked what an item could be exchanged for.
    pub(crate) fn is_exchangeable(&self, item: &AnsweredItem) -> bool {
        let reason = item.reason.as_deref().unwrap_or(NOT_GIVEN);
        !self.is_withdrawn()
            && self.line(&item.line).is_some_and(|(sold, _)| asked_for(sold, reason, self.policy(), self.order.standing).is_ok())
    }

    /// True if a gift card is offered instead of a refund.
    pub(crate) fn offers_gift_card(&self) -> bool {
        self.order.standing == Standing::Offered && self.policy().gift_card.is_some() && !self.is_gift() && !self.is_withdrawn()
    }

    /// True if goods of a withdrawal come back: they are refunded, and nothing else.
    pub(crate) fn is_withdrawn(&self) -> bool {
        self.answers.withdrawal.is_some()
    }

    pub(crate) fn is_gift(&self) -> bool {
        eligibility::is_gift(self.sale(), self.policy())
    }

    /// Checks the answers against what is possible now. `exchanges` has the variants that the merchant offers.
    pub(crate) fn check<'a>(&'a self, method: Method, exchanges: &'a Exchanges) -> Result<Chosen<'a>, Vec<Impossible>> {
        let used = self.claims.iter().map(|claim| (claim.line.as_str(), self.used_units(&claim.line))).collect();
        let items = self.answers.items.iter().map(requested).collect();
        let choice = Choice { method, items, giftee: self.answers.giftee.is_some() };
        choose(self.sale(), self.policy(), &self.lines, &used, exchanges, &choice)
    }

    /// The numbers of a line's units that are in returns.
    pub(crate) fn used_units(&self, line: &str) -> BTreeSet<u32> {
        self.claims.iter().filter(|claim| claim.line == line).map(|claim| claim.unit).collect()
    }

    /// The exchanges that are possible, with these variants by line.
    pub(crate) fn exchanges(&self, variants: BTreeMap<String, Arc<[Variant]>>) -> Exchanges {
        Exchanges { standing: self.order.standing, variants }
    }

    /// The bonus on top of a gift card.
    pub(crate) fn bonus(&self) -> Cents {
        self.policy().gift_card.as_ref().map_or_else(Cents::default, |terms| terms.bonus)
    }
}

fn requested(item: &AnsweredItem) -> RequestedItem<'_> {
    RequestedItem {
        line: &item.line,
        quantity: item.quantity,
        reason: item.reason.as_deref().unwrap_or(NOT_GIVEN),
        instead: match &item.instead {
            Some(Wish::Variant(sku)) => Instead::Variant(sku),
            Some(Wish::GiftCard) => Instead::GiftCard,
            Some(Wish::Refund) | None => Instead::Refund,
        },
    }
}
