//! Merchants' return policies: the one in force, and those before it.

use std::collections::HashMap;

use chrono::{DateTime, Utc};
use domain::id::MerchantId;
use domain::money::Cents;
use domain::returns::rma::policy::{GiftCardTerms, Offer, Policy, Tag};
use domain::returns::rma::sale::Weight;
use uuid::Uuid;

use crate::connection::Connection;
use crate::merchants::audit;
use crate::{Failed, SharedTx, Store, Tx};

/// A policy that is or was in force.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Version {
    /// Grows by one with each change. 0 is the default, which a merchant has before the first change.
    pub number: i32,
    pub policy: Policy,
    /// Since when it is or was in force; `None` for the default.
    pub changed_at: Option<DateTime<Utc>>,
    /// Who put it in force; `None` for the default, and where this was not recorded yet.
    pub changed_by: Option<String>,
}

/// A stored policy.
struct Row {
    merchant_id: Uuid,
    version: i32,
    changed_at: DateTime<Utc>,
    changed_by: Option<String>,
    window_days: i32,
    express_limit: i32,
    managed_receiving: bool,
    reasons: Vec<String>,
    exchange_reasons: Vec<String>,
    methods: Vec<String>,
    fees: Vec<i64>,
    deducted: Vec<bool>,
    tags: Vec<String>,
    tag_rules: Vec<String>,
    gift_card_sku: Option<String>,
    gift_card_bonus_cents: i64,
    concept: Option<String>,
    refusals_are_final: bool,
    refund_closes: String,
}

impl Row {
    fn read(self) -> Result<Version, Failed> {
        let unknown = |_| Failed::Internal("a stored value of a return policy is unknown");
        let beyond = |_| Failed::Internal("a stored number of a return policy is out of range");
        let offers = self.methods.iter().zip(self.fees).zip(self.deducted).map(|((method, fee), deducted)| {
            let fee = Cents::new(fee).ok_or(Failed::Internal("an amount is out of range"))?;
            Ok(Offer { method: method.parse().map_err(unknown)?, fee, deducted })
        });
        let tags = self.tags.iter().zip(self.tag_rules).map(|(tag, rule)| Ok((Tag::new(tag), rule.parse().map_err(unknown)?)));
        let bonus = Cents::new(self.gift_card_bonus_cents).unwrap_or_default();
        let policy = Policy {
            gift_card: self.gift_card_sku.map(|sku| GiftCardTerms { sku, bonus }),
            concept: self.concept,
            refusals_are_final: self.refusals_are_final,
            refund_closes: self.refund_closes.parse().map_err(unknown)?,
            window_days: u16::try_from(self.window_days).map_err(beyond)?,
            reasons: self.reasons,
            exchange_reasons: self.exchange_reasons,
            offers: offers.collect::<Result<_, Failed>>()?,
            managed_receiving: self.managed_receiving,
            express_limit: Weight(u32::try_from(self.express_limit).map_err(beyond)?),
            tags: tags.collect::<Result<_, Failed>>()?,
        };
        Ok(Version { number: self.version, policy, changed_at: Some(self.changed_at), changed_by: self.changed_by })
    }
}

/// The merchant's policy, or the default if it has none.
pub async fn get(tx: &mut Tx) -> Result<Policy, Failed> {
    Ok(get_version(tx).await?.policy)
}

/// [`get`] with its version.
pub async fn get_version(tx: &mut Tx) -> Result<Version, Failed> {
    let merchant = tx.merchant();
    read(tx.connection(), merchant).await
}

/// The policy of each merchant, or the default.
pub async fn get_at_once(tx: &mut SharedTx, merchants: &[MerchantId]) -> Result<HashMap<MerchantId, Policy>, Failed> {
    let wanted: Vec<Uuid> = merchants.iter().map(|merchant| merchant.0).collect();
    let rows = sqlx::query_as!(
        Row,
        r#"
        -- Policies, each of its merchant.
        select
            merchant_id, version, changed_at, changed_by, window_days, express_limit, managed_receiving, reasons, exchange_reasons, methods,
            fees, deducted, tags, tag_rules, gift_card_sku, gift_card_bonus_cents, concept, refusals_are_final, refund_closes
        from return_policy
        where merchant_id = any ((select $1::uuid[])::uuid[])
        "#,
        &wanted,
    )
    .fetch_all(tx.connection())
    .await?;
    let mut policies: HashMap<MerchantId, Policy> = merchants.iter().map(|merchant| (*merchant, Policy::default())).collect();
    for row in rows {
        policies.insert(MerchantId(row.merchant_id), row.read()?.policy);
    }
    Ok(policies)
}

/// [`get`] outside of a transaction.
pub async fn current(store: &Store, merchant: MerchantId) -> Result<Policy, Failed> {
    Ok(current_version(store, merchant).await?.policy)
}

