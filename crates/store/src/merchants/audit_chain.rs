//! The chains of the audit trail. Each merchant has one, and so has what belongs to no merchant. An entry holds the hash of the one
//! before it and its own, so an entry that was altered, left out or put in between does not fit. The database links entries as they
//! are inserted; here the hashes are computed again, from the entries alone.

use chrono::{DateTime, Utc};
use domain::id::MerchantId;
use sha2::{Digest as _, Sha256};
use uuid::Uuid;

use crate::{Failed, Store};

/// One of the chains.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Chain {
    Of(MerchantId),
    /// What belongs to no merchant.
    Home,
}

/// Where a chain ends, and where it begins.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Head {
    /// The newest entry.
    pub sequence: i64,
    pub hash: Vec<u8>,
    /// The newest entry that retention has deleted; 0 if there is none.
    pub anchor_sequence: i64,
    pub anchor_hash: Vec<u8>,
}

/// An entry with its place in the chain.
#[derive(Clone, Debug)]
pub struct Link {
    pub id: Uuid,
    pub actor: String,
    pub action: String,
    pub detail: String,
    pub before: Option<String>,
    pub after: Option<String>,
    pub done_at: DateTime<Utc>,
    pub sequence: i64,
    pub previous_hash: Vec<u8>,
    pub hash: Vec<u8>,
}

/// The most entries that [`links`] returns.
pub const MOST_LINKS: i64 = 1_000;

impl Chain {
    /// The merchant in the hashes of the chain.
    const fn owner(self) -> Uuid {
        match self {
            Self::Of(MerchantId(merchant)) => merchant,
            Self::Home => Uuid::nil(),
        }
    }
}

impl Link {
    /// The hash that this entry must have in `chain`, after an entry with the hash `previous`.
    #[must_use]
    pub fn hash_after(&self, chain: Chain, previous: &[u8]) -> [u8; 32] {
        let mut hash = Sha256::new();
        hash.update(previous);
        hash.update(chain.owner().as_bytes());
        hash.update(self.sequence.to_be_bytes());
        hash.update(self.id.as_bytes());
        hash.update(self.done_at.timestamp_micros().to_be_bytes());
        let texts = [Some(&self.actor), Some(&self.action), Some(&self.detail), self.before.as_ref(), self.after.as_ref()];
        for text in texts {
            // The length comes first, so that no two entries have the same bytes.
            let length = text.map_or(-1, |text| i32::try_from(text.len()).unwrap_or(i32::MAX));
            hash.update(length.to_be_bytes());
            hash.update(text.map_or(&[][..], String::as_bytes));
        }
        hash.finalize().into()
    }
}

/// The most chains of deleted merchants that are read at once.
pub const DELETED_LISTED: i64 = 1_000;

/// The merchants after `after` that were deleted and whose chain is kept, by id; at most [`DELETED_LISTED`].
pub async fn of_deleted(store: &Store, after: MerchantId) -> Result<Vec<MerchantId>, Failed> {
    let merchants = sqlx::query_scalar!(
        r#"
        -- Across merchants: the chains of those that were deleted.
        select audit_head.merchant_id
        from audit_head
        where audit_head.merchant_id > $1
            and not exists (select from merchant where merchant.merchant_id = audit_head.merchant_id)
        order by audit_head.merchant_id
        limit $2
        "#,
        after.0,
        DELETED_LISTED,
    )
    .fetch_all(&store.pool)
    .await?;
    Ok(merchants.into_iter().map(MerchantId).collect())
}

/// The head of a chain; `None` if it has never had an entry.
pub async fn head(store: &Store, chain: Chain) -> Result<Option<Head>, Failed> {
    let head = match chain {
        Chain::Of(merchant) => {
            sqlx::query_as!(Head, "select sequence, hash, anchor_sequence, anchor_hash from audit_head where merchant_id = $1", merchant.0,)
                .fetch_optional(&store.pool)
                .await?
        }
        Chain::Home => {
            sqlx::query_as!(Head, "select sequence, hash, anchor_sequence, anchor_hash from home_audit_head")
                .fetch_optional(&store.pool)
                .await?
        }
    };
    Ok(head)
}

/// The entries of a chain after the one with the number `after`, oldest first.
pub async fn links(store: &Store, chain: Chain, after: i64) -> Result<Vec<Link>, Failed> {
    let links = match chain {
        Chain::Of(merchant) => {
            sqlx::query_as!(
                Link,
                r#"
                select audit_id as id, actor, action, detail, before, after, done_at, sequence as "sequence!",
                    previous_hash as "previous_hash!", hash as "hash!"
                from audit
                where merchant_id = $1 and sequence > $2
                order by sequence
                limit $3
                "#,
                merchant.0,
                after,
                MOST_LINKS,
            )
            .fetch_all(&store.pool)
            .await?
        }
        Chain::Home => {
            sqlx::query_as!(
                Link,
                r#"
                select audit_id as id, actor, action, detail, before, after, done_at, sequence as "sequence!",
                    previous_hash as "previous_hash!", hash as "hash!"
                from home_audit
                where sequence > $1
                order by sequence
                limit $2
                "#,
                after,
                MOST_LINKS,
            )
            .fetch_all(&store.pool)
            .await?
        }
    };
    Ok(links)
}

/// The first entry that is in no chain although it was made after `since`; `None` if there is none.
pub async fn find_unchained(store: &Store, chain: Chain, since: DateTime<Utc>) -> Result<Option<Uuid>, Failed> {
    let found = match chain {
        Chain::Of(merchant) => {
            sqlx::query_scalar!(
                "select audit_id from audit where merchant_id = $1 and sequence is null and done_at > $2 order by audit_id limit 1",
                merchant.0,
                since,
            )
            .fetch_optional(&store.pool)
            .await?
        }
        Chain::Home => {
            sqlx::query_scalar!("select audit_id from home_audit where sequence is null and done_at > $1 order by audit_id limit 1", since)
                .fetch_optional(&store.pool)
                .await?
        }
    };
    Ok(found)
}
