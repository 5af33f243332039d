//! The operator changes a merchant's return policy. The change is audited in its own transaction.

use std::collections::BTreeMap;

use domain::id::MerchantId;
use domain::returns::rma::policy::{Flaw, GiftCardTerms, NOT_GIVEN, Offer, Policy, RefundCloses, Tag, TagRule};
use domain::returns::rma::sale::Weight;
use store::Failed;
use store::merchants::accounts;
use store::merchants::audit::{self, Change, Entry};
use store::returns::return_policies;
use wire::merchants::audit::Changes;

use crate::app::App;

/// Changes to a return policy. Absent fields stay as they are.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PolicyChange {
    /// Days after shipping within which a unit can be returned.
    pub window_days: Option<u16>,
    /// The reasons that a shopper can choose from.
    pub reasons: Option<Vec<String>>,
    /// `Some(None)` stops offering gift cards.
    pub gift_card: Option<Option<GiftCardTerms>>,
    /// `Some(None)` clears it.
    pub concept: Option<Option<String>>,
    /// Take 409, 410 and 422 to mean that an exchange order cannot be placed.
    pub refusals_are_final: Option<bool>,
    /// The refunds that a return needs before it is settled.
    pub refund_closes: Option<RefundCloses>,
    /// The reasons for which an exchange is offered.
    pub exchange_reasons: Option<Vec<String>>,
    /// The return methods, in display order.
    pub offers: Option<Vec<Offer>>,
    pub managed_receiving: Option<bool>,
    /// The greatest weight of an express return.
    pub express_limit: Option<Weight>,
    /// Rules to add or replace.
    pub tags: BTreeMap<Tag, TagRule>,
    /// Tags whose rules are removed.
    pub forgotten_tags: Vec<Tag>,
}

impl PolicyChange {
    /// The change that makes `after` of `before`.
    #[must_use]
    pub fn between(before: &Policy, after: &Policy) -> Self {
        fn differing<T: PartialEq + Clone>(before: &T, after: &T) -> Option<T> {
            (before != after).then(|| after.clone())
        }
        let reasons = differing(&before.reasons, &after.reasons);
        // Without the list, reasons for an exchange would follow the reasons.
        let exchange_reasons = reasons.is_some().then(|| after.exchange_reasons.clone());
        Self {
            window_days: differing(&before.window_days, &after.window_days),
            reasons,
            gift_card: differing(&before.gift_card, &after.gift_card),
            concept: differing(&before.concept, &after.concept),
            refusals_are_final: differing(&before.refusals_are_final, &after.refusals_are_final),
            refund_closes: differing(&before.refund_closes, &after.refund_closes),
            exchange_reasons: exchange_reasons.or_else(|| differing(&before.exchange_reasons, &after.exchange_reasons)),
            offers: differing(&before.offers, &after.offers),
            managed_receiving: differing(&before.managed_receiving, &after.managed_receiving),
            express_limit: differing(&before.express_limit, &after.express_limit),
            tags: after
                .tags
                .iter()
                .filter(|(tag, rule)| before.tags.get(tag) != Some(rule))
                .map(|(tag, rule)| (tag.clone(), *rule))
                .collect(),
            forgotten_tags: before.tags.keys().filter(|tag| !after.tags.contains_key(tag)).cloned().collect(),
        }
    }
}

