//! Copying the audit trail. The database links entries as they arrive, as it does with every entry; since the chain in the new cell
//! begins and continues as the old one does, each entry gets the number and the hash that it has.

use chrono::{DateTime, Utc};
use domain::id::MerchantId;
use uuid::Uuid;

use super::fence::begin_away;
use crate::merchants::audit_chain::{self, Chain, Link};
use crate::{Failed, Store};

/// The reasons an audit trail cannot be copied.
#[derive(Debug, thiserror::Error)]
pub enum AuditDiffers {
    /// The chain that is there already, from an earlier stay, is not the beginning of the one that arrives.
    #[error(
        "the audit chain in the new cell is not the beginning of the one in the old cell, from entry {0} on; see `backhaul audit verify`"
    )]
    Chain(i64),
    #[error(transparent)]
    Failed(#[from] Failed),
}

/// An entry from before there was a chain.
struct Unchained {
    id: Uuid,
    actor: String,
    action: String,
    detail: String,
    before: Option<String>,
    after: Option<String>,
    done_at: DateTime<Utc>,
}

/// Copies the entries that the cell `to` does not have yet. Returns their number.
pub async fn copy_audit((from, to): (&Store, &Store), merchant: MerchantId) -> Result<u64, AuditDiffers> {
    let chain = Chain::Of(merchant);
    let Some(source) = audit_chain::head(from, chain).await? else {
        return Ok(copy_unchained(from, to, merchant).await?);
    };
    let mut copied = 0;
    let begins_at = if let Some(head) = audit_chain::head(to, chain).await? {
        head.sequence
    } else {
        copied += copy_unchained(from, to, merchant).await?;
        if source.anchor_sequence > 0 {
            let mut tx = begin_away(to, merchant).await?;
            sqlx::query!("select begin_audit_chain($1, $2, $3)", merchant.0, source.anchor_sequence, &source.anchor_hash)
                .fetch_one(tx.connection())
                .await
                .map_err(Failed::from)?;
            tx.commit().await?;
        }
        source.anchor_sequence
    };
    let mut at = begins_at;
    loop {
        let links = audit_chain::links(from, chain, at).await?;
        let Some(last) = links.last() else { break };
        insert(to, merchant, &links).await?;
        at = last.sequence;
        copied += u64::try_from(links.len()).unwrap_or(u64::MAX);
    }
    // Each entry that was copied was compared, and with it all before it.
    let arrived = audit_chain::head(to, chain).await?;
    let fits = arrived.is_some_and(|arrived| arrived.hash == source.hash || (at > begins_at && arrived.sequence > source.sequence));
    if !fits {
        return Err(AuditDiffers::Chain(at));
    }
    Ok(copied)
}

/// Inserts entries in the order of their chain, and compares what the database makes of them.
async fn insert(to: &Store, merchant: MerchantId, links: &[Link]) -> Result<(), AuditDiffers> {
    let mut tx = begin_away(to, merchant).await?;
    for link in links {
        let hash = sqlx::query_scalar!(
            r#"
            insert into audit (merchant_id, audit_id, actor, action, detail, before, after, done_at)
            values ($1, $2, $3, $4, $5, $6, $7, $8)
            returning hash as "hash!"
            "#,
            merchant.0,
            link.id,
            link.actor,
            link.action,
            link.detail,
            link.before,
            link.after,
            link.done_at,
        )
        .fetch_one(tx.connection())
        .await
        .map_err(Failed::from)?;
        if hash != link.hash {
            return Err(AuditDiffers::Chain(link.sequence));
        }
    }
    tx.commit().await?;
    Ok(())
}

/// Copies the entries from before there was a chain. They must come first.
async fn copy_unchained(from: &Store, to: &Store, merchant: MerchantId) -> Result<u64, Failed> {
    let entries = sqlx::query_as!(
        Unchained,
        r#"
        select audit_id as id, actor, action, detail, before, after, done_at
        from audit
        where merchant_id = $1 and sequence is null
        order by audit_id
        "#,
        merchant.0,
    )
    .fetch_all(&from.pool)
    .await?;
    let mut tx = begin_away(to, merchant).await?;
    for entry in &entries {
        sqlx::query!(
            r#"
            insert into audit (merchant_id, audit_id, actor, action, detail, before, after, done_at, sequence, previous_hash, hash)
            values ($1, $2, $3, $4, $5, $6, $7, $8, 0, '', '')
            on conflict (merchant_id, audit_id) do nothing
            "#,
            merchant.0,
            entry.id,
            entry.actor,
            entry.action,
            entry.detail,
            entry.before,
            entry.after,
            entry.done_at,
        )
        .execute(tx.connection())
        .await?;
    }
    tx.commit().await?;
    Ok(u64::try_from(entries.len()).unwrap_or(u64::MAX))
}
