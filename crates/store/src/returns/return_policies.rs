//! Merchants' return policies.

use chrono::{DateTime, Utc};
use domain::id::MerchantId;
use domain::money::Cents;
use domain::returns::rma::policy::{GiftCardTerms, Offer, Policy, Tag};
use domain::returns::rma::sale::Weight;

use crate::connection::Connection;
use crate::{Failed, Store, Tx};

/// The merchant's policy, or the default if it has none.
pub async fn get(tx: &mut Tx) -> Result<Policy, Failed> {
    let merchant = tx.merchant();
    read(tx.connection(), merchant).await
}

/// [`get`] outside of a transaction.
pub async fn current(store: &Store, merchant: MerchantId) -> Result<Policy, Failed> {
    let mut connection = store.pool.acquire().await?;
    read(&mut connection, merchant).await
}

async fn read(connection: &mut Connection, merchant: MerchantId) -> Result<Policy, Failed> {
    let row = sqlx::query!(
        r#"
        select
            window_days, express_limit, managed_receiving, reasons, exchange_reasons, methods, fees, deducted, tags,
            tag_rules, gift_card_sku, gift_card_bonus_cents, concept, refusals_are_final, refund_closes
        from return_policy
        where merchant_id = $1
        "#,
        merchant.0,
    )
    .fetch_optional(connection)
    .await?;
    let Some(row) = row else { return Ok(Policy::default()) };
    let unknown = |_| Failed::Internal("a stored value of a return policy is unknown");
    let beyond = |_| Failed::Internal("a stored number of a return policy is out of range");
    let offers = row.methods.iter().zip(row.fees).zip(row.deducted).map(|((method, fee), deducted)| {
        let fee = Cents::new(fee).ok_or(Failed::Internal("an amount is out of range"))?;
        Ok(Offer { method: method.parse().map_err(unknown)?, fee, deducted })
    });
    let tags = row.tags.iter().zip(row.tag_rules).map(|(tag, rule)| Ok((Tag::new(tag), rule.parse().map_err(unknown)?)));
    let bonus = Cents::new(row.gift_card_bonus_cents).unwrap_or_default();
    Ok(Policy {
        gift_card: row.gift_card_sku.map(|sku| GiftCardTerms { sku, bonus }),
        concept: row.concept,
        refusals_are_final: row.refusals_are_final,
        refund_closes: row.refund_closes.parse().map_err(unknown)?,
        window_days: u16::try_from(row.window_days).map_err(beyond)?,
        reasons: row.reasons,
        exchange_reasons: row.exchange_reasons,
        offers: offers.collect::<Result<_, Failed>>()?,
        managed_receiving: row.managed_receiving,
        express_limit: Weight(u32::try_from(row.express_limit).map_err(beyond)?),
        tags: tags.collect::<Result<_, Failed>>()?,
    })
}

/// Saves the merchant's policy. Returns that have been started keep their terms.
pub async fn save(tx: &mut Tx, policy: &Policy, now: DateTime<Utc>) -> Result<(), Failed> {
    let methods: Vec<&str> = policy.offers.iter().map(|offer| offer.method.as_str()).collect();
    let fees: Vec<i64> = policy.offers.iter().map(|offer| offer.fee.get()).collect();
    let deducted: Vec<bool> = policy.offers.iter().map(|offer| offer.deducted).collect();
    let tags: Vec<&str> = policy.tags.keys().map(Tag::as_str).collect();
    let rules: Vec<&str> = policy.tags.values().map(|rule| rule.as_str()).collect();
    sqlx::query!(
        r#"
        insert into return_policy (
            merchant_id, changed_at, window_days, express_limit, managed_receiving, reasons, methods, fees, deducted, tags, tag_rules,
            gift_card_sku, gift_card_bonus_cents, concept, refusals_are_final, exchange_reasons, refund_closes
        )
        values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17)
        on conflict (merchant_id) do update set
            changed_at = excluded.changed_at, window_days = excluded.window_days, express_limit = excluded.express_limit,
            managed_receiving = excluded.managed_receiving, reasons = excluded.reasons, methods = excluded.methods,
            fees = excluded.fees, deducted = excluded.deducted, tags = excluded.tags, tag_rules = excluded.tag_rules,
            gift_card_sku = excluded.gift_card_sku, gift_card_bonus_cents = excluded.gift_card_bonus_cents,
            concept = excluded.concept, refusals_are_final = excluded.refusals_are_final,
            exchange_reasons = excluded.exchange_reasons, refund_closes = excluded.refund_closes
        "#,
        tx.merchant().0,
        now,
        i32::from(policy.window_days),
        i32::try_from(policy.express_limit.0).unwrap_or(i32::MAX),
        policy.managed_receiving,
        &policy.reasons,
        &methods as &[&str],
        &fees,
        &deducted,
        &tags as &[&str],
        &rules as &[&str],
        policy.gift_card.as_ref().map(|terms| terms.sku.as_str()),
        policy.gift_card.as_ref().map_or(0, |terms| terms.bonus.get()),
        policy.concept,
        policy.refusals_are_final,
        &policy.exchange_reasons,
        policy.refund_closes.as_str(),
    )
    .execute(tx.connection())
    .await?;
    Ok(())
}