/// The reasons a policy cannot be changed.
#[derive(Debug, thiserror::Error)]
pub enum SetPolicyError {
    #[error("no change was given; `backhaul policy set --help` lists the options")]
    Nothing,
    #[error("the merchant has no rule for the tag {0:?}; `backhaul policy show --merchant HANDLE` lists its rules")]
    NoSuchTag(String),
    #[error("the policy was not changed:\n- {}", sentences(.0))]
    Flawed(Vec<Flaw>),
    #[error("somebody has changed the policy meanwhile")]
    Outdated,
    #[error(transparent)]
    Failed(#[from] Failed),
}

fn sentences(flaws: &[Flaw]) -> String {
    flaws.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n- ")
}

/// Changes the policy of `merchant` and returns the new one; a change to what it is already changes nothing. Of returns that have been started, it affects only how refunds and
/// refusals of exchange orders are taken from now on.
pub async fn set_policy(app: &App, actor: &str, merchant: MerchantId, change: PolicyChange) -> Result<Policy, SetPolicyError> {
    change_policy(app, actor, merchant, None, change).await
}

/// [`set_policy`], provided that the version `seen` is still in force.
pub async fn set_seen_policy(
    app: &App,
    actor: &str,
    merchant: MerchantId,
    seen: i32,
    change: PolicyChange,
) -> Result<Policy, SetPolicyError> {
    change_policy(app, actor, merchant, Some(seen), change).await
}

async fn change_policy(
    app: &App,
    actor: &str,
    merchant: MerchantId,
    seen: Option<i32>,
    change: PolicyChange,
) -> Result<Policy, SetPolicyError> {
    if change == PolicyChange::default() {
        return Err(SetPolicyError::Nothing);
    }
    let (detail, now) = (describe(&change), app.now());
    let mut tx = app.begin(merchant).await?;
    // The policy may not exist yet, so lock the merchant instead.
    accounts::lock(&mut tx).await?;
    let before = return_policies::get_version(&mut tx).await?;
    if seen.is_some_and(|seen| seen != before.number) {
        return Err(SetPolicyError::Outdated);
    }
    let policy = apply(before.policy.clone(), change)?;
    if policy == before.policy {
        return Ok(policy);
    }
    return_policies::save(&mut tx, &policy, actor, now).await?;
    let changes = differing(&before.policy, &policy);
    let entry = Entry { id: app.mint(), actor, action: "policy.changed", detail: &detail, done_at: now };
    audit::record(&mut tx, entry.with(Change { before: changes.before(), after: changes.after() })).await?;
    app.commit(tx).await?;
    Ok(policy)
}

fn apply(mut policy: Policy, change: PolicyChange) -> Result<Policy, SetPolicyError> {
    for tag in change.forgotten_tags {
        if policy.tags.remove(&tag).is_none() {
            return Err(SetPolicyError::NoSuchTag(tag.as_str().to_owned()));
        }
    }
    policy.tags.extend(change.tags);
    let reasons = change.reasons.unwrap_or(policy.reasons);
    let exchange_reasons = change.exchange_reasons.unwrap_or_else(|| {
        // A reason that was removed from the list can no longer be chosen.
        policy.exchange_reasons.retain(|reason| reason == NOT_GIVEN || reasons.contains(reason));
        policy.exchange_reasons
    });
    let policy = Policy {
        window_days: change.window_days.unwrap_or(policy.window_days),
        reasons,
        exchange_reasons,
        gift_card: change.gift_card.unwrap_or(policy.gift_card),
        concept: change.concept.unwrap_or(policy.concept),
        refusals_are_final: change.refusals_are_final.unwrap_or(policy.refusals_are_final),
        refund_closes: change.refund_closes.unwrap_or(policy.refund_closes),
        offers: change.offers.unwrap_or(policy.offers),
        managed_receiving: change.managed_receiving.unwrap_or(policy.managed_receiving),
        express_limit: change.express_limit.unwrap_or(policy.express_limit),
        tags: policy.tags,
    };
    let flaws = policy.check();
    if flaws.is_empty() { Ok(policy) } else { Err(SetPolicyError::Flawed(flaws)) }
}

/// The fields in which two policies differ, for the audit log.
fn differing(before: &Policy, after: &Policy) -> Changes {
    let gift_card = |policy: &Policy| policy.gift_card.as_ref().map(|terms| format!("{}, bonus_cents: {}", terms.sku, terms.bonus.get()));
    let offers = |policy: &Policy| policy.offers.iter().map(ToString::to_string).collect::<Vec<_>>();
    let tags = |policy: &Policy| policy.tags.iter().map(|(tag, rule)| format!("{}: {rule}", tag.as_str())).collect::<Vec<_>>();
    Changes::default()
        .field("window_days", before.window_days, after.window_days)
        .field("reasons", before.reasons.clone(), after.reasons.clone())
        .field("exchange_reasons", before.exchange_reasons.clone(), after.exchange_reasons.clone())
        .field("gift_card", gift_card(before), gift_card(after))
        .field("concept", before.concept.clone(), after.concept.clone())
        .field("refusals_are_final", before.refusals_are_final, after.refusals_are_final)
        .field("refund_closes", before.refund_closes.to_string(), after.refund_closes.to_string())
        .field("methods", offers(before), offers(after))
        .field("managed_receiving", before.managed_receiving, after.managed_receiving)
        .field("express_limit_pounds", before.express_limit.to_string(), after.express_limit.to_string())
        .field("tags", tags(before), tags(after))
}

/// The changes as text, for the audit log.
fn describe(change: &PolicyChange) -> String {
    let offers = |offers: &Vec<Offer>| offers.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ");
    let settings = [
        change.window_days.map(|days| format!("window_days: {days}")),
        change.reasons.as_ref().map(|reasons| format!("reasons: {}", reasons.join(", "))),
        change.gift_card.as_ref().map(|terms| match terms {
            Some(GiftCardTerms { sku, bonus }) => format!("gift_card: {sku}, bonus_cents: {}", bonus.get()),
            None => "no gift_card".to_owned(),
        }),
        change.concept.as_ref().map(|concept| match concept {
            Some(concept) => format!("concept: {concept}"),
            None => "no concept".to_owned(),
        }),
        change.refusals_are_final.map(|on| format!("refusals_are_final: {on}")),
        change.refund_closes.map(|closes| format!("refund_closes: {closes}")),
        change.exchange_reasons.as_ref().map(|reasons| format!("exchange_reasons: {}", reasons.join(", "))),
        change.offers.as_ref().map(|list| format!("methods: {}", offers(list))),
        change.managed_receiving.map(|on| format!("managed_receiving: {on}")),
        change.express_limit.map(|limit| format!("express_limit_pounds: {limit}")),
    ];
    let tags = change.tags.iter().map(|(tag, rule)| format!("tag {}: {rule}", tag.as_str()));
    let forgotten = change.forgotten_tags.iter().map(|tag| format!("no tag {}", tag.as_str()));
    settings.into_iter().flatten().chain(tags).chain(forgotten).collect::<Vec<_>>().join("; ")
}
