//! Cancels a return whose label the carrier refuses, and keeps its answers, so that the shopper can choose another way back.

use domain::id::MerchantId;
use domain::returns::rma::RefundType;
use store::returns::rmas::Return;
use store::returns::withdrawals;
use wire::returns::draft::{AnsweredItem, Answers, Giftee, Wish, Withdrawn};

use super::answer_draft::save_answers;
use super::cancel_return::{CancelReturnError, cancel_return};
use crate::app::App;

/// Cancels the return with the given reason, and makes its answers the draft of a new one, without the way back. The draft of a gift's return is for the
/// session `session` only.
pub async fn start_over(
    app: &App,
    actor: &str,
    merchant: MerchantId,
    identifier: &str,
    reason: &str,
    session: &[u8],
) -> Result<(), CancelReturnError> {
    // Cancelling parts the two.
    let withdrawal = withdrawals::of_return(app.store(merchant), merchant, identifier).await?;
    let cancelled = cancel_return(app, actor, merchant, identifier, reason).await?;
    let owner = cancelled.gift.then_some(session);
    let mut answers = answers(&cancelled);
    answers.withdrawal = withdrawal
        .map(|reference| Withdrawn { reference, units: answers.items.iter().map(|item| (item.line.clone(), item.quantity)).collect() });
    save_answers(app, merchant, &cancelled.order, &answers, owner).await?;
    Ok(())
}

fn answers(kept: &Return) -> Answers {
    let mut items: Vec<AnsweredItem> = Vec::new();
    for (unit, item) in kept.units() {
        let instead = match (unit.refund_type, &item.exchange_sku) {
            (RefundType::UnevenExchange, _) => Wish::GiftCard,
            (RefundType::EvenExchange, Some(sku)) => Wish::Variant(sku.clone()),
            (RefundType::EvenExchange, None) | (RefundType::Refund, _) => Wish::Refund,
        };
        if let Some(known) = items.iter_mut().find(|known| known.line == unit.line) {
            known.quantity += 1;
        } else {
            let (line, reason) = (unit.line.clone(), Some(item.reason.clone()));
            items.push(AnsweredItem { line, quantity: 1, reason, instead: Some(instead) });
        }
    }
    Answers { items, method: None, giftee: kept.giftee_email.clone().map(Giftee), language: kept.language.clone(), withdrawal: None }
}