/// [`get_version`] outside of a transaction.
pub async fn current_version(store: &Store, merchant: MerchantId) -> Result<Version, Failed> {
    let mut connection = store.pool.single().await?;
    read(&mut connection, merchant).await
}

async fn read(connection: &mut Connection, merchant: MerchantId) -> Result<Version, Failed> {
    let row = sqlx::query_as!(
        Row,
        r#"
        select
            merchant_id, version, changed_at, changed_by, window_days, express_limit, managed_receiving, reasons, exchange_reasons, methods,
            fees, deducted, tags, tag_rules, gift_card_sku, gift_card_bonus_cents, concept, refusals_are_final, refund_closes
        from return_policy
        where merchant_id = $1
        "#,
        merchant.0,
    )
    .fetch_optional(connection)
    .await?;
    row.map_or_else(|| Ok(Version::default()), Row::read)
}

/// The policies that the merchant had before version `before`, newest first, without the default.
pub async fn list_former(store: &Store, merchant: MerchantId, before: i32, most: i64) -> Result<Vec<Version>, Failed> {
    let rows = sqlx::query_as!(
        Row,
        r#"
        select
            merchant_id, version, changed_at, changed_by, window_days, express_limit, managed_receiving, reasons, exchange_reasons, methods,
            fees, deducted, tags, tag_rules, gift_card_sku, gift_card_bonus_cents, concept, refusals_are_final, refund_closes
        from former_policy
        where merchant_id = $1 and version < $2
        order by version desc
        limit $3
        "#,
        merchant.0,
        before,
        most,
    )
    .fetch_all(&store.pool)
    .await?;
    rows.into_iter().map(Row::read).collect()
}

/// Keeps the policy in force as a former one, and deletes those that are older than the audit trail is kept.
async fn keep_former(tx: &mut Tx, now: DateTime<Utc>) -> Result<(), Failed> {
    sqlx::query!(
        r#"
        insert into former_policy (
            merchant_id, changed_at, window_days, express_limit, managed_receiving, reasons, methods, fees, deducted, tags, tag_rules,
            gift_card_sku, gift_card_bonus_cents, concept, refusals_are_final, exchange_reasons, refund_closes, version, changed_by,
            replaced_at
        )
        select
            merchant_id, changed_at, window_days, express_limit, managed_receiving, reasons, methods, fees, deducted, tags, tag_rules,
            gift_card_sku, gift_card_bonus_cents, concept, refusals_are_final, exchange_reasons, refund_closes, version, changed_by,
            $2
        from return_policy
        where merchant_id = $1
        "#,
        tx.merchant().0,
        now,
    )
    .execute(tx.connection())
    .await?;
    sqlx::query!("delete from former_policy where merchant_id = $1 and replaced_at <= $2", tx.merchant().0, now - audit::KEPT_FOR)
        .execute(tx.connection())
        .await?;
    Ok(())
}

/// Saves the merchant's policy and keeps the one before. Returns that have been started keep their terms.
pub async fn save(tx: &mut Tx, policy: &Policy, actor: &str, now: DateTime<Utc>) -> Result<(), Failed> {
    keep_former(tx, now).await?;
    let methods: Vec<&str> = policy.offers.iter().map(|offer| offer.method.as_str()).collect();
    let fees: Vec<i64> = policy.offers.iter().map(|offer| offer.fee.get()).collect();
    let deducted: Vec<bool> = policy.offers.iter().map(|offer| offer.deducted).collect();
    let tags: Vec<&str> = policy.tags.keys().map(Tag::as_str).collect();
    let rules: Vec<&str> = policy.tags.values().map(|rule| rule.as_str()).collect();
    sqlx::query!(
        r#"
        insert into return_policy (
            merchant_id, changed_at, window_days, express_limit, managed_receiving, reasons, methods, fees, deducted, tags, tag_rules,
            gift_card_sku, gift_card_bonus_cents, concept, refusals_are_final, exchange_reasons, refund_closes, changed_by
        )
        values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18)
        on conflict (merchant_id) do update set
            changed_at = excluded.changed_at, window_days = excluded.window_days, express_limit = excluded.express_limit,
            managed_receiving = excluded.managed_receiving, reasons = excluded.reasons, methods = excluded.methods,
            fees = excluded.fees, deducted = excluded.deducted, tags = excluded.tags, tag_rules = excluded.tag_rules,
            gift_card_sku = excluded.gift_card_sku, gift_card_bonus_cents = excluded.gift_card_bonus_cents,
            concept = excluded.concept, refusals_are_final = excluded.refusals_are_final,
            exchange_reasons = excluded.exchange_reasons, refund_closes = excluded.refund_closes,
            changed_by = excluded.changed_by, version = return_policy.version + 1
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
        actor,
    )
    .execute(tx.connection())
    .await?;
    Ok(())
}
